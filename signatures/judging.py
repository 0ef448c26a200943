"""Judges of what was learned."""

from typing import Literal

import dspy


class JudgeAlignment(dspy.Signature):
    """Judge how well a learned rule matches what the user truly wants remembered of a person.

    2: the rule asks for the same kinds of facts, whatever its words. 1: it asks for part of them,
    or for them among others. 0: it asks for other kinds, or for everything, or names none.
    """

    wish: str = dspy.InputField(desc="what the user truly wants remembered of the person")
    rule: str = dspy.InputField(desc="the learned rule")
    verdict: Literal[0, 1, 2] = dspy.OutputField()
    reason: str = dspy.OutputField(desc="one sentence")
