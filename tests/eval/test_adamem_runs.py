"""Cells and matrices of AdaMem-Bench on the bundled story, by the offline engine."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import dspy
import pytest
from fakes import SAMPLE, FakeEmbedder, read_rows

from memsteer.eval.adamem_alignment import judge_alignment
from memsteer.eval.adamem_config import FIGURES, CellConfig
from memsteer.eval.adamem_figures import StoryFigures
from memsteer.eval.adamem_matrix import cells_of, render_matrix, run_matrix
from memsteer.eval.adamem_runs import make_system, run_cell
from memsteer.eval.adamem_stream import JudgeMarker, RuleMarker, gold_feedback, states, to_stream
from memsteer.eval.cli import main
from memsteer.eval.judge import Judge
from memsteer.eval.progress import Silent
from memsteer.eval.sample_data import load_sample_story
from memsteer.programs.adamem import StoryRun, WeeklyLoop
from memsteer.programs.answers import Verdict
from memsteer.programs.ledger import BudgetExhausted
from memsteer.programs.memories import StoredMemory
from memsteer.programs.offline import offline_lm
from memsteer.programs.parallel import Failure
from memsteer.programs.policy import START_POLICY

STORY = load_sample_story()
EMBEDDER = FakeEmbedder()


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MEMSTEER_LM", raising=False)
    monkeypatch.setattr(
        "memsteer.eval.adamem_runs.SentenceTransformerEmbedder", lambda cache_dir: EMBEDDER
    )
    monkeypatch.chdir(tmp_path)


def cell(**fields: Any) -> CellConfig:
    return CellConfig(**{"out": "cell", **fields})


def unclocked(result: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in result.items() if k != "seconds"}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """AdaMem, explicit feedback, the whole bundled story."""
    out = str(tmp_path_factory.mktemp("whole"))
    return run_cell(cell(out=out), embedder=EMBEDDER) | {"folder": out}


@pytest.fixture(scope="module")
def ideal_run() -> StoryRun:
    system = make_system("id", STORY, EMBEDDER)
    feedback = gold_feedback(STORY, "implicit", RuleMarker(STORY))
    with dspy.context(lm=offline_lm(), disable_history=True):
        run: StoryRun = WeeklyLoop(system)(stream=to_stream(STORY), feedback=feedback).run
    return run


def test_every_figure_is_there_and_in_range(whole: dict[str, Any]) -> None:
    assert [name for name in FIGURES if whole[name] is None] == ["policy_alignment"]
    shares = [whole[n] for n in FIGURES if n not in ("memory_volume", "policy_alignment")]
    assert all(0 <= share <= 100 for share in shares)
    assert whole["memory_volume"] == sum(w["memory_volume"] for w in whole["weeks"]) > 0
    assert (whole["questions"], whole["judge"]) == (30, "rule")
    assert whole["failed_dates"] == whole["failed_questions"] == []
    assert set(whole["lm"]) == {"calls", "prompt_tokens", "completion_tokens"}
    assert [w["week"] for w in whole["weeks"]] == [1, 2, 3]
    assert whole["policy"]["rules"]


def test_the_folder_tells_every_step(whole: dict[str, Any]) -> None:
    folder = Path(whole["folder"])
    kinds = [row["event"] for row in read_rows(folder / "journal.jsonl")]
    days = sum(len(w.by_date) for w in STORY.weeks)
    assert kinds[0] == "start"
    assert [kinds.count(k) for k in ("date", "question", "update", "writeback")] == [days, 30, 3, 3]
    held = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert unclocked(held) == {k: v for k, v in unclocked(whole).items() if k != "folder"}


def test_a_cut_run_goes_on_and_makes_no_call_twice(whole: dict[str, Any]) -> None:
    calls = whole["lm"]["calls"]
    for budget in (calls // 3, calls - 1):
        with pytest.raises(BudgetExhausted):
            run_cell(cell(budget_calls=budget))
        assert not Path("cell/result.json").exists()
    result = run_cell(cell())
    assert unclocked(result) == {k: v for k, v in unclocked(whole).items() if k != "folder"}
    keys = [row["key"] for row in read_rows(Path("cell/calls.jsonl"))]
    assert len(keys) == len(set(keys)) == calls


def test_full_context_has_accuracy_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["adamem", "--method", "fc", "--lm", "extractive", "--out", "cell"]) == 0
    shown = capsys.readouterr().out
    assert "story 1, fc, explicit; answers judged by rule" in shown
    result = json.loads(Path("cell/result.json").read_text(encoding="utf-8"))
    assert [name for name in FIGURES if result[name] is not None] == ["qa_accuracy"]
    assert result["policy"] is None


def test_ideal_memory_is_ideal_by_the_rule(ideal_run: StoryRun) -> None:
    found = StoryFigures(STORY, ideal_run).overall()
    assert found["key_recall"] == 100
    assert (found["noise_rejection"] or 0) > 95
    assert found["wrong_person_share"] == 0


def test_a_failed_date_is_not_a_date_without_memories(ideal_run: StoryRun) -> None:
    week = ideal_run.weeks[0]
    lost = replace(week.steps[0], stored=(), failure=Failure("model_error", "gone"))
    run = replace(ideal_run, weeks=(replace(week, steps=(lost, *week.steps[1:])),))
    assert StoryFigures(STORY, run).overall()["key_recall"] == 100


def test_a_fact_ascribed_to_somebody_else_is_wrong(ideal_run: StoryRun) -> None:
    week = ideal_run.weeks[0]
    right, other = list(STORY.profiles)[:2]
    plan = STORY.outline.weeks[0].scenarios[0]
    text = plan.key_info[0].replace(right, other)
    assert text != plan.key_info[0]
    memory = StoredMemory("m1", text, plan.date, 1, "dialogue")
    step = replace(week.steps[0], date=plan.date.isoformat(), stored=(memory,))
    run = replace(ideal_run, weeks=(replace(week, steps=(step,)),))
    assert StoryFigures(STORY, run).overall()["wrong_person_share"] == 100


@pytest.mark.parametrize(
    ("answer", "accepted", "right"),
    [
        ("On 2031-08-01 Bo chose 2031-08-19.", "2031-08-19", True),
        ("Bo chose 2031-08-18.", "2031-08-19", False),
        ("Bo measured a wear of 4 mm there.", "4 mm", True),
        ("On 2031-08-01, Bo measured four millimetres.", "4 mm", True),
        ("I don't remember.", "a red lamp", False),
        ("Bo bought the lamp, a red one.", "a red lamp", True),
    ],
)
def test_right_by_the_rule(answer: str, accepted: str, right: bool) -> None:
    assert states(answer, accepted) is right


class _Judge(Judge):
    def __init__(self, said: Callable[[], Verdict]) -> None:
        super().__init__()
        self.said = said

    def forward(self, *_: object, **__: object) -> Verdict:
        return self.said()


def test_a_judge_that_gives_no_verdict_leaves_it_to_the_rule() -> None:
    def fails() -> Verdict:
        raise dspy.LMError("no answer")

    question = STORY.questions[0]
    marker = JudgeMarker(STORY, _Judge(fails))
    assert marker(question.question, question.answer, question.answer)
    assert marker.unjudged == 0  # the typed comparison found it
    assert not marker(question.question, question.answer, "I wonder.")
    assert marker.unjudged == 1
    kind = JudgeMarker(STORY, _Judge(lambda: Verdict("correct", "judge: yes")))
    assert kind(question.question, question.answer, "I wonder.")


def test_people_without_a_rule_are_not_aligned() -> None:
    assert judge_alignment(STORY, START_POLICY, offline_lm()) == 0


def test_the_person_is_told_on_request_only() -> None:
    assert {q.about for w in to_stream(STORY).weeks for q in w.questions} == {""}
    told = {q.about for w in to_stream(STORY, tell_person=True).weeks for q in w.questions}
    assert told <= STORY.profiles.keys()


def test_a_matrix_runs_each_cell_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["adamem", "matrix", "--lm", "extractive", "--methods", "id,mem0", "--out", "m"]
    assert main([*argv, "--budget-calls", "40", "--json"]) == 4
    assert json.loads(capsys.readouterr().out)["exit"] == 4
    assert Path("m/story_1/id/explicit/result.json").exists()
    assert main([*argv, "--json"]) == 0
    cells = json.loads(capsys.readouterr().out)["cells"]
    assert [c["method"] for c in cells] == ["id", "mem0"]

    def never(*_: object, **__: object) -> None:
        raise AssertionError("a finished cell is run again")

    monkeypatch.setattr("memsteer.eval.adamem_matrix.run_cell", never)
    assert main(argv) == 0
    table = capsys.readouterr().out
    assert table.splitlines()[0].startswith("story  method")
    again = run_matrix(cells_of(cell(out="m"), None, ["id"], ["explicit"]), None, Silent())
    assert render_matrix(again).splitlines()[1] == table.splitlines()[1]
    assert main([*argv, "--seed", "3"]) == 2
    assert "field 'seed': 0 there, 3 now" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ("--story 1", "no model: give --lm NAME or set MEMSTEER_LM"),
        ("matrix", "no model"),
        ("--lm extractive --story 7", "the bundled story is 1, not 7"),
        ("--lm extractive --data none", "has no folder 'data/scaling'"),
        ("--lm extractive --method magic", "invalid choice: 'magic'"),
        ("--lm extractive --budget-calls -1", "--budget-calls -1"),
        ("--lm extractive --role-lm cook=x", "--role-lm cook=x"),
        ("matrix --lm extractive --stories 2,x", "'x' is no number"),
        ("matrix --lm extractive --methods mem0,magic", "'magic' is none of"),
    ],
)
def test_bad_usage_is_one_line(argv: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["adamem", *argv.split()]) == 2
    captured = capsys.readouterr()
    lines = [line for line in captured.err.splitlines() if line.startswith("memsteer: ")]
    assert len(lines) == 1
    assert said in lines[0]
    assert captured.out == ""


def test_a_broken_story_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(SAMPLE / "data", tmp_path / "bench" / "data")
    week = tmp_path / "bench" / "data" / "scaling" / "story_1" / "week2.json"
    week.write_text('{"week": 2}', encoding="utf-8")
    command = ["adamem", "--data", "bench", "--lm", "extractive", "--out", "cell"]
    assert main(command) == 2
    assert "week2.json, field 'conversations': is missing" in capsys.readouterr().err
    assert main([*command, "--story", "4"]) == 2
    assert "has no story 4; known: 1" in capsys.readouterr().err


def test_a_date_is_compared_without_its_year_where_one_lacks_it() -> None:
    assert states("It is on 19 August.", date(2031, 8, 19).isoformat())


def test_a_model_judges_answers_and_alignment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memsteer.eval.adamem_config.OFFLINE", ())
    result = run_cell(cell(role_lms={"judge": "extractive"}))
    assert (result["judge"], result["unjudged_answers"]) == ("model", 0)
    assert result["policy_alignment"] is None  # the engine has no such role: no verdict, no zero
    events = [row["event"] for row in read_rows(Path("cell/journal.jsonl"))]
    assert events.count("question") == 30
