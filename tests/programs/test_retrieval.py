"""Retrieval: scaled scores, joined channels, spreading and order, worked out by hand."""

import copy
import pickle
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pytest
from design_space import designs
from hypothesis import given
from hypothesis import strategies as st
from small import PETS, history, note

from memsteer.programs.design import BASE_BM25, DesignError, MemoryDesign
from memsteer.programs.layout import Layout
from memsteer.programs.records import History, Record
from memsteer.programs.retrieval import (
    CrossEncoderReranker,
    MemoryIndex,
    Query,
    _reciprocal_ranks,
    _scale,
)

DIARY = history(
    note("a", "The dog barked all night.", 1, group="g", position=0),
    note("b", "We slept badly.", 2, group="g", position=1),
    note("c", "The cat found a boat.", 3, group="h", position=0),
    note("d", "A puppy came to visit.", 20),
    note("e", "Nothing happened."),
)


def index(held: History = DIARY, **more: Any) -> MemoryIndex:
    return MemoryIndex(held, embedder=PETS, **more)


def changed(**values: Any) -> MemoryDesign:
    return BASE_BM25.changed({f"retrieval.{name}": v for name, v in values.items()})


def rank(design: MemoryDesign, query: str | Query, memory: MemoryIndex | None = None) -> list[str]:
    asked = query if isinstance(query, Query) else Query(query)
    return list((memory or index()).rank(design.store, design.retrieval, asked))


def scores(values: Sequence[float]) -> Any:
    return np.array(values, dtype=np.float32)


def test_scale_puts_the_median_at_0_and_the_best_at_1() -> None:
    assert _scale(scores([0, 1, 2, 3, 6])).tolist() == [0, 0, 0, 0.25, 1]
    assert _scale(scores([1, 3])).tolist() == [0, 1]  # the median of two is between them
    assert _scale(scores([-4, -3, -2])).tolist() == [0, 0, 1]
    assert _scale(scores([2, 2, 2])).tolist() == [0, 0, 0]
    assert _scale(scores([5])).tolist() == [0]


def test_reciprocal_ranks() -> None:
    ranked = _reciprocal_ranks(scores([0.2, 5, 0, 0.2, -1]))
    assert ranked == pytest.approx([61 / 62, 1, 0, 61 / 63, 0])


def test_bm25_alone_ranks_by_shared_words_then_by_order() -> None:
    # "dog" and "boat" stand in one record each, of three index words both: a is the earlier.
    assert rank(BASE_BM25, "dog boat") == ["a", "c", "b", "d", "e"]
    # c has both words.
    assert rank(BASE_BM25, "a cat in a boat, and the dog") == ["c", "a", "b", "d", "e"]
    assert rank(BASE_BM25, "zebra") == ["a", "b", "c", "d", "e"]


def test_embeddings_find_what_words_miss() -> None:
    assert rank(BASE_BM25, "kitten or hound?")[0] == "a"  # nothing matches: the order stays
    found = rank(changed(text_weight=0, dense_weight=1), "kitten")
    assert found[0] == "c"
    assert rank(changed(text_weight=0, dense_weight=1), "hound")[:2] == ["a", "d"]


def test_channels_are_weighted_and_the_weights_add_up_to_one() -> None:
    memory = index()
    design = changed(text_weight=1, dense_weight=1)
    fused = memory._fused(design.store, design.retrieval, Query("the puppy"))
    # Lexical: d alone (1). Dense: a and d are dogs (1 each).
    assert fused == pytest.approx([0.5, 0, 0, 1, 0])
    design = changed(text_weight=0.5, dense_weight=1.5)
    fused = memory._fused(design.store, design.retrieval, Query("the puppy"))
    assert fused == pytest.approx([0.75, 0, 0, 1, 0])


def test_the_least_of_weights_is_a_weight() -> None:
    assert rank(changed(text_weight=5e-324), "boat")[0] == "c"
    assert rank(changed(text_weight=0), "boat") == ["a", "b", "c", "d", "e"]


def test_rewrites_share_their_weight_and_hyde_searches_by_meaning_alone() -> None:
    memory = index()
    query = Query("dog", rewrites=("boat", "slept", "never used"), hypotheticals=("cat",))
    design = changed(rewrites=2, rewrite_weight=1.0)
    fused = memory._fused(design.store, design.retrieval, query)
    # Question 1, two rewrites 0.5 each: of 2 in all.
    assert fused == pytest.approx([0.5, 0.25, 0.25, 0, 0])
    design = changed(hyde=1, hyde_weight=1.0)
    assert memory._fused(design.store, design.retrieval, query) == pytest.approx([1, 0, 0, 0, 0])
    design = changed(hyde=1, hyde_weight=1.0, text_weight=0, dense_weight=1)
    fused = memory._fused(design.store, design.retrieval, query)
    # c, a cat and a boat, has a cosine of 0.71 only: the best there is, so 1 when scaled.
    assert fused == pytest.approx([0.5, 0, 0.5, 0.5, 0])


def test_neighbours_pass_on_a_share() -> None:
    layout = Layout.of(DIARY, {})
    design = changed(neighbour_weight=0.5).retrieval
    spread = layout.spread(scores([1, 0.2, 0.4, 0, 0]), design)
    # b stands beside a and gets half of 1; a gets half of 0.2; the others stand alone.
    assert spread == pytest.approx([1.1, 0.7, 0.4, 0, 0])


def test_a_group_passes_on_its_best() -> None:
    layout = Layout.of(DIARY, {})
    spread = layout.spread(scores([1, 0.2, 0.4, 0.1, 0]), changed(group_weight=0.5).retrieval)
    assert spread == pytest.approx([1.5, 0.7, 0.6, 0.15, 0])


def test_links_pass_on_the_best_of_the_linked() -> None:
    layout = Layout.of(DIARY, {"a": ["d"], "d": ["a", "e"], "c": ["d"]})
    spread = layout.spread(scores([1, 0, 0.4, 0.2, 0]), changed(graph_weight=0.5).retrieval)
    # d is linked from a (1) and c (0.4); a and e from d (0.2).
    assert spread == pytest.approx([1.1, 0, 0.4, 0.7, 0.1])


def test_spreading_changes_nothing_given() -> None:
    given_scores = scores([1, 0, 0, 0, 0])
    design = changed(neighbour_weight=1, group_weight=1, graph_weight=1).retrieval
    Layout.of(DIARY, {}).spread(given_scores, design)
    assert given_scores.tolist() == [1, 0, 0, 0, 0]


def test_dates_of_the_question_lift_their_records() -> None:
    design = changed(date_weight=0.5)
    assert rank(design, "zebra on May 3rd")[0] == "c"
    assert rank(design, "zebra yesterday")[0] == "a"  # nobody says what today is
    assert rank(design, Query("zebra yesterday", datetime(2024, 5, 21)))[0] == "d"
    # A range counts half of a day.
    hits = index().date_hits(design.store, Query("in early May"))
    assert hits.tolist() == [0.5, 0.5, 0.5, 0, 0]
    hits = index().date_hits(design.store, Query("on May 3 or in May"))
    assert hits.tolist() == [0, 0, 1, 0, 0]  # a named day says which part of May


def test_recency_halves_by_its_half_life() -> None:
    design = changed(recency_weight=0.5, recency_days=7)
    assert rank(design, "zebra") == ["d", "c", "b", "a", "e"]  # d is the newest, e has no time
    assert rank(design, Query("zebra", datetime(2024, 5, 1)))[:2] == ["a", "b"]


def test_a_history_without_times_is_ranked_all_the_same() -> None:
    held = history(note("a", "dog"), note("b", "cat"))
    design = changed(recency_weight=0.5, date_weight=1)
    assert rank(design, "cat in May", index(held)) == ["b", "a"]


def test_a_history_of_one_record() -> None:
    memory = index(history(note("a", "The dog.")))
    for design in (BASE_BM25, changed(fusion="rrf", dense_weight=1, reranker="sentence")):
        assert rank(design, "dog", memory) == ["a"]
        assert rank(design, "zebra", memory) == ["a"]


def test_other_scripts_and_emoji_are_found() -> None:
    held = history(note("a", "Мы видели море"), note("b", "猫が好き"), note("c", "🎉🎉"))
    assert rank(BASE_BM25, "море?", index(held))[0] == "a"
    assert rank(BASE_BM25, "猫はどこ", index(held))[0] == "b"
    assert rank(BASE_BM25, "🎉", index(held)) == ["a", "b", "c"]  # a sign is no word


class Lengths:
    """A reranker that prefers long texts."""

    def scores(self, question: str, records: Sequence[Record]) -> list[float]:
        return [len(r.text) for r in records]


def test_the_reranker_reorders_the_first_and_leaves_the_rest_behind() -> None:
    held = history(*(note(f"r{n:02}", "dog " + "x" * (n + 1), n + 1) for n in range(12)))
    memory = index(held, reranker=Lengths())
    before = rank(BASE_BM25, "dog", memory)
    assert before == [f"r{n:02}" for n in range(12)]
    design = changed(reranker="cross-encoder", rerank_depth=10, rerank_weight=2)
    after = rank(design, "dog", memory)
    # Equal words: of the first ten the longest texts first; median and below stay as they were.
    assert after[:5] == ["r09", "r08", "r07", "r06", "r05"]
    assert set(after[:10]) == set(before[:10])
    assert after[10:] == ["r10", "r11"]


def test_the_sentence_reranker_looks_at_the_best_sentence() -> None:
    design = changed(reranker="sentence", rerank_weight=2)
    assert rank(design, "the kitten barked")[0] == "c"


def test_a_cross_encoder_that_is_not_there_is_named() -> None:
    with pytest.raises(DesignError, match="reranker 'no/such-model': cannot be loaded"):
        CrossEncoderReranker("no/such-model").scores("q", DIARY.records)


def test_a_cross_encoder_scores_each_pair_once() -> None:
    class Lengthy:
        def __init__(self) -> None:
            self.pairs: list[tuple[str, str]] = []

        def predict(self, pairs: list[tuple[str, str]]) -> list[float]:
            self.pairs += pairs
            return [len(text) for _, text in pairs]

    reranker = CrossEncoderReranker()
    model = Lengthy()
    reranker.__dict__["_model"] = model
    a, b, c = DIARY.records[:3]
    assert reranker.scores("q", [a, b]) == [len(a.text), len(b.text)]
    assert reranker.scores("q", [c, a]) == [len(c.text), len(a.text)]
    assert model.pairs == [("q", a.text), ("q", b.text), ("q", c.text)]


def test_written_memories_are_searched_where_the_design_says_so() -> None:
    design = BASE_BM25.changed({"store.write": "policy"})
    with pytest.raises(DesignError, match="needs written memories"):
        rank(design, "dog")
    written = history(note("m", "Dogs are dear.", metadata={"sources": "a d"}))
    assert rank(design, "dog", index(written=written)) == ["m"]


def test_an_index_is_shared_by_copies_and_survives_pickling() -> None:
    memory = index()
    assert copy.deepcopy(memory) is memory
    assert rank(BASE_BM25, "boat", memory)[0] == "c"
    again = pickle.loads(pickle.dumps(memory))
    assert rank(BASE_BM25, "boat", again)[0] == "c"


def test_a_channel_is_scored_once() -> None:
    memory = index()
    design = changed(text_weight=0, dense_weight=1)
    first = memory.channel(design.store, "dense", "cat")
    calls = len(PETS.calls)
    assert memory.channel(design.store, "dense", "cat") is first
    assert rank(changed(text_weight=0, dense_weight=0.5), "cat", memory)[0] == "c"
    assert len(PETS.calls) == calls


@given(
    designs(),
    st.text() | st.sampled_from(["dog in May 2024", "the boat 🎉", "猫"]),
    st.integers(1, 7),
)
def test_a_ranking_is_the_beginning_of_a_permutation(
    design: MemoryDesign, question: str, limit: int
) -> None:
    query = Query(question, datetime(2024, 5, 9), ("cat", "night"), ("A hound.",))
    memory = index(links={"a": ["c"], "c": ["a"]}, reranker=Lengths())
    full = memory.rank(design.store, design.retrieval, query)
    assert sorted(full) == ["a", "b", "c", "d", "e"]
    assert memory.rank(design.store, design.retrieval, query, limit) == full[:limit]
