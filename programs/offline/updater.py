"""Rules for the policy updater: stated wishes become rules; else the kinds that are asked for.

A wish is what the feedback says beyond right or wrong and the right answer. It becomes the rule of
the person it names, or else of the person the question is about. Where a week brings no wish for a
person, the kinds of fact in the right answers are counted over the week; those asked for often
enough make the rule, joined to the kinds of the rule there is.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memsteer.programs.names import KINSHIP, NO_NAMES
from memsteer.programs.offline.kinds import kinds_named, kinds_told, name_kinds, wanted_part
from memsteer.programs.offline.people import find_people, is_user, named_in
from memsteer.programs.offline.vectors import soft_overlap
from memsteer.programs.patches import excludes
from memsteer.programs.text import content_words, sentences, words
from memsteer.signatures.writing import FeedbackTurn

_VERDICT = re.compile(
    r"^\W*(?:(?:you(?:['’]re| are)|that(?:['’]s| is)) (?:right|correct|wrong|incorrect|not right)|"
    r"(?:no|yes|right|wrong|correct)\b)[.,!: ]*",
    re.IGNORECASE,
)
_ANSWER = re.compile(r"\bthe (?:correct|right) answer (?:is|was)\b", re.IGNORECASE)
_WISH = re.compile(
    r"\b(?:I (?:just |only |really |actually )?(?:need|want|care|prefer)|I['’]d (?:like|rather)|"
    r"please|focus|remember|record|track|save|stick|keep|don['’]?t|stop|pay attention|skip)\b",
    re.IGNORECASE,
)
_RULE_LINE = re.compile(r"^(person|task|topic|activity) ([^:]+): (.+)$", re.MULTILINE)
PARTNERS = frozenset(["partner", "wife", "husband", "girlfriend", "boyfriend"])  # name keys
_SHARE = 0.5  # of the turns about a person must ask for a kind


@dataclass(frozen=True)
class _Read:
    """One turn as the rules read it."""

    person: str
    wrong: bool
    wish: str
    kinds: tuple[str, ...]


def update_policy(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """UpdatePolicy: a rule for each person with a wish, or with wrong answers of a clear kind."""
    policy, positive = str(inputs["policy"]), bool(str(inputs.get("wording") or "").strip())
    user = str(inputs.get("user") or "")
    turns = [FeedbackTurn.model_validate(t) for t in inputs["turns"]]
    present = {m[2]: m[3] for m in _RULE_LINE.finditer(policy) if m[1] == "person"}
    texts = [x for t in turns for x in (*t.memories, t.feedback, t.question)]
    # What is remembered names the user everywhere; no rule is theirs.
    people = [p for p in find_people(texts, present) if not is_user(p, user)]
    read = [_read(turn, people) for turn in turns]
    changes: list[dict[str, str]] = []
    for person in dict.fromkeys(r.person for r in read if r.person):
        spelt = _spelt(person, present)
        rule = _rule([r for r in read if r.person == person], present.get(spelt, ""), positive)
        if rule and rule != present.get(spelt):
            changes.append({"scope_kind": "person", "scope": spelt, "rule": rule})
    return {"patch": {"general": None, "set": changes, "remove": []}}


def _read(turn: FeedbackTurn, people: Sequence[str]) -> _Read:
    said = sentences(_VERDICT.sub("", turn.feedback))
    right = " ".join(s for s in said if _ANSWER.search(s))
    rest = " ".join(s for s in said if not _ANSWER.search(s))
    fact = f"{turn.question} {right or turn.answer}"
    wish = rest if _WISH.search(rest) or _who(rest, people) else ""
    person = turn.about or _meant(wish, fact, turn.memories, people)
    person = person or _who(turn.question, people) or _by_memory(fact, turn.memories, people)
    return _Read(person, bool(right), wish, _kinds_asked(turn.question, right or turn.answer))


def _meant(wish: str, fact: str, memories: Iterable[str], people: Sequence[str]) -> str:
    """Whom a wish is about; a partner is called by name where the memories give one."""
    person = _who(wish, people)
    if NO_NAMES.key(person) not in PARTNERS:
        return person
    called = [p for p in people if NO_NAMES.key(p) not in PARTNERS]
    return _by_memory(fact, memories, called) or person


def _who(text: str, people: Sequence[str]) -> str:
    named = named_in(text, people)
    if named:
        return named[0]
    said = (w.replace("’", "'").removesuffix("'s") for w in words(text))
    return next((w for w in said if w.casefold() in KINSHIP), "")


def _by_memory(fact: str, memories: Iterable[str], people: Sequence[str]) -> str:
    """The person named in the memory that meets question and answer best."""
    wanted = tuple(dict.fromkeys(content_words(fact)))
    best, whom = 0.0, ""
    for memory in memories:
        named = named_in(memory, people)
        score = float(soft_overlap(wanted, tuple(content_words(memory))).sum())
        if named and score > best:
            best, whom = score, named[0]
    return whom


def _kinds_asked(question: str, fact: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*kinds_told(question), *kinds_told(fact))))


def _spelt(person: str, present: Mapping[str, str]) -> str:
    key = NO_NAMES.key(person)
    return next((name for name in present if NO_NAMES.key(name) == key), person)


def _rule(turns: Sequence[_Read], present: str, positive: bool) -> str:
    """The new rule of a person; "" for none."""
    wishes = [t.wish for t in turns if t.wish]
    if wishes:
        return _positive(wishes[-1]) if positive else wishes[-1]
    known = kinds_named(present)
    if present and present != _worded(known):
        return ""  # stated by the user: what is inferred does not better it
    counts = Counter(kind for t in turns for kind in t.kinds)
    # Every question asks for one kind at least; a fact may tell another by chance.
    asked = [k for k, n in counts.most_common() if n >= _SHARE * len(turns)]
    new = [k for k in asked if k not in known]
    return _worded((*known, *new)) if new else ""


def _worded(kinds: Sequence[str]) -> str:
    return f"Record {name_kinds(kinds)}." if kinds else ""


def _positive(wish: str) -> str:
    """A wish worded by what to record alone."""
    kinds = kinds_named(wish)
    if kinds:
        return _worded(kinds)
    wanted = wanted_part(wish).strip()
    return "" if excludes(wanted) else wanted
