"""Dates in questions, as ranges of days."""

from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsteer.programs.dates import DateRange, date_words, mentioned_dates

NOW = datetime(2024, 5, 1, 12)  # a Wednesday


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("who called on May 4th?", [DateRange(None, 5, 4, 4)]),
        ("the 4th of May, 2024", [DateRange(2024, 5, 4, 4)]),
        ("Sept. 3 and sept 4", [DateRange(None, 9, 3, 3), DateRange(None, 9, 4, 4)]),
        ("on 2024-05-04", [DateRange(2024, 5, 4, 4)]),
        ("during 2024-05", [DateRange(2024, 5)]),
        ("2024-13-01", []),
        ("in late June", [DateRange(None, 6, 19, 31)]),
        ("early-march", [DateRange(None, 3, 1, 11)]),
        ("in May 2023", [DateRange(2023, 5)]),
        ("May I march with the band?", []),
        ("my ma 5 times, mar 6", [DateRange(None, 3, 6, 6)]),
        ("", []),
    ],
)
def test_mentioned_dates(text: str, expected: list[DateRange]) -> None:
    assert list(mentioned_dates(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("yesterday", [DateRange(2024, 4, 30, 30)]),
        ("Today", [DateRange(2024, 5, 1, 1)]),
        ("last month", [DateRange(2024, 4)]),
        ("this month", [DateRange(2024, 5)]),
        ("this week", [DateRange(2024, 4, 29, 30), DateRange(2024, 5, 1, 5)]),
        ("last week", [DateRange(2024, 4, 22, 28)]),
    ],
)
def test_relative_dates_need_now(text: str, expected: list[DateRange]) -> None:
    assert list(mentioned_dates(text, NOW)) == expected
    assert mentioned_dates(text) == ()


def test_contains() -> None:
    late_june = DateRange(None, 6, 19, 31)
    assert late_june.contains(datetime(2020, 6, 19, 23))
    assert not late_june.contains(datetime(2020, 6, 18))
    assert not DateRange(2024, 6).contains(datetime(2023, 6, 1))
    assert (DateRange(2024, 6, 3, 3).exact, late_june.exact) == (True, False)


@pytest.mark.parametrize(
    ("day", "ordinal"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (13, "13th"), (22, "22nd")],
)
def test_date_words(day: int, ordinal: str) -> None:
    said = date_words(date(2024, 5, day)).split()
    assert said[:5] == [f"2024-05-{day:02}", "may", str(day), ordinal, "2024"]


DATE_PIECES = "may march 4 4th of 2024 2024-05-04 yesterday last week month in late 99 0 , this"


@given(
    st.text() | st.lists(st.sampled_from(DATE_PIECES.split())).map(" ".join),
    st.none() | st.datetimes(),
)
def test_date_parsing_never_raises(text: str, now: datetime | None) -> None:
    for found in mentioned_dates(text, now):
        assert 1 <= found.month <= 12
        assert found.contains(datetime(2024, 5, 4)) in (True, False)


@given(st.dates())
def test_a_day_is_found_by_its_own_iso_form(day: date) -> None:
    (found,) = mentioned_dates(day.isoformat())
    assert found.exact
    assert found.contains(datetime.combine(day, datetime.min.time()))
