"""Written memories: what was stored, what was refused and why, and how memories are found."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Literal

import numpy as np

from memsteer.programs.embedding import Embedder, Matrix
from memsteer.programs.records import History, Record

MemoryKind = Literal["dialogue", "qa_writeback", "golden"]


@dataclass(frozen=True)
class StoredMemory:
    """One stored memory. `date` is the observation date; `reason` why it was stored."""

    id: str
    text: str
    date: date
    week: int
    kind: MemoryKind
    about: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class RefusedMemory:
    """A candidate that was not stored, with the reason and the rule it was judged by."""

    text: str
    date: date
    week: int
    kind: MemoryKind
    about: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    reason: str = ""
    rule: str = ""


@dataclass(frozen=True)
class Found:
    """A memory found for a question, with its score."""

    memory: StoredMemory
    score: float


@dataclass(frozen=True)
class MemoryStore:
    """All memories in the order of writing, and all refusals."""

    memories: tuple[StoredMemory, ...] = ()
    refused: tuple[RefusedMemory, ...] = ()

    def __len__(self) -> int:
        return len(self.memories)

    def plus(
        self, stored: Sequence[StoredMemory], refused: Sequence[RefusedMemory] = ()
    ) -> "MemoryStore":
        """This store with more; ids are given here: "m1", "m2", … in the order of writing."""
        first = len(self.memories) + 1
        new = [replace(m, id=f"m{n}") for n, m in enumerate(stored, first)]
        return MemoryStore((*self.memories, *new), (*self.refused, *refused))

    def as_history(self, person: str = "") -> History:
        """The memories as notes, for `MemoryIndex(written=…)`; raises HistoryError if none."""
        return History(tuple(_as_record(m) for m in self.memories), person)


def _as_record(memory: StoredMemory) -> Record:
    return Record(
        id=memory.id,
        text=memory.text,
        kind="note",
        time=datetime.combine(memory.date, datetime.min.time()),
        metadata={
            "sources": " ".join(memory.sources),
            "about": ", ".join(memory.about),
            "written": memory.kind,
            "week": str(memory.week),
        },
    )


@dataclass(frozen=True)
class Recency:
    """A bonus of `weight` for a memory of the newest date, halved every `half_life` days.

    Age counts from the newest memory in the store: the answerer knows no current date.
    """

    weight: float = 0.0
    half_life: float = 14.0

    def __post_init__(self) -> None:
        if self.weight < 0 or self.half_life <= 0:
            raise ValueError(f"recency needs weight >= 0 and half_life > 0, not {self}")


EMPTY_STORE = MemoryStore()
NO_RECENCY = Recency()


class MemorySearch:
    """Top-k search over a store by cosine of embeddings; each text is embedded once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: dict[str, Matrix] = {}
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: dict[int, Any]) -> "MemorySearch":
        return self  # a cache is shared, never copied

    def top(
        self, store: MemoryStore, query: str, k: int, recency: Recency = NO_RECENCY
    ) -> tuple[Found, ...]:
        """The k best memories for the query, best first; of equals the later written."""
        memories = store.memories
        if not memories or k < 1:
            return ()
        vectors = self._vectors([query, *(m.text for m in memories)])
        scores = vectors[1:] @ vectors[0]
        if recency.weight:
            newest = max(m.date for m in memories)
            age = np.array([(newest - m.date).days for m in memories], dtype=np.float64)
            scores = scores + recency.weight * 0.5 ** (age / recency.half_life)
        order = sorted(range(len(memories)), key=lambda i: (-float(scores[i]), -i))
        return tuple(Found(memories[i], float(scores[i])) for i in order[:k])

    def _vectors(self, texts: Sequence[str]) -> Matrix:
        with self._lock:
            new = list(dict.fromkeys(t for t in texts if t not in self._known))
            if new:
                for text, row in zip(new, self._embedder.encode(new), strict=True):
                    self._known[text] = row
            return np.stack([self._known[t] for t in texts])
