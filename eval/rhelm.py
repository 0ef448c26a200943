"""RHELM (microsoft/RHELM, MIT): half a year and more of one persona's chats, e-mails, attachments.

A record is a conversation turn, a single e-mail, or a section of an attachment (cut at headings of
level 1 and 2). Ids follow RHELM's own way to cite: `2031-03-01:4` is turn 4 of that day's
conversation, `Emails_2031-03-01:2` the second e-mail of a day, `<file>#3` a file's third section.

Layout: `conversations/<Persona>/conversation_YYYY_MM_DD.json`, `emails/<Persona>/NN_email_….txt`,
`attachments/<Persona>/NN_….{md|html}`, `QA_final/low_score_qa_<Persona>_all_validated.jsonl`.
`NN` numbers the sessions; a conversation's `event_file` starts with it, which dates attachments.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memsteer.eval.documents import html_sections, markdown_sections
from memsteer.eval.questions import Benchmark, Question
from memsteer.eval.rhelm_references import Resolution, names_turns, resolve
from memsteer.eval.sources import (
    data_folder,
    parse_object,
    read_objects,
    read_text,
    string,
    strings,
)
from memsteer.programs.records import History, HistoryError, Record, parse_time, turn_text

_DATED = re.compile(r".*_(\d{4})_(\d{2})_(\d{2})")
_BLOCK_END = re.compile(r"^={60}[ \t]*$", re.MULTILINE)
_EMAIL = re.compile(
    r"Sender:(?P<sender>.*)\nRecipient:(?P<recipient>.*)\nSubject:(?P<subject>.*)\n"
    r"Summary:(?P<summary>[\s\S]*)"
)


@dataclass
class _Notes:
    """What was irregular while loading: a line each for the rare, a count for the common."""

    lines: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def on_reference(self, place: str, reference: str, found: Resolution) -> None:
        """Note what is inexact in the resolution of an evidence reference."""
        self.lines += [f"{place}: {missing!r} names no record" for missing in found.missing]
        if found.level == "day":
            self.counts[
                "e-mail references to a whole day, whose e-mails all count as evidence"
            ] += 1
        elif found.level == "file":
            self.lines.append(
                f"{place}: {reference!r} names no heading of the file; sections that count as "
                f"evidence: {len(found.records)}"
            )

    def report(self) -> tuple[str, ...]:
        totals = (f"{what}: {count}" for what, count in sorted(self.counts.items()))
        return (*self.lines, *totals)


def personas(data: Path | str) -> tuple[str, ...]:
    """The display names of the personas in the data: "Ada M. Byron" for `Ada_M._Byron`."""
    root = data_folder(data) / "conversations"
    if not root.is_dir():
        raise HistoryError(f"{data}: has no folder 'conversations'; give RHELM's data folder")
    return tuple(sorted(p.name.replace("_", " ") for p in root.iterdir() if p.is_dir()))


def load_rhelm(data: Path | str, persona: str, external: bool = True) -> Benchmark:
    """One persona's history and questions.

    `data` is a folder in RHELM's layout or the id of a hub data set in it; `persona` a display
    name or a folder name. Without `external` the corpus is the conversation turns alone, and
    evidence in e-mails and attachments counts as unresolved. Raises `HistoryError`.
    """
    root = data_folder(data)
    name = persona.replace("_", " ").strip()
    known = personas(root)
    if name not in known:
        raise HistoryError(f"{root}: has no persona {persona!r}; known: {', '.join(known)}")
    folder = name.replace(" ", "_")
    notes = _Notes()
    turns, days, attached = _conversations(root / "conversations" / folder, notes)
    records = turns
    if external:
        sections = list(_attachments(root / "attachments" / folder, days, notes))
        emails = list(_emails(root / "emails" / folder, notes))
        records = [*_linked(turns, attached, sections, notes), *emails, *sections]
    history = History(tuple(records), person=name)
    rows = read_objects(root / "QA_final" / f"low_score_qa_{folder}_all_validated.jsonl")
    questions = tuple(_question(place, row, history, external, notes) for place, row in rows)
    corpus = "rhelm" if external else "rhelm-turns"
    return Benchmark(f"{corpus}/{folder}", history, questions, notes.report())


def _conversations(
    folder: Path, notes: _Notes
) -> tuple[list[Record], dict[int, datetime], dict[str, str]]:
    """The turns; the day of each session number; the attachment's stem for each turn with one."""
    turns: list[Record] = []
    days: dict[int, datetime] = {}
    attached: dict[str, str] = {}
    for path in sorted(folder.glob("*.json")):
        session = parse_object(str(path), read_text(path))
        day = _day(path)
        number = re.match(r"\d+", Path(string(str(path), session, "event_file")).name)
        if number:
            days[int(number[0])] = day
        else:
            notes.lines.append(
                f"{path.name}: its event_file has no number, so it dates no attachment"
            )
        rows = session.get("conversation")
        if not isinstance(rows, list) or not all(isinstance(r, Mapping) for r in rows):
            raise HistoryError(f"{path}, field 'conversation': is not a list of turns")
        for index, row in enumerate(rows, 1):
            turn = _turn(f"{path}, turn {index}", row, day.date().isoformat())
            turns.append(turn)
            if row.get("research_document"):
                attached[turn.id] = str(row["research_document"])
    return turns, days, attached


def _turn(place: str, row: Mapping[str, Any], day: str) -> Record:
    number = row.get("turn")
    if not isinstance(number, int):
        raise HistoryError(f"{place}, field 'turn': {number!r} is not a whole number")
    said = [(role, string(place, row, role, required=False)) for role in ("user", "assistant")]
    if not any(content for _, content in said):
        raise HistoryError(f"{place}, fields 'user' and 'assistant': both are empty")
    text, utterances = turn_text(said)
    kind = string(place, row, "message_type", required=False)
    return Record(
        id=f"{day}:{number}",
        text=text,
        kind="conversation",
        time=parse_time(place, row.get("timestamp"), "timestamp"),
        group=f"conversation/{day}",
        position=number,
        utterances=utterances,
        metadata=MappingProxyType({"message_type": kind} if kind else {}),
    )


def _emails(folder: Path, notes: _Notes) -> Iterator[Record]:
    seen: Counter[str] = Counter()  # two files of one day are numbered through
    for path in sorted(folder.glob("*.txt")):
        day = _day(path)
        label = day.date().isoformat()
        for number, block in enumerate(_BLOCK_END.split(read_text(path)), 1):
            match = _EMAIL.fullmatch(block.strip())
            if not match:
                if block.strip():
                    notes.lines.append(
                        f"{path.name}, block {number}: is no e-mail and was left out"
                    )
                continue
            seen[label] += 1
            sender, recipient, subject, summary = (g.strip() for g in match.groups())
            yield Record(
                id=f"Emails_{label}:{seen[label]}",
                text=f"From: {sender}\nTo: {recipient}\n{summary}",
                kind="email",
                time=day,
                title=subject,
                group=f"emails/{label}",
                position=seen[label],
                metadata=MappingProxyType({"sender": sender, "recipient": recipient}),
            )


def _attachments(folder: Path, days: Mapping[int, datetime], notes: _Notes) -> Iterator[Record]:
    cutters = {".md": markdown_sections, ".html": html_sections}
    for path in sorted(p for p in folder.glob("*") if p.suffix in cutters):
        sections = cutters[path.suffix](read_text(path))
        number = re.match(r"\d+", path.name)
        day = days.get(int(number[0])) if number else None
        if day is None:
            notes.lines.append(f"{path.name}: no session has its number, so it has no date")
        if not sections:
            notes.lines.append(f"{path.name}: holds no text and gives no record")
        for position, section in enumerate(sections, 1):
            yield Record(
                id=f"{path.name}#{position}",
                text=section.text,
                kind="document",
                time=day,
                title=section.title,
                group=path.name,
                position=position,
            )


def _linked(
    turns: Sequence[Record],
    attached: Mapping[str, str],
    sections: Sequence[Record],
    notes: _Notes,
) -> Iterator[Record]:
    """The turns, each that came with an attachment referring to the first section of it."""
    # One section stands for the document: its others are found through the common group.
    first = {Path(s.group).stem: s.id for s in reversed(sections)}
    for turn in turns:
        stem = attached.get(turn.id)
        if stem in first:
            turn = replace(turn, references=(first[stem],))
        elif stem:
            notes.lines.append(f"turn {turn.id}: its attachment {stem!r} does not exist")
        yield turn


def _question(
    place: str, row: Mapping[str, Any], history: History, external: bool, notes: _Notes
) -> Question:
    identity, answer = string(place, row, "id"), string(place, row, "answer")
    evidence: list[str] = []
    unresolved: list[str] = []
    for reference in strings(place, row, "supporting_evidence"):
        if not external and not names_turns(reference):
            notes.counts["references to e-mails and attachments, outside this corpus"] += 1
            unresolved.append(reference)
            continue
        found = resolve(history, reference, answer)
        evidence += found.records
        unresolved += found.missing
        notes.on_reference(f"question {identity}", reference, found)
    time = parse_time(place, row.get("question_date"), "question_date")
    if time and any(_later(history[i], time) for i in evidence):
        notes.counts["questions with evidence from the day they are asked on or later"] += 1
    return Question(
        id=identity,
        question=string(place, row, "question"),
        answer=answer,
        evidence=tuple(dict.fromkeys(evidence)),
        time=time,
        category=string(place, row, "question_type", required=False),
        unresolved=tuple(unresolved),
    )


def _later(record: Record, time: datetime) -> bool:
    return record.time is not None and record.time >= time


def _day(path: Path) -> datetime:
    """The date at the end of a file's name."""
    match = _DATED.fullmatch(path.stem)
    if not match:
        raise HistoryError(f"{path}: its name does not end in a date (_YYYY_MM_DD)")
    return parse_time(str(path), "-".join(match.groups()), "file name") or datetime.max
