"""The weekly loop of AdaMem (arXiv 2606.21144) as a DSPy program.

Each week: write the conversations by observation date, in date order, under last week's policy;
ask the week's questions; take the feedback; update the policy once; write the transcript of
questions and feedback back under the new policy. Any `WritingSystem` can be run by it.

The loop is deterministic: run again over the same ledger it makes no call twice, so a stopped run
goes on where it was. `on_event` hears of every date, question, update and writeback as it is done.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import dspy

from memsteer.programs.memories import RefusedMemory, StoredMemory
from memsteer.programs.parallel import Failure
from memsteer.programs.patches import PatchOutcome
from memsteer.programs.policy import MemoryPolicy
from memsteer.programs.stream import Feedback, FeedbackProvider, Question, Week, WeeklyStream
from memsteer.programs.systems import Answered, WriterState, WritingSystem, Written
from memsteer.signatures.writing import FeedbackTurn

EventKind = Literal["date", "question", "update", "writeback"]


@dataclass(frozen=True)
class Event:
    """One step done: `key` is the date, the question's id, or empty; `data` is plain JSON."""

    kind: EventKind
    week: int
    key: str
    data: dict[str, Any]


Listener = Callable[[Event], None]


@dataclass(frozen=True)
class Asked:
    """One question of the week with its answer and feedback. A failed answer is never right."""

    question: Question
    answered: Answered
    feedback: Feedback

    @property
    def turn(self) -> FeedbackTurn:
        return FeedbackTurn(
            question=self.question.text,
            about=self.question.about,
            memories=list(self.answered.shown),
            answer=self.answered.text,
            feedback=self.feedback.text,
        )


@dataclass(frozen=True)
class Step:
    """One writing step: a date of dialogue, or the week's transcript (`writeback`)."""

    date: str
    stored: tuple[StoredMemory, ...]
    refused: tuple[RefusedMemory, ...]
    failure: Failure | None
    writeback: bool = False


@dataclass(frozen=True)
class WeekRun:
    """What a week came to. `policy` is the one in force after it."""

    week: int
    steps: tuple[Step, ...]
    asked: tuple[Asked, ...]
    outcome: PatchOutcome | None
    policy: MemoryPolicy


@dataclass(frozen=True)
class StoryRun:
    """A whole story: its weeks and the last state."""

    system: str
    weeks: tuple[WeekRun, ...]
    state: WriterState

    @property
    def failed(self) -> tuple[Step, ...]:
        """The writing steps that failed; they are not dates without memories."""
        return tuple(s for w in self.weeks for s in w.steps if s.failure)

    @property
    def asked(self) -> tuple[Asked, ...]:
        return tuple(a for w in self.weeks for a in w.asked)

    def __deepcopy__(self, memo: dict[int, Any]) -> "StoryRun":
        return self  # frozen


class WeeklyLoop(dspy.Module):
    """Runs a writing system over a stream: `loop(stream=…, feedback=…).run` is a `StoryRun`."""

    def __init__(self, system: WritingSystem) -> None:
        super().__init__()
        self.system = system

    def forward(
        self,
        stream: WeeklyStream,
        feedback: FeedbackProvider,
        on_event: Listener | None = None,
    ) -> dspy.Prediction:
        weeks: list[WeekRun] = []
        state = self.system.begin(stream.names)
        for week in stream.weeks:
            state, run = self._week(state, week, feedback, on_event or _nobody)
            weeks.append(run)
        return dspy.Prediction(run=StoryRun(self.system.name, tuple(weeks), state))

    def _week(
        self, state: WriterState, week: Week, feedback: FeedbackProvider, tell: Listener
    ) -> tuple[WriterState, WeekRun]:
        before, steps = state, []
        for day in week.days:
            written = self.system.write(state, day)
            state = written.state
            steps.append(_step(day.date.isoformat(), written))
            tell(Event("date", week.number, day.date.isoformat(), _told(written)))
        asked = []
        for question in week.questions:
            asked.append(self._ask(state, question, feedback))
            tell(Event("question", week.number, question.id, _told_question(asked[-1])))
        # A failed answer has no feedback to learn from and is no part of the transcript.
        turns = [a.turn for a in asked if a.answered.failure is None]
        outcome = None
        if turns:
            state, outcome = self.system.learn(
                state, turns, lambda policy: self._replay(before, policy, week, feedback)
            )
            tell(Event("update", week.number, "", _told_update(state.policy, outcome)))
            last = max((d.date for d in week.days), default=None)
            if last is not None:
                written = self.system.write_back(state, week.number, last, turns)
                state = written.state
                steps.append(replace(_step(last.isoformat(), written), writeback=True))
                tell(Event("writeback", week.number, last.isoformat(), _told(written)))
        return state, WeekRun(week.number, tuple(steps), tuple(asked), outcome, state.policy)

    def _ask(self, state: WriterState, question: Question, feedback: FeedbackProvider) -> Asked:
        answered = self.system.answer(state, question)
        if answered.failure is not None:
            return Asked(question, answered, Feedback(False, ""))
        return Asked(question, answered, feedback.judge(question, answered.text))

    def _replay(
        self, before: WriterState, policy: MemoryPolicy, week: Week, feedback: FeedbackProvider
    ) -> float:
        """How many of the week's questions come right when the week is written under `policy`."""
        state = replace(before, policy=policy)
        for day in week.days:
            state = self.system.write(state, day).state
        return float(sum(self._ask(state, q, feedback).feedback.correct for q in week.questions))


def policies(run: StoryRun) -> Iterator[tuple[int, MemoryPolicy]]:
    """The policy after each week."""
    return ((w.week, w.policy) for w in run.weeks)


def _nobody(event: Event) -> None:
    """Nobody listens."""


def _step(when: str, written: Written) -> Step:
    return Step(when, written.stored, written.refused, written.failure)


def _told(written: Written) -> dict[str, Any]:
    told: dict[str, Any] = {
        "stored": [{"id": m.id, "text": m.text, "reason": m.reason} for m in written.stored],
        "refused": [{"text": m.text, "reason": m.reason} for m in written.refused],
    }
    if written.failure is not None:
        told["failure"] = f"{written.failure.reason}: {written.failure.detail}"
    return told


def _told_question(asked: Asked) -> dict[str, Any]:
    told: dict[str, Any] = {
        "answer": asked.answered.text,
        "correct": asked.feedback.correct,
        "retrieved": [f.memory.id for f in asked.answered.retrieved],
    }
    if asked.answered.failure is not None:
        told["failure"] = f"{asked.answered.failure.reason}: {asked.answered.failure.detail}"
    return told


def _told_update(policy: MemoryPolicy, outcome: PatchOutcome | None) -> dict[str, Any]:
    if outcome is None:
        return {"learns": False}
    return {
        "applied": outcome.applied,
        "reasons": list(outcome.reasons),
        "policy": policy.model_dump(mode="json"),
    }
