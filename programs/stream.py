"""What the weekly loop reads: weeks of dated conversations and questions, and who gives feedback.

A stream holds nothing that only a judge may know. Right answers and wishes are behind a
`FeedbackProvider`: a system sees of them what a user would have said.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Literal, Protocol

from memsteer.programs.names import Names
from memsteer.signatures.writing import ChatMessage

FeedbackMode = Literal["explicit", "implicit"]
RIGHT = "You are right."


class StreamError(ValueError):
    """A stream that cannot be run: one line that says where and why."""


@dataclass(frozen=True)
class Conversation:
    """One conversation of the user with their assistant, on the day it was held."""

    id: str
    date: date
    messages: tuple[ChatMessage, ...]


@dataclass(frozen=True)
class Question:
    """One question of a week. `about` is the person it is about, where the user would say so."""

    id: str
    text: str
    about: str = ""


@dataclass(frozen=True)
class Day:
    """All conversations of one observation date: the unit of writing."""

    week: int
    date: date
    conversations: tuple[Conversation, ...]

    @property
    def messages(self) -> list[ChatMessage]:
        return [m for c in self.conversations for m in c.messages]


@dataclass(frozen=True)
class Week:
    """A week's conversations and its questions, which are asked when all is written."""

    number: int
    conversations: tuple[Conversation, ...]
    questions: tuple[Question, ...]

    @property
    def days(self) -> tuple[Day, ...]:
        """The conversations by observation date, in date order; in a day in their own order."""
        by_date: dict[date, list[Conversation]] = {}
        for conversation in self.conversations:
            by_date.setdefault(conversation.date, []).append(conversation)
        return tuple(Day(self.number, d, tuple(by_date[d])) for d in sorted(by_date))


@dataclass(frozen=True)
class WeeklyStream:
    """Weeks in order, and who the user is. Raises `StreamError` for ids used twice."""

    weeks: tuple[Week, ...]
    names: Names = field(default_factory=Names)

    def __post_init__(self) -> None:
        numbers = [w.number for w in self.weeks]
        if numbers != sorted(set(numbers)):
            raise StreamError(f"weeks must be in order, each once, not {numbers}")
        for kind, ids in (
            ("conversation", [c.id for w in self.weeks for c in w.conversations]),
            ("question", [q.id for w in self.weeks for q in w.questions]),
        ):
            twice = next((i for i in ids if ids.count(i) > 1), None)
            if twice is not None:
                raise StreamError(f"{kind} id {twice!r} is used twice")

    def __deepcopy__(self, memo: dict[int, Any]) -> "WeeklyStream":
        return self  # frozen


@dataclass(frozen=True)
class Feedback:
    """What the user says to an answer, and whether it was right."""

    correct: bool
    text: str


class FeedbackProvider(Protocol):
    """Whoever knows the right answers: a user, a benchmark, generated supervision."""

    def judge(self, question: Question, answer: str) -> Feedback:
        """The feedback to an answer; the same answer gets the same feedback. May call an LM."""
        ...


@dataclass(frozen=True)
class Gold:
    """What is known of a question: the right answer, how a user would correct, their wish."""

    answer: str
    correction: str
    wish: str = ""


class GoldFeedback:
    """Feedback from known right answers.

    Right: confirmed. Wrong: the correction, and in explicit mode the user's wish after it.
    `marker(question, right, answer)` decides which it is.
    """

    def __init__(
        self,
        gold: Mapping[str, Gold],
        mode: FeedbackMode,
        marker: Callable[[str, str, str], bool],
    ) -> None:
        self.gold = dict(gold)
        self.mode = mode
        self.marker = marker

    def judge(self, question: Question, answer: str) -> Feedback:
        gold = self.gold[question.id]
        if self.marker(question.text, gold.answer, answer):
            return Feedback(True, RIGHT)
        said = f"You are wrong. The correct answer is: {gold.correction.strip().rstrip('.')}."
        if self.mode == "explicit" and gold.wish:
            said = f"{said} {gold.wish}"
        return Feedback(False, said)
