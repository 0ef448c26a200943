"""Diagnosis: where a wrongly answered question lost its evidence (MemSteer-Opt, section 3.3).

answering: the evidence is in the context. storage: it is in no stored unit. retrieval: it is
stored, but the context does not show it.
"""

import random
from collections.abc import Sequence
from typing import Literal

import dspy

from memsteer.optimizers.outcomes import Outcome, evidence_of, sources_of
from memsteer.programs.memory import MemoryProgram
from memsteer.programs.records import Span
from memsteer.signatures.design import DiagnosedCase, FailureCounts, FailureKind

Feedback = Literal["random", "gold", "diagnosis", "stratified"]
KINDS: tuple[FailureKind, ...] = ("storage", "retrieval", "answering")
_SHOWN = 0.999  # a context that shows all of the evidence, but for rounding


def diagnose(outcome: Outcome, program: MemoryProgram) -> FailureKind | None:
    """The kind of failure, or None where the question did not go wrong (or failed outright)."""
    if outcome.verdict in ("correct", "failed"):
        return None
    if outcome.coverage >= _SHOWN:
        return "answering"
    stored = {
        source for r in program.index.corpus(program.design.store) for source in sources_of(r)
    }
    return "retrieval" if set(outcome.evidence) <= stored else "storage"


def count_failures(outcomes: Sequence[Outcome], program: MemoryProgram) -> FailureCounts:
    """How many outcomes are right, and how many fail in each way; failed ones count nowhere."""
    kinds = [diagnose(o, program) for o in outcomes]
    return FailureCounts(
        correct=sum(o.verdict == "correct" for o in outcomes),
        storage=kinds.count("storage"),
        retrieval=kinds.count("retrieval"),
        answering=kinds.count("answering"),
    )


def sample_cases(
    outcomes: Sequence[Outcome],
    examples: Sequence[dspy.Example],
    program: MemoryProgram,
    *,
    feedback: Feedback,
    per_kind: int,
    rng: random.Random,
) -> list[DiagnosedCase]:
    """Failures for the proposer to look at (section A.5).

    random: question and answers alone. gold: the evidence too. diagnosis: the kind and the rank
    too. stratified: the same, but at most `per_kind` of each kind; the others take as many in
    all, without regard to kind.
    """
    wrong = [
        (o, e, kind)
        for o, e in zip(outcomes, examples, strict=True)
        if (kind := diagnose(o, program)) is not None
    ]
    rng.shuffle(wrong)
    if feedback == "stratified":
        chosen = [w for kind in KINDS for w in [x for x in wrong if x[2] == kind][:per_kind]]
    else:
        chosen = wrong[: per_kind * len(KINDS)]
    return [_case(o, e, kind, program, feedback) for o, e, kind in chosen]


def _case(
    outcome: Outcome,
    example: dspy.Example,
    kind: FailureKind,
    program: MemoryProgram,
    feedback: Feedback,
) -> DiagnosedCase:
    history = program.index.history
    diagnosed = feedback in ("diagnosis", "stratified")
    ranks = [
        outcome.retrieved.index(i) + 1 if i in outcome.retrieved else None for i in outcome.evidence
    ]
    worst = None if None in ranks else max((r for r in ranks if r), default=None)
    words = [
        history[e.record_id].text[e.start : e.end] if isinstance(e, Span) else e.text
        for e in evidence_of(example, history)
    ]
    return DiagnosedCase(
        kind=kind if diagnosed else None,
        question=outcome.question,
        expected=outcome.expected,
        answered=outcome.answer,
        evidence=[] if feedback == "random" else [w[:300] for w in words],
        evidence_rank=worst if diagnosed else None,
        retrieved=[history[i].text[:120] for i in outcome.retrieved[:3] if i in history.by_id]
        if diagnosed
        else [],
    )
