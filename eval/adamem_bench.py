"""AdaMem-Bench (galaxyChen/AdaMem, MIT): weeks of one person's dated chats, asked about weekly.

Layout: `data/scaling/story_N/` with `character_profiles.json`, `outline.json`, `weekW.json` for
each week of the outline, and `test_qa.json`. A missing file or a value of the wrong type is a
`HistoryError` of one line (file, place, field); what is merely irregular is in `Story.report`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memsteer.eval.adamem_irregular import irregularities
from memsteer.eval.adamem_story import (
    Conversation,
    GoldenRef,
    Message,
    Outline,
    OutlineWeek,
    Profile,
    Scenario,
    SessionRef,
    Story,
    StoryQuestion,
    Week,
)
from memsteer.eval.sources import parse_object, read_text, string, strings
from memsteer.programs.records import HistoryError

_FOLDER = re.compile(r"story_(\d+)")

Row = Mapping[str, Any]


def stories(data: Path | str) -> tuple[int, ...]:
    """The numbers of the stories in `data` (which holds `data/scaling/story_N`), ascending."""
    root = Path(data) / "data" / "scaling"
    if not root.is_dir():
        raise HistoryError(f"{data}: has no folder 'data/scaling'; give AdaMem-Bench's folder")
    matches = (_FOLDER.fullmatch(p.name) for p in root.iterdir() if p.is_dir())
    return tuple(sorted(int(m[1]) for m in matches if m))


def story_folder(data: Path | str, story: int) -> Path:
    """The folder of a story. Raises `HistoryError` where there is none."""
    known = stories(data)
    if story not in known:
        names = ", ".join(map(str, known)) or "none"
        raise HistoryError(f"{data}: has no story {story}; known: {names}")
    return Path(data) / "data" / "scaling" / f"story_{story}"


def load_story(data: Path | str, story: int) -> Story:
    """Read story `story` of the folder `data`. Raises `HistoryError`."""
    folder = story_folder(data, story)
    outline = _outline(folder / "outline.json")
    loaded = Story(
        number=story,
        profiles=_profiles(folder / "character_profiles.json"),
        weeks=tuple(read_week(folder / f"week{w.number}.json", w.number) for w in outline.weeks),
        outline=outline,
        questions=tuple(_questions(folder / "test_qa.json")),
    )
    return replace(loaded, report=irregularities(loaded))


def read_week(path: Path, number: int) -> Week:
    """The conversations of a `weekW.json`. Raises `HistoryError`."""
    data = parse_object(str(path), read_text(path))
    found = _integer(str(path), data, "week")
    if found != number:
        raise HistoryError(f"{path}, field 'week': is {found}, the file's name says {number}")
    rows = _rows(str(path), data, "conversations")
    conversations = tuple(_conversation(place, row, number) for place, row in rows)
    _distinct(str(path), "session_id", [c.session_id for c in conversations])
    return Week(number, conversations)


def _conversation(place: str, row: Row, week: int) -> Conversation:
    messages = tuple(
        Message(string(where, message, "role"), string(where, message, "content", required=False))
        for where, message in _rows(place, row, "messages")
    )
    return Conversation(
        week=week,
        session_id=string(place, row, "session_id"),
        date=_date(place, row),
        day=string(place, row, "day", required=False),
        topic=string(place, row, "topic", required=False),
        topic_anchor=string(place, row, "topic_anchor", required=False),
        focal_character=string(place, row, "focal_character"),
        characters=strings(place, row, "characters_mentioned"),
        messages=messages,
        goldens=strings(place, row, "golden_memories"),
    )


def _profiles(path: Path) -> Mapping[str, Profile]:
    found = {}
    for name, row in parse_object(str(path), read_text(path)).items():
        place = f"{path}, {name!r}"
        if not isinstance(row, Mapping):
            raise HistoryError(f"{place}: is a {type(row).__name__}, not an object with fields")
        found[name] = Profile(
            name=name,
            feedback=string(place, row, "preference_feedback"),
            preference_id=string(place, row, "preference_id", required=False),
            description=string(place, row, "preference_desc"),
        )
    return MappingProxyType(found)


def _outline(path: Path) -> Outline:
    data = parse_object(str(path), read_text(path))
    weeks = tuple(_outline_week(place, row) for place, row in _rows(str(path), data, "weeks"))
    _distinct(str(path), "week", [str(w.number) for w in weeks])
    if not weeks:
        raise HistoryError(f"{path}, field 'weeks': is empty")
    return Outline(string(str(path), data, "theme", required=False), weeks)


def _outline_week(place: str, row: Row) -> OutlineWeek:
    number = _integer(place, row, "week")
    scenarios = tuple(
        _scenario(where, scenario, number, index)
        for index, (where, scenario) in enumerate(_rows(place, row, "scenarios"))
    )
    return OutlineWeek(
        number=number,
        date_range=string(place, row, "date_range", required=False),
        topic_anchors=strings(place, row, "topic_anchors"),
        scenarios=scenarios,
    )


def _scenario(place: str, row: Row, week: int, index: int) -> Scenario:
    reference = row.get("supersedes_key_info_ref")
    supersedes = None
    if reference is not None:
        where = f"{place}, field 'supersedes_key_info_ref'"
        if not isinstance(reference, Mapping):
            raise HistoryError(f"{where}: {reference!r} is not an object with fields")
        supersedes = SessionRef(
            _integer(where, reference, "week"), _integer(where, reference, "session_index")
        )
    return Scenario(
        week=week,
        index=index,
        date=_date(place, row),
        focal_character=string(place, row, "focal_character"),
        topic_anchor=string(place, row, "topic_anchor", required=False),
        topic=string(place, row, "topic", required=False),
        characters=strings(place, row, "characters_mentioned"),
        key_info=strings(place, row, "key_info"),
        noise_info=strings(place, row, "noise_info"),
        supersedes=supersedes,
    )


def _questions(path: Path) -> Iterator[StoryQuestion]:
    data = parse_object(str(path), read_text(path))
    rows = list(_rows(str(path), data, "test_questions"))
    _distinct(str(path), "question_id", [string(p, r, "question_id") for p, r in rows])
    for place, row in rows:
        feedback = string(place, row, "golden_feedback")
        yield StoryQuestion(
            week=_integer(place, row, "test_week"),
            id=string(place, row, "question_id"),
            kind=string(place, row, "qa_type", required=False),
            character=string(place, row, "character"),
            topic_anchor=string(place, row, "topic_anchor", required=False),
            question=string(place, row, "question"),
            answer=string(place, row, "gold_answer"),
            feedback=feedback.removesuffix("."),
            target_memory=string(place, row, "target_memory", required=False),
            targets=tuple(_targets(place, row)),
            category=string(place, row, "info_category", required=False),
            relative_answer=string(place, row, "_dual_date_old_gold_answer", required=False),
            ends_in_stop=feedback.endswith("."),
        )


def _targets(place: str, row: Row) -> Iterator[GoldenRef]:
    for where, ref in _rows(place, row, "target_memory_refs"):
        yield GoldenRef(
            _integer(where, ref, "week"),
            string(where, ref, "session_id"),
            _integer(where, ref, "index"),
        )


def _rows(place: str, data: Row, name: str) -> Iterator[tuple[str, Row]]:
    """The objects in the list field `name`, each with its place ("…, name 3", from 0)."""
    rows = data.get(name)
    if not isinstance(rows, list):
        fault = "is missing" if rows is None else "is not a list"
        raise HistoryError(f"{place}, field {name!r}: {fault}")
    for index, row in enumerate(rows):
        where = f"{place}, {name} {index}"
        if not isinstance(row, Mapping):
            raise HistoryError(f"{where}: is a {type(row).__name__}, not an object with fields")
        yield where, row


def _integer(place: str, row: Row, name: str) -> int:
    value = row.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        fault = "is missing" if value is None else f"{value!r} is not a whole number"
        raise HistoryError(f"{place}, field {name!r}: {fault}")
    return value


def _date(place: str, row: Row) -> date:
    text = string(place, row, "date")
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise HistoryError(f"{place}, field 'date': {text!r} is no date (YYYY-MM-DD)") from error


def _distinct(place: str, name: str, values: list[str]) -> None:
    twice = next((v for v in values if values.count(v) > 1), None)
    if twice is not None:
        raise HistoryError(f"{place}, field {name!r}: {twice!r} stands twice")
