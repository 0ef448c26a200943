"""Measures of a memory program on questions: means, what they are means of, and how sure they are.

Pure functions over outcomes. A failed question (the model's side gave nothing usable) is left out
of every mean and counted apart.
"""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from typing import Any, NamedTuple

import numpy as np

from memsteer.optimizers.outcomes import Outcome
from memsteer.programs.records import History

FIRST = 10  # the k of `evidence_recall_at_10`
MEASURES = ("evidence_recall_at_10", "context_coverage", "answer_accuracy")


class Interval(NamedTuple):
    """Both ends of a 95 % interval."""

    low: float
    high: float


@dataclass(frozen=True)
class Summary:
    """How a program did. Means are fractions 0 to 1, None where nothing could be measured.

    `questions` counts all; `correct + wrong + abstained + failed` is the same number. `intervals`
    has an entry for each measure that has a mean.
    """

    questions: int
    evidence_recall_at_10: float | None
    context_coverage: float | None
    answer_accuracy: float | None
    correct: int
    wrong: int
    abstained: int
    failed: int
    intervals: Mapping[str, Interval]

    def to_dict(self) -> dict[str, Any]:
        return {**vars(self), "intervals": {k: list(v) for k, v in self.intervals.items()}}


@dataclass(frozen=True)
class Difference:
    """What `optimised - base` is on the questions that both answered, with its 95 % interval."""

    mean: float
    interval: Interval

    def to_dict(self) -> dict[str, Any]:
        return {"mean": self.mean, "interval": list(self.interval)}


def mean(values: Sequence[float]) -> float | None:
    """sum / n, summed exactly so that the order of the values is of no account; None for none."""
    return fsum(values) / len(values) if values else None


def evidence_recall_at_k(
    outcome: Outcome, k: int, corpus: Container[str] | None = None
) -> float | None:
    """|E ∩ first k distinct records| / |E|, E the gold evidence records; None for an empty E.

    Evidence recall as in MemSteer (section 4.1) and LongMemEval: units are unrolled to records in
    order and then cut, so that a large unit gains nothing. Evidence outside `corpus` (all of it
    is inside by default) is left out of E: no design could find it.
    """
    gold = {e for e in outcome.evidence if corpus is None or e in corpus}
    if not gold:
        return None
    first = list(dict.fromkeys(outcome.retrieved))[:k]
    return len(gold.intersection(first)) / len(gold)


def bootstrap_interval(
    values: Sequence[float], *, resamples: int = 2000, seed: int = 0
) -> Interval | None:
    """The percentile bootstrap interval of the mean (Efron 1979), 95 %; None for no values.

    n values are drawn with replacement `resamples` times; the interval spans the 2.5th to the
    97.5th percentile of the means. Equal arguments give equal intervals.
    """
    if not values:
        return None
    drawn = np.random.default_rng(seed).integers(len(values), size=(resamples, len(values)))
    means = np.asarray(values, dtype=np.float64)[drawn].mean(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return Interval(float(low), float(high))


def paired_difference(
    base: Mapping[str, float], optimized: Mapping[str, float], *, seed: int = 0
) -> Difference | None:
    """Mean of `optimized[q] - base[q]` over the questions q in both, by paired bootstrap.

    Questions are drawn, not answers (Efron and Tibshirani 1993, chapter 16): what makes a question
    hard for both programs cancels out.
    """
    shared = [q for q in base if q in optimized]
    gains = [optimized[q] - base[q] for q in shared]
    average, interval = mean(gains), bootstrap_interval(gains, seed=seed)
    return Difference(average, interval) if average is not None and interval else None


def measured(outcomes: Sequence[Outcome], history: History) -> dict[str, dict[str, float]]:
    """For each of `MEASURES`, its value by question id, where the question has one.

    recall@10 and coverage need evidence in the corpus; accuracy is 1 for correct, else 0.
    """
    values: dict[str, dict[str, float]] = {name: {} for name in MEASURES}
    for outcome in outcomes:
        if outcome.verdict == "failed":
            continue
        recall = evidence_recall_at_k(outcome, FIRST, history.by_id)
        if recall is not None:
            values["evidence_recall_at_10"][outcome.id] = recall
            values["context_coverage"][outcome.id] = outcome.coverage
        values["answer_accuracy"][outcome.id] = float(outcome.verdict == "correct")
    return values


def summarise(outcomes: Sequence[Outcome], history: History, *, seed: int = 0) -> Summary:
    """Means with intervals, and counts of the four verdicts."""
    values = {name: list(v.values()) for name, v in measured(outcomes, history).items()}
    verdicts = [o.verdict for o in outcomes]
    intervals = {name: bootstrap_interval(v, seed=seed) for name, v in values.items()}
    return Summary(
        questions=len(outcomes),
        evidence_recall_at_10=mean(values["evidence_recall_at_10"]),
        context_coverage=mean(values["context_coverage"]),
        answer_accuracy=mean(values["answer_accuracy"]),
        correct=verdicts.count("correct"),
        wrong=verdicts.count("wrong"),
        abstained=verdicts.count("abstained"),
        failed=verdicts.count("failed"),
        intervals={name: i for name, i in intervals.items() if i is not None},
    )


def differences(
    base: Sequence[Outcome], optimized: Sequence[Outcome], history: History, *, seed: int = 0
) -> dict[str, Difference]:
    """The paired difference of each measure that both programs have."""
    before, after = measured(base, history), measured(optimized, history)
    found = {name: paired_difference(before[name], after[name], seed=seed) for name in MEASURES}
    return {name: d for name, d in found.items() if d is not None}
