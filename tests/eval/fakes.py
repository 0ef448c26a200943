"""What the tests of runs stand on: a tiny history, and an embedder that loads nothing."""

import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SAMPLE = Path(__file__).parents[2] / "eval" / "sample"


class FakeEmbedder:
    """Unit vectors of hashed words: equal texts are near, and nothing is loaded."""

    name = "fake"

    def __init__(self, cache_dir: Path | None = None) -> None:
        del cache_dir

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), 64), dtype=np.float32)
        for n, text in enumerate(texts):
            for word in text.lower().split():
                rows[n, zlib.crc32(word.encode()) % 64] += 1
        rows[:, 0] += 1e-3
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def write_tiny(folder: Path, records: int = 60, questions: int = 8, marker: str = "") -> list[str]:
    """The sample's first records and the questions about them as files: the source's arguments."""
    rows: list[Any] = [json.loads(x) for x in (SAMPLE / "history.jsonl").open(encoding="utf-8")]
    asked = [json.loads(x) for x in (SAMPLE / "questions.jsonl").open(encoding="utf-8")][:questions]
    wanted = {e for q in asked for e in q["evidence"]}
    kept = [r for n, r in enumerate(rows) if n < records or r["id"] in wanted]
    known = {r["id"] for r in kept}
    for row in kept:
        row["references"] = [r for r in row.get("references", ()) if r in known]
    for question in asked:
        question["question"] += marker
        question["answer"] += marker
    for name, lines in (("history", kept), ("questions", asked)):
        text = "".join(json.dumps(x, ensure_ascii=False) + "\n" for x in lines)
        (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return [
        *("--history", str(folder / "history.jsonl")),
        *("--questions", str(folder / "questions.jsonl")),
    ]


SMALL = ["--questions-wanted", "10", "--rounds", "2", "--trials", "3"]


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
