"""A task for the optimizer: questions in other words than the records, read by a script.

Base-BM25 shows the first five records only; the evidence stands further back, and embeddings
find it.
"""

from collections.abc import Mapping
from typing import Any

import dspy
from small import PETS, history, note

from memsteer.programs.design import BASE_BM25, MemoryDesign
from memsteer.programs.memory import MemoryProgram
from memsteer.programs.retrieval import MemoryIndex

EVIDENCE = {"r7": "Mia, a cat, slept.", "r8": "Bruno, a dog, barked.", "r9": "Aurora: that boat."}
HISTORY = history(
    *(note(f"r{n}", EVIDENCE.get(f"r{n}", f"Filler number{n}."), n + 1) for n in range(10))
)
ANSWERS = {"kitten": ("r7", "Mia"), "puppy": ("r8", "Bruno"), "boat": ("r9", "Aurora")}
BASE = BASE_BM25.changed({"retrieval.k": 5})
DENSE = {"retrieval.dense_weight": "1.0"}


def program(design: MemoryDesign = BASE, **options: Any) -> MemoryProgram:
    return MemoryProgram(MemoryIndex(HISTORY, embedder=PETS, **options), design=design)


def example(question: str, thing: str, **more: Any) -> dspy.Example:
    source, answer = ANSWERS[thing]
    values = {
        "id": question,
        "question": question,
        "answer": answer,
        "answer_type": "span",
        "evidence": [(source, 0, len(EVIDENCE[source]))],
    }
    return dspy.Example(**values | more).with_inputs("question")


TRAIN = [example("Name of our kitten?", "kitten"), example("Name of our puppy?", "puppy")]
VAL = [example("Who was that kitten?", "kitten"), example("Who was that puppy?", "puppy")]


def read(inputs: Mapping[str, str]) -> dict[str, Any]:
    """The right answer where its record is shown, else "Unknown"."""
    for thing, (source, answer) in ANSWERS.items():
        if thing in inputs["question"] and f"[{source}]" in inputs["memory"]:
            return {"answer": answer, "cited": [source]}
    return {"answer": "Unknown", "cited": []}


def proposal(changes: Mapping[str, str], rationale: str = "why") -> dict[str, Any]:
    listed = [{"path": p, "value": v} for p, v in changes.items()]
    return {"rationale": rationale, "changes": listed}
