"""Calls on threads: results in order, the model's failures as values, all else raised."""

import threading
import time

import dspy
import pytest
from dspy.utils.exceptions import AdapterParseError, LMError, LMRateLimitError
from hypothesis import given
from hypothesis import strategies as st

from memsteer.programs.parallel import Failure, attempt, run_parallel


class Asked(dspy.Signature):
    """Say something."""

    question: str = dspy.InputField()
    answer: str = dspy.OutputField()


def unreadable() -> str:
    raise AdapterParseError("ChatAdapter", Asked, "??", message="no such field\nsecond line")


def overloaded() -> str:
    raise LMRateLimitError("slow down", model="m")


def silent() -> str:
    raise LMError("", model="m")


def test_what_the_model_did_wrong_is_a_value() -> None:
    assert attempt(lambda: 3) == 3
    failed = attempt(unreadable)
    assert isinstance(failed, Failure)
    assert failed.reason == "malformed_output"
    assert "\n" not in failed.detail
    failed = attempt(overloaded)
    assert isinstance(failed, Failure)
    assert (failed.reason, "slow down" in failed.detail) == ("model_error", True)
    failed = attempt(silent)
    assert isinstance(failed, Failure)
    assert failed.detail


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
@pytest.mark.parametrize("threads", [1, 3])
def test_what_is_not_the_models_doing_is_raised(error: type[BaseException], threads: int) -> None:
    def call(n: int) -> int:
        if n == 1:
            raise error
        return n

    with pytest.raises(error):
        run_parallel(call, [(n,) for n in range(4)], threads)


def test_results_stand_in_the_order_of_the_arguments() -> None:
    def late_first(n: int) -> int:
        time.sleep(0.02 * (3 - n))
        return n

    assert run_parallel(late_first, [(n,) for n in range(4)], 4) == [0, 1, 2, 3]
    mixed = run_parallel(lambda n: n if n else unreadable(), [(1,), (0,), (2,)], 2)
    assert (mixed[0], mixed[2]) == (1, 2)
    assert isinstance(mixed[1], Failure)


def test_settings_reach_the_threads_and_one_thread_is_the_callers() -> None:
    def seen() -> tuple[object, int]:
        return dspy.settings.rollout_mark, threading.get_ident()

    with dspy.context(rollout_mark="here", num_threads=2):
        found = run_parallel(seen, [()] * 4)
        assert {mark for mark, _ in found} == {"here"}  # type: ignore[misc]
        assert threading.get_ident() not in {thread for _, thread in found}  # type: ignore[misc]
        alone = run_parallel(seen, [()] * 4, num_threads=1)
        assert {thread for _, thread in alone} == {threading.get_ident()}  # type: ignore[misc]


def test_no_arguments_no_results() -> None:
    assert run_parallel(lambda: 1, [], 4) == []


@given(st.lists(st.integers()), st.integers(1, 4))
def test_it_is_a_map(numbers: list[int], threads: int) -> None:
    assert run_parallel(lambda n: n + 1, [(n,) for n in numbers], threads) == [
        n + 1 for n in numbers
    ]
