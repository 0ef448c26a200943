"""Time anchors: behind every day or hour that is said, the date or the time that it means.

"tomorrow" said on 2024-05-01 becomes "tomorrow (2024-05-02)", "the ninth of June" becomes "the
ninth of June (2024-06-09)", "half past six in the evening" gets "(18:30)". What was said stays as
it was said. A day of habit ("every Friday", "on Fridays") is no date.
"""

import re
from collections.abc import Callable
from datetime import date, timedelta

from memsteer.programs.dates import MONTHS, WEEKDAYS
from memsteer.programs.numerals import digits, ordinal_digits

_UNITS = "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth"
_TEENS = (
    "tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|"
    "nineteenth|twentieth|thirtieth"
)
_ORDINAL = rf"(?:\d{{1,2}}(?:st|nd|rd|th)|(?:twenty|thirty)[ -](?:{_UNITS})|{_UNITS}|{_TEENS})"
_SHORT = "|".join(rf"{m[:3].capitalize()}\b\.?" for m in MONTHS)
_MONTH = f"{'|'.join(m.capitalize() for m in MONTHS)}|{_SHORT}"
_WEEKDAY = "|".join(WEEKDAYS)
_COUNT = r"(?:\d{1,3}|an?|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
_HOUR = "(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|1[0-2]|[1-9])"
_PAST = {"twenty-five": 25, "twenty": 20, "a quarter": 15, "quarter": 15, "half": 30}
_PAST |= {"five": 5, "ten": 10}
_FAR = 60  # a day without a year is at most so many days past, else it is still to come


def anchored(text: str, today: date) -> str:
    """`text` with dates and times behind what names them, as seen on `today`."""

    def put(match: re.Match[str]) -> str:
        read = next((r for name, _, r in _READERS if match[name]), None)
        meant = read(match, today) if read else ""
        return f"{match[0]} ({meant})" if meant else match[0]

    return _SAID.sub(put, text)


def _full_date(match: re.Match[str], today: date) -> str:
    month = match["month"] or match["month2"]
    number = next(i for i, m in enumerate(MONTHS, 1) if m.startswith(month[:3].casefold()))
    said = match["day"] or match["day2"]
    if match["year"]:
        day = _day(int(match["year"]), number, _number(said))
    else:
        years = (today.year - 1, today.year, today.year + 1)
        days = (_day(year, number, _number(said)) for year in years)
        day = next((d for d in days if d and (today - d).days <= _FAR), None)
    return day.isoformat() if day else ""


def _day_of_month(match: re.Match[str], today: date) -> str:
    """The next such day; with a weekday, the next that falls on it."""
    weekday, number = match["weekday"], _number(match["bare"] or match["bare2"])
    first = today.replace(day=1)
    for _ in range(4):
        day = _day(first.year, first.month, number)
        fits = not weekday or (day and WEEKDAYS[day.weekday()] == weekday.casefold())
        if day and day >= today and fits:
            return day.isoformat()
        first = (first + timedelta(days=31)).replace(day=1)
    return ""


def _relative(match: re.Match[str], today: date) -> str:
    phrase = match["relative"].casefold()
    offset = {"yesterday": -1, "tomorrow": 1, "the day after tomorrow": 2}.get(phrase)
    # Today is the memory's own day, which stands before it already.
    return (today + timedelta(days=offset)).isoformat() if offset else ""


def _weekday(match: re.Match[str], today: date) -> str:
    ahead = (WEEKDAYS.index(match["named"].casefold()) - today.weekday()) % 7
    before = (match["which"] or "").casefold()
    if before == "last":
        return (today - timedelta(days=7 - ahead if ahead else 7)).isoformat()
    return (today + timedelta(days=ahead or (7 if before == "next" else 0))).isoformat()


def _span(match: re.Match[str], today: date) -> str:
    said = match["count"] or match["ago"]
    number = 1 if said.casefold() in ("a", "an") else int(digits(said.casefold()))
    days = number * (7 if "week" in (match["unit"] or match["unit2"]).casefold() else 1)
    return (today + timedelta(days=days if match["count"] else -days)).isoformat()


def _clock(match: re.Match[str], today: date) -> str:
    words = match["hour"] or match["hour2"]
    hour = int(digits(words.casefold()))
    minutes = _PAST.get((match["minutes"] or "").casefold(), 0)
    half = match["half"] or match["half2"]
    if half.casefold() == "morning":
        hour %= 12
    else:
        hour = hour % 12 + 12
    total = hour * 60 + (minutes if (match["side"] or "past").casefold() == "past" else -minutes)
    return f"{total // 60 % 24:02d}:{total % 60:02d}"


def _number(said: str) -> int:
    return int(re.sub(r"\D", "", ordinal_digits(said.casefold())) or 0)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


_BEFORE = r"(?:(?:on|by|for|until|this|next) )?"
_LEAD = rf"(?:{_BEFORE}(?:{_WEEKDAY}),? (?:the )?)?"
_DAY_MONTH = rf"(?P<day>{_ORDINAL}|\d{{1,2}})(?: of)? (?-i:(?P<month>{_MONTH}))"
_MONTH_DAY = rf"(?-i:(?P<month2>{_MONTH})) (?:the )?(?P<day2>{_ORDINAL}|\d{{1,2}})(?![\d:])"
_FULL = rf"\b{_LEAD}(?:{_DAY_MONTH}|{_MONTH_DAY})(?:,? (?P<year>\d{{4}}))?\b"
# A bare ordinal is a day only where no noun follows it ("on the second floor").
_NO_NOUN = (
    r"(?=$|[,.;:!?)—–]| (?:at|in|and|or|for|from|now|instead|because|as|so|to|with|when|but)\b)"
)
_DAY_OF_MONTH = (
    rf"\b(?:{_BEFORE}(?P<weekday>{_WEEKDAY}),? the (?P<bare>{_ORDINAL})|"
    rf"(?<=\b(?:on|by) )the (?P<bare2>{_ORDINAL})){_NO_NOUN}"
)
_RELATIVE = r"\b(?:the day after tomorrow|tomorrow|yesterday)\b"
_NAMED_DAY = (
    r"(?<!every )(?<!each )(?<!other )\b(?:(?P<which>this|next|last|on|by|for) )?"
    rf"(?P<named>{_WEEKDAY})\b(?!s)"
)
_SPAN = (
    rf"\bin (?P<count>{_COUNT}) (?P<unit>days?|weeks?)(?:(?:['’]s?)? time)?\b|"
    rf"\b(?P<ago>{_COUNT}) (?P<unit2>days?|weeks?) ago\b"
)
_CLOCK = (
    rf"\b(?:(?P<minutes>{'|'.join(_PAST)}) (?P<side>past|to) (?P<hour>{_HOUR})|"
    rf"(?<=\b(?:at|by) )(?P<hour2>{_HOUR}))(?: o['’]clock)? "
    r"(?:in the (?P<half>morning|afternoon|evening)|at (?P<half2>night))\b"
)
_READERS: tuple[tuple[str, str, Callable[[re.Match[str], date], str]], ...] = (
    ("full_date", _FULL, _full_date),
    ("day_of_month", _DAY_OF_MONTH, _day_of_month),
    ("relative", _RELATIVE, _relative),
    ("named_day", _NAMED_DAY, _weekday),
    ("span", _SPAN, _span),
    ("clock", _CLOCK, _clock),
)
# What stands there as a date already is taken first, and left alone.
_SAID = re.compile(
    "|".join([r"\d{4}-\d{2}-\d{2}", *(f"(?P<{n}>{form})" for n, form, _ in _READERS)]),
    re.IGNORECASE,
)
