"""Tables 1 and 2 of the AdaMem paper, recomputed from the released artifacts alone.

`recompute` counts each story of each run (`adamem_artifacts`) and pools the counts by the formulas
of `adamem_metrics`. Table 1 is QA accuracy for every method; Table 2 adds what only methods that
keep memories have: volume, extraction F1, Recall@5. Shares are percentages here; None where a
method has no such figure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memsteer.eval.adamem_artifacts import Run, read_runs
from memsteer.eval.adamem_metrics import (
    METRICS,
    Interval,
    StoryCounts,
    bootstrap_interval,
)

_HEADS = {
    "qa_accuracy": "QA accuracy",
    "memory_volume": "memory volume",
    "extraction_f1": "extraction F1",
    "recall_at_5": "Recall@5",
}


@dataclass(frozen=True)
class Figure:
    """A value pooled over stories, its value in each story, and the interval over stories."""

    pooled: float | None
    by_story: Mapping[int, float | None]
    interval: Interval | None


@dataclass(frozen=True)
class Cell:
    """The figures of one run, by the names of `METRICS`: percentages, volume in memories."""

    method: str
    extractor: str
    feedback: str
    figures: Mapping[str, Figure]


@dataclass(frozen=True)
class Tables:
    """All cells, the numbers of the stories found, and what is uneven among the cells."""

    stories: tuple[int, ...]
    cells: tuple[Cell, ...]
    report: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """{"stories", "cells": [{"method", "extractor", "feedback", …}]}, unrounded."""
        return {
            "stories": list(self.stories),
            "cells": [
                {"method": c.method, "extractor": c.extractor, "feedback": c.feedback}
                | {name: c.figures[name].pooled for name in METRICS}
                for c in self.cells
            ],
        }


def recompute(artifacts: Path | str) -> Tables:
    """The tables of the runs in `artifacts` (holds `exp/paper`). Raises `HistoryError`."""
    runs = read_runs(Path(artifacts))
    found = tuple(sorted({s.story for run in runs for s in run.stories}))
    return Tables(found, tuple(_cell(run) for run in runs), tuple(_uneven(runs, found)))


def _uneven(runs: Sequence[Run], found: Sequence[int]) -> list[str]:
    lines = []
    for run in runs:
        name = f"{run.method}/{run.extractor}/{run.feedback}"
        without = [s.story for s in run.stories if s.added is None]
        if without and len(without) < len(run.stories):
            lines.append(f"{name}: no memories in stories {', '.join(map(str, without))}")
        missing = sorted(set(found) - {s.story for s in run.stories})
        if missing:
            lines.append(f"{name}: pooled without stories {', '.join(map(str, missing))}")
    return lines


def _cell(run: Run) -> Cell:
    figures = {name: _figure(name, run.stories) for name in METRICS}
    return Cell(run.method, run.extractor, run.feedback, figures)


def _figure(name: str, stories: Sequence[StoryCounts]) -> Figure:
    metric, factor = METRICS[name], 1 if name == "memory_volume" else 100
    pooled, ends = metric(stories), bootstrap_interval(stories, metric)
    values = {s.story: metric([s]) for s in stories}
    return Figure(
        pooled=None if pooled is None else factor * pooled,
        by_story={n: None if v is None else factor * v for n, v in values.items()},
        interval=None if ends is None else (factor * ends[0], factor * ends[1]),
    )


def render(tables: Tables) -> str:
    """Tables 1 and 2 as text, one decimal: pooled, 95 % interval over stories, each story."""
    keeping = [c for c in tables.cells if c.figures["memory_volume"].pooled is not None]
    blocks = [
        "Stories: " + ", ".join(map(str, tables.stories)) + ". Shares in %; [95 % bootstrap "
        "interval over stories]. verbose = explicit feedback, with_gold = implicit.",
        _table("Table 1. QA accuracy", tables.cells, "qa_accuracy", tables.stories),
    ]
    blocks += [
        _table(f"Table 2. {_HEADS[name]}", keeping, name, tables.stories)
        for name in METRICS
        if name != "qa_accuracy"
    ]
    return "\n\n".join([*blocks, *tables.report]) + "\n"


def _table(title: str, cells: Sequence[Cell], name: str, stories: Sequence[int]) -> str:
    head = ["method", "extractor", "feedback", "pooled", "interval"]
    rows = [[*head, *(f"story {n}" for n in stories)]]
    for cell in cells:
        figure = cell.figures[name]
        row = [cell.method, cell.extractor, cell.feedback]
        row += [_number(figure.pooled), _range(figure.interval)]
        rows.append([*row, *(_number(figure.by_story.get(n)) for n in stories)])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = (
        "  ".join(
            text.ljust(width) if i < 3 else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
    return "\n".join([title, *lines])


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"


def _range(ends: Interval | None) -> str:
    return "–" if ends is None else f"[{ends[0]:.1f}, {ends[1]:.1f}]"
