"""RHELM: records and evidence of a small made-up persona, worked out by hand."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memsteer.eval.questions import Benchmark, Question
from memsteer.eval.rhelm import load_rhelm, personas
from memsteer.programs.records import History, HistoryError

LINE = "=" * 60
NOTES = """\
Drafted on the train.

# The Shed

## 1. Costs of *Paint*
Ten cans.
### Brushes
Two brushes.

## Colours
Blue for the door.

## Colours
Grey for the roof.

**Second phase: the floor**

## Left blank
"""
REPORT = """<html><head><title>x</title></head><body><h1>Roof Report</h1><p>Dry inside.</p>
<h2>2. Leaks</h2><ul><li>north side</li></ul><h3>Header Beams</h3><p>Sound.</p></body></html>"""
MAILS = [f"Emails_2031-03-01:{n}" for n in (1, 2, 3)]
ROOF = ["01_report_task_bb.html#1", "01_report_task_bb.html#2"]
QUESTIONS: dict[str, tuple[list[str], list[str], list[str]]] = {
    # id: (references, evidence, unresolved); every form: test_rhelm_references.py
    "turn": (["2031-03-01:2"], ["2031-03-01:2"], []),
    "numbers": (["2031-03-01:1, 2,9"], ["2031-03-01:1", "2031-03-01:2"], ["2031-03-01:9"]),
    "past-the-end": (["2031-03-04:7"], [], ["2031-03-04:7"]),
    "words": (["01_notes_task_aa.md:Drafted"], ["01_notes_task_aa.md#1"], []),
    "file": (["01_report_task_bb.html"], ROOF, []),
    "no-file": (["09_notes_task_zz.md:Part: two"], [], ["09_notes_task_zz.md:Part: two"]),
    "mail-number": (["Emails_2031-03-01:Email 2"], MAILS[1:2], []),
    "mail-day": (["Emails_2031-03-01:Email"], MAILS, []),
    "mail-no-day": (["Emails_2031-03-02:Email"], [], ["Emails_2031-03-02:Email"]),
    "mixed": (["2031-03-04:1", MAILS[0], "2031-03-04:1"], ["2031-03-04:1", MAILS[0]], []),
    "nothing-cited": ([], [], []),
}


def email(sender: str, recipient: str, subject: str, summary: str) -> str:
    return f"Sender: {sender}\nRecipient: {recipient}\nSubject: {subject}\nSummary: {summary}\n\n"


def turn(number: int, time: str, **more: str) -> dict[str, Any]:
    said = {"user": f" said {number} ", "assistant": f"heard {number}"}
    return {"turn": number, "timestamp": time, "message_type": "scheduling"} | said | more


def session(folder: Path, number: int, day: str, turns: list[dict[str, Any]]) -> None:
    event = f"outputs/plans/X/{number:02}_resolution_{day}.json"
    content = {"event_file": event, "conversation": turns, "statistics": {"total_turns": 99}}
    (folder / f"conversation_{day}.json").write_text(json.dumps(content))


def ask(path: Path) -> None:
    rows = [
        {
            "id": name,
            "question": "Which?",
            "answer": "x",
            "question_date": "2031-03-20" if name != "turn" else "2031-03-01",
            "question_type": "fact",
            "supporting_evidence": references,
        }
        for name, (references, _, _) in QUESTIONS.items()
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    talks, mails, files = (
        tmp_path / part / "Ada_M._Byron" for part in ("conversations", "emails", "attachments")
    )
    for folder in (talks, mails, files, tmp_path / "conversations/Bo_Lin", tmp_path / "QA_final"):
        folder.mkdir(parents=True)
    morning = [
        turn(1, "2031-03-01T08:00:00"),
        turn(2, "2031-03-01T08:01:30", research_document="01_notes_task_aa"),
        turn(3, "2031-03-01T09:00:00"),
    ]
    session(talks, 1, "2031_03_01", morning)
    lost = turn(1, "2031-03-04T10:00:00", research_document="02_report_task_lost")
    session(talks, 2, "2031_03_04", [lost])
    ada, bea, cy = "Ada M. Byron <a@x.org>", "Bea Coe <b@x.org>", "Cy Dow <c@x.org>"
    blocks = [
        email(ada, bea, "The ladder", "She asks for it."),
        email(cy, ada, "Nails", "He has: many."),
        email(ada, cy, "Re: Nails", "Thanks."),
    ]
    (mails / "01_email_2031_03_01.txt").write_text(f"{LINE}\n\n".join(blocks))
    odd = f"No e-mail at all\n{LINE}\n{email(bea, ada, 'Late', 'Sorry.')}{LINE}\n"
    (mails / "03_email_2031_03_09.txt").write_text(odd)
    (files / "01_notes_task_aa.md").write_text(NOTES)
    (files / "01_report_task_bb.html").write_text(REPORT)
    (files / "02_notes_task_dd.md").write_text("# Only a title\n")
    (files / "07_notes_task_cc.md").write_text("No heading here.")
    ask(tmp_path / "QA_final/low_score_qa_Ada_M._Byron_all_validated.jsonl")
    return tmp_path


@pytest.fixture
def loaded(data: Path) -> Benchmark:
    return load_rhelm(data, "Ada M. Byron")


def test_personas_and_their_two_spellings(data: Path) -> None:
    assert personas(data) == ("Ada M. Byron", "Bo Lin")
    by_folder, by_name = load_rhelm(data, "Ada_M._Byron"), load_rhelm(str(data), "Ada M. Byron")
    assert by_folder == by_name
    assert (by_name.name, by_name.history.person) == ("rhelm/Ada_M._Byron", "Ada M. Byron")


def test_the_records_in_order(loaded: Benchmark) -> None:
    assert [r.id for r in loaded.history] == [
        "01_notes_task_aa.md#1",
        "01_notes_task_aa.md#2",
        "01_notes_task_aa.md#3",
        "01_notes_task_aa.md#4",
        "01_report_task_bb.html#1",
        "01_report_task_bb.html#2",
        "Emails_2031-03-01:1",
        "Emails_2031-03-01:2",
        "Emails_2031-03-01:3",
        "2031-03-01:1",
        "2031-03-01:2",
        "2031-03-01:3",
        "2031-03-04:1",
        "Emails_2031-03-09:1",
        "07_notes_task_cc.md#1",
    ]


def test_a_turn(loaded: Benchmark) -> None:
    record = loaded.history["2031-03-01:2"]
    assert record.text == "User: said 2\nAssistant: heard 2"
    assert (record.said_by("user"), record.said_by("assistant")) == ("said 2", "heard 2")
    assert (record.kind, record.group, record.position) == (
        "conversation",
        "conversation/2031-03-01",
        2,
    )
    assert record.time == datetime(2031, 3, 1, 8, 1, 30)
    assert record.references == ("01_notes_task_aa.md#1",)
    assert dict(record.metadata) == {"message_type": "scheduling"}


def test_an_email(loaded: Benchmark) -> None:
    record = loaded.history["Emails_2031-03-01:2"]
    assert record.text == "From: Cy Dow <c@x.org>\nTo: Ada M. Byron <a@x.org>\nHe has: many."
    assert (record.kind, record.title, record.group) == ("email", "Nails", "emails/2031-03-01")
    assert (record.position, record.time) == (2, datetime(2031, 3, 1))
    assert record.metadata["sender"] == "Cy Dow <c@x.org>"
    assert record.metadata["recipient"] == "Ada M. Byron <a@x.org>"


def test_sections(loaded: Benchmark) -> None:
    preamble, paint = (loaded.history[f"01_notes_task_aa.md#{n}"] for n in (1, 2))
    assert (preamble.title, preamble.text) == ("", "Drafted on the train.")
    assert (paint.title, paint.text) == (
        "1. Costs of Paint",
        "Ten cans.\n### Brushes\nTwo brushes.",
    )
    assert (paint.kind, paint.group, paint.position) == ("document", "01_notes_task_aa.md", 2)
    assert paint.time == datetime(2031, 3, 1)
    leaks = loaded.history["01_report_task_bb.html#2"]
    assert leaks.text == "- north side\n### Header Beams\nSound."
    assert loaded.history["07_notes_task_cc.md#1"].time is None


def test_the_history_survives_a_round_trip(loaded: Benchmark, tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    loaded.history.to_jsonl(path)
    again = History.from_jsonl(path, person="Ada M. Byron")
    assert [r.text for r in again] == [r.text for r in loaded.history]


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_evidence_of_each_question(loaded: Benchmark, name: str) -> None:
    _, evidence, unresolved = QUESTIONS[name]
    question = next(q for q in loaded.questions if q.id == name)
    assert list(question.evidence) == evidence
    assert list(question.unresolved) == unresolved


def test_a_question(loaded: Benchmark) -> None:
    time = datetime(2031, 3, 1)
    expected = Question(
        "turn", "Which?", "x", ("2031-03-01:2",), answer_type=None, time=time, category="fact"
    )
    assert loaded.questions[0] == expected


def test_scored_leaves_out_what_has_no_evidence(loaded: Benchmark) -> None:
    unscored = {q.id for q in loaded.questions} - {q.id for q in loaded.scored}
    assert unscored == {"past-the-end", "no-file", "mail-no-day", "nothing-cited"}


def test_the_report_names_every_irregularity(loaded: Benchmark) -> None:
    file_level = "names no heading of the file; sections that count as evidence:"
    assert loaded.report == (
        "02_notes_task_dd.md: holds no text and gives no record",
        "07_notes_task_cc.md: no session has its number, so it has no date",
        "03_email_2031_03_09.txt, block 1: is no e-mail and was left out",
        "turn 2031-03-04:1: its attachment '02_report_task_lost' does not exist",
        "question numbers: '2031-03-01:9' names no record",
        "question past-the-end: '2031-03-04:7' names no record",
        f"question words: '01_notes_task_aa.md:Drafted' {file_level} 1",
        f"question file: '01_report_task_bb.html' {file_level} 2",
        "question no-file: '09_notes_task_zz.md:Part: two' names no record",
        "question mail-no-day: 'Emails_2031-03-02:Email' names no record",
        "e-mail references to a whole day, whose e-mails all count as evidence: 1",
        "questions with evidence from the day they are asked on or later: 1",
    )


def test_without_external_sources_the_corpus_is_the_turns(data: Path) -> None:
    loaded = load_rhelm(data, "Ada M. Byron", external=False)
    assert [r.id for r in loaded.history] == [f"2031-03-01:{n}" for n in (1, 2, 3)] + [
        "2031-03-04:1"
    ]
    assert all(r.references == () for r in loaded.history)
    assert loaded.name == "rhelm-turns/Ada_M._Byron"
    assert {q.id for q in loaded.scored} == {"turn", "numbers", "mixed"}
    assert len(loaded.questions) == len(QUESTIONS)
    mixed = next(q for q in loaded.questions if q.id == "mixed")
    assert (mixed.evidence, mixed.unresolved) == (("2031-03-04:1",), ("Emails_2031-03-01:1",))
    assert loaded.report == (
        "question numbers: '2031-03-01:9' names no record",
        "question past-the-end: '2031-03-04:7' names no record",
        "questions with evidence from the day they are asked on or later: 1",
        "references to e-mails and attachments, outside this corpus: 7",
    )


def test_an_unknown_persona_is_told_the_known_ones(data: Path) -> None:
    with pytest.raises(HistoryError, match=r"no persona 'Eve'; known: Ada M\. Byron, Bo Lin$"):
        load_rhelm(data, "Eve")


def test_a_folder_without_the_layout(tmp_path: Path) -> None:
    with pytest.raises(HistoryError, match="has no folder 'conversations'"):
        personas(tmp_path)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("{", ": is not JSON"),
        ('{"conversation": []}', ", field 'event_file': is missing"),
        ('{"event_file": "1_x", "conversation": 3}', ", field 'conversation': is not a list"),
        (
            '{"event_file": "1_x", "conversation": [{"turn": "a"}]}',
            ", turn 1, field 'turn': 'a' is not a whole number",
        ),
        (
            '{"event_file": "1_x", "conversation": [{"turn": 1, "user": " "}]}',
            ", turn 1, fields 'user' and 'assistant': both are empty",
        ),
        (
            '{"event_file": "1_x", "conversation": [{"turn": 1, "user": "a", "timestamp": "b"}]}',
            ", turn 1, field 'timestamp': 'b' is no ISO date",
        ),
    ],
)
def test_a_broken_conversation_is_told_with_its_place(data: Path, content: str, fault: str) -> None:
    path = data / "conversations/Ada_M._Byron/conversation_2031_03_04.json"
    path.write_text(content)
    with pytest.raises(HistoryError) as caught:
        load_rhelm(data, "Ada M. Byron")
    assert str(caught.value).startswith(f"{path}{fault}")


def test_a_session_without_a_number_dates_nothing(data: Path) -> None:
    path = data / "conversations/Ada_M._Byron/conversation_2031_03_01.json"
    path.write_text(json.dumps({"event_file": "x", "conversation": []}))
    loaded = load_rhelm(data, "Ada M. Byron")
    assert f"{path.name}: its event_file has no number, so it dates no attachment" in loaded.report
    assert loaded.history["01_notes_task_aa.md#1"].time is None


def test_a_file_name_without_a_date(data: Path) -> None:
    (data / "emails/Ada_M._Byron/04_email.txt").write_text("")
    with pytest.raises(HistoryError, match="does not end in a date"):
        load_rhelm(data, "Ada M. Byron")
