"""Reading a text as a type of answer: `normalise`, and which type a text looks like."""

import re
from dataclasses import dataclass
from datetime import date

from memsteer.programs.fold import CJK_OR_WORD, fold, meaning_words, prepare
from memsteer.programs.moments import beside_relative, dates, looks_like_a_date, times
from memsteer.programs.numerals import digits
from memsteer.programs.quantities import durations, money, numbers
from memsteer.programs.scan import Found, Value
from memsteer.signatures.supervision import AnswerType


@dataclass(frozen=True)
class Normalised:
    """A text read as `answer_type`: its values in order, and the folded words they leave over.

    Where the text cannot be read as that type, `parsed` is false and `values` empty; `folded`
    always holds the whole text folded.
    """

    answer_type: AnswerType
    parsed: bool
    values: tuple[Value, ...]
    rest: tuple[str, ...]
    folded: str


_NEGATION_WORDS = """
    no not never none neither nor without cannot cant dont doesnt didnt isnt arent wasnt werent
    wont wouldnt shouldnt couldnt hasnt havent hadnt 不 没 沒 未 無 无"""
NEGATIONS = frozenset(_NEGATION_WORDS.split())
_TRUE = {"yes", "yeah", "yep", "true", "correct", "right", "affirmative", "是", "对", "對", "はい"}
_FALSE = {"no", "nope", "false", "incorrect", "wrong", "negative", "不", "否", "没", "いいえ"}
_BULLET = re.compile(r"^\s*(?:[-*•‣◦]|\d+[.)])\s+", re.MULTILINE)
_SEPARATOR = re.compile(r"[\n;、•]|,(?!\d)|(?<!\d),|(?<=\d{4}),|\s(?:and|&)\s")
_MILLIONS = re.compile(r"(?<=\d)M(?!\w)")  # a capital M is no metre
# What may be left over beside the values of a type; a date may have a short title beside it,
# whose words `compare` then requires.
_BESIDE = 1
_BESIDE_A_DATE = 4


def normalise(text: str, answer_type: AnswerType, today: date | None = None) -> Normalised:
    """Read `text` as `answer_type`; never raises (see `Normalised` for what does not parse).

    `today` resolves "yesterday" and the like in dates; without it they do not parse.

    >>> normalise("About €1,200.50", "money").values
    (Value(key=Decimal('1200.50'), unit='EUR', places=2, other=()),)
    """
    found, rest = _find(text, answer_type, today)
    values = tuple(dict.fromkeys(value for *_, value in found))
    return Normalised(answer_type, bool(values), values, _leftover(answer_type, rest), fold(text))


def _find(text: str, kind: AnswerType, today: date | None) -> tuple[list[Found], str]:
    """The values of a type in the text, and what they leave of it."""
    if kind == "boolean":
        said = _boolean(fold(text))
        return ([] if said is None else [(0, 0, Value(said))]), ""
    if kind == "list":
        return [(0, 0, Value(item)) for item in list_items(text)], ""
    if kind == "span":
        return ([(0, 0, Value(fold(text)))] if fold(text) else []), ""
    if kind == "date":
        return dates(prepare(text), today)
    readers = {"money": money, "number": numbers, "duration": durations, "time": times}
    return readers[kind](prepare(_MILLIONS.sub(" million", text)))


def _leftover(kind: AnswerType, rest: str) -> tuple[str, ...]:
    """The words beside the values; beside a date, a time counts as a word, however it is spelt."""
    if kind != "date":
        return tuple(meaning_words(rest))
    clock, rest = times(rest)
    spelt = ("{:02}:{:02}:{:02}".format(*value.parts) for *_, value in clock)
    return (*meaning_words(rest), *spelt)


def _boolean(folded: str) -> bool | None:
    """The leading word, or what all verdict words of the text agree on: "is incorrect" is False."""
    tokens = CJK_OR_WORD.findall(folded)
    said: set[bool] = set()
    for at, token in enumerate(tokens):
        if token in _TRUE | _FALSE and token not in {"no", "不", "没"}:
            negated = sum(t in NEGATIONS for t in tokens[max(0, at - 2) : at])
            said.add((token in _TRUE) != bool(negated % 2))
    first = tokens[0] if tokens else ""
    if first in _TRUE | _FALSE:
        return first in _TRUE
    if folded.startswith(("はい", "いいえ")):
        return folded.startswith("はい")
    if first in NEGATIONS and not said:
        return False
    return said.pop() if len(said) == 1 else None


def list_items(text: str) -> list[str]:
    """The folded items of a list, without repeats."""
    pieces = _SEPARATOR.split(_BULLET.sub("\n", prepare(text)))
    folded = [fold(re.sub(r"^\s*(?:and|&)\s+", "", piece)) for piece in pieces]
    return list(dict.fromkeys(item for item in folded if item))


def infer_answer_type(text: str) -> AnswerType:
    """The type whose values make up all of the text but for one word; else span.

    "Fairphone 4" is a span: a number's own words follow it. A list needs a new line, a semicolon,
    or three short items.
    """
    prepared, folded = prepare(text), fold(text)
    if re.match(r"(?:yes|no|true|false)(?:\s*[,.;:!-]|$)", prepared) or folded in _TRUE | _FALSE:
        return "boolean"
    beside = beside_relative(prepared)
    if beside is not None and len(meaning_words(beside)) < 3:
        return "date"
    order: tuple[AnswerType, ...] = ("date", "time", "money", "duration", "number")
    for kind in order:
        if _looks_like(kind, text, prepared):
            return kind
    items = list_items(text)
    short = len(items) > 2 and all(len(item.split()) < 6 for item in items)
    if len(items) > 1 and (short or re.search(r"[\n;]", prepared)):
        return "list"
    return "span"


def _looks_like(kind: AnswerType, text: str, prepared: str) -> bool:
    read = normalise(text, kind)
    allowed = _BESIDE_A_DATE if kind == "date" and len(read.values) == 1 else _BESIDE
    if not read.parsed or len(read.rest) > allowed:
        return False
    if kind == "date":
        return looks_like_a_date(prepared)
    if kind == "money":
        return any(value.unit for value in read.values)
    first = next(iter(meaning_words(digits(prepared))), "")
    return kind != "number" or not first[:1].isalpha()
