"""100 knob settings x 100 questions on 1,000 turns, without LM calls; against one setting.

Prints the seconds of the first setting (which computes what all share), of the 100 settings, and
their ratio: close to 1 means that further settings cost next to nothing.
"""

import random
import time

import dspy
from synthetic import HashEmbedder, synthetic_history

from memsteer.optimizers.knobs import make_screen
from memsteer.programs.design import BASE_BM25, MemoryDesign, active_knobs
from memsteer.programs.memory import MemoryProgram
from memsteer.programs.retrieval import MemoryIndex, Query

DESIGN = BASE_BM25.changed(
    {
        "retrieval.dense_weight": 0.5,
        "retrieval.own_words_weight": 0.3,
        "retrieval.date_weight": 0.3,
        "retrieval.neighbour_weight": 0.2,
        "retrieval.group_weight": 0.2,
    }
)


def questions(program: MemoryProgram, number: int) -> tuple[list[dspy.Example], list[Query]]:
    rng = random.Random(0)
    examples, queries = [], []
    for record in rng.sample(program.index.history.records, number):
        text = " ".join(rng.sample(record.text.split(), 9))
        examples.append(dspy.Example(question=text, answer="", evidence=[record.id]))
        queries.append(Query(text))
    return examples, queries


def random_design(rng: random.Random) -> MemoryDesign:
    values = {
        k.path: rng.randint(int(k.low), int(k.high)) if k.integer else rng.uniform(k.low, k.high)
        for k in active_knobs(DESIGN)
    }
    return DESIGN.changed(values)


def main() -> None:
    program = MemoryProgram(MemoryIndex(synthetic_history(1000), embedder=HashEmbedder()))
    screen = make_screen(program, *questions(program, 100))
    started = time.perf_counter()
    screen(DESIGN)
    first = time.perf_counter() - started
    rng = random.Random(1)
    started = time.perf_counter()
    for _ in range(100):
        screen(random_design(rng))
    rest = time.perf_counter() - started
    print(f"first setting {first:.2f} s; 100 settings x 100 questions {rest:.2f} s")
    print(f"ratio of 100 further settings to the first: {rest / first:.1f}")
    print(f"a question under a further setting: {1e6 * rest / 1e4:.0f} microseconds")


if __name__ == "__main__":
    main()
