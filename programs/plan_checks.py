"""What code can check of an answer plan and a question, before any further call is paid for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal

from memsteer.programs.answers import AnswerType, compare, fold, is_abstention, normalise, says
from memsteer.programs.bundles import Bundle, locate
from memsteer.programs.records import Record, Span
from memsteer.programs.scan import Value
from memsteer.programs.values import list_items
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
    computed = _compute(plan.operation, values, plan.answer_type)
    if computed is None:
        return Fault("operation_not_computable", f"{plan.operation} of {values}")
    if not compare(plan.answer, computed, plan.answer_type).correct:
        return Fault("operation_gives_another_answer", f"{computed}, not {plan.answer}")
    return None


def _stated(plan: AnswerPlan, records: dict[str, Record]) -> bool:
    """Whether the answer stands in a quote, is its record's date, or is part by part in quotes."""
    quotes = " ".join(f.citation.quote for f in plan.facts)
    if says(quotes, plan.answer) or any(_value_stated(f, records, plan.answer) for f in plan.facts):
        return True
    if plan.answer_type == "list":
        return all(says(quotes, item) for item in list_items(plan.answer))
    if plan.answer_type != "span":
        pieces = re.findall(r"[\w€$£¥%.,:/-]+(?: [\w%.]+){0,3}", quotes)
        return any(compare(piece, plan.answer, plan.answer_type).correct for piece in pieces)
    return False


def _value_stated(fact: SupportingFact, records: dict[str, Record], value: str = "") -> bool:
    """Whether a value stands in the fact's quote or is the date (or time) of its record."""
    value = value or fact.value
    if says(fact.citation.quote, value):
        return True
    when = records[fact.citation.record_id].time
    if when is None:
        return False
    if compare(when.date().isoformat(), value, "date").correct:
        return True
    # Midnight stands for a time that is not known.
    return when.time() != time.min and compare(when.strftime("%H:%M"), value, "time").correct


def _compute(operation: str, values: Sequence[str], answer_type: AnswerType) -> str | None:
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
    kind: AnswerType = answer_type if answer_type in ("money", "duration") else "number"
    amounts = [_only(v, kind) for v in values]
    numbers = [Decimal(str(a.key)) for a in amounts if a is not None]
    units = {a.unit for a in amounts if a is not None and a.unit}  # one may leave it out
    if len(numbers) != len(values) or len(units) > 1:
        return None
    if operation == "difference" and len(numbers) != 2:
        return None
    result = sum(numbers) if operation == "sum" else max(numbers) - min(numbers)
    return f"{result:f} {next(iter(units), '')}".strip()


def _only(text: str, kind: AnswerType) -> Value | None:
    """The one value of a type that a text states; None where it states none or several."""
    values = normalise(text, kind).values
    return values[0] if len(values) == 1 else None


def _date(text: str) -> date | None:
    """The one whole day that a text states."""
    value = _only(text, "date")
    if value is None or value.other or len(value.parts) != 3 or not all(value.parts):
        return None
    return date(*value.parts)


def check_question(question: str, plan: AnswerPlan, bundle: Bundle) -> Fault | None:
    """The first fault of a question that code can see."""
    if len(fold(question).split()) < 3 and not re.search(r"[\u3040-\u9fff]{4}", question):
        return Fault("question_empty", question)
    if plan.answer_type != "boolean" and says(question, plan.answer):
        return Fault("question_gives_answer_away", question)
    for record in bundle.records:
        if re.search(rf"(?<!\w){re.escape(record.id)}(?!\w)", question) and not _is_date(record.id):
            return Fault("question_names_a_record", record.id)
    return None


def _is_date(text: str) -> bool:
    return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", text))
