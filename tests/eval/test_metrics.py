"""Measures against values worked out by hand."""

from typing import Any

import pytest

from memsteer.eval.metrics import (
    bootstrap_interval,
    differences,
    evidence_recall_at_k,
    mean,
    paired_difference,
    summarise,
)
from memsteer.optimizers.outcomes import Outcome
from memsteer.programs.records import History

HISTORY = History.from_rows([{"id": i, "text": f"text of {i}"} for i in "abcd"])


def outcome(identity: str, **fields: Any) -> Outcome:
    given = {
        "question": "?",
        "expected": "x",
        "answer": "x",
        "verdict": "correct",
        "reason": "",
        "evidence": ("a",),
        **fields,
    }
    return Outcome(id=identity, **given)


def test_recall_counts_distinct_records_and_cuts_after_unrolling() -> None:
    found = outcome("1", evidence=("a", "b", "c"), retrieved=("d", "a", "a", "b", "c"))
    assert evidence_recall_at_k(found, 1) == 0
    assert evidence_recall_at_k(found, 2) == pytest.approx(1 / 3)
    assert evidence_recall_at_k(found, 3) == pytest.approx(2 / 3)  # d, a, b: the repeat is free
    assert evidence_recall_at_k(found, 4) == 1


def test_recall_leaves_out_evidence_outside_the_corpus() -> None:
    found = outcome("1", evidence=("a", "z"), retrieved=("a",))
    assert evidence_recall_at_k(found, 10) == 0.5
    assert evidence_recall_at_k(found, 10, HISTORY.by_id) == 1
    assert evidence_recall_at_k(outcome("1", evidence=("z",)), 10, HISTORY.by_id) is None
    assert evidence_recall_at_k(outcome("1", evidence=()), 10) is None


def test_mean() -> None:
    assert mean([]) is None
    assert mean([0.1] * 10) == 0.1  # exact: a plain sum gives 0.09999…


def test_bootstrap_interval() -> None:
    assert bootstrap_interval([]) is None
    assert bootstrap_interval([0.5, 0.5]) == (0.5, 0.5)
    values = [0.0] * 50 + [1.0] * 50
    low, high = bootstrap_interval(values) or (0, 0)
    # The standard error is 0.05: about 0.5 ± 1.96 · 0.05.
    assert (low, high) == (pytest.approx(0.40, abs=0.02), pytest.approx(0.60, abs=0.02))
    assert bootstrap_interval(values) == bootstrap_interval(values)


def test_the_paired_difference_takes_shared_questions() -> None:
    found = paired_difference({"1": 0.0, "2": 1.0, "3": 1.0}, {"1": 1.0, "2": 1.0, "4": 0.0})
    assert found is not None
    assert found.mean == 0.5  # questions 1 and 2: gains 1 and 0
    assert found.interval == (0, 1)
    assert paired_difference({"1": 1.0}, {"2": 1.0}) is None
    # A constant gain is certain, however much the questions differ.
    steady = paired_difference({"1": 0.0, "2": 0.5}, {"1": 0.25, "2": 0.75})
    assert steady is not None
    assert steady.interval == (0.25, 0.25)


def test_summary_counts_verdicts_and_leaves_failures_out_of_means() -> None:
    outcomes = [
        outcome("1", retrieved=("a",), coverage=1.0),
        outcome("2", verdict="wrong", retrieved=("b",), coverage=0.5),
        outcome("3", verdict="abstained", evidence=(), coverage=1.0),
        outcome("4", verdict="failed"),
    ]
    summary = summarise(outcomes, HISTORY)
    assert (summary.questions, summary.correct, summary.wrong) == (4, 1, 1)
    assert (summary.abstained, summary.failed) == (1, 1)
    assert summary.answer_accuracy == pytest.approx(1 / 3)
    assert summary.evidence_recall_at_10 == 0.5  # question 3 has no evidence to find
    assert summary.context_coverage == 0.75
    assert set(summary.to_dict()["intervals"]) == {
        "evidence_recall_at_10",
        "context_coverage",
        "answer_accuracy",
    }


def test_nothing_measured_is_none_not_zero() -> None:
    summary = summarise([outcome("1", verdict="failed")], HISTORY)
    assert summary.answer_accuracy is None
    assert summary.evidence_recall_at_10 is None
    assert dict(summary.intervals) == {}


def test_differences_by_measure() -> None:
    base = [outcome("1", verdict="wrong", retrieved=("b",)), outcome("2", verdict="failed")]
    better = [outcome("1", retrieved=("a",), coverage=1.0), outcome("2")]
    found = differences(base, better, HISTORY)
    assert {name: d.mean for name, d in found.items()} == {
        "evidence_recall_at_10": 1.0,
        "context_coverage": 1.0,
        "answer_accuracy": 1.0,
    }
