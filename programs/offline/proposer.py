"""Rules for the design proposer: known moves, those first that mend the most frequent failure."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memsteer.signatures.design import (
    DesignChange,
    DesignProposal,
    FailureCounts,
    FailureKind,
    TriedProposal,
)


@dataclass(frozen=True)
class _Move:
    mends: FailureKind
    why: str
    changes: Mapping[str, Any]


_MOVES = (
    _Move("retrieval", "Questions use other words than the evidence: search by meaning as well.",
          {"retrieval.dense_weight": 1.0, "store.stem": True}),
    _Move("retrieval", "Evidence is one sentence in a long record: search sentences by meaning.",
          {"retrieval.sentence_weight": 1.0}),
    _Move("retrieval", "What the person said tells more than what was answered.",
          {"retrieval.own_words_weight": 0.5, "retrieval.own_dense_weight": 0.5}),
    _Move("retrieval", "Questions name dates, people and titles.",
          {"retrieval.title_weight": 0.3, "retrieval.date_weight": 0.3}),
    _Move("retrieval", "Evidence stands next to a record that is found.",
          {"retrieval.neighbour_weight": 0.3}),
    _Move("retrieval", "Several clauses of a question point into one conversation.",
          {"retrieval.group_weight": 0.3}),
    _Move("retrieval", "A question holds several events: search for each.",
          {"retrieval.rewrites": 3}),
    _Move("retrieval", "A turn is unclear without the one before it.",
          {"store.enrich": "previous"}),
    _Move("retrieval", "The evidence is found but stands too far down: rescore by sentence.",
          {"retrieval.reranker": "sentence"}),
    _Move("retrieval", "Invented answers lie nearer to the evidence than the question.",
          {"retrieval.hyde": 2}),
    _Move("retrieval", "Evidence is linked to a record that is found.",
          {"retrieval.graph_weight": 0.3}),
    _Move("retrieval", "Channels disagree in scale: join them by rank.",
          {"retrieval.fusion": "rrf"}),
    _Move("retrieval", "Long records dilute the match: index sections.",
          {"store.unit": "section"}),
    _Move("retrieval", "Questions ask about recent events.",
          {"retrieval.recency_weight": 0.1}),
    _Move("retrieval", "More records fit when only the near sentences are shown.",
          {"context.compress": "sentences", "retrieval.k": 25}),
    _Move("retrieval", "Room is left in the budget: show more records.",
          {"retrieval.k": 20}),
    _Move("answering", "Order of events is lost: show excerpts by time, with dates and titles.",
          {"context.order": "time", "context.header": "full"}),
    _Move("answering", "The value drowns in long excerpts: show the near sentences.",
          {"context.compress": "sentences"}),
    _Move("answering", "Repeated texts crowd out the evidence.",
          {"context.deduplicate": True}),
    _Move("answering", "Answers rest on nothing shown: ask once more.",
          {"context.validate_answer": True}),
    _Move("answering", "The value stands in the next turn: show neighbours.",
          {"context.neighbours": 1}),
    _Move("storage", "The evidence is in no stored unit: store raw records.",
          {"store.write": "raw"}),
    _Move("storage", "The evidence is split over units: store windows of records.",
          {"store.unit": "window"}),
)  # fmt: skip


def propose_designs(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """ProposeDesigns: untried moves, by how often the failure they mend occurs."""
    current = _flat(inputs["current"])
    counts = FailureCounts.model_validate(inputs["counts"])
    tried = [TriedProposal.model_validate(t) for t in inputs["tried"]]
    # What gained, but lost to another before the design last changed, is worth another try.
    changed = max((n for n, t in enumerate(tried) if t.fate == "accepted"), default=-1)
    done = {
        frozenset((c.path, c.value) for c in t.changes)
        for n, t in enumerate(tried)
        if n > changed or not t.fate.startswith(("gained", "not better"))
    }
    open_moves = [m for m in _MOVES if _news(m, current) and _key(m) not in done]
    # Stable: moves of one kind keep their order, which is from the general to the particular.
    total = max(1, counts.storage + counts.retrieval + counts.answering)
    place = {id(m): n for n, m in enumerate(open_moves)}
    share = {
        "storage": counts.storage / total,
        "retrieval": counts.retrieval / total,
        "answering": counts.answering / total,
    }
    ranked = sorted(open_moves, key=lambda m: place[id(m)] - 20 * share[m.mends])
    chosen = ranked[: int(inputs["number"])]
    proposals = [DesignProposal(rationale=m.why, changes=_changes(m)) for m in chosen]
    return {"proposals": [p.model_dump() for p in proposals]}


def _flat(current: Any) -> dict[str, Any]:
    data = json.loads(current) if isinstance(current, str) else current
    return {f"{part}.{name}": v for part, fields in data.items() for name, v in fields.items()}


def _news(move: _Move, current: Mapping[str, Any]) -> bool:
    """Whether the move changes anything: a part that is on already is the tuner's."""
    for path, value in move.changes.items():
        here = current.get(path)
        numeric = isinstance(value, int | float) and not isinstance(value, bool)
        if here != value and not (numeric and isinstance(here, int | float) and here >= value):
            return True
    return False


def _changes(move: _Move) -> list[DesignChange]:
    return [
        DesignChange(path=p, value=v if isinstance(v, str) else json.dumps(v))
        for p, v in move.changes.items()
    ]


def _key(move: _Move) -> frozenset[tuple[str, str]]:
    return frozenset((c.path, c.value) for c in _changes(move))
