"""The paid-call ledger: no answer is paid for twice, and no run pays beyond its budget.

`Ledger.record(lm)` gives an LM of the same name whose every answer is written to one file, a line
a call, before anybody sees it. A run that was stopped, or killed, is started again on the same
file: what was answered is replayed, and only the missing calls are made.

An answer is found again by the hash of its request (model, messages, tools, settings) and of the
sample asked for (`rollout_id`, `n`). Like DSPy's own cache, it does not look at the endpoint: two
endpoints need two model names or two ledgers. The inner LM's DSPy cache is not used: a hit there
would be an answer without a price, and the ledger does its work.
"""

import fcntl
import json
import threading
from dataclasses import dataclass
from io import FileIO
from math import fsum
from pathlib import Path
from typing import Self

import dspy
from dspy._vendor.lm15.serde import response_from_dict, response_to_dict

from memsteer.programs.recorded import Call, ask, is_free, recorded, request_key

_LINE_START = b'{"key": "'  # how each line begins; a torn last line is a prefix of such a line


class LedgerError(RuntimeError):
    """A ledger that cannot be opened, read or written: one line that says which file and why."""


class BudgetExhausted(BaseException):
    """The next call would go beyond the budget; the ledger's file lets the run go on later.

    Not an `Exception`: DSPy wraps those of an engine as `LMUnexpectedError`, and `Evaluate`,
    `Parallel` and the optimizers turn them into failed examples and go on. Like
    `KeyboardInterrupt` this one passes through all of them, as itself, to whoever runs the run.
    """


@dataclass(frozen=True)
class Budget:
    """The most that may be paid over the life of a ledger's file; None is no limit.

    `usd` can be overrun by the calls that run at the same time when it is spent.
    """

    calls: int | None = None
    usd: float | None = None

    def __post_init__(self) -> None:
        if (self.calls or 0) < 0 or (self.usd or 0) < 0:
            raise ValueError(f"a budget cannot be negative: {self}")


@dataclass(frozen=True)
class Usage:
    """Calls, tokens, US dollars (None: not known for all of them), seconds; failed calls."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0
    failures: int = 0

    def __sub__(self, earlier: "Usage") -> "Usage":
        """What was used since `earlier`."""
        return Usage(
            calls=self.calls - earlier.calls,
            prompt_tokens=self.prompt_tokens - earlier.prompt_tokens,
            completion_tokens=self.completion_tokens - earlier.completion_tokens,
            usd=None if self.usd is None or earlier.usd is None else self.usd - earlier.usd,
            seconds=self.seconds - earlier.seconds,
            failures=self.failures - earlier.failures,
        )


class Ledger:
    """Answers by request, on disk as they are paid for; one process at a time holds a file.

    `path=None` keeps them in memory. Safe for threads. Close it, or use it in a `with` block.
    """

    def __init__(self, path: Path | None, budget: Budget = Budget()) -> None:
        self.budget = budget
        self.fresh_calls = 0
        self._failures = 0
        self._answers: dict[str, Call] = {}
        self._touched: set[str] = set()
        self._in_flight: set[str] = set()
        self._changed = threading.Condition()  # guards all of the above
        self._path = path
        self._fault = ""  # why nothing can be written any more
        self._file = None if path is None else _open_locked(path)
        if self._file is not None:
            try:
                self._load(self._file)
            except BaseException:
                self._file.close()  # or the lock would outlive the refusal
                raise

    def record(self, inner: dspy.LM) -> dspy.LM:
        """An LM of the same name and settings whose answers go through this ledger."""
        return recorded(inner, self.complete)

    @property
    def usage(self) -> Usage:
        """Over the distinct answers given in this process, fresh or replayed.

        So a run that was resumed reports what an unbroken one would; `failures` alone counts
        this process only.
        """
        with self._changed:
            answers = [self._answers[key] for key in self._touched]
            prices = [a.usd for a in answers if a.usd is not None]
            return Usage(
                calls=len(answers),
                prompt_tokens=sum(a.prompt_tokens for a in answers),
                completion_tokens=sum(a.completion_tokens for a in answers),
                # fsum rounds the same in whatever order the calls came.
                usd=fsum(prices) if len(prices) == len(answers) else None,
                seconds=fsum(a.seconds for a in answers),
                failures=self._failures,
            )

    def complete(self, inner: dspy.LM, request: dspy.lm15.Request) -> dspy.lm15.Response:
        """The recorded answer to `request`, or else that of `inner`, recorded before it returns.

        Raises BudgetExhausted, LedgerError, or whatever `inner` raises.
        """
        key = request_key(request)
        with self._changed:
            self._changed.wait_for(lambda: key not in self._in_flight)
            if key in self._answers:
                self._touched.add(key)
                return self._answers[key].response
            self._admit(inner.model)
            self._in_flight.add(key)
        try:
            call = ask(inner, request)
            with self._changed:
                self._append(key, call)
        except Exception:
            with self._changed:
                self._failures += 1
            raise
        finally:
            with self._changed:
                self._in_flight.discard(key)
                self._changed.notify_all()
        return call.response

    def close(self) -> None:
        """Wait for the calls that run (they are paid for), then let the file go."""
        with self._changed:
            self._fault = self._fault or f"the ledger {self._path or 'in memory'} is closed"
            self._changed.wait_for(lambda: not self._in_flight)
            if self._file is not None:
                self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def _load(self, file: FileIO) -> None:
        *lines, torn = file.readall().split(b"\n")
        for number, line in enumerate(lines, 1):
            try:
                key, call = _from_line(line)
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                reason = f"not a line of a ledger ({error})"
                raise LedgerError(f"{self._path}, line {number}: {reason}") from error
            self._answers[key] = call
        start = torn[: len(_LINE_START)]
        if not _LINE_START.startswith(start):  # some other file: cutting it would destroy it
            raise LedgerError(f"{self._path}, line {len(lines) + 1}: not a line of a ledger")
        if torn:  # a run died while it wrote; nobody has seen that answer
            file.truncate(file.tell() - len(torn))

    def _admit(self, model: str) -> None:
        """Refuse the next call if it would go beyond the budget or could not be recorded."""
        if self._fault:
            raise LedgerError(self._fault)
        calls, usd = self.budget.calls, self.budget.usd
        if calls is not None and len(self._answers) + len(self._in_flight) >= calls:
            raise BudgetExhausted(f"the budget of {calls} LM calls is spent")
        if usd is None or is_free(model):
            return
        if unknown := {a.model for a in self._answers.values() if a.usd is None}:
            reason = f"the price of {min(unknown)} is not known"
            raise BudgetExhausted(f"{reason}, so a budget in USD cannot be kept: set one in calls")
        spent = fsum(answer.usd or 0.0 for answer in self._answers.values())
        if spent >= usd:
            raise BudgetExhausted(f"the budget of {usd:g} USD is spent ({spent:.4f} USD)")

    def _append(self, key: str, call: Call) -> None:
        line = _to_line(key, call)
        try:
            # One unbuffered write: once it returned, the line outlives this process.
            if self._file is not None and self._file.write(line) != len(line):
                raise OSError("the disk is full")
        except OSError as error:
            self._fault = f"cannot write the ledger {self._path}: {error}"  # pay for no more
            raise LedgerError(self._fault) from error
        self._answers[key] = call
        self._touched.add(key)
        self.fresh_calls += 1


def _open_locked(path: Path) -> FileIO:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = FileIO(path, "a+")
    except OSError as error:
        raise LedgerError(f"cannot open the ledger {path}: {error.strerror}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        raise LedgerError(f"another run is using {path}") from None
    file.seek(0)
    return file


def _to_line(key: str, call: Call) -> bytes:
    response = response_to_dict(call.response, include_provider_data=True)
    return json.dumps({"key": key, **vars(call), "response": response}).encode() + b"\n"


def _from_line(line: bytes) -> tuple[str, Call]:
    """Raises ValueError, TypeError, KeyError or AttributeError if the line is none of ours."""
    row = json.loads(line)
    key = row.pop("key")
    call = Call(**{**row, "response": response_from_dict(row["response"])})
    fsum((call.prompt_tokens, call.completion_tokens, call.usd or 0.0, call.seconds))
    return key, call
