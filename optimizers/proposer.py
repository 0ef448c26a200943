"""The design proposer as a module, and the check that turns what it says into designs."""

import json
from collections.abc import Sequence
from typing import Any

import dspy

from memsteer.programs.design import DesignError, MemoryDesign, schema_for_proposer
from memsteer.signatures.design import (
    DesignChange,
    DesignProposal,
    DiagnosedCase,
    FailureCounts,
    ProposeDesigns,
    TriedProposal,
)


class DesignProposer(dspy.Module):
    """Proposes revisions of a design from diagnosed cases. Swap its model by `set_lm`."""

    def __init__(self) -> None:
        super().__init__()
        self.propose = dspy.ChainOfThought(ProposeDesigns)

    def forward(
        self,
        current: MemoryDesign,
        counts: FailureCounts,
        cases: Sequence[DiagnosedCase],
        tried: Sequence[TriedProposal],
        number: int,
    ) -> dspy.Prediction:
        return self.propose(
            design_fields=schema_for_proposer(),
            current=current.key,
            counts=counts,
            cases=list(cases),
            tried=list(tried),
            number=number,
        )


def read_proposal(proposal: DesignProposal, current: MemoryDesign) -> MemoryDesign:
    """The design that a proposal makes of `current`.

    Raises `DesignError` for no changes, unknown fields, values out of range, or no difference.
    """
    if not proposal.changes:
        raise DesignError("proposal changes nothing")
    design = current.changed({c.path: _value(c) for c in proposal.changes})
    if design == current:
        raise DesignError("proposal leaves the design as it is")
    return design


def _value(change: DesignChange) -> Any:
    text = change.value.strip()
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        lowered = text.lower()  # models write True and 'sentence' as often as JSON
        return {"true": True, "false": False}.get(lowered, text.strip("'\""))
