"""Do generated questions rank memory designs as real questions do?

Scores a fixed grid of retrieval designs by evidence recall@10, once on generated supervision and
once on a benchmark's own questions, and prints Spearman's rank correlation, the gain over
Base-BM25 that choosing by generated questions brings, and the gain of choosing by the real ones.

    python benchmarks/question_fidelity.py sample
    python benchmarks/question_fidelity.py DATA_DIR "PERSONA" …
"""

import itertools
import sys
from collections.abc import Sequence
from pathlib import Path

import dspy
import numpy as np

from memsteer.eval.questions import Benchmark, load_questions
from memsteer.eval.rhelm import load_rhelm
from memsteer.programs.design import BASE_BM25, MemoryDesign
from memsteer.programs.offline import offline_lm
from memsteer.programs.records import History
from memsteer.programs.retrieval import MemoryIndex, Query
from memsteer.programs.supervision import SupervisionBuilder

Asked = tuple[Query, tuple[str, ...]]  # a question and the ids of its evidence


def design_grid() -> list[MemoryDesign]:
    """Base-BM25 first, then combinations of five channels and single further changes."""
    grid = [
        {
            "retrieval.dense_weight": dense,
            "retrieval.date_weight": dates,
            "retrieval.neighbour_weight": near,
            "retrieval.group_weight": group,
            "retrieval.title_weight": title,
        }
        for dense, dates, near, group, title in itertools.product(
            (0.0, 0.4, 1.0), (0.0, 0.3), (0.0, 0.3), (0.0, 0.3), (0.0, 0.3)
        )
    ]
    grid += [
        {"store.stem": True},
        {"store.unit": "window"},
        {"store.unit": "section"},
        {"store.enrich": "heading"},
        {"store.enrich": "previous"},
        {"retrieval.own_words_weight": 0.5},
        {"retrieval.recency_weight": 0.2},
        {"retrieval.dense_weight": 0.5, "retrieval.fusion": "rrf"},
    ]
    return [BASE_BM25.changed(changes) for changes in grid]


def recall_at_10(index: MemoryIndex, design: MemoryDesign, asked: Sequence[Asked]) -> float:
    total = 0.0
    index.prepare([query for query, _ in asked], design.retrieval)
    for query, evidence in asked:
        found = set(index.rank(design.store, design.retrieval, query, limit=10))
        total += sum(e in found for e in evidence) / len(evidence)
    return total / len(asked)


def spearman(a: Sequence[float], b: Sequence[float]) -> float:
    """Rank correlation; ties get their mean rank."""
    ranks = [
        np.array([sum(y < x for y in v) + sum(y == x for y in v) / 2 for x in v]) for v in (a, b)
    ]
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def compare(benchmark: Benchmark, questions: int) -> tuple[list[float], list[float]]:
    """Recall of every design on generated and on real questions."""
    history = benchmark.history
    index = MemoryIndex(history)
    with dspy.context(
        lm=offline_lm(), adapter=dspy.ChatAdapter(), disable_history=True, num_threads=1
    ):
        made = SupervisionBuilder(questions=questions)(history=history)
    generated = [(Query(i.question), i.evidence_records) for i in made.items]
    real = [
        (Query(q.question, q.time), tuple(e for e in q.evidence if e in history.by_id))
        for q in benchmark.scored
    ]
    designs = design_grid()
    return (
        [recall_at_10(index, d, generated) for d in designs],
        [recall_at_10(index, d, real) for d in designs],
    )


def report(name: str, generated: Sequence[float], real: Sequence[float]) -> None:
    chosen = real[int(np.argmax(generated))]
    print(
        f"{name}: base generated {generated[0]:.3f} real {real[0]:.3f}; "
        f"Spearman {spearman(generated, real):.2f}; gain chosen by generated "
        f"{100 * (chosen - real[0]):+.1f}, by real {100 * (max(real) - real[0]):+.1f}"
    )


def main(arguments: Sequence[str]) -> None:
    if list(arguments) == ["sample"]:
        folder = Path(__file__).parent.parent / "eval" / "sample"
        history = History.from_jsonl(folder / "history.jsonl")
        benchmarks = [
            Benchmark("sample", history, load_questions(folder / "questions.jsonl", history))
        ]
    else:
        benchmarks = [load_rhelm(Path(arguments[0]), name) for name in arguments[1:]]
    pooled: list[tuple[list[float], list[float]]] = []
    for benchmark in benchmarks:
        generated, real = compare(benchmark, questions=200)
        report(benchmark.name, generated, real)
        pooled.append((generated, real))
    if len(pooled) > 1:
        mean = [list(np.mean([p[side] for p in pooled], axis=0)) for side in (0, 1)]
        report("mean of all", mean[0], mean[1])


if __name__ == "__main__":
    main(sys.argv[1:])
