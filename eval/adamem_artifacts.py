"""AdaMem's released runs, read and counted: `exp/paper/<method>/<extractor>/<feedback>/story_N/`.

Of a story are read `qa_records.json`, `extracted_memories.jsonl`, `extraction_judged.jsonl` and
`recall_judged.jsonl`. A run whose stories hold no add call and no `extraction_judged.jsonl` keeps
no memories (Full Context): it has no figure of memories, and its judged "recall", which is a
search over whole sessions, is not one of retrieval from a memory. Any other missing or broken
file is a `HistoryError`. A null stands for "no": an answer without a verdict is not right, a target
without a rank not among the first five, an add call that failed added nothing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memsteer.eval.adamem_metrics import StoryCounts
from memsteer.eval.sources import parse_object, read_objects, read_text
from memsteer.programs.records import HistoryError

_STORY = re.compile(r"story_(\d+)")
_WEEK = re.compile(r"week\d+\.json")


@dataclass(frozen=True)
class Run:
    """One cell of the paper's tables: a method, its extractor and feedback, and its stories."""

    method: str
    extractor: str
    feedback: str
    stories: tuple[StoryCounts, ...]


def read_runs(artifacts: Path) -> tuple[Run, ...]:
    """The runs below `artifacts`/exp/paper, by folder name. Raises `HistoryError`."""
    root = artifacts / "exp" / "paper"
    if not root.is_dir():
        raise HistoryError(f"{artifacts}: has no folder 'exp/paper'; give the artifacts' folder")
    goldens = _Goldens(artifacts)
    runs = []
    for folder in sorted(p for p in root.glob("*/*/*") if p.is_dir()):
        matches = ((_STORY.fullmatch(p.name), p) for p in folder.iterdir() if p.is_dir())
        numbered = sorted((int(m[1]), p) for m, p in matches if m)
        if numbered:
            stories = tuple(count_story(n, path, goldens) for n, path in numbered)
            method, extractor, feedback = folder.relative_to(root).parts
            runs.append(Run(method, extractor, feedback, stories))
    if not runs:
        raise HistoryError(f"{root}: holds no <method>/<extractor>/<feedback>/story_N")
    return tuple(runs)


class _Goldens:
    """How many goldens a story has: by its weeks' data, else as its judge noted it."""

    def __init__(self, artifacts: Path) -> None:
        self._data = artifacts / "data" / "scaling"
        self._known: dict[int, int] = {}

    def count(self, story: int, run: Path) -> int:
        folder = self._data / f"story_{story}"
        if story not in self._known and folder.is_dir():
            weeks = sorted(p for p in folder.iterdir() if _WEEK.fullmatch(p.name))
            if weeks:
                self._known[story] = sum(self._week(path) for path in weeks)
        if story in self._known:
            return self._known[story]
        path = run / "judge_done.json"
        return _whole(str(path), parse_object(str(path), read_text(path)), "golden_pool_size")

    @staticmethod
    def _week(path: Path) -> int:
        rows = _list(str(path), parse_object(str(path), read_text(path)), "conversations")
        return sum(
            len(_list(f"{path}, conversations {i}", _object(path, i, row), "golden_memories"))
            for i, row in enumerate(rows)
        )


def count_story(number: int, folder: Path, goldens: _Goldens) -> StoryCounts:
    """The counts of one story's run."""
    path = folder / "qa_records.json"
    records = _list(str(path), parse_object(str(path), read_text(path)), "qa_records")
    questions = [_object(path, i, row) for i, row in enumerate(records)]
    correct = sum(_flag(f"{path}, row {i}", row, "correct") for i, row in enumerate(questions))
    added = [
        0 if row.get("added", ()) is None else len(_list(place, row, "added"))
        for place, row in read_objects(folder / "extracted_memories.jsonl")
    ]
    judged_path = folder / "extraction_judged.jsonl"
    if not added and not judged_path.exists():
        return StoryCounts(number, len(questions), correct)
    judged = list(read_objects(judged_path))
    matched = list(_matched(judged))
    return StoryCounts(
        story=number,
        questions=len(questions),
        correct=correct,
        added=sum(added),
        judged=len(judged),
        in_golden=len(matched),
        matched=len(set(matched) - {None}),
        goldens=goldens.count(number, folder),
        recalled=len(set(_recalled(folder / "recall_judged.jsonl"))),
    )


def _matched(judged: list[tuple[str, Mapping[str, Any]]]) -> Iterator[int | None]:
    """The golden of each judged memory that is in the goldens; None where none is named."""
    for place, row in judged:
        if _flag(place, row, "is_in_golden"):
            index = row.get("matched_golden_global_index")
            yield None if index is None else _whole(place, row, "matched_golden_global_index")


def _recalled(path: Path) -> Iterator[str]:
    """The questions whose target was retrieved at rank 5 or better."""
    for place, row in read_objects(path):
        if not _flag(place, row, "target_in_recall") or row.get("target_rank") is None:
            continue
        if _whole(place, row, "target_rank") <= 5:
            identity = row.get("question_id")
            if not isinstance(identity, str):
                raise HistoryError(f"{place}, field 'question_id': {identity!r} is not a string")
            yield identity


def _object(path: Path, index: int, row: object) -> Mapping[str, Any]:
    if not isinstance(row, Mapping):
        raise HistoryError(f"{path}, row {index}: is a {type(row).__name__}, not an object")
    return row


def _list(place: str, row: Mapping[str, Any], name: str) -> list[Any]:
    value = row.get(name)
    if not isinstance(value, list):
        raise HistoryError(f"{place}, field {name!r}: is no list")
    return value


def _flag(place: str, row: Mapping[str, Any], name: str) -> bool:
    value = row.get(name, "nothing")
    if value is not None and not isinstance(value, bool):
        raise HistoryError(f"{place}, field {name!r}: {value!r} is not true or false")
    return bool(value)


def _whole(place: str, row: Mapping[str, Any], name: str) -> int:
    value = row.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise HistoryError(f"{place}, field {name!r}: {value!r} is not a whole number")
    return value
