"""The command line: exit codes, one line for each fault, and the shape of its JSON."""

import io
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from fakes import SMALL, write_tiny

from memsteer.eval import arguments
from memsteer.eval.cli import main
from memsteer.eval.progress import StreamReporter
from memsteer.programs.ledger import Usage

pytestmark = pytest.mark.usefixtures("fake_embedder")
GOOD = '{"id": "a", "time": "2025-01-02", "text": "I planted 12 tulips."}\n'


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MEMSTEER_LM", raising=False)
    monkeypatch.chdir(tmp_path)


def history(folder: Path, text: str) -> list[str]:
    path = folder / "h.jsonl"
    path.write_text(text, encoding="utf-8")
    return ["supervise", "--history", str(path), "--lm", "extractive", "--out", str(folder / "o")]


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """The one line on stderr with which the command exits 2."""
    assert main(argv) == 2
    captured = capsys.readouterr()
    lines = captured.err.splitlines()
    assert len([line for line in lines if line.startswith("memsteer: ")]) == 1
    assert "Traceback" not in captured.err
    assert captured.out == ""
    return lines[-1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "h.jsonl: holds no records"),
        ("\n\n", "h.jsonl: holds no records"),
        (GOOD + "{broken\n", "h.jsonl, line 2: is not JSON"),
        (GOOD + GOOD, "h.jsonl, line 2, field 'id': 'a' stands at"),
        ('{"id": "a", "text": "x", "time": "yesterday"}\n', "line 1, field 'time': 'yesterday'"),
        ('{"id": "a"}\n', "line 1, field 'text': is missing"),
        ('{"id": "a", "txt": "x"}\n', "line 1, field 'txt': is not in the schema"),
        ('{"id": "a", "text": "x", "references": ["b"]}\n', "field 'references': no record has"),
    ],
)
def test_a_bad_history(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said in refused(capsys, *history(tmp_path, text))


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ("run --benchmark sample", "give --lm NAME or set MEMSTEER_LM"),
        ("run --benchmark sample", "extractive"),
        ("run --lm extractive", "no source"),
        ("run --lm extractive --history x --benchmark sample", "give one of them"),
        ("run --lm extractive --questions x", "--questions: needs --history"),
        ("run --lm extractive --history none.jsonl", "none.jsonl: cannot be read"),
        ("run --lm extractive --benchmark rhelm --persona A", "needs --data"),
        ("run --lm extractive --benchmark rhelm --data none --persona A", "none: is no folder"),
        ("run --lm extractive --benchmark nope", "invalid choice: 'nope'"),
        ("run --lm extractive --benchmark sample --seed x", "--seed: invalid int"),
        ("run --lm extractive --benchmark sample --rounds -1", "--rounds -1"),
        ("run --lm extractive --benchmark sample --budget-calls -1", "--budget-calls -1"),
        ("run --lm extractive --benchmark sample --role-lm cook=x", "--role-lm cook=x"),
        ("run --lm extractive --benchmark sample --fresh --resume", "not allowed with"),
        ("evaluate --lm extractive --benchmark sample", "--design"),
        ("evaluate --lm extractive --benchmark sample --design d.json", "d.json: cannot be read"),
        ("optimize --lm extractive --benchmark sample --supervision d", "supervision.jsonl"),
        ("", "required: COMMAND"),
        ("fly", "invalid choice: 'fly'"),
    ],
)
def test_bad_usage(argv: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said in refused(capsys, *argv.split())


def test_an_unknown_persona_is_answered_with_those_known(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "conversations" / "Ada_Byron").mkdir(parents=True)
    said = refused(
        capsys,
        *("run", "--lm", "extractive", "--benchmark", "rhelm"),
        *("--data", str(tmp_path), "--persona", "Bob"),
    )
    assert "known: Ada Byron" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [("{", "is not JSON"), ('{"retrieval": {"k": 9999}}', "'retrieval.k'"), ('{"x": 1}', "'x'")],
)
def test_a_bad_design_is_named_with_its_field(
    text: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "d.json").write_text(text, encoding="utf-8")
    line = refused(
        capsys, *["evaluate", "--lm", "extractive", "--benchmark", "sample", "--design", "d.json"]
    )
    assert "d.json" in line
    assert said in line


def test_a_spoilt_ledger(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "calls.jsonl").write_text("my notes\n", encoding="utf-8")
    assert "calls.jsonl, line 1" in refused(capsys, *history(tmp_path, GOOD))
    assert (tmp_path / "o" / "calls.jsonl").read_text(encoding="utf-8") == "my notes\n"


def test_a_file_that_no_run_wrote_is_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "o").mkdir()
    (tmp_path / "o" / "report.html").write_text("mine", encoding="utf-8")
    for more in ([], ["--fresh"]):
        line = refused(capsys, *history(tmp_path, GOOD), *more)
        assert "holds report.html but no run" in line
    assert (tmp_path / "o" / "report.html").read_text(encoding="utf-8") == "mine"


def test_options_of_another_source_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    run = ["run", "--lm", "extractive", "--benchmark", "sample"]
    assert "--persona: needs --benchmark rhelm" in refused(capsys, *run, "--persona", "Nobody")
    assert "--setting: needs" in refused(capsys, *run, "--setting", "internal")
    assert "--questions-wanted 0" in refused(capsys, *run, "--questions-wanted", "0")


def test_a_record_too_large_for_any_bundle(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = json.dumps({"id": "a", "text": "word " * 5000})
    assert "no record fits a bundle" in refused(capsys, *history(tmp_path, text + "\n"))


def test_one_record_gives_nothing_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*history(tmp_path, GOOD), "--json"]) == 3
    captured = capsys.readouterr()
    assert json.loads(captured.out)["supervision"]["accepted"] == 0
    assert "nothing was accepted" in captured.err


def test_other_scripts_and_emoji_are_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        {"id": f"r{n}", "time": f"2025-01-{n + 1:02d}", "text": text}
        for n, text in enumerate(
            [
                "今日は12本のチューリップを植えました。🌷",
                "Я купил 3 книги.",
                "¡Feliz día! 🎉 Pagué 20 €.",
            ]
        )
    ]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    assert main([*history(tmp_path, text), "--json"]) in (0, 3)
    assert json.loads(capsys.readouterr().out)["benchmark"] == "history"


def test_the_stages_one_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = write_tiny(tmp_path)
    common = [*source, "--lm", "extractive", "--json"]

    def call(*argv: str) -> dict[str, Any]:
        assert main([*argv, *common]) == 0
        captured = capsys.readouterr()
        found: dict[str, Any] = json.loads(captured.out)
        return found

    made = call("supervise", "--out", "s", "--questions-wanted", "10")
    assert made["supervision"]["accepted"] == 10
    assert made["base"] is None
    better = call("optimize", "--supervision", "s", "--out", "o", "--rounds", "2", "--trials", "3")
    assert better["scored_on"] == "validation"
    scored = call("evaluate", "--design", "o/design.json", "--out", "e")
    assert scored["scored_on"] == "official"
    assert scored["design"] == better["design"]
    whole = call("run", "--out", "r", *SMALL)
    assert whole["design"] == better["design"]
    for name in ("base", "optimized"):
        assert whole[name] == scored[name]
        for measure in ("evidence_recall_at_10", "context_coverage", "answer_accuracy"):
            assert 0 <= whole[name][measure] <= 1
    assert whole["questions"] == 8
    assert whole["lm_name"] == "extractive"
    assert set(whole["lm"]) == {"calls", "prompt_tokens", "completion_tokens", "usd"}
    assert isinstance(whole["supervision"]["rejected"], dict)


def test_the_budget_stops_and_the_run_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["run", *write_tiny(tmp_path), "--lm", "extractive", "--out", "r", *SMALL, "--json"]
    assert main([*command, "--budget-calls", "9"]) == 4
    stopped = capsys.readouterr()
    assert json.loads(stopped.out)["exit"] == 4
    assert "goes on from here" in stopped.err
    assert main(command) == 0
    assert json.loads(capsys.readouterr().out)["questions"] == 8
    assert main([*command, "--seed", "5"]) == 2
    assert "field 'seed': 0 there, 5 now" in capsys.readouterr().err


def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("memsteer.eval.runs.load_source", interrupted)
    assert main(["demo"]) == 130


def test_a_model_that_never_answers_ends_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no such key")

    monkeypatch.setattr("memsteer.programs.offline.engine.ExtractiveEngine.complete", broken)
    line = refused(capsys, "supervise", *write_tiny(tmp_path), "--lm", "extractive", "--out", "r")
    assert "none of" in line
    assert "no such key" in line


def test_the_environment_names_a_model_and_demo_needs_none() -> None:
    config, as_json = arguments.read_arguments(
        ["run", "--benchmark", "sample", "--json"], {"MEMSTEER_LM": "openai/x"}
    )
    assert (config.lm, as_json) == ("openai/x", True)
    config, _ = arguments.read_arguments(["demo"], {})
    assert (config.lm, config.source.kind) == ("extractive", "sample")
    config, _ = arguments.read_arguments(["demo", "--role-lm", "judge=a=b"], {})
    assert config.role_lms == {"judge": "a=b"}


def test_help_and_usage_do_not_wait_for_dspy() -> None:
    code = (
        "import sys; from memsteer.eval.cli import main; main(['run']); "
        "assert not {'dspy', 'numpy', 'torch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, timeout=30)


def test_the_package_gives_its_names_when_asked() -> None:
    code = (
        "import sys, memsteer; assert 'dspy' not in sys.modules; "
        "assert all(getattr(memsteer, n).__name__ == n for n in memsteer.__all__); "
        "assert set(memsteer.__all__) <= set(dir(memsteer)); "
        "assert 'torch' not in sys.modules; assert not hasattr(memsteer, 'nope')"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_progress_is_plain_lines_where_there_is_no_terminal() -> None:
    stream = io.StringIO()
    with StreamReporter(stream, every=0.01) as reporter:
        reporter.stage("supervise")
        reporter.watch(lambda: Usage(calls=7, usd=0.5))
        reporter.progress("items", 1, 4)
        time.sleep(0.1)
        reporter.note("a word")
    lines = stream.getvalue().splitlines()
    assert [line for line in lines if line == "supervise: 1/4 items, 7 calls, 0.50 USD [0:00]"]
    assert len(lines) <= 3  # what does not move is not repeated
    assert lines[-1] == "a word"


def test_progress_on_a_terminal_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True)
    with StreamReporter(stream, every=0.01) as reporter:
        reporter.stage("load")
        time.sleep(0.1)
    assert "\n" not in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")
