"""Changes to a memory policy: checked as a whole, applied as a whole or not at all.

A patch comes from a model, so it may be anything. What is no valid patch leaves the old policy in
force and says why; an empty patch is valid and changes nothing.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass

from pydantic import ValidationError

from memsteer.programs.names import NO_NAMES, Names
from memsteer.programs.policy import MemoryPolicy, Scope, ScopedRule, scope_key
from memsteer.programs.text import words
from memsteer.signatures.writing import PolicyPatch, RuleChange

MAX_RULE = 600  # characters: a rule is one or two sentences
MAX_GENERAL = 2000
MAX_RULES = 60  # in the policy as it would be: every rule costs tokens in every call
MAX_NAME = 80

# Frequent words by language: enough to see that a sentence is in another one.
_COMMON = {
    "en": "the and of to for is are her his their with not only what when any she he it that on my "
    "in about all record remember keep track focus",
    "de": "der die das und von zu für ist sind nicht nur mit auf ein eine was wann ihre seine den",
    "fr": "le la les et de des du pour est sont pas avec sur un une que quand ses leur dans ne",
    "es": "el la los las y de para es son no con sobre un una que cuando sus su en por del",
}
_SCRIPTS = (
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
)
_EXCLUDES = re.compile(
    r"\b(?:only|not|never|no|none|nothing|except|without|skip|ignore|exclude|avoid|omit|drop|"
    r"instead of|rather than|don'?t|leave out)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class PatchOutcome:
    """The policy in force after a patch, whether the patch was applied, and notes or faults."""

    policy: MemoryPolicy
    applied: bool
    reasons: tuple[str, ...] = ()


def excludes(rule: str) -> bool:
    """Whether a rule is worded by what it leaves out."""
    return bool(_EXCLUDES.search(rule))


def apply_patch(
    policy: MemoryPolicy,
    patch: object,
    names: Names = NO_NAMES,
    *,
    exclusions_allowed: bool = True,
) -> PatchOutcome:
    """`policy` changed by `patch` (a `PolicyPatch`, a mapping or JSON text); never raises.

    An invalid patch is not applied, not even in part: the outcome holds the old policy and every
    fault that was found.
    """
    parsed = _parse(patch)
    if isinstance(parsed, str):
        return PatchOutcome(policy, False, (parsed,))
    faults = list(_faults(policy, parsed, names, exclusions_allowed))
    if faults:
        return PatchOutcome(policy, False, tuple(faults))
    removed = {scope_key(s.scope_kind, s.scope, names) for s in parsed.remove}
    rules = {scope_key(r.scope.kind, r.scope.name, names): r for r in policy.rules}
    notes = [f"no rule to remove for {k} {n}" for k, n in sorted(removed - set(rules))]
    rules = {key: rule for key, rule in rules.items() if key not in removed}
    for change in parsed.set:
        key = scope_key(change.scope_kind, change.scope, names)
        # A known scope keeps the spelling it has: the user sees one name all the time.
        name = rules[key].scope.name if key in rules else " ".join(change.scope.split())
        scope = Scope(kind=change.scope_kind, name=name)
        rules[key] = ScopedRule(scope=scope, rule=change.rule.strip())
    if len(rules) > MAX_RULES:
        return PatchOutcome(policy, False, (f"{len(rules)} rules; at most {MAX_RULES} are kept",))
    general = policy.general if parsed.general is None else parsed.general.strip()
    new = MemoryPolicy(general=general, rules=tuple(rules.values()), language=policy.language)
    return PatchOutcome(new, True, tuple(notes))


def _parse(patch: object) -> PolicyPatch | str:
    """The patch, or what is wrong with its form in one line."""
    if isinstance(patch, PolicyPatch):
        return patch
    if isinstance(patch, str):
        if not patch.strip():
            return "the patch is empty text"
        try:
            patch = json.loads(patch)
        except (json.JSONDecodeError, RecursionError) as error:
            return f"the patch is not JSON ({error})"
    if not isinstance(patch, dict):
        return f"the patch is a {type(patch).__name__}, not an object"
    try:
        return PolicyPatch.model_validate(patch)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(p) for p in first["loc"])
        return f"patch field {path!r}: {first['msg']}"


def _faults(
    policy: MemoryPolicy, patch: PolicyPatch, names: Names, exclusions_allowed: bool
) -> Iterable[str]:
    if patch.general is not None:
        yield from _text_faults("general", patch.general, MAX_GENERAL, policy.language)
    seen: set[tuple[str, str]] = set()
    removed = {scope_key(s.scope_kind, s.scope, names) for s in patch.remove}
    for change in patch.set:
        place = f"{change.scope_kind} {change.scope[:MAX_NAME]}"
        key = scope_key(change.scope_kind, change.scope, names)
        yield from _scope_faults(place, change, key)
        yield from _text_faults(place, change.rule, MAX_RULE, policy.language)
        if not exclusions_allowed and excludes(change.rule):
            yield f"{place}: the rule says what to leave out; only what to record is allowed"
        if key in seen:
            yield f"{place}: two rules for one scope"
        if key in removed:
            yield f"{place}: set and removed in one patch"
        seen.add(key)


def _scope_faults(place: str, change: RuleChange, key: tuple[str, str]) -> Iterable[str]:
    if not key[1]:
        yield f"{place}: the scope has no name"
    if len(change.scope) > MAX_NAME:
        yield f"{place}…: a name of {len(change.scope)} characters; at most {MAX_NAME}"


def _text_faults(place: str, text: str, most: int, language: str) -> Iterable[str]:
    if not words(text):
        yield f"{place}: the rule is empty"
    if len(text) > most:
        yield f"{place}: a rule of {len(text)} characters; at most {most}"
    elif (found := detect_language(text)) and found != language:
        yield f"{place}: the rule is in {found!r}, the policy in {language!r}"


def detect_language(text: str) -> str:
    """The language a text is clearly in; "" where that cannot be told.

    By script where that tells, else by frequent words of four languages, with a clear lead.
    """
    letters = sum(c.isalpha() for c in text) or 1
    for language, script in _SCRIPTS:
        if len(script.findall(text)) > letters / 3:
            kana = language == "zh" and re.search(r"[\u3040-\u30ff]", text)
            return "ja" if kana else language
    said = words(text)
    counts = {c: sum(w in common.split() for w in said) for c, common in _COMMON.items()}
    best, second = sorted(counts.values(), reverse=True)[:2]
    if best < 2 or best <= 2 * second:
        return ""
    return max(counts, key=lambda c: counts[c])
