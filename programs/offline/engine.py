"""The engine behind `dspy.LM("memsteer/extractive")`: prompts in, answers by rule out.

It reads the prompt that DSPy's ordinary adapters write, sees from the output fields which role it
is to play, applies that role's rule and writes the answer as the adapter wants it. Programs do
not know it from a model. It is deterministic: the same prompt, the same answer.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import dspy
from dspy.lm15 import Message, Request, Response, Usage

from memsteer.programs.offline import (
    gatekeeper,
    planner,
    proposer,
    reader,
    updater,
    writer,
    writing,
)
from memsteer.programs.text import count_tokens

Rule = Callable[[Mapping[str, Any]], dict[str, Any]]

# Which rule plays a role is seen from the fields it must fill.
RULES: dict[frozenset[str], Rule] = {
    frozenset({"plan"}): planner.plan_answer,
    frozenset({"question"}): writer.write_question,
    frozenset({"evidence_supports_answer", "question_matches_plan", "reason"}): planner.audit_item,
    frozenset({"answer", "citations"}): reader.recover_answer,
    frozenset({"answer", "cited"}): reader.answer_question,
    frozenset({"correct", "reason"}): reader.judge_answer,
    frozenset({"queries"}): reader.rewrite_query,
    frozenset({"passages"}): reader.write_hypothetical,
    frozenset({"proposals"}): proposer.propose_designs,
    frozenset({"memories"}): writing.extract_memories,
    frozenset({"verdicts"}): gatekeeper.gate_memory,
    frozenset({"patch"}): updater.update_policy,
    frozenset({"reply"}): writing.answer_from_memories,
}

_FIELD = re.compile(r"^\d+\. `(\w+)`", re.MULTILINE)
_REASONING = "Chosen by the rules of the offline engine."


class UnknownRole(ValueError):
    """A prompt that asks for fields no rule fills."""


class ExtractiveEngine:
    """Plays every MemSteer role by extraction rules; see the module's docstring."""

    def complete(self, request: Request) -> Response:
        system, user = _texts(request)
        inputs, outputs, as_json = _read_prompt(system, user)
        rule = RULES.get(frozenset(outputs) - {"reasoning"})
        if rule is None:
            raise UnknownRole(
                f"the offline engine has no rule that fills {', '.join(outputs)}: "
                "set a model for this role"
            )
        answer = {"reasoning": _REASONING, **rule(inputs)}
        text = _write(answer, outputs, as_json)
        usage = Usage(input_tokens=count_tokens(system + user), output_tokens=count_tokens(text))
        return Response(
            id=None,
            model=request.model,
            message=Message.assistant(text),
            finish_reason="stop",
            usage=usage,
        )

    def stream(self, request: Request) -> Iterator[Any]:
        raise UnknownRole("the offline engine does not stream: call it without streaming")

    def close(self) -> None:
        """Nothing is held open."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "ExtractiveEngine":
        return self

    def dump_state(self) -> dict[str, Any]:
        return {}

    @classmethod
    def load_state(cls, state: Mapping[str, Any]) -> "ExtractiveEngine":
        return cls()


class AsyncExtractiveEngine:
    """The same rules for `acall`."""

    async def complete(self, request: Request) -> Response:
        return ExtractiveEngine().complete(request)

    async def aclose(self) -> None:
        """Nothing is held open."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "AsyncExtractiveEngine":
        return self

    def dump_state(self) -> dict[str, Any]:
        return {}

    @classmethod
    def load_state(cls, state: Mapping[str, Any]) -> "AsyncExtractiveEngine":
        return cls()


def offline_lm() -> dspy.LM:
    """The offline engine as a DSPy language model. It says what it is by its name."""
    return dspy.LM(
        "memsteer/extractive",
        engine=ExtractiveEngine(),
        async_engine=AsyncExtractiveEngine(),
        cache=False,
    )


def _texts(request: Request) -> tuple[str, str]:
    system = request.system or ""
    if not isinstance(system, str):
        system = "".join(getattr(part, "text", "") for part in system)
    user = ""
    for message in request.messages:  # demos come before: the last user message is the question
        text = "".join(getattr(part, "text", "") for part in message.parts)
        if message.role == "user":
            user = text
        elif message.role in ("system", "developer"):
            system += text
    return system, user


def _read_prompt(system: str, user: str) -> tuple[dict[str, Any], list[str], bool]:
    """Inputs by name (JSON decoded where it is JSON), output names, and whether JSON is wanted."""
    head, _, tail = system.partition("Your output fields are:")
    names = _FIELD.findall(head)
    outputs = _FIELD.findall(tail.partition("All interactions")[0])
    body = user.rsplit("\n\nRespond with", 1)[0]
    inputs: dict[str, Any] = {}
    starts = [(name, body.find(f"[[ ## {name} ## ]]\n")) for name in names]
    present = sorted((at, name) for name, at in starts if at >= 0)
    for n, (at, name) in enumerate(present):
        start = at + len(f"[[ ## {name} ## ]]\n")
        end = present[n + 1][0] if n + 1 < len(present) else len(body)
        inputs[name] = _decode(body[start:end].strip())
    return inputs, outputs, "Outputs will be a JSON object" in system


def _decode(value: str) -> Any:
    if value[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except json.JSONDecodeError:
            return value  # a text that only begins like JSON, such as "[id] …"
    return value


def _write(answer: Mapping[str, Any], outputs: list[str], as_json: bool) -> str:
    if as_json:
        return json.dumps({name: answer[name] for name in outputs}, ensure_ascii=False)
    blocks = []
    for name in outputs:
        value = answer[name]
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        if isinstance(value, bool):
            text = str(value)
        blocks.append(f"[[ ## {name} ## ]]\n{text}")
    return "\n\n".join([*blocks, "[[ ## completed ## ]]"])
