"""Rules for the planner and the auditor.

A plan takes one value out of one record (what, who, when, how much, what was advised) and leads
to it through the other records; or it computes the days between two of them. Facts are taken from
the whole record: what the assistant said as well as what the person said.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Any

from memsteer.programs.answers import compare, fold
from memsteer.programs.offline.facts import Sentence, Value, draw, pick, read_sentences, values_in
from memsteer.programs.offline.vectors import soft_overlap
from memsteer.programs.text import content_words
from memsteer.signatures.supervision import (
    AnswerPlan,
    AnswerType,
    Citation,
    Contribution,
    Intent,
    Operation,
    SourceRecord,
    SupportingFact,
)

Maker = Callable[[list[SourceRecord], str], AnswerPlan | None]
_LEAST_CUES = 4  # content words a sentence must have beside the answer to be asked about


def plan_answer(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """PlanAnswer: the first kind of plan that these records allow, kinds in drawn order."""
    records = [SourceRecord.model_validate(r) for r in inputs["records"]]
    key = "|".join(r.record_id for r in records)
    makers: list[Maker] = [_value_plan, _value_plan, _value_plan, _date_plan, _days_plan]
    start = draw("kind", key) % len(makers)
    for maker in makers[start:] + makers[:start]:
        plan = maker(records, key)
        if plan is not None:
            return {"plan": plan.model_dump()}
    return {"plan": None}


def _value_plan(records: list[SourceRecord], key: str) -> AnswerPlan | None:
    """A value stated in one of the records."""
    target = pick(records, "target", key)
    options = [
        (sentence, value)
        for sentence in _told(target, key)
        for value in values_in(sentence.text)
        if _askable(sentence, value)
    ]
    if not options:
        return None
    typed = [o for o in options if o[1].answer_type != "span" or o[1].text[0].isupper()]
    pool = typed if typed and draw("typed", key) % 4 else options
    sentence, value = pick(pool, "value", key)
    leads = [_lead(r, key) for r in records if r is not target]
    if sentence.speaker == "assistant":
        leads = [*_asked_before(target), *leads]
    intent: Intent = "advice" if sentence.speaker == "assistant" else "fact"
    if any(lead.record.time[:10] < sentence.record.time[:10] for lead in leads):
        intent = "sequence"
    facts = [_fact(lead) for lead in leads] + [_fact(sentence, value.text)]
    return _plan(records, intent, value.text, value.answer_type, facts, "none")


def _date_plan(records: list[SourceRecord], key: str) -> AnswerPlan | None:
    """The date of something that a record tells."""
    target = pick(records, "target", key)
    told = [s for s in _told(target, key) if len(s.cues) >= _LEAST_CUES]
    if not target.time or not told:
        return None
    sentence = max(told, key=lambda s: len(s.cues))
    leads = [_lead(r, key) for r in records if r is not target]
    day = target.time[:10]
    facts = [_fact(lead) for lead in leads] + [_fact(sentence, day)]
    return _plan(records, "time", day, "date", facts, "none")


def _days_plan(records: list[SourceRecord], key: str) -> AnswerPlan | None:
    """The days between two records of different dates."""
    if len(records) != 2 or not all(r.time for r in records):
        return None
    first, last = sorted(records, key=lambda r: r.time)
    days = (date.fromisoformat(last.time[:10]) - date.fromisoformat(first.time[:10])).days
    if days == 0:
        return None
    facts = [_fact(_lead(r, key), r.time[:10]) for r in (first, last)]
    return _plan(records, "time", f"{days} days", "duration", facts, "days_between")


def _told(record: SourceRecord, key: str) -> list[Sentence]:
    """The sentences to ask about: the person's in three of five cases, else the assistant's."""
    everything = [s for s in read_sentences(record) if not s.text.rstrip().endswith("?")]
    side = "user" if draw("side", key, record.record_id) % 5 < 3 else "assistant"
    chosen = [s for s in everything if s.speaker == side]
    return chosen or everything


def _askable(sentence: Sentence, value: Value) -> bool:
    left = set(sentence.cues) - set(content_words(value.text))
    return len(left) >= _LEAST_CUES and len(value.text) <= 60 and fold(value.text) != ""


def _lead(record: SourceRecord, key: str) -> Sentence:
    """The sentence that leads to a record: among the three longest, mostly the person's."""
    told = [s for s in read_sentences(record) if s.cues]
    if not told:
        return Sentence(record, record.text.split("\n")[0], "")
    own = [s for s in told if s.speaker != "assistant"]
    pool = own if own and draw("lead side", key, record.record_id) % 4 else told
    longest = sorted(pool, key=lambda s: -len(s.cues))[:3]
    return pick(longest, "lead", key, record.record_id)


def _asked_before(record: SourceRecord) -> list[Sentence]:
    """What the person said in the same turn that the assistant's advice answers."""
    own = [s for s in read_sentences(record) if s.speaker == "user" and len(s.cues) > 2]
    return [max(own, key=lambda s: len(s.cues))] if own else []


def _fact(sentence: Sentence, value: str = "") -> SupportingFact:
    day = f"On {sentence.record.time[:10]}" if sentence.record.time else "At some time"
    who = {"user": "I said", "assistant": "the assistant said"}.get(sentence.speaker, "it says")
    return SupportingFact(
        statement=f"{day} {who}: {sentence.text}",
        citation=Citation(record_id=sentence.record.record_id, quote=sentence.text),
        value=value,
    )


def _plan(
    records: Sequence[SourceRecord],
    intent: Intent,
    answer: str,
    answer_type: AnswerType,
    facts: list[SupportingFact],
    operation: Operation,
) -> AnswerPlan:
    carries = {f.citation.record_id for f in facts if f.value}
    gives = {r.record_id: "the value" if r.record_id in carries else "the way" for r in records}
    return AnswerPlan(
        intent=intent,
        answer=answer,
        answer_type=answer_type,
        facts=facts,
        contributions=[Contribution(record_id=i, gives=g) for i, g in gives.items()],
        operation=operation,
        combination="The last fact holds the value; the facts before it lead there.",
    )


def audit_item(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """AuditItem: is the value in the quoted words, and does the question stay near every fact?

    The evidence supports the answer where a quote (or its record's date, or the computed days)
    gives it. Question and plan agree where every fact is met by words of the question, in the
    same or a near sense, and the question asks for the right type.
    """
    plan = AnswerPlan.model_validate(inputs["plan"])
    records = {r["record_id"]: SourceRecord.model_validate(r) for r in inputs["records"]}
    supported = plan.operation != "none" or any(
        fold(plan.answer) in fold(f.citation.quote)
        or (
            plan.answer_type == "date"
            and compare(records[f.citation.record_id].time[:10], plan.answer, "date").correct
        )
        for f in plan.facts
        if f.citation.record_id in records
    )
    asked = tuple(content_words(inputs["question"]))
    met = [
        float(soft_overlap(asked, tuple(content_words(f.citation.quote))).sum()) for f in plan.facts
    ]
    near = min(met, default=0.0) >= 1.2
    typed = _asks_for(inputs["question"], plan.answer_type)
    faults = [
        name
        for name, ok in (
            ("no quote holds the answer", supported),
            ("a fact is hardly hinted at", near),
            ("the question asks for another type", typed),
        )
        if not ok
    ]
    return {
        "evidence_supports_answer": supported,
        "question_matches_plan": near and typed,
        "reason": "; ".join(faults) or "The quotes give the answer and the question keeps to them.",
    }


def _asks_for(question: str, answer_type: AnswerType) -> bool:
    wanted = {
        "date": r"date|day|when",
        "time": r"time|when|o'clock",
        "money": r"how much|cost|price|amount|sum",
        "duration": r"how long|how many|how much time",
        "number": r"how many|how much|number|count|figure",
    }.get(answer_type)
    return wanted is None or re.search(wanted, question, re.IGNORECASE) is not None
