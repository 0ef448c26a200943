"""A model behind an OpenAI-compatible server is any model: no path knows the offline engine."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from dspy.lm15 import Message, Request
from fakes import read_rows, write_tiny

from memsteer.eval.cli import main
from memsteer.programs.offline.engine import ExtractiveEngine


class Handler(BaseHTTPRequestHandler):
    """Chat completions, answered by the offline engine's rules."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        system = "\n".join(m["content"] for m in body["messages"] if m["role"] != "user")
        user = [_text(m["content"]) for m in body["messages"] if m["role"] == "user"]
        request = Request(
            model=body["model"], system=system, messages=tuple(map(Message.user, user))
        )
        response = ExtractiveEngine().complete(request)
        text = "".join(getattr(part, "text", "") for part in response.message.parts)
        usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
        message = {"role": "assistant", "content": text}
        answer = {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": usage,
        }
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Keep stderr for the command."""


def _text(content: str | list[dict[str, str]]) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.usefixtures("fake_embedder")
def test_the_same_run_through_an_endpoint(
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    source = write_tiny(tmp_path)
    small = ["--questions-wanted", "4", "--rounds", "1", "--trials", "2", "--json"]

    def call(out: str, *model: str) -> dict[str, object]:
        assert main(["run", *source, "--out", str(tmp_path / out), *model, *small]) == 0
        found: dict[str, object] = json.loads(capsys.readouterr().out)
        return found

    remote = call("remote", "--lm", "openai/any-name", "--api-base", address)
    local = call("local", "--lm", "extractive")
    assert read_rows(tmp_path / "remote/supervision.jsonl") == read_rows(
        tmp_path / "local/supervision.jsonl"
    )
    for name in ("base", "optimized", "supervision", "design"):
        assert remote[name] == local[name]
    assert isinstance(remote["lm"], dict)
    assert remote["lm"]["prompt_tokens"] == 7 * remote["lm"]["calls"]
    assert remote["lm"]["usd"] is None  # nobody knows this model's price
    report = (tmp_path / "remote" / "report.html").read_text(encoding="utf-8")
    assert "openai/any-name" in report
    assert "extraction rules" not in report
