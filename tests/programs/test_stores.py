"""Stores: how a history is cut into units, what stands in them, and the raw scores."""

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import history, note

from memsteer.programs.design import BASE_BM25, StoreDesign
from memsteer.programs.records import History, Span, turn_text
from memsteer.programs.stores import LexicalField, Scores, Store, build_units, index_words
from memsteer.programs.text import count_tokens


def design(**values: object) -> StoreDesign:
    return BASE_BM25.changed({f"store.{name}": v for name, v in values.items()}).store


def turns(*said: str, group: str = "g") -> History:
    return history(
        *(note(f"{group}{n}", s, n + 1, group=group, position=n) for n, s in enumerate(said))
    )


def members(held: History, store: StoreDesign) -> list[list[str]]:
    return [[span.record_id for span in unit.spans] for unit in build_units(held, store)]


def test_a_record_is_a_unit() -> None:
    held = history(note("a", "One. Two.", 1, title="Pets"), note("b", "Three.", 2))
    one, two = build_units(held, design())
    assert one.spans == (Span("a", 0, 9),)
    assert (one.text, one.own_words) == ("Pets\nOne. Two.", "One. Two.")
    assert one.title == "Pets 2024-05-01 may 1 1st 2024 wednesday"
    assert two.text == "Three."


def test_sentences_are_units_with_spans_in_their_record() -> None:
    units = build_units(history(note("a", "One.  Two!"), note("b", "🎉")), design(unit="sentence"))
    assert [u.spans for u in units] == [
        (Span("a", 0, 4),),
        (Span("a", 6, 10),),
        (Span("b", 0, 1),),
    ]


def test_sections_join_sentences_up_to_120_tokens() -> None:
    sentence = " ".join(["word"] * 49) + "."  # 50 tokens
    units = build_units(history(note("a", " ".join([sentence] * 5))), design(unit="section"))
    assert [count_tokens(u.text) for u in units] == [100, 100, 50]


def test_windows_overlap_by_half_and_end_with_the_run() -> None:
    held = turns("a", "b", "c", "d", "e")
    assert members(held, design(unit="window", window=2)) == [
        ["g0", "g1"],
        ["g1", "g2"],
        ["g2", "g3"],
        ["g3", "g4"],
    ]
    assert members(held, design(unit="window", window=4)) == [
        ["g0", "g1", "g2", "g3"],
        ["g2", "g3", "g4"],
    ]
    assert members(held, design(unit="window", window=8)) == [["g0", "g1", "g2", "g3", "g4"]]


def test_a_conversation_is_one_unit_and_a_record_without_a_group_its_own() -> None:
    held = history(*turns("a", "b"), note("x", "alone", 9), note("y", "alone too", 9))
    assert members(held, design(unit="conversation")) == [["g0", "g1"], ["x"], ["y"]]
    first = build_units(held, design(unit="conversation"))[0]
    assert first.text == "a\nb"


def test_enrichment_comes_before_text_and_own_words() -> None:
    held = history(
        note("a", "The dog.", 1, group="g", position=0),
        note("b", "It barked.", 2, group="g", position=1, title="Pets", metadata={"to": "Lila"}),
    )
    heading = "Pets Lila 2024-05-02 may 2 2nd 2024 thursday"
    unit = build_units(held, design(enrich="heading"))[1]
    assert (unit.text, unit.own_words) == (
        f"{heading}\nPets\nIt barked.",
        f"{heading}\nIt barked.",
    )
    unit = build_units(held, design(enrich="previous"))[1]
    assert unit.text == f"{heading}\nThe dog.\nPets\nIt barked."


def test_own_words_are_what_the_user_said_of_a_piece() -> None:
    text, utterances = turn_text([("user", "My dog. My cat."), ("assistant", "Nice pets.")])
    held = history(note("a", text, utterances=utterances))
    assert build_units(held, design())[0].own_words == "My dog. My cat."
    own = [u.own_words for u in build_units(held, design(unit="sentence"))]
    assert own == ["My dog.", "My cat.", ""]


def test_index_words() -> None:
    assert index_words("The dogs were running", stem=False) == ["dogs", "running"]
    assert index_words("The dogs were running", stem=True) == ["dog", "run"]


def score(store: Store, channel: LexicalField, query: str) -> Scores:
    return store.lexical_scores(channel, query)


def bm25(tf: int, length: int, mean: float, n: int, df: int) -> float:
    """Lucene's BM25 (Kamphuis et al. 2020) with k1 = 1.5 and b = 0.75."""
    idf = log(1 + (n - df + 0.5) / (df + 0.5))
    return idf * tf / (tf + 1.5 * (0.25 + 0.75 * length / mean))


def test_bm25_scores_are_lucenes() -> None:
    held = history(
        note("a", "dog barked dog", 1), note("b", "cat slept", 2), note("c", "dog slept long", 3)
    )
    store = Store(held, design())
    mean = 8 / 3
    assert score(store, "text", "Which dog?") == pytest.approx(
        [bm25(2, 3, mean, 3, 2), 0, bm25(1, 3, mean, 3, 2)], rel=1e-5
    )
    both = score(store, "text", "the cat slept")
    assert both[1] == pytest.approx(bm25(1, 2, mean, 3, 1) + bm25(1, 2, mean, 3, 2), rel=1e-5)


def test_stems_meet_only_if_asked() -> None:
    held = history(note("a", "dogs barking"), note("b", "cats"))
    assert not score(Store(held, design()), "text", "dog bark").any()
    assert score(Store(held, design(stem=True)), "text", "dog bark")[0] > 0


@pytest.mark.parametrize("query", ["", "🎉", "the of", "zebra"])
def test_a_query_without_known_words_scores_nothing(query: str) -> None:
    store = Store(turns("dog", "cat"), design())
    assert score(store, "text", query).tolist() == [0, 0]


def test_an_empty_title_channel_scores_nothing() -> None:
    store = Store(history(note("a", "dog"), note("b", "cat")), design())
    assert score(store, "title", "dog").tolist() == [0, 0]
    assert score(store, "own_words", "dog")[0] > 0


def test_a_record_scores_as_its_best_unit() -> None:
    held = history(note("a", "The dog. The cat. A dog and a cat."), note("b", "A boat."))
    parts = score(Store(held, design(unit="sentence")), "text", "cat")
    # Four sentences of 1, 1, 2, 1 words; "The cat." matches better than "A dog and a cat.".
    assert parts[0] == pytest.approx(bm25(1, 1, 5 / 4, 4, 2), rel=1e-5)
    assert parts[1] == 0


@given(
    st.lists(st.text("dog cat.🎉東\n", min_size=1), min_size=1, max_size=6),
    st.sampled_from(["record", "window", "conversation", "section", "sentence"]),
    st.sampled_from(["none", "heading", "previous"]),
)
def test_units_hold_all_of_every_record(texts: list[str], unit: str, enrich: str) -> None:
    held = turns(*texts)
    units = build_units(held, design(unit=unit, enrich=enrich, window=2))
    for record in held:
        shown: set[int] = set()
        for span in (s for u in units for s in u.spans if s.record_id == record.id):
            shown.update(range(span.start, span.end))
        assert all(i in shown for i, c in enumerate(record.text) if not c.isspace())
    scores = score(Store(held, design(unit=unit, enrich=enrich, window=2)), "text", "dog 東")
    assert scores.shape == (len(held),)
    assert np.isfinite(scores).all()
    assert (scores >= 0).all()
