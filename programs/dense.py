"""Dense indexes: a history's records and sentences as vectors, computed once for all designs.

Whatever unit a store design matches by words, meaning is matched by record and by sentence: a
change of unit then costs no new embeddings, which are by far the dearest part of a run.
"""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from memsteer.programs.embedding import Embedder
from memsteer.programs.records import History
from memsteer.programs.stores import Scores, best_by_record
from memsteer.programs.text import sentences

DenseField = Literal["dense", "own_dense", "sentence"]


class DenseIndex:
    """The vectors of one history, each field embedded at first use."""

    def __init__(self, history: History, embedder: Embedder) -> None:
        self.history = history
        self._embedder = embedder
        self._fields: dict[str, tuple[NDArray[np.float32], NDArray[np.intp]]] = {}

    def scores(self, field: DenseField, query: NDArray[np.float32]) -> Scores:
        """(n_records,) cosines with the vector `query`; of sentences, the best of a record."""
        if field not in self._fields:
            owners, texts = self._texts(field)
            self._fields[field] = self._embedder.encode(texts), np.array(owners, dtype=np.intp)
        vectors, records = self._fields[field]
        return best_by_record(vectors @ query, records, len(self.history))

    def _texts(self, field: DenseField) -> tuple[list[int], list[str]]:
        """The record number and the text of each vector.

        dense: title and whole text. own_dense: what the person said. sentence: that, sentence by
        sentence.
        """
        if field == "dense":
            texts = [f"{r.title}\n{r.text}" if r.title else r.text for r in self.history]
        elif field == "own_dense":
            texts = [r.own_words or r.text for r in self.history]
        else:
            pairs = [
                (number, sentence)
                for number, record in enumerate(self.history)
                for sentence in sentences(record.own_words) or [record.text]
            ]
            return [number for number, _ in pairs], [sentence for _, sentence in pairs]
        return list(range(len(texts))), texts
