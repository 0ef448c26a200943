"""Quotes are found where they stand, whatever a model did to their spaces, case and signs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsteer.programs.quotes import locate
from memsteer.programs.records import Record, Span


@settings(deadline=None)  # a busy machine is no failure
@given(st.text(min_size=1), st.data())
def test_every_substring_is_found_where_it_first_stands(text, data):
    start = data.draw(st.integers(0, len(text) - 1))
    quote = text[start : data.draw(st.integers(start + 1, len(text)))]
    span = locate(Record(id="r", text=text), quote)
    if not quote.strip():
        assert span is None
    else:
        assert span == Span("r", text.find(quote), text.find(quote) + len(quote))


LETTERS = st.text("aZéß京ﬁця🌼 \n’“—", min_size=1, max_size=12)


@settings(deadline=None)  # a busy machine is no failure
@given(LETTERS, LETTERS.filter(str.strip), LETTERS)
def test_a_quote_with_other_case_spaces_and_signs_is_found_with_right_offsets(head, core, tail):
    marked = f"{head}<{core.strip()}>{tail}"  # the brackets make the place unique
    quote = f"  <{core.strip()}> ".upper().translate(str.maketrans("’“—", "'\"-"))
    quote = quote.replace(" ", " \t ")
    span = locate(Record(id="r", text=marked), quote)
    assert span is not None
    assert marked[span.start : span.end] == f"<{core.strip()}>"


@settings(deadline=None)  # a busy machine is no failure
@given(st.text(), st.text())
def test_a_span_is_always_inside_the_text_and_not_empty(text, quote):
    span = locate(Record(id="r", text=text), quote)
    assert span is None or 0 <= span.start < span.end <= len(text)


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("She said “it’s  fine” – twice.", "it's fine\" - twice", "it’s  fine” – twice"),
        ("Der Weg zur Straße", "zur STRASSE", "zur Straße"),
        ("un cafe\u0301 noir", "UN CAFÉ", "un cafe\u0301"),
        ("Ｔｏｔａｌ：４２", "total:42", "Ｔｏｔａｌ：４２"),
        ("price 20\u00a0€ 🌼 ok", "20 € 🌼 OK", "20\u00a0€ 🌼 ok"),
        ("soft\u00adware works", "Software", "soft\u00adware"),
        ("cafe\u0301 and cafe", "CAFE", "cafe"),
    ],
)
def test_folded_quotes(text, quote, found):
    span = locate(Record(id="r", text=text), quote)
    assert span is not None
    assert text[span.start : span.end] == found


@pytest.mark.parametrize("quote", ["", " \n", "absent", "\u200b", "OFF"])
def test_no_span_for_a_quote_that_is_blank_absent_or_would_cut_a_sign(quote):
    assert locate(Record(id="r", text="an oﬃce of ﬁve"), quote) is None
