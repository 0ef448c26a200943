"""Records and histories: what is read, in which order, and how bad input is named."""

import copy
import json
import pickle
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest
from datasets import Dataset
from hypothesis import given
from hypothesis import strategies as st
from small import history, note

from memsteer.programs.records import (
    History,
    HistoryError,
    Record,
    Utterance,
    parse_time,
    turn_text,
)

ROW: dict[str, Any] = {
    "id": "t1",
    "kind": "conversation",
    "time": "2024-05-04T08:15:30",
    "messages": [
        {"role": "user", "content": "My dog is 🐶 ill."},
        {"role": "assistant", "content": "Poor dog!"},
        {"role": "user", "content": "Yes."},
    ],
    "title": "Vet",
    "group": "g",
    "position": 2,
    "references": ["t0"],
    "metadata": {"with": "Lila", "page": 3, "none": None},
}
ROWS: list[dict[str, Any]] = [{"id": "t0", "text": "Before."}, ROW]


def test_a_conversation_turn() -> None:
    record = History.from_rows(ROWS)["t1"]
    assert record.text == "User: My dog is 🐶 ill.\nAssistant: Poor dog!\nUser: Yes."
    assert record.own_words == "My dog is 🐶 ill.\nYes."
    assert record.said_by("assistant") == "Poor dog!"
    assert record.said_by("nobody") == ""
    assert record.metadata == {"with": "Lila", "page": "3"}
    assert record.when == "2024-05-04T08:15"
    # User : My dog is 🐶 ill . / Assista nt : Poor dog ! / User : Yes .
    assert record.tokens == 8 + 6 + 4
    assert record.as_source().title == "Vet"


def test_defaults() -> None:
    record = History.from_rows([{"id": "a", "text": "x"}])["a"]
    assert record == Record(id="a", text="x")
    assert (record.kind, record.when, record.own_words) == ("note", "", "x")
    assert note("b", "x", 4).when == "2024-05-04"


def test_order_is_time_then_group_and_position_with_the_undated_last() -> None:
    records = [
        note("undated", "x"),
        note("late", "x", 3),
        note("b", "x", 2, group="g", position=1),
        note("a", "x", 2, group="g", position=2),
        note("early", "x", 1),
    ]
    held = history(*records)
    assert [r.id for r in held] == ["early", "b", "a", "late", "undated"]
    assert held.index["late"] == 3
    assert [r.id for r in held.groups["g"]] == ["b", "a"]
    assert "" not in held.groups
    assert len(held) == 5


def test_a_history_without_any_time_is_ordered_by_id() -> None:
    assert [r.id for r in history(note("b", "x"), note("a", "x"))] == ["a", "b"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": ""}, "row 2, field 'id': is missing or empty"),
        ({"id": "t0"}, "row 2, field 'id': 't0' stands at row 1 already"),
        ({"id": 3}, "row 2, field 'id': 3 is not a string"),
        ({"text": "x"}, "row 2: has both 'text' and 'messages'"),
        ({"messages": []}, "row 2, field 'text': is missing or empty"),
        ({"messages": "hi"}, "row 2, field 'messages': is not a list"),
        ({"messages": [{"role": "user", "content": " "}]}, "'messages': every content is empty"),
        ({"kind": "tweet"}, "row 2, field 'kind': 'tweet' is not one of conversation,"),
        ({"time": "May 4"}, "row 2, field 'time': 'May 4' is no ISO date"),
        ({"position": "2"}, "row 2, field 'position': '2' is not a whole number"),
        ({"position": True}, "row 2, field 'position': True is not a whole number"),
        ({"references": "t0"}, "row 2, field 'references': is not a list of record ids"),
        ({"references": ["t9"]}, "row 2, field 'references': no record has the id 't9'"),
        ({"metadata": [1]}, "row 2, field 'metadata': is not an object"),
        ({"sender": "Lila"}, "row 2, field 'sender': is not in the schema"),
    ],
)
def test_bad_rows_are_refused_by_row_and_field(change: dict[str, Any], said: str) -> None:
    with pytest.raises(HistoryError) as caught:
        History.from_rows([ROWS[0], ROW | change])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_records_are_checked_too() -> None:
    with pytest.raises(HistoryError, match="holds no records"):
        history()
    with pytest.raises(HistoryError, match="'a' is used twice"):
        history(note("a", "x"), note("a", "y"))
    with pytest.raises(HistoryError, match="no record has the id 'z'"):
        history(note("a", "x", references=("z",)))
    with pytest.raises(HistoryError, match="row 1: is a str, not an object"):
        History.from_rows(["x"])  # type: ignore[list-item]


def test_bad_files_are_refused_by_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    with pytest.raises(HistoryError, match=r"h\.jsonl: cannot be read \(No such file"):
        History.from_jsonl(path)
    path.write_bytes(b'{"id": "\xff"}')
    with pytest.raises(HistoryError, match="is not UTF-8 text"):
        History.from_jsonl(path)
    path.write_text('{"id": "a", "text": "x"}\n\n{oops\n')
    with pytest.raises(HistoryError, match=r"h\.jsonl, line 3: is not JSON"):
        History.from_jsonl(path)
    path.write_text("\n")
    with pytest.raises(HistoryError, match="holds no records"):
        History.from_jsonl(path)


@pytest.mark.parametrize("text", ["a\u2028b\u0085c", "東京 🎉\nzweite Zeile", "\u200bx"])
def test_jsonl_round_trip(tmp_path: Path, text: str) -> None:
    rows = [{"id": "t0", "text": text, "time": "2024-05-04"}, ROW]
    before = History.from_rows(rows, person="p")
    before.to_jsonl(tmp_path / "h.jsonl")
    after = History.from_jsonl(tmp_path / "h.jsonl", person="p")
    assert after == before
    assert after["t1"].time == datetime(2024, 5, 4, 8, 15, 30)


def test_half_an_emoji_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "h.jsonl"
    rows = [
        {"id": "a", "text": "Wow \ud83d"},
        {"id": "b", "messages": [{"role": "user", "content": "\ude00 🎉"}]},
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    held = History.from_jsonl(path)
    assert (held["a"].text, held["b"].text) == ("Wow ?", "User: ? 🎉")
    held.to_jsonl(path)
    assert History.from_jsonl(path) == held


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "h.jsonl").write_text('{"id": "a", "text": "x"}', encoding="utf-8-sig")
    assert History.from_jsonl(tmp_path / "h.jsonl").records == (note("a", "x"),)


def test_from_dataset() -> None:
    rows = [
        {"id": "a", "text": "x", "time": "2024-05-04", "references": None, "metadata": {"k": "v"}},
        {"id": "b", "text": "y", "time": None, "references": ["a"], "metadata": {"k": None}},
    ]
    held = History.from_dataset(Dataset.from_list(rows), person="p")
    assert held.person == "p"
    assert held["b"].references == ("a",)
    assert (held["a"].metadata, held["b"].metadata) == ({"k": "v"}, {})


def test_records_and_histories_can_be_copied_pickled_and_hashed() -> None:
    held = History.from_rows(ROWS)
    assert held.by_id["t0"].id == "t0"  # the cached look-ups must not be in the way
    assert held.groups
    for value in (held, held["t1"]):
        assert copy.deepcopy(value) is value
        assert pickle.loads(pickle.dumps(value)) == value
        assert hash(pickle.loads(pickle.dumps(value))) == hash(value)


def test_metadata_cannot_be_changed_from_outside() -> None:
    metadata = {"k": "v"}
    record = note("a", "x", metadata=metadata)
    metadata["k"] = "other"
    assert record.metadata == {"k": "v"}
    with pytest.raises(TypeError):
        record.metadata["k"] = "other"  # type: ignore[index]


def test_parse_time() -> None:
    assert parse_time("p", None) is None
    assert parse_time("p", "") is None
    assert parse_time("p", "2024-05-04") == datetime(2024, 5, 4)
    assert parse_time("p", date(2024, 5, 4)) == datetime(2024, 5, 4)
    # A zone is dropped and not converted.
    assert parse_time("p", "2024-05-04T08:15:00+09:00") == datetime(2024, 5, 4, 8, 15)
    with pytest.raises(HistoryError, match="p, field 'asked': 5 is no ISO date"):
        parse_time("p", 5, "asked")


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant"]), st.text())))
def test_turn_text_spans_hold_what_was_said(messages: list[tuple[str, str]]) -> None:
    text, utterances = turn_text(messages)
    assert [(u.role, text[u.start : u.end]) for u in utterances] == messages


@given(st.text(min_size=1).filter(str.strip), st.none() | st.datetimes())
def test_any_text_and_time_round_trip(text: str, when: datetime | None) -> None:
    before = history(Record(id="a", text=text.strip(), time=when))
    rows = json.loads(json.dumps([r.to_row() for r in before]))
    assert History.from_rows(rows) == before


def test_utterances_are_spans_of_the_text() -> None:
    text, utterances = turn_text([("user", "Hi."), ("assistant", "")])
    assert text == "User: Hi.\nAssistant: "
    assert utterances == (Utterance("user", 6, 9), Utterance("assistant", 21, 21))
