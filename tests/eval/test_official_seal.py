"""Official questions reach no prompt before the evaluation: a marker in them is searched for."""

from pathlib import Path
from typing import Any

import pytest
from fakes import FakeEmbedder, write_tiny

from memsteer.eval.config import RunConfig, Source
from memsteer.eval.progress import Silent
from memsteer.eval.runs import run
from memsteer.programs.offline.engine import ExtractiveEngine

MARKER = "zyxmarkerxyz"


class Stages(Silent):
    def __init__(self) -> None:
        self.now = ""

    def stage(self, name: str) -> None:
        self.now = name


def test_no_prompt_of_supervision_or_optimisation_holds_an_official_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tiny(tmp_path, marker=f" {MARKER}")
    stages = Stages()
    prompts: dict[str, list[str]] = {}
    answer = ExtractiveEngine.complete

    def recording(self: ExtractiveEngine, request: Any) -> Any:
        prompts.setdefault(stages.now, []).append(repr(request))
        return answer(self, request)

    monkeypatch.setattr(ExtractiveEngine, "complete", recording)
    source = Source(
        kind="history",
        history=str(tmp_path / "history.jsonl"),
        questions=str(tmp_path / "questions.jsonl"),
    )
    out = str(tmp_path / "run")
    run(
        RunConfig(source=source, questions=10, rounds=2, trials=3, out=out),
        stages,
        embedder=FakeEmbedder(),
    )
    assert set(prompts) >= {"supervise", "optimise", "evaluate base"}
    for stage, texts in prompts.items():
        holding = [text for text in texts if MARKER in text]
        if stage.startswith("evaluate"):
            assert len(holding) == len(texts)  # so the search does find it
        else:
            assert not holding, stage
    for name in ("supervision.jsonl", "rejects.jsonl", "design.json", "program.json"):
        assert MARKER not in (tmp_path / "run" / name).read_text(encoding="utf-8")
