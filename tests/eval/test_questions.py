"""Reading questions, and what a benchmark offers of them."""

import json
from dataclasses import FrozenInstanceError
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memsteer.eval.questions import Benchmark, Question, load_questions
from memsteer.programs.records import History, HistoryError, Record

HISTORY = History(
    (Record("r1", "The kiln was fired on Monday."), Record("r2", "It cooled slowly."))
)
ROW = {
    "id": "q1",
    "question": "When was the kiln fired?",
    "answer": "Monday",
    "answer_type": "date",
    "evidence": ["r1"],
    "question_time": "2031-03-09T18:30",
}


def write(folder: Path, *rows: Any) -> Path:
    path = folder / "questions.jsonl"
    path.write_text("\n".join(json.dumps(r) if not isinstance(r, str) else r for r in rows))
    return path


def test_a_full_row_and_a_bare_one(tmp_path: Path) -> None:
    bare = {"id": "q2", "question": "Which glaze?", "answer": "Not known"}
    path = write(tmp_path, ROW, "", bare)
    assert load_questions(path, HISTORY) == (
        Question(
            id="q1",
            question="When was the kiln fired?",
            answer="Monday",
            evidence=("r1",),
            answer_type="date",
            time=datetime(2031, 3, 9, 18, 30),
        ),
        Question(id="q2", question="Which glaze?", answer="Not known", evidence=()),
    )


def test_a_line_separator_inside_a_string_does_not_end_the_line(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    row = json.dumps(ROW | {"answer": "on\u2028Monday"}, ensure_ascii=False)
    path.write_text(row, encoding="utf-8")
    assert load_questions(path, HISTORY)[0].answer == "on\u2028Monday"


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"id": None}, "line 2, field 'id': is missing"),
        ({"question": " "}, "line 2, field 'question': is empty"),
        ({"answer": 7}, "line 2, field 'answer': 7 is not a string"),
        ({"answer_type": "colour"}, "line 2, field 'answer_type': 'colour' is not one of number,"),
        ({"evidence": "r1"}, "line 2, field 'evidence': 'r1' is not a list of strings"),
        (
            {"evidence": ["r9"]},
            "line 2, field 'evidence': no record of the history has the id 'r9'",
        ),
        ({"question_time": "soon"}, "line 2, field 'question_time': 'soon' is no ISO date or time"),
        ({"kind": "x"}, "line 2, field 'kind': is not in the schema"),
        ({"id": "q1"}, "line 2, field 'id': 'q1' stands at "),
    ],
)
def test_a_fault_is_told_with_line_and_field(
    tmp_path: Path, change: dict[str, Any], fault: str
) -> None:
    path = write(tmp_path, ROW, ROW | {"id": "q2"} | change)
    with pytest.raises(HistoryError) as caught:
        load_questions(path, HISTORY)
    assert str(caught.value).startswith(f"{path}, {fault}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        (b"{'id': 1}", ", line 1: is not JSON"),
        (b"[1]", ", line 1: is a list, not an object"),
        (b"\n", ": holds no questions"),
        (b"\xff", ": is not UTF-8 text (byte 0)"),
    ],
)
def test_a_file_that_is_no_question_file(tmp_path: Path, content: bytes, fault: str) -> None:
    path = tmp_path / "questions.jsonl"
    path.write_bytes(content)
    with pytest.raises(HistoryError) as caught:
        load_questions(path, HISTORY)
    assert str(caught.value).startswith(f"{path}{fault}")


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="cannot be read"):
        load_questions(tmp_path / "none.jsonl", HISTORY)


def test_an_example_holds_what_programs_read_and_metrics_need() -> None:
    question = Question("q", "When?", "Monday", ("r1",), "date", datetime(2031, 3, 9))
    example = question.to_example()
    assert dict(example.inputs()) == {"question": "When?", "question_time": "2031-03-09"}
    assert dict(example.labels()) == {
        "id": "q",
        "answer": "Monday",
        "answer_type": "date",
        "evidence": ["r1"],
        "official": True,
    }


@pytest.mark.parametrize(
    ("time", "when"),
    [
        (None, ""),
        (datetime(2031, 3, 9), "2031-03-09"),
        (datetime(2031, 3, 9, 18, 30, 5), "2031-03-09T18:30"),
    ],
)
def test_when_a_question_is_asked(time: datetime | None, when: str) -> None:
    assert Question("q", "?", "!", (), time=time).when == when


def test_scored_are_the_questions_with_evidence_in_the_corpus() -> None:
    inside, outside, none = (Question(i, "?", "!", e) for i, e in zip("abc", IDS, strict=True))
    benchmark = Benchmark("b", HISTORY, (inside, outside, none))
    assert benchmark.scored == (inside,)
    with pytest.raises(FrozenInstanceError):
        benchmark.name = "c"  # type: ignore[misc]


IDS = (("r1", "gone"), ("gone",), ())
