"""Knobs: Optuna sets a design's numbers by free evidence screening.

Because supervision carries evidence, a design can be scored without an LM call: what share of the
evidence do its context and its first ten records hold? Only the best are paid for with answers.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import dspy
import optuna
from optuna.samplers import TPESampler

from memsteer.optimizers.outcomes import context_coverage, evidence_ids, source_ranking
from memsteer.programs.design import MemoryDesign, active_knobs
from memsteer.programs.memory import MemoryProgram
from memsteer.programs.retrieval import Query

Screen = Callable[[MemoryDesign], float]
_FIRST = 10


@dataclass(frozen=True)
class Screened:
    """A design with its screening score, 0 to 1."""

    design: MemoryDesign
    score: float


def make_screen(
    program: MemoryProgram, examples: Sequence[dspy.Example], queries: Sequence[Query]
) -> Screen:
    """A function that scores a design on `examples` without LM calls.

    The score is the mean over examples of half context coverage, half evidence recall@10.
    Coverage is what answers need; recall@10 tells designs apart that fill the context alike.
    """
    scratch = program.deepcopy()
    known: dict[str, float] = {}

    def screen(design: MemoryDesign) -> float:
        if design.key not in known:
            scratch.memory_design.value = design
            scratch.index.prepare(queries, design.retrieval)
            known[design.key] = sum(map(_one, examples, queries)) / len(examples)
        return known[design.key]

    def _one(example: dspy.Example, query: Query) -> float:
        retrieved, context = scratch.recall(query)
        corpus = scratch.index.corpus(scratch.design.store)
        first = set(source_ranking(retrieved[:_FIRST], corpus)[:_FIRST])
        wanted = evidence_ids(example)
        recall = sum(i in first for i in wanted) / len(wanted) if wanted else 1.0
        return 0.5 * context_coverage(context, example, scratch) + 0.5 * recall

    return screen


def tune(design: MemoryDesign, screen: Screen, *, trials: int, seed: int) -> Screened:
    """The best of `design` and `trials` settings of its active knobs, by `screen`.

    The design's own numbers are the first trial; ties keep the earlier one.
    """
    best = Screened(design, screen(design))
    knobs = active_knobs(design)
    if not knobs:
        return best
    with _quiet():
        study = optuna.create_study(
            direction="maximize",
            sampler=TPESampler(seed=seed, multivariate=True),
        )
        study.enqueue_trial({k.path: design.flat[k.path] for k in knobs})
        for _ in range(trials):
            trial = study.ask()
            values = {
                k.path: trial.suggest_int(k.path, int(k.low), int(k.high))
                if k.integer
                else round(trial.suggest_float(k.path, k.low, k.high), 3)
                for k in knobs
            }
            candidate = design.changed(values)
            score = screen(candidate)
            trial.set_user_attr("design", candidate.key)
            study.tell(trial, score)
            if score > best.score:
                best = Screened(candidate, score)
    return best


@contextmanager
def _quiet() -> Iterator[None]:
    """Optuna's own log lines off, and back as they were: the setting is the user's."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)
