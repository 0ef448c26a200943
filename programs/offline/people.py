"""Which capitalised words of a text are people: by what stands around them, and kinship words."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from memsteer.programs.dates import MONTHS, WEEKDAYS
from memsteer.programs.names import KINSHIP
from memsteer.programs.text import STOPWORDS

_NAME = r"[A-ZÀ-Ý][a-zà-ÿ]+(?:[ -](?:[A-ZÀ-Ý][a-zà-ÿ]+|[A-ZÀ-Ý]\.))*"
_KIN = "|".join(sorted((re.escape(k) for k in KINSHIP), key=len, reverse=True))
_MENTION = re.compile(rf"\b(?:{_NAME}|(?:my|our) (?:{_KIN})\b)")
_SAYS = (  # verbs that only people do
    r"said|says|told|asked|asks|mentioned|decided|felt|feels|wants|wanted|thinks|thought|promised|"
    r"agreed|suggested|noted|concluded|complained|joked|called|texted|replied|admitted|confessed|"
    r"insisted|showed|invited|scheduled|reminded|offered|recommended|explained|shared|announced|"
    r"came|went|rang|phoned|telephoned|emailed|messaged|wrote|sent|gave|brought|handed|paid|bought|"
    r"cooked|baked|drove|swore|swears|believes|believed|knows|knew|reckons|claims|claimed|ruled|"
    r"laughed|cried|smiled|sighed|loves|loved|hates|hated|likes|liked|hopes|hoped|worries|worried"
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
_TITLES = frozenset(["mr", "mrs", "ms", "miss", "dr", "prof", "professor", "doctor", "boss", "the"])
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
    found, kin = dict.fromkeys(known), dict[str, None]()
    votes: Counter[str] = Counter()
    for text in texts:
        for match in _MENTION.finditer(text):
            name = match[0]
            if name.split()[-1].casefold() in KINSHIP:
                kin.setdefault(name)
            elif not _is_common(name):
                votes[name] += _vote(name, text[: match.start()], text[match.end() :])
    found.update(dict.fromkeys(name for name, vote in votes.items() if vote > 0))
    named = {_kinship(name) for name in found if " " in name}
    # "my aunt" is nobody new where one "Aunt Ida" is known.
    found.update(dict.fromkeys(name for name in kin if _kinship(name) not in named))
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
    """Those of `people` whom the text names, in the order of the text.

    A person is named by their whole name, by a part of it that is theirs alone, and, where the
    name tells the kinship ("Aunt Ida"), by that ("my aunt") if no other has it.
    """
    places = [
        (match.start(), person)
        for person, pattern in _callings(tuple(people)).items()
        if (match := pattern.search(text))
    ]
    return tuple(person for _, person in sorted(places))


def is_user(person: str, user: str) -> bool:
    """Whether a person found is the user: by the whole name, or by its first part."""
    said, name = person.casefold(), user.casefold()
    return bool(name) and said in (name, name.split()[0])


@lru_cache(maxsize=256)
def _callings(people: tuple[str, ...]) -> Mapping[str, re.Pattern[str]]:
    """By person: what names them."""
    parts = {p: [re.escape(w) for w in p.split() if w not in ("my", "our")] for p in people}
    shared = Counter(w.casefold() for words in parts.values() for w in set(words))
    found = {}
    for person, words in parts.items():
        own, kin = [" ".join(words)], _kinship(person)
        if len(words) > 1:
            own += [w for w in words if shared[w.casefold()] == 1 and _is_own(w)]
        if kin and sum(_kinship(p) == kin for p in people) == 1:
            titles = [w for w, k in KINSHIP.items() if k == kin]
            own += titles if len(words) == 1 else [f"my {w}" for w in titles]
            own += [f"(?-i:{w.capitalize()})" for w in titles]
        names = "|".join(own)
        flags = re.IGNORECASE if kin else 0
        found[person] = re.compile(rf"(?<!his )(?<!her )(?<!their )\b(?:{names})\b", flags)
    return found


def _kinship(name: str) -> str:
    """Which relative of the user's a name tells ("Aunt Ida", "my mom"); "" for none."""
    words = name.casefold().split()
    kin = KINSHIP.get(words[0]) or KINSHIP.get(words[-1]) or ""
    # "Sister Ida" is as often a friend or a nun.
    return "" if words[0] in ("sister", "brother") and len(words) > 1 else kin


def _is_own(word: str) -> bool:
    folded = word.casefold()
    return len(word) > 2 and folded not in KINSHIP and folded not in _TITLES and word[0].isupper()
