"""Rules for the question writer: ask as people do, with fewer and other words than the record.

Of each fact one clause is kept, short; the value in it gives way to a question word; most of its
common words give way to near neighbours by word vectors, and half of its names to "someone".
Around it stand the time, the place (a document, an e-mail) and, for each fact that only leads
there, a clause joined by time or cause.
"""

import re
from collections.abc import Mapping
from typing import Any

from memsteer.programs.dates import MONTHS
from memsteer.programs.offline.facts import draw, pick
from memsteer.programs.offline.vectors import near_words
from memsteer.programs.text import STOPWORDS, content_words
from memsteer.signatures.supervision import AnswerPlan, SourceRecord, SupportingFact

_TARGET_CUES = 3
_LEAD_CUES = 2
_TITLE_CUES = 2
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_BREAK = re.compile(
    r"[,;:.!?()—–*#|\[\]<>\n]+| - |\s(?=(?:and|but|because|so|which|while|when|although|who)\b)"
)
_GAP = "\0"  # where the value stood
_ASKS = {
    "money": "how much",
    "number": "how many",
    "duration": "how long",
    "time": "what time",
    "list": "which ones",
}
_TURNED = {
    "you": "I", "your": "my", "yours": "mine", "yourself": "myself", "you're": "I'm",
    "you've": "I've", "you'll": "I'll", "you'd": "I'd",
}  # fmt: skip
_OPENERS = frozenset(
    [
        "and",
        "but",
        "because",
        "so",
        "which",
        "while",
        "when",
        "although",
        "who",
        "or",
        "as",
        "than",
        "that",
    ]
)


def write_question(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """WriteQuestion: the target's clause with a gap to fill, set among the clauses that lead."""
    plan = AnswerPlan.model_validate(inputs["plan"])
    records = {r["record_id"]: SourceRecord.model_validate(r) for r in inputs["records"]}
    if plan.operation == "days_between":
        first, last = (_clause(f, plan, _TARGET_CUES) for f in plan.facts)
        return {"question": f"How many days were there between when {first} and when {last}?"}
    target = plan.facts[-1]
    leads = [_link(f, target, records) + _clause(f, plan, _LEAD_CUES) for f in plan.facts[:-1]]
    parts = [_when(plan, target, records) + _asked(target, plan, records), *leads]
    question = ", ".join(part for part in parts if part)
    return {"question": question[0].upper() + question[1:] + "?"}


def _asked(target: SupportingFact, plan: AnswerPlan, records: Mapping[str, SourceRecord]) -> str:
    clause = _clause(target, plan, _TARGET_CUES, gap=plan.answer_type != "date")
    if plan.answer_type == "date":
        return f"on what date was it that {clause}"
    if plan.intent == "advice" and _by_assistant(target):
        return f"you suggested {clause}"
    return clause + _place(records[target.citation.record_id])


def _place(record: SourceRecord) -> str:
    """Where a document or an e-mail is meant: by a few words of its title."""
    name = {"document": "document", "email": "e-mail", "photo": "photo"}.get(record.kind)
    if not name:
        return ""
    words = [w for w in _WORD.findall(record.title) if w.casefold() not in STOPWORDS]
    about = " ".join(_other(w, record.title, set()) for w in words[:_TITLE_CUES])
    return f" in the {name}" + (f" about {about}" if about else "")


def _by_assistant(fact: SupportingFact) -> bool:
    return "the assistant said:" in fact.statement


def _clause(fact: SupportingFact, plan: AnswerPlan, most: int, *, gap: bool = False) -> str:
    """One clause of the fact, at most `most` content words long, most of the common ones replaced.

    With `gap`, the clause that holds the value, and the question word in its place.
    """
    quote = re.sub(r"\s+", " ", fact.citation.quote)
    value = fact.value or plan.answer
    if gap and value in quote:
        quote = quote.replace(value, _GAP, 1)
    clauses = [c.strip(" -\"“”'") for c in _BREAK.split(quote) if c]
    clauses = [c for c in clauses if _GAP in c or content_words(c)] or [quote]
    held = next((i for i, c in enumerate(clauses) if _GAP in c), None)
    if held is None:
        clause = max(clauses, key=lambda c: min(len(content_words(c)), most))
    else:
        clause = _widened(clauses, held)
    clause = _shortened(clause, most)
    hidden = set(content_words(plan.answer))
    said = _WORD.sub(lambda m: _said(m[0], quote, hidden, fact), clause)
    return said.replace(_GAP, _question_word(plan))


def _widened(clauses: list[str], at: int) -> str:
    """The clause at `at`, with the next or last one where it says too little by itself."""
    clause = clauses[at]
    if len(content_words(clause)) < 2 and at + 1 < len(clauses):
        clause = f"{clause} {clauses[at + 1]}"
    if len(content_words(clause)) < 2 and at:
        clause = f"{clauses[at - 1]} {clause}"
    return clause


def _shortened(clause: str, most: int) -> str:
    """At most `most` content words, in one piece that keeps the gap; no loose ends."""
    tokens = clause.split(" ")
    cost = [len(content_words(t)) for t in tokens]
    gap = next((i for i, t in enumerate(tokens) if _GAP in t), 0)
    first = last = gap
    total = cost[gap]
    while first > 0 or last + 1 < len(tokens):
        # Grow to the side that is shorter so far: both what led and what followed stay.
        back = first > 0 and (gap - first <= last - gap or last + 1 == len(tokens))
        step = first - 1 if back else last + 1
        if total + cost[step] > most:
            break
        total += cost[step]
        first, last = (step, last) if back else (first, step)
    kept = tokens[first : last + 1]
    while len(kept) > 1 and kept[0].casefold() in _OPENERS and _GAP not in kept[0]:
        kept = kept[1:]
    while len(kept) > 1 and kept[-1].casefold() in STOPWORDS and _GAP not in kept[-1]:
        kept = kept[:-1]
    return " ".join(kept)


def _said(word: str, quote: str, hidden: set[str], fact: SupportingFact) -> str:
    low = word.casefold().replace("’", "'")
    if _by_assistant(fact) and low in _TURNED:
        return _TURNED[low]
    if low in STOPWORDS or low in hidden:
        return word if word[0] == "I" else low
    if word[0].isupper() and not quote.startswith(word):
        # Half of the names stay; for the others people say less, but never another name.
        return word if draw("name", word, quote) % 2 else "someone"
    return _other(low, quote, hidden)


def _other(word: str, context: str, hidden: set[str]) -> str:
    """The word, or for four of five a near one."""
    if len(word) < 3 or draw("other", word, context) % 5 == 0:
        return word
    near = [w for w in near_words(word) if w not in hidden]
    return pick(near[:2], "near", word, context) if near else word


def _question_word(plan: AnswerPlan) -> str:
    if plan.answer_type == "span":
        return "who or what" if plan.answer[:1].isupper() else "what"
    return _ASKS.get(plan.answer_type, "what")


def _link(lead: SupportingFact, target: SupportingFact, records: Mapping[str, SourceRecord]) -> str:
    """How a lead stands to the target: said in the same turn, the same day, before or after."""
    a, b = records[lead.citation.record_id], records[target.citation.record_id]
    if a.record_id == b.record_id:
        return "when I told you that "
    if a.time[:10] == b.time[:10]:
        options = ("on the same day that ", "around the time that ", "when ")
        return pick(options, "link", lead.citation.quote)
    if a.time and b.time:
        return "after " if a.time < b.time else "before "
    return "together with how "


def _when(plan: AnswerPlan, target: SupportingFact, records: Mapping[str, SourceRecord]) -> str:
    """In four of ten questions the month, in two of ten the day, of a dated target."""
    time = records[target.citation.record_id].time
    chance = draw("when", target.citation.quote) % 10
    if not time or plan.answer_type == "date" or chance > 5:
        return ""
    month = MONTHS[int(time[5:7]) - 1].capitalize()
    return f"on {month} {int(time[8:10])}, " if chance > 3 else f"in {month}, "
