"""The README's Python runs as it stands, with the offline engine and a small history."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def code_after(marker: str) -> str:
    found = re.search(rf"{re.escape(marker)}.*?```python\n(.*?)```", README, re.DOTALL)
    assert found, f"the README has no Python behind {marker!r}"
    return found[1]


def test_the_quick_start_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sample = (ROOT / "eval/sample/history.jsonl").read_text(encoding="utf-8").splitlines()[:80]
    # References may point past the cut: a smaller history has none.
    rows = [re.sub(r'"references": \[[^\]]*\]', '"references": []', line) for line in sample]
    (tmp_path / "me.jsonl").write_text("\n".join(rows), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code = code_after("<!-- quickstart")
    for text, smaller in {
        'dspy.LM("openai/gpt-4.1-mini")': "offline_lm()",
        "questions=200": "questions=8, num_threads=1",
        "MemSteerOpt()": "MemSteerOpt(rounds=1, trials=2, num_threads=1)",
    }.items():
        assert text in code
        code = code.replace(text, smaller)
    names: dict[str, object] = {}
    exec("from memsteer import offline_lm\n" + code, names)
    assert len(names["supervision"].items) == 8  # type: ignore[attr-defined]
    assert names["better"].optimization.steps  # type: ignore[attr-defined]
    assert capsys.readouterr().out.strip()
    assert '"design"' in (tmp_path / "better.json").read_text(encoding="utf-8")


def test_the_json_lines_are_a_history(tmp_path: Path) -> None:
    from memsteer import History

    found = re.search(r"```json\n(.*?)```", README, re.DOTALL)
    assert found
    path = tmp_path / "h.jsonl"
    path.write_text(found[1], encoding="utf-8")
    history = History.from_jsonl(path)
    assert [r.id for r in history] == ["lease-3", "c1-2"]
    assert history["c1-2"].own_words == "The garage swapped my tyres."


def test_every_command_in_it_exists() -> None:
    from memsteer.eval.arguments import parse, read_arguments

    lines = re.findall(r"^    (memsteer .+)$", README, re.MULTILINE)
    assert len(lines) >= 3
    for line in lines:
        if hasattr(parse(line.split()[1:]), "handler"):
            continue  # no run, and read without a fault
        config, as_json = read_arguments(line.split()[1:], {})
        assert config.command == line.split()[1]
        assert as_json is ("--json" in line)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"`?make (\w+)`?", README):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
