"""AdaMem-Bench's measures and the fact cover, with values worked out by hand."""

from datetime import date

import pytest

from memsteer.eval.adamem_cover import covered, holds
from memsteer.eval.adamem_metrics import (
    Planned,
    StoryCounts,
    bootstrap_interval,
    extraction_f1,
    key_recall,
    memory_volume,
    noise_rejection,
    policy_alignment,
    qa_accuracy,
    recall_at_5,
    wrong_person_share,
)

DAY = date(2031, 3, 4)


@pytest.mark.parametrize(
    ("fact", "memory", "held"),
    [
        ("The pump needs 45 litres.", "The pump needs 45 litres a day", True),
        ("The pump needs 45 litres.", "The pump needs 40 litres", False),
        ("The pump needs 45 litres.", "The pump needs litres", False),
        ("It weighs 45ms over 10,000 runs", "weighs 45 ms over 10000 runs", True),
        ("Olga books three seats", "Olga booked 3 seats", True),
        ("Olga's train leaves at 9:15 AM", "Olga: the train leaves at 09:15", True),
        ("Olga's train leaves at 9:15 AM", "Olga: the train leaves at 9:15 pm", False),
        ("On 2031-03-04, Olga sold the boat", "Olga sold her boat", True),
        ("On 2031-03-04, Olga sold the boat on March 6th", "Olga sold the boat", False),
        ("Olga sells the boat on March 6th", "Olga sells the boat, on 2031-03-06", True),
        ("Ines promised Olga a boat", "User promised Olga a boat", True),
        ("Olga painted the green wooden boat", "Olga painted", False),  # 2 of 5 words
        ("Olga painted the green boat", "the green boat of Olga", True),  # 3 of 4 words
        ("it is what it is", "it is what it is", False),
    ],
)
def test_whether_a_memory_holds_a_fact(fact: str, memory: str, held: bool) -> None:
    assert holds(memory, fact, DAY, ["Ines"]) is held


def test_one_memory_must_hold_the_fact_alone() -> None:
    fact = "Olga painted the green wooden boat"
    assert not covered(fact, ["Olga painted", "a green wooden thing"], DAY)
    assert covered(fact, ["Olga painted the boat green"], DAY)


def test_key_recall_and_noise_rejection_are_means_over_sessions() -> None:
    sessions = [
        Planned(
            DAY, ("Olga sold 2 boats", "Ivo rang twice"), ("rain fell",), ("Olga sold two boats",)
        ),
        Planned(
            DAY, ("Ivo left town",), ("tea was cold", "cake was dry"), ("tea cold", "Ivo left town")
        ),
        Planned(DAY, (), (), ()),
    ]
    assert key_recall(sessions) == (1 / 2 + 1) / 2
    assert noise_rejection(sessions) == (1 + 1 / 2) / 2
    assert key_recall([]) is None
    assert noise_rejection([]) is None


def test_policy_alignment_and_wrong_person_share() -> None:
    assert policy_alignment([2, 1, 0, 2]) == 5 / 8
    assert policy_alignment([]) is None
    with pytest.raises(ValueError, match="0, 1 or 2"):
        policy_alignment([3])
    assert wrong_person_share(["right", "wrong", "nobody", "right", "right"]) == 1 / 4
    assert wrong_person_share(["nobody"]) is None


def test_no_figure_is_none_and_none_right_is_zero() -> None:
    full = [StoryCounts(1, questions=4, correct=3)]
    assert qa_accuracy(full) == 3 / 4
    assert (memory_volume(full), extraction_f1(full), recall_at_5(full)) == (None, None, None)
    nothing = [
        StoryCounts(1, 4, 0, added=2, judged=2, in_golden=0, matched=0, goldens=3, recalled=0)
    ]
    assert (qa_accuracy(nothing), extraction_f1(nothing), recall_at_5(nothing)) == (0, 0, 0)


def test_the_bootstrap_is_seeded_and_needs_two_stories() -> None:
    stories = [StoryCounts(n, questions=10, correct=n) for n in range(1, 6)]
    ends = bootstrap_interval(stories, qa_accuracy, seed=3)
    assert ends == bootstrap_interval(stories, qa_accuracy, seed=3)
    assert ends is not None
    assert 0.1 <= ends[0] < 0.3 < ends[1] <= 0.5
    assert bootstrap_interval(stories[:1], qa_accuracy) is None
    assert bootstrap_interval(stories, memory_volume) is None
    # All drawn samples have the same figure when all stories do.
    assert bootstrap_interval([stories[0]] * 3, qa_accuracy) == (0.1, 0.1)
