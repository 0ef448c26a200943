"""What an optimization leaves behind: accepted steps, every proposal with its fate, the usage."""

from dataclasses import asdict, dataclass
from typing import Any

from memsteer.programs.design import MemoryDesign
from memsteer.programs.ledger import Usage
from memsteer.signatures.design import DesignChange, DesignProposal, TriedProposal


@dataclass(frozen=True)
class Proposed:
    """A proposal and its fate: refused, no gain in screening, gained but another gained more, not
    better on validation, or accepted.
    """

    round: int
    rationale: str
    changes: tuple[tuple[str, str], ...]
    fate: str
    screen: float | None = None
    accuracy: float | None = None


@dataclass(frozen=True)
class Step:
    """A point of the trajectory: the design held after `round`, and how it does."""

    round: int
    design: MemoryDesign
    screen: float
    train_accuracy: float
    val_accuracy: float


@dataclass(frozen=True)
class OptimizationResult:
    """What an optimization did: every accepted step, every proposal, and what it cost."""

    steps: tuple[Step, ...]
    proposals: tuple[Proposed, ...]
    usage: Usage

    @property
    def accepted(self) -> tuple[Proposed, ...]:
        return tuple(p for p in self.proposals if p.fate == "accepted")


def as_row(step: Step) -> dict[str, Any]:
    return {**asdict(step), "design": step.design.model_dump()}


def as_proposal(proposed: Proposed) -> DesignProposal:
    changes = [DesignChange(path=p, value=v) for p, v in proposed.changes]
    return DesignProposal(rationale=proposed.rationale, changes=changes)


def as_tried(proposed: Proposed) -> TriedProposal:
    return TriedProposal(changes=as_proposal(proposed).changes, fate=proposed.fate)
