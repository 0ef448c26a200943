"""Small histories and an embedder whose numbers can be worked out by hand."""

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from memsteer.programs.records import History, Record
from memsteer.programs.text import content_words


class ConceptEmbedder:
    """A text is the unit vector of its concepts' counts; words outside `concepts` count nothing."""

    def __init__(self, concepts: Mapping[str, int], name: str = "concepts") -> None:
        self.name = name
        self.concepts = concepts
        self.dimensions = max(concepts.values(), default=0) + 1
        self.calls: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.calls.append(list(texts))
        out = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in content_words(text):
                if word in self.concepts:
                    out[row, self.concepts[word]] += 1
        norms = np.linalg.norm(out, axis=1, keepdims=True)
        return np.asarray(out / np.maximum(norms, 1e-9), dtype=np.float32)


PETS = ConceptEmbedder({"dog": 0, "puppy": 0, "hound": 0, "cat": 1, "kitten": 1, "boat": 2})


def note(identity: str, text: str, day: int | None = None, **more: object) -> Record:
    """A record; `day` counts from 2024-05-01."""
    time = None if day is None else datetime(2024, 5, day)
    return Record(id=identity, text=text, time=time, **more)  # type: ignore[arg-type]


def history(*records: Record) -> History:
    return History(tuple(records))
