"""The judge as a metric: what the typed comparison calls wrong, a model may call right."""

from typing import Any

import dspy

from memsteer.optimizers.outcomes import typed_metric
from memsteer.programs.answers import Verdict
from memsteer.signatures.memory import JudgeAnswer


class Judge(dspy.Module):
    """A metric for `evaluate` and `MemSteerOpt`; swap its model by `set_lm`.

    The typed comparison comes first: what it finds correct or abstained costs no call.
    """

    def __init__(self) -> None:
        super().__init__()
        self.judge = dspy.Predict(JudgeAnswer)

    def forward(
        self,
        example: dspy.Example,
        prediction: dspy.Prediction,
        config: dict[str, Any] | None = None,
    ) -> Verdict:
        typed = typed_metric(example, prediction)
        if typed.outcome != "wrong":
            return typed
        said = self.judge(
            question=example.question,
            reference=example.answer,
            answer=prediction.answer,
            config=config or {},
        )
        return Verdict("correct" if said.correct else "wrong", f"judge: {said.reason}")
