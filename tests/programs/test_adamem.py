"""The weekly loop: its order, failures that are reported, updates that are validated, resuming."""

from dataclasses import replace as with_changes
from pathlib import Path
from typing import Any

import dspy
import pytest
from scripted import scripted_lm
from stories import STREAM, WISH, WORDS, Baker, feedback, talk

from memsteer.programs.adamem import Event, StoryRun, WeeklyLoop
from memsteer.programs.ledger import Budget, BudgetExhausted, Ledger
from memsteer.programs.policy import MemoryPolicy
from memsteer.programs.stream import FeedbackMode, Gold, GoldFeedback, StreamError, WeeklyStream
from memsteer.programs.systems import ADAMEM, PolicyMemory, WritingConfig


def run(
    script: Baker,
    config: WritingConfig = ADAMEM,
    mode: FeedbackMode = "explicit",
    events: list[Event] | None = None,
) -> tuple[StoryRun, Any]:
    lm, engine = scripted_lm(script)
    loop = WeeklyLoop(PolicyMemory(WORDS, config))
    told = events if events is not None else []
    with dspy.context(lm=lm):
        story = loop(stream=STREAM, feedback=feedback(mode), on_event=told.append).run
    return story, engine


def test_a_week_goes_write_ask_update_write_back() -> None:
    events: list[Event] = []
    story, _ = run(Baker(), events=events)
    assert [(e.kind, e.week, e.key) for e in events] == [
        ("date", 1, "2024-05-01"),  # by date, not by the order in the file
        ("date", 1, "2024-05-02"),
        ("question", 1, "q1"),
        ("question", 1, "q2"),
        ("update", 1, ""),
        ("writeback", 1, "2024-05-02"),
        ("date", 2, "2024-05-08"),
        ("question", 2, "q3"),
        ("update", 2, ""),
        ("writeback", 2, "2024-05-08"),
    ]
    assert [len(w.asked) for w in story.weeks] == [2, 1]
    assert [a.feedback.correct for a in story.asked] == [True, False, True]
    assert not story.failed


def test_the_gate_follows_the_rule_from_the_writeback_on() -> None:
    story, _ = run(Baker())
    texts = [m.text for m in story.state.store.memories]
    assert "Bo likes coffee." in texts  # week 1: no rule yet
    assert "Bo spilt coffee." not in texts
    (refused,) = [r for r in story.state.store.refused if "spilt" in r.text]
    assert (refused.reason, refused.rule) == (
        "not a decision",
        "person Bo: Record Bo's decisions.",
    )
    reasons = {m.text: m.reason for m in story.state.store.memories if m.kind == "dialogue"}
    assert reasons["Bo likes coffee."] == "no rule applies"
    assert reasons["Bo decided on oat bread."] == "a decision"
    assert [m.id for m in story.state.store.memories][:3] == ["m1", "m2", "m3"]


def test_explicit_feedback_adds_the_wish_after_an_error_only() -> None:
    right = "You are right."
    wrong = "You are wrong. The correct answer is: it is a brick oven."
    said = [a.feedback.text for a in run(Baker())[0].asked]
    assert said == [right, f"{wrong} {WISH}", right]
    said = [a.feedback.text for a in run(Baker(), mode="implicit")[0].asked]
    assert said == [right, wrong, right]


def test_without_gate_nobody_judges_and_nothing_is_refused() -> None:
    story, engine = run(Baker(), with_changes(ADAMEM, gate=False))
    assert not any("verdicts" in fields for fields in engine.asked)
    assert not story.state.store.refused


def test_the_answerer_is_told_no_date_but_the_memories() -> None:
    _, engine = run(Baker())
    prompts = [p for f, p in zip(engine.asked, engine.prompts, strict=True) if "reply" in f]
    assert {*prompts[0]} == {"user", "memories", "question"}


def test_a_date_that_fails_twice_is_reported_and_the_story_goes_on() -> None:
    events: list[Event] = []
    story, _ = run(Baker(broken=("2024-05-01",)), events=events)
    (step,) = story.failed
    assert (step.date, step.stored, step.writeback) == ("2024-05-01", (), False)
    assert step.failure is not None
    assert step.failure.reason == "malformed_output"
    assert events[0].data["failure"].startswith("malformed_output: ")
    assert story.state.store.memories[0].text == "I promised Bo an oven."


def test_a_date_that_fails_once_is_written_by_the_second_attempt() -> None:
    story, _ = run(Baker(flaky=("2024-05-01",)))
    assert not story.failed
    assert story.state.store == run(Baker())[0].state.store


@pytest.mark.parametrize("patch", ["nothing to parse", {"set": {"Bo": "x"}}, {"odd": 1}])
def test_a_patch_that_cannot_be_read_keeps_the_policy_and_a_reason(patch: Any) -> None:
    story, _ = run(Baker(patch=patch))
    for week in story.weeks:
        assert week.outcome is not None
        assert not week.outcome.applied
        assert week.outcome.reasons[0].startswith("malformed_output")
        assert week.policy == MemoryPolicy()


def test_a_validated_update_must_not_lower_the_replayed_week() -> None:
    # Under the rule the gate refuses what q1 needs: 0 right answers instead of 1.
    harmful = Baker(refuse="rye")
    config = with_changes(ADAMEM, validated=True)
    story, _ = run(harmful, config)
    outcome = story.weeks[0].outcome
    assert outcome is not None
    assert not outcome.applied
    assert outcome.reasons == ("past week replayed: 0 right with the patch, 1 without",)
    assert story.weeks[0].policy == MemoryPolicy()
    harmless, _ = run(Baker(), config)
    assert [len(w.policy.rules) for w in harmless.weeks] == [1, 1]


def test_a_killed_story_goes_on_and_pays_for_nothing_twice(tmp_path: Path) -> None:
    whole, engine = run(Baker())
    calls = len(engine.asked)
    lm, counted = scripted_lm(Baker())
    path = tmp_path / "ledger"
    loop = WeeklyLoop(PolicyMemory(WORDS))
    for stop in (1, 3, 5, 8, calls - 1):
        with (
            Ledger(path, Budget(calls=stop)) as ledger,
            dspy.context(lm=ledger.record(lm)),
            pytest.raises(BudgetExhausted),
        ):
            loop(stream=STREAM, feedback=feedback())
        assert len(counted.asked) == stop
    with Ledger(path) as ledger, dspy.context(lm=ledger.record(lm)):
        resumed = loop(stream=STREAM, feedback=feedback()).run
    assert resumed == whole
    assert len(counted.asked) == calls


def test_the_written_memories_are_a_history() -> None:
    history = run(Baker())[0].state.store.as_history("Ada")
    first = history["m1"]
    assert (first.kind, first.when) == ("note", "2024-05-01")
    assert first.text == "Bo decided on rye bread."
    assert first.metadata["sources"] == "c1"
    assert first.metadata["about"] == "Bo"


def test_streams_that_cannot_be_run_are_refused() -> None:
    week = STREAM.weeks[0]
    with pytest.raises(StreamError, match="in order"):
        WeeklyStream((week, week))
    twice = with_changes(week, conversations=(*week.conversations, talk("c1", week.days[0].date)))
    with pytest.raises(StreamError, match="'c1' is used twice"):
        WeeklyStream((twice,))


def test_gold_corrections_end_in_one_period() -> None:
    question = STREAM.weeks[0].questions[0]
    giver = GoldFeedback({"q1": Gold("x", "it is x.")}, "implicit", lambda *_: False)
    assert giver.judge(question, "y").text == "You are wrong. The correct answer is: it is x."
