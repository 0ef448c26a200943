"""`memsteer adamem matrix`: methods x feedbacks x stories, a folder each, and their table.

A cell whose `result.json` stands there for the same configuration and data is not run again.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from memsteer.eval.adamem_bench import stories as stories_of
from memsteer.eval.adamem_config import FIGURES, CellConfig
from memsteer.eval.adamem_runs import finished, run_cell
from memsteer.eval.progress import Reporter
from memsteer.programs.embedding import Embedder

_HEADS = {
    "qa_accuracy": "QA",
    "memory_volume": "volume",
    "extraction_f1": "F1",
    "recall_at_5": "R@5",
    "key_recall": "key",
    "noise_rejection": "noise",
    "policy_alignment": "align",
    "wrong_person_share": "wrong p.",
}
_LEGEND = (
    "Shares in %. QA accuracy, memory volume, extraction F1, Recall@5, Key Recall, Noise Rejection,"
    " policy alignment, wrong-person share. – no such figure.\n"
)


def cells_of(
    base: CellConfig,
    stories: Sequence[int] | None,
    methods: Sequence[str],
    feedbacks: Sequence[str],
) -> list[CellConfig]:
    """The matrix's cells, story by story; `base.out` holds a folder for each.

    Raises `HistoryError` where the data's folder is none.
    """
    numbers = stories if stories is not None else stories_of(base.data) if base.data else (1,)
    values = base.model_dump()
    return [
        CellConfig(
            **{
                **values,
                "story": story,
                "method": method,
                "feedback": feedback,
                "out": str(Path(base.out) / f"story_{story}" / method / feedback),
            }
        )
        for story in numbers
        for method in methods
        for feedback in feedbacks
    ]


def run_matrix(
    cells: Sequence[CellConfig],
    budget_calls: int | None,
    reporter: Reporter,
    *,
    embedder: Embedder | None = None,
) -> list[dict[str, Any]]:
    """The result of every cell, run or found; `budget_calls` is for all of them together."""
    results: list[dict[str, Any]] = []
    for config in cells:
        result = finished(config)
        if result is None:
            if budget_calls is not None:
                left = max(0, budget_calls - sum(r["lm"]["calls"] for r in results))
                config = config.model_copy(update={"budget_calls": left})
            result = run_cell(config, reporter, embedder=embedder)
            reporter.note(f"{_name(result)}: {result['seconds']:.0f} s")
        else:
            reporter.note(f"{_name(result)}: done before")
        results.append(result)
    return results


def render_matrix(results: Sequence[Mapping[str, Any]]) -> str:
    """The table of all cells as text, one decimal."""
    head = ["story", "method", "feedback", *_HEADS.values(), "calls", "s", "failed"]
    rows = [head]
    for result in results:
        failed = len(result["failed_dates"]) + len(result["failed_questions"])
        rows.append(
            [
                str(result["story"]),
                result["method"],
                result["feedback"],
                *(_number(result[name]) for name in FIGURES),
                str(result["lm"]["calls"]),
                f"{result['seconds']:.0f}",
                str(failed),
            ]
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    lines = (
        "  ".join(
            text.ljust(width) if i < 3 else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )
    return "\n".join([*lines, "", _LEGEND])


def render_cell(result: Mapping[str, Any]) -> str:
    """One cell as text: its figures, what failed, and the figures by week."""
    lines = [f"{_name(result)}; answers judged by {result['judge']}"]
    lines += [f"  {name:18s} {_number(result[name]):>7s}" for name in FIGURES]
    lm = result["lm"]
    tokens = f"{lm['prompt_tokens']:,} + {lm['completion_tokens']:,} tokens"
    lines.append(f"  {lm['calls']} calls, {tokens}, {result['seconds']:.1f} s")
    for name in ("failed_dates", "failed_questions"):
        if result[name]:
            lines.append(f"  {name.replace('_', ' ')}: {', '.join(result[name])}")
    return "\n".join(lines) + "\n"


def _name(result: Mapping[str, Any]) -> str:
    return f"story {result['story']}, {result['method']}, {result['feedback']}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
