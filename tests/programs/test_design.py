"""The memory design: validation, changes, knobs and what survives saving."""

import copy
import json
from typing import Any

import dspy
import pytest
from design_space import changes
from hypothesis import given

from memsteer.programs.design import (
    BASE_BM25,
    KNOBS,
    DesignError,
    DesignParameter,
    MemoryDesign,
    active_knobs,
    schema_for_proposer,
)


def test_the_base_is_plain_bm25() -> None:
    weights = {p: v for p, v in BASE_BM25.flat.items() if p.endswith("_weight") and v}
    assert weights == {
        "retrieval.text_weight": 1.0,
        "retrieval.rewrite_weight": 0.5,  # of no rewrites
        "retrieval.hyde_weight": 0.5,  # of no passages
        "retrieval.rerank_weight": 0.5,  # of no reranker
    }
    assert BASE_BM25.flat["retrieval.k"] == 10
    assert BASE_BM25.flat["store.unit"] == "record"


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("retrieval.k", 4, "'retrieval.k'"),
        ("retrieval.k", 61, "'retrieval.k'"),
        ("retrieval.k", 10.5, "'retrieval.k'"),
        ("retrieval.dense_weight", -0.1, "'retrieval.dense_weight'"),
        ("retrieval.dense_weight", float("nan"), "'retrieval.dense_weight'"),
        ("store.unit", "page", "'store.unit'"),
        ("store.unit", None, "'store.unit'"),
        ("context.budget_tokens", 9000, "no field 'context.budget_tokens'"),
        ("context", {}, "no field 'context'"),
        ("nowhere.k", 10, "no field 'nowhere.k'"),
        ("", 1, "no field ''"),
    ],
)
def test_bad_changes_are_refused_by_name(path: str, value: Any, said: str) -> None:
    with pytest.raises(DesignError) as caught:
        BASE_BM25.changed({path: value})
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", ["{", "null", "[]", [1], 7, {"store": 3}, {"extra": {}}])
def test_what_is_no_design_is_refused(data: object) -> None:
    with pytest.raises(DesignError):
        MemoryDesign.parse(data)


def test_a_design_is_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        BASE_BM25.store = BASE_BM25.store  # type: ignore[misc]


def test_differences() -> None:
    other = BASE_BM25.changed({"retrieval.k": 20, "store.stem": True})
    assert BASE_BM25.differences(other) == {"retrieval.k": (10, 20), "store.stem": (False, True)}
    assert other.differences(other) == {}


@given(changes())
def test_changed_sets_what_is_asked_and_mutates_nothing(drawn: dict[str, Any]) -> None:
    before, given_before = BASE_BM25.model_dump(), dict(drawn)
    design = BASE_BM25.changed(drawn)
    assert BASE_BM25.model_dump() == before
    assert drawn == given_before
    assert design.flat == {**BASE_BM25.flat, **drawn}


@given(changes())
def test_json_round_trip(drawn: dict[str, Any]) -> None:
    design = BASE_BM25.changed(drawn)
    for text in (design.key, design.model_dump_json()):
        again = MemoryDesign.parse(text)
        assert again == design
        assert again.key == design.key
    assert MemoryDesign.parse(json.loads(design.key)) == design


def test_every_knob_stands_in_its_range() -> None:
    assert len({knob.path for knob in KNOBS}) == len(KNOBS)
    for knob in KNOBS:
        assert knob.low <= BASE_BM25.flat[knob.path] <= knob.high
        for end in (knob.low, knob.high):
            assert BASE_BM25.changed({knob.path: end}).flat[knob.path] == end
        for beyond in (knob.low - 1, knob.high + 1):
            with pytest.raises(DesignError):
                BASE_BM25.changed({knob.path: beyond})


def test_active_knobs_are_those_that_matter() -> None:
    def active(**values: Any) -> set[str]:
        paths = {name.replace("__", "."): value for name, value in values.items()}
        return {k.path for k in active_knobs(BASE_BM25.changed(paths))}

    base = {"retrieval.text_weight", "retrieval.k"}
    assert active() == base
    assert active(retrieval__dense_weight=1) == base | {"retrieval.dense_weight"}
    assert active(store__unit="window") == base | {"store.window"}
    assert active(context__compress="sentences") == base | {"context.keep_sentences"}
    assert active(retrieval__rewrites=2) == base | {
        "retrieval.rewrites",
        "retrieval.rewrite_weight",
    }
    assert active(retrieval__reranker="sentence") == base | {
        "retrieval.rerank_depth",
        "retrieval.rerank_weight",
    }
    assert active(retrieval__recency_weight=0.1) == base | {
        "retrieval.recency_weight",
        "retrieval.recency_days",
    }


def test_every_need_names_a_field_or_a_switch() -> None:
    switches = {"store.window_unit", "context.sentences_kept"}
    assert {k.needs for k in KNOBS if k.needs} <= set(BASE_BM25.flat) | switches


def test_the_proposer_sees_every_field_with_its_values() -> None:
    lines = {line.partition(" ")[0]: line for line in schema_for_proposer().splitlines()}
    assert set(lines) == set(BASE_BM25.flat)
    assert lines["retrieval.k"] == "retrieval.k (int 5 to 60): records handed to the context"
    assert lines["store.stem"].startswith("store.stem (true | false): ")
    assert lines["context.order"] == "context.order (rank | time): order of the excerpts"
    assert "float 0.1 to 1.5" in lines["retrieval.hyde_weight"]


def test_the_parameter_keeps_its_design() -> None:
    design = BASE_BM25.changed({"retrieval.k": 20})
    module = dspy.Module()
    module.held = DesignParameter(design)
    state = json.loads(json.dumps(module.dump_state()))
    other = dspy.Module()
    other.held = DesignParameter()
    other.load_state(state)
    other.held.reset()
    assert other.held.value == design
    assert copy.deepcopy(module).held.value == design
    with pytest.raises(DesignError):
        other.held.load_state({"design": {"store": {"unit": "page"}}})


def test_a_list_is_no_design() -> None:
    with pytest.raises(DesignError, match="design: is a list, not an object"):
        MemoryDesign.parse([])
