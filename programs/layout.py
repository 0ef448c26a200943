"""The layout of a history as arrays: how records stand to each other, and pass on their scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memsteer.programs.design import RetrievalDesign
from memsteer.programs.graph import record_links
from memsteer.programs.records import History
from memsteer.programs.stores import Scores

_GRAPH_SEEDS = 20  # best records whose links are followed


@dataclass(frozen=True)
class Layout:
    """Where the records of a history stand: neighbours in a group, groups, links; as arrays."""

    history: History
    given: Mapping[str, Sequence[str]] | None  # links by record id; None: those of the graph
    days: NDArray[np.float64]  # since the epoch; NaN where a record has no time
    before: NDArray[np.intp]
    after: NDArray[np.intp]
    group: NDArray[np.intp]

    @classmethod
    def of(cls, history: History, links: Mapping[str, Sequence[str]] | None) -> "Layout":
        n = len(history)
        before, after = np.full(n, n), np.full(n, n)  # n points at a score of 0
        group = np.arange(n)
        for members in history.groups.values():
            places = [history.index[r.id] for r in members]
            group[places] = places[0]
            before[places[1:]] = places[:-1]
            after[places[:-1]] = places[1:]
        days = [
            (r.time - datetime(1970, 1, 1)).total_seconds() / 86400 if r.time else np.nan
            for r in history
        ]
        return cls(history, links, np.array(days), before, after, group)

    @cached_property
    def links(self) -> tuple[tuple[int, ...], ...]:
        """The numbers of the records linked to each; the graph is built at the first use."""
        links = record_links(self.history) if self.given is None else self.given
        index = self.history.index
        return tuple(tuple(index[other] for other in links.get(r.id, ())) for r in self.history)

    def recency(self, asked: datetime | None, half_life: float) -> Scores | float:
        """(n_records,) 0.5 ** (age / half-life) from `asked` (or the last record); 0 if undated."""
        known = self.days[~np.isnan(self.days)]
        if not len(known):
            return 0.0
        now = (asked - datetime(1970, 1, 1)).total_seconds() / 86400 if asked else known.max()
        decay = 0.5 ** (np.abs(now - self.days) / half_life)
        return np.nan_to_num(decay).astype(np.float32)

    def spread(self, scores: Scores, retrieval: RetrievalDesign) -> Scores:
        """`scores` plus what neighbours, group and linked records pass on."""
        out = scores.copy()
        if retrieval.neighbour_weight:
            padded = np.append(scores, np.float32(0))
            near = np.maximum(padded[self.before], padded[self.after])
            out += retrieval.neighbour_weight * near
        if retrieval.group_weight:
            best = np.zeros_like(scores)
            np.maximum.at(best, self.group, scores)
            out += retrieval.group_weight * best[self.group]
        if retrieval.graph_weight:
            gained = np.zeros_like(scores)
            for i in np.argsort(-scores, kind="stable")[:_GRAPH_SEEDS]:
                for other in self.links[i]:
                    gained[other] = max(gained[other], scores[i])
            out += retrieval.graph_weight * gained
        return out
