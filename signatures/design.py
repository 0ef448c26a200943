"""The design proposer: revises a memory design's structure from diagnosed failures (§3.3)."""

from typing import Literal

import dspy
from pydantic import BaseModel, ConfigDict, Field

FailureKind = Literal["storage", "retrieval", "answering"]


class DiagnosedCase(BaseModel):
    """One question that the current design got wrong, and where its evidence was lost."""

    model_config = ConfigDict(frozen=True)

    kind: FailureKind | None = Field(
        description="storage: no stored unit holds the evidence; retrieval: it is stored but not "
        "in the context; answering: it is in the context; null: not diagnosed"
    )
    question: str
    expected: str
    answered: str
    evidence: list[str] = Field(description="the words that answer the question")
    evidence_rank: int | None = Field(
        description="rank of the worst-placed evidence record; null if not among those found"
    )
    retrieved: list[str] = Field(description="how the first records found begin")


class FailureCounts(BaseModel):
    """How the training questions fared under the current design."""

    model_config = ConfigDict(frozen=True)

    correct: int
    storage: int
    retrieval: int
    answering: int


class DesignChange(BaseModel):
    """One field set to a new value."""

    model_config = ConfigDict(frozen=True)

    path: str = Field(description="a field as listed, such as retrieval.dense_weight")
    value: str = Field(description="the new value, as JSON: 0.5, true, sentence")


class DesignProposal(BaseModel):
    """A revision of the current design."""

    model_config = ConfigDict(frozen=True)

    rationale: str = Field(description="which failures this should mend, and why; one sentence")
    changes: list[DesignChange]


class TriedProposal(BaseModel):
    """An earlier proposal and what became of it."""

    model_config = ConfigDict(frozen=True)

    changes: list[DesignChange]
    fate: str


class ProposeDesigns(dspy.Signature):
    """Propose revisions of a memory design that would mend the diagnosed failures.

    Change structure: the unit stored, which channels search, rewritten or hypothetical
    queries, reranking, use of dates, neighbours and links, how the context is built. A weight
    of 0 switches its part off; set it above 0 to switch the part on. Exact numbers are tuned
    afterwards, so give a sensible start. Argue from the cases, not from habit: look at how
    the questions' words differ from the evidence, and at what was found instead. Make the
    proposals differ from each other, and never repeat one that was tried.
    """

    design_fields: str = dspy.InputField(desc="every field: path, allowed values, meaning")
    current: str = dspy.InputField(desc="the current design as JSON")
    counts: FailureCounts = dspy.InputField(desc="how the training questions fared")
    cases: list[DiagnosedCase] = dspy.InputField(desc="a sample of the failures")
    tried: list[TriedProposal] = dspy.InputField(desc="earlier proposals and their fate")
    number: int = dspy.InputField(desc="how many proposals to make")
    proposals: list[DesignProposal] = dspy.OutputField(desc="that many different revisions")
