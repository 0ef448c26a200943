"""The rules of each role, on texts small enough to work out by hand."""

import json

from memsteer.programs.design import BASE_BM25
from memsteer.programs.offline.facts import read_sentences, values_in
from memsteer.programs.offline.planner import audit_item, plan_answer
from memsteer.programs.offline.proposer import propose_designs
from memsteer.programs.offline.reader import (
    answer_question,
    asked_type,
    judge_answer,
    recover_answer,
    rewrite_query,
    write_hypothetical,
)
from memsteer.programs.offline.vectors import near_words, same_root, soft_overlap
from memsteer.programs.offline.writer import write_question
from memsteer.signatures.supervision import (
    AnswerPlan,
    Citation,
    Contribution,
    SourceRecord,
    SupportingFact,
)

MARKET = SourceRecord(
    record_id="m",
    kind="conversation",
    time="2025-03-04T09:00",
    text="User: I bought two crates of Bramley apples at the Thursday market for £14.\n"
    "Assistant: Keep them cool.",
)
GATE = SourceRecord(
    record_id="g",
    kind="note",
    time="2025-03-09",
    text="Harald repaired the garden gate because the hinge had rusted.",
)


def plan_of(record: SourceRecord, quote: str, value: str, answer_type: str) -> AnswerPlan:
    fact = SupportingFact(
        statement=f"I said: {quote}",
        citation=Citation(record_id=record.record_id, quote=quote),
        value=value,
    )
    return AnswerPlan(
        intent="fact",
        answer=value,
        answer_type=answer_type,
        facts=[fact],
        contributions=[Contribution(record_id=record.record_id, gives="the value")],
        operation="none",
        combination="One fact.",
    )


def test_values_are_typed_and_a_place_belongs_to_one_kind() -> None:
    found = values_in("On 2025-03-04 we paid £14.50 for 3 crates at 9:30 in the old barn.")
    kinds = [(v.text, v.answer_type) for v in found]
    assert ("£14.50", "money") in kinds
    assert ("2025-03-04", "date") in kinds
    assert ("9:30", "time") in kinds
    assert ("3", "number") in kinds
    assert ("old barn", "span") in kinds
    assert len({v.start for v in found}) == len(found)


def test_contractions_and_sentence_openers_are_no_names() -> None:
    assert values_in("Honestly, I’m tired and I'd rest.") == ()
    assert [v.text for v in values_in("we met Harald Brandt there")] == ["Harald Brandt"]


def test_sentences_know_their_speaker() -> None:
    said = [(s.speaker, s.text) for s in read_sentences(MARKET)]
    assert said == [
        ("user", "I bought two crates of Bramley apples at the Thursday market for £14."),
        ("assistant", "Keep them cool."),
    ]


def test_near_words_are_near_and_no_forms_of_the_word() -> None:
    assert "physician" in near_words("doctor")
    assert not any(same_root("doctor", w) for w in near_words("doctor"))


def test_soft_overlap_counts_exact_words_fully_and_strangers_not() -> None:
    exact, near, far = soft_overlap(("apples", "purchased", "parliament"), ("apples", "bought"))
    assert exact == 1.0
    assert 0.35 < near < 1.0
    assert far == 0.0


def test_days_between_are_planned_and_recovered() -> None:
    facts = [
        SupportingFact(
            statement="s", citation=Citation(record_id=r.record_id, quote=q), value=r.time[:10]
        )
        for r, q in ((MARKET, "I bought two crates"), (GATE, "Harald repaired the garden gate"))
    ]
    plan = AnswerPlan(
        intent="time",
        answer="5 days",
        answer_type="duration",
        facts=facts,
        contributions=[],
        operation="days_between",
        combination="The days between the two.",
    )
    records = [MARKET.model_dump(), GATE.model_dump()]
    question = write_question({"plan": plan.model_dump(), "records": records})["question"]
    assert question.startswith("How many days were there between when ")
    asked = "How many days were there between when I bought crates and when Harald repaired it?"
    found = recover_answer({"question": asked, "answer_type": "duration", "records": records})
    assert found["answer"] == "5 days"
    assert {c["record_id"] for c in found["citations"]} == {"m", "g"}


def test_a_question_leaves_a_gap_and_does_not_give_the_value_away() -> None:
    quote = "I bought two crates of Bramley apples at the Thursday market for £14."
    plan = plan_of(MARKET, quote, "£14", "money")
    question = write_question({"plan": plan.model_dump(), "records": [MARKET.model_dump()]})
    assert "how much" in question["question"].lower()
    assert "14" not in question["question"].split("March")[0]
    assert question["question"].endswith("?")


def test_every_plan_quotes_its_records() -> None:
    plan = plan_answer({"records": [MARKET.model_dump(), GATE.model_dump()]})["plan"]
    assert plan is not None
    texts = {"m": MARKET.text, "g": GATE.text}
    assert all(f["citation"]["quote"] in texts[f["citation"]["record_id"]] for f in plan["facts"])


def test_no_plan_from_a_record_that_says_nothing() -> None:
    empty = SourceRecord(record_id="e", kind="note", text="Yes.")
    assert plan_answer({"records": [empty.model_dump()]}) == {"plan": None}


def test_the_audit_refuses_an_answer_that_is_not_quoted_and_a_wrong_type() -> None:
    quote = "I bought two crates of Bramley apples at the Thursday market for £14."
    inputs = {"records": [MARKET.model_dump()], "question": "How much were the Bramley apples?"}
    good = audit_item({**inputs, "plan": plan_of(MARKET, quote, "£14", "money").model_dump()})
    assert (good["evidence_supports_answer"], good["question_matches_plan"]) == (True, True)
    unquoted = audit_item({**inputs, "plan": plan_of(MARKET, quote, "£99", "money").model_dump()})
    assert unquoted["evidence_supports_answer"] is False
    other = {**inputs, "question": "Where were the Bramley apples?"}
    typed = audit_item({**other, "plan": plan_of(MARKET, quote, "£14", "money").model_dump()})
    assert typed["question_matches_plan"] is False
    assert "another type" in typed["reason"]


def test_the_blind_recoverer_finds_the_value_by_near_words() -> None:
    found = recover_answer(
        {
            "question": "How much did I pay when I purchased the apples?",
            "answer_type": "money",
            "records": [MARKET.model_dump(), GATE.model_dump()],
        }
    )
    assert found["answer"] == "£14"
    assert found["citations"][0]["record_id"] == "m" or len(found["citations"]) > 1


def test_the_recoverer_abstains_where_nothing_speaks_of_it() -> None:
    records = [GATE.model_dump()]
    asked = {"question": "Parliament election results?", "answer_type": "span", "records": records}
    assert recover_answer(asked)["answer"] == "Unknown"


def test_the_answerer_reads_excerpts_and_cites_their_id() -> None:
    memory = f"[m] 2025-03-04T09:00\n{MARKET.text}\n\n[g] 2025-03-09\n{GATE.text}"
    asked = {"memory": memory, "question": "When was the gate repaired?", "question_time": ""}
    assert answer_question({**asked, "note": ""}) == {"answer": "2025-03-09", "cited": ["g"]}
    empty = {"memory": "(empty)", "question": "When was it?", "question_time": "", "note": ""}
    assert answer_question(empty) == {"answer": "Unknown", "cited": []}


def test_question_words_tell_the_type() -> None:
    asked = {
        "How much was it?": "money",
        "How many crates?": "number",
        "How many days passed?": "duration",
        "On what date was it?": "date",
        "At what time?": "time",
        "Did I pay?": "boolean",
        "Who came?": "span",
    }
    assert {q: asked_type(q) for q in asked} == asked


def test_the_judge_compares_by_type() -> None:
    right = {"question": "?", "reference": "4:00 PM", "answer": "16:00"}
    assert judge_answer(right)["correct"] is True
    assert judge_answer({**right, "answer": "17:00"})["correct"] is False


def test_rewrites_are_the_clauses_of_the_question() -> None:
    question = "Which herb did I receive, after the market visit when the mayor spoke?"
    queries = rewrite_query({"question": question})["queries"]
    assert queries[0] == "herb receive"
    assert "market visit" in queries
    assert "mayor spoke" in queries


def test_hypothetical_passages_are_statements() -> None:
    passages = write_hypothetical({"question": "What did the garden gate need?"})["passages"]
    assert len(passages) == 3
    assert passages[0] == "I did the garden gate need."


def test_the_proposer_follows_the_failures_and_repeats_nothing() -> None:
    inputs = {
        "current": BASE_BM25.key,
        "counts": {"correct": 1, "storage": 0, "retrieval": 9, "answering": 1},
        "tried": [],
        "number": 3,
    }
    first = propose_designs(inputs)["proposals"]
    assert len(first) == 3
    assert first[0]["changes"][0]["path"].startswith("retrieval.")
    tried = [{"changes": p["changes"], "fate": "no gain in screening"} for p in first]
    second = propose_designs({**inputs, "tried": tried})["proposals"]
    assert not any(p in first for p in second)
    answering = {"correct": 1, "storage": 0, "retrieval": 0, "answering": 9}
    third = propose_designs({**inputs, "counts": answering})["proposals"]
    assert third[0]["changes"][0]["path"].startswith("context.")
    BASE_BM25.changed({c["path"]: _value(c["value"]) for p in first for c in p["changes"]})


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
