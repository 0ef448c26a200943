"""The offline engine through DSPy's ordinary adapters."""

import asyncio
import copy
from pathlib import Path

import dspy
import pytest

from memsteer.programs.offline import offline_lm
from memsteer.programs.offline.engine import RULES, _read_prompt
from memsteer.signatures import design, memory, supervision
from memsteer.signatures.supervision import AnswerPlan, PlanAnswer, SourceRecord

RECORDS = [
    SourceRecord(
        record_id="a",
        kind="conversation",
        time="2025-03-04T09:00",
        text="User: I bought two crates of Bramley apples at the Thursday market for £14.\n"
        "Assistant: Store the crates in the cool cellar and check them weekly for soft spots.",
    ),
    SourceRecord(
        record_id="b",
        kind="note",
        time="2025-03-09",
        text="The neighbour repaired the garden gate with Harald because the hinge had rusted.",
    ),
]
ROLES = [
    supervision.PlanAnswer,
    supervision.WriteQuestion,
    supervision.AuditItem,
    supervision.RecoverAnswer,
    memory.AnswerQuestion,
    memory.JudgeAnswer,
    memory.RewriteQuery,
    memory.WriteHypothetical,
    design.ProposeDesigns,
]


@pytest.mark.parametrize("role", ROLES, ids=lambda role: role.__name__)
def test_a_rule_fills_the_outputs_of_every_role(role: type[dspy.Signature]) -> None:
    assert frozenset(role.output_fields) in RULES


@pytest.mark.parametrize("adapter", [dspy.ChatAdapter(), dspy.JSONAdapter()])
def test_a_plan_comes_through_each_adapter_typed(adapter: dspy.Adapter) -> None:
    with dspy.context(lm=offline_lm(), adapter=adapter):
        plan = dspy.ChainOfThought(PlanAnswer)(records=RECORDS).plan
    assert isinstance(plan, AnswerPlan)
    assert {fact.citation.record_id for fact in plan.facts} == {"a", "b"}
    texts = {r.record_id: r.text for r in RECORDS}
    assert all(f.citation.quote in texts[f.citation.record_id] for f in plan.facts)


def test_the_same_prompt_gets_the_same_answer() -> None:
    with dspy.context(lm=offline_lm(), adapter=dspy.ChatAdapter()):
        one = dspy.Predict(PlanAnswer)(records=RECORDS).plan
    with dspy.context(lm=copy.deepcopy(offline_lm()), adapter=dspy.ChatAdapter()):
        two = dspy.Predict(PlanAnswer)(records=RECORDS).plan
    assert one == two


def test_a_role_without_a_rule_is_refused_by_name() -> None:
    lm, adapter = offline_lm(), dspy.ChatAdapter()
    with dspy.context(lm=lm, adapter=adapter), pytest.raises(Exception, match="no rule that fills"):
        dspy.Predict("question -> haiku")(question="Autumn?")


def test_usage_is_counted() -> None:
    with dspy.context(lm=offline_lm(), adapter=dspy.ChatAdapter()), dspy.track_usage() as usage:
        dspy.Predict(memory.RewriteQuery)(question="Who mended the gate?", question_time="")
    (entry,) = usage.usage_data["memsteer/extractive"]
    assert entry["prompt_tokens"] > 100
    assert entry["completion_tokens"] > 5


def test_it_answers_awaited_calls() -> None:
    async def ask() -> dspy.Prediction:
        predict = dspy.Predict(memory.RewriteQuery)
        return await predict.acall(question="Who mended the gate?", question_time="")

    with dspy.context(lm=offline_lm(), adapter=dspy.ChatAdapter()):
        assert asyncio.run(ask()).queries


def test_a_program_that_holds_it_is_saved_and_loaded(tmp_path: Path) -> None:
    program = dspy.Predict(memory.RewriteQuery)
    program.set_lm(offline_lm())
    program.save(tmp_path / "p.json")
    loaded = dspy.Predict(memory.RewriteQuery)
    loaded.load(tmp_path / "p.json", allow_unsafe_lm_state=True)
    with dspy.context(adapter=dspy.ChatAdapter()):
        assert loaded(question="Who mended the gate?", question_time="").queries


def test_inputs_are_read_even_where_they_look_like_json() -> None:
    system = (
        "Your input fields are:\n1. `memory` (str):\n2. `note` (str):\n"
        "Your output fields are:\n1. `answer` (str):\nAll interactions …"
    )
    user = '[[ ## memory ## ]]\n[id] 2025\ntext\n\n[[ ## note ## ]]\n{"a": 1}\n\nRespond with x'
    inputs, outputs, as_json = _read_prompt(system, user)
    assert inputs == {"memory": "[id] 2025\ntext", "note": {"a": 1}}
    assert outputs == ["answer"]
    assert as_json is False
