"""Proposals: what they are shown, and how what they say becomes a design or is refused."""

from typing import Any

import dspy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pets import BASE, proposal
from scripted import scripted_lm

from memsteer.optimizers.proposer import DesignProposer, read_proposal
from memsteer.programs.design import DesignError, MemoryDesign
from memsteer.signatures.design import DesignProposal, FailureCounts, TriedProposal


def read(**changes: str) -> MemoryDesign:
    paths = {name.replace("__", "."): value for name, value in changes.items()}
    return read_proposal(DesignProposal.model_validate(proposal(paths)), BASE)


@pytest.mark.parametrize(
    ("path", "said", "value"),
    [
        ("retrieval.dense_weight", "0.5", 0.5),
        ("retrieval.dense_weight", " 1 ", 1.0),
        ("retrieval.k", "20", 20),
        ("store.stem", "true", True),
        ("store.stem", "True", True),
        ("store.unit", "sentence", "sentence"),
        ("store.unit", '"sentence"', "sentence"),
        ("store.unit", "'sentence'", "sentence"),
    ],
)
def test_values_as_models_write_them(path: str, said: str, value: Any) -> None:
    assert read(**{path.replace(".", "__"): said}).flat[path] == value


@pytest.mark.parametrize(
    ("path", "said", "reason"),
    [
        ("retrieval.k", "500", "'retrieval.k'"),
        ("retrieval.k", "many", "'retrieval.k'"),
        ("retrieval.dense_weight", "NaN", "'retrieval.dense_weight'"),
        ("store.unit", "null", "'store.unit'"),
        ("store.unit", "page", "'store.unit'"),
        ("context.budget_tokens", "9000", "no field"),
        ("answerer.instruction", "be good", "no field"),
        ("retrieval.k", "5", "leaves the design as it is"),
    ],
)
def test_bad_proposals_are_refused(path: str, said: str, reason: str) -> None:
    with pytest.raises(DesignError, match=reason):
        read(**{path.replace(".", "__"): said})


def test_a_proposal_must_change_something() -> None:
    with pytest.raises(DesignError, match="changes nothing"):
        read()


def test_the_proposer_sees_fields_design_counts_and_what_was_tried() -> None:
    lm, engine = scripted_lm(lambda *_: {"reasoning": "", "proposals": [proposal({"a": "b"})]})
    counts = FailureCounts(correct=1, storage=2, retrieval=3, answering=4)
    tried = [TriedProposal(changes=[], fate="refused: never mind")]
    with dspy.context(lm=lm):
        said = DesignProposer()(current=BASE, counts=counts, cases=[], tried=tried, number=3)
    assert said.proposals[0].changes[0].path == "a"
    (shown,) = engine.prompts
    assert "retrieval.k (int 5 to 60)" in shown["design_fields"]
    assert shown["current"] == BASE.key
    assert '"retrieval": 3' in shown["counts"].replace('":3', '": 3')
    assert "never mind" in shown["tried"]
    assert shown["number"] == "3"


@given(st.sampled_from(sorted(BASE.flat)) | st.text(), st.text() | st.sampled_from(["1e999", "[]"]))
def test_no_proposal_makes_a_design_that_is_out_of_range(path: str, value: str) -> None:
    made = DesignProposal.model_validate(proposal({path: value}))
    try:
        design = read_proposal(made, BASE)
    except DesignError:
        return
    assert MemoryDesign.parse(design.key) == design != BASE
