"""The writing roles as modules: extractor, gate, policy updater, and the answerer over memories.

A role that gives no usable output is asked once more, for another sample; then its failure is a
value that the caller must report. A role has no state and serves many threads.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import dspy

from memsteer.programs.names import Names
from memsteer.programs.parallel import Failure, attempt
from memsteer.programs.policy import MemoryPolicy, ScopedRule
from memsteer.signatures.writing import (
    AnswerFromMemories,
    CandidateMemory,
    ChatMessage,
    ExtractMemories,
    FeedbackTurn,
    GateCandidate,
    GateMemory,
    GateVerdict,
    PolicyPatch,
    UpdatePolicy,
)

T = TypeVar("T")
SECOND_SAMPLE = {"rollout_id": 2, "temperature": 1.0}

TIME_RULE = (
    "Take the observation date as today. Resolve every relative time ('today', 'yesterday', "
    "'next Friday', 'this weekend') into an absolute date YYYY-MM-DD, with the clock time if one "
    "is said. Every memory carries its date in its text: 'On YYYY-MM-DD …', a range, a cadence "
    "'as of' a date, or 'scheduled for' a date. Copy dates that are stated."
)
KEEP_USER_FACTS = (
    "A fact whose substance concerns the user (a plan, promise, schedule, decision or preference "
    "of theirs) is always kept, whatever the rules say."
)
RULES_DECIDE = "The rules decide about the user's own facts too."
POSITIVE_WORDING = (
    "Word every rule by what to record. Never say what to leave out: no 'only', 'not', 'ignore'."
)


def with_retry(call: Callable[..., T], **inputs: Any) -> T | Failure:
    """`call(**inputs)`; after a failure once more with another sample, then the failure."""
    first = attempt(lambda: call(**inputs))
    if not isinstance(first, Failure):
        return first
    return attempt(lambda: call(**inputs, config=SECOND_SAMPLE))


class Extractor(dspy.Module):
    """Proposes the memories of one day's conversations."""

    def __init__(self) -> None:
        super().__init__()
        self.extract = dspy.Predict(ExtractMemories)

    def forward(
        self,
        messages: Sequence[ChatMessage],
        observation_date: str,
        policy: MemoryPolicy,
        names: Names,
        *,
        time_rule: bool = True,
        general: bool = True,
        guidance: str = "",
        config: dict[str, Any] | None = None,
    ) -> list[CandidateMemory]:
        prediction = self.extract(
            observation_date=observation_date,
            time_rule=TIME_RULE if time_rule else "",
            general_rule=policy.general if general else "",
            rules=[str(rule) for rule in policy.rules],
            guidance=guidance,
            user=names.user or "the user",
            messages=list(messages),
            config=config or {},
        )
        return [c for c in prediction.memories if c.text.strip()]


class Gate(dspy.Module):
    """Judges candidates against the rules that apply to them; verdicts by index."""

    def __init__(self) -> None:
        super().__init__()
        self.judge = dspy.Predict(GateMemory)

    def forward(
        self,
        candidates: Sequence[CandidateMemory],
        rules: Sequence[Sequence[ScopedRule]],
        general: str,
        guidance: str,
        names: Names,
        config: dict[str, Any] | None = None,
    ) -> dict[int, GateVerdict]:
        shown = [
            GateCandidate(
                index=n, text=c.text, about=c.about, rules=[str(rule) for rule in rules[n]]
            )
            for n, c in enumerate(candidates)
            if rules[n]
        ]
        prediction = self.judge(
            general_rule=general,
            guidance=guidance,
            user=names.user or "the user",
            candidates=shown,
            config=config or {},
        )
        asked = {c.index for c in shown}
        verdicts: dict[int, GateVerdict] = {}
        for verdict in prediction.verdicts:
            if verdict.index in asked:  # the first word on a candidate counts
                verdicts.setdefault(verdict.index, verdict)
        return verdicts


class PolicyUpdater(dspy.Module):
    """Proposes a patch from a week's feedback; whether it holds is not its business."""

    def __init__(self) -> None:
        super().__init__()
        self.update = dspy.ChainOfThought(UpdatePolicy)

    def forward(
        self,
        policy: MemoryPolicy,
        turns: Sequence[FeedbackTurn],
        names: Names,
        wording: str = "",
        config: dict[str, Any] | None = None,
    ) -> PolicyPatch:
        prediction = self.update(
            user=names.user or "the user",
            policy=policy.render(),
            language=policy.language,
            wording=wording,
            turns=list(turns),
            config=config or {},
        )
        patch: PolicyPatch = prediction.patch
        return patch


class MemoryAnswerer(dspy.Module):
    """Answers a question from memories; it is told no current date."""

    def __init__(self) -> None:
        super().__init__()
        self.answer = dspy.Predict(AnswerFromMemories)

    def forward(
        self,
        memories: Sequence[str],
        question: str,
        names: Names,
        config: dict[str, Any] | None = None,
    ) -> str:
        prediction = self.answer(
            user=names.user or "the user",
            memories=list(memories),
            question=question,
            config=config or {},
        )
        return str(prediction.reply).strip()
