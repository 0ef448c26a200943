"""What RHELM's evidence references mean in terms of records.

A reference is a turn (`2031-03-01:4`), several (`2031-03-01:4,2031-03-01:6` or `2031-03-01:4,6`),
a section of an attachment (`<file>:<heading>`) or an e-mail (`Emails_2031-03-01:<label>`). A
language model wrote headings and labels, so they are matched in steps, the strictest first. Where
none pins a record down, the reference means what it still says for certain: all e-mails of the
day; the sections of the file with the label's words, else with the answer's, else all of them.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import Literal

from memsteer.eval.documents import headings
from memsteer.programs.records import History, Record
from memsteer.programs.text import words

Level = Literal["record", "day", "file", "none"]

_DAY = r"\d{4}-\d{2}-\d{2}"
_TURNS = re.compile(rf"{_DAY}:\d+(?:\s*,\s*(?:{_DAY}:)?\d+)*")
_EMAIL = re.compile(rf"Emails_({_DAY})(?::(.*))?", re.DOTALL)
_NUMBERED = re.compile(r"e-?mail\s*#?(\d+)\b.*|#?(\d+)", re.IGNORECASE | re.DOTALL)
_GENERIC = {"e", "mail", "email", "emails", "header", "body", "subject", "summary", "content"}
_PLACEHOLDER = re.compile(r"^header\s*(?::\s*#*\s*|$)", re.IGNORECASE)


@dataclass(frozen=True)
class Resolution:
    """The records a reference means, how exactly it names them, and what it names in vain."""

    records: tuple[str, ...]
    level: Level
    missing: tuple[str, ...] = ()


def names_turns(reference: str) -> bool:
    """Whether the reference is to conversation turns, not to an e-mail or an attachment."""
    return bool(_TURNS.fullmatch(reference.strip()))


def resolve(history: History, reference: str, answer: str) -> Resolution:
    """The records of `history` that `reference` means; `answer` narrows a reference to a file."""
    reference = reference.strip()
    if names_turns(reference):
        return _turns(history, reference)
    email = _EMAIL.fullmatch(reference)
    if email:
        return _emails(history, reference, email[1], (email[2] or "").strip())
    return _sections(history, reference, answer)


def _turns(history: History, reference: str) -> Resolution:
    day, ids = "", []
    for part in re.split(r"\s*,\s*", reference):
        day = part.split(":")[0] if ":" in part else day
        ids.append(f"{day}:{int(part.split(':')[-1])}")
    found = tuple(i for i in ids if i in history.by_id)
    missing = tuple(i for i in ids if i not in history.by_id)
    return Resolution(found, "record" if found else "none", missing)


def _emails(history: History, reference: str, day: str, label: str) -> Resolution:
    emails = history.groups.get(f"emails/{day}", ())
    if not emails:
        return Resolution((), "none", (reference,))
    number = _NUMBERED.fullmatch(label)
    tests = [lambda e: e.position == int(number[1] or number[2])] if number else _email_steps(label)
    for matches in tests:
        pinned = [e for e in emails if matches(e)]
        if len(pinned) == 1:
            return Resolution(_ids(pinned), "record")
    return Resolution(_ids(emails), "record" if len(emails) == 1 and not number else "day")


def _email_steps(label: str) -> Sequence[Callable[[Record], bool]]:
    """Tests of an e-mail against a label of words: its subject, sender and recipient, sender."""
    sought = " ".join(dropwhile(_GENERIC.__contains__, words(label)))
    if not sought:
        return ()
    return (
        lambda e: _holds(sought, e.title) or _holds(e.title, sought),
        lambda e: 0 <= _find(sought, e, "sender") < _find(sought, e, "recipient"),
        lambda e: _find(sought, e, "sender") >= 0,
    )


def _find(folded: str, email: Record, role: str) -> int:
    """Where the label names the e-mail's sender or recipient; -1 if it does not."""
    person = _folded(email.metadata[role].split("<")[0])
    return f" {folded} ".find(f" {person} ") if person else -1


def _sections(history: History, reference: str, answer: str) -> Resolution:
    name, _, heading = reference.partition(":")
    sections = _file(history, name.strip())
    if not sections:
        return Resolution((), "none", (reference,))
    label = _PLACEHOLDER.sub("", heading.strip())
    for matches in _steps(label):
        found = [s for s in sections if any(map(matches, headings(s.title, s.text)))]
        if len(found) == 1:
            return Resolution(_ids(found), "record")
        if found:  # the same heading twice: the answer tells which is meant
            return Resolution(_ids(_narrowed(found, answer)), "record")
    if len(sections) == 1:
        return Resolution(_ids(sections), "record")
    # No heading, but perhaps a bold line, a caption or a table row.
    named = [s for s in sections if _holds(s.text, label)]
    return Resolution(_ids(named or _narrowed(sections, answer)), "file")


def _file(history: History, name: str) -> Sequence[Record]:
    """The sections of the attachment `name`, which may lack its extension."""
    for candidate in (name, f"{name}.md", f"{name}.html"):
        sections = [r for r in history.groups.get(candidate, ()) if r.kind == "document"]
        if sections:
            return sections
    return ()


def _steps(label: str) -> tuple[Callable[[str], bool], ...]:
    """Tests of a heading against `label`, the strictest first."""
    sought = _folded(label)
    plain = _unnumbered(sought)
    if not plain:  # the label is empty or only a number, which names the heading so numbered
        return (lambda heading: bool(sought) and _folded(heading).split()[:1] == [sought],)
    return (
        lambda heading: heading == label,
        lambda heading: _unnumbered(_folded(heading)) == plain,
        lambda heading: _holds(heading, plain),
        lambda heading: _holds(plain, _unnumbered(_folded(heading))),
    )


def _narrowed(sections: Sequence[Record], answer: str) -> Sequence[Record]:
    """The sections that contain the answer; all of them if none does."""
    return [s for s in sections if _holds(f"{s.title}\n{s.text}", answer)] or sections


def _folded(text: str) -> str:
    return " ".join(words(text))


def _unnumbered(folded: str) -> str:
    """Folded words without the section number they start with."""
    return re.sub(r"^(?:\d+ )*(?:\d+$)?", "", folded)


def _holds(text: str, part: str) -> bool:
    """Whether `text` contains the words of `part` in a row; never for a part without words."""
    sought = _folded(part)
    return bool(sought) and f" {sought} " in f" {_folded(text)} "


def _ids(records: Iterable[Record]) -> tuple[str, ...]:
    return tuple(r.id for r in records)
