"""What code can check of an answer plan and a question, before any further call is paid for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation

from memsteer.programs.answers import compare, fold, is_abstention, normalise
from memsteer.programs.bundles import Bundle, locate
from memsteer.programs.records import Record, Span
from memsteer.signatures.supervision import AnswerPlan, SupportingFact


@dataclass(frozen=True)
class Fault:
    """Why a plan or question is refused: a fixed reason to count by, and the detail to read."""

    reason: str
    detail: str = ""


def check_plan(plan: AnswerPlan, bundle: Bundle) -> Fault | tuple[Span, ...]:
    """The span of every fact, in order, or the first fault found."""
    records = {record.id: record for record in bundle.records}
    if is_abstention(plan.answer) or not plan.answer.strip():
        return Fault("answer_missing", plan.answer)
    if plan.answer_type != "span" and not normalise(plan.answer, plan.answer_type).parsed:
        return Fault("answer_not_of_its_type", f"{plan.answer!r} is no {plan.answer_type}")
    spans: list[Span] = []
    for fact in plan.facts:
        record = records.get(fact.citation.record_id)
        if record is None:
            return Fault("record_not_selected", fact.citation.record_id)
        span = locate(record, fact.citation.quote)
        if span is None:
            return Fault("quote_not_in_record", f"{record.id}: {fact.citation.quote[:80]!r}")
        spans.append(span)
    cited = {span.record_id for span in spans}
    given = {c.record_id for c in plan.contributions if c.gives.strip()}
    for record_id in records:
        if record_id not in cited or record_id not in given:
            return Fault("record_without_contribution", record_id)
    return _check_answer(plan, records) or tuple(spans)


def _check_answer(plan: AnswerPlan, records: dict[str, Record]) -> Fault | None:
    if plan.operation == "none":
        if plan.answer_type == "boolean" or _stated(plan, records):
            return None
        return Fault("answer_not_in_facts", plan.answer)
    values = [fact.value for fact in plan.facts if fact.value.strip()]
    if not values:
        return Fault("operation_without_values", plan.operation)
    unstated = [f for f in plan.facts if f.value.strip() and not _value_stated(f, records)]
    if unstated:
        return Fault("value_not_in_fact", unstated[0].value)
    computed = _compute(plan.operation, values)
    if computed is None:
        return Fault("operation_not_computable", f"{plan.operation} of {values}")
    if not compare(plan.answer, computed, plan.answer_type).correct:
        return Fault("operation_gives_another_answer", f"{computed}, not {plan.answer}")
    return None


def _stated(plan: AnswerPlan, records: dict[str, Record]) -> bool:
    """Whether the answer stands in a quote, is its record's date, or is part by part in quotes."""
    quotes = " ".join(f.citation.quote for f in plan.facts)
    if f" {fold(plan.answer)} " in f" {fold(quotes)} ":
        return True
    if any(_value_stated(f, records, plan.answer) for f in plan.facts):
        return True
    if plan.answer_type == "list":
        parts = [fold(p) for p in re.split(r"[,;\n]| and ", plan.answer) if p.strip()]
        return all(f" {part} " in f" {fold(quotes)} " for part in parts)
    if plan.answer_type != "span":
        pieces = re.findall(r"[\w€$£¥%.,:/-]+(?: [\w%.]+){0,3}", quotes)
        return any(compare(piece, plan.answer, plan.answer_type).correct for piece in pieces)
    return False


def _value_stated(fact: SupportingFact, records: dict[str, Record], value: str = "") -> bool:
    """Whether a value stands in the fact's quote or is the date (or time) of its record."""
    value = value or fact.value
    if fold(value) and f" {fold(value)} " in f" {fold(fact.citation.quote)} ":
        return True
    when = records[fact.citation.record_id].time
    if when is None:
        return False
    return (
        compare(when.date().isoformat(), value, "date").correct
        or compare(when.strftime("%H:%M"), value, "time").correct
    )


def _compute(operation: str, values: Sequence[str]) -> str | None:
    """The operation's result as text; None where the values do not allow it."""
    if operation == "count":
        return str(len({fold(v) for v in values}))
    if operation in ("days_between", "earliest", "latest"):
        days = [_date(v) for v in values]
        known = [d for d in days if d is not None]
        if len(known) != len(values):
            return None
        if operation == "days_between":
            return f"{(max(known) - min(known)).days} days"
        return (min if operation == "earliest" else max)(known).isoformat()
    numbers = [_number(v) for v in values]
    if any(n is None for n in numbers):
        return None
    amounts = [n for n in numbers if n is not None]
    if operation == "sum":
        return str(sum(amounts))
    return str(max(amounts) - min(amounts)) if len(amounts) == 2 else None


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text.strip()[:10])
    except ValueError:
        return None


def _number(text: str) -> Decimal | None:
    match = re.search(r"-?\d[\d,]*(?:\.\d+)?", text)
    try:
        return Decimal(match[0].replace(",", "")) if match else None
    except InvalidOperation:
        return None


def check_question(question: str, plan: AnswerPlan, bundle: Bundle) -> Fault | None:
    """The first fault of a question that code can see."""
    folded = fold(question)
    if len(folded.split()) < 3 and not re.search(r"[\u3040-\u9fff]{4}", question):
        return Fault("question_empty", question)
    if plan.answer_type != "boolean" and f" {fold(plan.answer)} " in f" {folded} ":
        return Fault("question_gives_answer_away", question)
    for record in bundle.records:
        if re.search(rf"(?<!\w){re.escape(record.id)}(?!\w)", question) and not _is_date(record.id):
            return Fault("question_names_a_record", record.id)
    return None


def _is_date(text: str) -> bool:
    return _date(text) is not None and len(text) == 10
