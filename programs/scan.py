"""Scanning a text for values: what was found, where, and what the text has left."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Value:
    """One canonical value.

    `key` is a Decimal (number, money, duration), (hour, minute, second), (year, month, day) with 0
    for a part not stated, two such dates end to end for a range, a bool, or folded text. `unit` is
    a number's unit as written, a currency's code, or "s" or "month"; `places` the decimals stated;
    and `other` the second reading of a date such as 04/05/2024.
    """

    key: Decimal | tuple[int, ...] | bool | str
    unit: str = ""
    places: int = 0
    other: tuple[int, ...] = ()

    @property
    def parts(self) -> tuple[int, ...]:
        """The key of a time or date; () for any other value."""
        return self.key if isinstance(self.key, tuple) else ()


Found = tuple[int, int, Value]  # start and end in the scanned text, and what stands there


def scan(
    text: str, pattern: re.Pattern[str], build: Callable[[re.Match[str]], Value | None]
) -> tuple[list[Found], str]:
    """What `build` makes of each match, and the text with what it took blanked out, same length."""
    found: list[Found] = []

    def take(match: re.Match[str]) -> str:
        value = build(match)
        if value is None:
            return match[0]
        found.append((match.start(), match.end(), value))
        return " " * len(match[0])

    rest = pattern.sub(take, text)
    return found, rest


def either(words: Iterable[str]) -> str:
    """A regex alternation of a collection of words, longest first."""
    return "|".join(re.escape(w) for w in sorted(words, key=len, reverse=True))
