"""A run's folder: which run it holds, and its files.

`calls.jsonl` (the ledger) is all that a resumed run needs. The pipeline is deterministic, so the
other files are written anew each time, and come out the same.
"""

import fcntl
import json
import threading
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memsteer.eval.config import ConfigError, RunConfig, first_difference
from memsteer.optimizers.outcomes import Outcome

FILES = (
    "calls.jsonl",
    "config.json",
    "design.json",
    "journal.jsonl",
    "outcomes_base.jsonl",
    "outcomes_optimized.jsonl",
    "program.json",
    "rejects.jsonl",
    "report.html",
    "report.md",
    "result.json",
    "supervision.jsonl",
)
_RETRIEVED_KEPT = 20


def prepare(config: RunConfig, digests: Mapping[str, str]) -> Path:
    """The run's folder, made if need be; `--fresh` clears it of an earlier run.

    Raises `ConfigError` if the folder holds a run of another configuration or on other data, or
    files of these names that no run wrote.
    """
    folder = Path(config.out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"--out {folder}: cannot be made ({error.strerror})") from error
    held = [name for name in FILES if name != "calls.jsonl" and (folder / name).exists()]
    if held and "config.json" not in held:
        # No run of ours: somebody's own report or design, which is not ours to write over.
        raise ConfigError(f"--out {folder}: holds {held[0]} but no run; give another folder")
    if config.fresh:
        _clear(folder)
    elif (folder / "config.json").exists():
        _compare(folder, config, digests)
    return folder


def begin(folder: Path, config: RunConfig, digests: Mapping[str, str]) -> None:
    """Note which run the folder holds, and drop what an earlier start left but for its calls.

    To be called once the ledger is ours.
    """
    for name in FILES:
        if name not in ("calls.jsonl", "config.json"):
            (folder / name).unlink(missing_ok=True)
    row = {**config.model_dump(exclude={"fresh"}), "digests": dict(digests)}
    write_json(folder / "config.json", row)


def _compare(folder: Path, config: RunConfig, digests: Mapping[str, str]) -> None:
    path = folder / "config.json"
    try:
        row = json.loads(path.read_text(encoding="utf-8"))
        held = row.pop("digests")
        old = RunConfig(**row)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: is not a run's configuration; use --fresh") from error
    found = first_difference(old.compared, config.compared)
    if found:
        name, was, now = found
        said = f"{was!r} there, {now!r} now"
    elif differing := first_difference(held, digests):
        name, said = differing[0], "its content has changed since"
    else:
        return
    raise ConfigError(
        f"{folder}: holds another run, field {name!r}: {said}; "
        "give another --out, or --fresh to discard it"
    )


def _clear(folder: Path) -> None:
    ledger = folder / "calls.jsonl"
    if ledger.exists():
        with ledger.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ConfigError(f"{folder}: another run is using it") from None
    for name in FILES:
        (folder / name).unlink(missing_ok=True)


def write_json(path: Path, value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2)
    partial = path.with_suffix(".part")
    partial.write_text(text + "\n", encoding="utf-8")
    partial.replace(path)  # whole or not at all


def write_outcomes(path: Path, outcomes: Iterable[Outcome]) -> None:
    """One line a question."""
    rows = (json.dumps(_outcome_row(o), ensure_ascii=False) + "\n" for o in outcomes)
    path.write_text("".join(rows), encoding="utf-8")


def _outcome_row(outcome: Outcome) -> dict[str, Any]:
    return {**vars(outcome), "retrieved": outcome.retrieved[:_RETRIEVED_KEPT]}


class Journal:
    """Events of this process, a line each with the time, flushed as they happen."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        path.write_text("", encoding="utf-8")

    def __call__(self, event: str, data: Mapping[str, Any]) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"time": now, "event": event, **data}, ensure_ascii=False, default=str)
        with self._lock, self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
