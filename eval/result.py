"""The result of a run: everything its report and its JSON say."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from memsteer.eval.config import RunConfig
from memsteer.eval.metrics import Difference, Summary, differences, summarise
from memsteer.eval.questions import Benchmark
from memsteer.optimizers.outcomes import Outcome
from memsteer.optimizers.trajectory import OptimizationResult
from memsteer.programs.design import BASE_BM25, MemoryDesign
from memsteer.programs.ledger import Usage
from memsteer.programs.supervision import Supervision

ScoredOn = Literal["official", "validation", "nothing"]


@dataclass(frozen=True)
class Stage:
    """One stage: what it used (answers replayed from the ledger too), and its wall time here."""

    name: str
    usage: Usage
    seconds: float


@dataclass(frozen=True)
class Findings:
    """What the stages gave; outcomes are per question, in the same order for both designs."""

    design: MemoryDesign = BASE_BM25
    supervision: Supervision | None = None
    optimization: OptimizationResult | None = None
    base: tuple[Outcome, ...] = ()
    optimized: tuple[Outcome, ...] = ()
    scored_on: ScoredOn = "nothing"
    trained_on: tuple[str, ...] = ()


@dataclass(frozen=True)
class RunResult:
    """A run with what it found and what it used."""

    config: RunConfig
    benchmark: Benchmark
    found: Findings
    stages: tuple[Stage, ...]
    usage: Usage
    seconds: float

    @property
    def nothing_accepted(self) -> bool:
        """Whether the supervision stage ran and gave nothing."""
        return self.found.supervision is not None and not self.found.supervision.items

    @cached_property
    def base(self) -> Summary | None:
        return self._summary(self.found.base)

    @cached_property
    def optimized(self) -> Summary | None:
        return self._summary(self.found.optimized)

    @cached_property
    def gains(self) -> Mapping[str, Difference]:
        """Optimised minus base for each measure, by paired bootstrap."""
        return differences(
            self.found.base,
            self.found.optimized,
            self.benchmark.history,
            seed=self.config.seed,
        )

    def _summary(self, outcomes: tuple[Outcome, ...]) -> Summary | None:
        if not outcomes:
            return None
        return summarise(outcomes, self.benchmark.history, seed=self.config.seed)

    def to_dict(self) -> dict[str, Any]:
        """The JSON object of `--json`. Equal runs give equal objects but for `seconds`."""
        return {
            "command": self.config.command,
            "benchmark": self.benchmark.name,
            "persona": self.benchmark.history.person,
            "lm_name": self.config.lm,
            "role_lms": self.config.role_lms,
            "seed": self.config.seed,
            "base": self.base.to_dict() if self.base else None,
            "optimized": self.optimized.to_dict() if self.optimized else None,
            "difference": {name: d.to_dict() for name, d in self.gains.items()},
            "questions": len(self.found.base),
            "scored_on": self.found.scored_on,
            "scored_ids": [o.id for o in self.found.base],
            "trained_on": self.config.supervision,
            "trained_on_ids": list(self.found.trained_on),
            "supervision": self._supervision(),
            "revisions": len(self.found.optimization.accepted) if self.found.optimization else 0,
            "lm": _usage(self.usage),
            "stages": {stage.name: _usage(stage.usage) for stage in self.stages},
            "seconds": round(self.seconds, 2),
            "design": self.found.design.model_dump(),
        }

    def _supervision(self) -> dict[str, Any] | None:
        made = self.found.supervision
        return {"accepted": len(made.items), "rejected": made.reasons} if made else None


def _usage(usage: Usage) -> dict[str, Any]:
    """Without seconds and failures, which differ between an unbroken and a resumed run."""
    return {
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
        "usd": usage.usd,
    }
