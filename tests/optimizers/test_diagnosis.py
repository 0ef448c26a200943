"""Diagnosis: where a wrong answer lost its evidence, and what the proposer gets to see of it."""

import random
from typing import Any

import dspy
import pytest
from pets import BASE, EVIDENCE, HISTORY, example, program
from small import PETS, history, note

from memsteer.optimizers.diagnosis import Feedback, count_failures, diagnose, sample_cases
from memsteer.optimizers.outcomes import Outcome
from memsteer.programs.memory import MemoryProgram
from memsteer.programs.retrieval import MemoryIndex


def outcome(verdict: Any = "wrong", coverage: float = 0.0, **more: Any) -> Outcome:
    values = {"id": "i", "question": "q?", "expected": "Mia", "answer": "Rex", "reason": ""}
    places = {"evidence": ("r7",), "retrieved": ("r0", "r1", "r7")}
    return Outcome(**values | places | {"verdict": verdict, "coverage": coverage} | more)


STORAGE = {"evidence": ("r7", "lost")}


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (outcome("correct"), None),
        (outcome("failed"), None),
        (outcome(coverage=1.0), "answering"),
        (outcome("abstained", coverage=1.0), "answering"),
        (outcome(coverage=0.99), "retrieval"),
        (outcome("abstained"), "retrieval"),
        (outcome(**STORAGE), "storage"),
        (outcome(coverage=1.0, evidence=()), "answering"),
    ],
)
def test_diagnose(given: Outcome, kind: str | None) -> None:
    assert diagnose(given, program()) == kind


def test_evidence_that_no_written_memory_names_is_a_failure_of_storage() -> None:
    written = history(note("m", "Cat.", metadata={"sources": "r7"}))
    memory = MemoryIndex(HISTORY, embedder=PETS, written=written)
    policy = MemoryProgram(memory, BASE.changed({"store.write": "policy"}))
    assert diagnose(outcome(), policy) == "retrieval"
    assert diagnose(outcome(evidence=("r8",)), policy) == "storage"


def test_counts_leave_failed_ones_out() -> None:
    outcomes = [
        *(outcome("correct"), outcome("correct"), outcome("failed")),
        *(outcome(), outcome(coverage=1), outcome("abstained", coverage=1), outcome(**STORAGE)),
    ]
    counts = count_failures(outcomes, program())
    assert counts.model_dump() == {"correct": 2, "storage": 1, "retrieval": 1, "answering": 2}


def cases(feedback: Feedback, outcomes: list[Outcome], per_kind: int = 10, seed: int = 0) -> Any:
    examples = [example("q?", "kitten") for _ in outcomes]
    return sample_cases(
        outcomes,
        examples,
        program(),
        feedback=feedback,
        per_kind=per_kind,
        rng=random.Random(seed),
    )


def test_what_each_feedback_shows() -> None:
    (blind,) = cases("random", [outcome()])
    assert (blind.kind, blind.evidence, blind.evidence_rank, blind.retrieved) == (
        *(None, [], None),
        [],
    )
    assert (blind.question, blind.expected, blind.answered) == ("q?", "Mia", "Rex")
    (gold,) = cases("gold", [outcome()])
    assert (gold.kind, gold.evidence, gold.evidence_rank) == (None, [EVIDENCE["r7"]], None)
    for feedback in ("diagnosis", "stratified"):
        (full,) = cases(feedback, [outcome()])  # type: ignore[arg-type]
        assert (full.kind, full.evidence, full.evidence_rank) == (
            "retrieval",
            [EVIDENCE["r7"]],
            3,
        )
        assert full.retrieved == ["Filler number0.", "Filler number1.", EVIDENCE["r7"]]


def test_the_rank_is_that_of_the_worst_placed() -> None:
    (case,) = cases("diagnosis", [outcome(evidence=("r0", "r7"))])
    assert case.evidence_rank == 3
    (case,) = cases("diagnosis", [outcome(evidence=("r0", "r8"))])
    assert case.evidence_rank is None  # r8 is not among those found
    (case,) = cases("diagnosis", [outcome(coverage=1, evidence=())])
    assert case.evidence_rank is None


def test_stratified_samples_so_many_of_each_kind_and_others_as_many_in_all() -> None:
    many = [outcome()] * 20 + [outcome(coverage=1)] * 2 + [outcome(**STORAGE), outcome("correct")]
    kinds = [c.kind for c in cases("stratified", many, per_kind=3)]
    assert kinds == ["storage", *["retrieval"] * 3, *["answering"] * 2]
    assert len(cases("diagnosis", many, per_kind=3)) == 9
    assert cases("stratified", [outcome("correct"), outcome("failed")]) == []


def test_the_sample_is_by_seed() -> None:
    many = [outcome(question=f"{n}?") for n in range(30)]

    def drawn(seed: int) -> list[str]:
        return [c.question for c in cases("stratified", many, seed=seed)]

    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_whole_records_as_evidence_are_cut_to_300_characters() -> None:
    held = history(note("r7", "long " * 100))
    memory = MemoryProgram(MemoryIndex(held, embedder=PETS))
    (case,) = sample_cases(
        [outcome(retrieved=("r7",))],
        [dspy.Example(question="q?", answer="Mia", evidence=["r7"])],
        memory,
        feedback="stratified",
        per_kind=1,
        rng=random.Random(0),
    )
    assert [len(e) for e in case.evidence] == [300]
    assert [len(r) for r in case.retrieved] == [120]
