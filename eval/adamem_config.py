"""What one cell of AdaMem-Bench is: a story, a method, a kind of feedback, a model; a frozen value.

This module imports neither DSPy nor numpy: the command line reads its arguments without them.
"""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Method = Literal["adamem", "adamem-paper", "mem0", "mem0-time", "fc", "id"]
METHODS = ("adamem", "adamem-paper", "mem0", "mem0-time", "fc", "id")
FEEDBACKS = ("explicit", "implicit")
ROLES = ("extractor", "gate", "updater", "answerer", "judge")
FIGURES = (
    "qa_accuracy",
    "memory_volume",
    "extraction_f1",
    "recall_at_5",
    "key_recall",
    "noise_rejection",
    "policy_alignment",
    "wrong_person_share",
)
OFFLINE = ("extractive", "memsteer/extractive")  # names of the offline engine
# Where files lie is not what they hold, and a larger budget gives the same answers.
_FREE = frozenset({"out", "data", "budget_calls"})


class CellConfig(BaseModel):
    """Everything that decides a cell's result, and where and within which bounds it runs.

    `data` is AdaMem-Bench's folder; empty: the bundled story 1. `tell_person` tells the policy
    updater whom a question is about, which the paper's is not told. `seed` names the sample that
    is asked of a model; the offline engine has one answer only.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: str = ""
    story: int = 1
    method: Method = "adamem"
    feedback: Literal["explicit", "implicit"] = "explicit"
    lm: str = "extractive"
    role_lms: dict[str, str] = Field(default_factory=dict)
    api_base: str = ""
    seed: int = Field(0, ge=0)
    tell_person: bool = False
    out: str = "memsteer-adamem"
    budget_calls: int | None = Field(None, ge=0)

    @property
    def compared(self) -> dict[str, Any]:
        """The fields that must be equal for one run to continue another."""
        return self.model_dump(exclude=set(_FREE))

    @property
    def judged_by_model(self) -> bool:
        """Whether a model judges answers; the offline engine leaves that to the rule."""
        return self.role_lms.get("judge", self.lm) not in OFFLINE
