"""Every form of evidence reference and of irregularity, resolved by hand."""

import pytest

from memsteer.eval.rhelm_references import Resolution, names_turns, resolve
from memsteer.programs.records import History, Record


def section(name: str, number: int, title: str, text: str) -> Record:
    return Record(f"{name}#{number}", text, "document", None, title, name, number)


def email(day: str, number: int, sender: str, recipient: str, subject: str) -> Record:
    return Record(
        id=f"Emails_{day}:{number}",
        text="Words.",
        kind="email",
        title=subject,
        group=f"emails/{day}",
        position=number,
        metadata={"sender": sender, "recipient": recipient},
    )


ADA, BEA, CY = "Ada M. Byron <a@x.org>", "Bea Coe <b@x.org>", "Cy Dow <c@x.org>"
HISTORY = History(
    (
        *(Record(f"2031-03-01:{n}", "Said.", "conversation") for n in (1, 2, 3)),
        section("n.md", 1, "", "Drafted on the train."),
        section("n.md", 2, "1. Costs of Paint", "Ten cans.\n### Brushes\nTwo brushes."),
        section("n.md", 3, "Colours", "Blue for the door."),
        section("n.md", 4, "Colours", "Grey for the roof.\n\n**Second phase: the floor**"),
        section("r.html", 1, "Roof Report", "Dry inside."),
        section("r.html", 2, "2. Leaks", "- north side\n### Header Beams\nSound."),
        section("c.md", 1, "", "No heading here."),
        email("2031-03-01", 1, ADA, BEA, "The ladder"),
        email("2031-03-01", 2, CY, ADA, "Nails"),
        email("2031-03-01", 3, ADA, CY, "Re: Nails by email"),
        email("2031-03-09", 1, BEA, ADA, "Late"),
    )
)
DAY = tuple(f"Emails_2031-03-01:{n}" for n in (1, 2, 3))


def found(level: str, *records: str, missing: tuple[str, ...] = ()) -> Resolution:
    return Resolution(records, level, missing)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("2031-03-01:2", found("record", "2031-03-01:2")),
        (" 2031-03-01:2 ", found("record", "2031-03-01:2")),
        ("2031-03-01:1,2031-03-01:3", found("record", "2031-03-01:1", "2031-03-01:3")),
        (
            "2031-03-01:1, 2,9",
            found("record", "2031-03-01:1", "2031-03-01:2", missing=("2031-03-01:9",)),
        ),
        ("2031-03-01:9", found("none", missing=("2031-03-01:9",))),
    ],
)
def test_turns(reference: str, expected: Resolution) -> None:
    assert names_turns(reference)
    assert resolve(HISTORY, reference, "x") == expected


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        ("r.html:2. Leaks", "x", found("record", "r.html#2")),
        ("n.md:costs of *PAINT*", "x", found("record", "n.md#2")),
        ("n.md:1", "x", found("record", "n.md#2")),  # the heading numbered 1
        ("n.md:Paint", "x", found("record", "n.md#2")),  # part of a heading
        ("r.html:Leaks: found today", "x", found("record", "r.html#2")),  # more than a heading
        ("n.md:Brushes", "x", found("record", "n.md#2")),  # below H2: the section around it
        ("r.html:Header: ## Leaks", "x", found("record", "r.html#2")),
        ("n.md:Colours", "x", found("record", "n.md#3", "n.md#4")),  # twice in the file
        ("n.md:Colours", "Grey.", found("record", "n.md#4")),
        ("r:2. Leaks", "x", found("record", "r.html#2")),  # no extension
        ("c.md:Anything", "x", found("record", "c.md#1")),  # the only section
        ("n.md:Second Phase", "x", found("file", "n.md#4")),  # words of a text, no heading
        ("r.html:Header", "Dry inside", found("file", "r.html#1")),  # not "Header Beams"
        ("r.html", "x", found("file", "r.html#1", "r.html#2")),
        ("r.html:7", "north side!", found("file", "r.html#2")),  # no heading numbered 7
        ("z.md:Part: two", "x", found("none", missing=("z.md:Part: two",))),
    ],
)
def test_attachments(reference: str, answer: str, expected: Resolution) -> None:
    assert not names_turns(reference)
    assert resolve(HISTORY, reference, answer) == expected


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("Emails_2031-03-01:Email 2", found("record", DAY[1])),
        ("Emails_2031-03-01:email #2: Nails", found("record", DAY[1])),
        ("Emails_2031-03-01:3", found("record", DAY[2])),
        ("Emails_2031-03-01:Subject: ladder", found("record", DAY[0])),
        ("Emails_2031-03-01:from Cy Dow", found("record", DAY[1])),
        (
            f"Emails_2031-03-01:Header: ## Email:From: {ADA}To: {CY}",
            found("record", DAY[2]),
        ),
        ("Emails_2031-03-01:Email", found("day", *DAY)),  # not the subject with that word
        ("Emails_2031-03-01", found("day", *DAY)),
        ("Emails_2031-03-01:Nails", found("day", *DAY)),  # two subjects hold it
        ("Emails_2031-03-01:Email 4", found("day", *DAY)),
        ("Emails_2031-03-09:Header", found("record", "Emails_2031-03-09:1")),
        ("Emails_2031-03-09:Email 4", found("day", "Emails_2031-03-09:1")),
        ("Emails_2031-03-02:Email", found("none", missing=("Emails_2031-03-02:Email",))),
    ],
)
def test_emails(reference: str, expected: Resolution) -> None:
    assert not names_turns(reference)
    assert resolve(HISTORY, reference, "x") == expected
