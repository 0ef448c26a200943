"""Outcomes: right, wrong, abstained and failed are four things, and none is averaged away."""

from collections.abc import Mapping
from typing import Any

import dspy
import pytest
from pets import BASE, HISTORY, TRAIN, VAL, example, program, read
from scripted import scripted_lm
from small import PETS, history, note

from memsteer.optimizers.outcomes import (
    Outcome,
    accuracy,
    context_coverage,
    evaluate,
    evidence_ids,
    evidence_metric,
    evidence_of,
    gain,
    source_ranking,
    sources_of,
    typed_metric,
)
from memsteer.programs.answers import Verdict
from memsteer.programs.memory import MemoryProgram
from memsteer.programs.records import Span
from memsteer.programs.retrieval import MemoryIndex, Query


def outcome(verdict: Any, **more: Any) -> Outcome:
    values = {"id": "i", "question": "q", "expected": "e", "answer": "a", "reason": ""}
    return Outcome(**values | {"verdict": verdict, "evidence": ()} | more)


def test_four_verdicts() -> None:
    said: dict[str, Any] = {"a?": "Mia", "b?": "Rex", "c?": "Unknown"}

    def script(fields: frozenset[str], inputs: Mapping[str, str]) -> Any:
        answer = said.get(inputs["question"])
        return {"answer": answer, "cited": []} if answer else "no field"

    lm, _ = scripted_lm(script)
    asked = [example(q, "kitten") for q in ("a?", "b?", "c?", "d?")]
    with dspy.context(lm=lm):
        found = evaluate(program(), asked, num_threads=2)
    assert [o.verdict for o in found] == ["correct", "wrong", "abstained", "failed"]
    assert [o.id for o in found] == ["a?", "b?", "c?", "d?"]
    assert found[3].reason.startswith("malformed_output: ")
    assert (found[3].answer, found[3].retrieved) == ("", ())
    assert accuracy(found) == pytest.approx(1 / 3)  # of the three that were judged


def test_an_outcome_tells_where_its_evidence_is() -> None:
    lm, _ = scripted_lm(lambda fields, inputs: read(inputs))
    dense = program(BASE.changed({"retrieval.dense_weight": 1}))
    with dspy.context(lm=lm):
        (blind,) = evaluate(program(), TRAIN[:1])
        (seeing,) = evaluate(dense, TRAIN[:1])
    assert (blind.verdict, blind.coverage, blind.retrieved[7]) == ("abstained", 0, "r7")
    assert blind.shown == ("r0", "r1", "r2", "r3", "r4")
    assert (seeing.verdict, seeing.coverage, seeing.shown[0]) == ("correct", 1, "r7")
    assert seeing.context_tokens > 0
    assert seeing.evidence == ("r7",)


def test_accuracy() -> None:
    assert accuracy([outcome("correct"), outcome("wrong"), outcome("abstained")]) == 1 / 3
    assert accuracy([outcome("correct"), outcome("failed")]) == 1
    assert accuracy([outcome("failed")]) is None
    assert accuracy([]) is None


def test_gain_compares_what_failed_in_neither() -> None:
    old = [outcome(v) for v in ("correct", "wrong", "wrong", "failed")]
    new = [outcome(v) for v in ("correct", "correct", "failed", "correct")]
    assert gain(new, old) == 0.5  # of the first two, one more is right
    assert gain(old, old) == 0
    assert gain([outcome("failed")], [outcome("wrong")]) is None


def test_evidence_is_spans_or_whole_records() -> None:
    asked = dspy.Example(evidence=["r7", ["r8", 0, 5], ("r8", 6, 9)])
    assert evidence_of(asked, HISTORY) == (HISTORY["r7"], Span("r8", 0, 5), Span("r8", 6, 9))
    assert evidence_ids(asked) == ("r7", "r8")
    for empty in (dspy.Example(), dspy.Example(evidence=[]), dspy.Example(evidence=None)):
        assert evidence_of(empty, HISTORY) == ()
        assert evidence_ids(empty) == ()
        assert context_coverage(program().recall(Query("x"))[1], empty, program()) == 1


def test_coverage_of_half_of_the_evidence() -> None:
    _, context = program().recall(Query("x"))
    asked = dspy.Example(evidence=["r0", "r7"])
    assert context_coverage(context, asked, program()) == 0.5


def test_written_memories_count_by_their_sources() -> None:
    written = history(
        note("m1", "The cat is Mia.", metadata={"sources": "r7 r1"}), note("m2", "A boat.")
    )
    assert sources_of(written["m1"]) == ("r7", "r1")
    assert sources_of(written["m2"]) == ("m2",)
    assert source_ranking(["m2", "m1", "m2"], written) == ("m2", "r7", "r1")
    memory = MemoryIndex(HISTORY, embedder=PETS, written=written)
    policy = MemoryProgram(memory, BASE.changed({"store.write": "policy"}))
    _, context = policy.recall(Query("cat"))
    asked = dspy.Example(evidence=[("r7", 0, 3), ("r8", 0, 3)])
    assert context_coverage(context, asked, policy) == 0.5


def test_the_metric_and_the_searches_can_be_given() -> None:
    lm, _ = scripted_lm(lambda fields, inputs: read(inputs))
    told: list[tuple[int, int]] = []
    with dspy.context(lm=lm):
        found = evaluate(
            program(),
            VAL,
            queries=[Query("number7 slept"), Query("barked")],
            metric=lambda e, p: Verdict("wrong", "never right"),
            progress=lambda *a: told.append(a),
            wave=1,
        )
    assert [o.reason for o in found] == ["never right"] * 2
    assert told == [(1, 2), (2, 2)]
    assert [o.shown[0] for o in found] == ["r7", "r8"]
    assert evaluate(program(), []) == []


def test_the_metric_is_typed() -> None:
    said = dspy.Prediction(answer="45 minutes")
    assert typed_metric(dspy.Example(answer="0.75 h", answer_type="duration"), said).correct
    assert typed_metric(dspy.Example(answer="0.75 h"), said).correct
    assert not typed_metric(dspy.Example(answer="1 h", answer_type="duration"), said).correct


def test_an_error_of_ours_is_raised() -> None:
    lm, _ = scripted_lm(lambda fields, inputs: read(inputs))
    broken = [example("q?", "kitten", evidence=["nowhere"])]
    with dspy.context(lm=lm), pytest.raises(KeyError):
        evaluate(program(), broken)


def test_the_evidence_metric_reads_the_context_and_not_the_answer() -> None:
    memory = MemoryProgram(MemoryIndex(HISTORY, PETS), BASE, budget_tokens=1000)
    _, context = memory.recall(Query("filler"))
    shown, hidden = context.record_ids[0], "r9"
    assert hidden not in context.record_ids
    judge = evidence_metric(HISTORY)
    for evidence, verdict in (([shown], "correct"), ([shown, hidden], "wrong")):
        asked = dspy.Example(question="?", answer="x", evidence=evidence)
        assert judge(asked, dspy.Prediction(answer="y", context=context)).outcome == verdict
