"""The memory policy: what a user wants written, in general and by scope, as a frozen value.

Precedence, the most specific scope first: activity, topic, task, person, then the general rule.
For a memory that several scopes apply to, all their rules are given in that order and the first
that speaks of the matter decides; so an explicit wish of a more specific scope beats an exclusion
of a more general one, and the other way round a specific exclusion beats a general wish.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from dspy.predict.parameter import Parameter
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from memsteer.programs.names import Names
from memsteer.programs.text import words
from memsteer.signatures.writing import ScopeKind

PRECEDENCE: tuple[ScopeKind, ...] = ("activity", "topic", "task", "person")
assert set(PRECEDENCE) == set(get_args(ScopeKind))

DEFAULT_GENERAL = (
    "Track the user's relationships with each named person: their stated preferences, promises "
    "made or received, recurring topics, and emotional dynamics. Always attribute facts to the "
    "specific person involved."
)


class PolicyError(ValueError):
    """A value that is no policy: one line that says why."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Scope(_Part):
    """What a rule is for."""

    kind: ScopeKind
    name: str = Field(min_length=1)

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class ScopedRule(_Part):
    """A scope and its rule."""

    scope: Scope
    rule: str = Field(min_length=1)

    def __str__(self) -> str:
        return f"{self.scope}: {self.rule}"


class MemoryPolicy(_Part):
    """A general rule, and rules by scope in the order of precedence, then of names."""

    general: str = DEFAULT_GENERAL
    rules: tuple[ScopedRule, ...] = ()
    language: str = "en"

    def model_post_init(self, _: Any) -> None:
        ordered = sorted(
            self.rules,
            key=lambda r: (PRECEDENCE.index(r.scope.kind), r.scope.name.casefold()),
        )
        object.__setattr__(self, "rules", tuple(ordered))

    @classmethod
    def parse(cls, data: object) -> "MemoryPolicy":
        """Validate a mapping or JSON text; raises `PolicyError`."""
        try:
            if isinstance(data, str):
                return cls.model_validate_json(data)
            return cls.model_validate(data)
        except ValidationError as error:
            first = error.errors()[0]
            path = ".".join(str(p) for p in first["loc"]) or "policy"
            raise PolicyError(f"policy field {path!r}: {first['msg']}") from error

    def find(self, kind: ScopeKind, name: str, names: Names) -> ScopedRule | None:
        """The rule of a scope, however its name is spelt."""
        wanted = scope_key(kind, name, names)
        return next(
            (r for r in self.rules if scope_key(r.scope.kind, r.scope.name, names) == wanted), None
        )

    def applicable(self, about: Iterable[str], text: str, names: Names) -> tuple[ScopedRule, ...]:
        """The rules that apply to a memory about these people, the most specific first.

        A person's rule applies to what is about them; a task's, topic's or activity's to a text
        that holds all words of its name.
        """
        people = {names.key(name) for name in about}
        said = {*words(text)}
        return tuple(
            r
            for r in self.rules
            if (
                names.key(r.scope.name) in people
                if r.scope.kind == "person"
                else _named_in(r.scope.name, said)
            )
        )

    def render(self, *, general: bool = True) -> str:
        """The policy as the updater reads it."""
        lines = [f"general: {self.general or '(none)'}"] if general else []
        return "\n".join([*lines, *(str(r) for r in self.rules)]) or "(no rules)"

    @property
    def key(self) -> str:
        """Canonical JSON: equal policies have equal keys."""
        return json.dumps(self.model_dump(), sort_keys=True, ensure_ascii=False)


def scope_key(kind: str, name: str, names: Names) -> tuple[str, str]:
    """Equal for two spellings of one scope."""
    return kind, names.key(name) if kind == "person" else " ".join(_topic_words(name))


def _topic_words(name: str) -> list[str]:
    return [w for w in words(name) if w not in ("the", "a", "an", "my", "our")]


def _named_in(name: str, said: set[str]) -> bool:
    wanted = _topic_words(name)
    return bool(wanted) and all(w in said for w in wanted)


START_POLICY = MemoryPolicy()  # the default general rule, and no other


class PolicyParameter(Parameter):
    """Holds a policy inside a DSPy program, so that saving, loading and copying keep it."""

    def __init__(self, value: MemoryPolicy = START_POLICY) -> None:
        self.value = value

    def reset(self) -> None:
        """Keep the policy: other optimizers reset demos, not what was learned here."""

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        return {"policy": self.value.model_dump(mode="json")}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.value = MemoryPolicy.parse(state["policy"])
