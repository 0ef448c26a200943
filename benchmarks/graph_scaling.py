"""How the record graph and its bundles scale: times at 1,000, 2,000 and 4,000 records.

Run `python benchmarks/graph_scaling.py`. The records are synthetic and seeded: words are drawn
from a Zipf distribution, as in natural text, and some from a topic that a few groups share; half
of the groups are conversations, half documents. Each time is the median of five runs of CPU time,
with the sizes taken in turn, so that a busy machine slows all of them alike. A growth of 2 for a
doubling is linear.
"""

import gc
import random
import statistics
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from itertools import accumulate, pairwise

import networkx as nx

from memsteer.programs.bundles import Bundle, grow_bundles
from memsteer.programs.graph import build_graph, graph_report
from memsteer.programs.records import History, Record

SIZES = (1_000, 2_000, 4_000)
RUNS = 5
VOCABULARY = 50_000
WORDS_PER_RECORD = 30
TOPIC_WORDS = 30  # a topic has so many, and a record draws as many with replacement
GROUP_SIZE = 10
RECORDS_PER_TOPIC = 40


def synthetic_history(size: int, seed: int = 0) -> History:
    """`size` records of Zipf-distributed words, ten to a group, a group an hour."""
    rng = random.Random(seed)
    names = [f"w{rank}" for rank in range(1, VOCABULARY + 1)]
    cumulative = list(accumulate(1 / rank for rank in range(1, VOCABULARY + 1)))
    start = datetime(2024, 1, 1)
    records = []
    for n in range(size):
        group = n // GROUP_SIZE
        topic = group % max(1, size // RECORDS_PER_TOPIC)
        drawn = rng.choices(names, cum_weights=cumulative, k=WORDS_PER_RECORD)
        drawn += [f"t{topic}x{rng.randrange(TOPIC_WORDS)}" for _ in range(TOPIC_WORDS)]
        record = Record(
            id=f"r{n}",
            text=" ".join(drawn),
            kind="document" if group % 2 else "conversation",
            time=start + timedelta(hours=group),
            group=f"g{group}",
            position=n % GROUP_SIZE,
            references=(f"r{rng.randrange(n)}",) if n and n % GROUP_SIZE == 0 else (),
        )
        records.append(record)
    return History(tuple(records))


def seconds(work: Callable[[], object]) -> float:
    """The CPU time of one call, in seconds, without garbage collection (as `timeit` does it)."""
    gc.collect()
    gc.disable()
    try:
        begin = time.process_time()
        work()
        return time.process_time() - begin
    finally:
        gc.enable()


def bundles(history: History, graph: nx.Graph) -> list[Bundle]:
    """One bundle for every two records."""
    return list(grow_bundles(history, graph, count=len(history) // 2, seed=0))


def main() -> None:
    """Measure every size, then print the growth from each to the next."""
    histories = [synthetic_history(size) for size in SIZES]
    graphs = [build_graph(history) for history in histories]
    for history, graph in zip(histories, graphs, strict=True):
        print(graph_report(graph, history))
    tasks: dict[str, Callable[[int], object]] = {
        "graph": lambda i: build_graph(histories[i]),
        "bundles": lambda i: bundles(histories[i], graphs[i]),
    }
    for name, task in tasks.items():
        runs = [[seconds(partial(task, i)) for i in range(len(SIZES))] for _ in range(RUNS)]
        times = [statistics.median(column) for column in zip(*runs, strict=True)]
        listed = ", ".join(f"{size}: {t:.3f} s" for size, t in zip(SIZES, times, strict=True))
        ratios = ", ".join(f"{later / earlier:.2f}" for earlier, later in pairwise(times))
        print(f"{name}: {listed}; growth for a doubling: {ratios}")


if __name__ == "__main__":
    main()
