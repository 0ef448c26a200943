"""Questions with official answers, and the benchmark that joins them to a history."""

from dataclasses import dataclass
from datetime import datetime, time
from pathlib import Path
from typing import cast, get_args

import dspy

from memsteer.eval.sources import read_objects, string, strings
from memsteer.programs.records import History, HistoryError, parse_time
from memsteer.signatures.supervision import AnswerType

_FIELDS = ("id", "question", "answer", "answer_type", "evidence", "question_time")


@dataclass(frozen=True)
class Question:
    """One question, its reference answer, and the ids of the records that hold the answer.

    `time` is when it is asked; `category` is the benchmark's own name for its type; `unresolved`
    are evidence references, in the benchmark's own spelling, that name no record of the corpus.
    """

    id: str
    question: str
    answer: str
    evidence: tuple[str, ...]
    answer_type: AnswerType | None = None
    time: datetime | None = None
    category: str = ""
    unresolved: tuple[str, ...] = ()

    @property
    def when(self) -> str:
        """The time in ISO form; the date alone where no time of day is known; empty if unknown."""
        if self.time is None:
            return ""
        if self.time.time() == time.min:
            return self.time.date().isoformat()
        return self.time.isoformat(timespec="minutes")

    def to_example(self) -> dspy.Example:
        """The question as DSPy's programs and optimizers read it; `official` marks its origin."""
        return dspy.Example(
            id=self.id,
            question=self.question,
            question_time=self.when,
            answer=self.answer,
            answer_type=self.answer_type,
            evidence=list(self.evidence),
            official=True,
        ).with_inputs("question", "question_time")


@dataclass(frozen=True)
class Benchmark:
    """One person's history with the questions asked about it.

    `report` holds one readable line on each irregularity that was met while loading.
    """

    name: str
    history: History
    questions: tuple[Question, ...]
    report: tuple[str, ...] = ()

    @property
    def scored(self) -> tuple[Question, ...]:
        """The questions with evidence in the corpus: those that retrieval can be scored on."""
        known = self.history.by_id
        return tuple(q for q in self.questions if any(e in known for e in q.evidence))


def load_questions(path: str | Path, history: History) -> tuple[Question, ...]:
    """Read questions about `history`, one JSON object a line.

    Fields: `id`, `question`, `answer`; optional `answer_type`, `evidence` (a list of record ids)
    and `question_time` (ISO). Raises `HistoryError` naming the file, the line and the field.
    """
    questions: list[Question] = []
    places: dict[str, str] = {}
    for place, row in read_objects(Path(path)):
        unknown = sorted(set(row) - set(_FIELDS))
        if unknown:
            raise HistoryError(
                f"{place}, field {unknown[0]!r}: is not in the schema; known: {', '.join(_FIELDS)}"
            )
        question = Question(
            id=string(place, row, "id"),
            question=string(place, row, "question"),
            answer=string(place, row, "answer"),
            answer_type=_answer_type(place, string(place, row, "answer_type", required=False)),
            evidence=strings(place, row, "evidence"),
            time=parse_time(place, row.get("question_time"), "question_time"),
        )
        if question.id in places:
            raise HistoryError(
                f"{place}, field 'id': {question.id!r} stands at {places[question.id]} already"
            )
        for record_id in question.evidence:
            if record_id not in history.by_id:
                raise HistoryError(
                    f"{place}, field 'evidence': no record of the history has the id {record_id!r}"
                )
        places[question.id] = place
        questions.append(question)
    if not questions:
        raise HistoryError(f"{path}: holds no questions; write one JSON object a line")
    return tuple(questions)


def _answer_type(place: str, value: str) -> AnswerType | None:
    if not value:
        return None
    known = get_args(AnswerType)
    if value not in known:
        raise HistoryError(
            f"{place}, field 'answer_type': {value!r} is not one of {', '.join(known)}"
        )
    return cast(AnswerType, value)
