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
_MOST_SENTENCES = 6  # of a record: what a long document is about is said early


class DenseIndex:
    """The vectors of one history, each field embedded at first use."""

    def __init__(self, history: History, embedder: Embedder) -> None:
        self.history = history
        self._embedder = embedder
        self._fields: dict[str, tuple[NDArray[np.float32], NDArray[np.intp]]] = {}

    def scores(self, field: DenseField, query: NDArray[np.float32]) -> Scores:
        """(n_records,) cosines with the vector `query`; of sentences, the best of a record."""
        vectors, records = self._field(field)
        return best_by_record(vectors @ query, records, len(self.history))

    def _field(self, field: DenseField) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
        """The vectors of a field, and the record number of each.

        dense: title and whole text. own_dense: what the person said; of a record without
        speakers, the same as dense. sentence: what the person said, sentence by sentence.
        """
        if field not in self._fields:
            everyone = np.arange(len(self.history))
            if field == "dense":
                texts = [f"{r.title}\n{r.text}" if r.title else r.text for r in self.history]
                self._fields[field] = self._embedder.encode(texts), everyone
            elif field == "own_dense":
                said = [(n, r.own_words) for n, r in enumerate(self.history) if r.utterances]
                spoken = [(place, text) for place, text in said if text]
                vectors = self._field("dense")[0].copy()
                if spoken:
                    words = self._embedder.encode([text for _, text in spoken])
                    vectors[[place for place, _ in spoken]] = words
                self._fields[field] = vectors, everyone
            else:
                owners, texts = self._sentences()
                self._fields[field] = self._embedder.encode(texts), np.array(owners, dtype=np.intp)
        return self._fields[field]

    def _sentences(self) -> tuple[list[int], list[str]]:
        pairs = [
            (number, sentence)
            for number, record in enumerate(self.history)
            for sentence in sentences(record.own_words)[:_MOST_SENTENCES] or [record.text]
        ]
        return [number for number, _ in pairs], [sentence for _, sentence in pairs]
