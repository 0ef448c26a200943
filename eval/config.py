"""What a run is to do: one frozen value, written to its folder, compared when it is resumed.

This module imports neither DSPy nor numpy: the command line reads its arguments without them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Command = Literal["demo", "supervise", "optimize", "evaluate", "run"]
ROLES = (
    "planner",
    "question_writer",
    "auditor",
    "blind_recoverer",
    "proposer",
    "answerer",
    "rewriter",
    "hyde_writer",
    "judge",
)
# What may change between a run and its resumption: where files lie is not what they hold (their
# digests are compared), and more threads or a larger budget give the same answers.
_FREE = frozenset({"out", "threads", "budget_calls", "budget_usd", "fresh"})
_FREE_SOURCE = frozenset({"history", "questions", "data"})


class ConfigError(ValueError):
    """A run that cannot be as it was asked for: one line that says what to change."""


def read_role_lms(given: Sequence[str], roles: Sequence[str]) -> dict[str, str]:
    """`ROLE=NAME` entries as role to model name, sorted; raises `ConfigError` for another form."""
    found = {}
    for entry in given:
        role, _, name = entry.partition("=")
        if role not in roles or not name:
            raise ConfigError(f"--role-lm {entry}: want ROLE=NAME, ROLE one of {', '.join(roles)}")
        found[role] = name
    return dict(sorted(found.items()))


class Source(BaseModel):
    """Where the history comes from: the bundled sample, a JSONL file, or a benchmark."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["sample", "history", "rhelm"] = "sample"
    history: str = ""
    questions: str = ""
    data: str = ""
    persona: str = ""
    external: bool = True


class RunConfig(BaseModel):
    """Everything that decides a run's result, and where and within which bounds it runs.

    `lm` and `role_lms` are DSPy names, or `extractive`; `questions` is how many to supervise
    with; `supervision="official"` trains on half of the benchmark's own questions, to measure
    what they would reach; `score_half` scores generated supervision on the other half as well.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    command: Command = "run"
    source: Source = Source()
    lm: str = "extractive"
    role_lms: dict[str, str] = Field(default_factory=dict)
    api_base: str = ""
    seed: int = 0
    questions: int = Field(200, ge=1)
    rounds: int = Field(6, ge=0)
    trials: int = Field(30, ge=0)
    budget_tokens: int = Field(3000, ge=1)
    supervision: Literal["generated", "official"] = "generated"
    score_half: bool = False
    feedback: Literal["random", "gold", "diagnosis", "stratified"] = "stratified"
    metric: Literal["typed", "judge", "evidence"] = "typed"
    supervision_dir: str = ""
    design: str = ""
    out: str = "memsteer-run"
    threads: int | None = Field(None, ge=1)
    budget_calls: int | None = Field(None, ge=0)
    budget_usd: float | None = Field(None, ge=0)
    fresh: bool = False

    @property
    def compared(self) -> dict[str, Any]:
        """The fields that must be equal for one run to continue another, by dotted path."""
        data = self.model_dump(exclude=set(_FREE))
        source = data.pop("source")
        parts = {f"source.{k}": v for k, v in source.items() if k not in _FREE_SOURCE}
        # Their content is compared by digest too.
        data.pop("supervision_dir")
        data.pop("design")
        return {"command": data.pop("command"), **parts, **data}


def first_difference(
    old: Mapping[str, Any], new: Mapping[str, Any]
) -> tuple[str, object, object] | None:
    """The first field, in the order of `new`, that the two hold differently: name, old, new."""
    for name, value in new.items():
        if old.get(name) != value:
            return name, old.get(name), value
    return None
