"""What a stretch of work asked of its LMs, whichever they are: calls and tokens."""

from collections.abc import Iterator
from contextlib import contextmanager

import dspy

from memsteer.programs.ledger import Usage


class Meter:
    """Filled while `metered` is open; `usage` can be read at any time.

    DSPy's usage tracker knows no prices: `usd` is None. A ledger knows them.
    """

    def __init__(self, tracker: dspy.utils.usage_tracker.UsageTracker) -> None:
        self._tracker = tracker

    @property
    def usage(self) -> Usage:
        entries = [e for model in list(self._tracker.usage_data.values()) for e in model]
        return Usage(
            calls=len(entries),
            prompt_tokens=sum(e.get("prompt_tokens") or 0 for e in entries),
            completion_tokens=sum(e.get("completion_tokens") or 0 for e in entries),
            usd=None,
        )


@contextmanager
def metered() -> Iterator[Meter]:
    """Count the LM calls made inside, in this thread and those of `run_parallel`."""
    with dspy.track_usage() as tracker:
        yield Meter(tracker)
