"""MemSteer-Opt: improve a memory design by evidence, train no model (section 3.3).

A round: the proposer sees the current design and a sample of its diagnosed failures on the
training set, and proposes structural revisions. Each valid one is tuned by Optuna on free
evidence screening; those that gain are stacked, one by one, while the stack gains. The few best
are answered on the validation set, and the best is accepted only if its accuracy there is higher
than the current design's. An accepted design is diagnosed anew, and the next round begins.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import dspy
from dspy.teleprompt import Teleprompter

from memsteer.optimizers.diagnosis import Feedback, count_failures, sample_cases
from memsteer.optimizers.knobs import Screen, Screened, make_screen, tune
from memsteer.optimizers.outcomes import (
    Metric,
    Outcome,
    accuracy,
    evaluate,
    gain,
    typed_metric,
)
from memsteer.optimizers.proposer import DesignProposer, read_proposal
from memsteer.optimizers.trajectory import (
    OptimizationResult,
    Proposed,
    Step,
    as_proposal,
    as_row,
    as_tried,
)
from memsteer.programs.design import DesignError, MemoryDesign
from memsteer.programs.memory import MemoryProgram
from memsteer.programs.metering import metered
from memsteer.programs.parallel import Failure, attempt, run_parallel
from memsteer.programs.retrieval import Query

Journal = Callable[[str, dict[str, Any]], None]


class OfficialQuestions(ValueError):
    """Benchmark questions were handed over as supervision: they measure, they never train."""


@dataclass
class _Run:
    """The state of one compile."""

    program: MemoryProgram
    train: Sequence[dspy.Example]
    val: Sequence[dspy.Example]
    train_queries: list[Query] = field(default_factory=list)
    searched: set[str] = field(default_factory=set)  # searches that the queries bring already
    steps: list[Step] = field(default_factory=list)
    proposals: list[Proposed] = field(default_factory=list)
    train_outcomes: list[Outcome] = field(default_factory=list)
    val_outcomes: list[Outcome] = field(default_factory=list)


class MemSteerOpt(Teleprompter):
    """A teleprompter that revises the memory design of a `MemoryProgram`.

    Args:
        rounds: revisions at most; `patience` rounds without one end the run earlier.
        proposals: structural proposals a round.
        trials: knob settings screened for each proposal; they cost no LM call.
        finalists: designs a round that are paid for with answers on the validation set.
        cases_per_kind: diagnosed failures of each kind shown to the proposer.
        feedback: what the proposer sees of them (section A.5).
        metric: judges an answer; the typed comparison by default.
        seed: decides samples and Optuna's draws.
        journal: called as `journal(event, data)` for every event.
        allow_official: accept examples marked `official`, to measure what they would reach.
    """

    def __init__(
        self,
        *,
        rounds: int = 6,
        patience: int = 2,
        proposals: int = 4,
        trials: int = 30,
        finalists: int = 2,
        cases_per_kind: int = 10,
        feedback: Feedback = "stratified",
        metric: Metric = typed_metric,
        seed: int = 0,
        num_threads: int | None = None,
        journal: Journal | None = None,
        allow_official: bool = False,
    ) -> None:
        super().__init__()
        self.rounds = rounds
        self.patience = patience
        self.number = proposals
        self.trials = trials
        self.finalists = finalists
        self.cases_per_kind = cases_per_kind
        self.feedback = feedback
        self.metric = metric
        self.seed = seed
        self.num_threads = num_threads
        self.journal = journal or (lambda event, data: None)
        self.allow_official = allow_official
        self.proposer = DesignProposer()

    def compile(
        self,
        student: MemoryProgram,
        *,
        trainset: Sequence[dspy.Example],
        teacher: Any = None,
        valset: Sequence[dspy.Example] | None = None,
        **kwargs: Any,
    ) -> MemoryProgram:
        """A copy of `student` with the best design found; `.optimization` tells how it came.

        Without a valset the second half of `trainset` validates. Raises `ValueError` for empty
        sets, `OfficialQuestions` for benchmark questions.
        """
        train, val = self._sets(trainset, valset)
        with metered() as meter:
            run = _Run(student.deepcopy(), train, val)
            rng = random.Random(self.seed)
            self._start(run)
            idle = 0
            for number in range(1, self.rounds + 1):
                improved = self._round(run, number, rng)
                if improved is None:
                    break
                idle = 0 if improved else idle + 1
                if idle >= self.patience:
                    break
            result = OptimizationResult(tuple(run.steps), tuple(run.proposals), meter.usage)
        run.program.optimization = result
        return run.program

    def _sets(
        self, trainset: Sequence[dspy.Example], valset: Sequence[dspy.Example] | None
    ) -> tuple[list[dspy.Example], list[dspy.Example]]:
        train, val = list(trainset), list(valset or ())
        if not val:
            train, val = train[: (len(train) + 1) // 2], train[(len(train) + 1) // 2 :]
        if not train or not val:
            raise ValueError("MemSteerOpt needs at least one example to train and one to validate")
        if not self.allow_official and any(e.get("official") for e in (*train, *val)):
            raise OfficialQuestions(
                "the examples hold official benchmark questions: these only measure; "
                "build supervision from the history instead"
            )
        return train, val

    def _start(self, run: _Run) -> None:
        run.train_queries = self._queries(run.program, run.train, rewrites=False, hyde=False)
        run.val_outcomes = self._evaluate(run.program, run.val)
        self._hold(run, 0, self._screen(run)(run.program.design))

    def _hold(self, run: _Run, number: int, screen: float) -> None:
        """Diagnose the current design on the training set and add it to the trajectory."""
        run.train_outcomes = self._evaluate(run.program, run.train)
        step = Step(
            round=number,
            design=run.program.design,
            screen=screen,
            train_accuracy=accuracy(run.train_outcomes) or 0.0,
            val_accuracy=accuracy(run.val_outcomes) or 0.0,
        )
        run.steps.append(step)
        counts = count_failures(run.train_outcomes, run.program)
        self.journal("held", {**as_row(step), "failures": counts.model_dump()})

    def _round(self, run: _Run, number: int, rng: random.Random) -> bool | None:
        """One round: whether a revision was accepted; None where the proposer has nothing new."""
        valid = self._propose(run, number, rng)
        if valid is None:
            return None
        screen = self._screen(run, valid)
        held = run.steps[-1].screen
        screened = [(p, self._tune(d, screen, number)) for p, d in valid]
        screened.sort(key=lambda pair: -pair[1].score)
        stack = self._stack([pair for pair in screened if pair[1].score > held], screen, number)
        contenders = ([stack] if stack else []) + screened
        finalists = [pair for pair in contenders if pair[1].score >= held][: self.finalists]
        for proposed, tuned in contenders:
            if not any(proposed is finalist for finalist, _ in finalists):
                fate = (
                    "gained, another gained more" if tuned.score > held else "no gain in screening"
                )
                self._record(run, replace(proposed, screen=tuned.score, fate=fate))
        return self._validate(run, number, finalists)

    def _tune(self, design: MemoryDesign, screen: Screen, number: int) -> Screened:
        return tune(design, screen, trials=self.trials, seed=self.seed + number)

    def _stack(
        self, gained: Sequence[tuple[Proposed, Screened]], screen: Screen, number: int
    ) -> tuple[Proposed, Screened] | None:
        """The best proposal with each other one that adds to it, tuned as one design.

        None where no second proposal adds anything.
        """
        if not gained:
            return None
        first, held = gained[0]
        changes = dict(first.changes)
        for proposed, _ in gained[1:]:
            fresh = tuple((p, v) for p, v in proposed.changes if p not in changes)
            try:
                design = read_proposal(as_proposal(replace(proposed, changes=fresh)), held.design)
            except DesignError:  # nothing left of it beside what is stacked already
                continue
            tuned = self._tune(design, screen, number)
            if tuned.score > held.score:
                held = tuned
                changes.update(fresh)
        if len(changes) == len(first.changes):
            return None
        rationale = "The proposals that gained, stacked."
        return Proposed(number, rationale, tuple(changes.items()), ""), held

    def _propose(
        self, run: _Run, number: int, rng: random.Random
    ) -> list[tuple[Proposed, MemoryDesign]] | None:
        program = run.program
        cases = sample_cases(
            run.train_outcomes,
            run.train,
            program,
            feedback=self.feedback,
            per_kind=self.cases_per_kind,
            rng=rng,
        )
        said = attempt(
            lambda: self.proposer(
                current=program.design,
                counts=count_failures(run.train_outcomes, program),
                cases=cases,
                tried=[as_tried(p) for p in run.proposals],
                number=self.number,
            )
        )
        if isinstance(said, Failure):
            fate = f"refused: {said.reason}: {said.detail}"
            self._record(run, Proposed(number, "", (), fate))
            return []
        if not said.proposals:
            return None
        valid: list[tuple[Proposed, MemoryDesign]] = []
        for proposal in said.proposals:
            changes = tuple((c.path, c.value) for c in proposal.changes)
            proposed = Proposed(number, proposal.rationale, changes, "")
            try:
                design = read_proposal(proposal, program.design)
                if any(design == other for _, other in valid):
                    raise DesignError("the same design as another proposal of this round")
                valid.append((proposed, design))
            except DesignError as error:
                self._record(run, replace(proposed, fate=f"refused: {error}"))
        return valid

    def _validate(
        self, run: _Run, number: int, finalists: Sequence[tuple[Proposed, Screened]]
    ) -> bool:
        """Pay for the finalists' answers; accept the best if it beats the current design."""
        best: tuple[Proposed, Screened, list[Outcome]] | None = None
        judged: list[tuple[Proposed, Screened, float | None]] = []
        bar = 0.0
        for proposed, tuned in finalists:
            outcomes = self._evaluate(run.program.with_design(tuned.design), run.val)
            judged.append((proposed, tuned, accuracy(outcomes)))
            gained = gain(outcomes, run.val_outcomes)
            if gained is not None and gained > bar:
                best, bar = (proposed, tuned, outcomes), gained
        for proposed, tuned, score in judged:
            won = best is not None and best[1] is tuned
            fate = "accepted" if won else "not better on validation"
            self._record(run, replace(proposed, screen=tuned.score, accuracy=score, fate=fate))
        if best is None:
            return False
        run.program.memory_design.value = best[1].design
        run.val_outcomes = best[2]
        self._hold(run, number, best[1].score)
        return True

    def _screen(self, run: _Run, valid: Sequence[tuple[Proposed, MemoryDesign]] = ()) -> Screen:
        """The screen, with the searches that the designs need asked for once."""
        designs = [run.program.design, *(design for _, design in valid)]
        needed = {
            name
            for name in ("rewrites", "hyde")
            if any(getattr(d.retrieval, name) for d in designs)
        }
        if not needed <= run.searched:
            run.searched |= needed
            needs = {name: name in run.searched for name in ("rewrites", "hyde")}
            run.train_queries = self._queries(run.program, run.train, **needs)
        return make_screen(run.program, run.train, run.train_queries)

    def _queries(
        self, program: MemoryProgram, examples: Sequence[dspy.Example], **needs: bool
    ) -> list[Query]:
        def make(example: dspy.Example) -> Query:
            return program.make_query(example.question, example.get("question_time", ""), **needs)

        made = run_parallel(make, [(e,) for e in examples], self.num_threads)
        plain = [
            program.make_query(e.question, e.get("question_time", ""), rewrites=False, hyde=False)
            for e in examples
        ]
        return [p if isinstance(m, Failure) else m for m, p in zip(made, plain, strict=True)]

    def _evaluate(self, program: MemoryProgram, examples: Sequence[dspy.Example]) -> list[Outcome]:
        return evaluate(program, examples, metric=self.metric, num_threads=self.num_threads)

    def _record(self, run: _Run, proposed: Proposed) -> None:
        run.proposals.append(proposed)
        self.journal("proposal", asdict(proposed))
