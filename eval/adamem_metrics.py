"""The measures of AdaMem-Bench (arXiv 2606.21144), each as a pure function with its formula.

All are shares in 0..1, but memory volume, which counts memories. Judged rows are counted into a
`StoryCounts` a story; the pooled measures take the counts of all stories, and their intervals are
bootstrap intervals over stories. None stands for a figure that does not exist, never for zero.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from memsteer.eval.adamem_cover import THRESHOLD, covered

Attribution = Literal["right", "wrong", "nobody"]
Interval = tuple[float, float]


@dataclass(frozen=True)
class StoryCounts:
    """What is counted in one story of one run.

    `matched` are the distinct goldens that a judged memory matched. A run that keeps no memories
    (Full Context) has None in all fields but the first three.
    """

    story: int
    questions: int
    correct: int
    added: int | None = None
    judged: int | None = None
    in_golden: int | None = None
    matched: int | None = None
    goldens: int | None = None
    recalled: int | None = None


Metric = Callable[[Sequence[StoryCounts]], float | None]


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _sum(values: Iterable[int | None]) -> int | None:
    """The sum; None where one of the values does not exist."""
    total = 0
    for value in values:
        if value is None:
            return None
        total += value
    return total


def qa_accuracy(stories: Sequence[StoryCounts]) -> float | None:
    """Σ correct / Σ questions, pooled over stories (paper, Table 1)."""
    return _ratio(sum(s.correct for s in stories), sum(s.questions for s in stories))


def memory_volume(stories: Sequence[StoryCounts]) -> float | None:
    """Σ added / stories: memories written a story (paper, Table 2).

    Every item of `added` counts: of dialogue and of writeback, in all weeks, repeats included.
    """
    added = _sum(s.added for s in stories)
    return None if added is None else _ratio(added, len(stories))


def extraction_precision(stories: Sequence[StoryCounts]) -> float | None:
    """Σ in_golden / Σ judged, pooled over stories (reproduces the paper's Table 2).

    Writeback is included, and every memory that repeats one golden counts as a hit.
    """
    hits, judged = _sum(s.in_golden for s in stories), _sum(s.judged for s in stories)
    return None if hits is None or judged is None else _ratio(hits, judged)


def extraction_recall(stories: Sequence[StoryCounts]) -> float | None:
    """Mean over stories of (distinct goldens matched / the story's goldens), unweighted.

    Stories without a golden are left out. Reproduces the paper's Table 2, as precision does.
    """
    shares = []
    for story in stories:
        if story.matched is None or story.goldens is None:
            return None
        if story.goldens:
            shares.append(story.matched / story.goldens)
    return _ratio(sum(shares), len(shares))


def extraction_f1(stories: Sequence[StoryCounts]) -> float | None:
    """2 P R / (P + R) of the *pooled* precision and the *macro* recall (paper, Table 2).

    Neither a wholly pooled nor a wholly averaged F1 gives the paper's figures.
    """
    precision, recall = extraction_precision(stories), extraction_recall(stories)
    if precision is None or recall is None:
        return None
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def recall_at_5(stories: Sequence[StoryCounts]) -> float | None:
    """Σ questions whose target is retrieved at rank ≤ 5 / Σ all questions (paper, Table 2)."""
    recalled = _sum(s.recalled for s in stories)
    return None if recalled is None else _ratio(recalled, sum(s.questions for s in stories))


METRICS: dict[str, Metric] = {
    "qa_accuracy": qa_accuracy,
    "memory_volume": memory_volume,
    "extraction_f1": extraction_f1,
    "recall_at_5": recall_at_5,
}


@dataclass(frozen=True)
class Planned:
    """The facts planned for one session, and the memories that were written of its date."""

    date: date
    key_info: tuple[str, ...]
    noise_info: tuple[str, ...]
    memories: tuple[str, ...]


def key_recall(
    sessions: Iterable[Planned], person: Sequence[str] = (), threshold: float = THRESHOLD
) -> float | None:
    """Mean over sessions of (key facts covered / key facts planned) (paper, Table 3).

    A fact is covered by the memories of the session's date by the rule of `adamem_cover`, where
    the paper has a judge; `person` are the names of the history's own person. Sessions without a
    planned key fact are left out.
    """
    return _mean(_share(s.key_info, s, person, threshold) for s in sessions)


def noise_rejection(
    sessions: Iterable[Planned], person: Sequence[str] = (), threshold: float = THRESHOLD
) -> float | None:
    """Mean over sessions of (noise facts *not* covered / noise facts planned) (paper, Table 3).

    Covered is meant as in `key_recall`. Sessions without a planned noise fact are left out.
    """
    kept = _mean(_share(s.noise_info, s, person, threshold) for s in sessions)
    return None if kept is None else 1 - kept


def _share(
    facts: Sequence[str], session: Planned, person: Sequence[str], threshold: float
) -> float | None:
    hits = sum(covered(f, session.memories, session.date, person, threshold) for f in facts)
    return _ratio(hits, len(facts))


def _mean(values: Iterable[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return _ratio(sum(known), len(known))


def policy_alignment(verdicts: Iterable[int]) -> float | None:
    """Mean of verdict / 2 over people (paper, Figure 2b).

    A verdict says how well a learned rule matches what the person truly wants remembered of one
    of the people: 2 the same focus, 1 partly, 0 wrong, generic or missing. Pass a 0 for each of
    the people without a rule. Raises `ValueError` for any other verdict.
    """
    given = list(verdicts)
    if any(v not in (0, 1, 2) for v in given):
        raise ValueError(f"policy alignment: verdicts are 0, 1 or 2, not {given}")
    return _ratio(sum(given), 2 * len(given))


def wrong_person_share(labels: Iterable[Attribution]) -> float | None:
    """wrong / (right + wrong) over memories: those that ascribe their fact to another person.

    A label says whom a memory ascribes its fact to: the "right" person, a "wrong" one, or
    "nobody". The paper's artifacts hold no such labels, so the formula is ours; memories about
    nobody are left out, since no person could be wrong there. Raises `ValueError` for any other
    label.
    """
    given = list(labels)
    unknown = set(given) - {"right", "wrong", "nobody"}
    if unknown:
        raise ValueError(f"wrong-person share: unknown labels {sorted(unknown)}")
    return _ratio(given.count("wrong"), given.count("wrong") + given.count("right"))


def bootstrap_interval(
    stories: Sequence[StoryCounts],
    metric: Metric,
    level: float = 0.95,
    samples: int = 2000,
    seed: int = 0,
) -> Interval | None:
    """Percentile bootstrap interval of `metric` over stories (Efron 1979), seeded.

    `samples` times as many stories as there are get drawn with replacement and pooled by `metric`;
    the ends are the (1 ± level) / 2 quantiles, linearly interpolated. None for fewer than two
    stories, or where the metric has no figure. With few stories it is wide and rough: say so.
    """
    if len(stories) < 2:
        return None
    draw = random.Random(seed)
    drawn = (metric(draw.choices(stories, k=len(stories))) for _ in range(samples))
    values = sorted(v for v in drawn if v is not None)
    if not values:
        return None
    return _quantile(values, (1 - level) / 2), _quantile(values, (1 + level) / 2)


def _quantile(ordered: Sequence[float], share: float) -> float:
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])
