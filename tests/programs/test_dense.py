"""Vectors of records and sentences, on an embedder whose cosines are known."""

import pytest
from small import PETS, history, note

from memsteer.programs.dense import DenseField, DenseIndex
from memsteer.programs.records import turn_text
from memsteer.programs.stores import Scores


def score(index: DenseIndex, field: DenseField, query: str) -> Scores:
    return index.scores(field, PETS.encode([query])[0])


def test_records_are_matched_whole_and_sentences_one_by_one() -> None:
    index = DenseIndex(history(note("a", "The dog. The cat."), note("b", "A boat.")), PETS)
    assert score(index, "dense", "cat") == pytest.approx([0.5**0.5, 0])
    assert score(index, "sentence", "cat") == pytest.approx([1, 0])


def test_own_words_leave_out_the_assistant_and_fall_back_to_the_text() -> None:
    text, utterances = turn_text([("user", "My dog."), ("assistant", "A boat!")])
    silent, nothing = turn_text([("user", ""), ("assistant", "A boat!")])
    held = history(note("a", text, utterances=utterances), note("b", silent, utterances=nothing))
    index = DenseIndex(held, PETS)
    assert score(index, "sentence", "boat") == pytest.approx([0, 1])
    assert score(index, "own_dense", "dog") == pytest.approx([1, 0])


def test_a_title_is_part_of_the_record() -> None:
    index = DenseIndex(history(note("a", "Slept.", title="Cat"), note("b", "A boat.")), PETS)
    assert score(index, "dense", "cat")[0] == pytest.approx(1)


def test_each_field_is_embedded_once() -> None:
    asked: list[int] = []

    class Counting:
        name = "counting"

        def encode(self, texts: list[str]) -> object:
            asked.append(len(texts))
            return PETS.encode(texts)

    index = DenseIndex(history(note("a", "dog"), note("b", "cat")), Counting())  # type: ignore[arg-type]
    for query in ("dog", "cat", "boat"):
        score(index, "dense", query)
    assert asked == [2]
