"""Retrieval: a design's channels over one history, weighted, joined and spread to linked records.

`MemoryIndex` holds what designs share: stores by store design, scaled scores by (store, channel,
query). A ranking under other weights is then a handful of vector additions.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from memsteer.programs.dates import mentioned_dates
from memsteer.programs.dense import DenseField, DenseIndex
from memsteer.programs.design import DesignError, RetrievalDesign, StoreDesign
from memsteer.programs.embedding import Embedder, SentenceTransformerEmbedder, default_cache_dir
from memsteer.programs.layout import Layout
from memsteer.programs.records import History, Record
from memsteer.programs.stores import LexicalField, Scores, Store

# Channel by the design field that weighs it.
CHANNELS = {
    "text_weight": "text",
    "own_words_weight": "own_words",
    "title_weight": "title",
    "dense_weight": "dense",
    "own_dense_weight": "own_dense",
    "sentence_weight": "sentence",
}
_DENSE = frozenset({"dense", "own_dense", "sentence"})
_RRF_C = 60  # Cormack et al. 2009


@dataclass(frozen=True)
class Query:
    """A question with the searches that stand beside it; how many are used is the design's."""

    question: str
    time: datetime | None = None
    rewrites: tuple[str, ...] = ()
    hypotheticals: tuple[str, ...] = ()


class Reranker(Protocol):
    """Scores records against a question, higher is better, on any scale."""

    def scores(self, question: str, records: Sequence[Record]) -> Sequence[float]: ...


class CrossEncoderReranker:
    """A sentence-transformers cross-encoder by name; pairs are scored once."""

    def __init__(self, name: str = "cross-encoder/ms-marco-MiniLM-L6-v2") -> None:
        self.name = name
        self._cache: dict[tuple[str, str], float] = {}

    @cached_property
    def _model(self) -> Any:
        from sentence_transformers import CrossEncoder

        try:
            return CrossEncoder(self.name)
        except OSError as error:
            raise DesignError(
                f"reranker {self.name!r}: cannot be loaded or fetched; give a local folder, or "
                "choose retrieval.reranker='sentence'"
            ) from error

    def scores(self, question: str, records: Sequence[Record]) -> list[float]:
        missing = [r for r in records if (question, r.id) not in self._cache]
        if missing:
            values = self._model.predict([(question, r.text) for r in missing])
            for record, value in zip(missing, values, strict=True):
                self._cache[question, record.id] = float(value)
        return [self._cache[question, r.id] for r in records]


@dataclass
class MemoryIndex:
    """All indexes over one history. Shared by programs and threads; never copied.

    `links` are linked records by record id, for `graph_weight`; None takes the record graph's
    (`record_links`). `written` is the
    history of memories written under a policy, for `store.write = "policy"`.
    """

    history: History
    embedder: Embedder = field(
        default_factory=lambda: SentenceTransformerEmbedder(cache_dir=default_cache_dir())
    )
    reranker: Reranker | None = None
    links: Mapping[str, Sequence[str]] | None = None
    written: History | None = None

    def __post_init__(self) -> None:
        self._stores: dict[str, Store] = {}
        self._dense: dict[str, DenseIndex] = {}
        self._scaled: dict[tuple[str, str, str, bool], Scores] = {}
        self._vectors: dict[str, NDArray[np.float32]] = {}
        self._dates: dict[tuple[str, str, datetime | None], Scores] = {}
        self._lock = threading.RLock()

    def __deepcopy__(self, memo: dict[int, Any]) -> "MemoryIndex":
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), tuple(getattr(self, f.name) for f in fields(self))

    def corpus(self, store: StoreDesign) -> History:
        """The history that this store design searches."""
        if store.write == "raw":
            return self.history
        if self.written is None:
            raise DesignError(
                "store.write='policy' needs written memories: give MemoryIndex(written=…)"
            )
        return self.written

    def store(self, design: StoreDesign) -> Store:
        key = design.key
        with self._lock:
            if key not in self._stores:
                self._stores[key] = Store(self.corpus(design), design)
            return self._stores[key]

    def _dense_index(self, store: StoreDesign) -> DenseIndex:
        if store.write not in self._dense:
            self._dense[store.write] = DenseIndex(self.corpus(store), self.embedder)
        return self._dense[store.write]

    def channel(self, store: StoreDesign, channel: str, query: str, *, rrf: bool = False) -> Scores:
        """(n_records,) scores of one channel for one query, scaled to 0..1 and kept."""
        dense = channel in _DENSE
        key = (store.write if dense else store.key, channel, query, rrf)
        with self._lock:
            if key not in self._scaled:
                if dense:
                    raw = self._dense_index(store).scores(
                        cast(DenseField, channel), self._vector(query)
                    )
                else:
                    raw = self.store(store).lexical_scores(cast(LexicalField, channel), query)
                self._scaled[key] = _reciprocal_ranks(raw) if rrf else _scale(raw)
            return self._scaled[key]

    def prepare(self, queries: Sequence[Query], retrieval: RetrievalDesign) -> None:
        """Embed what `queries` search for under `retrieval`, together: far cheaper than singly."""
        if not any(getattr(retrieval, name) for name, c in CHANNELS.items() if c in _DENSE) and (
            retrieval.reranker != "sentence"
        ):
            return
        texts = [
            text
            for q in queries
            for text in (
                q.question,
                *q.rewrites[: retrieval.rewrites],
                *q.hypotheticals[: retrieval.hyde],
            )
        ]
        with self._lock:
            missing = list(dict.fromkeys(t for t in texts if t not in self._vectors))
            if missing:
                vectors = self.embedder.encode(missing)
                self._vectors.update(zip(missing, vectors, strict=True))

    def _vector(self, query: str) -> NDArray[np.float32]:
        if query not in self._vectors:
            self._vectors[query] = self.embedder.encode([query])[0]
        return self._vectors[query]

    def date_hits(self, store: StoreDesign, query: Query) -> Scores:
        """(n_records,) 1 for a record of a day that the question names, 0.5 for one of a month."""
        key = (store.write, query.question, query.time)
        with self._lock:
            if key not in self._dates:
                ranges = mentioned_dates(query.question, query.time)
                hits = [
                    max(((1.0 if r.exact else 0.5) * r.contains(t) for r in ranges), default=0.0)
                    if (t := record.time)
                    else 0.0
                    for record in self.corpus(store)
                ]
                self._dates[key] = np.array(hits, dtype=np.float32)
            return self._dates[key]

    @cached_property
    def _raw_layout(self) -> "Layout":
        return Layout.of(self.history, self.links)

    def layout(self, store: StoreDesign) -> "Layout":
        if store.write == "raw":
            return self._raw_layout
        return Layout.of(self.corpus(store), {})

    def rank(
        self, store: StoreDesign, retrieval: RetrievalDesign, query: Query, limit: int = 100
    ) -> tuple[str, ...]:
        """Ids of the first `limit` records, best first; ties go to the earlier record."""
        history = self.corpus(store)
        layout = self.layout(store)
        scores = self._fused(store, retrieval, query)
        if retrieval.date_weight:
            scores = scores + retrieval.date_weight * self.date_hits(store, query)
        if retrieval.recency_weight:
            fresh = layout.recency(query.time, retrieval.recency_days)
            scores = scores + retrieval.recency_weight * fresh
        scores = layout.spread(scores, retrieval)
        if retrieval.reranker != "none":
            scores = self._reranked(scores, store, retrieval, query)
        top = np.argsort(-scores, kind="stable")[:limit]
        return tuple(history.records[i].id for i in top)

    def _fused(self, store: StoreDesign, retrieval: RetrievalDesign, query: Query) -> Scores:
        rrf = retrieval.fusion == "rrf"
        rewrites = query.rewrites[: retrieval.rewrites]
        passages = query.hypotheticals[: retrieval.hyde]
        total = np.zeros(len(self.corpus(store)), dtype=np.float32)
        weights = sum(getattr(retrieval, name) for name in CHANNELS)
        for name, channel in CHANNELS.items():
            weight = getattr(retrieval, name)
            if not weight:
                continue
            searches = [(query.question, 1.0)]
            searches += [(q, retrieval.rewrite_weight / len(rewrites)) for q in rewrites]
            if channel in _DENSE:  # HyDE is a way to embed (Gao et al. 2022), not to match words
                searches += [(p, retrieval.hyde_weight / len(passages)) for p in passages]
            share = weight / weights / sum(w for _, w in searches)
            for text, part in searches:
                total += (share * part) * self.channel(store, channel, text, rrf=rrf)
        return total

    def _reranked(
        self, scores: Scores, store: StoreDesign, retrieval: RetrievalDesign, query: Query
    ) -> Scores:
        """The first `rerank_depth` records rescored; the rest stay behind them in order."""
        top = np.argsort(-scores, kind="stable")[: retrieval.rerank_depth]
        if retrieval.reranker == "sentence":
            fresh = self.channel(store, "sentence", query.question)[top]
        else:
            if self.reranker is None:
                self.reranker = CrossEncoderReranker()
            records = [self.corpus(store).records[i] for i in top]
            with self._lock:
                values = self.reranker.scores(query.question, records)
            fresh = _scale(np.asarray(values, dtype=np.float32))
        out = scores.copy()
        ceiling = max(float(scores.max()), 1e-9)
        out[top] = ceiling + scores[top] / ceiling + retrieval.rerank_weight * fresh
        return out


def _scale(raw: Scores) -> Scores:
    """Median to 0, best to 1, nothing below 0: what stands out of the mass counts."""
    low = float(np.median(raw))
    top = float(raw.max())
    if top <= low:
        return np.zeros_like(raw)
    return np.asarray(np.clip((raw - low) / (top - low), 0.0, 1.0), dtype=np.float32)


def _reciprocal_ranks(raw: Scores) -> Scores:
    """(c + 1) / (c + rank), rank from 1; a record that does not match at all gets 0."""
    order = np.argsort(-raw, kind="stable")
    out = np.zeros_like(raw)
    out[order] = (_RRF_C + 1) / (_RRF_C + 1 + np.arange(len(raw), dtype=np.float32))
    out[raw <= 0] = 0.0
    return out
