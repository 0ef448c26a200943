"""Knobs: the free screen worked out by hand, and what Optuna may and may not touch."""

from typing import Any

import dspy
import optuna
import pytest
from design_space import designs
from hypothesis import given, settings
from pets import BASE, TRAIN, example, program

from memsteer.optimizers.knobs import make_screen, tune
from memsteer.programs.design import KNOBS, MemoryDesign, active_knobs
from memsteer.programs.retrieval import Query

QUERIES = [Query(e.question) for e in TRAIN]


def test_the_screen_is_half_coverage_and_half_recall_at_10() -> None:
    screen = make_screen(program(), TRAIN, QUERIES)
    # The evidence is not in the context, but all ten records are among the first ten.
    assert screen(BASE) == 0.5
    assert screen(BASE.changed({"retrieval.dense_weight": 1})) == 1
    asked = [example("x?", "kitten", evidence=["r0", "r7"])]
    # Half is shown; both are among the first ten.
    assert make_screen(program(), asked, [Query("x?")])(BASE) == 0.5 * 0.5 + 0.5 * 1
    assert make_screen(program(), [dspy.Example(question="x?")], [Query("x?")])(BASE) == 1


def test_the_screen_asks_no_lm_and_leaves_the_program() -> None:
    held = program()
    with dspy.context(lm=None):
        make_screen(held, TRAIN, QUERIES)(BASE.changed({"retrieval.hyde": 1}))
    assert held.design == BASE


def test_a_design_is_screened_once() -> None:
    held = program()
    screen = make_screen(held, TRAIN, QUERIES)
    assert screen(BASE) == 0.5
    held.index._stores.clear()
    assert screen(BASE) == 0.5
    assert held.index._stores == {}  # nothing was searched again


def peak(design: MemoryDesign) -> float:
    """Best at k = 37."""
    return 1 - abs(design.retrieval.k - 37) / 60


def test_tuning_finds_a_better_number() -> None:
    found = tune(BASE, peak, trials=40, seed=0)
    assert abs(found.design.retrieval.k - 37) <= 3
    assert found.score == peak(found.design)
    # Only active knobs moved: the weight of text, which is on, and k.
    assert set(BASE.differences(found.design)) <= {"retrieval.k", "retrieval.text_weight"}


def test_ties_keep_the_design_as_it_is() -> None:
    assert tune(BASE, lambda _: 0.5, trials=10, seed=0).design == BASE
    assert tune(BASE, peak, trials=0, seed=0).design == BASE


def test_the_designs_own_numbers_are_the_first_trial() -> None:
    seen: list[MemoryDesign] = []

    def screen(design: MemoryDesign) -> float:
        seen.append(design)
        return 0.0

    tune(BASE, screen, trials=3, seed=0)
    assert len(seen) == 4
    assert seen[0] == seen[1] == BASE


def test_tuning_repeats_by_seed() -> None:
    def draws(seed: int) -> list[str]:
        seen: list[str] = []

        def screen(design: MemoryDesign) -> float:
            seen.append(design.key)
            return peak(design)

        tune(BASE, screen, trials=12, seed=seed)
        return seen

    assert draws(3) == draws(3)
    assert draws(3) != draws(4)


def test_optunas_verbosity_is_left_as_it_was() -> None:
    before = optuna.logging.get_verbosity()
    tune(BASE, peak, trials=1, seed=0)
    assert optuna.logging.get_verbosity() == before

    def broken(design: MemoryDesign) -> float:
        if design != BASE:
            raise ZeroDivisionError
        return 0.0

    with pytest.raises(ZeroDivisionError):
        tune(BASE, broken, trials=20, seed=0)
    assert optuna.logging.get_verbosity() == before


@settings(max_examples=15)
@given(designs())
def test_every_trial_stays_in_range_and_changes_active_knobs_alone(design: MemoryDesign) -> None:
    seen: list[MemoryDesign] = []

    def screen(tried: MemoryDesign) -> float:
        seen.append(tried)
        return float(len(seen))

    tune(design, screen, trials=3, seed=0)
    active = {k.path for k in active_knobs(design)}
    ranges: dict[str, Any] = {k.path: (k.low, k.high) for k in KNOBS}
    for tried in seen:
        assert set(design.differences(tried)) <= active
        for path in active:
            low, high = ranges[path]
            assert low <= tried.flat[path] <= high
