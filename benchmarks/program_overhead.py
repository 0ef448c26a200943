"""Overhead of the memory program per evaluated question, against a bare `dspy.Predict` call.

Both ask the same answerer signature of an engine that replies at once; the memory program also
searches 1,000 turns and builds the context. Prints medians of five interleaved rounds and ratios.
"""

import statistics
import time
from collections.abc import Callable
from functools import partial

import dspy
from dspy.lm15 import Message, Request, Response, Usage
from knob_trials import DESIGN, questions
from synthetic import HashEmbedder, synthetic_history

from memsteer.programs.memory import MemoryProgram
from memsteer.programs.retrieval import MemoryIndex
from memsteer.signatures.memory import AnswerQuestion

REPLY = "[[ ## answer ## ]]\nUnknown\n\n[[ ## cited ## ]]\n[]\n\n[[ ## completed ## ]]"


class InstantEngine:
    """Replies the same at once."""

    def complete(self, request: Request) -> Response:
        return Response(
            id=None,
            model=request.model,
            message=Message.assistant(REPLY),
            finish_reason="stop",
            usage=Usage(input_tokens=1, output_tokens=1),
        )

    def close(self) -> None:
        pass


def seconds(call: Callable[..., object], asked: list[str]) -> float:
    started = time.perf_counter()
    for question in asked:
        call(question=question)
    return (time.perf_counter() - started) / len(asked)


def main() -> None:
    program = MemoryProgram(MemoryIndex(synthetic_history(1000), embedder=HashEmbedder()), DESIGN)
    examples, queries = questions(program, 200)
    program.index.prepare(queries, DESIGN.retrieval)
    asked = [e.question for e in examples]
    bare = dspy.Predict(AnswerQuestion)
    memory = str(program.recall(queries[0])[1])
    lm = dspy.LM("memsteer/instant", engine=InstantEngine(), cache=False)
    rounds: list[tuple[float, float, float]] = []
    with dspy.context(lm=lm, adapter=dspy.ChatAdapter(), disable_history=True):
        for _ in range(6):
            plain = seconds(partial(bare, memory=memory, question_time="", note=""), asked)
            full = seconds(program, asked)
            rounds.append((plain, full, full / plain))
    plain, full, ratio = (statistics.median(r[i] for r in rounds[1:]) for i in range(3))
    print(
        f"bare Predict {1e3 * plain:.2f} ms; memory program {1e3 * full:.2f} ms; ratio {ratio:.2f}"
    )


if __name__ == "__main__":
    main()
