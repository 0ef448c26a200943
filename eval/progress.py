"""What a run tells people while it works: stages, items, calls and cost, on a text stream."""

import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol, Self, TextIO

_STILL_ALIVE = 30.0  # seconds after which a line is repeated though nothing moved


class Meterlike(Protocol):
    """What the progress line shows of a usage."""

    @property
    def calls(self) -> int: ...
    @property
    def usd(self) -> float | None: ...


class Reporter(Protocol):
    """Where a run tells how far it is."""

    def note(self, line: str) -> None:
        """Something worth a line of its own."""

    def stage(self, name: str) -> None:
        """A new stage begins."""

    def progress(self, what: str, done: int, total: int) -> None:
        """`done` of `total` items, which are `what`."""

    def watch(self, usage: Callable[[], Meterlike]) -> None:
        """Where to read calls and cost from, at any time."""


class Silent:
    """Tells nothing."""

    def note(self, line: str) -> None: ...
    def stage(self, name: str) -> None: ...
    def progress(self, what: str, done: int, total: int) -> None: ...
    def watch(self, usage: Callable[[], Meterlike]) -> None: ...


class StreamReporter:
    """One line that is rewritten on a terminal; elsewhere a plain line every `every` seconds.

    A thread redraws it, so that calls and cost move between two items. Use in a `with` block.
    """

    def __init__(self, stream: TextIO | None = None, every: float | None = None) -> None:
        self._stream = stream or sys.stderr
        self._live = self._stream.isatty()
        self._every = every if every is not None else 0.3 if self._live else 5.0
        self._usage: Callable[[], Meterlike] | None = None
        self._stage = self._items = self._shown = ""
        self._started = self._at = time.monotonic()
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._tick, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._ended.set()
        self._thread.join()
        with self._lock:
            self._wipe()

    def note(self, line: str) -> None:
        with self._lock:
            self._wipe()
            self._stream.write(line + "\n")
            self._stream.flush()

    def stage(self, name: str) -> None:
        with self._lock:
            self._stage, self._items = name, ""

    def progress(self, what: str, done: int, total: int) -> None:
        with self._lock:
            self._items = f"{done}/{total} {what}" if total else f"{done} {what}"

    def watch(self, usage: Callable[[], Meterlike]) -> None:
        self._usage = usage

    def _tick(self) -> None:
        while not self._ended.wait(self._every):
            line = self._line()  # outside the lock: the ledger has its own
            now = time.monotonic()
            with self._lock:
                if not self._stage:
                    continue
                if not self._live and line == self._shown and now - self._at < _STILL_ALIVE:
                    continue
                self._wipe()
                self._stream.write(line + self._clock() + ("" if self._live else "\n"))
                self._stream.flush()
                self._shown, self._at = line, now

    def _line(self) -> str:
        parts = [self._items] if self._items else []
        if self._usage:
            usage: Any = self._usage()
            parts.append(f"{usage.calls} calls")
            parts.append("cost unknown" if usage.usd is None else f"{usage.usd:.2f} USD")
        return f"{self._stage}: {', '.join(parts)}"

    def _clock(self) -> str:
        seconds = int(time.monotonic() - self._started)
        return f" [{seconds // 60}:{seconds % 60:02d}]"

    def _wipe(self) -> None:
        if self._live and self._shown:
            self._stream.write("\r\x1b[K")
            self._shown = ""
