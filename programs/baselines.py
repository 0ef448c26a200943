"""The two bounds beside the memory systems: Full Context and Ideal Memory."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date

import dspy

from memsteer.programs.embedding import Embedder
from memsteer.programs.memories import StoredMemory
from memsteer.programs.names import Names
from memsteer.programs.parallel import Failure
from memsteer.programs.patches import PatchOutcome
from memsteer.programs.stream import Day, Question
from memsteer.programs.systems import (
    MEM0,
    Answered,
    PolicyMemory,
    Replay,
    WriterState,
    WritingConfig,
    Written,
)
from memsteer.programs.writers import MemoryAnswerer, with_retry
from memsteer.signatures.writing import FeedbackTurn

IDEAL = replace(MEM0, name="ideal", time_rule=True)


class FullContext(dspy.Module):
    """Everything said so far, and earlier transcripts, in the prompt; nothing is extracted."""

    def __init__(self, name: str = "full-context") -> None:
        super().__init__()
        self.name = name
        self.answerer = MemoryAnswerer()

    def begin(self, names: Names) -> WriterState:
        return WriterState(names=names)

    def write(self, state: WriterState, day: Day) -> Written:
        lines = [
            f"[{day.date.isoformat()}] {m.role.capitalize()}: {m.content}" for m in day.messages
        ]
        return Written(replace(state, log=(*state.log, *lines)))

    def answer(self, state: WriterState, question: Question) -> Answered:
        said = with_retry(
            self.answerer, memories=state.log, question=question.text, names=state.names
        )
        if isinstance(said, Failure):
            return Answered("", shown=state.log, failure=said)
        return Answered(said, shown=state.log)

    def learn(
        self, state: WriterState, turns: Sequence[FeedbackTurn], replay: Replay
    ) -> tuple[WriterState, PatchOutcome | None]:
        return state, None

    def write_back(
        self, state: WriterState, week: int, when: date, turns: Sequence[FeedbackTurn]
    ) -> Written:
        # The memories shown are left out: here they are the whole log, which is there already.
        lines = [
            f"[{when.isoformat()}] {role}: {text}"
            for turn in turns
            for role, text in (
                ("User", turn.question),
                ("Assistant", turn.answer),
                ("User", turn.feedback),
            )
        ]
        return Written(replace(state, log=(*state.log, *lines)))


class IdealMemory(PolicyMemory):
    """Golden memories inserted as they are, and the normal writeback.

    `golden` gives them by conversation id: they come from the benchmark, not from the stream.
    """

    def __init__(
        self,
        embedder: Embedder,
        golden: Mapping[str, Sequence[str]],
        config: WritingConfig = IDEAL,
    ) -> None:
        super().__init__(embedder, config)
        self.golden = {key: tuple(texts) for key, texts in golden.items()}

    def write(self, state: WriterState, day: Day) -> Written:
        new = [
            StoredMemory("", text, day.date, day.week, "golden", (), (c.id,), "golden")
            for c in day.conversations
            for text in self.golden.get(c.id, ())
        ]
        store = state.store.plus(new)
        return Written(replace(state, store=store), store.memories[len(state.store) :])
