"""The stages of a run: each reports, journals, and counts what it asked of the LMs."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import dspy

from memsteer.eval.config import RunConfig
from memsteer.eval.estimate import estimate
from memsteer.eval.folder import Journal
from memsteer.eval.inputs import load_supervision
from memsteer.eval.models import Models, describe_models
from memsteer.eval.progress import Reporter
from memsteer.eval.questions import Benchmark
from memsteer.eval.result import Findings, ScoredOn, Stage
from memsteer.optimizers.memsteer_opt import MemSteerOpt
from memsteer.optimizers.outcomes import Outcome, evaluate, evidence_metric, typed_metric
from memsteer.programs.design import BASE_BM25, MemoryDesign
from memsteer.programs.embedding import Embedder
from memsteer.programs.ledger import Ledger
from memsteer.programs.memory import MemoryProgram
from memsteer.programs.retrieval import MemoryIndex
from memsteer.programs.supervision import Supervision, SupervisionBuilder

_SHOWN_LINES = 5


class NoAnswers(RuntimeError):
    """The model answered nothing at all: one line with what it said instead."""


@dataclass
class Work:
    """One run while it runs."""

    config: RunConfig
    benchmark: Benchmark
    folder: Path
    ledger: Ledger
    models: Models
    reporter: Reporter
    journal: Journal
    embedder: Embedder | None
    stages: list[Stage] = field(default_factory=list)

    def announce(self, training: Sequence[dspy.Example], official: Sequence[dspy.Example]) -> None:
        """Say what was loaded, who will answer, and what it may cost."""
        history, config = self.benchmark.history, self.config
        self.reporter.note(
            f"{self.benchmark.name}: {len(history)} records, "
            f"{len(self.benchmark.questions)} official questions, "
            f"{len(self.benchmark.scored)} of them with evidence in the corpus"
        )
        for line in self.benchmark.report[:_SHOWN_LINES]:
            self.reporter.note(f"  {line}")
        more = len(self.benchmark.report) - _SHOWN_LINES
        if more > 0:
            self.reporter.note(f"  and {more} more such lines in journal.jsonl")
        self.reporter.note(describe_models(config))
        supervised = len(training) or config.questions
        for bound in estimate(config, history, len(official), supervised):
            self.reporter.note(str(bound))
        self.journal("start", {"command": config.command, "loaded": list(self.benchmark.report)})

    def supervise(self) -> Supervision:
        """Supervision from the history, or as an earlier run left it."""
        config, history = self.config, self.benchmark.history
        if config.supervision_dir:
            earlier = load_supervision(config, history)
            earlier.to_jsonl(self.folder)
            return earlier
        builder = SupervisionBuilder(config.questions, seed=config.seed)
        self.models.equip(builder)
        with self._stage("supervise"):
            supervision: Supervision = builder(
                history=history, folder=self.folder, progress=self._on_bundles
            )
            self.journal(
                "supervised",
                {"accepted": len(supervision.items), "rejected": supervision.reasons},
            )
        return supervision

    def optimise(
        self, found: Findings, train: Sequence[dspy.Example], val: Sequence[dspy.Example]
    ) -> Findings:
        """The best design that MemSteer-Opt finds from Base-BM25."""
        config = self.config
        optimizer = MemSteerOpt(
            rounds=config.rounds,
            trials=config.trials,
            feedback=config.feedback,
            metric=self._accepting_metric,
            seed=config.seed,
            journal=self._on_event,
            allow_official=config.supervision == "official",
        )
        self.models.equip(optimizer)
        with self._stage("optimise"):
            best = optimizer.compile(self._program(BASE_BM25), trainset=train, valset=val)
        trained_on = tuple(dict.fromkeys(e.id for e in (*train, *val)))
        return replace(
            found, design=best.design, optimization=best.optimization, trained_on=trained_on
        )

    def score(
        self, found: Findings, examples: Sequence[dspy.Example], scored_on: ScoredOn
    ) -> Findings:
        """Base-BM25 and the design found, on the same questions."""
        outcomes = []
        for name, design in (("base", BASE_BM25), ("optimised", found.design)):
            with self._stage(f"evaluate {name}"):
                outcomes.append(self._evaluate(design, examples))
        base, optimized = outcomes
        return replace(found, base=base, optimized=optimized, scored_on=scored_on)

    def _evaluate(
        self, design: MemoryDesign, examples: Sequence[dspy.Example]
    ) -> tuple[Outcome, ...]:
        def progress(done: int, total: int) -> None:
            self.reporter.progress("questions", done, total)
            self._check_answers()

        found = evaluate(self._program(design), examples, metric=self._metric, progress=progress)
        return tuple(found)

    @cached_property
    def _accepting_metric(self) -> Any:
        if self.config.metric == "evidence":
            return evidence_metric(self.benchmark.history)
        return self._metric

    @cached_property
    def _metric(self) -> Any:
        return self.models.judge() if self.config.metric == "judge" else typed_metric

    @cached_property
    def _index(self) -> MemoryIndex:
        history = self.benchmark.history
        if self.embedder is None:
            return MemoryIndex(history)
        return MemoryIndex(history, self.embedder)

    def _program(self, design: MemoryDesign) -> MemoryProgram:
        program = MemoryProgram(self._index, design, self.config.budget_tokens)
        self.models.equip(program)
        return program

    @contextmanager
    def _stage(self, name: str) -> Iterator[None]:
        self.reporter.stage(name)
        self.journal("stage", {"name": name})
        before, started = self.ledger.usage, time.monotonic()
        yield
        seconds = time.monotonic() - started
        stage = Stage(name, self.ledger.usage - before, seconds)
        self.stages.append(stage)
        self.journal("stage done", asdict(stage))
        self.reporter.note(_spent(stage))

    def _on_bundles(self, accepted: int, wanted: int, tried: int) -> None:
        self.reporter.progress(f"items accepted of {tried} bundles", accepted, wanted)
        self._check_answers()

    def _on_event(self, event: str, data: dict[str, Any]) -> None:
        self.journal(event, data)
        number = data.get("round", 0)
        if event == "held":
            accuracy = data["val_accuracy"]
            self.reporter.note(f"round {number}: validation accuracy {accuracy:.1%}")
            self._check_answers()
        self.reporter.progress("rounds", number, self.config.rounds)

    def _check_answers(self) -> None:
        """Stop where the model's side failed every call so far: a wrong name, key or address."""
        usage = self.ledger.usage
        if usage.failures and not usage.calls:
            raise NoAnswers(
                f"{_named(self.config)}: none of {usage.failures} calls was answered; "
                f"{_last_failure(self.folder)}check the name, the key and the address"
            )


def _named(config: RunConfig) -> str:
    """The options that named the models: a fault may lie with any of them."""
    roles = (f"--role-lm {role}={name}" for role, name in config.role_lms.items())
    return ", ".join((f"--lm {config.lm}", *roles))


def _spent(stage: Stage) -> str:
    usage = stage.usage
    cost = "cost unknown" if usage.usd is None else f"{usage.usd:.2f} USD"
    failed = f", {usage.failures} failed calls" if usage.failures else ""
    tokens = f"{usage.prompt_tokens:,} + {usage.completion_tokens:,} tokens"
    return f"{stage.name}: {usage.calls} calls, {tokens}, {cost}{failed} in {stage.seconds:.1f} s"


def _last_failure(folder: Path) -> str:
    try:
        rows = (folder / "rejects.jsonl").read_text(encoding="utf-8").splitlines()
        detail = str(json.loads(rows[-1])["detail"])
    except (OSError, IndexError, ValueError, KeyError):
        return ""
    return f"it said: {detail[:200]}; "
