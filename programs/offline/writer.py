"""Rules for the question writer: ask as people do, with fewer and other words than the record.

From each fact a few cue words are kept, names as they are; half of the others give way to a near
neighbour by word vectors. Around them stands a frame that asks by value, time, sequence or advice.
"""

import re
from collections.abc import Mapping
from typing import Any

from memsteer.programs.dates import MONTHS
from memsteer.programs.offline.facts import draw, pick
from memsteer.programs.offline.vectors import near_words
from memsteer.programs.text import STOPWORDS, content_words
from memsteer.signatures.supervision import AnswerPlan, SourceRecord, SupportingFact

_TARGET_CUES = 5
_LEAD_CUES = 4
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def write_question(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """WriteQuestion: a frame around the cues of the facts."""
    plan = AnswerPlan.model_validate(inputs["plan"])
    records = {r["record_id"]: SourceRecord.model_validate(r) for r in inputs["records"]}
    key = plan.facts[-1].citation.quote
    if plan.operation == "days_between":
        first, last = (_cues(f, plan, _TARGET_CUES) for f in plan.facts)
        return {"question": f"How many days passed between {first} and {last}?"}
    target = plan.facts[-1]
    cues = _cues(target, plan, _TARGET_CUES)
    leads = [_cues(fact, plan, _LEAD_CUES) for fact in plan.facts[:-1]]
    question = _frame(plan, cues, key)
    if leads:
        question += _link(plan, target, records, key) + " and ".join(leads)
    return {"question": question + _when(plan, target, records, key) + "?"}


def _cues(fact: SupportingFact, plan: AnswerPlan, most: int) -> str:
    """A few of the fact's words in their order, half of the common ones replaced."""
    quote = fact.citation.quote
    hidden = set(content_words(plan.answer))
    chosen: list[str] = []
    for match in _WORD.finditer(quote):
        word = match[0]
        low = word.casefold().replace("’", "'")
        if low in STOPWORDS or low in hidden or len(low) < 3 or low in chosen:
            continue
        chosen.append(word if word[0].isupper() and match.start() else low)
    if len(chosen) > most:
        kept = sorted(range(len(chosen)), key=lambda i: draw("keep", i, quote))[:most]
        chosen = [chosen[i] for i in sorted(kept)]
    return " ".join(_other(word, quote, hidden) for word in chosen)


def _other(word: str, quote: str, hidden: set[str]) -> str:
    """The word, or for half of them a near one; a name stays, or it would name somebody else."""
    if word[0].isupper() or draw("other", word, quote) % 2:
        return word
    near = [w for w in near_words(word) if w not in hidden]
    return pick(near[:3], "near", word, quote) if near else word


def _frame(plan: AnswerPlan, cues: str, key: str) -> str:
    by_type = {
        "date": ("On what date was it about {}", "When exactly was there {}"),
        "time": ("At what time was it about {}", "What time did I give for {}"),
        "money": ("How much did it cost with {}", "What amount was named for {}"),
        "duration": ("How long was it with {}", "How long did I give for {}"),
        "number": ("How many were there with {}", "What number was named for {}"),
    }.get(plan.answer_type)
    if by_type is None and plan.intent == "advice":
        by_type = ("What did you suggest about {}", "What did you name to me for {}")
    if by_type is None:
        by_type = ("What was it with {}", "Which one was it about {}", "Who or what went with {}")
    return pick(by_type, "frame", key).format(cues)


def _link(
    plan: AnswerPlan, target: SupportingFact, records: Mapping[str, SourceRecord], key: str
) -> str:
    """How the leads stand to the target: on the same day, before, after, or in the same turn."""
    lead = plan.facts[0].citation.record_id
    here = target.citation.record_id
    if lead == here:
        return " when I told you of "
    a, b = records[lead].time, records[here].time
    if a[:10] == b[:10]:
        return pick((" on the same day as ", " around the time of "), "link", key)
    return " after " if a < b else " before "


def _when(
    plan: AnswerPlan, target: SupportingFact, records: Mapping[str, SourceRecord], key: str
) -> str:
    """In three of ten questions the month, in one of ten the day, of a dated target."""
    time = records[target.citation.record_id].time
    chance = draw("when", key) % 10
    if not time or plan.answer_type == "date" or chance > 3:
        return ""
    month = MONTHS[int(time[5:7]) - 1].capitalize()
    return f", on {month} {int(time[8:10])}" if chance == 3 else f", in {month}"
