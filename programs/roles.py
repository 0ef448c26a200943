"""The supervision roles as modules: each calls its signature and checks the form of what it says.

Swap a role's model by `role.set_lm(lm)`; a role has no state and serves many threads.
"""

import dspy

from memsteer.programs.bundles import Bundle
from memsteer.signatures.supervision import (
    AnswerPlan,
    AuditItem,
    PlanAnswer,
    RecoverAnswer,
    WriteQuestion,
)


class Planner(dspy.Module):
    """Plans one answer from a bundle; `plan` is None where the records allow none."""

    def __init__(self) -> None:
        super().__init__()
        self.plan = dspy.ChainOfThought(PlanAnswer)

    def forward(self, bundle: Bundle) -> dspy.Prediction:
        return self.plan(records=[record.as_source() for record in bundle.records])


class QuestionWriter(dspy.Module):
    """Writes the standalone question that a plan answers."""

    def __init__(self) -> None:
        super().__init__()
        self.write = dspy.Predict(WriteQuestion)

    def forward(self, bundle: Bundle, plan: AnswerPlan) -> dspy.Prediction:
        return self.write(plan=plan, records=[record.as_source() for record in bundle.records])


class Auditor(dspy.Module):
    """Gives the two semantic judgements on a question and its plan."""

    def __init__(self) -> None:
        super().__init__()
        self.audit = dspy.ChainOfThought(AuditItem)

    def forward(self, bundle: Bundle, plan: AnswerPlan, question: str) -> dspy.Prediction:
        records = [record.as_source() for record in bundle.records]
        return self.audit(question=question, plan=plan, records=records)


class BlindRecoverer(dspy.Module):
    """Answers a question from its source records, without sight of the plan."""

    def __init__(self) -> None:
        super().__init__()
        self.recover = dspy.ChainOfThought(RecoverAnswer)

    def forward(self, bundle: Bundle, question: str, answer_type: str) -> dspy.Prediction:
        records = [record.as_source() for record in bundle.records]
        return self.recover(question=question, answer_type=answer_type, records=records)
