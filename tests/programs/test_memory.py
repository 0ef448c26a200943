"""The memory program: what it asks, what it gives, and what survives copying and saving."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.utils.exceptions import AdapterParseError
from scripted import scripted_lm
from small import PETS, history, note

from memsteer.programs.design import BASE_BM25
from memsteer.programs.memory import MemoryProgram
from memsteer.programs.records import History, HistoryError
from memsteer.programs.retrieval import MemoryIndex, Query

DIARY = history(
    note("a", "Our dog is called Bruno.", 1),
    note("b", "The cat is called Mia.", 2),
    note("c", "We sold the boat.", 3),
)
REWRITES = BASE_BM25.changed({"retrieval.rewrites": 2, "retrieval.hyde": 1})


def program(held: History = DIARY, **options: Any) -> MemoryProgram:
    return MemoryProgram(MemoryIndex(held, embedder=PETS), **options)


def reader(fields: frozenset[str], inputs: Mapping[str, str]) -> Mapping[str, Any]:
    if fields == {"queries"}:
        return {"queries": ["boat", " ", "sold"]}
    if fields == {"passages"}:
        return {"passages": ["I sold it."]}
    first = inputs["memory"].partition("]")[0].lstrip("[")
    return {"answer": " Bruno ", "cited": [f"[{first}]"]}


def test_a_question_is_answered_from_what_is_shown() -> None:
    lm, engine = scripted_lm(reader)
    with dspy.context(lm=lm):
        said = program()(question="What is the dog called?", question_time="2024-05-04")
    assert (said.answer, said.cited) == ("Bruno", ["a"])
    assert said.retrieved == ("a", "b", "c")
    assert said.context.record_ids == ("a", "b", "c")
    assert engine.asked == [frozenset({"answer", "cited"})]
    (prompt,) = engine.prompts
    assert prompt["memory"].startswith("[a] 2024-05-01\nOur dog is called Bruno.\n\n[b]")
    assert prompt["question_time"] == "2024-05-04T00:00"


def test_an_empty_context_is_said_to_be_empty() -> None:
    lm, engine = scripted_lm(lambda *_: {"answer": "Unknown", "cited": []})
    with dspy.context(lm=lm):
        said = program(budget_tokens=2)(question="dog?")
    assert engine.prompts[0]["memory"] == "(empty)"
    assert said.context.record_ids == ()


def test_an_answer_that_cites_nothing_shown_is_asked_for_once_more() -> None:
    lm, engine = scripted_lm(lambda *_: {"answer": "Rex", "cited": ["z"]})
    design = BASE_BM25.changed({"context.validate_answer": True})
    with dspy.context(lm=lm):
        said = program(design=design)(question="What is the dog called?")
    assert (said.answer, len(engine.asked)) == ("Rex", 2)
    assert [bool(p["note"]) for p in engine.prompts] == [False, True]
    lm, engine = scripted_lm(reader)
    with dspy.context(lm=lm):
        program(design=design)(question="What is the dog called?")
    assert len(engine.asked) == 1


def test_searches_are_asked_for_where_the_design_uses_them() -> None:
    lm, engine = scripted_lm(reader)
    with dspy.context(lm=lm):
        query = program(design=REWRITES).make_query("Where is it?", "2024-05-04")
        assert query.rewrites == ("boat", "sold")
        assert query.hypotheticals == ("I sold it.",)
        assert len(engine.asked) == 2
        assert program().make_query("Where is it?") == Query("Where is it?")
        assert len(engine.asked) == 2
        assert program().make_query("Where is it?", hyde=True).hypotheticals
        assert program(design=REWRITES)(question="", query=query).retrieved[0] == "c"


def test_answers_that_cannot_be_read_are_errors_and_not_answers() -> None:
    lm, _ = scripted_lm(lambda *_: "I would rather not say.")
    with dspy.context(lm=lm), pytest.raises(AdapterParseError):
        program()(question="dog?")


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="budget_tokens must be at least 1, not 0"):
        program(budget_tokens=0)
    with pytest.raises(HistoryError, match="'soon' is no ISO date"):
        program().make_query("dog?", "soon")


def test_a_changed_design_shares_the_indexes_and_leaves_the_program() -> None:
    before = program()
    lm, _ = scripted_lm(reader)
    before.answerer.set_lm(lm)
    after = before.with_design(REWRITES)
    assert (before.design, after.design) == (BASE_BM25, REWRITES)
    assert after.index is before.index
    assert after.answerer.lm is not None
    assert copy.deepcopy(after).design == REWRITES
    assert copy.deepcopy(after).index is before.index


def test_saving_keeps_the_design_alone_and_nested(tmp_path: Path) -> None:
    program(design=REWRITES).save(tmp_path / "p.json")
    loaded = program()
    loaded.load(tmp_path / "p.json")
    assert loaded.design == REWRITES

    class Outer(dspy.Module):
        def __init__(self, inner: MemoryProgram) -> None:
            super().__init__()
            self.inner = inner
            self.more = [program()]

    outer = Outer(program(design=REWRITES))
    outer.save(tmp_path / "outer.json")
    again = Outer(program())
    again.load(tmp_path / "outer.json")
    assert again.inner.design == REWRITES
    assert again.more[0].design == BASE_BM25
    assert again.deepcopy().inner.design == REWRITES


def test_a_whole_program_can_be_saved(tmp_path: Path) -> None:
    MemoryProgram(DIARY, design=REWRITES).save(tmp_path / "whole", save_program=True)
    again = dspy.load(str(tmp_path / "whole"), allow_pickle=True)
    assert again.design == REWRITES
    assert again.recall(Query("boat"))[0][0] == "c"


def test_optimizers_see_the_design_and_the_roles() -> None:
    names = [name for name, _ in program().named_parameters()]
    assert sorted(names) == ["answerer", "hyde_writer", "memory_design", "rewriter"]
    reset = program(design=REWRITES).reset_copy()
    assert reset.design == REWRITES
