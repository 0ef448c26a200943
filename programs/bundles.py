"""Bundles: a few connected records that one question may be asked about.

A bundle is a simple path through the record graph, grown step by step from a seed record within a
budget of tokens. Three choices keep the bundles of a run from crowding in a few days or files:

- *Seeds* are spread. Kinds take turns in proportion to the square root of their size, and so do
  the groups inside a kind; whose turn comes first follows a golden-ratio sequence, whose every
  beginning is spread evenly over the time of the history.
- *Steps* are mixed. Where a conversation goes on and another edge leads elsewhere too, 60 % of
  the steps stay in the conversation; the other kinds share the rest equally.
- *Use* is levelled. The first round passes over seeds that a bundle holds already, and a record
  that was used k times is chosen 1 / (1 + k) times as readily.

A path that cannot grow stays shorter, down to its seed alone; growing bundles never fails for
want of edges.
"""

import hashlib
import itertools
import json
import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

import networkx as nx

from memsteer.programs.graph import EDGE_KINDS
from memsteer.programs.quotes import locate as locate  # where a bundle is, its quotes are looked up
from memsteer.programs.records import History, HistoryError, Record, Span

_CONVERSATION_SHARE = 0.6
_GOLDEN = (math.sqrt(5) - 1) / 2
_TRIES = 8  # paths tried from one seed before the next, if all of them are known already
_ALONE = 40  # tokens: a shorter record hardly carries a question by itself


@dataclass(frozen=True)
class Bundle:
    """Records in path order; `edges[i]` is the edge kind between `records[i]` and the next."""

    id: str
    records: tuple[Record, ...]
    edges: tuple[str, ...]

    @cached_property
    def tokens(self) -> int:
        return sum(record.tokens for record in self.records)

    @property
    def spans(self) -> tuple[Span, ...]:
        """The whole text of each record as a span reference, in path order."""
        return tuple(Span(record.id, 0, len(record.text)) for record in self.records)

    @property
    def in_time_order(self) -> tuple[Record, ...]:
        """The records in the order a history gives them: by time, then group and position."""
        return tuple(
            sorted(
                self.records,
                key=lambda r: (r.time is None, r.time or datetime.max, r.group, r.position, r.id),
            )
        )

    def __deepcopy__(self, memo: dict[int, object]) -> "Bundle":
        return self  # frozen; optimizers deep-copy programs and examples that hold bundles


def bundle_id(record_ids: Iterable[str]) -> str:
    """A short hash of a set of record ids, the same in any order and on any machine."""
    listed = json.dumps(sorted(record_ids))
    return hashlib.sha256(listed.encode()).hexdigest()[:16]


def grow_bundles(
    history: History,
    graph: nx.Graph,
    *,
    count: int,
    budget_tokens: int = 1500,
    hops: Sequence[int] = (1, 2, 3),
    seed: int | random.Random,
) -> Iterator[Bundle]:
    """Grow up to `count` bundles, no two of the same records; fewer if no more can be found.

    `hops` are the numbers of steps to draw from (a bundle of h hops has h + 1 records; 0 asks for
    a record alone, and is heeded where it is long enough). `budget_tokens` bounds the sum of the
    records' tokens; a longer record is in no bundle. Equal arguments give equal bundles. Raises
    `HistoryError` if no record fits the budget and `ValueError` for arguments without a sense,
    both at the call, before the first bundle is asked for.
    """
    if count < 0 or not hops or min(hops) < 0:
        raise ValueError(f"count={count!r}, hops={tuple(hops)!r}: want hops, and none negative")
    if any(record.id not in graph for record in history):
        raise ValueError("the graph was built from another history: build it from this one")
    fitting = [record for record in history if record.tokens <= budget_tokens]
    if not fitting:
        least = min(record.tokens for record in history)
        raise HistoryError(
            f"no record fits a bundle of {budget_tokens} tokens (the shortest has {least}): "
            "raise budget_tokens or split the records"
        )
    rng = seed if isinstance(seed, random.Random) else random.Random(seed)
    paths = _Paths(history, graph, budget_tokens, rng)
    return itertools.islice(_distinct(_seed_order(fitting, rng), paths, tuple(hops)), count)


def _distinct(seeds: Sequence[Record], paths: "_Paths", hops: Sequence[int]) -> Iterator[Bundle]:
    """Bundles round after round, until a whole round over the seeds finds no new one."""
    seen: set[str] = set()
    for lap in itertools.count():
        before = len(seen)
        for record in seeds:
            if lap == 0 and paths.uses[record.id]:
                continue
            tries = (paths.grow(record, hops) for _ in range(_TRIES))
            bundle = next((b for b in tries if b.id not in seen), None)
            if bundle is not None:
                seen.add(bundle.id)
                paths.uses.update(r.id for r in bundle.records)
                yield bundle
        if len(seen) == before:
            return


class _Paths:
    """Grows one path at a time, with an eye to how often each record has been used."""

    def __init__(
        self, history: History, graph: nx.Graph, budget_tokens: int, rng: random.Random
    ) -> None:
        self._history, self._graph, self._rng = history, graph, rng
        self._budget = budget_tokens
        self.uses: Counter[str] = Counter()

    def grow(self, seed: Record, hops: Sequence[int]) -> Bundle:
        wanted = self._rng.choice(hops)
        if wanted == 0 and seed.tokens < _ALONE:
            wanted = 1
        path, kinds = [seed.id], list[str]()
        room = self._budget - seed.tokens
        while len(kinds) < wanted:
            # The last record leads on; where it cannot, the path grows at its beginning.
            step, at_start = self._step(path[-1], path, room), False
            if step is None:
                step, at_start = self._step(path[0], path, room), True
            if step is None:
                break
            kind, record_id = step
            path.insert(0 if at_start else len(path), record_id)
            kinds.insert(0 if at_start else len(kinds), kind)
            room -= self._history[record_id].tokens
        records = tuple(self._history[record_id] for record_id in path)
        return Bundle(bundle_id(path), records, tuple(kinds))

    def _step(self, end: str, path: Sequence[str], room: int) -> tuple[str, str] | None:
        """Edge kind and record of one step from `end`, or None if nothing fits."""
        options: dict[str, list[tuple[str, float]]] = defaultdict(list)
        # Sorted, so that the bundles depend on the history and not on how the graph was built.
        for other in sorted(self._graph.neighbors(end), key=self._history.index.__getitem__):
            if other not in path and self._history[other].tokens <= room:
                edge = self._graph.edges[end, other]
                for kind in edge["kinds"]:
                    options[kind].append((other, edge["weight"] / (1 + self.uses[other])))
        if not options:
            return None
        kind = self._kind(options)
        ids, weights = zip(*options[kind], strict=True)
        return kind, self._rng.choices(ids, weights)[0]

    def _kind(self, available: Iterable[str]) -> str:
        others = [kind for kind in EDGE_KINDS[1:] if kind in available]
        stay = "conversation" in available
        if stay and (not others or self._rng.random() < _CONVERSATION_SHARE):
            return "conversation"
        return self._rng.choice(others)


def _seed_order(records: Sequence[Record], rng: random.Random) -> list[Record]:
    """Every record once, so that each beginning of the list is spread over time, groups, kinds."""
    kinds: dict[str, dict[tuple[str, str], list[Record]]] = defaultdict(lambda: defaultdict(list))
    for record in records:  # by time, so groups come in the order of their first records
        alone = "" if record.group else record.id
        kinds[record.kind][record.group, alone].append(record)
    strata = []
    for _, groups in sorted(kinds.items()):
        spread = [_interleave([[record] for record in g], rng) for g in groups.values()]
        strata.append(_interleave(spread, rng))
    return _interleave(strata, rng)


def _interleave(lists: Sequence[Sequence[Record]], rng: random.Random) -> list[Record]:
    """Merge the lists, each at a pace in proportion to the square root of its length."""
    start = rng.random()
    keyed = []
    for i, members in enumerate(lists):
        phase = (start + i * _GOLDEN) % 1
        pace = math.sqrt(len(members))
        keyed += [((j + phase) / pace, i, j) for j in range(len(members))]
    return [lists[i][j] for _, i, j in sorted(keyed)]


@dataclass(frozen=True)
class CoverageReport:
    """What a set of bundles draws on; shares are 0 to 1, a record without a group is its own."""

    bundles: int
    record_share: float  # of all records, how many are in a bundle
    kind_shares: dict[str, float]  # the same within each kind of record
    groups_used: int
    groups: int
    largest_group_share: float  # of the places in all bundles, those that one group fills
    steps: dict[str, int]  # edges by kind


def coverage_report(bundles: Iterable[Bundle], history: History) -> CoverageReport:
    """Measure how evenly `bundles` cover `history`; all shares are 0 if there are no bundles."""
    listed = list(bundles)
    places = [record for bundle in listed for record in bundle.records]
    used = {record.id for record in places}
    totals = Counter(record.kind for record in history)
    hits = Counter(record.kind for record in history if record.id in used)
    by_group = Counter((r.group, "" if r.group else r.id) for r in places)
    steps = Counter(kind for bundle in listed for kind in bundle.edges)
    return CoverageReport(
        bundles=len(listed),
        record_share=len(used) / len(history),
        kind_shares={kind: hits[kind] / totals[kind] for kind in sorted(totals)},
        groups_used=len(by_group),
        groups=len({(r.group, "" if r.group else r.id) for r in history}),
        largest_group_share=max(by_group.values(), default=0) / max(1, len(places)),
        steps={kind: steps[kind] for kind in EDGE_KINDS},
    )
