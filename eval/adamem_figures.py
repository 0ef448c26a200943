"""The figures of one run over a story, offline: matches are decided by the fact-cover rule.

Shares are percentages, unrounded; memory volume counts memories. None: there is no such figure.
The paper has judges for matches; here `adamem_cover.holds` decides everywhere:

extraction_f1       A memory is in the goldens when it holds a golden of its own date (writeback:
                    of its week); it matches the one it shares most words with.
recall_at_5         A question counts when one of the first five memories retrieved was written on
                    the date of its target memory and holds it.
key_recall,         By the planned facts of each session and the memories of dialogue of its date
noise_rejection     (`adamem_metrics`). Sessions of a failed date are left out: a failed date is
                    not a date without memories.
wrong_person_share  Over dialogue memories that hold a planned fact of their date which names just
                    one of the profiled people: right if the memory is about or names that person,
                    wrong if it names other profiled people only, else nobody.
policy_alignment    Needs a judge: None here; see `adamem_alignment` for models.

Full Context keeps no memories: it has `qa_accuracy` only.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from functools import cached_property, lru_cache
from typing import Any

from memsteer.eval.adamem_config import FIGURES
from memsteer.eval.adamem_cover import content, holds
from memsteer.eval.adamem_metrics import (
    Attribution,
    Planned,
    StoryCounts,
    extraction_f1,
    key_recall,
    memory_volume,
    noise_rejection,
    qa_accuracy,
    recall_at_5,
    wrong_person_share,
)
from memsteer.eval.adamem_story import Golden, Story, StoryQuestion
from memsteer.programs.adamem import Asked, StoryRun, WeekRun
from memsteer.programs.answers import says
from memsteer.programs.memories import StoredMemory
from memsteer.programs.names import KINSHIP, Names

_RANKS = 5
_TITLES = frozenset({"mr", "mrs", "ms", "miss", "dr", "prof", "professor", "doctor", "the", "my"})


class StoryFigures:
    """The figures of `run`, which is a run over `story` by a method that keeps memories or not."""

    def __init__(self, story: Story, run: StoryRun, *, keeps_memories: bool = True) -> None:
        self.story = story
        self.run = run
        self.keeps_memories = keeps_memories
        self._person = (story.person,) if story.person else ()
        self._names = Names(story.person)
        self._questions = {q.id: q for q in story.questions}

    def overall(self) -> dict[str, float | None]:
        """Every figure of the whole story, in the order of `FIGURES`."""
        return self._of(self.run.weeks)

    def by_week(self) -> list[dict[str, Any]]:
        """The same figures week by week, with the week's number and what was refused in it."""
        return [
            {"week": w.week, "refused": sum(len(s.refused) for s in w.steps), **self._of([w])}
            for w in self.run.weeks
        ]

    def _of(self, weeks: Sequence[WeekRun]) -> dict[str, float | None]:
        counts = [self._counts(weeks)]
        found: dict[str, float | None] = dict.fromkeys(FIGURES)
        found["qa_accuracy"] = _percent(qa_accuracy(counts))
        if not self.keeps_memories:
            return found
        planned = [p for w in weeks for p in self._planned(w)]
        found["memory_volume"] = memory_volume(counts)
        found["extraction_f1"] = _percent(extraction_f1(counts))
        found["recall_at_5"] = _percent(recall_at_5(counts))
        found["key_recall"] = _percent(key_recall(planned, self._person))
        found["noise_rejection"] = _percent(noise_rejection(planned, self._person))
        found["wrong_person_share"] = _percent(wrong_person_share(self._attributions(weeks)))
        return found

    def _counts(self, weeks: Sequence[WeekRun]) -> StoryCounts:
        asked = [a for w in weeks for a in w.asked]
        correct = sum(a.feedback.correct for a in asked)
        if not self.keeps_memories:
            return StoryCounts(self.story.number, len(asked), correct)
        stored = [m for w in weeks for s in w.steps for m in s.stored]
        matches = [g for m in stored if (g := self._matched(m)) is not None]
        numbers = {w.week for w in weeks}
        return StoryCounts(
            self.story.number,
            len(asked),
            correct,
            added=len(stored),
            judged=len(stored),
            in_golden=len(matches),
            matched=len({g.ref for g in matches}),
            goldens=sum(g.ref.week in numbers for g in self.story.goldens),
            recalled=sum(self._recalled(a) for a in asked),
        )

    def _matched(self, memory: StoredMemory) -> Golden | None:
        """The golden that a memory matches: of its date, for a writeback of its week."""
        writeback = memory.kind == "qa_writeback"
        held = [
            g
            for g in self._goldens[memory.week]
            if (writeback or g.date == memory.date)
            and holds(memory.text, g.text, g.date, self._person)
        ]
        return max(held, key=lambda g: self._shared(memory.text, g.text), default=None)

    def _shared(self, memory: str, golden: str) -> float:
        people = frozenset(self._person)
        wanted = content(golden, people).stems
        return len(wanted & content(memory, people).stems) / len(wanted)

    @cached_property
    def _goldens(self) -> Mapping[int, list[Golden]]:
        found: dict[int, list[Golden]] = defaultdict(list)
        for golden in self.story.goldens:
            found[golden.ref.week].append(golden)
        return found

    @cached_property
    def _session_dates(self) -> Mapping[tuple[int, str], date]:
        return {(c.week, c.session_id): c.date for c in self.story.conversations}

    def _recalled(self, asked: Asked) -> bool:
        question = self._questions[asked.question.id]
        dates = self._target_dates(question)
        return any(
            holds(found.memory.text, question.target_memory, day, self._person)
            for found in asked.answered.retrieved[:_RANKS]
            for day in dates
            if day is None or found.memory.date == day
        )

    def _target_dates(self, question: StoryQuestion) -> list[date | None]:
        """The dates of a question's targets; [None], any date, where none resolves."""
        known = [self._session_dates.get((t.week, t.session_id)) for t in question.targets]
        return [d for d in dict.fromkeys(known) if d is not None] or [None]

    def _planned(self, run: WeekRun) -> Iterator[Planned]:
        """The week's sessions with the memories of their dates, but for failed dates."""
        failed = {s.date for s in run.steps if s.failure and not s.stored and not s.writeback}
        written: dict[str, list[str]] = defaultdict(list)
        for step in run.steps:
            if not step.writeback:
                written[step.date] += [m.text for m in step.stored]
        outline = next((w for w in self.story.outline.weeks if w.number == run.week), None)
        week = next(w for w in self.story.weeks if w.number == run.week)
        for plan, held in zip(
            outline.scenarios if outline else (), week.conversations, strict=False
        ):
            day = held.date.isoformat()
            if day not in failed:
                yield Planned(held.date, plan.key_info, plan.noise_info, tuple(written[day]))

    def _attributions(self, weeks: Sequence[WeekRun]) -> Iterator[Attribution]:
        for week in weeks:
            facts = self._facts(week)
            memories = (m for s in week.steps if not s.writeback for m in s.stored)
            for memory in memories:
                for fact, person in facts[memory.date]:
                    if holds(memory.text, fact, memory.date, self._person):
                        yield self._attribution(memory, person)
                        break

    def _facts(self, run: WeekRun) -> Mapping[date, list[tuple[str, str]]]:
        """By date: the planned facts that name just one of the profiled people, and whom."""
        facts: dict[date, list[tuple[str, str]]] = defaultdict(list)
        for planned in self._planned(run):
            for fact in (*planned.key_info, *planned.noise_info):
                named = [n for n in self.story.profiles if self._named(n, fact)]
                if len(named) == 1:
                    facts[planned.date].append((fact, named[0]))
        return facts

    def _attribution(self, memory: StoredMemory, person: str) -> Attribution:
        about = {self._names.key(name) for name in memory.about}
        named = {
            n
            for n in self.story.profiles
            if self._names.key(n) in about or self._named(n, memory.text)
        }
        if person in named:
            return "right"
        return "wrong" if named else "nobody"

    def _named(self, name: str, text: str) -> bool:
        return any(_says(text, part) for part in self._callings[name])

    @cached_property
    def _callings(self) -> Mapping[str, tuple[str, ...]]:
        """How each of the people may be called: in full, or by a word that is theirs alone."""
        parts = {n: [w.strip(".") for w in n.split()] for n in self.story.profiles}
        shared = Counter(w.casefold() for ws in parts.values() for w in set(ws))
        return {
            name: tuple(
                dict.fromkeys(
                    (name, *(w for w in words if shared[w.casefold()] == 1 and _is_name(w)))
                )
            )
            for name, words in parts.items()
        }


_says = lru_cache(maxsize=65536)(says)  # the same texts are asked for each of the people


def _is_name(word: str) -> bool:
    folded = word.casefold()
    return len(word) > 1 and folded not in KINSHIP and folded not in _TITLES


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share
