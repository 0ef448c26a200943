"""What the rules can read off a text: sentences with their speaker, and values that can answer."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from memsteer.programs.dates import MONTHS
from memsteer.programs.text import STOPWORDS, content_words, sentence_spans
from memsteer.signatures.supervision import AnswerType, SourceRecord

T = TypeVar("T")

_MONTH = "|".join(m.capitalize() for m in MONTHS)
_NUMBER_WORD = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty"
)
_DURATION_UNIT = "second|minute|hour|day|week|month|year"
_AMOUNT = r"\d[\d,]*(?:\.\d+)?"
_CAPITAL = r"[A-ZÀ-Ý][\w’'.&-]*"
_PATTERNS: tuple[tuple[AnswerType, re.Pattern[str]], ...] = (
    (
        "money",
        re.compile(rf"[$€£¥]\s?{_AMOUNT}|{_AMOUNT}\s?(?:EUR|USD|GBP|euros?|dollars?|pounds?)\b"),
    ),
    ("time", re.compile(r"\b(?:[01]?\d|2[0-3])(?::[0-5]\d(?:\s?[ap]\.?m\b)?|\s?[ap]\.?m\b)", re.I)),
    (
        "date",
        re.compile(
            rf"\b(?:\d{{4}}-\d{{2}}-\d{{2}}|(?:{_MONTH}) \d{{1,2}}(?:st|nd|rd|th)?\b(?:, \d{{4}})?"
            rf"|\d{{1,2}} (?:{_MONTH})\b(?: \d{{4}})?)"
        ),
    ),
    ("duration", re.compile(rf"\b(?:{_AMOUNT}|{_NUMBER_WORD})[ -](?:{_DURATION_UNIT})s?\b", re.I)),
    (
        "number",
        re.compile(
            rf"(?<![\w.,:/-])(?:\d+(?:,\d{{3}})*(?:\.\d+)?%?|(?:{_NUMBER_WORD}))(?= [a-z]{{3,}})",
            re.I,
        ),
    ),
    ("span", re.compile(r"[“\"]([^”\"\n]{3,60})[”\"]")),
    (
        "span",
        re.compile(
            rf"\b{_CAPITAL}(?: (?:of|the|and|de|&|{_CAPITAL}))*"
            r"(?<! of)(?<! the)(?<! and)(?<! de)"
        ),
    ),
)
_PHRASE = re.compile(
    r"\b(?:an?|the|my|some|our|your) "
    r"((?:[a-zà-ÿ][\w’'-]+[ ]){1,3}?[a-zà-ÿ][\w’'-]{2,})(?=[.,;:!?)—]|"
    r" (?:for|with|to|and|in|at|from|on|before|after|by|as|that|which|so|or|when)\b)"
)


@dataclass(frozen=True)
class Sentence:
    """A sentence of a source record: its exact words, who said them, its content words."""

    record: SourceRecord
    text: str
    speaker: str  # "user", "assistant", or "" outside conversations

    @property
    def cues(self) -> tuple[str, ...]:
        return _cues(self.text)


@lru_cache(maxsize=65536)
def _cues(text: str) -> tuple[str, ...]:
    return tuple(content_words(text))


@dataclass(frozen=True)
class Value:
    """A stretch of a sentence that can answer a question, and its type."""

    text: str
    answer_type: AnswerType
    start: int


def read_sentences(record: SourceRecord) -> list[Sentence]:
    """The sentences of a record in order, without the speaker's label."""
    found, speaker = [], ""
    for start, end in sentence_spans(record.text):
        text = record.text[start:end]
        label = re.match(r"(User|Assistant): ?", text)
        if label and record.kind == "conversation":
            speaker = label[1].lower()
            text = text[label.end() :]
        if text.strip():
            found.append(Sentence(record, text, speaker))
    return found


@lru_cache(maxsize=65536)
def values_in(text: str) -> tuple[Value, ...]:
    """The values in a sentence, typed ones before names, names before noun phrases.

    A place belongs to the first kind that claims it, so that a date is no number as well.
    """
    taken: list[tuple[int, int]] = []
    found: list[Value] = []

    def claim(start: int, end: int, answer_type: AnswerType) -> None:
        if any(start < e and end > s for s, e in taken):
            return
        taken.append((start, end))
        found.append(Value(text[start:end].strip(" .,'’\""), answer_type, start))

    for answer_type, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            group = 1 if match.lastindex else 0
            start, end = match.span(group)
            if answer_type == "span" and not group and not _is_name(text, start, match[0]):
                continue
            claim(start, end, answer_type)
    for match in _PHRASE.finditer(text):
        claim(*match.span(1), "span")
    return tuple(v for v in found if v.text)


def _is_name(text: str, start: int, name: str) -> bool:
    """A capital at the start of a sentence, or on a common word, makes no name."""
    parts = [p.casefold().replace("’", "'").strip("'.") for p in name.split()]
    if parts[0] in STOPWORDS or parts[-1] in STOPWORDS or len(name) < 3 or "'" in parts[-1]:
        return False
    opens = start == 0 or text[:start].rstrip(' *_#>-–—•0123456789.("“')[-1:] in ("", ":", "!", "?")
    return " " in name if opens else True


def pick(options: Sequence[T], *key: object) -> T:
    """One of `options`, chosen by the hash of `key`: the same choice everywhere and always."""
    return options[draw(*key) % len(options)]


def draw(*key: object) -> int:
    """A number that looks random and depends on `key` alone."""
    text = "\x1f".join(str(part) for part in key)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:6])


def inverse_frequency(bags: Iterable[Sequence[str]]) -> dict[str, float]:
    """Word to 1 / (number of bags that hold it): how telling a word is among these texts."""
    counts: dict[str, int] = {}
    for bag in bags:
        for word in set(bag):
            counts[word] = counts.get(word, 0) + 1
    return {word: 1 / n for word, n in counts.items()}
