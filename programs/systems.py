"""The systems that write: AdaMem, Mem0-style, Full Context and Ideal Memory behind one Protocol.

A system holds no state of a story: what it knows stands in a frozen `WriterState` that every
step takes and gives back, so one object serves many stories and a replay costs nothing extra.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Protocol

import dspy

from memsteer.programs.embedding import Embedder
from memsteer.programs.memories import (
    EMPTY_STORE,
    NO_RECENCY,
    Found,
    MemoryKind,
    MemorySearch,
    MemoryStore,
    Recency,
    RefusedMemory,
    StoredMemory,
)
from memsteer.programs.names import Names
from memsteer.programs.parallel import Failure
from memsteer.programs.patches import PatchOutcome, apply_patch
from memsteer.programs.policy import START_POLICY, MemoryPolicy, PolicyParameter
from memsteer.programs.stream import Day, Question
from memsteer.programs.writers import (
    KEEP_USER_FACTS,
    POSITIVE_WORDING,
    RULES_DECIDE,
    Extractor,
    Gate,
    MemoryAnswerer,
    PolicyUpdater,
    with_retry,
)
from memsteer.signatures.writing import CandidateMemory, ChatMessage, FeedbackTurn

TOP_K = 10


@dataclass(frozen=True)
class WritingConfig:
    """The switches of a writing system. The defaults are AdaMem with the gate.

    `learns`: the policy is updated from feedback. `exclusions`: rules may say what to leave out.
    `keep_user_facts`: the user's own facts are kept against any rule, as in the paper.
    `show_general`: the general rule is shown to extractor and gate. `validated`: a patch must not
    lower the score of the past week's replay.
    """

    name: str = "adamem"
    learns: bool = True
    time_rule: bool = True
    gate: bool = True
    exclusions: bool = True
    keep_user_facts: bool = False
    show_general: bool = True
    validated: bool = False
    recency: Recency = NO_RECENCY
    k: int = TOP_K


ADAMEM = WritingConfig()
# As published: no gate, positive rules only, user facts always kept, the general rule not shown.
PAPER_ADAMEM = WritingConfig(
    "adamem-paper", gate=False, exclusions=False, keep_user_facts=True, show_general=False
)
MEM0 = WritingConfig("mem0", learns=False, time_rule=False, gate=False, show_general=False)
# The control that the paper lacks: what the time rule alone gives.
MEM0_TIME = replace(MEM0, name="mem0-time", time_rule=True)


@dataclass(frozen=True)
class WriterState:
    """What a system knows at some point of a story."""

    policy: MemoryPolicy = START_POLICY
    store: MemoryStore = EMPTY_STORE
    log: tuple[str, ...] = ()  # dialogue and transcripts as text, for systems without a store
    names: Names = field(default_factory=Names)


@dataclass(frozen=True)
class Written:
    """The state after a writing step; `failure` says that (part of) the step did not happen."""

    state: WriterState
    stored: tuple[StoredMemory, ...] = ()
    refused: tuple[RefusedMemory, ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True)
class Answered:
    """An answer, or the failure to give one, and what was retrieved for it."""

    text: str
    retrieved: tuple[Found, ...] = ()
    shown: tuple[str, ...] = ()
    failure: Failure | None = None


Replay = Callable[[MemoryPolicy], float]


class WritingSystem(Protocol):
    """What the weekly loop runs. Every step is a function of its arguments and the LM."""

    name: str

    def begin(self, names: Names) -> WriterState:
        """The state before the first week."""
        ...

    def write(self, state: WriterState, day: Day) -> Written:
        """Write a day's conversations."""
        ...

    def answer(self, state: WriterState, question: Question) -> Answered:
        """Answer a question; the state does not change."""
        ...

    def learn(
        self, state: WriterState, turns: Sequence[FeedbackTurn], replay: Replay
    ) -> tuple[WriterState, PatchOutcome | None]:
        """Update what to write from a week's feedback; None: this system does not learn."""
        ...

    def write_back(
        self, state: WriterState, week: int, when: date, turns: Sequence[FeedbackTurn]
    ) -> Written:
        """Write the week's transcript of questions, answers and feedback."""
        ...


class PolicyMemory(dspy.Module):
    """AdaMem and, with its switches off, the Mem0-style systems.

    The policy it starts from is a DSPy parameter; what a story teaches stands in its states, and
    `memory_policy.value` is set by whoever wants to keep it.
    """

    def __init__(
        self,
        embedder: Embedder,
        config: WritingConfig = ADAMEM,
        policy: MemoryPolicy = START_POLICY,
    ) -> None:
        super().__init__()
        self.name = config.name
        self.config = config
        self.memory_policy = PolicyParameter(policy)
        self.search = MemorySearch(embedder)
        self.extractor = Extractor()
        self.gate = Gate()
        self.updater = PolicyUpdater()
        self.answerer = MemoryAnswerer()

    def begin(self, names: Names) -> WriterState:
        return WriterState(policy=self.memory_policy.value, names=names)

    def write(self, state: WriterState, day: Day) -> Written:
        sources = tuple(c.id for c in day.conversations)
        return self._write(state, day.messages, day.week, day.date, "dialogue", sources)

    def write_back(
        self, state: WriterState, week: int, when: date, turns: Sequence[FeedbackTurn]
    ) -> Written:
        return self._write(state, transcript(turns), week, when, "qa_writeback", ())

    def answer(self, state: WriterState, question: Question) -> Answered:
        found = self.search.top(state.store, question.text, self.config.k, self.config.recency)
        shown = tuple(f.memory.text for f in found)
        said = with_retry(self.answerer, memories=shown, question=question.text, names=state.names)
        if isinstance(said, Failure):
            return Answered("", found, shown, said)
        return Answered(said, found, shown)

    def learn(
        self, state: WriterState, turns: Sequence[FeedbackTurn], replay: Replay
    ) -> tuple[WriterState, PatchOutcome | None]:
        if not self.config.learns:
            return state, None
        wording = "" if self.config.exclusions else POSITIVE_WORDING
        patch = with_retry(
            self.updater, policy=state.policy, turns=turns, names=state.names, wording=wording
        )
        if isinstance(patch, Failure):
            reason = f"{patch.reason}: {patch.detail}"
            return state, PatchOutcome(state.policy, False, (reason,))
        outcome = apply_patch(
            state.policy, patch, state.names, exclusions_allowed=self.config.exclusions
        )
        if self.config.validated and outcome.policy != state.policy:
            before, after = replay(state.policy), replay(outcome.policy)
            if after < before:
                reason = f"past week replayed: {after:g} right with the patch, {before:g} without"
                outcome = PatchOutcome(state.policy, False, (*outcome.reasons, reason))
        return replace(state, policy=outcome.policy), outcome

    def _write(
        self,
        state: WriterState,
        messages: Sequence[ChatMessage],
        week: int,
        when: date,
        kind: MemoryKind,
        sources: tuple[str, ...],
    ) -> Written:
        guidance = _guidance(self.config, state.policy)
        candidates = with_retry(
            self.extractor,
            messages=messages,
            observation_date=when.isoformat(),
            policy=state.policy,
            names=state.names,
            time_rule=self.config.time_rule,
            general=self.config.show_general,
            guidance=guidance,
        )
        if isinstance(candidates, Failure):
            return Written(state, failure=candidates)
        rules = [state.policy.applicable(c.about, c.text, state.names) for c in candidates]
        verdicts = self._verdicts(state, candidates, rules, guidance)
        stored, refused = [], []
        for n, candidate in enumerate(candidates):
            stores, reason = _decision(n, bool(rules[n]), verdicts)
            about, text = tuple(candidate.about), candidate.text.strip()
            if stores:
                stored.append(StoredMemory("", text, when, week, kind, about, sources, reason))
            else:
                rule = "; ".join(str(r) for r in rules[n])
                refused.append(RefusedMemory(text, when, week, kind, about, sources, reason, rule))
        store = state.store.plus(stored, refused)
        return Written(
            replace(state, store=store),
            store.memories[len(state.store) :],
            tuple(refused),
            verdicts if isinstance(verdicts, Failure) else None,
        )

    def _verdicts(
        self,
        state: WriterState,
        candidates: Sequence[CandidateMemory],
        rules: Sequence[Sequence[object]],
        guidance: str,
    ) -> Mapping[int, tuple[bool, str]] | Failure | None:
        """(stored, reason) by index; None where there is nothing to judge by."""
        if not self.config.gate or not any(rules):
            return None
        verdicts = with_retry(
            self.gate,
            candidates=candidates,
            rules=rules,
            general=state.policy.general if self.config.show_general else "",
            guidance=guidance,
            names=state.names,
        )
        if isinstance(verdicts, Failure):
            return verdicts
        return {n: (v.verdict == "store", v.reason.strip()) for n, v in verdicts.items()}


def _guidance(config: WritingConfig, policy: MemoryPolicy) -> str:
    """The switch about the user's own facts in words; nothing where there are no rules."""
    if not policy.rules:
        return ""
    return KEEP_USER_FACTS if config.keep_user_facts else RULES_DECIDE


def _decision(
    index: int, has_rule: bool, verdicts: Mapping[int, tuple[bool, str]] | Failure | None
) -> tuple[bool, str]:
    """Whether a candidate is stored, and why. Nothing is lost for want of a verdict."""
    if verdicts is None:
        return True, "no gate" if has_rule else "no rule applies"
    if isinstance(verdicts, Failure):
        return True, f"not judged: {verdicts.reason}"
    if not has_rule:
        return True, "no rule applies"
    return verdicts.get(index, (True, "not judged: the gate gave no verdict"))


def transcript(turns: Sequence[FeedbackTurn]) -> list[ChatMessage]:
    """The week's questions as a conversation: memories shown, question, answer, feedback."""
    messages = []
    for turn in turns:
        memories = "\n".join(f"- {m}" for m in turn.memories) or "(none)"
        messages += [
            ChatMessage(role="system", content=f"Memories:\n{memories}"),
            ChatMessage(role="user", content=turn.question),
            ChatMessage(role="assistant", content=turn.answer),
            ChatMessage(role="user", content=turn.feedback),
        ]
    return messages
