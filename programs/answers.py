"""Typed normalisation and comparison of short answers: is this prediction the reference answer?

`compare` decides in this order: an empty answer or "I don't know" has abstained; an answer with the
same text is correct; else both sides are read as the reference's type (`normalise`) and correct
when they state the same set of values. So one right value beside wrong ones is wrong, and so is a
negation or an "or" that the reference lacks. Words that a reference has beside its values ("School
garden event on 2024-05-04") must be in the prediction too, by the span rule; a single one may be
missing ("Two emails" = "2"). What does not parse is compared as a span. The rules by type:

number    exact. Units must agree (5 km = 5000 m); a missing unit is accepted, never a missing %.
          `,ddd` is a thousands separator, `,d` and `,dd` a decimal comma. A reference that states
          a finer thing (16:00, May 4, 1 hour, €5) is compared as that.
money     a missing currency is accepted; `$` is USD and `¥` JPY; $1.2M is 1.2 million. If the
          coarser side states at least one decimal, the finer may round (half up) to it:
          €62.8 = 62.75 EUR, and €63 is not 62.75 EUR.
date      the stated parts must agree; a year that one side lacks is ignored, as are weekday names.
          04/05/2024 may be either order unless both sides are ambiguous; 04.05.2024 is day first.
          "May 4-6" is a pair. A reference "absolute (relative)" is right by either half.
time      a clock time without am or pm is on the 24-hour clock, "half past four" and "quarter to
          nine" too. Zones are not converted.
duration  seconds; months (and years, as 12) are a unit of their own. A bare number is accepted.
boolean   the leading word decides; else all of correct, wrong, ... agree; the rest is ignored.
list      equal sets of folded items.
span      equal tokens, or the reference as one run within a prediction that adds at most n + 6
          tokens to the reference's n, and does not list the reference beside others like it.
          Number words are digits; a CJK character is a token.
"""

import re
from dataclasses import dataclass
from datetime import date
from typing import Literal

from memsteer.programs.fold import CJK_OR_WORD, fold, folded_tokens, prepare
from memsteer.programs.moments import is_relative, same_date
from memsteer.programs.quantities import same_amount, same_number
from memsteer.programs.scan import Value
from memsteer.programs.text import STOPWORDS
from memsteer.programs.values import (
    NEGATIONS,
    Normalised,
    infer_answer_type,
    list_items,
    normalise,
)
from memsteer.signatures.supervision import AnswerType

__all__ = [
    "AnswerType",
    "Normalised",
    "Value",
    "Verdict",
    "compare",
    "fold",
    "infer_answer_type",
    "is_abstention",
    "normalise",
    "says",
]


@dataclass(frozen=True)
class Verdict:
    """The outcome of one comparison, with the reason in words."""

    outcome: Literal["correct", "wrong", "abstained"]
    reason: str

    @property
    def correct(self) -> bool:
        return self.outcome == "correct"


_NOT_GIVEN = (
    r"not (?:mentioned|specified|stated|provided|recorded|known|disclosed|answerable"
    r"|(?:available|found|given|clear)(?= (?:in|from)\b|$))"
)
_ABSTENTION = re.compile(
    r"(?:(?:i am |im )?sorry )?(?:"
    r"(?:(?:answer|it|that|this) (?:is )?)?(?:unknown|unanswerable|n a|idk)"
    r"(?: (?:from|based|in|because|as|to|given|since)\b.*)?$"
    r"|(?:i|we) (?:really |honestly |just )?(?:do not|dont) "
    r"(?:know|have (?:any |enough )?information)\b"
    r"|i (?:am not|m not|im not) sure\b|im not sure\b|not sure$|no idea\b|i have no idea\b"
    r"|(?:answer |it |that |this |information )?(?:(?:is|was) )?" + _NOT_GIVEN + r"\b"
    r"|(?:(?:it|this|that|answer|i) )?(?:cannot|can not|cant|could not|couldnt) (?:be )?"
    r"(?:determined?|answer(?:ed)?|find|found|tell|inferred)\b"
    r"|(?:i am |im )?unable to (?:determine|answer|find)\b"
    r"|(?:there (?:is|was) )?(?:no|not enough|insufficient) "
    r"(?:information|evidence|mention|record)\b"
    r"|(?:不知道|未知|不明|不清楚|わかりません|分かりません|모르|알 수 없)"
    r")"
)


def is_abstention(text: str) -> bool:
    """Whether the text declines to answer: "Unknown", "I don't know", "Not mentioned in the notes".

    Empty text is not an abstention here; `compare` treats it as one, with a reason of its own.
    """
    return bool(_ABSTENTION.match(fold(text)))


def says(text: str, part: str) -> bool:
    """Whether the folded words of `part` stand in `text` as one run; a CJK character is a word."""
    words, wanted = CJK_OR_WORD.findall(fold(text)), CJK_OR_WORD.findall(fold(part))
    n = len(wanted)
    return bool(n) and any(words[i : i + n] == wanted for i in range(len(words) - n + 1))


def _same(kind: AnswerType, a: Value, b: Value) -> bool:
    """Whether two values of one type are the same by the rules in the module's docstring."""
    special = {"date": same_date, "money": same_amount, "number": same_number}
    if kind in special:
        return special[kind](a, b)
    return (a.key, a.unit) == (b.key, b.unit)


def _negates(predicted: list[str], reference: list[str]) -> bool:
    """Whether the prediction has a negation, or an "or", that the reference has not."""
    return any(
        not kind.isdisjoint(predicted) and kind.isdisjoint(reference)
        for kind in (NEGATIONS, {"or"})
    )


def _holds(predicted: list[str], reference: list[str]) -> bool:
    """The span rule: equal, or the reference as one run with at most n + 6 tokens more."""
    n, more = len(reference), len(predicted) - len(reference)
    if not n or more > n + 6 or _negates(predicted, reference):
        return False
    return any(predicted[i : i + n] == reference for i in range(more + 1))


def _lists_others(predicted: str, reference: str) -> bool:
    """Whether the prediction lists the reference beside other things of its kind.

    Three items, or two joined by "and" or on lines of their own ("Berlin, Germany" is one place);
    each about as long as the reference, numeric as it is, and not begun like a clause.
    """
    items = list_items(predicted)
    joined = re.search(r"[\n;&]|\band\b", predicted)
    if len(list_items(reference)) != 1 or len(items) < (2 if joined else 3):
        return False
    wanted = folded_tokens(reference)
    items[0] = _after_stopwords(items[0])  # "It was Ezra, Sophie and Olivia"
    others = [o for o in map(folded_tokens, items) if not _holds(o, wanted)]
    return 0 < len(others) < len(items) and all(
        other
        and abs(len(other) - len(wanted)) < 2
        and other[0] not in STOPWORDS
        and other[0][0].isdigit() == wanted[0][0].isdigit()
        for other in others
    )


def _after_stopwords(text: str) -> str:
    words = text.split()
    while words and words[0] in STOPWORDS:
        del words[0]
    return " ".join(words)


def _compare_values(p: Normalised, r: Normalised) -> str:
    """Why two parsed answers of one type differ; "" where they agree."""
    kind = r.answer_type
    matched = all(any(_same(kind, a, b) for b in r.values) for a in p.values) and all(
        any(_same(kind, a, b) for a in p.values) for b in r.values
    )
    if not matched:
        return f"{kind}: {_show(p)} is not {_show(r)}"
    if kind in ("list", "boolean", "span"):
        return ""
    if _negates(p.folded.split(), r.folded.split()):
        return f"{kind}: the prediction negates or offers a choice"
    other_unit = any(v.unit for v in p.values) and not any(v.unit for v in r.values)
    one_missing = len(r.rest) == 1 and not p.rest and not (kind == "number" and other_unit)
    if not r.rest or one_missing:
        return ""
    rests = [CJK_OR_WORD.findall(" ".join(side.rest)) for side in (p, r)]
    return "" if _holds(*rests) else f"{kind}: the values agree but not {' '.join(r.rest)!r}"


def _show(read: Normalised) -> str:
    return ", ".join(f"{value.key} {value.unit}".strip() for value in read.values)


# Where one side does not parse as the reference's type, these are tried before the span rule.
_NEXT: dict[AnswerType, tuple[AnswerType, ...]] = {
    "time": ("duration",),  # a reference 1h30 looks like a clock time
    "duration": ("number",),  # "90" for "90 minutes"
}


def _compare_as(kind: AnswerType, predicted: str, reference: str, today: date | None) -> Verdict:
    for each in (kind, *_NEXT.get(kind, ())):
        p, r = normalise(predicted, each, today), normalise(reference, each, today)
        if each != "span" and p.parsed and r.parsed:
            differs = _compare_values(p, r)
            return Verdict("wrong", differs) if differs else Verdict("correct", f"same {each}")
    if _lists_others(predicted, reference):
        return Verdict("wrong", f"{kind}: {fold(reference)!r} is one of several answers given")
    if _holds(folded_tokens(predicted), folded_tokens(reference)):
        return Verdict("correct", "the same words")
    return Verdict("wrong", f"{kind}: {fold(predicted)!r} does not say {fold(reference)!r}")


def _readings(reference: str) -> list[str]:
    """The reference, and both halves of "absolute (relative)"."""
    halves = re.fullmatch(r"([^()]+)\(([^()]+)\)\s*", reference)
    if halves and is_relative(prepare(halves[2])):
        return [reference, halves[1], halves[2]]
    return [reference]


def compare(
    predicted: str,
    reference: str,
    answer_type: AnswerType | None = None,
    today: date | None = None,
) -> Verdict:
    """Whether `predicted` answers as `reference` does, by the rules in the module's docstring.

    `answer_type` None reads the type off the reference. "Unknown" is correct only where the
    reference abstains too.

    >>> compare("EUR 842.97", "€842.97").correct, compare("10", "10%").correct
    (True, False)
    """
    if not predicted.strip():
        return Verdict("abstained", "empty answer")
    if is_abstention(predicted):
        if is_abstention(reference):
            return Verdict("correct", "both abstain")
        return Verdict("abstained", "the prediction abstains")
    if prepare(predicted) == prepare(reference):
        return Verdict("correct", "the same text")
    if not fold(predicted):
        return Verdict("abstained", "empty answer")
    if is_abstention(reference):
        return Verdict("wrong", "the reference abstains and the prediction does not")
    kind = answer_type or infer_answer_type(reference)
    if kind == "number":
        finer = infer_answer_type(reference)
        kind = finer if finer in ("date", "time", "duration", "money") else kind
    verdicts = [_compare_as(kind, predicted, half, today) for half in _readings(reference)]
    return next((verdict for verdict in verdicts if verdict.correct), verdicts[0])
