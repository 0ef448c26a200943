"""Policies: precedence, names, patches that are refused as a whole, and what survives saving."""

import copy
from pathlib import Path
from typing import Any

import dspy
import pytest

from memsteer.programs.names import Names
from memsteer.programs.patches import apply_patch, detect_language, excludes
from memsteer.programs.policy import (
    MemoryPolicy,
    PolicyError,
    PolicyParameter,
    Scope,
    ScopedRule,
)
from memsteer.signatures.writing import PolicyPatch

NAMES = Names("Ada", {"my girlfriend": "Bea", "Bee": "Bea"})


def rule(kind: str, name: str, text: str) -> ScopedRule:
    return ScopedRule(scope=Scope.model_validate({"kind": kind, "name": name}), rule=text)


POLICY = MemoryPolicy(
    general="Record promises.",
    rules=(
        rule("person", "Mom", "Record her health."),
        rule("task", "tax return", "Record deadlines."),
        rule("activity", "choir", "Record the songs."),
        rule("topic", "the garden", "Record what was planted."),
    ),
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Mom", "my mother"),
        ("Mom", "User's mom"),
        ("mum", "Ada's mother"),
        ("Grandma", "the user's granny"),
        ("Bo", "BO"),
        ("Bo's", "Bo"),
        ("Dr. Lee", "Lee"),
        ("Mr. Park", "mr park"),
        ("my girlfriend", "Bea"),
        ("Bee", "bea's"),
        ("Ada", "the user"),
        ("me", "I"),
    ],
)
def test_two_spellings_of_one_person(one: str, other: str) -> None:
    assert NAMES.key(one) == NAMES.key(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Mom", "Dad"),
        ("Mr Park", "Mrs Park"),
        ("Bo", "Bob"),
        ("Bo's mother", "my mother"),
        ("Ada", "Bea"),
    ],
)
def test_two_people(one: str, other: str) -> None:
    assert NAMES.key(one) != NAMES.key(other)


def test_aliases_that_point_at_each_other_end() -> None:
    names = Names(aliases={"x": "y", "y": "x"})
    assert names.key("x") in ("x", "y")


def test_rules_stand_in_the_order_of_precedence() -> None:
    assert [r.scope.kind for r in POLICY.rules] == ["activity", "topic", "task", "person"]
    found = POLICY.applicable(["my mother"], "At choir she spoke of the garden.", NAMES)
    assert [r.scope.name for r in found] == ["choir", "the garden", "Mom"]
    assert POLICY.applicable(["Bo"], "Bo filed his return.", NAMES) == ()


def test_a_patch_sets_removes_and_keeps_the_known_spelling() -> None:
    outcome = apply_patch(
        POLICY,
        {
            "general": "Record plans.",
            "set": [{"scope_kind": "person", "scope": "my mother", "rule": "Record her visits."}],
            "remove": [{"scope_kind": "topic", "scope": "garden"}],
        },
        NAMES,
    )
    assert outcome.applied
    assert outcome.reasons == ()
    assert outcome.policy.render() == (
        "general: Record plans.\nactivity choir: Record the songs.\n"
        "task tax return: Record deadlines.\nperson Mom: Record her visits."
    )


@pytest.mark.parametrize("patch", [{}, PolicyPatch(), '{"general": null}'])
def test_an_empty_patch_changes_nothing(patch: object) -> None:
    outcome = apply_patch(POLICY, patch)
    assert (outcome.policy, outcome.applied) == (POLICY, True)


def test_removing_what_is_not_there_is_noted() -> None:
    outcome = apply_patch(POLICY, {"remove": [{"scope_kind": "person", "scope": "Bo"}]})
    assert outcome.applied
    assert outcome.reasons == ("no rule to remove for person bo",)


def _set(scope: str, text: Any, kind: str = "person") -> dict[str, Any]:
    return {"set": [{"scope_kind": kind, "scope": scope, "rule": text}]}


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        ([{"scope": "Bo"}], "is a list, not an object"),
        ({"set": {"Bo": "Record x."}}, "'set': Input should be a valid list"),
        ({"by_character": {}}, "'by_character': Extra inputs"),
        ("", "is empty text"),
        ('{"set": [{"scope_kind": "per', "is not JSON"),
        (_set("Bo", "Notiere nur die Termine und die Versprechen."), "is in 'de', the policy in"),
        (_set("Bo", "记录他的承诺和决定"), "is in 'zh', the policy in 'en'"),
        (_set("Bo", "Record it. " * 100), "a rule of 1100 characters; at most 600"),
        (_set("Bo", "   "), "the rule is empty"),
        (_set("Bo", 7), "Input should be a valid string"),
        (_set("Bo", "Record x.", "planet"), "Input should be 'person'"),
        (_set("…", "Record x."), "the scope has no name"),
        (_set("B" * 81, "Record x."), "a name of 81 characters"),
        ({"set": _set("Mom", "Record x.")["set"] * 2}, "two rules for one scope"),
        (
            {
                **_set("Bo", "Record x."),
                "remove": [{"scope_kind": "person", "scope": "bo's"}],
            },
            "set and removed in one patch",
        ),
        (None, "is a NoneType"),
    ],
)
def test_a_malformed_patch_leaves_the_old_policy_and_a_reason(patch: object, said: str) -> None:
    outcome = apply_patch(POLICY, patch, NAMES)
    assert outcome.policy is POLICY
    assert not outcome.applied
    assert said in outcome.reasons[0]


def test_one_bad_rule_takes_the_good_one_with_it() -> None:
    good = {"scope_kind": "person", "scope": "Bo", "rule": "Record his plans."}
    bad = {"scope_kind": "person", "scope": "Cy", "rule": ""}
    assert apply_patch(POLICY, {"set": [good, bad]}).policy is POLICY


def test_too_many_rules_are_refused() -> None:
    many = [_set(f"Person{n}", "Record plans.")["set"][0] for n in range(60)]
    outcome = apply_patch(POLICY, {"set": many})
    assert outcome.policy is POLICY
    assert outcome.reasons == ("64 rules; at most 60 are kept",)


def test_exclusionary_wording_is_a_switch() -> None:
    patch = _set("Bo", "Record only his plans.")
    assert excludes("Record only his plans.")
    assert apply_patch(POLICY, patch).applied
    refused = apply_patch(POLICY, patch, exclusions_allowed=False)
    assert refused.policy is POLICY
    assert "what to leave out" in refused.reasons[0]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Record her promises and the times of meetings.", "en"),
        ("Retiens les promesses et les dates pour la famille.", "fr"),
        ("彼の約束を記録する", "ja"),
        ("Record promises.", ""),
        ("", ""),
    ],
)
def test_language_is_told_only_where_it_is_clear(text: str, language: str) -> None:
    assert detect_language(text) == language


class Holder(dspy.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.memory_policy = PolicyParameter()
        self.say = dspy.Predict("question -> answer")


def test_a_policy_survives_saving_copies_and_resets(tmp_path: Path) -> None:
    program = Holder()
    program.memory_policy.value = POLICY
    program.save(tmp_path / "p.json")
    other = Holder()
    other.load(tmp_path / "p.json")
    assert other.memory_policy.value == POLICY
    assert copy.deepcopy(program).memory_policy.value == POLICY
    assert program.reset_copy().memory_policy.value == POLICY


@pytest.mark.parametrize("data", ["{", "[]", {"extra": 1}, {"rules": [{"rule": "x"}]}, 3])
def test_what_is_no_policy_is_refused_in_one_line(data: object) -> None:
    with pytest.raises(PolicyError) as caught:
        MemoryPolicy.parse(data)
    assert "\n" not in str(caught.value)
