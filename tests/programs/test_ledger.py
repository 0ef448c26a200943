"""The paid-call ledger, through real DSPy: Predict over ChatAdapter on a counting engine."""

import asyncio
import copy
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import FileIO
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.lm15 import Message, RateLimitError, Request, Response, TextPart
from dspy.lm15 import Usage as Tokens

from memsteer.programs.ledger import Budget, BudgetExhausted, Ledger, LedgerError, Usage


class Counting:
    """Answers `answer N` on its Nth call, for 10 prompt and 3 completion tokens."""

    def __init__(self, fail_first: int = 0, tokens: Tokens | None = None, gate: Any = None) -> None:
        self.calls = 0
        self.fail_first = fail_first
        self.tokens = tokens or Tokens(input_tokens=10, output_tokens=3)
        self.gate = gate

    def complete(self, request: Request) -> Response:
        self.calls += 1
        number = self.calls
        if self.gate is not None:
            self.gate.wait(5)
        if number <= self.fail_first:
            raise RateLimitError("slow down")
        text = f"[[ ## answer ## ]]\nanswer {number}\n\n[[ ## completed ## ]]"
        message = Message.assistant([TextPart(text)])
        return Response(None, request.model, message, "stop", self.tokens, provider_data={"n": 1})

    def __deepcopy__(self, memo: dict[int, Any]) -> "Counting":
        return self

    def dump_state(self) -> dict[str, Any]:
        return {}

    @classmethod
    def load_state(cls, state: dict[str, Any]) -> "Counting":
        return cls()


def counting_lm(engine: Counting, model: str = "memsteer/counting", retries: int = 0) -> dspy.LM:
    return dspy.LM(model, engine=engine, num_retries=retries)


def program(lm: dspy.LM) -> dspy.Predict:
    predict = dspy.Predict("question -> answer")
    predict.set_lm(lm)
    return predict


def ask(lm: dspy.LM, *questions: str) -> list[str]:
    predict = program(lm)
    with dspy.context(adapter=dspy.ChatAdapter()):
        return [predict(question=question).answer for question in questions]


def test_replay_makes_no_call_and_reports_the_same_usage(tmp_path: Path) -> None:
    path = tmp_path / "run" / "calls.jsonl"
    engine = Counting()
    with Ledger(path) as ledger:
        lm = ledger.record(counting_lm(engine))
        assert ask(lm, "a", "b", "a") == ["answer 1", "answer 2", "answer 1"]
        first = ledger.usage
        assert ledger.fresh_calls == 2
    assert replace(first, seconds=0) == Usage(2, 20, 6, 0.0, 0, 0)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert [r["prompt_tokens"] for r in rows] == [10, 10]
    assert set(rows[0]) == {
        *("key", "model", "response", "prompt_tokens", "completion_tokens", "usd", "seconds")
    }
    with Ledger(path) as ledger:
        assert ledger.usage == Usage()  # nothing touched yet
        lm = ledger.record(counting_lm(engine))
        assert ask(lm, "a", "b") == ["answer 1", "answer 2"]
        assert (engine.calls, ledger.fresh_calls, ledger.usage) == (2, 0, first)


def test_a_replayed_response_equals_the_fresh_one(tmp_path: Path) -> None:
    request = Request(model="memsteer/counting", messages=(Message.user("hi"),))
    with Ledger(tmp_path / "l") as ledger:
        fresh = ledger.record(counting_lm(Counting()))(request)
    with Ledger(tmp_path / "l") as ledger:
        assert ledger.record(counting_lm(Counting()))(request) == fresh


def test_the_inner_cache_neither_hides_nor_doubles_calls() -> None:
    inner = counting_lm(Counting())
    assert inner.cache  # DSPy's default
    for _ in range(2):
        ledger = Ledger(None)
        with dspy.track_usage() as tracker:
            ask(ledger.record(inner), "cached?")
        assert ledger.fresh_calls == 1
        assert tracker.get_total_tokens()["memsteer/counting"]["prompt_tokens"] == 10
    assert inner.history == []


def test_a_truncated_last_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "l"
    with Ledger(path) as ledger:
        ask(ledger.record(counting_lm(Counting())), "a", "b")
    whole = path.read_bytes()
    first = whole.index(b"\n") + 1
    for torn in (whole[:-1], whole[: first + 3], whole[: first + 100]):
        path.write_bytes(torn)
        Ledger(path).close()
        assert path.read_bytes() == whole[:first]


@pytest.mark.parametrize("bad", [b"nonsense\n", b"{}\n", b"[]\n", b"\n", b"\xff\n", b"notes"])
def test_a_broken_line_is_refused_and_left_alone(tmp_path: Path, bad: bytes) -> None:
    path = tmp_path / "l"
    with Ledger(path) as ledger:
        ask(ledger.record(counting_lm(Counting())), "a")
    path.write_bytes(path.read_bytes() + bad)
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=rf"{path}, line 2: not a line of a ledger"):
        Ledger(path)
    assert path.read_bytes() == before


def test_a_second_run_on_the_same_file_is_refused(tmp_path: Path) -> None:
    with Ledger(tmp_path / "l"):
        with pytest.raises(LedgerError, match=f"another run is using {tmp_path / 'l'}"):
            Ledger(tmp_path / "l")
        code = "import sys, pathlib\nfrom memsteer.programs.ledger import Ledger, LedgerError\n"
        code += "try: Ledger(pathlib.Path(sys.argv[1]))\nexcept LedgerError as e: sys.exit(str(e))"
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "l")], capture_output=True, text=True
        )
        assert done.stderr.strip().endswith(f"another run is using {tmp_path / 'l'}")
    Ledger(tmp_path / "l").close()
    with pytest.raises(LedgerError, match="cannot open the ledger"):
        Ledger(tmp_path)


def test_two_threads_asking_the_same_share_one_call() -> None:
    gate = threading.Event()
    engine, ledger = Counting(gate=gate), Ledger(None)
    lm = ledger.record(counting_lm(engine))
    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(ask, lm, "same") for _ in range(8)]
        gate.set()
        assert {tuple(f.result()) for f in futures} == {("answer 1",)}
    assert engine.calls == 1
    assert ledger.usage.calls == 1


def test_a_failure_is_counted_raised_and_not_stored(tmp_path: Path) -> None:
    engine = Counting(fail_first=1)
    with Ledger(tmp_path / "l") as ledger:
        lm = ledger.record(counting_lm(engine))
        with pytest.raises(dspy.LMRateLimitError, match="slow down"):
            ask(lm, "a")
        assert engine.calls == 1  # the recorded LM retries nothing by itself
        assert (tmp_path / "l").read_bytes() == b""
        assert ask(lm, "a") == ["answer 2"]
        assert (ledger.usage.failures, ledger.usage.calls) == (1, 1)


@pytest.fixture
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dspy.clients.execution._delay", lambda error, attempt: 0)


@pytest.mark.usefixtures("no_waiting")
def test_the_retries_of_the_inner_lm_are_one_paid_call() -> None:
    ledger = Ledger(None)
    assert ask(ledger.record(counting_lm(Counting(2), retries=2)), "a") == ["answer 3"]
    assert (ledger.usage.failures, ledger.usage.calls) == (0, 1)


def test_the_budget_stops_and_a_larger_one_resumes(tmp_path: Path) -> None:
    engine = Counting()
    with Ledger(tmp_path / "l", Budget(calls=2)) as ledger:
        lm = ledger.record(counting_lm(engine))
        with pytest.raises(BudgetExhausted, match="the budget of 2 LM calls is spent"):
            ask(lm, "a", "b", "c")
        assert ask(lm, "a") == ["answer 1"]  # what was paid for is still there
        assert ledger.usage.failures == 0
    with Ledger(tmp_path / "l", Budget(calls=3)) as ledger:
        lm = ledger.record(counting_lm(engine))
        assert ask(lm, "c") == ["answer 3"]
        with pytest.raises(BudgetExhausted):
            ask(lm, "d")
    assert engine.calls == 3


@pytest.mark.parametrize("threads", [1, 4])
def test_a_budget_stop_passes_through_parallel_and_evaluate(threads: int) -> None:
    lm = Ledger(None, Budget(calls=2)).record(counting_lm(Counting()))
    predict = program(lm)
    examples = [dspy.Example(question=str(i)).with_inputs("question") for i in range(6)]
    with dspy.context(adapter=dspy.ChatAdapter()):
        with pytest.raises(BudgetExhausted):
            dspy.Parallel(num_threads=threads, disable_progress_bar=True)(
                [(predict, example) for example in examples]
            )
        evaluate = dspy.Evaluate(devset=examples, num_threads=threads, metric=lambda *_: 1.0)
        with pytest.raises(BudgetExhausted):
            evaluate(predict)


def test_parallel_threads_share_a_ledger(tmp_path: Path) -> None:
    engine = Counting()
    with Ledger(tmp_path / "l") as ledger, dspy.context(adapter=dspy.ChatAdapter()):
        predict = program(ledger.record(counting_lm(engine)))
        pairs = [(predict, {"question": str(i % 5)}) for i in range(20)]
        answers = dspy.Parallel(num_threads=8, disable_progress_bar=True)(pairs)
        assert len({a.answer for a in answers}) == 5
        assert (engine.calls, ledger.usage.calls) == (5, 5)
    assert len((tmp_path / "l").read_bytes().splitlines()) == 5


KILLED = """
import os, pathlib, signal, sys
sys.path.insert(0, sys.argv[1])
from test_ledger import Counting, Ledger, ask, counting_lm
class Killing(Counting):
    def complete(self, request):
        if self.calls == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().complete(request)
ask(Ledger(pathlib.Path(sys.argv[2])).record(counting_lm(Killing())), *"abcdefg")
"""


def test_a_killed_run_resumes_with_exactly_the_missing_calls(tmp_path: Path) -> None:
    path = tmp_path / "l"
    command = [sys.executable, "-c", KILLED, str(Path(__file__).parent), str(path)]
    assert subprocess.run(command, env=os.environ).returncode == -signal.SIGKILL
    engine = Counting()
    with Ledger(path) as ledger:
        answers = ask(ledger.record(counting_lm(engine)), *"abcdefg")
        assert answers == [f"answer {i}" for i in (1, 2, 3, 4, 1, 2, 3)]
        assert (engine.calls, ledger.fresh_calls) == (3, 3)
        assert replace(ledger.usage, seconds=0) == Usage(7, 70, 21, 0.0, 0, 0)


def test_a_deep_copy_stays_on_the_ledger() -> None:
    engine, ledger = Counting(), Ledger(None)
    predict = program(ledger.record(counting_lm(engine)))
    twin = copy.deepcopy(predict)
    with dspy.context(adapter=dspy.ChatAdapter()):
        assert predict(question="a").answer == twin(question="a").answer == "answer 1"
        assert copy.deepcopy(twin.lm).copy(temperature=0.5).engine is predict.lm.engine
    assert engine.calls == 1


def test_a_saved_program_loads_without_the_ledger(tmp_path: Path) -> None:
    ledger = Ledger(None)
    predict = program(ledger.record(counting_lm(Counting())))
    predict.save(tmp_path / "p.json")
    loaded = dspy.Predict("question -> answer")
    loaded.load(tmp_path / "p.json", allow_unsafe_lm_state=True)
    predict.save(tmp_path / "whole", save_program=True)
    whole = dspy.load(tmp_path / "whole", allow_pickle=True)
    for other in (loaded, whole):
        assert other.lm.model == "memsteer/counting"
        assert ask(other.lm, "a", "a") == ["answer 1", "answer 2"]
    assert ledger.fresh_calls == 0


def test_async_calls_share_the_answers_of_sync_ones() -> None:
    engine, ledger = Counting(), Ledger(None, Budget(calls=2))
    lm = ledger.record(counting_lm(engine))
    predict = program(lm)

    async def run() -> list[str]:
        calls = [predict.acall(question=question) for question in ("a", "b", "b", "a")]
        return [prediction.answer for prediction in await asyncio.gather(*calls)]

    with dspy.context(adapter=dspy.ChatAdapter()):
        assert ask(lm, "a") == ["answer 1"]
        assert asyncio.run(run()) == ["answer 1", "answer 2", "answer 2", "answer 1"]
        with pytest.raises(BudgetExhausted):
            asyncio.run(predict.acall(question="c"))
    assert engine.calls == 2


def test_samples_of_one_request_are_different_calls(tmp_path: Path) -> None:
    for calls in (6, 0):
        engine = Counting()
        with Ledger(tmp_path / "l") as ledger:
            lm = ledger.record(counting_lm(engine)).copy(temperature=1.0)
            samples = lm("hi", n=3)
            assert [s.split()[6] for s in samples] == ["1", "2", "3"]
            assert lm("hi") == samples[:1]
            assert lm.copy(rollout_id=1)("hi") != samples[:1]
            assert lm("hi", rollout_id=2) != lm("hi", rollout_id=1)
            assert lm("hi", temperature=0.5) != samples[:1]
            assert engine.calls == calls


def test_usage_between_two_moments() -> None:
    early, late = Usage(1, 10, 3, 0.5, 2.0, 1), Usage(3, 30, 9, 2.0, 5.0, 1)
    assert late - early == Usage(2, 20, 6, 1.5, 3.0, 0)
    assert (replace(late, usd=None) - early).usd is None


def test_unknown_prices_stay_unknown_and_cannot_be_budgeted() -> None:
    ledger = Ledger(None, Budget(usd=1.0))
    lm = ledger.record(counting_lm(Counting(tokens=Tokens()), model="mine/counting"))
    ask(lm, "a")
    assert replace(ledger.usage, seconds=0) == Usage(1, 0, 0, None, 0, 0)
    with pytest.raises(BudgetExhausted, match=r"price of mine/counting is not known.*in calls"):
        ask(lm, "b")
    with pytest.raises(ValueError, match="negative"):
        Budget(calls=-1)


class FullDisk(FileIO):
    def write(self, data: Any) -> int:
        raise OSError(28, "No space left on device")


def test_nothing_is_paid_for_that_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memsteer.programs.ledger.FileIO", FullDisk)
    engine = Counting()
    with Ledger(tmp_path / "l") as ledger:
        for question in "ab":
            with pytest.raises(dspy.LMError, match=r"cannot write the ledger .*No space left"):
                ask(ledger.record(counting_lm(engine)), question)
    assert engine.calls == 1
    ledger = Ledger(None)
    ledger.close()
    with pytest.raises(dspy.LMError, match="in memory is closed"):
        ask(ledger.record(counting_lm(engine)), "a")
    assert engine.calls == 1


def test_dspys_own_dummy_and_best_of_n() -> None:
    ledger = Ledger(None)
    lm = ledger.record(dspy.utils.DummyLM([{"answer": str(i)} for i in range(3)]))
    best = dspy.BestOfN(
        program(lm), N=3, reward_fn=lambda args, guess: float(guess.answer), threshold=9.0
    )
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter()):
        assert best(question="q").answer == "2"
    assert ledger.usage.calls == 3
    assert ledger.usage.usd is None


class OpenAI(BaseHTTPRequestHandler):
    """Answers every chat completion for 1000 prompt and 100 completion tokens."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        message = {"role": "assistant", "content": "[[ ## answer ## ]]\nyes"}
        body = {
            "id": "x",
            "object": "chat.completion",
            "model": "gpt-4o-mini",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
        }
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "true")  # DSPy's bundled prices
    server = ThreadingHTTPServer(("127.0.0.1", 0), OpenAI)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_a_hosted_model_has_a_price_and_a_budget_in_usd(endpoint: str, tmp_path: Path) -> None:
    # gpt-4o-mini: 0.15 USD a million tokens in, 0.60 out: 0.00015 + 0.00006 a call.
    inner = dspy.LM("openai/gpt-4o-mini", api_base=endpoint, api_key="secret", max_tokens=50)
    with Ledger(tmp_path / "l", Budget(usd=0.0004)) as ledger:
        lm = ledger.record(inner)
        assert lm.kwargs["max_tokens"] == 50
        assert lm.supports_response_schema  # as the inner LM
        assert ask(lm, "a", "b") == ["yes", "yes"]
        assert ledger.usage.usd == pytest.approx(0.00042)
        with pytest.raises(BudgetExhausted, match=r"0.0004 USD is spent \(0.0004 USD\)"):
            ask(lm, "c")
    inner.close()
    assert "secret" not in (tmp_path / "l").read_text()
