"""The loader of AdaMem-Bench on a story written here: its values, and every irregularity."""

import json
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from memsteer.eval.adamem_bench import load_story, stories
from memsteer.programs.records import HistoryError

Files = dict[str, Any]


def scenario(day: str, who: str, key: list[str], ref: Any = None) -> dict[str, Any]:
    return {
        "date": day,
        "focal_character": who,
        "topic_anchor": "the boat",
        "characters_mentioned": [who, "Ines"],
        "key_info": key,
        "noise_info": ["It rained.", "Tea was cold."],
        "supersedes_key_info_ref": ref,
    }


def files() -> Files:
    """A regular story: two weeks with two conversations each, one question a week."""
    planned = {
        1: [
            scenario("2031-03-03", "Olga", ["Olga sold 2 boats.", "Olga was glad."]),
            scenario("2031-03-04", "Ivo", ["Ivo rang."]),
        ],
        2: [
            scenario("2031-03-10", "Olga", ["Olga kept 1."], {"week": 1, "session_index": 0}),
            scenario("2031-03-11", "Ivo", ["Ivo left."]),
        ],
    }
    found: Files = {
        "outline.json": {"weeks": [{"week": w, "scenarios": s} for w, s in planned.items()]},
        "character_profiles.json": {
            n: {"preference_feedback": "Only facts.", "preference_desc": "facts"}
            for n in ("Olga", "Ivo")
        },
        "test_qa.json": {"test_questions": []},
    }
    for week, scenarios in planned.items():
        talks = [
            {
                "session_id": f"w{week}_s{i}",
                "messages": [{"role": "user", "content": "Hello."}],
                "golden_memories": list(s["key_info"]),
                **{k: s[k] for k in ("date", "focal_character", "topic_anchor")},
            }
            for i, s in enumerate(scenarios, 1)
        ]
        found[f"week{week}.json"] = {"week": week, "conversations": talks}
        found["test_qa.json"]["test_questions"].append(
            {
                "test_week": week,
                "question_id": f"w{week}_q1",
                "character": "Olga",
                "question": "What of the boats?",
                "gold_answer": "sold",
                "golden_feedback": "they are sold",
                "target_memory": scenarios[0]["key_info"][0],
                "target_memory_refs": [{"week": week, "session_id": f"w{week}_s1", "index": 0}],
            }
        )
    return found


def write(root: Path, found: Files) -> Path:
    folder = root / "data" / "scaling" / "story_7"
    folder.mkdir(parents=True)
    for name, value in found.items():
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
    return root


def talks(found: Files, week: int) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = found[f"week{week}.json"]["conversations"]
    return rows


def question(found: Files, index: int = 0) -> dict[str, Any]:
    row: dict[str, Any] = found["test_qa.json"]["test_questions"][index]
    return row


def plan(found: Files, week: int, index: int) -> dict[str, Any]:
    row: dict[str, Any] = found["outline.json"]["weeks"][week - 1]["scenarios"][index]
    return row


def test_a_regular_story(tmp_path: Path) -> None:
    root = write(tmp_path, files())
    assert stories(root) == (7,)
    story = load_story(root, 7)
    assert story.report == ()
    assert story.person == "Ines"
    assert [g.text for g in story.goldens][:3] == [
        "Olga sold 2 boats.",
        "Olga was glad.",
        "Ivo rang.",
    ]
    assert list(story.weeks[1].by_date) == [date(2031, 3, 10), date(2031, 3, 11)]
    assert story.of_week(2)[0].accepted_answers == ("sold",)
    with pytest.raises(HistoryError, match="has no story 8; known: 7"):
        load_story(root, 8)


def test_goldens_are_ordered_by_the_session_id_as_a_string(tmp_path: Path) -> None:
    found = files()
    talks(found, 1)[1]["session_id"] = "w1_s10"
    talks(found, 1)[0]["session_id"] = "w1_s2"
    story = load_story(write(tmp_path, found), 7)
    assert [g.ref.session_id for g in story.goldens][:2] == ["w1_s10", "w1_s2"]


def out_of_order(f: Files) -> None:
    talks(f, 1)[0]["date"] = plan(f, 1, 0)["date"] = "2031-03-05"


def overlapping(f: Files) -> None:
    talks(f, 1)[1]["date"] = plan(f, 1, 1)["date"] = "2031-03-10"


def one_off(f: Files) -> None:
    plan(f, 2, 0)["supersedes_key_info_ref"]["session_index"] = 1


def elsewhere(f: Files) -> None:
    one_off(f)
    plan(f, 1, 0)["focal_character"] = talks(f, 1)[0]["focal_character"] = "Ivo"


def unresolvable(f: Files) -> None:
    plan(f, 2, 0)["supersedes_key_info_ref"]["session_index"] = 2


def not_earlier(f: Files) -> None:
    plan(f, 2, 0)["supersedes_key_info_ref"] = {"week": 2, "session_index": 1}


def dual(f: Files) -> None:
    question(f)["gold_answer"] = "2031-03-04 (Tuesday) at 9:00 AM -- i.e. Tuesday at 9:00 AM"


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (out_of_order, "week 1: w1_s2 of 2031-03-04 stands behind w1_s1 of 2031-03-05"),
        (overlapping, "week 2 begins on 2031-03-10, before week 1 is over"),
        (
            unresolvable,
            "outline, week 2, scenario 0: supersedes week 1, session_index 2, which does not exist",
        ),
        (
            one_off,
            "outline, week 2, scenario 0: supersedes week 1, session_index 1, one off: same "
            "person and topic at 0",
        ),
        (
            elsewhere,
            "outline, week 2, scenario 0: supersedes week 1, session_index 1, of another person "
            "or topic",
        ),
        (
            not_earlier,
            "outline, week 2, scenario 0: supersedes week 2, session_index 1, which is not earlier",
        ),
        (
            lambda f: talks(f, 2)[1].update(golden_memories=["Ivo has left."]),
            "w2_s2: golden memories that are no key_info verbatim: 1",
        ),
        (
            lambda f: talks(f, 2)[1].update(golden_memories=[]),
            "w2_s2: key_info without a golden memory: 1",
        ),
        (
            lambda f: talks(f, 1)[0]["golden_memories"].reverse(),
            "w1_s1: the golden memories are the key_info in another order",
        ),
        (
            lambda f: talks(f, 2)[1].update(topic_anchor="the pier"),
            "w2_s2: topic_anchor is the pier, planned was the boat",
        ),
        (
            lambda f: talks(f, 2).pop(),
            "week 2: 1 conversations, but the outline plans 2",
        ),
        (
            lambda f: question(f).update(golden_feedback="they are sold."),
            "golden_feedback that ends in a full stop, which a sentence frame would double (1): "
            "w1_q1",
        ),
        (dual, "dual-date answers, of which either half is right (1): w1_q1"),
        (
            lambda f: question(f)["target_memory_refs"][0].update(index=9),
            "question w1_q1: its target (week 1, w1_s1, index 9) does not exist",
        ),
        (
            lambda f: question(f).update(target_memory="Olga sold boats."),
            "question w1_q1: its target_memory is not verbatim what its reference names",
        ),
        (
            lambda f: question(f).update(test_week=2),
            "question w1_q1: is asked in week 2, its target is of week 1",
        ),
        (lambda f: f["character_profiles.json"].pop("Ivo"), "people without a profile (1): Ivo"),
    ],
)
def test_an_irregularity_is_reported_and_not_fatal(
    tmp_path: Path, change: Callable[[Files], object], line: str
) -> None:
    found = files()
    change(found)
    assert line in load_story(write(tmp_path, found), 7).report


def test_the_answers_of_an_irregular_question(tmp_path: Path) -> None:
    found = files()
    dual(found)
    question(found)["golden_feedback"] = "it is on Tuesday."
    asked = load_story(write(tmp_path, found), 7).questions[0]
    assert asked.feedback == "it is on Tuesday"
    assert asked.accepted_answers[1:] == ("2031-03-04 (Tuesday) at 9:00 AM", "Tuesday at 9:00 AM")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda f: f.pop("week2.json"), r"week2\.json: cannot be read"),
        (lambda f: f.pop("outline.json"), r"outline\.json: cannot be read"),
        (lambda f: f.update({"week1.json": []}), r"week1\.json: is a list, not an object"),
        (lambda f: f["week1.json"].update(week=3), r"field 'week': is 3, the file's name says 1"),
        (
            lambda f: talks(f, 1)[1].update(date="4 March"),
            r"week1\.json, conversations 1, field 'date': '4 March' is no date",
        ),
        (
            lambda f: talks(f, 1)[1].update(session_id="w1_s1"),
            r"week1\.json, field 'session_id': 'w1_s1' stands twice",
        ),
        (
            lambda f: question(f).update(gold_answer=None),
            r"test_qa\.json, test_questions 0, field 'gold_answer': is missing",
        ),
        (
            lambda f: f["character_profiles.json"].update(Ivo="facts"),
            r"character_profiles\.json, 'Ivo': is a str, not an object",
        ),
    ],
)
def test_a_broken_file_is_one_line_with_file_and_field(
    tmp_path: Path, change: Callable[[Files], object], fault: str
) -> None:
    found = files()
    change(found)
    with pytest.raises(HistoryError, match=fault) as caught:
        load_story(write(tmp_path, found), 7)
    assert "\n" not in str(caught.value)
