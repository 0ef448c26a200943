"""A story of AdaMem-Bench as frozen values: weeks of conversations, their plan, the questions.

A *golden memory* is what an ideal memory keeps of a conversation. An outline's *scenario* plans a
conversation: the key facts to keep, the noise facts not to keep, and which earlier scenario it
supersedes. `Story.goldens` is in the order of the released judgments' global index.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

_RELATIVE = re.compile(r"\s*(?:--|—|–)\s*i\.e\.,?\s+", re.IGNORECASE)
_DAYTIME = r"(?:\s+(?:morning|afternoon|evening|night))?"
_CLOCK = r"\d{1,2}(?::\d{2})?\s*(?:[AaPp]\.?[Mm]\.?)?"
_DAY_WORD = (
    r"(?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|today|tonight|tomorrow|yesterday"
    r"|week(?:end|day)?s?|months?|years?|quarters?)"
)
_RELATIVE_DATE = re.compile(
    rf"(?:{_CLOCK}\s+)?(?:(?:by|on|in|this|next|last|the|coming|following)\s+)*{_DAY_WORD}{_DAYTIME}"
    rf"(?:\s+(?:and|or)\s+{_DAY_WORD}{_DAYTIME})?(?:\s+at\s+{_CLOCK})?(?:\s*--)?",
    re.IGNORECASE,
)
_BRACKET = re.compile(
    r"(?P<absolute>.*\d{4}-\d{2}-\d{2}[^()]*?)\s*\((?P<relative>[^()]+)\)\s*\.?", re.DOTALL
)


@dataclass(frozen=True)
class Message:
    role: str
    content: str


@dataclass(frozen=True)
class Profile:
    """What the person wants remembered of `name`; `feedback` is how they say so after an error."""

    name: str
    feedback: str
    preference_id: str
    description: str


@dataclass(frozen=True)
class GoldenRef:
    """Golden memory `index` of session `session_id` in `week`."""

    week: int
    session_id: str
    index: int


@dataclass(frozen=True)
class Golden:
    ref: GoldenRef
    date: date
    text: str


@dataclass(frozen=True)
class Conversation:
    week: int
    session_id: str
    date: date
    day: str
    topic: str
    topic_anchor: str
    focal_character: str
    characters: tuple[str, ...]
    messages: tuple[Message, ...]
    goldens: tuple[str, ...]


@dataclass(frozen=True)
class Week:
    number: int
    conversations: tuple[Conversation, ...]

    @property
    def by_date(self) -> Mapping[date, tuple[Conversation, ...]]:
        """The conversations of each date, dates ascending, in their order within a date."""
        days = sorted({c.date for c in self.conversations})
        return {d: tuple(c for c in self.conversations if c.date == d) for d in days}


@dataclass(frozen=True)
class SessionRef:
    """Scenario `index` (from 0) of `week`, as an outline refers to what a scenario supersedes."""

    week: int
    index: int


@dataclass(frozen=True)
class Scenario:
    week: int
    index: int
    date: date
    focal_character: str
    topic_anchor: str
    topic: str
    characters: tuple[str, ...]
    key_info: tuple[str, ...]
    noise_info: tuple[str, ...]
    supersedes: SessionRef | None = None


@dataclass(frozen=True)
class OutlineWeek:
    number: int
    date_range: str
    topic_anchors: tuple[str, ...]
    scenarios: tuple[Scenario, ...]


@dataclass(frozen=True)
class Outline:
    theme: str
    weeks: tuple[OutlineWeek, ...]

    @property
    def scenarios(self) -> tuple[Scenario, ...]:
        return tuple(s for week in self.weeks for s in week.scenarios)

    def scenario(self, ref: SessionRef) -> Scenario | None:
        """The scenario that `ref` names; None where there is no such week or index."""
        found = (s for s in self.scenarios if (s.week, s.index) == (ref.week, ref.index))
        return next(found, None)


@dataclass(frozen=True)
class StoryQuestion:
    """A question of `week`, its answers, and the golden memories that answer it.

    `feedback` is the correct answer as the person would say it (`golden_feedback`), without the
    full stop that a sentence frame around it would double; `ends_in_stop` where it had one.
    """

    week: int
    id: str
    kind: str
    character: str
    topic_anchor: str
    question: str
    answer: str
    feedback: str
    target_memory: str
    targets: tuple[GoldenRef, ...]
    category: str = ""
    relative_answer: str = ""
    ends_in_stop: bool = False

    @property
    def dual_date(self) -> bool:
        """Whether the answer states a date twice, "absolute (relative)": either half is right."""
        return bool(_halves(self.answer)[1:])

    @property
    def accepted_answers(self) -> tuple[str, ...]:
        """The answer as written and, of a dual-date answer, each of its halves.

        The relative half is the answer before its date was added, where the data still has it.
        """
        halves = _halves(self.answer)
        if len(halves) == 2 and self.relative_answer:
            halves = (halves[0], self.relative_answer)
        return tuple(dict.fromkeys((self.answer, *halves)))


def _halves(answer: str) -> tuple[str, ...]:
    """(absolute, relative) of a dual-date answer, else (answer,).

    Words behind the relative half belong to both; where its end cannot be told, the answer as a
    whole stands for the absolute half.

    >>> _halves("2031-08-19 (Tuesday) at 9:15 AM -- i.e. next Tuesday at 9:15 AM")
    ('2031-08-19 (Tuesday) at 9:15 AM', 'next Tuesday at 9:15 AM')
    >>> _halves("on 2031-08-19 -- i.e. today, the lamp broke")
    ('on 2031-08-19, the lamp broke', 'today, the lamp broke')
    >>> _halves("2031-08-19 (next Tuesday)")
    ('2031-08-19', 'next Tuesday')
    """
    parts = _RELATIVE.split(answer, maxsplit=1)
    if len(parts) == 2:
        head, tail = parts
        relative = _RELATIVE_DATE.match(tail)
        if relative:
            return head + tail[relative.end() :], tail
        return (head if len(tail.split()) <= 4 else answer), tail
    match = _BRACKET.fullmatch(answer.strip())
    return (match["absolute"], match["relative"]) if match else (answer,)


@dataclass(frozen=True)
class Story:
    """A story; `report` holds a readable line on each irregularity met while loading."""

    number: int
    profiles: Mapping[str, Profile]
    weeks: tuple[Week, ...]
    outline: Outline
    questions: tuple[StoryQuestion, ...]
    report: tuple[str, ...] = field(default=(), compare=False)

    @property
    def conversations(self) -> tuple[Conversation, ...]:
        return tuple(c for week in self.weeks for c in week.conversations)

    @cached_property
    def goldens(self) -> tuple[Golden, ...]:
        """The goldens by (week, session_id as a string, index): position is the global index."""
        found = [
            Golden(GoldenRef(c.week, c.session_id, index), c.date, text)
            for c in self.conversations
            for index, text in enumerate(c.goldens)
        ]
        return tuple(sorted(found, key=lambda g: (g.ref.week, g.ref.session_id, g.ref.index)))

    @property
    def person(self) -> str:
        """The name of the history's own person: whom most scenarios mention and none is about.

        Empty where the outline names nobody but the people with a profile.
        """
        focal = {s.focal_character for s in self.outline.scenarios} | self.profiles.keys()
        names = Counter(n for s in self.outline.scenarios for n in s.characters if n not in focal)
        return names.most_common(1)[0][0] if names else ""

    def of_week(self, number: int) -> tuple[StoryQuestion, ...]:
        """The questions of a week, in the order of the file."""
        return tuple(q for q in self.questions if q.week == number)
