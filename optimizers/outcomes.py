"""Running a memory program over examples: one outcome a question, nothing averaged away.

Wrong, abstained and failed are three things. A failed question (the model's side gave no usable
answer) is left out of every mean, and counted.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import dspy

from memsteer.programs.answers import Verdict, compare
from memsteer.programs.context import Context
from memsteer.programs.memory import MemoryProgram
from memsteer.programs.parallel import Failure, run_parallel
from memsteer.programs.records import History, Record, Span
from memsteer.programs.retrieval import Query

Metric = Callable[[dspy.Example, dspy.Prediction], Verdict]


@dataclass(frozen=True)
class Outcome:
    """What became of one question. `coverage` is the share of its evidence in the context."""

    id: str
    question: str
    expected: str
    answer: str
    verdict: Literal["correct", "wrong", "abstained", "failed"]
    reason: str
    evidence: tuple[str, ...]
    retrieved: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    coverage: float = 0.0
    context_tokens: int = 0
    official: bool = False


def typed_metric(example: dspy.Example, prediction: dspy.Prediction) -> Verdict:
    """The typed comparison of answers: free, strict."""
    return compare(prediction.answer, example.answer, example.get("answer_type"))


def evidence_metric(history: History) -> Metric:
    """A metric of a reader without faults: right where the context shows all of the evidence.

    It tells designs apart where the answering model is too weak to: whatever it answers counts as
    right or wrong by what it was shown. Never a figure to report as accuracy.
    """

    def judge(example: dspy.Example, prediction: dspy.Prediction) -> Verdict:
        share = prediction.context.coverage(evidence_of(example, history))
        return Verdict("correct" if share >= 0.999 else "wrong", f"{share:.0%} of it shown")

    return judge


def evidence_of(example: dspy.Example, history: History) -> tuple[Span | Record, ...]:
    """The example's evidence as spans, or as whole records where it names only ids."""
    found: list[Span | Record] = []
    for entry in example.get("evidence") or ():
        if isinstance(entry, str):
            found.append(history[entry])
        else:
            found.append(Span(*entry))
    return tuple(found)


def evidence_ids(example: dspy.Example) -> tuple[str, ...]:
    """Ids of the example's evidence records, each once, in order."""
    entries = example.get("evidence") or ()
    return tuple(dict.fromkeys(e if isinstance(e, str) else e[0] for e in entries))


def context_coverage(context: Context, example: dspy.Example, program: MemoryProgram) -> float:
    """The share of the example's evidence that `context` shows.

    A context of written memories is measured by the source records that a memory names.
    """
    if program.design.store.write == "raw":
        return context.coverage(evidence_of(example, program.index.history))
    wanted = evidence_ids(example)
    known = {source for e in context.excerpts for source in sources_of(e.record)}
    return sum(i in known for i in wanted) / len(wanted) if wanted else 1.0


def sources_of(record: Record) -> tuple[str, ...]:
    """Ids of the source records behind a record: itself, or what a written memory names."""
    sources = record.metadata.get("sources", "")
    return tuple(sources.split()) if sources else (record.id,)


def source_ranking(retrieved: Iterable[str], history: History) -> tuple[str, ...]:
    """Retrieved ids as source record ids in order, each once."""
    return tuple(dict.fromkeys(s for i in retrieved for s in sources_of(history[i])))


def evaluate(
    program: MemoryProgram,
    examples: Sequence[dspy.Example],
    *,
    queries: Sequence[Query] | None = None,
    metric: Metric = typed_metric,
    num_threads: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    wave: int = 64,
) -> list[Outcome]:
    """Answer every example and judge it: one outcome an example, in order.

    `queries` are searches prepared earlier, parallel to `examples`.
    """

    def run(example: dspy.Example, query: Query | None) -> Outcome:
        prediction = program(
            question=example.question, question_time=example.get("question_time", ""), query=query
        )
        return _judged(example, prediction, metric(example, prediction), program)

    outcomes: list[Outcome] = []
    for start in range(0, len(examples), wave):
        part = examples[start : start + wave]
        searches = (
            queries[start : start + wave] if queries else _searches(program, part, num_threads)
        )
        results = run_parallel(run, list(zip(part, searches, strict=True)), num_threads)
        for example, result in zip(part, results, strict=True):
            outcomes.append(_failed(example, result) if isinstance(result, Failure) else result)
        if progress:
            progress(len(outcomes), len(examples))
    return outcomes


def _searches(
    program: MemoryProgram, examples: Sequence[dspy.Example], num_threads: int | None
) -> list[Query | None]:
    """The examples' searches, embedded together; None where the LM gave none: `run` asks again."""

    def make(example: dspy.Example) -> Query:
        return program.make_query(example.question, example.get("question_time", ""))

    made = run_parallel(make, [(e,) for e in examples], num_threads)
    searches = [None if isinstance(m, Failure) else m for m in made]
    program.index.prepare([s for s in searches if s], program.design.retrieval)
    return searches


def _head(example: dspy.Example) -> dict[str, Any]:
    return {
        "id": str(example.get("id", "")),
        "question": example.question,
        "expected": example.answer,
        "evidence": evidence_ids(example),
        "official": bool(example.get("official", False)),
    }


def _judged(
    example: dspy.Example, prediction: dspy.Prediction, verdict: Verdict, program: MemoryProgram
) -> Outcome:
    corpus = program.index.corpus(program.design.store)
    return Outcome(
        **_head(example),
        answer=prediction.answer,
        verdict=verdict.outcome,
        reason=verdict.reason,
        retrieved=source_ranking(prediction.retrieved, corpus),
        shown=prediction.context.record_ids,
        coverage=context_coverage(prediction.context, example, program),
        context_tokens=prediction.context.tokens,
    )


def _failed(example: dspy.Example, failure: Failure) -> Outcome:
    return Outcome(
        **_head(example),
        answer="",
        verdict="failed",
        reason=f"{failure.reason}: {failure.detail}",
    )


def accuracy(outcomes: Iterable[Outcome]) -> float | None:
    """correct / (all but failed); None where every question failed."""
    judged = [o for o in outcomes if o.verdict != "failed"]
    return sum(o.verdict == "correct" for o in judged) / len(judged) if judged else None


def gain(new: Sequence[Outcome], old: Sequence[Outcome]) -> float | None:
    """How much higher `new` scores than `old` on the questions that failed in neither.

    Both answer the same examples in the same order; None where no question is left to compare.
    """
    pairs = [
        (n.verdict == "correct", o.verdict == "correct")
        for n, o in zip(new, old, strict=True)
        if "failed" not in (n.verdict, o.verdict)
    ]
    return sum(n - o for n, o in pairs) / len(pairs) if pairs else None
