"""Words, tokens and sentences, counted by hand; then what holds for any text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsteer.programs.text import (
    content_words,
    count_tokens,
    sentence_spans,
    sentences,
    truncate_tokens,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The dog's 2nd walk!", ["the", "dog's", "2nd", "walk"]),
        ("Straße, ＡＢＣ", ["strasse", "abc"]),
        ("東京に行く", ["東", "京", "に", "行", "く"]),
        ("東京Tower", ["東", "京", "tower"]),
        ("Мама мыла раму", ["мама", "мыла", "раму"]),
        ("🎉 … —", []),
        ("", []),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_content_words_leave_out_stop_words_and_single_letters() -> None:
    assert content_words("I walked the dog to a B, and didn't stop") == ["walked", "dog", "stop"]
    assert content_words("水を飲む") == ["水", "を", "飲", "む"]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("dog", 1),
        ("The dog.", 3),
        ("extraordinary", 2),  # 13 letters: 8 + 5
        ("東京です", 4),
        ("🎉🎉", 2),
        ("a-b", 3),
    ],
)
def test_count_tokens(text: str, count: int) -> None:
    assert count_tokens(text) == count


def test_truncate_tokens_keeps_the_longest_prefix() -> None:
    assert truncate_tokens("The dog ran. It sat.", 3) == "The dog ran"
    assert truncate_tokens("The dog ran.", 4) == "The dog ran."
    assert truncate_tokens("extraordinary", 1) == "extraord"
    assert truncate_tokens("The dog", 0) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("He said “Hi.” Then left.", ["He said “Hi.”", "Then left."]),
        ("(It rained.) We stayed", ["(It rained.)", "We stayed"]),
        ("line one\n\nline two", ["line one", "line two"]),
        ("雨だ。晴れだ！", ["雨だ。", "晴れだ！"]),
        ("3.5 km", ["3.5 km"]),
        ("  \n ", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


TEXTS = st.text() | st.text("ab. !?\n\"”')。… 🎉é", max_size=40)


@given(TEXTS)
def test_sentence_spans_are_in_order_and_cover_every_character(text: str) -> None:
    spans = sentence_spans(text)
    covered: set[int] = set()
    end_before = 0
    for start, end in spans:
        assert end_before <= start < end <= len(text)
        assert text[start:end].strip() == text[start:end]
        covered.update(range(start, end))
        end_before = end
    assert [c for i, c in enumerate(text) if i not in covered and not c.isspace()] == []


@given(TEXTS, st.integers(0, 20))
def test_truncation_is_a_prefix_within_the_budget(text: str, budget: int) -> None:
    short = truncate_tokens(text, budget)
    assert text.startswith(short)
    assert count_tokens(short) == min(budget, count_tokens(text))


@given(TEXTS)
def test_content_words_are_words(text: str) -> None:
    assert set(content_words(text)) <= set(words(text))
