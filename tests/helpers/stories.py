"""A story of two weeks about a bakery, and a scripted model whose steps can be followed by hand.

Week 1: on 1 May Bo decides on rye bread and talks of coffee; on 2 May the user promises Bo an
oven. Week 2: on 8 May Bo decides on oat bread and talks of coffee again.
"""

import json
from collections.abc import Mapping
from datetime import date
from typing import Any

from small import ConceptEmbedder

from memsteer.programs.names import Names
from memsteer.programs.stream import (
    Conversation,
    FeedbackMode,
    Gold,
    GoldFeedback,
    Question,
    Week,
    WeeklyStream,
)
from memsteer.signatures.writing import ChatMessage

WORDS = ConceptEmbedder({"rye": 0, "oven": 1, "oat": 2, "coffee": 3})
WISH = "For Bo I only need decisions."


def talk(identity: str, day: date, *said: str) -> Conversation:
    """A conversation in which the user says these things."""
    messages = [ChatMessage(role="user", content=text) for text in said]
    return Conversation(identity, day, tuple(messages))


STREAM = WeeklyStream(
    (
        Week(
            1,
            (
                talk("c2", date(2024, 5, 2), "I promised Bo an oven."),
                talk("c1", date(2024, 5, 1), "Bo decided on rye bread.", "Bo likes coffee."),
            ),
            (Question("q1", "Which rye?", "Bo"), Question("q2", "What oven?", "Bo")),
        ),
        Week(
            2,
            (talk("c3", date(2024, 5, 8), "Bo decided on oat bread.", "Bo spilt coffee."),),
            (Question("q3", "Which oat?", "Bo"),),
        ),
    ),
    Names("Ada"),
)
GOLDEN = {"c1": ["Bo wants rye."], "c2": ["Ada owes Bo an oven."], "c3": ["Bo wants oat."]}


def feedback(mode: FeedbackMode = "explicit") -> GoldFeedback:
    """q1 and q3 are answered right by a memory that names the bread; q2 wants what nobody said."""
    gold = {
        "q1": Gold("rye", "it is rye", WISH),
        "q2": Gold("a brick oven", "it is a brick oven.", WISH),
        "q3": Gold("oat", "it is oat", WISH),
    }
    return GoldFeedback(gold, mode, lambda question, right, answer: right in answer)


class Baker:
    """A scripted model: every message is a memory; the gate refuses coffee; a rule for Bo.

    `broken` dates get no usable extraction; `flaky` ones fail the first attempt only.
    """

    def __init__(
        self,
        patch: Mapping[str, Any] | str | None = None,
        broken: tuple[str, ...] = (),
        flaky: tuple[str, ...] = (),
        refuse: str = "coffee",
    ) -> None:
        rule = {"scope_kind": "person", "scope": "Bo", "rule": "Record Bo's decisions."}
        self.patch = {"set": [rule]} if patch is None else patch
        self.broken = broken
        self.failures = dict.fromkeys(flaky, 2)  # the ordinary and the JSON format
        self.refuse = refuse

    def __call__(self, fields: frozenset[str], inputs: Mapping[str, str]) -> Any:
        if "memories" in fields:
            return self._extract(inputs)
        if "verdicts" in fields:
            return {"verdicts": [self._judge(c) for c in json.loads(inputs["candidates"])]}
        if "patch" in fields:
            if isinstance(self.patch, str):
                return self.patch
            return {"reasoning": "A wish was stated.", "patch": self.patch}
        memories = json.loads(inputs["memories"]) if inputs["memories"][:1] == "[" else []
        return {"reply": memories[0] if memories else "I don't remember."}

    def _extract(self, inputs: Mapping[str, str]) -> Any:
        day = inputs["observation_date"]
        if self.failures.get(day, 0):
            self.failures[day] -= 1
            return "no fields at all"
        if day in self.broken:
            return "no fields at all"
        said = [m["content"] for m in json.loads(inputs["messages"]) if m["role"] == "user"]
        return {"memories": [{"text": t, "about": ["Bo"], "date": day} for t in said]}

    def _judge(self, candidate: Mapping[str, Any]) -> dict[str, Any]:
        refused = self.refuse in candidate["text"]
        return {
            "index": candidate["index"],
            "verdict": "refuse" if refused else "store",
            "reason": "not a decision" if refused else "a decision",
        }
