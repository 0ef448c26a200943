"""Which fault each bad plan and each bad question gets."""

from datetime import datetime
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small import note

from memsteer.programs.bundles import Bundle
from memsteer.programs.plan_checks import Fault, check_plan, check_question
from memsteer.programs.records import Record, Span
from memsteer.signatures.supervision import (
    AnswerPlan,
    AnswerType,
    Citation,
    Contribution,
    Operation,
    SupportingFact,
)

A = note("a", "The vet asked 40 euros for Bruno.", 4)
B = Record(
    id="b", text="Paid €22.50 for food, 30 minutes by bus.", time=datetime(2024, 5, 9, 16, 30)
)
BUNDLE = Bundle("id", (A, B), ("conversation",))


def fact(record_id: str, quote: str, value: str = "") -> SupportingFact:
    citation = Citation(record_id=record_id, quote=quote)
    return SupportingFact(statement="s", citation=citation, value=value)


def plan(*facts: SupportingFact, given: str = "ab", **values: Any) -> AnswerPlan:
    base: dict[str, Any] = {
        "intent": "fact",
        "answer": "Bruno",
        "answer_type": "span",
        "facts": list(facts) or [fact("a", "for Bruno"), fact("b", "by bus")],
        "contributions": [Contribution(record_id=r, gives="something") for r in given],
        "operation": "none",
        "combination": "c",
    }
    return AnswerPlan(**base | values)


def reason(checked: object) -> str:
    return checked.reason if isinstance(checked, Fault) else "none"


def test_a_good_plan_gives_the_span_of_every_fact() -> None:
    assert check_plan(plan(), BUNDLE) == (Span("a", 23, 32), Span("b", 33, 39))


@pytest.mark.parametrize(
    ("bad", "expected"),
    [
        (plan(answer=" "), "answer_missing"),
        (plan(answer="Unknown"), "answer_missing"),
        (plan(answer="Bruno", answer_type="number"), "answer_not_of_its_type"),
        (plan(answer="soon", answer_type="date"), "answer_not_of_its_type"),
        (plan(fact("z", "for Bruno")), "record_not_selected"),
        (plan(fact("a", "for Rex"), fact("b", "by bus")), "quote_not_in_record"),
        (plan(fact("a", " "), fact("b", "by bus")), "quote_not_in_record"),
        (plan(fact("a", "for Bruno")), "record_without_contribution"),
        (plan(given="a"), "record_without_contribution"),
        (
            plan(contributions=[Contribution(record_id=r, gives=" ") for r in "ab"]),
            "record_without_contribution",
        ),
        (plan(facts=[]), "record_without_contribution"),
        (plan(answer="Lila"), "answer_not_in_facts"),
        (plan(answer="Bruno, Lila", answer_type="list"), "answer_not_in_facts"),
        (
            plan(answer="62.50 EUR", answer_type="money", operation="sum"),
            "operation_without_values",
        ),
        (
            plan(
                fact("a", "asked 40 euros", "41 euros"),
                fact("b", "Paid €22.50", "€22.50"),
                answer="€63.50",
                answer_type="money",
                operation="sum",
            ),
            "value_not_in_fact",
        ),
        (
            plan(
                fact("a", "for Bruno", "Bruno"),
                fact("b", "by bus", "bus"),
                answer="2",
                answer_type="number",
                operation="sum",
            ),
            "operation_not_computable",
        ),
        (
            plan(
                fact("a", "asked 40 euros", "40 euros"),
                fact("b", "Paid €22.50", "€22.50"),
                answer="€63",
                answer_type="money",
                operation="sum",
            ),
            "operation_gives_another_answer",
        ),
    ],
)
def test_each_bad_plan_gets_its_reason(bad: AnswerPlan, expected: str) -> None:
    assert reason(check_plan(bad, BUNDLE)) == expected


def computed(operation: Operation, values: list[str], answer: str, answer_type: AnswerType) -> str:
    """The reason for a plan whose records state `values`, one each."""
    records = tuple(note(f"r{n}", f"It says {v} here.") for n, v in enumerate(values))
    facts = [fact(r.id, r.text, v) for r, v in zip(records, values, strict=True)]
    made = plan(
        *facts,
        answer=answer,
        answer_type=answer_type,
        operation=operation,
        contributions=[Contribution(record_id=r.id, gives="g") for r in records],
    )
    return reason(check_plan(made, Bundle("id", records, ())))


@pytest.mark.parametrize(
    ("operation", "values", "answer", "answer_type"),
    [
        ("sum", ["40 euros", "€22.50"], "€62.50", "money"),
        ("sum", ["€40", "22"], "62 euros", "money"),
        ("sum", ["two", "3 loaves", "1,000"], "1005", "number"),
        ("sum", ["30 minutes", "1 hour"], "90 minutes", "duration"),
        ("difference", ["€40", "€22.50"], "€17.50", "money"),
        ("difference", ["3 km", "5 km"], "2 km", "number"),
        ("count", ["Bruno", "Mia", "bruno"], "two", "number"),
        ("days_between", ["2024-05-04", "2024-05-09"], "5", "number"),
        ("days_between", ["2024-05-04", "May 9, 2024"], "5 days", "duration"),
        ("earliest", ["2024-05-09", "2024-05-04"], "May 4", "date"),
        ("latest", ["2024-05-09", "2024-05-04"], "2024-05-09", "date"),
    ],
)
def test_computed_operations(
    operation: Operation, values: list[str], answer: str, answer_type: AnswerType
) -> None:
    assert computed(operation, values, answer, answer_type) == "none"


@pytest.mark.parametrize(
    ("operation", "values", "answer", "answer_type", "expected"),
    [
        ("sum", ["€40", "$22"], "62", "money", "operation_not_computable"),
        ("sum", ["5 km", "3 kg"], "8", "number", "operation_not_computable"),
        ("sum", ["3 of 5", "2"], "5", "number", "operation_not_computable"),
        ("difference", ["1", "2", "3"], "2", "number", "operation_not_computable"),
        ("days_between", ["2024-05-04", "May 9"], "5", "number", "operation_not_computable"),
        ("earliest", ["2024-05-04", "Bruno"], "May 4", "date", "operation_not_computable"),
        ("sum", ["30 minutes", "1 hour"], "31", "duration", "answer_not_of_its_type"),
        (
            *("sum", ["30 minutes", "1 hour"], "31 minutes", "duration"),
            "operation_gives_another_answer",
        ),
        ("count", ["Bruno", "Bruno"], "2", "number", "operation_gives_another_answer"),
        (
            *("latest", ["2024-05-09", "2024-05-04"], "May 4", "date"),
            "operation_gives_another_answer",
        ),
    ],
)
def test_operations_that_give_something_else(
    operation: Operation,
    values: list[str],
    answer: str,
    answer_type: AnswerType,
    expected: str,
) -> None:
    assert computed(operation, values, answer, answer_type) == expected


@pytest.mark.parametrize(
    ("answer", "answer_type"),
    [
        ("2024-05-04", "date"),  # the date of a's record
        ("May 9", "date"),
        ("4:30 pm", "time"),  # the time of b's record
        ("40", "number"),
        ("€22.50", "money"),
        ("30 minutes", "duration"),
        ("bus, Bruno", "list"),
        ("Bruno & bus", "list"),
        ("yes", "boolean"),
    ],
)
def test_answers_that_the_records_state(answer: str, answer_type: AnswerType) -> None:
    facts = [fact("a", A.text), fact("b", B.text)]
    assert (
        reason(check_plan(plan(*facts, answer=answer, answer_type=answer_type), BUNDLE)) == "none"
    )


def test_a_day_without_a_time_is_not_midnight() -> None:
    made = plan(answer="00:00", answer_type="time")
    assert reason(check_plan(made, BUNDLE)) == "answer_not_in_facts"


def test_answers_in_scripts_without_spaces_are_found() -> None:
    record = note("j", "彼は東京に住んでいる。")
    bundle = Bundle("id", (record,), ())
    made = plan(fact("j", "東京に住んでいる"), given="j", answer="東京")
    assert reason(check_plan(made, bundle)) == "none"
    assert reason(check_question("彼は東京に住んでいますか", made, bundle)) == (
        "question_gives_answer_away"
    )
    assert check_question("彼はどこに住んでいますか", made, bundle) is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which dog was at the vet's?", "none"),
        ("", "question_empty"),
        ("Which dog?", "question_empty"),
        ("Was it BRUNO who was ill?", "question_gives_answer_away"),
        ("Which dog is meant in (b)?", "question_names_a_record"),
        ("Which dog ate the breadcrumbs?", "none"),
    ],
)
def test_questions(question: str, expected: str) -> None:
    assert reason(check_question(question, plan(), BUNDLE)) == expected


def test_yes_may_stand_in_a_question_and_a_date_is_no_record() -> None:
    made = plan(answer="yes", answer_type="boolean")
    assert check_question("Did he say yes to me?", made, BUNDLE) is None
    dated = Bundle("id", (note("2024-05-04", "x y z"),), ())
    assert check_question("What did I do on 2024-05-04?", plan(), dated) is None


TEXTS = st.text(max_size=12) | st.sampled_from([A.text, "40", "€22.50", "2024-05-04", "a", "Bruno"])


@given(
    TEXTS,
    st.sampled_from(get_args(AnswerType)),
    st.sampled_from(get_args(Operation)),
    st.lists(st.tuples(TEXTS, TEXTS, TEXTS), max_size=3),
    TEXTS,
)
def test_checks_never_raise(
    answer: str,
    answer_type: AnswerType,
    operation: Operation,
    facts: list[tuple[str, str, str]],
    question: str,
) -> None:
    made = plan(facts=[fact(*f) for f in facts], answer=answer).model_copy(
        update={"answer_type": answer_type, "operation": operation}
    )
    checked = check_plan(made, BUNDLE)
    assert isinstance(checked, Fault) or len(checked) == len(facts)
    assert reason(check_question(question, made, BUNDLE)) in {
        *("none", "question_empty", "question_gives_answer_away", "question_names_a_record")
    }
