"""Which capitalised words of a text are people: by what stands around them, and kinship words."""

import re
from collections import Counter
from collections.abc import Iterable

from memsteer.programs.dates import MONTHS, WEEKDAYS
from memsteer.programs.names import KINSHIP
from memsteer.programs.text import STOPWORDS

_NAME = r"[A-ZÀ-Ý][a-zà-ÿ]+(?:[ -](?:[A-ZÀ-Ý][a-zà-ÿ]+|[A-ZÀ-Ý]\.))*"
_KIN = "|".join(sorted((re.escape(k) for k in KINSHIP), key=len, reverse=True))
_MENTION = re.compile(rf"\b(?:{_NAME}|(?:my|our) (?:{_KIN})\b)")
_SAYS = (  # verbs that only people do
    r"said|says|told|asked|asks|mentioned|decided|felt|feels|wants|wanted|thinks|thought|promised|"
    r"agreed|suggested|noted|concluded|complained|joked|called|texted|replied|admitted|confessed|"
    r"insisted|showed|invited|scheduled|reminded|offered|recommended|explained|shared|announced"
)
_MANNER = r"(?:just|also|actually|even|really|finally|then|still|both|and I)"
_AFTER = re.compile(rf",? (?:{_MANNER} )*(?:{_SAYS})\b|,? and I\b")
_AFTER_WITHIN = re.compile(r" (?:[a-z]+ed|became|got|was|is)\b")
_BEFORE = re.compile(
    r"\b(?:with|told|promised|asked|texted|called|met|showed|gave|thanked|reassured|comforted|"
    r"invited|helped) $"
)
_DETERMINED = re.compile(
    r"\b(?:the|a|an|this|our|my|in|at|near|around|of|to|from) $", re.IGNORECASE
)
_START = re.compile(r"(?:^|[.!?:\"“(]\s*)$")
_OPENERS = """
    hey hi hello yeah yep yes no nope well oh man so ugh wow okay honestly actually anyway thanks
    thank exactly definitely maybe today tomorrow tonight yesterday right sure haha good great got
    let please nah true sounds speaking everyone someone somebody nobody people apparently luckily
    unfortunately hopefully basically totally absolutely"""
_NOBODY = frozenset([*MONTHS, *(m[:3] for m in MONTHS), *WEEKDAYS, *_OPENERS.split()])


def find_people(texts: Iterable[str], known: Iterable[str] = ()) -> tuple[str, ...]:
    """The people that the texts name, `known` ones first.

    A capitalised name counts if it stands more often as people's names do ("X said", "with X")
    than as other names do ("the X", "in X").
    """
    found = dict.fromkeys(known)
    votes: Counter[str] = Counter()
    for text in texts:
        for match in _MENTION.finditer(text):
            name = match[0]
            if name.split()[-1].casefold() in KINSHIP:
                found.setdefault(name)
            elif not _is_common(name):
                votes[name] += _vote(name, text[: match.start()], text[match.end() :])
    found.update(dict.fromkeys(name for name, vote in votes.items() if vote > 0))
    return tuple(found)


def _vote(name: str, before: str, after: str) -> int:
    """1 where a person's name would stand, -1 where a place's or thing's would, else 0."""
    if _DETERMINED.search(before):
        # "to" and "from" stand before people as well: they alone say nothing.
        return 0 if before.endswith(("to ", "from ")) else -1
    if _AFTER.match(after) or _BEFORE.search(before):
        return 1
    # A capital that opens a sentence may be any word: "Pretty tired" is nobody.
    inside = " " in name or not _START.search(before)
    return int(bool(inside and _AFTER_WITHIN.match(after)))


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
