"""One conformance suite for all writing systems, and what the memory search does."""

import copy
from collections.abc import Callable
from datetime import date
from typing import Any

import dspy
import pytest
from scripted import scripted_lm
from stories import GOLDEN, STREAM, WORDS, Baker, feedback

from memsteer.programs.adamem import WeeklyLoop
from memsteer.programs.baselines import FullContext, IdealMemory
from memsteer.programs.memories import MemorySearch, MemoryStore, Recency, StoredMemory
from memsteer.programs.policy import MemoryPolicy
from memsteer.programs.stream import Question
from memsteer.programs.systems import (
    ADAMEM,
    MEM0,
    MEM0_TIME,
    PAPER_ADAMEM,
    PolicyMemory,
    WritingSystem,
)
from memsteer.signatures.writing import FeedbackTurn

SYSTEMS: dict[str, Callable[[], WritingSystem]] = {
    "adamem": lambda: PolicyMemory(WORDS, ADAMEM),
    "adamem-paper": lambda: PolicyMemory(WORDS, PAPER_ADAMEM),
    "mem0": lambda: PolicyMemory(WORDS, MEM0),
    "mem0-time": lambda: PolicyMemory(WORDS, MEM0_TIME),
    "full-context": FullContext,
    "ideal": lambda: IdealMemory(WORDS, GOLDEN),
}
TURN = FeedbackTurn(question="Which?", memories=["a"], answer="rye", feedback="You are right.")
DAY = STREAM.weeks[0].days[0]
OTHER_DAY = STREAM.weeks[0].days[1]


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest) -> WritingSystem:
    return SYSTEMS[request.param]()


@pytest.fixture(autouse=True)
def baker() -> Any:
    lm, engine = scripted_lm(Baker())
    with dspy.context(lm=lm):
        yield engine


def no_replay(policy: MemoryPolicy) -> float:
    raise AssertionError("nobody asked for a replay")


def test_it_has_the_name_it_is_known_by(system: WritingSystem) -> None:
    assert SYSTEMS[system.name]().name == system.name


def test_nothing_is_known_at_the_beginning(system: WritingSystem) -> None:
    state = system.begin(STREAM.names)
    assert (len(state.store), state.log, state.policy.rules) == (0, (), ())
    answered = system.answer(state, Question("q", "Which rye?"))
    assert answered.failure is None
    assert answered.retrieved == ()


def test_writing_changes_no_earlier_state(system: WritingSystem) -> None:
    begun = system.begin(STREAM.names)
    before = copy.deepcopy(begun)
    once, again = system.write(begun, DAY), system.write(begun, DAY)
    assert begun == before
    assert once == again
    assert once.failure is None
    assert once.state != begun


def test_what_is_written_is_found_and_shown(system: WritingSystem) -> None:
    state = system.write(system.begin(STREAM.names), DAY).state
    state = system.write(state, OTHER_DAY).state
    answered = system.answer(state, Question("q", "Which oven?"))
    assert any("oven" in text for text in answered.shown)
    assert len(answered.retrieved) <= 10
    if answered.retrieved:
        assert "oven" in answered.retrieved[0].memory.text
        assert [f.memory.text for f in answered.retrieved] == list(answered.shown)


def test_ids_are_unique_and_every_memory_has_week_and_date(system: WritingSystem) -> None:
    state = system.begin(STREAM.names)
    for day in STREAM.weeks[0].days:
        state = system.write(state, day).state
    state = system.write_back(state, 1, date(2024, 5, 2), [TURN]).state
    memories = state.store.memories
    assert len({m.id for m in memories}) == len(memories)
    assert {m.week for m in memories} <= {1}
    assert all(m.reason for m in memories)


def test_learning_gives_an_outcome_or_says_that_it_does_not_learn(system: WritingSystem) -> None:
    begun = system.begin(STREAM.names)
    state, outcome = system.learn(begun, [TURN], no_replay)
    if outcome is None:
        assert state == begun
    else:
        assert outcome.policy == state.policy
        assert [str(r) for r in state.policy.rules] == ["person Bo: Record Bo's decisions."]


def test_a_whole_story_runs_and_one_object_serves_two(system: WritingSystem) -> None:
    loop = WeeklyLoop(system)
    first = loop(stream=STREAM, feedback=feedback()).run
    second = loop(stream=STREAM, feedback=feedback()).run
    assert first == second
    assert len(first.asked) == 3
    assert first.system == system.name


def test_a_broken_model_is_a_failure_not_an_empty_result(system: WritingSystem) -> None:
    lm, _ = scripted_lm(lambda fields, inputs: "no fields at all")
    begun = system.begin(STREAM.names)
    with dspy.context(lm=lm):
        answered = system.answer(begun, Question("q", "Which rye?"))
        written = system.write(begun, DAY)
    assert answered.failure is not None
    # Full Context and Ideal Memory need no model to write.
    assert (written.failure is None) == (system.name in ("full-context", "ideal"))
    if written.failure:
        assert written.state == begun


def test_it_is_copied_as_any_program(system: WritingSystem) -> None:
    other = copy.deepcopy(system)
    begun = system.begin(STREAM.names)
    assert other.write(begun, DAY) == system.write(begun, DAY)


def test_only_the_dated_systems_are_given_the_time_rule(baker: Any) -> None:
    for name, dated in (("adamem", True), ("mem0-time", True), ("mem0", False)):
        system = SYSTEMS[name]()
        system.write(system.begin(STREAM.names), DAY)
        assert bool(baker.prompts[-1]["time_rule"]) is dated


def test_the_general_rule_is_shown_or_not(baker: Any) -> None:
    for name, shown in (("adamem", True), ("adamem-paper", False)):
        system = SYSTEMS[name]()
        system.write(system.begin(STREAM.names), DAY)
        assert bool(baker.prompts[-1]["general_rule"]) is shown


def test_ideal_memory_holds_the_golden_memories_as_they_are() -> None:
    system = SYSTEMS["ideal"]()
    written = system.write(system.begin(STREAM.names), DAY)
    assert [(m.text, m.kind, m.sources) for m in written.stored] == [
        ("Bo wants rye.", "golden", ("c1",))
    ]


def test_full_context_shows_dialogue_and_transcript() -> None:
    system = FullContext()
    state = system.write(system.begin(STREAM.names), DAY).state
    state = system.write_back(state, 1, DAY.date, [TURN]).state
    assert state.log == (
        "[2024-05-01] User: Bo decided on rye bread.",
        "[2024-05-01] User: Bo likes coffee.",
        "[2024-05-01] User: Which?",
        "[2024-05-01] Assistant: rye",
        "[2024-05-01] User: You are right.",
    )


def _memory(text: str, day: int) -> StoredMemory:
    return StoredMemory("", text, date(2024, 5, day), 1, "dialogue")


def test_recency_is_a_bonus_that_halves() -> None:
    store = MemoryStore().plus([_memory("rye", 1), _memory("rye", 15), _memory("oat", 15)])
    search = MemorySearch(WORDS)
    # Equal scores: the later written first.
    assert [f.memory.id for f in search.top(store, "rye", 2)] == ["m2", "m1"]
    found = search.top(store, "rye", 3, Recency(0.2, 14))
    # 14 days are one half-life: 1 + 0.2, 1 + 0.1, 0 + 0.2.
    assert [(f.memory.id, pytest.approx(f.score)) for f in found] == [
        ("m2", 1.2),
        ("m1", 1.1),
        ("m3", 0.2),
    ]
    with pytest.raises(ValueError, match="half_life"):
        Recency(0.1, 0)
