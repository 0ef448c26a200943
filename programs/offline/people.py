"""Which capitalised words of a text are people: by what stands around them, and kinship words."""

import re
from collections.abc import Iterable

from memsteer.programs.dates import MONTHS, WEEKDAYS
from memsteer.programs.names import KINSHIP
from memsteer.programs.text import STOPWORDS

_NAME = r"[A-ZÀ-Ý][a-zà-ÿ]+(?:[ -](?:[A-ZÀ-Ý][a-zà-ÿ]+|[A-ZÀ-Ý]\.))*"
_KIN = "|".join(sorted((re.escape(k) for k in KINSHIP), key=len, reverse=True))
_MENTION = re.compile(rf"\b(?:{_NAME}|(?:my|our) (?:{_KIN})\b)")
_TELLS = (
    r"said|says|told|asked|asks|mentioned|decided|felt|feels|wants|wanted|thinks|thought|promised|"
    r"agreed|suggested|noted|concluded|complained|joked|called|texted|replied|admitted|confessed|"
    r"insisted|showed|seemed|looked|got|was|is|has|had|just|also|actually|even|really|finally|"
    r"and I|[a-z]+ed\b"
)
_AFTER = re.compile(rf"(?:['’]s)?,? (?:{_TELLS})\b")
_BEFORE = re.compile(
    r"\b(?:with|told|promised|asked|from|to|and|texted|called|met|saw|for|by|showed|gave|thanked|"
    r"reassured|comforted|than|let|Since|since|that|when|because|but|So|if|while) $"
)
_DETERMINED = re.compile(r"\b(?:the|a|an|this|that|our|my|in|at|near|around|of) $", re.IGNORECASE)
_OPENERS = """
    hey hi hello yeah yep yes no nope well oh man so ugh wow okay honestly actually anyway thanks
    thank exactly definitely maybe today tomorrow tonight yesterday right sure haha good great got
    let please nah true sounds speaking everyone someone somebody nobody people apparently luckily
    unfortunately hopefully basically totally absolutely"""
_NOBODY = frozenset([*MONTHS, *(m[:3] for m in MONTHS), *WEEKDAYS, *_OPENERS.split()])


def find_people(texts: Iterable[str], known: Iterable[str] = ()) -> tuple[str, ...]:
    """The people that the texts name, `known` ones first.

    A capitalised name counts once it stood somewhere as people's names do ("X said", "with X"),
    and never with an article before it.
    """
    found = dict.fromkeys(known)
    for text in texts:
        for match in _MENTION.finditer(text):
            name = match[0]
            if name.split()[-1].casefold() in KINSHIP:
                found.setdefault(name)
                continue
            if _is_common(name) or _DETERMINED.search(text[: match.start()]):
                continue
            before, after = text[: match.start()], text[match.end() :]
            if _AFTER.match(after) or _BEFORE.search(before):
                found.setdefault(name)
    return tuple(found)


def _is_common(name: str) -> bool:
    first = name.split()[0].casefold()
    return first in _NOBODY or first in STOPWORDS or len(name) < 3


def named_in(text: str, people: Iterable[str]) -> tuple[str, ...]:
    """Those of `people` whom the text names, in the order of the text."""
    places = []
    for person in people:
        own = person.split()[-1] if person.split()[0] in ("my", "our") else person
        flags = re.IGNORECASE if own.casefold() in KINSHIP else 0
        match = re.search(rf"\b{re.escape(own)}\b", text, flags)
        if match:
            places.append((match.start(), person))
    return tuple(person for _, person in sorted(places))
