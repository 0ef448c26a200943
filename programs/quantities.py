"""Quantities in a text: numbers with units, amounts of money, lengths of time."""

import re
from decimal import ROUND_HALF_UP, Decimal

from memsteer.programs.fold import LATIN
from memsteer.programs.numerals import EXACT, digits
from memsteer.programs.scan import Found, Value, either, scan


def _table(rows: str) -> dict[str, tuple[str, Decimal]]:
    """Read "base factor alias alias ..." lines into alias → (base, factor)."""
    split = [row.split() for row in rows.strip().splitlines()]
    return {a.replace("_", " "): (r[0], Decimal(r[1])) for r in split for a in r[2:]}


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

_AMOUNT = r"(?P<num>\d+(?:\.\d+)?|\.\d+)"
_NUMBER = re.compile(
    rf"(?<![a-z0-9_.:])(?P<sign>[-+]?){_AMOUNT}"
    rf"(?:(?:\s*|-)(?P<unit>{either(_UNITS)})(?!{LATIN}))?(?!{LATIN}|[.:]\d)"
)
_CURRENCY = either(_CURRENCIES)
_MONEY = re.compile(
    rf"(?<![a-z0-9_.:])(?P<sign>[-+]?)(?:(?P<before>{_CURRENCY})\s*(?P<inner>-?))?{_AMOUNT}"
    rf"(?:\s*(?P<after>{_CURRENCY})(?!{LATIN}))?(?!{LATIN}|[.:]\d|\s*%)"
)

# Beside a currency an m is no metre: "$1.2m", "3 bn euros".
_BIG = {"k": " thousand", "m": " million", "mn": " million", "bn": " billion"}
_BIG_AMOUNT = re.compile(
    rf"((?:{_CURRENCY})\s*\d+(?:\.\d+)?)\s?({either(_BIG)})(?!{LATIN})"
    rf"|(?<![\w.])(\d+(?:\.\d+)?)\s?({either(_BIG)})(?=\s*(?:{_CURRENCY}))"
)


def _decimal_points(text: str) -> str:
    """Turn decimal commas into points: 842,97 and 1.200,50."""
    pattern = r"(?<![\w.,])(\d{1,3}(?:\.\d{3})+|\d+),(\d{1,2})(?![\d,])"
    return re.sub(pattern, lambda m: f"{m[1].replace('.', '')}.{m[2]}", text)


def _places(number: str) -> int:
    return len(number.partition(".")[2])


def numbers(text: str) -> tuple[list[Found], str]:
    def build(match: re.Match[str]) -> Value:
        number = match["num"]
        amount = -Decimal(number) if match["sign"] == "-" else Decimal(number)
        return Value(amount, match["unit"] or "", _places(number))

    return scan(_decimal_points(digits(text)), _NUMBER, build)


def money(text: str) -> tuple[list[Found], str]:
    """Amounts with a currency; only where none has one, every number is an amount."""
    text = _BIG_AMOUNT.sub(lambda m: f"{m[1] or m[3]}{_BIG[m[2] or m[4]]}", text)
    text = _decimal_points(digits(text))
    named = any(m["before"] or m["after"] for m in _MONEY.finditer(text))

    def build(match: re.Match[str]) -> Value | None:
        sign = match["sign"] + (match["inner"] or "")
        currency = match["before"] or match["after"]
        if named and not currency:
            return None
        amount = Decimal(match["num"]) * (-1 if "-" in sign else 1)
        unit = _CURRENCIES[currency][0] if currency else ""
        return Value(amount, unit, _places(match["num"]))

    return scan(text, _MONEY, build)


_SPAN_UNIT = either(_SPANS)
_SPAN = re.compile(rf"(?<![a-z0-9_.:]){_AMOUNT}(?:\s*|-)(?P<unit>{_SPAN_UNIT})(?![a-z_])")


def durations(text: str) -> tuple[list[Found], str]:
    """Lengths of time; "1 h 30 min" is one value: the same base, from larger to smaller units."""
    factors: list[Decimal] = []

    def build(match: re.Match[str]) -> Value:
        base, factor = _SPANS[match["unit"]]
        factors.append(factor)
        return Value(EXACT.multiply(Decimal(match["num"]), factor), base)

    text = _in_duration_words(text)
    found, rest = scan(text, _SPAN, build)
    joined: list[Found] = []
    smallest = Decimal(0)
    for (start, end, value), factor in zip(found, factors, strict=True):
        if joined and joined[-1][2].unit == value.unit and factor < smallest:
            begin, before, whole = joined[-1]
            if re.fullmatch(r"\s*,?\s*(?:and)?\s*", text[before:start]):
                total = EXACT.add(Decimal(str(whole.key)), Decimal(str(value.key)))
                joined.pop()
                start, value = begin, Value(total, value.unit)
                rest = rest[:before] + " " * (end - before) + rest[end:]
        joined.append((start, end, value))
        smallest = factor
    return joined, rest


def _in_duration_words(text: str) -> str:
    """Prepared text with every length of time as digits and units: "half an hour" → "0.5 hour"."""
    text = digits(text)
    text = re.sub(rf"\b(?:an?\s+)?half[\s-]+(?:an?\s+)?(?=(?:{_SPAN_UNIT})\b)", "0.5 ", text)
    text = re.sub(rf"\ban?\s+(?=(?:{_SPAN_UNIT})\b)", "1 ", text)
    text = re.sub(r"(\d)\s*h\s*(\d{1,2})\s*(?:m|min)?\b", r"\1 h \2 min", text)
    text = re.sub(r"\b(\d+):(\d\d)\s*(?:h|hrs?|hours?)\b", r"\1 h \2 min", text)
    text = re.sub(rf"\b(\d+)\s+({_SPAN_UNIT})\s+and\s+a\s+half\b", r"\1.5 \2", text)
    each = rf"\b(\d+(?:\.\d+)?)\s*(?:-|to|or)\s*(?=\d+(?:\.\d+)?\s*({_SPAN_UNIT})\b)"
    return re.sub(each, r"\1 \2 to ", text)  # "30-40 minutes" states two durations


def same_number(a: Value, b: Value) -> bool:
    """Whether two numbers are equal; a missing unit is accepted, a missing % is not."""
    (base_a, by_a), (base_b, by_b) = (_UNITS.get(v.unit, ("", Decimal(1))) for v in (a, b))
    if not (base_a and base_b):
        return a.key == b.key and (base_a == base_b or "%" not in (base_a, base_b))
    x, y = (Decimal(str(value.key)) for value in (a, b))
    return base_a == base_b and EXACT.multiply(x, by_a) == EXACT.multiply(y, by_b)


def same_amount(a: Value, b: Value) -> bool:
    """Whether two amounts of money are equal; the finer may round to a coarser with decimals."""
    if a.unit and b.unit and a.unit != b.unit:
        return False
    coarse, fine = sorted((a, b), key=lambda value: value.places)
    if a.key == b.key or not coarse.places:
        return a.key == b.key
    step = Decimal((0, (1,), -coarse.places))
    return Decimal(str(fine.key)).quantize(step, ROUND_HALF_UP, EXACT) == coarse.key
