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
money     a missing currency is accepted; `$` is USD and `¥` JPY. If the coarser side states at
          least one decimal, the finer may round (half up) to it: €62.8 = 62.75 EUR, and
          €63 is not 62.75 EUR.
date      the stated parts must agree; a year that one side lacks is ignored, as are weekday names.
          04/05/2024 may be either order unless both sides are ambiguous; 04.05.2024 is day first.
          "May 4-6" is a pair. A reference "absolute (relative)" is right by either half.
time      a clock time without am or pm is on the 24-hour clock. Zones are not converted.
duration  seconds; months (and years, as 12) are a unit of their own. A bare number is accepted.
boolean   the leading word decides; else all of correct, wrong, ... agree; the rest is ignored.
list      equal sets of folded items.
span      equal tokens, or the reference as one run within a prediction that adds at most n + 6
          tokens to the reference's n. Number words are digits; a CJK character is a token.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Literal

from memsteer.signatures.supervision import AnswerType


@dataclass(frozen=True)
class Verdict:
    """The outcome of one comparison, with the reason in words."""

    outcome: Literal["correct", "wrong", "abstained"]
    reason: str

    @property
    def correct(self) -> bool:
        return self.outcome == "correct"


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


Found = tuple[int, int, Value]  # start and end in the scanned text, and what stands there

_W = "[a-z0-9_]"  # what a Latin word is made of: a CJK counter may follow a number directly
_EXACT = Context(prec=400, traps=[])  # absurd figures give NaN, which equals nothing, not an error


def _table(rows: str) -> dict[str, tuple[str, Decimal]]:
    """Read "base factor alias alias ..." lines into alias → (base, factor)."""
    split = [row.split() for row in rows.strip().splitlines()]
    return {a.replace("_", " "): (r[0], Decimal(r[1])) for r in split for a in r[2:]}


def _either(words: Iterable[str]) -> str:
    """A regex alternation of a collection of words, longest first."""
    return "|".join(re.escape(w) for w in sorted(words, key=len, reverse=True))


_SPANS = _table("""
    s 1 s sec secs second seconds
    s 60 min mins minute minutes
    s 3600 h hr hrs hour hours
    s 86400 day days
    s 604800 week weeks wk wks
    s 1209600 fortnight fortnights
    month 1 month months
    month 12 year years yr yrs""")
_UNITS = _SPANS | _table("""
    m 0.001 mm
    m 0.01 cm
    m 1 m metre metres meter meters
    m 1000 km kms kilometre kilometres kilometer kilometers
    mile 1 mi mile miles
    ft 1 ft foot feet
    inch 1 inch inches
    g 0.001 mg
    g 1 g gram grams
    g 1000 kg kgs kilo kilos kilogram kilograms
    lb 1 lb lbs pound pounds
    oz 1 oz ounce ounces
    l 0.001 ml millilitre millilitres milliliter milliliters
    l 1 l litre litres liter liters
    % 1 % percent per_cent
    °c 1 °c °_c celsius degrees_celsius
    °f 1 °f °_f fahrenheit degrees_fahrenheit
    mb 1 mb
    mb 1000 gb
    km/h 1 km/h kph
    mph 1 mph
    kcal 1 kcal calories
    kwh 1 kwh""")
_CURRENCIES = _table("""
    EUR 1 € eur euro euros
    USD 1 $ us$ usd dollar dollars
    GBP 1 £ gbp pound pounds
    JPY 1 ¥ jpy yen 円
    CNY 1 cny rmb yuan 元
    INR 1 ₹ inr rupee rupees
    CHF 1 chf francs
    AUD 1 a$ au$ aud
    CAD 1 c$ ca$ cad""")

_ONES = "one two three four five six seven eight nine".split()
_TEENS = ("ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen").split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_SMALL = {"zero": 0} | {w: i for i, w in enumerate(_ONES + _TEENS, 1)}
_SMALL |= {w: 10 * i for i, w in enumerate(_TENS, 2)}
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "dozen": 12}
_SCALE = _either(_SCALES)
_TENS_FIRST = rf"(?:{_either(_TENS)})(?:[\s-]+(?:{_either(_ONES)}))?|{_either(_SMALL)}"
_NUMBER_WORDS = re.compile(
    rf"\b(?:{_TENS_FIRST}|an?(?=\s+(?:{_SCALE})\b))"
    rf"(?:[\s-]+(?:{_SCALE})\b(?:(?:\s+and)?[\s-]+(?:{_TENS_FIRST})\b)?)*\b"
)
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
_ORDINAL_OF = {w: i for i, w in enumerate(_ORDINALS, 1)} | {"thirtieth": 30, "thirty first": 31}
_ORDINAL_OF |= {f"twenty {w}": 20 + i for i, w in enumerate(_ORDINALS[:9], 1)}
_ORDINAL = re.compile(rf"\b(?:{_either(_ORDINAL_OF)})\b".replace("\\ ", r"[\s-]"))

_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_MONTH_OF = {m: i for i, m in enumerate(_MONTHS, 1)} | {m[:3]: i for i, m in enumerate(_MONTHS, 1)}
_MONTH_OF["sept"] = 9
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_WEEKDAYS = {*_DAYS, *(d[:3] for d in _DAYS), "tues", "thur", "thurs"}
_FILLERS = set(
    "about approximately approx around roughly nearly almost circa ca exactly on in at by of for "
    "from to until till through between is was were are be it its this that there and with total "
    "answer".split()
)
_NEGATIONS = set(
    "no not never none neither nor without cannot cant dont doesnt didnt isnt arent wasnt werent "
    "wont wouldnt shouldnt couldnt hasnt havent hadnt 不 没 沒 未 無 无".split()
)
_TRUE = {"yes", "yeah", "yep", "true", "correct", "right", "affirmative", "是", "对", "對", "はい"}
_FALSE = {"no", "nope", "false", "incorrect", "wrong", "negative", "不", "否", "没", "いいえ"}

# ------------------------------------------------------------------------------- plain text

_FRACTIONS = {"½": ".5", "¼": ".25", "¾": ".75"}
_CJK_OR_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\s\u3040-\u30ff\u3400-\u9fff]+")
_MEDIA_ID = re.compile(
    rf"(?<!{_W})(?:(?:img|vid)_)?(?=[a-z_]*\d)(\w+?)(?:_resized)?(?:\.(?:jpe?g|png|heic|mp4|mov))?(?!{_W})"
)


def _prepare(text: str) -> str:
    """NFKC and casefold; one kind of dash, quote and space; no thousands separators."""
    text = re.sub("[½¼¾]", lambda m: _FRACTIONS[m[0]], text)  # before NFKC, which writes 1½ as 11/2
    text = re.sub(r"(?<=\d)[\u00a0\u202f\u2009'\u2019](?=\d{3}(?!\d))", "", text)
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = re.sub("[\u2010-\u2015\u2212]", "-", text)
    text = re.sub("[\u2018\u2019\u02bc`]", "'", text)
    text = re.sub(r"[^\S\n]+", " ", text).strip()
    return re.sub(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\d,])", lambda m: m[0].replace(",", ""), text)


def _unaccented(text: str) -> str:
    """Drop accents from Latin letters only: Japanese が and Russian й are letters, not accents."""
    kept: list[str] = []
    latin = False
    for char in unicodedata.normalize("NFD", text):
        if unicodedata.combining(char):
            if latin:
                continue
        else:
            latin = unicodedata.name(char, "").startswith("LATIN")
        kept.append(char)
    return unicodedata.normalize("NFC", "".join(kept))


def _keeps(char: str) -> bool:
    """Letters, digits, marks, currency and emoji stay; punctuation and other controls go."""
    category = unicodedata.category(char)
    if category == "Sk":
        return "\U0001f3fb" <= char <= "\U0001f3ff"  # skin tones are part of an emoji
    return (category[0] in "LNMS" and char != "\ufe0f") or char in "%\u200d"


def fold(text: str) -> str:
    """The text without case, Latin accents, punctuation, articles or spare whitespace.

    Signs before and points within numbers stay, as do %, currency, CJK and emoji; media ids lose
    `IMG_`, `_resized` and their file ending. A last word is no article (Vitamin A).

    >>> fold("The  Maple & Thyme Café!")
    'maple and thyme cafe'
    """
    text = re.sub("[\ue000-\ue003]", " ", _unaccented(_prepare(text)))
    text = _MEDIA_ID.sub(r"\1", text)
    text = re.sub(r"(?<!\w)(?:[a-z]\.){2,}", lambda m: m[0].replace(".", ""), text)
    text = text.replace("&", " and ").replace("'", "")
    # A private-use character each keeps what punctuation means: -3, 3.5, 16:00, c#.
    text = re.sub(r"(?<![\w)])-(?=[€$£]?\.?\d)", "\ue000", text)
    text = re.sub(r"(?<=\d)\.(?=\d)|(?<!\w)\.(?=\d)", "\ue001", text)
    text = re.sub(r"(?<=\d):(?=\d)", "\ue002", text)
    text = re.sub(r"(?<=[a-z])#", "\ue003", text)
    text = "".join(c if _keeps(c) or "\ue000" <= c <= "\ue003" else " " for c in text)
    words = text.translate({0xE000: "-", 0xE001: ".", 0xE002: ":", 0xE003: "#"}).split()
    return " ".join([w for w in words[:-1] if w not in {"a", "an", "the"}] + words[-1:])


def _tokens(text: str) -> list[str]:
    """Folded words with number words as digits; each CJK character is a token of its own."""
    return _CJK_OR_WORD.findall(fold(_digits(_prepare(text))))


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


# ---------------------------------------------------------------------------- reading values


def _digits(text: str) -> str:
    """Write number words as digits in prepared text: "three hundred and two" → "302"."""

    def run(match: re.Match[str]) -> str:
        total = current = 0
        for word in re.split(r"[\s-]+", match[0]):
            if word in _SMALL:
                current += _SMALL[word]
            elif word in {"a", "an"}:
                current = 1
            elif word in {"hundred", "dozen"}:
                current = max(current, 1) * _SCALES[word]
            elif word in _SCALES:
                total, current = total + max(current, 1) * _SCALES[word], 0
        return str(total + current)

    def scaled(match: re.Match[str]) -> str:
        scale = Decimal(_SCALES[match[2]] if match[2] else 1000)
        return f"{_EXACT.multiply(Decimal(match[1]), scale).normalize(_EXACT):f}"

    text = _NUMBER_WORDS.sub(run, text)
    text = re.sub(rf"(?<![\w.])(\d+(?:\.\d+)?)(?:\s+({_SCALE})|k)(?!{_W})", scaled, text)
    text = re.sub(r"\b(\d+)\s+and\s+a\s+half\b", r"\1.5", text)
    return re.sub(r"\b(?:minus|negative)\s+(?=\d)", "-", text)


def _scan(
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


_AMOUNT = r"(?P<num>\d+(?:\.\d+)?|\.\d+)"
_NUMBER = re.compile(
    rf"(?<![a-z0-9_.:])(?P<sign>[-+]?){_AMOUNT}"
    rf"(?:(?:\s*|-)(?P<unit>{_either(_UNITS)})(?!{_W}))?(?!{_W}|[.:]\d)"
)
_CURRENCY = _either(_CURRENCIES)
_MONEY = re.compile(
    rf"(?<![a-z0-9_.:])(?P<sign>[-+]?)(?:(?P<before>{_CURRENCY})\s*(?P<inner>-?))?{_AMOUNT}"
    rf"(?:\s*(?P<after>{_CURRENCY})(?!{_W}))?(?!{_W}|[.:]\d|\s*%)"
)


def _decimal_points(text: str) -> str:
    """Turn decimal commas into points: 842,97 and 1.200,50."""
    pattern = r"(?<![\w.,])(\d{1,3}(?:\.\d{3})+|\d+),(\d{1,2})(?![\d,])"
    return re.sub(pattern, lambda m: f"{m[1].replace('.', '')}.{m[2]}", text)


def _places(number: str) -> int:
    return len(number.partition(".")[2])


def _numbers(text: str) -> tuple[list[Found], str]:
    def build(match: re.Match[str]) -> Value:
        number = match["num"]
        amount = -Decimal(number) if match["sign"] == "-" else Decimal(number)
        return Value(amount, match["unit"] or "", _places(number))

    return _scan(_decimal_points(_digits(text)), _NUMBER, build)


def _money(text: str) -> tuple[list[Found], str]:
    """Amounts with a currency; only where none has one, every number is an amount."""
    text = _decimal_points(_digits(text))
    named = any(m["before"] or m["after"] for m in _MONEY.finditer(text))

    def build(match: re.Match[str]) -> Value | None:
        sign = match["sign"] + (match["inner"] or "")
        currency = match["before"] or match["after"]
        if named and not currency:
            return None
        amount = Decimal(match["num"]) * (-1 if "-" in sign else 1)
        unit = _CURRENCIES[currency][0] if currency else ""
        return Value(amount, unit, _places(match["num"]))

    return _scan(text, _MONEY, build)


_SPAN_UNIT = _either(_SPANS)
_SPAN = re.compile(rf"(?<![a-z0-9_.:]){_AMOUNT}(?:\s*|-)(?P<unit>{_SPAN_UNIT})(?![a-z_])")


def _durations(text: str) -> tuple[list[Found], str]:
    """Lengths of time; "1 h 30 min" is one value: the same base, from larger to smaller units."""
    text = _digits(text)
    text = re.sub(rf"\b(?:an?\s+)?half[\s-]+(?:an?\s+)?(?=(?:{_SPAN_UNIT})\b)", "0.5 ", text)
    text = re.sub(rf"\ban?\s+(?=(?:{_SPAN_UNIT})\b)", "1 ", text)
    text = re.sub(r"(\d)\s*h\s*(\d{1,2})\s*(?:m|min)?\b", r"\1 h \2 min", text)
    text = re.sub(r"\b(\d+):(\d\d)\s*(?:h|hrs?|hours?)\b", r"\1 h \2 min", text)
    text = re.sub(rf"\b(\d+)\s+({_SPAN_UNIT})\s+and\s+a\s+half\b", r"\1.5 \2", text)
    each = rf"\b(\d+(?:\.\d+)?)\s*(?:-|to|or)\s*(?=\d+(?:\.\d+)?\s*({_SPAN_UNIT})\b)"
    text = re.sub(each, r"\1 \2 to ", text)  # "30-40 minutes" states two durations
    factors: list[Decimal] = []

    def build(match: re.Match[str]) -> Value:
        base, factor = _SPANS[match["unit"]]
        factors.append(factor)
        return Value(_EXACT.multiply(Decimal(match["num"]), factor), base)

    found, rest = _scan(text, _SPAN, build)
    joined: list[Found] = []
    smallest = Decimal(0)
    for (start, end, value), factor in zip(found, factors, strict=True):
        if joined and joined[-1][2].unit == value.unit and factor < smallest:
            begin, before, whole = joined[-1]
            if re.fullmatch(r"\s*,?\s*(?:and)?\s*", text[before:start]):
                total = _EXACT.add(Decimal(str(whole.key)), Decimal(str(value.key)))
                joined.pop()
                start, value = begin, Value(total, value.unit)
                rest = rest[:before] + " " * (end - before) + rest[end:]
        joined.append((start, end, value))
        smallest = factor
    return joined, rest


_TIME = re.compile(
    r"(?<![\d:.])(?:(?:12\s+)?(?P<word>noon|midday|midnight)\b"
    r"|(?P<h>\d{1,2})(?:[:.](?P<m>\d{2}))?(?::(?P<s>\d{2}))?\s*(?P<half>[ap])(?:\.\s?m\.|\s?m\b)"
    r"|(?P<h2>\d{1,2})(?:(?::|\s?h\s?)(?P<m2>\d{2})(?::(?P<s2>\d{2}))?(?!\d)"
    r"|\s?h(?![a-z0-9])|\s?o'?clock\b))"
)


def _times(text: str) -> tuple[list[Found], str]:
    def build(match: re.Match[str]) -> Value | None:
        if match["word"]:
            return Value((0 if match["word"] == "midnight" else 12, 0, 0))
        hour = int(match["h"] or match["h2"])
        minute, second = int(match["m"] or match["m2"] or 0), int(match["s"] or match["s2"] or 0)
        if match["half"]:
            if not 1 <= hour <= 12:
                return None
            hour = hour % 12 + (12 if match["half"] == "p" else 0)
        valid = hour < 25 and minute < 60 and second < 60
        return Value((hour % 24, minute, second)) if valid else None

    # "4-5 pm": the first hour takes the second's half of the day.
    clock = r"\d{1,2}(?::\d{2})?"
    shared = rf"(?<![\d:.])({clock})\s*(?:-|to)\s*(?={clock}\s*([ap])\.?m\b)"
    return _scan(re.sub(shared, r"\1 \2m to ", _digits(text)), _TIME, build)


_MONTH = rf"(?P<month>{_either(_MONTH_OF)})\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DAY2 = r"(?:\s*(?:-|to|until|through)\s*(?P<day2>\d{1,2})(?:st|nd|rd|th)?)?(?![\d:])"
_DATE_FORMS = [  # tried in this order, each on what the ones before left
    re.compile(p)
    for p in (
        r"(?<!\d)(?P<year>\d{4})(?P<mark>[-/.])(?P<m>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?!\d)",
        r"(?<!\d)(?P<year>\d{4})年(?P<m>\d{1,2})月(?:(?P<day>\d{1,2})[日号])?",
        r"(?<!\d)(?P<m>\d{1,2})月(?P<day>\d{1,2})[日号]",
        rf"(?<![\w-]){_DAY}{_DAY2}(?:\s+of)?[\s-]*{_MONTH}(?:,?[\s-]*(?P<year>\d{{4}})\b)?",
        rf"\b{_MONTH}\s*(?:the\s+)?{_DAY}{_DAY2}(?!{_W})(?:,?\s*(?P<year>\d{{4}})\b)?",
        rf"\b{_MONTH},?(?:\s+of)?[\s-]+(?P<year>\d{{4}})\b",
        r"(?<![\d/.])(?P<a>\d{1,2})(?P<mark>[/.-])(?P<b>\d{1,2})(?P=mark)(?P<year>\d{4}|\d\d)(?![\d/])",
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
    rf"|\b(?P<which>last|this|next) (?P<weekday>{_either(_DAYS)})\b"
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
        ahead = (_DAYS.index(match["weekday"]) - today.weekday()) % 7
        this_week = _DAYS.index(match["weekday"]) - today.weekday()
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
    text = _ORDINAL.sub(lambda m: f"{_ORDINAL_OF[re.sub(r'[ -]+', ' ', m[0])]}th", text)
    return re.sub(r"\ban? (?=(?:day|week)s? ago\b)", "1 ", _digits(text))


def _dates(text: str, today: date | None) -> tuple[list[Found], str]:
    """Dates in order of place; two joined by "to" or a dash are one range."""
    text = rest = _in_date_words(text)
    found: list[Found] = []
    if today is not None:
        found, rest = _scan(rest, _RELATIVE, lambda match: _resolve(match, today))
    for form in _DATE_FORMS:
        more, rest = _scan(rest, form, _date_value)
        found += more
    if (
        not found
        and (alone := " ".join(_words(rest)))
        and (alone in _MONTH_OF or re.fullmatch(r"(?:19|20)\d\d", alone))
    ):
        only = (0, _MONTH_OF[alone], 0) if alone in _MONTH_OF else (int(alone), 0, 0)
        return [(0, len(text), Value(only))], ""
    ranges: list[Found] = []
    for start, end, value in sorted(found, key=lambda f: f[0]):
        if ranges and len(key := _parts(ranges[-1][2])) == 3 and len(_parts(value)) == 3:
            begin, before, _ = ranges[-1]
            between = r"\bbetween\s*$" if "and" in text[before:start] else ""
            joiner = re.fullmatch(r"\s*(?:-|to|until|till|through|and)\s*", text[before:start])
            if joiner and re.search(between, text[:begin]):
                pair = (key[0] or _parts(value)[0], *key[1:], *_parts(value))
                ranges[-1] = (begin, end, Value(pair))
                continue
        ranges.append((start, end, value))
    return ranges, rest


def _parts(value: Value) -> tuple[int, ...]:
    return value.key if isinstance(value.key, tuple) else ()


def _boolean(folded: str) -> bool | None:
    """The leading word, or what all verdict words of the text agree on: "is incorrect" is False."""
    tokens = _CJK_OR_WORD.findall(folded)
    said: set[bool] = set()
    for at, token in enumerate(tokens):
        if token in _TRUE | _FALSE and token not in {"no", "不", "没"}:
            negated = sum(t in _NEGATIONS for t in tokens[max(0, at - 2) : at])
            said.add((token in _TRUE) != bool(negated % 2))
    first = tokens[0] if tokens else ""
    if first in _TRUE | _FALSE:
        return first in _TRUE
    if folded.startswith(("はい", "いいえ")):
        return folded.startswith("はい")
    if first in _NEGATIONS and not said:
        return False
    return said.pop() if len(said) == 1 else None


_BULLET = re.compile(r"^\s*(?:[-*•‣◦]|\d+[.)])\s+", re.MULTILINE)
_SEPARATOR = re.compile(r"[\n;、•]|,(?!\d)|(?<!\d),|(?<=\d{4}),|\s(?:and|&)\s")


def _items(text: str) -> list[str]:
    """The folded items of a list, without repeats."""
    pieces = _SEPARATOR.split(_BULLET.sub("\n", _prepare(text)))
    folded = [fold(re.sub(r"^\s*(?:and|&)\s+", "", piece)) for piece in pieces]
    return list(dict.fromkeys(item for item in folded if item))


# ---------------------------------------------------------- normalising, inferring, comparing


def _words(text: str) -> list[str]:
    """Folded words that carry meaning, plural s dropped."""
    words = [w for w in fold(text).split() if w not in _FILLERS | _WEEKDAYS and w != "-"]
    return [w[:-1] if len(w) > 3 and w.endswith("s") else w for w in words]


def _leftover(kind: AnswerType, rest: str) -> tuple[str, ...]:
    """The words beside the values; beside a date, a time counts as a word, however it is spelt."""
    if kind != "date":
        return tuple(_words(rest))
    clock, rest = _times(rest)
    return (*_words(rest), *("{:02}:{:02}:{:02}".format(*_parts(value)) for *_, value in clock))


def normalise(text: str, answer_type: AnswerType, today: date | None = None) -> Normalised:
    """Read `text` as `answer_type`; never raises (see `Normalised` for what does not parse).

    `today` resolves "yesterday" and the like in dates; without it they do not parse.

    >>> normalise("About €1,200.50", "money").values
    (Value(key=Decimal('1200.50'), unit='EUR', places=2, other=()),)
    """
    folded, prepared = fold(text), _prepare(text)
    found: list[Found] = []
    rest = ""
    if answer_type == "number":
        found, rest = _numbers(prepared)
    elif answer_type == "money":
        found, rest = _money(prepared)
    elif answer_type == "duration":
        found, rest = _durations(prepared)
    elif answer_type == "time":
        found, rest = _times(prepared)
    elif answer_type == "date":
        found, rest = _dates(prepared, today)
    elif answer_type == "boolean":
        said = _boolean(folded)
        found = [] if said is None else [(0, 0, Value(said))]
    elif answer_type == "list":
        found = [(0, 0, Value(item)) for item in _items(text)]
    elif folded:
        found = [(0, 0, Value(folded))]
    values = tuple(dict.fromkeys(value for *_, value in found))
    return Normalised(answer_type, bool(values), values, _leftover(answer_type, rest), folded)


_DATE_SHAPED = re.compile(rf"\b(?:{_either(_MONTH_OF)})\b|\d{{4}}[-/.年]|[/.-]\d{{4}}|\d月")


def infer_answer_type(text: str) -> AnswerType:
    """The type whose values make up all of the text but for one word; else span.

    "Fairphone 4" is a span: a number's own words follow it. A list needs a new line, a semicolon,
    or three short items.
    """
    prepared, folded = _prepare(text), fold(text)
    if re.match(r"(?:yes|no|true|false)(?:\s*[,.;:!-]|$)", prepared) or folded in _TRUE | _FALSE:
        return "boolean"
    relative = _RELATIVE.search(_in_date_words(prepared))
    if relative and len(_words(_RELATIVE.sub(" ", _in_date_words(prepared)))) < 3:
        return "date"
    order: tuple[AnswerType, ...] = ("date", "time", "money", "duration", "number")
    for kind in order:
        read = normalise(text, kind)
        # A single date may have a short title beside it, whose words `compare` then requires.
        if not read.parsed or len(read.rest) > (
            4 if kind == "date" and len(read.values) == 1 else 1
        ):
            continue
        first = next(iter(_words(_digits(prepared))), "")
        if {
            "date": bool(_DATE_SHAPED.search(prepared)),
            "money": any(value.unit for value in read.values),
            "number": not first[:1].isalpha(),
        }.get(kind, True):
            return kind
    items = _items(text)
    short = len(items) > 2 and all(len(item.split()) < 6 for item in items)
    if len(items) > 1 and (short or re.search(r"[\n;]", prepared)):
        return "list"
    return "span"


def _same(kind: AnswerType, a: Value, b: Value) -> bool:
    """Whether two values of one type are the same by the rules in the module's docstring."""
    if kind == "date":
        if a.other and b.other:
            return a == b
        return any(
            len(x) == len(y) and _agree(x[:3], y[:3]) and _agree(x[3:], y[3:])
            for x in (_parts(a), a.other)
            for y in (_parts(b), b.other)
            if x and y
        )
    if not (isinstance(a.key, Decimal) and isinstance(b.key, Decimal)):
        return a.key == b.key
    if kind == "duration":
        return (a.key, a.unit) == (b.key, b.unit)
    if kind == "money":
        if a.unit and b.unit and a.unit != b.unit:
            return False
        coarse, fine = sorted((a, b), key=lambda value: value.places)
        if a.key == b.key or not coarse.places:
            return a.key == b.key
        step = Decimal((0, (1,), -coarse.places))
        return Decimal(str(fine.key)).quantize(step, ROUND_HALF_UP, _EXACT) == coarse.key
    (base_a, by_a), (base_b, by_b) = (_UNITS.get(v.unit, ("", Decimal(1))) for v in (a, b))
    if not (base_a and base_b):
        return a.key == b.key and (base_a == base_b or "%" not in (base_a, base_b))
    return base_a == base_b and _EXACT.multiply(a.key, by_a) == _EXACT.multiply(b.key, by_b)


def _agree(a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    """Two dates (or absent range ends): month and day alike, and the year where both have one."""
    return a[1:] == b[1:] and (a[:1] == b[:1] or (any(a[1:]) and not (a[0] and b[0])))


def _negates(predicted: list[str], reference: list[str]) -> bool:
    """Whether the prediction has a negation, or an "or", that the reference has not."""
    return any(
        not kind.isdisjoint(predicted) and kind.isdisjoint(reference)
        for kind in (_NEGATIONS, {"or"})
    )


def _holds(predicted: list[str], reference: list[str]) -> bool:
    """The span rule: equal, or the reference as one run with at most n + 6 tokens more."""
    n, more = len(reference), len(predicted) - len(reference)
    if not n or more > n + 6 or _negates(predicted, reference):
        return False
    return any(predicted[i : i + n] == reference for i in range(more + 1))


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
    rests = [_CJK_OR_WORD.findall(" ".join(side.rest)) for side in (p, r)]
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
    if _holds(_tokens(predicted), _tokens(reference)):
        return Verdict("correct", "the same words")
    return Verdict("wrong", f"{kind}: {fold(predicted)!r} does not say {fold(reference)!r}")


def _readings(reference: str) -> list[str]:
    """The reference, and both halves of "absolute (relative)"."""
    halves = re.fullmatch(r"([^()]+)\(([^()]+)\)\s*", reference)
    if halves and _RELATIVE.fullmatch(_in_date_words(_prepare(halves[2]))):
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
    if _prepare(predicted) == _prepare(reference):
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
