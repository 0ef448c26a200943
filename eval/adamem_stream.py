"""A story of AdaMem-Bench as the weekly loop reads it: a stream, and feedback that knows the gold.

An answer is right *by the rule* when the typed comparison says so (`programs.answers`), or when it
holds an accepted answer as a memory holds a fact (`adamem_cover`: all figures, 0.6 of the content
words). An accepted answer without content words ("2031-08-19") needs its figures only.
A date at the head of the answer ("On 2031-08-01, …") may be taken off first: it is the form of a
dated memory that is quoted, and a method must not lose, or win, by that form. It may also stay, so
the rule is laxer than a judge.
"""

import re
from collections.abc import Callable, Mapping

import dspy

from memsteer.eval.adamem_cover import content, holds
from memsteer.eval.adamem_story import Story, StoryQuestion
from memsteer.eval.judge import Judge
from memsteer.programs.answers import compare
from memsteer.programs.names import Names
from memsteer.programs.parallel import Failure
from memsteer.programs.records import HistoryError
from memsteer.programs.stream import (
    Conversation,
    FeedbackMode,
    Gold,
    GoldFeedback,
    Question,
    StreamError,
    Week,
    WeeklyStream,
)
from memsteer.programs.writers import with_retry
from memsteer.signatures.writing import ChatMessage

_HEAD_DATE = re.compile(r"^\s*On \d{4}-\d{2}-\d{2},?\s+", re.IGNORECASE)

Marker = Callable[[str, str, str], bool]


def to_stream(story: Story, *, tell_person: bool = False) -> WeeklyStream:
    """The story's weeks. Raises `HistoryError` for ids used twice.

    `tell_person`: a question says whom it is about; the paper's policy updater is not told.
    """
    weeks = tuple(
        Week(
            week.number,
            tuple(
                Conversation(
                    c.session_id,
                    c.date,
                    tuple(ChatMessage(role=m.role, content=m.content) for m in c.messages),
                )
                for c in week.conversations
            ),
            tuple(
                Question(q.id, q.question, q.character if tell_person else "")
                for q in story.of_week(week.number)
            ),
        )
        for week in story.weeks
    )
    try:
        return WeeklyStream(weeks, Names(story.person))
    except StreamError as error:
        raise HistoryError(f"story {story.number}: {error}") from error


def goldens_by_session(story: Story) -> dict[str, tuple[str, ...]]:
    """The golden memories by conversation id, for Ideal Memory."""
    return {c.session_id: c.goldens for c in story.conversations}


def gold_feedback(story: Story, mode: FeedbackMode, marker: Marker) -> GoldFeedback:
    """Feedback from the story's right answers; a wrong answer's wish is the person's."""
    profiles = story.profiles
    gold = {
        q.id: Gold(
            q.answer,
            q.feedback,
            profiles[q.character].feedback if q.character in profiles else "",
        )
        for q in story.questions
    }
    return GoldFeedback(gold, mode, marker)


class RuleMarker:
    """Right or wrong by the rule of the module's docstring."""

    def __init__(self, story: Story) -> None:
        self._person = (story.person,) if story.person else ()
        self._accepted = accepted_answers(story.questions)

    def __call__(self, question: str, right: str, answer: str) -> bool:
        accepted = self._accepted.get((question, right), (right,))
        return any(states(answer, a, self._person) for a in accepted)


class JudgeMarker:
    """Right or wrong by the judge role; where it gives no verdict twice, by the rule.

    What the typed comparison finds right costs no call. `unjudged` counts the fallbacks.
    """

    def __init__(self, story: Story, judge: Judge) -> None:
        self._rule = RuleMarker(story)
        self._accepted = accepted_answers(story.questions)
        self._judge = judge
        self.unjudged = 0

    def __call__(self, question: str, right: str, answer: str) -> bool:
        accepted = self._accepted.get((question, right), (right,))
        bare = _HEAD_DATE.sub("", answer)
        if any(compare(form, a).correct for form in (answer, bare) for a in accepted):
            return True
        verdict = with_retry(
            self._judge_with,
            example=dspy.Example(question=question, answer=right),
            prediction=dspy.Prediction(answer=answer),
        )
        if isinstance(verdict, Failure):
            self.unjudged += 1
            return self._rule(question, right, answer)
        return bool(verdict)

    def _judge_with(
        self, example: dspy.Example, prediction: dspy.Prediction, config: object = None
    ) -> bool:
        return self._judge(example=example, prediction=prediction, config=config).correct is True


def accepted_answers(
    questions: tuple[StoryQuestion, ...],
) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """The answers that are right, by question and gold answer."""
    return {(q.question, q.answer): q.accepted_answers for q in questions}


def states(answer: str, accepted: str, person: tuple[str, ...] = ()) -> bool:
    """Whether `answer` gives the `accepted` answer, by the rule of the module's docstring."""
    forms = dict.fromkeys((answer, _HEAD_DATE.sub("", answer)))
    return any(
        compare(form, accepted).correct
        or holds(form, accepted, None, person)
        or _figures_stand(form, accepted, person)
        for form in forms
    )


def _figures_stand(answer: str, accepted: str, person: tuple[str, ...]) -> bool:
    """Whether an accepted answer that is figures alone stands in `answer`."""
    wanted, said = content(accepted, frozenset(person)), content(answer, frozenset(person))
    if wanted.stems or not (wanted.days or wanted.figures):
        return False
    days = all(
        any(d[1:] == o[1:] and (None in (d[0], o[0]) or d[0] == o[0]) for o in said.days)
        for d in wanted.days
    )
    return days and wanted.figures <= said.figures
