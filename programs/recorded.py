"""A recorded LM: one whose calls somebody else answers, and the price of a call to the LM inside.

`recorded(inner, answer)` looks to DSPy like `inner` (name, settings, abilities), but asks `answer`
for each response; the ledger is that answerer. `ask` calls an LM and tells what it cost.
"""

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import count
from typing import Any, Self, TypeAlias

import dspy
from dspy._vendor.lm15.serde import request_to_dict
from dspy.clients.backend_selection import CLIENT_KEYS
from dspy.utils.callback import BaseCallback

Answerer: TypeAlias = Callable[[dspy.LM, dspy.lm15.Request], dspy.lm15.Response]

# The sample the running LM call asks for: its `rollout_id` and the numbers of its candidates.
_sample: ContextVar[tuple[object, Iterator[int]] | None] = ContextVar("sample", default=None)


@dataclass(frozen=True)
class Call:
    """One answered call: the response, what it took, and its price (None: not known)."""

    model: str
    response: dspy.lm15.Response
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    seconds: float


def recorded(inner: dspy.LM, answer: Answerer) -> dspy.LM:
    """An LM of the same name and settings whose responses come from `answer(inner, request)`."""
    lm = dspy.LM(
        inner.model,
        inner.model_type,
        engine=RecordedEngine(inner, answer),
        async_engine=AsyncRecordedEngine(inner, answer),
        callbacks=[_SampleCallback()],
        cache=False,
        num_retries=0,  # the inner LM has its own
        use_developer_role=getattr(inner, "use_developer_role", False),
    )
    # The settings go into each request; key and address stay with the inner LM.
    lm.kwargs = {name: value for name, value in inner.kwargs.items() if name not in CLIENT_KEYS}
    return lm


def ask(inner: dspy.LM, request: dspy.lm15.Request) -> Call:
    """Call `inner`, past DSPy's cache; raises what it raises."""
    # The recorded LM is the one that callbacks, history, usage tracker and stream see; the inner
    # call would show them everything twice. Its own history entry is where DSPy tells the price.
    entries: list[dict[str, Any]] = []
    meter = inner.copy(cache=False, update_history=entries.append)
    started = time.perf_counter()
    with dspy.context(usage_tracker=None, disable_history=False, send_stream=None, callbacks=[]):
        response = meter(request)
    seconds = time.perf_counter() - started
    usage, usd = entries[-1]["usage"], entries[-1]["cost"]
    return Call(
        model=inner.model,
        response=response,
        prompt_tokens=usage.get("prompt_tokens") or 0,
        completion_tokens=usage.get("completion_tokens") or 0,
        usd=0.0 if is_free(inner.model) else usd,
        seconds=seconds,
    )


def is_free(model: str) -> bool:
    return model.startswith("memsteer/")  # the offline engines run here


def request_key(request: dspy.lm15.Request) -> str:
    """The hash of a request and of the sample that the running LM call asks for."""
    rollout, candidates = _sample.get() or (None, count())
    asked = [request_to_dict(request), rollout, next(candidates)]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _ask_alone(inner: dspy.LM, request: dspy.lm15.Request) -> dspy.lm15.Response:
    return ask(inner, request).response


class _Engine:
    """What the two engines of a recorded LM share.

    A copy stays with its answerer (the ledger). Saved state is the inner LM's alone: loaded
    again, the inner LM is asked for every answer.
    """

    def __init__(self, inner: dspy.LM, answer: Answerer | None = None) -> None:
        self._inner = inner
        self._answer = answer or _ask_alone

    # What adapters ask an engine before they choose a format.
    supports_function_calling = property(lambda self: self._inner.supports_function_calling)
    supports_reasoning = property(lambda self: self._inner.supports_reasoning)
    supports_response_schema = property(lambda self: self._inner.supports_response_schema)
    supported_params = property(lambda self: self._inner.supported_params)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self).load_state, (self.dump_state(),)

    def dump_state(self) -> dict[str, Any]:
        return {"inner": self._inner.dump_state()}

    @classmethod
    def load_state(cls, state: dict[str, Any]) -> Self:
        inner = dspy.BaseLM.load_state(state["inner"], allow_custom_lm_class=True)
        return cls(inner)


class RecordedEngine(_Engine):
    """The engine of a recorded LM."""

    def complete(self, request: dspy.lm15.Request) -> dspy.lm15.Response:
        return self._answer(self._inner, request)

    def stream(self, request: dspy.lm15.Request) -> Iterator[Any]:
        yield from dspy.lm15.response_to_events(self.complete(request))

    def close(self) -> None:
        """The ledger and the inner LM belong to the caller."""


class AsyncRecordedEngine(_Engine):
    """The same for `acall`; a thread does the waiting, so that sync and async share a call."""

    async def complete(self, request: dspy.lm15.Request) -> dspy.lm15.Response:
        return await asyncio.to_thread(self._answer, self._inner, request)

    async def stream(self, request: dspy.lm15.Request) -> AsyncIterator[Any]:
        for event in dspy.lm15.response_to_events(await self.complete(request)):
            yield event

    async def aclose(self) -> None:
        """The ledger and the inner LM belong to the caller."""


class _SampleCallback(BaseCallback):
    """Tells the engine which sample is asked for: DSPy keeps `rollout_id` and `n` from it.

    Without it BestOfN, or `n=5`, would be given one answer again and again.
    """

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        options = {**instance.kwargs, **inputs.get("kwargs", {})}
        _sample.set((options.get("rollout_id"), count()))

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        _sample.set(None)
