"""What to write into memory: extractor, gate, policy updater, and the answerer over memories.

AdaMem (arXiv 2606.21144) learns a policy from weekly feedback; the gate is this project's: the
decision to store is made apart from the extraction, each with its reason.
"""

from typing import Literal

import dspy
from pydantic import BaseModel, ConfigDict, Field

ScopeKind = Literal["person", "task", "topic", "activity"]


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True)


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ChatMessage(_Value):
    """One message of a conversation between the user and their assistant."""

    role: str
    content: str


class CandidateMemory(_Value):
    """One fact proposed for memory."""

    text: str = Field(description="one self-contained sentence in the third person")
    about: list[str] = Field(description="the person or persons it is about, by name; 'user' too")
    date: str = Field(description="the day it is anchored to, YYYY-MM-DD; empty if none is known")


class GateCandidate(_Value):
    """A candidate before the gate, with the rules that apply to it."""

    index: int
    text: str
    about: list[str]
    rules: list[str] = Field(description="the applicable rules, the most specific first")


class GateVerdict(_Value):
    """What becomes of one candidate, and why."""

    index: int = Field(description="the candidate's index")
    verdict: Literal["store", "refuse"]
    reason: str = Field(description="one short sentence that names what the rule says to it")


class FeedbackTurn(_Value):
    """One question of the week, how it was answered, and what the user said to that."""

    question: str
    about: str = Field(default="", description="the person asked about, if the user said so")
    memories: list[str] = Field(description="what the assistant remembered when it answered")
    answer: str
    feedback: str = Field(description="confirmation, or the right answer and perhaps a wish")


class RuleChange(_Strict):
    """A rule to set; it replaces the whole rule of that scope."""

    scope_kind: ScopeKind
    scope: str = Field(description="name of the person, task, topic or activity")
    rule: str = Field(description="one or two sentences: what to record within that scope")


class ScopeName(_Strict):
    """A scope whose rule is to be removed."""

    scope_kind: ScopeKind
    scope: str


class PolicyPatch(_Strict):
    """A change to the memory policy; all fields empty is no change."""

    general: str | None = Field(default=None, description="a new general rule, or null to keep it")
    set: list[RuleChange] = Field(default_factory=list)
    remove: list[ScopeName] = Field(default_factory=list)


class ExtractMemories(dspy.Signature):
    """Extract from a day's conversations what the user's assistant should remember.

    Each memory is one fact that can be understood by itself, months later: say who (by name, or
    "the user"), what, and every number, amount, time and name exactly as it was said. Never join
    two facts that could be wanted separately; never write the same fact twice. Take facts from
    the user's own messages; the assistant's words only help to understand them. Leave out
    greetings, thanks, and requests to the assistant that say nothing of the user's life. Invent
    nothing.

    Follow the time rule if there is one. The rules say what the user wants recorded for
    a person, task, topic or activity: look for that first and miss none of it. Where no rule
    applies, the general rule does; if that is empty too, record whatever may matter later. Follow
    the guidance. Return an empty list only if the conversations hold no fact worth keeping.
    """

    observation_date: str = dspy.InputField(desc="the day of these conversations, YYYY-MM-DD")
    time_rule: str = dspy.InputField(desc="how memories are dated; empty: as seems natural")
    general_rule: str = dspy.InputField(desc="what to record in general; may be empty")
    rules: list[str] = dspy.InputField(desc="rules by scope, as 'kind name: rule'")
    guidance: str = dspy.InputField(desc="how strictly the rules are meant; may be empty")
    user: str = dspy.InputField(desc="the user's name, or 'the user'")
    messages: list[ChatMessage] = dspy.InputField(desc="the day's conversations in order")
    memories: list[CandidateMemory] = dspy.OutputField(desc="the candidate memories")


class GateMemory(dspy.Signature):
    """Judge for each candidate memory whether the user's rules want it stored.

    Judge one candidate at a time, against its own rules and nothing else; of two rules that
    disagree the first listed, the more specific, decides. Store it if it is of a kind that the
    rule asks for. Refuse it if the rule asks for other kinds only, or excludes this kind, however
    interesting it may be: a user who asked for decisions does not want the small talk around them.
    An explicit wish in a more specific rule beats an exclusion in a more general one. A candidate
    without rules is judged by the general rule; in doubt there, store. Follow the guidance.
    Give one verdict for every index, and a reason that names what the rule wants and what this is.
    """

    general_rule: str = dspy.InputField(desc="what is wanted in general; may be empty")
    guidance: str = dspy.InputField(desc="how strictly the rules are meant; may be empty")
    user: str = dspy.InputField(desc="the user's name, or 'the user'")
    candidates: list[GateCandidate] = dspy.InputField()
    verdicts: list[GateVerdict] = dspy.OutputField(desc="one verdict for each candidate")


class UpdatePolicy(dspy.Signature):
    """Revise the memory policy so that next week's memories hold what this user asks for.

    Read the week's questions, answers and feedback. A wish the user states ("for her I only need
    …") becomes that scope's rule, with its meaning whole and nothing added. Where no wish is
    stated, see from the questions and right answers which kinds of facts are asked for about
    whom (decisions, promises, feelings and their causes, times, figures, …), and write a rule for
    kinds, never for this week's particular facts, dates or numbers. An answer that failed weighs
    more than one that was confirmed. Merge with the scope's present rule: a rule that is set
    replaces the whole old one. Use the names the policy uses. Change nothing without a reason in
    the turns; remove a rule only if the user takes it back. The user is no scope: what is wanted
    of the user's own facts stands in the rule of whom they concern. Write in the policy's
    language, and follow the wording note.
    """

    user: str = dspy.InputField(desc="the user's name, or 'the user'")
    policy: str = dspy.InputField(desc="the current policy")
    language: str = dspy.InputField(desc="the language that the policy is written in")
    wording: str = dspy.InputField(desc="how rules may be worded; may be empty")
    turns: list[FeedbackTurn] = dspy.InputField(desc="the week's questions with feedback")
    patch: PolicyPatch = dspy.OutputField(desc="the change; an empty one keeps the policy")


class AnswerFromMemories(dspy.Signature):
    """Answer as the user's assistant, concisely, from the memories below and nothing else.

    If the memories do not contain the answer, reply "I don't remember." Where memories
    contradict each other, the later one holds.
    """

    user: str = dspy.InputField(desc="the user's name, or 'the user'")
    memories: list[str] = dspy.InputField(desc="what is remembered, the most relevant first")
    question: str = dspy.InputField()
    reply: str = dspy.OutputField(desc="one short sentence")
