"""Rules for the gate: does a candidate tell a kind of fact that its rule asks for?

The rule's wanted part gives kinds (see `kinds`); the candidate tells kinds. They share one: store.
A rule that names no known kind is met by its own words, in the same or a near sense.
"""

from collections.abc import Mapping
from typing import Any

from memsteer.programs.offline.kinds import kinds_named, kinds_told, wanted_part
from memsteer.programs.offline.vectors import soft_overlap
from memsteer.programs.text import content_words
from memsteer.programs.writers import KEEP_USER_FACTS

_NEAR = 0.5  # cosine from which a rule's word is met
_MARK_WORDS = "record remember track focus want need keep save only just stick"
_MARKS = frozenset(_MARK_WORDS.split())  # of a wish itself, not of what is wished for


def gate_memory(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """GateMemory: a verdict and its reason for each candidate."""
    keep_user = str(inputs.get("guidance", "")).strip() == KEEP_USER_FACTS
    return {"verdicts": [_verdict(c, keep_user) for c in inputs["candidates"]]}


def _verdict(candidate: Mapping[str, Any], keep_user: bool) -> dict[str, Any]:
    text, rules = str(candidate["text"]), [str(r) for r in candidate["rules"]]
    if keep_user and "user" in candidate["about"]:
        return _say(candidate, True, "the user's own facts are always kept")
    told = kinds_told(text)
    for rule in rules:
        scope, _, wish = rule.partition(": ")
        wanted = kinds_named(wish)
        shared = [k for k in wanted if k in told]
        if shared:
            return _say(candidate, True, f"{scope}: a {shared[0]} is wanted")
        met = [] if wanted else _met_words(wish, text)
        if met:
            return _say(candidate, True, f"{scope}: it speaks of {met[0]}")
    if not rules:
        return _say(candidate, True, "no rule applies")
    scope, _, wish = rules[0].partition(": ")
    is_what = f"a {told[0]}" if told else "nothing of that kind"
    wanted_words = ", ".join(kinds_named(wish)) or wish
    return _say(candidate, False, f"{scope}: wanted is {wanted_words}; this is {is_what}")


def _met_words(wish: str, text: str) -> list[str]:
    wanted = tuple(w for w in content_words(wanted_part(wish)) if w not in _MARKS)
    scores = soft_overlap(wanted, tuple(content_words(text)))
    return [w for w, s in zip(wanted, scores, strict=True) if s >= _NEAR]


def _say(candidate: Mapping[str, Any], stores: bool, reason: str) -> dict[str, Any]:
    verdict = "store" if stores else "refuse"
    return {"index": candidate["index"], "verdict": verdict, "reason": reason}
