"""Stores: the units a history is cut into for lexical search, and the indexes over their fields.

A unit decides only what is matched as one piece; what is found are always records, so that units
of any size compete on equal terms.
"""

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Literal

import bm25s
import numpy as np
import Stemmer
from numpy.typing import NDArray

from memsteer.programs.dates import date_words
from memsteer.programs.design import StoreDesign
from memsteer.programs.records import History, Record, Span
from memsteer.programs.text import STOPWORDS, count_tokens, sentence_spans, words

Scores = NDArray[np.float32]
LexicalField = Literal["text", "own_words", "title"]
_SECTION_TOKENS = 120
_STEMMER = Stemmer.Stemmer("english")
_STEMMER_LOCK = threading.Lock()


@dataclass(frozen=True)
class Unit:
    """A piece of the history that is matched as one: its spans, and its text by field."""

    spans: tuple[Span, ...]
    text: str
    own_words: str
    title: str


def build_units(history: History, store: StoreDesign) -> tuple[Unit, ...]:
    """Cut `history` into the units that `store` names, in history order."""
    if store.unit in ("record", "section", "sentence"):
        return tuple(
            _unit(history, [(record, start, end)], store)
            for record in history
            for start, end in _pieces(record, store.unit)
        )
    size = store.window if store.unit == "window" else None
    chunks = [chunk for run in _runs(history) for chunk in _windows(run, size)]
    return tuple(_unit(history, [(r, 0, len(r.text)) for r in chunk], store) for chunk in chunks)


def _pieces(record: Record, unit: str) -> list[tuple[int, int]]:
    if unit == "record":
        return [(0, len(record.text))]
    spans = sentence_spans(record.text) or [(0, len(record.text))]
    if unit == "sentence":
        return spans
    pieces: list[tuple[int, int]] = []
    for start, end in spans:
        if pieces and count_tokens(record.text[pieces[-1][0] : end]) <= _SECTION_TOKENS:
            pieces[-1] = (pieces[-1][0], end)
        else:
            pieces.append((start, end))
    return pieces


def _runs(history: History) -> list[tuple[Record, ...]]:
    """The groups in order of their first record; a record without a group is its own run."""
    runs: dict[str, tuple[Record, ...]] = {}
    for record in history:
        key = record.group or f"\0{record.id}"
        runs.setdefault(key, history.groups.get(record.group, (record,)))
    return list(runs.values())


def _windows(run: Sequence[Record], size: int | None) -> Iterable[Sequence[Record]]:
    if size is None or len(run) <= size:
        return [run]
    step = max(1, size // 2)  # half-overlapping, so that no pair of neighbours is always parted
    starts = range(0, len(run) - size + step, step)
    return [run[start : start + size] for start in starts]


def _unit(history: History, parts: list[tuple[Record, int, int]], store: StoreDesign) -> Unit:
    records = [record for record, _, _ in parts]
    # A title is part of what a record says: a section's heading, a mail's subject.
    text = "\n".join(f"{r.title}\n{r.text[a:b]}" if r.title else r.text[a:b] for r, a, b in parts)
    own = "\n".join(_own(record, start, end) for record, start, end in parts)
    first = records[0]
    title = " ".join(dict.fromkeys(r.title for r in records if r.title))
    heading = f"{title} {' '.join(first.metadata.values())}".strip()
    if first.time:
        heading = f"{heading} {date_words(first.time.date())}".strip()
    prefix = ""
    if store.enrich != "none":
        prefix = f"{heading}\n"
    if store.enrich == "previous":
        siblings = history.groups.get(first.group, (first,))
        place = next(i for i, r in enumerate(siblings) if r.id == first.id)
        if place:
            prefix += siblings[place - 1].own_words + "\n"
    spans = tuple(Span(record.id, start, end) for record, start, end in parts)
    return Unit(spans, prefix + text, prefix + own, heading)


def _own(record: Record, start: int, end: int) -> str:
    """What the person said of characters `start` to `end`."""
    if not record.utterances:
        return record.text[start:end]
    pieces = (
        record.text[max(u.start, start) : min(u.end, end)]
        for u in record.utterances
        if u.role == "user" and u.start < end and u.end > start
    )
    return "\n".join(pieces)


@cache
def _stem(word: str) -> str:
    with _STEMMER_LOCK:  # a PyStemmer object is not safe for concurrent use
        return str(_STEMMER.stemWord(word))


def index_words(text: str, stem: bool) -> list[str]:
    """The words that the lexical index holds of `text`: no stop words, stems if asked."""
    kept = [w for w in words(text) if w not in STOPWORDS]
    return [_stem(w) for w in kept] if stem else kept


class Store:
    """The units of one store design with their indexes, each built at first use."""

    def __init__(self, history: History, design: StoreDesign) -> None:
        self.history = history
        self.design = design
        self._lexical: dict[str, Any] = {}

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        return build_units(self.history, self.design)

    @cached_property
    def _members(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Parallel arrays: unit number, record number, for each span of each unit."""
        index = self.history.index
        pairs = [(u, index[s.record_id]) for u, unit in enumerate(self.units) for s in unit.spans]
        array = np.array(pairs, dtype=np.intp)
        return array[:, 0], array[:, 1]

    def lexical_scores(self, channel: LexicalField, query: str) -> Scores:
        """(n_records,) BM25 scores: a record scores as its best unit does."""
        bm25 = self._lexical_index(channel)
        terms = index_words(query, self.design.stem)
        unit_scores = np.zeros(len(self.units), dtype=np.float32)
        if bm25 is not None:
            known = [term for term in terms if term in bm25.vocab_dict]
            if known:
                unit_scores = bm25.get_scores(known)
        units, records = self._members
        return best_by_record(unit_scores[units], records, len(self.history))

    def _lexical_index(self, field: str) -> Any:
        if field not in self._lexical:
            corpus = [index_words(getattr(unit, field), self.design.stem) for unit in self.units]
            bm25 = None
            if any(corpus):
                bm25 = bm25s.BM25(k1=1.5, b=0.75)
                bm25.index(corpus, show_progress=False)
            self._lexical[field] = bm25
        return self._lexical[field]


def best_by_record(values: NDArray[Any], owners: NDArray[np.intp], n: int) -> Scores:
    """(n,) the highest of `values` that each of `n` records owns; -1 for none."""
    out = np.full(n, -1.0, dtype=np.float32)
    np.maximum.at(out, owners, values.astype(np.float32))
    return out
