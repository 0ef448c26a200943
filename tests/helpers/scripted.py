"""An engine for `dspy.LM(...)` that answers by a script, through the ordinary adapters."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import dspy
from dspy.lm15 import Message, Request, Response, Usage

# What a script gets: the names of the fields asked for, and the inputs by name as text.
Script = Callable[[frozenset[str], Mapping[str, str]], Mapping[str, Any] | str]

_FIELD = re.compile(r"^\d+\. `(\w+)`", re.MULTILINE)
_BLOCK = re.compile(r"\[\[ ## (\w+) ## \]\]\n(.*?)(?=\n\n\[\[ ## |\n\nRespond with|\Z)", re.DOTALL)


class ScriptedEngine:
    """Answers each prompt with `script(fields, inputs)`: values by field, or the raw text.

    `asked` lists the fields of every call. Each call counts 10 prompt and 2 completion tokens.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[frozenset[str]] = []
        self.prompts: list[Mapping[str, str]] = []

    def complete(self, request: Request) -> Response:
        system = request.system if isinstance(request.system, str) else ""
        user = ""
        for message in request.messages:
            text = "".join(getattr(part, "text", "") for part in message.parts)
            if message.role == "user":
                user = text
            else:
                system += text
        outputs = _FIELD.findall(
            system.partition("Your output fields are:")[2].partition("All interactions")[0]
        )
        inputs = {name: value.strip() for name, value in _BLOCK.findall(user)}
        self.asked.append(frozenset(outputs))
        self.prompts.append(inputs)
        said = self.script(frozenset(outputs), inputs)
        as_json = "Outputs will be a JSON object" in system
        text = said if isinstance(said, str) else _write(said, outputs, as_json)
        usage = Usage(input_tokens=10, output_tokens=2)
        return Response(None, request.model, Message.assistant(text), "stop", usage)

    def stream(self, request: Request) -> Iterator[Any]:
        yield from dspy.lm15.response_to_events(self.complete(request))

    def close(self) -> None:
        """Nothing is held open."""

    def __deepcopy__(self, memo: dict[int, Any]) -> "ScriptedEngine":
        return self


def _write(said: Mapping[str, Any], outputs: list[str], as_json: bool) -> str:
    values = {name: said.get(name, "") for name in outputs}
    if as_json:
        return json.dumps(values)
    blocks = [
        f"[[ ## {name} ## ]]\n{value if isinstance(value, str) else json.dumps(value)}"
        for name, value in values.items()
    ]
    return "\n\n".join([*blocks, "[[ ## completed ## ]]"])


def scripted_lm(script: Script) -> tuple[dspy.LM, ScriptedEngine]:
    """An LM that answers by `script`, without any cache, and its engine."""
    engine = ScriptedEngine(script)
    return dspy.LM("memsteer/scripted", engine=engine, cache=False, num_retries=0), engine
