"""Dates that a question mentions, as ranges to compare records with."""

import re
from dataclasses import dataclass
from datetime import MINYEAR, date, datetime, timedelta

_MONTH_NAMES = """
    january february march april may june july august september october november december"""
MONTHS = tuple(_MONTH_NAMES.split())
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH = "|".join([*MONTHS, "sept", *(m[:3] for m in MONTHS)])
_ISO = re.compile(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b")
_MONTH_DAY = re.compile(
    rf"\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}}))?", re.IGNORECASE
)
_DAY_MONTH = re.compile(
    rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\b\.?(?:,? (\d{{4}}))?", re.IGNORECASE
)
# A bare month is a date only behind a word of time: "May" and "march" are also verbs.
_BARE_MONTH = re.compile(
    rf"\b(early|mid|late|in|during|since|of|this|last|from|until|by|and|to|my)[ -]({_MONTH})\b"
    r"(?: (\d{4}))?",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r"\b(yesterday|today|last week|this week|last month|this month)\b", re.I)
_THIRDS = {"early": (1, 11), "mid": (9, 21), "late": (19, 31)}


@dataclass(frozen=True)
class DateRange:
    """Days from `first` to `last` of a month, in `year` or, if that is None, in any year."""

    year: int | None
    month: int
    first: int = 1
    last: int = 31

    def contains(self, when: datetime) -> bool:
        return (
            when.month == self.month
            and self.first <= when.day <= self.last
            and self.year in (None, when.year)
        )

    @property
    def exact(self) -> bool:
        return self.first == self.last


def _month(name: str) -> int:
    return next(i for i, m in enumerate(MONTHS, 1) if m.startswith(name.casefold()[:3]))


def mentioned_dates(text: str, now: datetime | None = None) -> tuple[DateRange, ...]:
    """The dates named in `text`; relative ones ("last month") are resolved with `now`, if given.

    >>> mentioned_dates("who called on May 4th?")
    (DateRange(year=None, month=5, first=4, last=4),)
    """
    found: list[DateRange] = []
    for m in _ISO.finditer(text):
        year, month, day = int(m[1]), int(m[2]), int(m[3] or 0)
        if 1 <= month <= 12:
            found.append(DateRange(year, month, day or 1, day or 31))
    days = [(m[1], m[2], m[3]) for m in _MONTH_DAY.finditer(text)]
    days += [(m[2], m[1], m[3]) for m in _DAY_MONTH.finditer(text)]
    for name, number, year_text in days:
        found.append(
            DateRange(int(year_text) if year_text else None, _month(name), int(number), int(number))
        )
    exact_months = {r.month for r in found}
    for m in _BARE_MONTH.finditer(text):
        if _month(m[2]) not in exact_months:
            first, last = _THIRDS.get(m[1].casefold(), (1, 31))
            found.append(DateRange(int(m[3]) if m[3] else None, _month(m[2]), first, last))
    if now and now.year > MINYEAR:
        found += [r for m in _RELATIVE.finditer(text) for r in _relative(m[1].casefold(), now)]
    return tuple(dict.fromkeys(found))


def _relative(phrase: str, now: datetime) -> list[DateRange]:
    today = now.date()
    if phrase in ("yesterday", "today"):
        day = today - timedelta(days=phrase == "yesterday")
        return [DateRange(day.year, day.month, day.day, day.day)]
    if phrase.endswith("month"):
        day = today.replace(day=1) - timedelta(days=phrase == "last month")
        return [DateRange(day.year, day.month)]
    monday = today - timedelta(days=today.weekday() + 7 * (phrase == "last week"))
    week = [monday + timedelta(days=n) for n in range(7)]
    months: dict[tuple[int, int], list[int]] = {}
    for day in week:
        months.setdefault((day.year, day.month), []).append(day.day)
    return [DateRange(y, m, days[0], days[-1]) for (y, m), days in months.items()]


def date_words(day: date) -> str:
    """A day in the words that people use for it: "2024-05-04 may 4 4th saturday".

    Held in an index field, so that a question's date words find the day's records.
    """
    suffix = {1: "st", 2: "nd", 3: "rd"}.get(0 if 10 < day.day < 14 else day.day % 10, "th")
    return (
        f"{day.isoformat()} {MONTHS[day.month - 1]} {day.day} {day.day}{suffix} {day.year} "
        f"{day.strftime('%A').lower()}"
    )
