"""Records: one person's history as frozen values, read from JSONL, rows or a `datasets.Dataset`.

A record is the smallest thing that can be evidence: a conversation turn, an e-mail, a section of
a document, a photo caption. Bad input is refused with the place and the field that is wrong.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import date, datetime, time
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memsteer.programs.text import count_tokens
from memsteer.signatures.supervision import SourceRecord

KINDS = ("conversation", "email", "document", "photo", "note")
# The JSONL schema; anything else belongs into metadata.
_FIELDS = frozenset(
    {"id", "kind", "time", "text", "messages", "title"}
    | {"group", "position", "references", "metadata"}
)


class HistoryError(ValueError):
    """Input that is no history: one line that says where, which field, and what to do."""


@dataclass(frozen=True)
class Span:
    """Characters `start` to `end` (exclusive) of the text of record `record_id`."""

    record_id: str
    start: int
    end: int


@dataclass(frozen=True)
class Utterance:
    """What one speaker said inside a conversation turn: characters `start` to `end` of its text."""

    role: str
    start: int
    end: int


@dataclass(frozen=True)
class Record:
    """One record of a history.

    `time` is when it happened, in the person's own local time (no zone); `group` joins the turns
    of a conversation, the messages of a thread, the sections of a document; `position` orders
    records inside their group; `references` are ids of other records.
    """

    id: str
    text: str
    kind: str = "note"
    time: datetime | None = None
    title: str = ""
    group: str = ""
    position: int = 0
    references: tuple[str, ...] = ()
    utterances: tuple[Utterance, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "metadata", MappingProxyType(dict(self.metadata)))

    def __deepcopy__(self, memo: dict[int, Any]) -> "Record":
        return self  # frozen

    def __reduce__(self) -> tuple[Any, ...]:
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        values["metadata"] = dict(self.metadata)  # a mapping proxy cannot be pickled
        return type(self), tuple(values.values())

    def said_by(self, role: str) -> str:
        """What `role` said in this record, joined by newlines; empty if nothing."""
        return "\n".join(self.text[u.start : u.end] for u in self.utterances if u.role == role)

    @cached_property
    def own_words(self) -> str:
        """What the person said; for a record without speakers, the whole text."""
        return self.said_by("user") if self.utterances else self.text

    @cached_property
    def tokens(self) -> int:
        return count_tokens(self.text)

    @property
    def when(self) -> str:
        """The time in ISO form; the date alone where no time of day is known; empty if unknown."""
        if self.time is None:
            return ""
        if self.time.time() == time.min:
            return self.time.date().isoformat()
        return self.time.isoformat(timespec="minutes")

    def as_source(self) -> SourceRecord:
        """The record as the roles see it."""
        return SourceRecord(
            record_id=self.id, kind=self.kind, time=self.when, title=self.title, text=self.text
        )

    def to_row(self) -> dict[str, Any]:
        """The JSONL row that `History.from_rows` reads back as this record."""
        row: dict[str, Any] = {"id": self.id, "kind": self.kind}
        if self.time is not None:
            row["time"] = self.time.isoformat() if self.time.time() != time.min else self.when
        if self.utterances:
            row["messages"] = [
                {"role": u.role, "content": self.text[u.start : u.end]} for u in self.utterances
            ]
        else:
            row["text"] = self.text
        optional = {
            "title": self.title,
            "group": self.group,
            "position": self.position,
            "references": list(self.references),
            "metadata": dict(self.metadata),
        }
        return row | {name: value for name, value in optional.items() if value}


def turn_text(messages: Iterable[tuple[str, str]]) -> tuple[str, tuple[Utterance, ...]]:
    """Render (role, content) pairs as one text, with the span of each content in it."""
    text, utterances = "", []
    for role, content in messages:
        text += ("\n" if text else "") + f"{role.capitalize()}: "
        utterances.append(Utterance(role, len(text), len(text) + len(content)))
        text += content
    return text, tuple(utterances)


@dataclass(frozen=True)
class History:
    """One person's records, ordered by time (records without one last), then group and position."""

    records: tuple[Record, ...]
    person: str = ""

    def __post_init__(self) -> None:
        if not self.records:
            raise HistoryError("the history holds no records: give at least one")
        ordered = sorted(
            self.records,
            key=lambda r: (r.time is None, r.time or datetime.max, r.group, r.position, r.id),
        )
        object.__setattr__(self, "records", tuple(ordered))
        seen: set[str] = set()
        for record in ordered:
            if record.id in seen:
                raise HistoryError(f"record id {record.id!r} is used twice: ids must be unique")
            seen.add(record.id)
        for record in ordered:
            for target in record.references:
                if target not in seen:
                    raise HistoryError(
                        f"record {record.id!r}, field 'references': no record has the id {target!r}"
                    )

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __getitem__(self, record_id: str) -> Record:
        return self.by_id[record_id]

    def __deepcopy__(self, memo: dict[int, Any]) -> "History":
        return self  # frozen; optimizers deep-copy programs that point at a history

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.records, self.person)

    @cached_property
    def by_id(self) -> Mapping[str, Record]:
        return MappingProxyType({record.id: record for record in self.records})

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The place of each record id in `records`."""
        return MappingProxyType({record.id: i for i, record in enumerate(self.records)})

    @cached_property
    def groups(self) -> Mapping[str, tuple[Record, ...]]:
        """The records of each named group by position."""
        members: dict[str, list[Record]] = {}
        for record in self.records:
            if record.group:
                members.setdefault(record.group, []).append(record)
        return MappingProxyType(
            {g: tuple(sorted(rs, key=lambda r: (r.position, r.id))) for g, rs in members.items()}
        )

    @classmethod
    def from_jsonl(cls, path: str | Path, person: str = "") -> "History":
        """Read one record a line (schema: README). Raises `HistoryError` naming file and line."""
        path = Path(path)
        try:
            # Not splitlines: a text may hold U+2028 and its kin, which JSON leaves as they are.
            lines = path.read_text(encoding="utf-8-sig").split("\n")
        except OSError as error:
            raise HistoryError(f"{path}: cannot be read ({error.strerror})") from error
        except UnicodeDecodeError as error:
            raise HistoryError(f"{path}: is not UTF-8 text (byte {error.start})") from error
        rows = []
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                rows.append((f"{path}, line {number}", json.loads(line)))
            except json.JSONDecodeError as error:
                raise HistoryError(
                    f"{path}, line {number}: is not JSON ({error.msg}); write one object a line"
                ) from error
        if not rows:
            raise HistoryError(f"{path}: holds no records; write one JSON object a line")
        return cls._from_placed(rows, person)

    @classmethod
    def from_rows(cls, rows: Iterable[Mapping[str, Any]], person: str = "") -> "History":
        """Read mappings in the JSONL schema."""
        return cls._from_placed([(f"row {n}", row) for n, row in enumerate(rows, 1)], person)

    @classmethod
    def from_dataset(cls, dataset: Any, person: str = "") -> "History":
        """Read a `datasets.Dataset` whose columns are the fields of the JSONL schema."""
        rows = ({k: v for k, v in row.items() if v is not None} for row in dataset)
        return cls.from_rows(rows, person)

    @classmethod
    def _from_placed(cls, rows: list[tuple[str, Any]], person: str) -> "History":
        places: dict[str, str] = {}
        records = []
        for place, row in rows:
            record = _record(place, row)
            if record.id in places:
                raise HistoryError(
                    f"{place}, field 'id': {record.id!r} stands at {places[record.id]} already"
                )
            places[record.id] = place
            records.append(record)
        for record in records:
            for target in record.references:
                if target not in places:
                    raise HistoryError(
                        f"{places[record.id]}, field 'references': no record has the id {target!r}"
                    )
        return cls(tuple(records), person)

    def to_jsonl(self, path: str | Path) -> None:
        """Write the history in the JSONL schema."""
        rows = (json.dumps(record.to_row(), ensure_ascii=False) for record in self.records)
        Path(path).write_text("\n".join(rows) + "\n", encoding="utf-8")


def _record(place: str, row: Any) -> Record:
    if not isinstance(row, Mapping):
        raise HistoryError(f"{place}: is a {type(row).__name__}, not an object with fields")
    unknown = sorted(set(row) - _FIELDS)
    if unknown:
        raise HistoryError(
            f"{place}, field {unknown[0]!r}: is not in the schema; put it into 'metadata'"
        )
    text, utterances = _text(place, row)
    kind = _string(place, row, "kind") or ("conversation" if utterances else "note")
    if kind not in KINDS:
        raise HistoryError(f"{place}, field 'kind': {kind!r} is not one of {', '.join(KINDS)}")
    identity = _string(place, row, "id")
    if not identity:
        raise HistoryError(f"{place}, field 'id': is missing or empty")
    position = row.get("position", 0)
    if not isinstance(position, int) or isinstance(position, bool):
        raise HistoryError(f"{place}, field 'position': {position!r} is not a whole number")
    references = row.get("references") or []
    if not isinstance(references, list) or not all(isinstance(r, str) for r in references):
        raise HistoryError(f"{place}, field 'references': is not a list of record ids")
    metadata = row.get("metadata") or {}
    if not isinstance(metadata, Mapping):
        raise HistoryError(f"{place}, field 'metadata': is not an object")
    return Record(
        id=identity,
        text=text,
        kind=kind,
        time=parse_time(place, row.get("time")),
        title=_string(place, row, "title"),
        group=_string(place, row, "group"),
        position=position,
        references=tuple(references),
        utterances=utterances,
        metadata={k: str(v) for k, v in metadata.items() if v is not None},
    )


def _string(place: str, row: Mapping[str, Any], name: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise HistoryError(f"{place}, field {name!r}: {value!r} is not a string")
    return _whole(value).strip()


def _whole(text: str) -> str:
    """The text without halves of surrogate pairs: emoji cut in two cannot be written as UTF-8."""
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


def _text(place: str, row: Mapping[str, Any]) -> tuple[str, tuple[Utterance, ...]]:
    if row.get("messages") and row.get("text"):
        raise HistoryError(f"{place}: has both 'text' and 'messages'; give one of them")
    if row.get("messages"):
        messages = row["messages"]
        well_formed = isinstance(messages, list) and all(
            isinstance(m, Mapping)
            and isinstance(m.get("role"), str)
            and isinstance(m.get("content"), str)
            for m in messages
        )
        if not well_formed:
            raise HistoryError(
                f"{place}, field 'messages': is not a list of objects with 'role' and 'content'"
            )
        text, utterances = turn_text((m["role"], _whole(m["content"]).strip()) for m in messages)
        if not any(m["content"].strip() for m in messages):
            raise HistoryError(f"{place}, field 'messages': every content is empty")
        return text, utterances
    text = _string(place, row, "text")
    if not text:
        raise HistoryError(f"{place}, field 'text': is missing or empty")
    return text, ()


def parse_time(place: str, value: object, name: str = "time") -> datetime | None:
    """An ISO date or time as a local `datetime`; None for None or an empty string."""
    if value is None or value == "":
        return None
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, date):
        return datetime.combine(value, time.min)
    if isinstance(value, str):
        try:
            # The zone is dropped, not converted: people recall the time on their own clock.
            return datetime.fromisoformat(value.strip()).replace(tzinfo=None)
        except ValueError:
            pass
    raise HistoryError(
        f"{place}, field {name!r}: {value!r} is no ISO date or time (such as 2025-03-04T08:15)"
    )
