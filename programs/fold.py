"""Folding: texts without what does not change their meaning, so that they can be compared."""

import re
import unicodedata

from memsteer.programs.dates import WEEKDAYS
from memsteer.programs.numerals import digits

LATIN = "[a-z0-9_]"  # what a Latin word is made of: a CJK counter may follow a number directly
CJK_OR_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\s\u3040-\u30ff\u3400-\u9fff]+")

_FRACTIONS = {"½": ".5", "¼": ".25", "¾": ".75"}
_MEDIA_ID = re.compile(
    rf"(?<!{LATIN})(?:(?:img|vid)_)?(?=[a-z_]*\d)(\w+?)(?:_resized)?"
    rf"(?:\.(?:jpe?g|png|heic|mp4|mov))?(?!{LATIN})"
)
_FILLER_WORDS = """
    about approximately approx around roughly nearly almost circa ca exactly on in at by of for
    from to until till through between is was were are be it its this that there and with total
    answer"""
_FILLERS = {
    *_FILLER_WORDS.split(),
    *WEEKDAYS,
    *(day[:3] for day in WEEKDAYS),
    *("tues", "thur", "thurs"),
}
# A private-use character each keeps what punctuation means: -3, 3.5, 16:00, c#.
_MINUS, _POINT, _COLON, _SHARP = "\ue000", "\ue001", "\ue002", "\ue003"
_MEANT = str.maketrans({_MINUS: "-", _POINT: ".", _COLON: ":", _SHARP: "#"})


def prepare(text: str) -> str:
    """NFKC and casefold; one kind of dash, quote and space; no thousands separators."""
    text = re.sub("[½¼¾]", lambda m: _FRACTIONS[m[0]], text)  # before NFKC, which writes 1½ as 11/2
    text = re.sub(r"(?<=\d)[\u00a0\u202f\u2009'\u2019](?=\d{3}(?!\d))", "", text)
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = re.sub("[\u2010-\u2015\u2212]", "-", text)
    text = re.sub("[\u2018\u2019\u02bc`]", "'", text)
    text = re.sub(r"[^\S\n]+", " ", text).strip()
    return re.sub(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\d,])", lambda m: m[0].replace(",", ""), text)


def fold(text: str) -> str:
    """The text without case, Latin accents, punctuation, articles or spare whitespace.

    Signs before and points within numbers stay, as do %, currency, CJK and emoji; media ids lose
    `IMG_`, `_resized` and their file ending. A last word is no article (Vitamin A).

    >>> fold("The  Maple & Thyme Café!")
    'maple and thyme cafe'
    """
    text = re.sub(f"[{_MINUS}-{_SHARP}]", " ", _unaccented(prepare(text)))
    text = _MEDIA_ID.sub(r"\1", text)
    text = re.sub(r"(?<!\w)(?:[a-z]\.){2,}", lambda m: m[0].replace(".", ""), text)
    text = text.replace("&", " and ").replace("'", "")
    text = re.sub(r"(?<![\w)])-(?=[€$£]?\.?\d)", _MINUS, text)
    text = re.sub(r"(?<=\d)\.(?=\d)|(?<!\w)\.(?=\d)", _POINT, text)
    text = re.sub(r"(?<=\d):(?=\d)", _COLON, text)
    text = re.sub(r"(?<=[a-z])#", _SHARP, text)
    text = "".join(c if _keeps(c) or _MINUS <= c <= _SHARP else " " for c in text)
    words = text.translate(_MEANT).split()
    return " ".join([w for w in words[:-1] if w not in {"a", "an", "the"}] + words[-1:])


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


def folded_tokens(text: str) -> list[str]:
    """Folded words with number words as digits; each CJK character is a token of its own."""
    return CJK_OR_WORD.findall(fold(digits(prepare(text))))


def meaning_words(text: str) -> list[str]:
    """Folded words that carry meaning beside a value: no fillers or weekdays, plural s dropped."""
    words = [w for w in fold(text).split() if w not in _FILLERS and w != "-"]
    return [w[:-1] if len(w) > 3 and w.endswith("s") else w for w in words]
