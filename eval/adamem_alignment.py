"""Policy alignment by a judge: does a learned rule want what the person truly wants remembered?"""

import dspy

from memsteer.eval.adamem_metrics import policy_alignment
from memsteer.eval.adamem_story import Story
from memsteer.programs.names import Names
from memsteer.programs.parallel import Failure
from memsteer.programs.policy import MemoryPolicy
from memsteer.programs.writers import with_retry
from memsteer.signatures.judging import JudgeAlignment


class AlignmentJudge(dspy.Module):
    """Verdicts 0, 1 or 2 on one rule."""

    def __init__(self) -> None:
        super().__init__()
        self.judge = dspy.Predict(JudgeAlignment)

    def forward(self, wish: str, rule: str, config: dict[str, object] | None = None) -> int:
        return int(self.judge(wish=wish, rule=rule, config=config or {}).verdict)


def judge_alignment(story: Story, policy: MemoryPolicy, lm: dspy.LM) -> float | None:
    """Policy alignment in percent over all people of the story; no rule for one is a 0.

    None where the judge gives no usable verdict: a missing verdict is no zero.
    """
    judge, names = AlignmentJudge(), Names(story.person)
    judge.set_lm(lm)
    verdicts = []
    for name, profile in sorted(story.profiles.items()):
        rule = policy.find("person", name, names)
        if rule is None:
            verdicts.append(0)
            continue
        verdict = with_retry(judge, wish=profile.description, rule=rule.rule)
        if isinstance(verdict, Failure):
            return None
        verdicts.append(verdict)
    share = policy_alignment(verdicts)
    return None if share is None else 100 * share
