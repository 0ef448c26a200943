"""AdaMem's tables on two tiny hand-made stories, with figures worked out by hand."""

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from memsteer.eval.adamem_cli import add_tables_parser
from memsteer.eval.adamem_tables import recompute, render
from memsteer.programs.records import HistoryError


def lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")


def run(
    folder: Path, correct: str, added: list[int], matched: list[int | None], ranks: str
) -> None:
    """A story's run: `correct` and `ranks` have a sign a question ("x", "-": wrong, no rank)."""
    folder.mkdir(parents=True)
    records = [{"question_id": f"q{i}", "correct": c == "x"} for i, c in enumerate(correct)]
    (folder / "qa_records.json").write_text(json.dumps({"qa_records": records}), encoding="utf-8")
    lines(
        folder / "extracted_memories.jsonl",
        [
            {"source": source, "added": [{"memory": "m"}] * n}
            for source, n in zip(["dialogue", "qa_writeback"], added, strict=False)
        ],
    )
    if added:
        lines(
            folder / "extraction_judged.jsonl",
            [{"is_in_golden": m is not None, "matched_golden_global_index": m} for m in matched],
        )
    lines(
        folder / "recall_judged.jsonl",
        [
            {
                "question_id": f"q{i}",
                "target_in_recall": rank != "-",
                "target_rank": None if rank == "-" else int(rank),
            }
            for i, rank in enumerate(ranks)
        ],
    )
    judged = {"golden_pool_size": 4}
    (folder / "judge_done.json").write_text(json.dumps(judged), encoding="utf-8")


@pytest.fixture
def artifacts(tmp_path: Path) -> Path:
    root = tmp_path / "exp" / "paper"
    # Story 2: 3 of 4 right; 5 added; 2 of 5 judged in goldens, one golden twice; ranks 1 and 5.
    run(root / "m0/lm/verbose/story_2", "xxx-", [3, 2], [1, 1, None, None, None], "1-56")
    # Story 10: 1 of 2 right; 3 added; 3 of 3 in goldens, 3 distinct of 8; rank 5.
    run(root / "m0/lm/verbose/story_10", "x-", [2, 1], [0, 7, 3], "5-")
    run(root / "fc/lm/verbose/story_2", "xxxx", [], [], "1234")
    data = tmp_path / "data" / "scaling" / "story_10"
    data.mkdir(parents=True)
    week = {"conversations": [{"golden_memories": ["a"] * 5}, {"golden_memories": ["b"] * 3}]}
    (data / "week1.json").write_text(json.dumps(week), encoding="utf-8")
    return tmp_path


def test_the_pooled_figures_by_hand(artifacts: Path) -> None:
    found = recompute(artifacts).to_json()
    precision, recall = 5 / 8, (1 / 4 + 3 / 8) / 2
    assert found["stories"] == [2, 10]
    assert found["cells"] == [
        {
            "method": "fc",
            "extractor": "lm",
            "feedback": "verbose",
            "qa_accuracy": 100.0,
            "memory_volume": None,
            "extraction_f1": None,
            "recall_at_5": None,
        },
        {
            "method": "m0",
            "extractor": "lm",
            "feedback": "verbose",
            "qa_accuracy": pytest.approx(100 * 4 / 6),
            "memory_volume": 4.0,
            "extraction_f1": pytest.approx(100 * 2 * precision * recall / (precision + recall)),
            "recall_at_5": pytest.approx(100 * 3 / 6),
        },
    ]


def test_by_story_intervals_and_what_is_uneven(artifacts: Path) -> None:
    tables = recompute(artifacts)
    full, mem0 = tables.cells
    accuracy = mem0.figures["qa_accuracy"]
    assert dict(accuracy.by_story) == {2: 75.0, 10: 50.0}
    assert accuracy.interval == (50.0, 75.0)
    assert full.figures["qa_accuracy"].interval is None
    assert tables.report == ("fc/lm/verbose: pooled without stories 10",)
    text = render(tables)
    assert "m0      lm         verbose     66.7  [50.0, 75.0]     75.0      50.0" in text
    assert "41.7" in text  # F1 = 2 · 0.625 · 0.3125 / 0.9375


def test_the_command(artifacts: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    add_tables_parser(parser.add_subparsers())
    arguments = ["tables", "adamem", "--artifacts", str(artifacts)]
    args = parser.parse_args([*arguments, "--json"])
    assert args.handler(args) == 0
    assert json.loads(capsys.readouterr().out) == recompute(artifacts).to_json()
    shutil.rmtree(artifacts / "exp")
    args = parser.parse_args(arguments)
    assert args.handler(args) == 2
    caught = capsys.readouterr()
    assert caught.out == ""
    assert caught.err == f"{artifacts}: has no folder 'exp/paper'; give the artifacts' folder\n"


def test_a_missing_judgment_is_an_error_not_a_zero(artifacts: Path) -> None:
    path = artifacts / "exp/paper/m0/lm/verbose/story_2/extraction_judged.jsonl"
    path.unlink()
    with pytest.raises(HistoryError, match=r"extraction_judged\.jsonl: cannot be read"):
        recompute(artifacts)


def test_a_broken_row_names_file_line_and_field(artifacts: Path) -> None:
    path = artifacts / "exp/paper/m0/lm/verbose/story_2/recall_judged.jsonl"
    lines(path, [{"question_id": "q0", "target_in_recall": True, "target_rank": "first"}])
    with pytest.raises(HistoryError, match=r"jsonl, line 1, field 'target_rank': 'first' is not"):
        recompute(artifacts)


def test_a_null_counts_as_no(artifacts: Path) -> None:
    folder = artifacts / "exp/paper/m0/lm/verbose/story_2"
    lines(
        folder / "recall_judged.jsonl",
        [{"question_id": "q0", "target_in_recall": True, "target_rank": None}],
    )
    records = [{"correct": None}, {"correct": True}]
    (folder / "qa_records.json").write_text(json.dumps({"qa_records": records}), encoding="utf-8")
    figures = recompute(artifacts).cells[1].figures
    assert figures["qa_accuracy"].by_story[2] == 50.0
    assert figures["recall_at_5"].by_story[2] == 0.0
