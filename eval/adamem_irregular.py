"""What is irregular in a story of AdaMem-Bench: a readable line each, none of it fatal."""

from collections.abc import Iterator
from itertools import pairwise

from memsteer.eval.adamem_story import Conversation, Scenario, SessionRef, Story


def irregularities(story: Story) -> tuple[str, ...]:
    """The irregularities of `story`, those of the conversations first, then plan and questions."""
    return (
        *_date_order(story),
        *_plan(story),
        *_supersedes(story),
        *_questions(story),
        *_endings(story),
        *_people(story),
    )


def _some(what: str, ids: list[str]) -> Iterator[str]:
    if ids:
        yield f"{what} ({len(ids)}): {', '.join(ids)}"


def _date_order(story: Story) -> Iterator[str]:
    for week in story.weeks:
        for before, after in pairwise(week.conversations):
            if after.date < before.date:
                yield (
                    f"week {week.number}: {after.session_id} of {after.date} stands behind "
                    f"{before.session_id} of {before.date}"
                )
    for earlier, later in pairwise(story.weeks):
        if earlier.conversations and later.conversations:
            last = max(c.date for c in earlier.conversations)
            first = min(c.date for c in later.conversations)
            if first <= last:
                yield f"week {later.number} begins on {first}, before week {earlier.number} is over"


def _plan(story: Story) -> Iterator[str]:
    """Conversations against the scenarios that plan them."""
    planned = {week.number: week.scenarios for week in story.outline.weeks}
    for week in story.weeks:
        scenarios = planned.get(week.number, ())
        if len(scenarios) != len(week.conversations):
            yield (
                f"week {week.number}: {len(week.conversations)} conversations, but the outline "
                f"plans {len(scenarios)}"
            )
        for scenario, conversation in zip(scenarios, week.conversations, strict=False):
            yield from _goldens(scenario, conversation)
            for name in ("date", "focal_character", "topic_anchor"):
                plan, fact = getattr(scenario, name), getattr(conversation, name)
                if plan != fact:
                    yield f"{conversation.session_id}: {name} is {fact!s}, planned was {plan!s}"


def _goldens(scenario: Scenario, conversation: Conversation) -> Iterator[str]:
    place = conversation.session_id
    other = [g for g in conversation.goldens if g not in scenario.key_info]
    lost = [k for k in scenario.key_info if k not in conversation.goldens]
    if other:
        yield f"{place}: golden memories that are no key_info verbatim: {len(other)}"
    if len(lost) > len(other):
        yield f"{place}: key_info without a golden memory: {len(lost) - len(other)}"
    if not other and not lost and conversation.goldens != scenario.key_info:
        yield f"{place}: the golden memories are the key_info in another order"


def _supersedes(story: Story) -> Iterator[str]:
    for scenario in story.outline.scenarios:
        ref = scenario.supersedes
        if ref is None:
            continue
        place = f"outline, week {scenario.week}, scenario {scenario.index}"
        named = f"supersedes week {ref.week}, session_index {ref.index}"
        target = story.outline.scenario(ref)
        if target is None:
            yield f"{place}: {named}, which does not exist"
        elif (target.week, target.index) >= (scenario.week, scenario.index):
            yield f"{place}: {named}, which is not earlier"
        elif not _alike(scenario, target):
            neighbours = (SessionRef(ref.week, ref.index + step) for step in (-1, 1))
            meant = [n for n in neighbours if _alike(scenario, story.outline.scenario(n))]
            if meant:
                yield f"{place}: {named}, one off: same person and topic at {meant[0].index}"
            else:
                yield f"{place}: {named}, of another person or topic"


def _alike(scenario: Scenario, other: Scenario | None) -> bool:
    return other is not None and (
        (scenario.topic_anchor, scenario.focal_character)
        == (other.topic_anchor, other.focal_character)
    )


def _questions(story: Story) -> Iterator[str]:
    goldens = {g.ref: g.text for g in story.goldens}
    for question in story.questions:
        place = f"question {question.id}"
        if not question.targets:
            yield f"{place}: names no target memory"
        for ref in question.targets:
            where = f"week {ref.week}, {ref.session_id}, index {ref.index}"
            if ref not in goldens:
                yield f"{place}: its target ({where}) does not exist"
            elif ref.week != question.week:
                yield f"{place}: is asked in week {question.week}, its target is of week {ref.week}"
        texts = [goldens[r] for r in question.targets if r in goldens]
        if texts and question.target_memory not in texts:
            yield f"{place}: its target_memory is not verbatim what its reference names"


def _endings(story: Story) -> Iterator[str]:
    yield from _some(
        "golden_feedback that ends in a full stop, which a sentence frame would double",
        [q.id for q in story.questions if q.ends_in_stop],
    )
    yield from _some(
        "dual-date answers, of which either half is right",
        [q.id for q in story.questions if q.dual_date],
    )


def _people(story: Story) -> Iterator[str]:
    asked = {q.character for q in story.questions}
    talked = {c.focal_character for c in story.conversations}
    unknown = sorted((asked | talked) - story.profiles.keys())
    yield from _some("people without a profile", unknown)
