"""The record graph: which records of a history belong together, and why.

Two records are joined by an edge for one or more of four reasons, its `kinds`:

- *conversation*: they stand close together in one conversation or e-mail thread;
- *section*: they are adjacent sections of one document;
- *reference*: one names the other;
- *lexical*: they stand in different groups and share enough rare words.

Lexical overlap is the cosine of binary word vectors weighted by idf(w) = ln(1 + n / df(w)), where
n counts the records and df(w) those that hold w. It is never computed for all pairs. An inverted
index over the words that few records hold proposes candidates: each record asks it with its own
rarest words, and only the best candidates are compared in full. A record so costs at most
`query_words` × `posting_limit` look-ups, however long the history is. (bm25s would be the other
index at hand, but scores every record for every query, which is all pairs again.)
"""

import heapq
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

import networkx as nx

from memsteer.programs.records import History, Record
from memsteer.programs.text import content_words

EDGE_KINDS = ("conversation", "section", "reference", "lexical")
_THREAD_KINDS = frozenset({"conversation", "email"})
# Candidates compared in full for each neighbour kept: the index sees only the rarest words, so
# its order is close to the true one, but not the same.
_CANDIDATES = 4


@dataclass(frozen=True)
class GraphConfig:
    """What makes an edge. Raises `ValueError` for a value out of range."""

    conversation_reach: int = 3  # in places: 1 joins consecutive turns only
    lexical_neighbours: int = 4  # at most so many are chosen by each record; 0: no lexical edges
    lexical_overlap: float = 0.2  # the least cosine, 0 to 1; below, one rare word is enough
    query_words: int = 16  # with how many of its rarest words a record asks the index
    posting_limit: int = 50  # a word in more records than this proposes no candidates

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value < 0:
                raise ValueError(f"{field.name} is {value!r}: it must not be negative")
        if self.lexical_overlap > 1:
            raise ValueError(f"lexical_overlap is {self.lexical_overlap!r}: it is at most 1")


@dataclass(frozen=True)
class GraphReport:
    """How well a history hangs together; `edges` counts an edge of two kinds under both."""

    records: int
    edges: dict[str, int]
    isolated: int
    components: int
    largest_component: int

    def __str__(self) -> str:
        kinds = ", ".join(f"{count} {kind}" for kind, count in self.edges.items())
        return (
            f"{self.records} records in {self.components} components "
            f"(the largest holds {self.largest_component}, {self.isolated} records are isolated); "
            f"edges: {kinds}"
        )


def build_graph(history: History, config: GraphConfig = GraphConfig()) -> nx.Graph:
    """Join the records of `history`: nodes are record ids, in the order of the history.

    An edge has `kinds`, a tuple in the order of `EDGE_KINDS`, and `weight`, the sum over its kinds:
    1 / distance for a conversation, the overlap for a lexical edge, 1 otherwise.
    """
    found: dict[tuple[int, int], dict[str, float]] = defaultdict(dict)
    for a, b, kind, weight in _edges(history, config):
        found[min(a, b), max(a, b)][kind] = weight
    ids = [record.id for record in history]
    graph = nx.Graph()
    graph.add_nodes_from(ids)
    for (a, b), weights in sorted(found.items()):
        kinds = tuple(kind for kind in EDGE_KINDS if kind in weights)
        graph.add_edge(ids[a], ids[b], kinds=kinds, weight=math.fsum(weights.values()))
    return graph


def graph_report(graph: nx.Graph, history: History) -> GraphReport:
    """Count what `build_graph` found. A history without any edge is reported, not refused."""
    counts = dict.fromkeys(EDGE_KINDS, 0)
    for _, _, kinds in graph.edges(data="kinds"):
        for kind in kinds:
            counts[kind] += 1
    sizes = [len(component) for component in nx.connected_components(graph)]
    return GraphReport(
        records=len(history),
        edges=counts,
        isolated=sum(1 for record in history if graph.degree(record.id) == 0),
        components=len(sizes),
        largest_component=max(sizes),
    )


_Edge = tuple[int, int, str, float]  # two places in the history, the kind, the weight


def _edges(history: History, config: GraphConfig) -> Iterator[_Edge]:
    for members in history.groups.values():
        yield from _group_edges(history, members, config.conversation_reach)
    for place, record in enumerate(history):
        for target in record.references:
            if target != record.id:
                yield place, history.index[target], "reference", 1.0
    if config.lexical_neighbours:
        yield from _lexical_edges(history, config)


def _group_edges(history: History, members: Sequence[Record], reach: int) -> Iterator[_Edge]:
    """Edges inside one group, which is a thread if a turn or e-mail is in it, else a document."""
    # Where positions are equal (or not given at all), the order of the history decides, by time.
    ordered = sorted(members, key=lambda record: (record.position, history.index[record.id]))
    places = [history.index[record.id] for record in ordered]
    if any(record.kind in _THREAD_KINDS for record in members):
        for distance in range(1, reach + 1):
            for a, b in zip(places, places[distance:], strict=False):
                yield a, b, "conversation", 1 / distance
    else:
        for a, b in pairwise(places):
            yield a, b, "section", 1.0


def _lexical_edges(history: History, config: GraphConfig) -> Iterator[_Edge]:
    vocabularies = [_vocabulary(record) for record in history]
    index = _Index(vocabularies, [record.group for record in history])
    for place in range(len(vocabularies)):
        scored = [
            (-index.overlap(place, other), abs(place - other), other)
            for other in index.candidates(place, config)
        ]
        # Equal overlaps go to the nearest in time, else the first of many copies becomes a hub.
        for negative, _, other in sorted(scored)[: config.lexical_neighbours]:
            if -negative >= config.lexical_overlap:
                yield place, other, "lexical", -negative


def _vocabulary(record: Record) -> frozenset[str]:
    """The content words of the title and of what the person said.

    An assistant's phrases recur everywhere and would join what has nothing to do with each other.
    Where no speaker is called "user", everything said counts, without the speakers' labels.
    """
    spoken = "\n".join(record.text[u.start : u.end] for u in record.utterances)
    return frozenset(content_words(f"{record.title}\n{record.own_words or spoken}"))


class _Index:
    """An inverted index over word sets. Sums are `fsum`: a set's order must not change a weight."""

    def __init__(self, vocabularies: Sequence[frozenset[str]], groups: Sequence[str]) -> None:
        # Numbers in place of words: sets of them are smaller, and faster to intersect.
        numbers = {word: n for n, word in enumerate(sorted(set().union(*vocabularies)))}
        self._vocabularies = [frozenset(numbers[w] for w in words) for words in vocabularies]
        self._groups = groups
        self._postings: list[list[int]] = [[] for _ in numbers]
        for place, vocabulary in enumerate(self._vocabularies):
            for word in vocabulary:
                self._postings[word].append(place)
        total = len(vocabularies)
        self._squared_idf = [math.log1p(total / len(places)) ** 2 for places in self._postings]
        self._norms = [math.sqrt(self._mass(vocabulary)) for vocabulary in self._vocabularies]

    def candidates(self, place: int, config: GraphConfig) -> list[int]:
        """The records that share most rare words with the one at `place`, outside its group."""
        usable = [
            (len(self._postings[word]), word)
            for word in self._vocabularies[place]
            if 1 < len(self._postings[word]) <= config.posting_limit
        ]
        shared: dict[int, float] = defaultdict(float)
        for _, word in sorted(usable)[: config.query_words]:
            for other in self._postings[word]:
                shared[other] += self._squared_idf[word]
        group = self._groups[place]
        outside = (o for o in shared if o != place and (not group or self._groups[o] != group))
        return heapq.nsmallest(
            _CANDIDATES * config.lexical_neighbours,
            outside,
            key=lambda o: (-shared[o], abs(place - o), o),
        )

    def overlap(self, a: int, b: int) -> float:
        """The idf-weighted cosine of two records that share a word, 0 to 1."""
        shared = self._mass(self._vocabularies[a] & self._vocabularies[b])
        return min(1.0, shared / (self._norms[a] * self._norms[b]))

    def _mass(self, vocabulary: frozenset[int]) -> float:
        return math.fsum(map(self._squared_idf.__getitem__, vocabulary))


# Neighbours in one conversation are a design's `neighbour_weight`; links are what leads further.
_LINK_KINDS = frozenset({"reference", "lexical", "section"})


def record_links(history: History) -> dict[str, tuple[str, ...]]:
    """Each record's neighbours by reference, shared words or adjacent section."""
    graph = build_graph(history)
    return {
        record.id: tuple(
            sorted(o for o, e in graph[record.id].items() if _LINK_KINDS & set(e["kinds"]))
        )
        for record in history
    }
