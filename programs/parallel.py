"""Running role calls on threads, in order, with failures as values.

One failed item never ends a run; what must end it (a spent budget, an interrupt, a programming
error) does.
"""

import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import dspy
from dspy.utils.exceptions import AdapterParseError, LMError

T = TypeVar("T")


@dataclass(frozen=True)
class Failure:
    """A call that gave no usable answer: neither right nor wrong."""

    reason: str
    detail: str


def attempt(call: Callable[..., T], *args: Any) -> T | Failure:
    """`call(*args)`, or the `Failure` that the model's side caused.

    What is not the model's doing passes: `BudgetExhausted`, interrupts, errors of our own.
    """
    try:
        return call(*args)
    except AdapterParseError as error:
        return Failure("malformed_output", _first_line(error))
    except LMError as error:
        return Failure("model_error", _first_line(error))


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]


def run_parallel(
    call: Callable[..., T], arguments: Sequence[tuple[Any, ...]], num_threads: int | None = None
) -> list[T | Failure]:
    """`attempt(call, *a)` for each of `arguments`, results in their order.

    DSPy's settings reach the threads: each call runs in a copy of the caller's context.
    """
    threads = num_threads or dspy.settings.num_threads or 1
    if threads == 1 or len(arguments) < 2:
        return [attempt(call, *a) for a in arguments]
    with ThreadPoolExecutor(max_workers=threads) as pool:
        futures = [
            pool.submit(contextvars.copy_context().run, attempt, call, *a) for a in arguments
        ]
        try:
            return [future.result() for future in futures]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
