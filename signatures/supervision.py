"""The four roles that turn source records into verified questions (MemSteer, section 3.2).

The types here are what those roles read and write. A role never writes character offsets: it
quotes, and the program finds the quote in the record.
"""

from typing import Literal

import dspy
from pydantic import BaseModel, ConfigDict, Field

AnswerType = Literal["number", "date", "time", "duration", "money", "boolean", "list", "span"]
Intent = Literal["fact", "time", "sequence", "cause", "count", "comparison", "advice", "state"]
Operation = Literal["none", "count", "sum", "difference", "days_between", "earliest", "latest"]


class SourceRecord(BaseModel):
    """One record of the person's history as a role sees it."""

    model_config = ConfigDict(frozen=True)

    record_id: str
    kind: str = Field(description="conversation, email, document, photo or note")
    time: str = Field(default="", description="ISO date or time of the record; empty if unknown")
    title: str = Field(default="", description="subject or heading; empty if it has none")
    text: str


class Citation(BaseModel):
    """A place in a source record, named by its exact words."""

    model_config = ConfigDict(frozen=True)

    record_id: str = Field(description="id of the record that is quoted")
    quote: str = Field(description="words copied exactly from that record's text")


class SupportingFact(BaseModel):
    """One fact that the answer rests on, with the words that say it."""

    model_config = ConfigDict(frozen=True)

    statement: str = Field(description="the fact as one self-contained sentence")
    citation: Citation
    value: str = Field(
        default="",
        description="the value this fact brings to the operation (a number, a date); else empty",
    )


class Contribution(BaseModel):
    """What one selected record gives to the answer."""

    model_config = ConfigDict(frozen=True)

    record_id: str
    gives: str = Field(description="what would be missing from the answer without this record")


class AnswerPlan(BaseModel):
    """An answer with everything needed to check it, made before any question is written."""

    model_config = ConfigDict(frozen=True)

    intent: Intent
    answer: str = Field(description="the shortest exact answer; a value, not a sentence")
    answer_type: AnswerType
    facts: list[SupportingFact] = Field(description="the facts the answer needs, each cited")
    contributions: list[Contribution] = Field(description="one entry for every selected record")
    operation: Operation = Field(description="how the facts' values combine to the answer")
    combination: str = Field(description="one sentence: how the facts together give the answer")


class PlanAnswer(dspy.Signature):
    """Plan one answer that only these records of a person's history can give.

    Choose something the person may really want to recall months later: what happened, when,
    in which order, why, how often, how much, what was advised, what holds now after a change.
    Use every record given: leave none without a contribution, so that the answer, or the way
    to the right record, is lost when any one of them is missing. Quote exactly. Prefer an
    answer that is a short value (a name, a number, a date, an amount, a short phrase) stated
    in the records. Never use outside knowledge. Return no plan if the records allow none.
    """

    records: list[SourceRecord] = dspy.InputField(desc="the selected records, in order")
    plan: AnswerPlan | None = dspy.OutputField(desc="the answer plan, or null if none is possible")


class WriteQuestion(dspy.Signature):
    """Write the one question that the plan answers, as the person would ask it months later.

    The question stands alone: no "in this record", no ids. People remember the gist, not the
    wording: use fewer words than the records, and mostly other words; refer to events by time,
    cause, sequence or count. Keep just enough for the answer to be the only right one. Ask in
    the first person. Do not give the answer away.
    """

    plan: AnswerPlan = dspy.InputField(desc="the answer, its type and its cited facts")
    records: list[SourceRecord] = dspy.InputField(desc="the records the plan rests on")
    question: str = dspy.OutputField(desc="one standalone question")


class AuditItem(dspy.Signature):
    """Judge a question and its answer against the source records. Judge strictly.

    Two separate judgements. First: do the quoted facts, read in their records, really support
    the answer, with nothing assumed? Second: does the question ask for exactly what the plan
    answers, in the same sense and with the same conditions, and does it have one right answer?
    """

    question: str = dspy.InputField(desc="the question under audit")
    plan: AnswerPlan = dspy.InputField(desc="the answer plan under audit")
    records: list[SourceRecord] = dspy.InputField(desc="the source records")
    evidence_supports_answer: bool = dspy.OutputField(desc="true only if the facts entail it")
    question_matches_plan: bool = dspy.OutputField(desc="true only if both mean the same")
    reason: str = dspy.OutputField(desc="one sentence; names the fault if either is false")


class RecoverAnswer(dspy.Signature):
    """Answer a question from source records alone, and cite what the answer needs.

    You have not seen the intended answer. Give the shortest exact answer of the given type.
    Cite every record that is needed, those that only lead to the right record included.
    Answer "Unknown" if the records do not settle the question.
    """

    question: str = dspy.InputField()
    answer_type: AnswerType = dspy.InputField(desc="the type the answer must have")
    records: list[SourceRecord] = dspy.InputField(desc="the source records")
    answer: str = dspy.OutputField(desc='the shortest exact answer, or "Unknown"')
    citations: list[Citation] = dspy.OutputField(desc="exact quotes, one or more a needed record")
