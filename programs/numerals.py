"""Number words and ordinals as digits: "three hundred and two" → "302", "fourth" → "4th"."""

import re
from decimal import Context, Decimal

from memsteer.programs.scan import either

EXACT = Context(prec=400, traps=[])  # absurd figures give NaN, which equals nothing, not an error

_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEEN_WORDS = """
    ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"""
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL = {"zero": 0} | {w: i for i, w in enumerate([*_ONES, *_TEEN_WORDS.split()], 1)}
_SMALL |= {w: 10 * i for i, w in enumerate(_TENS, 2)}
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "dozen": 12}
_SCALE = either(_SCALES)
_TENS_FIRST = rf"(?:{either(_TENS)})(?:[\s-]+(?:{either(_ONES)}))?|{either(_SMALL)}"
_NUMBER_WORDS = re.compile(
    rf"\b(?:{_TENS_FIRST}|an?(?=\s+(?:{_SCALE})\b))"
    rf"(?:[\s-]+(?:{_SCALE})\b(?:(?:\s+and)?[\s-]+(?:{_TENS_FIRST})\b)?)*\b"
)
_ORDINAL_WORDS = """
    first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
    fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"""
_ORDINALS = _ORDINAL_WORDS.split()
_ORDINAL_OF = {w: i for i, w in enumerate(_ORDINALS, 1)} | {"thirtieth": 30, "thirty first": 31}
_ORDINAL_OF |= {f"twenty {w}": 20 + i for i, w in enumerate(_ORDINALS[:9], 1)}
_ORDINAL = re.compile(rf"\b(?:{either(_ORDINAL_OF)})\b".replace("\\ ", r"[\s-]"))


def digits(text: str) -> str:
    """Write number words as digits in prepared text: "three hundred and two" → "302"."""
    text = _NUMBER_WORDS.sub(lambda match: str(_total(match[0])), text)
    text = re.sub(rf"(?<![\w.])(\d+(?:\.\d+)?)(?:\s+({_SCALE})|k)(?![a-z0-9_])", _scaled, text)
    text = re.sub(r"\b(\d+)\s+and\s+a\s+half\b", r"\1.5", text)
    return re.sub(r"\b(?:minus|negative)\s+(?=\d)", "-", text)


def ordinal_digits(text: str) -> str:
    """Write ordinal words up to thirty-first as digits: "the fourth of May" → "the 4th of May".

    The ending is always th, which every reader of dates takes.
    """
    return _ORDINAL.sub(lambda m: f"{_ORDINAL_OF[re.sub(r'[ -]+', ' ', m[0])]}th", text)


def _total(number_words: str) -> int:
    total = current = 0
    for word in re.split(r"[\s-]+", number_words):
        if word in _SMALL:
            current += _SMALL[word]
        elif word in {"a", "an"}:
            current = 1
        elif word in {"hundred", "dozen"}:
            current = max(current, 1) * _SCALES[word]
        elif word in _SCALES:
            total, current = total + max(current, 1) * _SCALES[word], 0
    return total + current


def _scaled(match: re.Match[str]) -> str:
    scale = Decimal(_SCALES[match[2]] if match[2] else 1000)
    return f"{EXACT.multiply(Decimal(match[1]), scale).normalize(EXACT):f}"
