"""The offline rules for extractor, gate, updater and answerer, by sentences of our own."""

from typing import Any

import dspy
import pytest

from memsteer.programs.names import Names
from memsteer.programs.offline.engine import offline_lm
from memsteer.programs.offline.gatekeeper import gate_memory
from memsteer.programs.offline.kinds import kinds_named, kinds_told
from memsteer.programs.offline.people import find_people
from memsteer.programs.offline.updater import update_policy
from memsteer.programs.offline.writing import answer_from_memories, extract_memories
from memsteer.programs.policy import MemoryPolicy
from memsteer.programs.writers import (
    KEEP_USER_FACTS,
    POSITIVE_WORDING,
    TIME_RULE,
    Extractor,
    Gate,
    MemoryAnswerer,
    PolicyUpdater,
)
from memsteer.signatures.writing import CandidateMemory, ChatMessage, FeedbackTurn


def extract(*said: str, time_rule: str = TIME_RULE) -> list[dict[str, Any]]:
    messages = [{"role": "user", "content": text} for text in said]
    inputs = {
        "observation_date": "2024-05-01",  # a Wednesday
        "time_rule": time_rule,
        "rules": [],
        "user": "Ada",
        "messages": messages,
    }
    found: list[dict[str, Any]] = extract_memories(inputs)["memories"]
    return found


def test_clauses_become_dated_memories_in_the_third_person() -> None:
    found = extract(
        "Hey, Dana decided that the picnic moves to Friday. I promised Dana to bring two tents. "
        "Can you remind me?"
    )
    assert [(m["text"], m["about"], m["date"]) for m in found] == [
        (
            "On 2024-05-01, Dana decided that the picnic moves to Friday (2024-05-03).",
            ["Dana"],
            "2024-05-01",
        ),
        ("On 2024-05-01, Ada promised Dana to bring two tents.", ["Dana", "user"], "2024-05-01"),
    ]


def test_without_a_time_rule_nothing_is_dated() -> None:
    (memory,) = extract("Dana decided to sell the old boat tomorrow.", time_rule="")
    assert memory["text"] == "Dana decided to sell the old boat tomorrow."
    assert memory["date"] == ""


def test_a_pronoun_is_the_person_last_named() -> None:
    _, second = extract("I had lunch with Dana at the harbour. She felt proud of her new boat.")
    assert second["text"] == "On 2024-05-01, Dana felt proud of her new boat."
    assert second["about"] == ["Dana"]


def test_a_person_meant_by_a_pronoun_is_one_the_memory_is_about() -> None:
    found = extract("I met Dana. I told her that Frank promised two boats.")
    assert found[-1]["about"] == ["Frank", "Dana", "user"]


def test_a_sentence_that_gives_the_cause_belongs_to_what_it_caused() -> None:
    (memory,) = extract("Dana felt deep dread today. It was triggered by the coming storm.")
    assert memory["text"] == (
        "On 2024-05-01, Dana felt deep dread today: It was triggered by the coming storm."
    )


def test_a_correction_is_written_with_its_question() -> None:
    (memory,) = extract(
        "What colour is the boat?",
        "You are wrong. The correct answer is: it is green. I only need it.",
    )
    assert memory["text"] == "On 2024-05-01, What colour is the boat: it is green."


def test_small_talk_requests_and_the_assistant_give_nothing() -> None:
    assert extract("Hello! Thanks a lot.", "Could you book it?", "You are right.") == []
    messages = [{"role": "assistant", "content": "Dana decided to buy a boat."}]
    inputs = {"observation_date": "2024-05-01", "messages": messages}
    assert extract_memories(inputs) == {"memories": []}


def test_people_are_told_from_places() -> None:
    texts = [
        "I met Dana at the Oslo office.",
        "Frank Lund said the Oslo train was late.",
    ]
    assert find_people([*texts, "Pretty tired today. Oslo was cold."]) == ("Dana", "Frank Lund")
    assert find_people(["It rained on Bo."], known=["Bo"]) == ("Bo",)
    assert find_people(["Later my mom called."]) == ("my mom",)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Dana decided to paint the boat green.", "decision"),
        ("Ada promised to call.", "promise"),
        ("Dana felt deeply relieved.", "feeling"),
        ("The mast is 12 metres long.", "figure"),
        ("They meet at 7:30 PM.", "schedule"),
        ("Her sister's wedding was lovely.", "event"),
    ],
)
def test_kinds_are_told_by_facts(text: str, kind: str) -> None:
    assert kind in kinds_told(text)


def test_an_iso_date_is_no_figure() -> None:
    assert "figure" not in kinds_told("On 2024-05-01, Dana laughed at a joke.")


def test_the_unwanted_side_of_a_wish_names_nothing() -> None:
    assert kinds_named("I want her promises, not her feelings.") == ("promise",)
    assert kinds_named("Focus on decisions instead of the schedule.") == ("decision",)


def judge(text: str, rule: str, guidance: str = "") -> dict[str, Any]:
    candidate = {"index": 0, "text": text, "about": ["Dana", "user"], "rules": [rule]}
    (verdict,) = gate_memory({"guidance": guidance, "candidates": [candidate]})["verdicts"]
    return dict(verdict)


def test_the_gate_stores_the_wanted_kind_and_refuses_the_rest() -> None:
    rule = "person Dana: I only need her promises."
    assert judge("Dana promised to come early.", rule)["verdict"] == "store"
    refused = judge("Dana bought yellow boots.", rule)
    assert refused["verdict"] == "refuse"
    assert refused["reason"] == "person Dana: wanted is promise; this is a purchase"
    assert judge("Dana bought yellow boots.", rule, KEEP_USER_FACTS)["verdict"] == "store"


def test_a_rule_of_no_known_kind_is_met_by_its_words() -> None:
    rule = "person Dana: Record her dogs."
    assert judge("Dana took the dogs to the vet.", rule)["verdict"] == "store"
    assert judge("Dana painted the kitchen wall.", rule)["verdict"] == "refuse"


def update(*turns: FeedbackTurn, policy: str = "", wording: str = "") -> list[dict[str, str]]:
    patch = update_policy({"policy": policy, "wording": wording, "turns": list(turns)})["patch"]
    changes: list[dict[str, str]] = patch["set"]
    return changes


def turn(feedback: str, about: str = "", question: str = "What was it?") -> FeedbackTurn:
    return FeedbackTurn(question=question, about=about, memories=[], answer="", feedback=feedback)


WRONG = "You are wrong. The correct answer is: Dana promised to call."


def test_a_stated_wish_becomes_the_rule() -> None:
    wish = "For Dana, I only need her promises, not the gossip."
    expected = {"scope_kind": "person", "scope": "Dana", "rule": wish}
    assert update(turn(f"{WRONG} {wish}", "Dana")) == [expected]
    (positive,) = update(turn(f"{WRONG} {wish}", "Dana"), wording=POSITIVE_WORDING)
    assert positive["rule"] == "Record promises and commitments."


def test_without_a_wish_the_kinds_asked_for_make_the_rule_and_stated_rules_stay() -> None:
    (change,) = update(turn(WRONG, "Dana"))
    assert change["rule"] == "Record promises and commitments."
    stated = "general: x\nperson Dana: I only need her schedule."
    assert update(turn(WRONG, "Dana"), policy=stated) == []
    inferred = "general: x\nperson Dana: Record schedules and times."
    (change,) = update(turn(WRONG, "Dana"), policy=inferred)
    assert change["rule"] == "Record schedules and times and promises and commitments."


def test_a_person_is_found_in_the_memories_where_nobody_is_named() -> None:
    asked = FeedbackTurn(
        question="What colour is the boat?",
        memories=["Eli said the car is red.", "Dana said the boat is green."],
        answer="The boat is green.",
        feedback="You are wrong. The correct answer is: the boat was promised to be green.",
    )
    assert [c["scope"] for c in update(asked)] == ["Dana"]


def test_the_answer_is_the_memory_of_the_kind_asked_for_and_the_later_of_two() -> None:
    memories = [
        "On 2024-05-01, Dana talked about the boat trip.",
        "On 2024-05-01, Dana felt nervous about the boat trip.",
        "On 2024-05-09, Dana felt happy about the boat trip.",
    ]
    asked = {"memories": memories, "question": "How did Dana feel about the boat trip?"}
    reply = answer_from_memories(asked)["reply"]
    assert reply in memories[1:]
    assert (
        answer_from_memories({"memories": [], "question": "Who?"})["reply"] == "I don't remember."
    )


def test_the_engine_plays_the_four_roles_through_the_adapters() -> None:
    names, policy = Names("Ada"), MemoryPolicy()
    said = [ChatMessage(role="user", content="Dana decided to sell the old boat.")]
    with dspy.context(lm=offline_lm()):
        (candidate,) = Extractor()(said, "2024-05-01", policy, names)
        assert candidate.text == "On 2024-05-01, Dana decided to sell the old boat."
        reply = MemoryAnswerer()([candidate.text], "What did Dana decide?", names)
        assert reply == candidate.text
        turns = [turn(f"{WRONG} I only need her promises.", "Dana")]
        patch = PolicyUpdater()(policy, turns, names)
        assert patch.set[0].rule == "I only need her promises."
        rule = MemoryPolicy.model_validate(
            {"rules": [{"scope": {"kind": "person", "name": "Dana"}, "rule": patch.set[0].rule}]}
        ).rules
        verdicts = Gate()([candidate], [rule], "", "", names)
    assert verdicts[0].verdict == "refuse"
    assert isinstance(candidate, CandidateMemory)
