"""RHELM's real data, where MEMSTEER_DATA names it: counts taken without the loader's code."""

import json
import os
import re
from pathlib import Path

import pytest

from memsteer.eval.rhelm import load_rhelm, personas


def real_data() -> Path:
    root = os.environ.get("MEMSTEER_DATA")
    if not root or not (Path(root) / "rhelm").is_dir():
        pytest.skip("MEMSTEER_DATA names no folder with the RHELM data in 'rhelm'")
    return Path(root) / "rhelm"


def counted(root: Path, folder: str) -> dict[str, int]:
    """Turns, e-mails and sections, counted without any of the loader's code."""
    talks = (root / "conversations" / folder).iterdir()
    mails = (root / "emails" / folder).iterdir()
    sections = 0
    for path in (root / "attachments" / folder).iterdir():
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".html":
            body = text[text.index("<body>") :]
            pieces = [re.sub("<[^>]+>", " ", p) for p in re.split(r"<h[12]>.*?</h[12]>", body)]
        else:
            pieces = re.split(r"(?m)^##?[ \t].*$", text)
        sections += sum(any(c.isalnum() for c in piece) for piece in pieces)
    return {
        "conversation": sum(p.read_text(encoding="utf-8").count('"timestamp":') for p in talks),
        "email": sum(len(re.findall("(?m)^Summary:", p.read_text("utf-8"))) for p in mails),
        "document": sections,
    }


@pytest.mark.data
def test_the_counts_of_the_real_data() -> None:
    root = real_data()
    references = unresolved = 0
    for folder in sorted(p.name for p in (root / "conversations").iterdir()):
        loaded = load_rhelm(root, folder)
        kinds = [r.kind for r in loaded.history]
        assert {k: kinds.count(k) for k in set(kinds)} == counted(root, folder), folder
        qa = (root / "QA_final" / f"low_score_qa_{folder}_all_validated.jsonl").read_text("utf-8")
        rows = [json.loads(line) for line in qa.strip().split("\n")]
        assert [q.id for q in loaded.questions] == [row["id"] for row in rows]
        references += sum(len(row["supporting_evidence"]) for row in rows)
        unresolved += sum(len(q.unresolved) for q in loaded.questions)
    assert references > 0
    assert unresolved <= 0.01 * references


@pytest.mark.data
def test_every_real_turn_reference_is_a_turn_and_every_attachment_dated() -> None:
    root = real_data()
    for persona in personas(root):
        history = load_rhelm(root, persona).history
        assert all(record.time is not None for record in history)
        turns = load_rhelm(root, persona, external=False)
        for question in turns.questions:
            assert all(re.fullmatch(r"\d{4}-\d\d-\d\d:\d+", e) for e in question.evidence)
            assert not any(re.match(r"\d{4}-", u) for u in question.unresolved)
