"""Clock times and dates in a text."""

import re
from datetime import date, timedelta

from memsteer.programs.dates import MONTHS, WEEKDAYS
from memsteer.programs.fold import LATIN, meaning_words
from memsteer.programs.numerals import digits, ordinal_digits
from memsteer.programs.scan import Found, Value, either, scan

_MONTH_OF = {m: i for i, m in enumerate(MONTHS, 1)} | {m[:3]: i for i, m in enumerate(MONTHS, 1)}
_MONTH_OF["sept"] = 9
_HALF = r"(?P<half>[ap])(?:\.\s?m\.|\s?m\b)"
_TIME = re.compile(
    r"(?<![\d:.])(?:(?:12\s+)?(?P<word>noon|midday|midnight)\b"
    rf"|(?P<h>\d{{1,2}})(?:[:.](?P<m>\d{{2}}))?(?::(?P<s>\d{{2}}))?\s*{_HALF}"
    r"|(?P<h2>\d{1,2})(?:(?::|\s?h\s?)(?P<m2>\d{2})(?::(?P<s2>\d{2}))?(?!\d)"
    r"|\s?h(?![a-z0-9])|\s?o'?clock\b))"
)
# "10 to 5" may be a range of hours: before "to", minutes must say that they are minutes.
_BESIDE_HOUR = re.compile(
    r"\b(?:(?:an? )?(?P<part>half(?= past )|quarter)"
    r"|(?P<minutes>\d{1,2})(?: min(?:ute)?s?|(?= past )))"
    rf" (?P<side>past|after|to|before) (?P<h>\d{{1,2}})(?![\d:.])(?:\s*o'?clock\b)?(?:\s*{_HALF})?"
)


def times(text: str) -> tuple[list[Found], str]:
    """Clock times; "half past four" and "quarter to nine" too."""
    # "4-5 pm": the first hour takes the second's half of the day.
    clock = r"\d{1,2}(?::\d{2})?"
    shared = rf"(?<![\d:.])({clock})\s*(?:-|to)\s*(?={clock}\s*([ap])\.?m\b)"
    text = re.sub(shared, r"\1 \2m to ", digits(text))
    beside, text = scan(text, _BESIDE_HOUR, _time_beside_the_hour)
    found, rest = scan(text, _TIME, _clock_time)
    return sorted(beside + found, key=lambda f: f[0]), rest


def _clock_time(match: re.Match[str]) -> Value | None:
    if match["word"]:
        return Value((0 if match["word"] == "midnight" else 12, 0, 0))
    hour = _hour(match["h"] or match["h2"], match["half"])
    minute, second = int(match["m"] or match["m2"] or 0), int(match["s"] or match["s2"] or 0)
    if hour is None or minute > 59 or second > 59:
        return None
    return Value((hour, minute, second))


def _time_beside_the_hour(match: re.Match[str]) -> Value | None:
    hour = _hour(match["h"], match["half"])
    if hour is None:
        return None
    minutes = {"half": 30, "quarter": 15}.get(match["part"]) or int(match["minutes"] or 0)
    at = hour * 60 + (minutes if match["side"] in ("past", "after") else -minutes)
    return Value((at // 60 % 24, at % 60, 0)) if 0 < minutes < 60 else None


def _hour(number: str, half: str | None) -> int | None:
    """The hour of the day; None where the clock has no such hour."""
    hour = int(number)
    if half:
        return hour % 12 + (12 if half == "p" else 0) if 1 <= hour <= 12 else None
    return hour % 24 if hour < 25 else None


_MONTH = rf"(?P<month>{either(_MONTH_OF)})\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DAY2 = r"(?:\s*(?:-|to|until|through)\s*(?P<day2>\d{1,2})(?:st|nd|rd|th)?)?(?![\d:])"
_DATE_FORMS = [  # tried in this order, each on what the ones before left
    re.compile(p)
    for p in (
        r"(?<!\d)(?P<year>\d{4})(?P<mark>[-/.])(?P<m>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?!\d)",
        r"(?<!\d)(?P<year>\d{4})年(?P<m>\d{1,2})月(?:(?P<day>\d{1,2})[日号])?",
        r"(?<!\d)(?P<m>\d{1,2})月(?P<day>\d{1,2})[日号]",
        rf"(?<![\w-]){_DAY}{_DAY2}(?:\s+of)?[\s-]*{_MONTH}(?:,?[\s-]*(?P<year>\d{{4}})\b)?",
        rf"\b{_MONTH}\s*(?:the\s+)?{_DAY}{_DAY2}(?!{LATIN})(?:,?\s*(?P<year>\d{{4}})\b)?",
        rf"\b{_MONTH},?(?:\s+of)?[\s-]+(?P<year>\d{{4}})\b",
        r"(?<![\d/.])(?P<a>\d{1,2})(?P<mark>[/.-])(?P<b>\d{1,2})(?P=mark)"
        r"(?P<year>\d{4}|\d\d)(?![\d/])",
        r"(?<![\d/.])(?P<a>\d{1,2})(?P<mark>/)(?P<b>\d{1,2})(?![\d/])",
        r"(?<![\d-])(?P<year>\d{4})-(?P<m>\d\d)(?![\d-])",
        r"(?<![\d-])(?P<m>\d\d)-(?P<day>\d\d)(?![\d-])",
    )
]
_RELATIVE = re.compile(
    r"\b(?P<near>(?:the )?day before yesterday|yesterday|today|tomorrow"
    r"|(?:the )?day after tomorrow)\b"
    r"|\b(?P<ago>\d{1,4}) (?P<unit>day|week)s? ago\b"
    r"|\bin (?P<ahead>\d{1,4}) (?P<unit2>day|week)s?\b"
    rf"|\b(?P<which>last|this|next) (?P<weekday>{either(WEEKDAYS)})\b"
)
_NEAR = {"yesterday": -1, "today": 0, "tomorrow": 1}


def _day(year: int, month: int, day: int) -> tuple[int, ...]:
    """The parts as a key, or () where the calendar has no such day."""
    try:
        date(year or 2000, month, day or 1)  # 2000 is a leap year: "29 February" is a date
    except ValueError:
        return ()
    return (year, month, day)


def _date_value(match: re.Match[str]) -> Value | None:
    got = {name: text for name, text in match.groupdict().items() if text}
    year = int(got.get("year", 0))
    if "a" in got:
        a, b = int(got["a"]), int(got["b"])
        year += 2000 if 0 < len(got.get("year", "")) < 3 else 0
        month_first = () if got["mark"] == "." else _day(year, a, b)
        readings = [key for key in (month_first, _day(year, b, a)) if key]
        if len(readings) == 2 and a != b:
            return Value(readings[0], other=readings[1])
        return Value(readings[0]) if readings else None
    month = int(got["m"]) if "m" in got else _MONTH_OF[got["month"]]
    keys = [_day(year, month, int(got.get("day", 0)))]
    if "day2" in got:
        keys.append(_day(year, month, int(got["day2"])))
    return Value(sum(keys, ())) if all(keys) else None


def _resolve(match: re.Match[str], today: date) -> Value | None:
    """A relative day, counted from `today`; "last Friday" is before it, "next Friday" after it."""
    if match["near"]:
        days = _NEAR[match["near"].split()[-1]]
        days *= 2 if "day before" in match["near"] or "day after" in match["near"] else 1
    elif match["weekday"]:
        ahead = (WEEKDAYS.index(match["weekday"]) - today.weekday()) % 7
        this_week = WEEKDAYS.index(match["weekday"]) - today.weekday()
        days = {"next": ahead or 7, "last": ahead - 7, "this": this_week}[match["which"]]
    else:
        count = int(match["ahead"] or match["ago"])
        count *= 7 if "week" in (match["unit"], match["unit2"]) else 1
        days = count if match["ahead"] else -count
    try:
        when = today + timedelta(days=days)
    except OverflowError:
        return None
    return Value((when.year, when.month, when.day))


def _in_date_words(text: str) -> str:
    """Prepared text with ordinal and number words as digits and "a week" as "1 week"."""
    text = re.sub(r"(?<=\d)t(?=\d\d:)", " ", text)  # the T of an ISO timestamp
    text = ordinal_digits(text)
    return re.sub(r"\ban? (?=(?:day|week)s? ago\b)", "1 ", digits(text))


def dates(text: str, today: date | None) -> tuple[list[Found], str]:
    """Dates in order of place; two joined by "to" or a dash are one range."""
    text = rest = _in_date_words(text)
    found: list[Found] = []
    if today is not None:
        found, rest = scan(rest, _RELATIVE, lambda match: _resolve(match, today))
    for form in _DATE_FORMS:
        more, rest = scan(rest, form, _date_value)
        found += more
    if not found and (only := _alone(rest)):
        return [(0, len(text), Value(only))], ""
    return _join_ranges(text, sorted(found, key=lambda f: f[0])), rest


def _alone(text: str) -> tuple[int, ...]:
    """The key of a month or a year that stands by itself; else ()."""
    word = " ".join(meaning_words(text))
    if word in _MONTH_OF:
        return (0, _MONTH_OF[word], 0)
    return (int(word), 0, 0) if re.fullmatch(r"(?:19|20)\d\d", word) else ()


def _join_ranges(text: str, found: list[Found]) -> list[Found]:
    """Two dates joined by "to", a dash or "between ... and" as one; a year said once is both's."""
    joined: list[Found] = []
    for start, end, value in found:
        if joined and len(key := joined[-1][2].parts) == 3 and len(value.parts) == 3:
            begin, before, _ = joined[-1]
            between = r"\bbetween\s*$" if "and" in text[before:start] else ""
            joiner = re.fullmatch(r"\s*(?:-|to|until|till|through|and)\s*", text[before:start])
            if joiner and re.search(between, text[:begin]):
                pair = (key[0] or value.parts[0], *key[1:], *value.parts)
                joined[-1] = (begin, end, Value(pair))
                continue
        joined.append((start, end, value))
    return joined


def same_date(a: Value, b: Value) -> bool:
    """Whether two dates agree in what both state; an ambiguous one may be either of its days."""
    if a.other and b.other:
        return a == b
    return any(
        len(x) == len(y) and _agree(x[:3], y[:3]) and _agree(x[3:], y[3:])
        for x in (a.parts, a.other)
        for y in (b.parts, b.other)
        if x and y
    )


def _agree(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Two dates (or absent range ends): month and day alike, and the year where both have one."""
    return a[1:] == b[1:] and (a[:1] == b[:1] or (any(a[1:]) and not (a[0] and b[0])))


_DATE_SHAPED = re.compile(rf"\b(?:{either(_MONTH_OF)})\b|\d{{4}}[-/.年]|[/.-]\d{{4}}|\d月")


def looks_like_a_date(text: str) -> bool:
    """Whether prepared text has a month's name or a date's separators: a mere number has not."""
    return bool(_DATE_SHAPED.search(text))


def is_relative(text: str) -> bool:
    """Whether prepared text is a relative day and nothing else: "yesterday", "2 weeks ago"."""
    return bool(_RELATIVE.fullmatch(_in_date_words(text)))


def beside_relative(text: str) -> str | None:
    """What prepared text says beside a relative day; None where it names none."""
    text = _in_date_words(text)
    return _RELATIVE.sub(" ", text) if _RELATIVE.search(text) else None
