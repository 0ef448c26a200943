"""AdaMem's released data, where MEMSTEER_DATA names it: figures straight from the raw rows."""

import json
import os
from pathlib import Path

import pytest

from memsteer.eval.adamem_bench import load_story, stories
from memsteer.eval.adamem_tables import recompute


def real_data() -> Path:
    root = os.environ.get("MEMSTEER_DATA")
    if not root or not (Path(root) / "adamem-bench").is_dir():
        pytest.skip("MEMSTEER_DATA names no folder with AdaMem-Bench in 'adamem-bench'")
    return Path(root) / "adamem-bench"


def raw(path: Path) -> list[dict]:
    return [json.loads(row) for row in path.read_text("utf-8").split("\n") if row]


def by_hand(root: Path, cell: Path, numbers: list[int]) -> dict[str, float | None]:
    """The four figures of a cell, without a function of the package."""
    right = asked = written = hits = judged = near = 0
    shares = []
    for n in numbers:
        folder = cell / f"story_{n}"
        for record in json.loads((folder / "qa_records.json").read_text("utf-8"))["qa_records"]:
            asked += 1
            if record["correct"]:
                right += 1
        for row in raw(folder / "extracted_memories.jsonl"):
            written += len(row["added"])
        goldens = 0
        for week in range(1, 11):
            path = root / "data" / "scaling" / f"story_{n}" / f"week{week}.json"
            for talk in json.loads(path.read_text("utf-8"))["conversations"]:
                goldens += len(talk["golden_memories"])
        if (folder / "extraction_judged.jsonl").exists():
            distinct = []
            for row in raw(folder / "extraction_judged.jsonl"):
                judged += 1
                if row["is_in_golden"]:
                    hits += 1
                    if row["matched_golden_global_index"] not in distinct:
                        distinct.append(row["matched_golden_global_index"])
            shares.append(len(distinct) / goldens)
        for row in raw(folder / "recall_judged.jsonl"):
            if row["target_in_recall"] and row["target_rank"] in (1, 2, 3, 4, 5):
                near += 1
    figures: dict[str, float | None] = {"qa_accuracy": right / asked * 100}
    if not judged:
        return {**figures, "memory_volume": None, "extraction_f1": None, "recall_at_5": None}
    p, r = hits / judged, sum(shares) / len(shares)
    return {
        **figures,
        "memory_volume": written / len(numbers),
        "extraction_f1": 200 * p * r / (p + r),
        "recall_at_5": near / asked * 100,
    }


@pytest.mark.data
def test_the_tables_are_those_counted_by_hand() -> None:
    root = real_data()
    numbers = list(stories(root))
    found = recompute(root).to_json()
    cells = found["cells"]
    assert found["stories"] == numbers
    assert isinstance(cells, list)
    assert len(cells) == len(list((root / "exp" / "paper").glob("*/*/*")))
    for cell in cells:
        folder = root / "exp" / "paper" / cell["method"] / cell["extractor"] / cell["feedback"]
        for name, value in by_hand(root, folder, numbers).items():
            assert cell[name] == (None if value is None else pytest.approx(value, abs=1e-9)), name


@pytest.mark.data
def test_some_figures_of_stories_2_and_3() -> None:
    root = real_data()
    if stories(root) != (2, 3):
        pytest.skip("the figures are those of stories 2 and 3 alone")
    cells = {(c.method, c.extractor, c.feedback): c.figures for c in recompute(root).cells}
    figures = cells["adamem", "deepseek-v4-flash", "verbose"]
    assert figures["qa_accuracy"].pooled == pytest.approx(100 * (86 + 84) / 200)
    assert figures["memory_volume"].pooled == (351 + 407) / 2
    precision, recall = (100 + 103) / (351 + 407), (95 / 107 + 96 / 115) / 2
    f1 = 200 * precision * recall / (precision + recall)
    assert figures["extraction_f1"].pooled == pytest.approx(f1)
    assert figures["recall_at_5"].pooled == pytest.approx(100 * (68 + 62) / 200)


@pytest.mark.data
def test_the_global_index_of_the_judgments_is_the_loader_s() -> None:
    root = real_data()
    for number in stories(root):
        goldens = load_story(root, number).goldens
        for folder in (root / "exp" / "paper").glob(f"*/*/*/story_{number}"):
            path = folder / "extraction_judged.jsonl"
            for row in raw(path) if path.exists() else []:
                if row["is_in_golden"] and row["matched_session_key"]:
                    golden = goldens[row["matched_golden_global_index"]]
                    assert golden.ref.index == row["matched_golden_index"]
                    assert golden.ref.session_id in str(row["matched_session_key"])


@pytest.mark.data
def test_every_real_story_loads_with_all_targets() -> None:
    root = real_data()
    for number in stories(root):
        story = load_story(root, number)
        known = {g.ref for g in story.goldens}
        assert story.person
        assert all(set(q.targets) <= known for q in story.questions)
        assert not any(q.feedback.endswith(".") for q in story.questions)
