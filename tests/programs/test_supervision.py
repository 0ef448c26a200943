"""Supervision: where each bundle falls, what is kept, and that runs repeat. Roles are scripted."""

import json
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import dspy
import pytest
from scripted import ScriptedEngine, scripted_lm
from small import history, note

from memsteer.programs.bundles import Bundle
from memsteer.programs.records import HistoryError, Span
from memsteer.programs.supervision import (
    Rejection,
    Supervision,
    SupervisionBuilder,
    SupervisionItem,
)

A = note("a", "The dog is called Bruno.", 1)
B = note("b", "Bruno is afraid of thunder.", 2)
BUNDLE = Bundle("bundle", (A, B), ("lexical",))
ASKED = "2024-07-31"  # 2 May and the 90 days that this bundle's id draws
QUOTES = {"a": "called Bruno", "b": "afraid of thunder"}
HISTORY = history(
    *(note(f"n{n}", f"Visit {n} was to the town of Burg{n} by train.", n + 1) for n in range(12))
)


def plan_of(quotes: Mapping[str, str], answer: str) -> dict[str, Any]:
    return {
        "intent": "fact",
        "answer": answer,
        "answer_type": "span",
        "facts": [
            {"statement": "s", "citation": {"record_id": r, "quote": q}, "value": ""}
            for r, q in quotes.items()
        ],
        "contributions": [{"record_id": r, "gives": "g"} for r in quotes],
        "operation": "none",
        "combination": "c",
    }


def roles(**said: Any) -> tuple[dspy.LM, ScriptedEngine]:
    """Roles that agree on BUNDLE, but for the fields in `said`."""
    script: dict[str, Any] = {
        "reasoning": "r",
        "plan": plan_of(QUOTES, "thunder"),
        "question": "What does our dog fear?",
        "evidence_supports_answer": True,
        "question_matches_plan": True,
        "reason": "why",
        "answer": "Thunder.",
        "citations": [{"record_id": r, "quote": q} for r, q in QUOTES.items()],
    } | said
    return scripted_lm(lambda fields, inputs: {f: script[f] for f in fields})


def made(**said: Any) -> SupervisionItem | Rejection:
    lm, _ = roles(**said)
    with dspy.context(lm=lm):
        return SupervisionBuilder().make_item(BUNDLE)


def test_what_all_roles_agree_on_becomes_an_item() -> None:
    assert made() == SupervisionItem(
        id="bundle",
        question="What does our dog fear?",
        answer="thunder",
        answer_type="span",
        intent="fact",
        evidence=(Span("a", 11, 23), Span("b", 9, 26)),
        question_time=ASKED,
    )


@pytest.mark.parametrize(
    ("said", "stage", "reason", "calls"),
    [
        ({"plan": None}, "plan", "no_plan", 1),
        ({"plan": plan_of(QUOTES, "Unknown")}, "plan", "answer_missing", 1),
        ({"question": "thunder"}, "question", "question_empty", 2),
        ({"question": "Is thunder what he fears?"}, "question", "question_gives_answer_away", 2),
        (
            *({"evidence_supports_answer": False}, "audit"),
            *("evidence_does_not_support_answer", 3),
        ),
        ({"question_matches_plan": False}, "audit", "question_differs_from_plan", 3),
        ({"answer": "Unknown"}, "recovery", "recovery_abstained", 4),
        ({"answer": "rain"}, "recovery", "another_answer", 4),
        ({"citations": []}, "recovery", "record_not_cited", 4),
    ],
)
def test_where_a_bundle_falls_and_how_many_calls_it_cost(
    said: dict[str, Any], stage: str, reason: str, calls: int
) -> None:
    lm, engine = roles(**said)
    with dspy.context(lm=lm):
        result = SupervisionBuilder().make_item(BUNDLE)
    assert isinstance(result, Rejection)
    assert (result.stage, result.reason) == (stage, reason)
    assert result.records == ("a", "b")
    assert len(engine.asked) == calls


def test_the_recoverer_sees_neither_plan_nor_answer() -> None:
    lm, engine = roles()
    with dspy.context(lm=lm):
        SupervisionBuilder().make_item(BUNDLE)
    shown = engine.prompts[-1]
    assert set(shown) == {"question", "answer_type", "records"}


def town(fields: frozenset[str], inputs: Mapping[str, str]) -> Mapping[str, Any] | str:
    """Plans, asks for and recovers the town of the first record."""
    ids = re.findall(r'"record_id": "(n\d+)"', inputs["records"])
    quotes = {i: f"Burg{i[1:]}" for i in dict.fromkeys(ids) if i in inputs["records"]}
    first = next(iter(quotes))
    if "plan" in fields:
        return {"plan": plan_of(quotes, f"Burg{first[1:]}"), "reasoning": ""}
    if "question" in fields:
        return {"question": f"Where did trip {'i' * int(first[1:])} {len(quotes)} go to?"}
    if "citations" in fields:
        citations = [{"record_id": i, "quote": q} for i, q in quotes.items()]
        return {"answer": f"Burg{first[1:]}", "citations": citations, "reasoning": ""}
    good = {"evidence_supports_answer": True, "question_matches_plan": True}
    return {**good, "reason": "", "reasoning": ""}


def build(folder: Path | None = None, **options: Any) -> Supervision:
    lm, _ = scripted_lm(town)
    with dspy.context(lm=lm):
        return SupervisionBuilder(**{"questions": 6} | options)(HISTORY, folder)


def test_a_run_repeats_on_any_number_of_threads() -> None:
    one = build(num_threads=1)
    assert len(one.items) == 6
    assert build(num_threads=4) == one
    assert build(seed=1).items != one.items
    for item in one.items:  # asked one to thirteen weeks after the last record it rests on
        last = max(HISTORY[r].time or datetime.min for r in item.evidence_records)
        assert 7 <= (datetime.fromisoformat(item.question_time) - last).days + 1 <= 92
    assert len({i.question_time for i in one.items}) > 1


def test_no_question_is_asked_twice() -> None:
    lm, _ = scripted_lm(
        lambda fields, inputs: (
            {"question": "Where did we go then?"} if "question" in fields else town(fields, inputs)
        )
    )
    with dspy.context(lm=lm):
        found = SupervisionBuilder(questions=3, attempts=2)(HISTORY)
    assert len(found.items) == 1
    assert found.reasons == {"question_asked_before": 5}


def test_a_failed_call_is_neither_an_item_nor_the_end() -> None:
    lm, _ = scripted_lm(
        lambda fields, inputs: (
            "no fields here" if "n3" in inputs["records"] else town(fields, inputs)
        )
    )
    with dspy.context(lm=lm):
        found = SupervisionBuilder(questions=30)(HISTORY)
    failed = [r for r in found.rejections if r.stage == "failed"]
    assert failed
    assert {r.reason for r in failed} == {"malformed_output"}
    assert all("n3" in r.records for r in failed)
    assert found.items


def test_the_split_is_whole_and_by_seed() -> None:
    found = build()
    ids = {item.id for item in found.items}
    assert {e.id for e in found.train} | {e.id for e in found.val} == ids
    assert (len(found.train), len(found.val)) == (3, 3)
    quarter = Supervision(found.items, val_share=0.25, seed=3)
    assert (len(quarter.train), len(quarter.val)) == (4, 2)
    orders = {tuple(e.id for e in Supervision(found.items, seed=s).val) for s in range(8)}
    assert len(orders) > 1
    assert Supervision((), ()).train == []


def test_examples_take_question_and_time_and_carry_evidence() -> None:
    item = made()
    assert isinstance(item, SupervisionItem)
    example = item.to_example()
    assert set(example.inputs().keys()) == {"question", "question_time"}
    assert example.evidence == [("a", 11, 23), ("b", 9, 26)]
    assert item.evidence_records == ("a", "b")


def test_files_hold_what_the_run_gave(tmp_path: Path) -> None:
    found = build(tmp_path / "run")
    assert Supervision.from_jsonl(tmp_path / "run") == found
    found.to_jsonl(tmp_path / "copy")
    for name in ("supervision.jsonl", "rejects.jsonl"):
        assert (tmp_path / "copy" / name).read_text() == (tmp_path / "run" / name).read_text()
    rows = (tmp_path / "run" / "supervision.jsonl").read_text().splitlines()
    assert [json.loads(r)["id"] for r in rows] == [i.id for i in found.items]
    assert Supervision.from_jsonl(tmp_path / "nowhere") == Supervision((), ())


def test_odd_characters_survive_the_files(tmp_path: Path) -> None:
    item = SupervisionItem("i", "Wo\u2028ist 🎉?", "東京\u0085", "span", "fact", (Span("a", 0, 1),))
    reject = Rejection("r", "audit", "why", records=("a",))
    held = Supervision((item,), (reject,))
    held.to_jsonl(tmp_path)
    assert Supervision.from_jsonl(tmp_path) == held


def test_progress_is_told_after_each_wave() -> None:
    told: list[tuple[int, int, int]] = []
    lm, _ = scripted_lm(town)
    with dspy.context(lm=lm):
        SupervisionBuilder(questions=6)(HISTORY, progress=lambda *a: told.append(a))
    assert told[-1][:2] == (6, 6)


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="questions must be at least 1, not 0"):
        SupervisionBuilder(questions=0)
    with pytest.raises(HistoryError, match="no record fits a bundle of 3 tokens"):
        SupervisionBuilder(budget_tokens=3)(HISTORY)


def test_a_history_of_one_record_without_a_time() -> None:
    lm, _ = scripted_lm(town)
    with dspy.context(lm=lm):
        found = SupervisionBuilder()(history(note("n1", "We went to Burg1.")))
    assert [i.answer for i in found.items] == ["Burg1"]
    assert found.items[0].question_time == ""


def test_one_role_can_have_a_model_of_its_own() -> None:
    lm, engine = roles()
    auditor, heard = roles(evidence_supports_answer=False)
    builder = SupervisionBuilder()
    builder.auditor.set_lm(auditor)
    with dspy.context(lm=lm):
        result = builder.make_item(BUNDLE)
    assert isinstance(result, Rejection)
    assert result.stage == "audit"
    assert (len(engine.asked), len(heard.asked)) == (2, 1)
