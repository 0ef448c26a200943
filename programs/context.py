"""Context: retrieved records become the answerer's memory, never over the token budget."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from memsteer.programs.design import ContextDesign, StoreDesign
from memsteer.programs.records import Record, Span
from memsteer.programs.retrieval import MemoryIndex
from memsteer.programs.stores import index_words
from memsteer.programs.text import content_words, count_tokens, sentence_spans, truncate_tokens

_SAME_TEXT = 0.9  # Jaccard overlap of content words from which a text counts as a repeat


@dataclass(frozen=True)
class Excerpt:
    """What the context shows of one record: a header, and spans of the record's text."""

    record: Record
    header: str
    spans: tuple[Span, ...]

    @property
    def body(self) -> str:
        return " … ".join(self.record.text[s.start : s.end] for s in self.spans)

    def __str__(self) -> str:
        return f"{self.header}\n{self.body}"

    @property
    def tokens(self) -> int:
        """Tokens of header, spans and the signs that join them."""
        whole = len(self.spans) == 1 and self.spans[0].end - self.spans[0].start == len(
            self.record.text
        )
        body = self.record.tokens if whole else count_tokens(self.body)
        return count_tokens(self.header) + body


@dataclass(frozen=True)
class Context:
    """The excerpts in the order shown; `tokens` counts headers and texts."""

    excerpts: tuple[Excerpt, ...]
    tokens: int

    def __str__(self) -> str:
        return "\n\n".join(str(excerpt) for excerpt in self.excerpts)

    @property
    def record_ids(self) -> tuple[str, ...]:
        return tuple(excerpt.record.id for excerpt in self.excerpts)

    def coverage(self, evidence: Iterable[Span | Record]) -> float:
        """Mean over `evidence` of the share of its characters shown here; 1.0 for no evidence.

        A whole record as evidence counts with all its characters: a compressed context cannot
        claim what it does not show.
        """
        shares = [
            self._share(e if isinstance(e, Span) else Span(e.id, 0, len(e.text))) for e in evidence
        ]
        return sum(shares) / len(shares) if shares else 1.0

    def _share(self, wanted: Span) -> float:
        length = wanted.end - wanted.start
        shown = sum(
            max(0, min(s.end, wanted.end) - max(s.start, wanted.start))
            for excerpt in self.excerpts
            if excerpt.record.id == wanted.record_id
            for s in excerpt.spans
        )
        return min(1.0, shown / length) if length > 0 else 1.0


def build_context(
    index: MemoryIndex,
    store: StoreDesign,
    design: ContextDesign,
    question: str,
    ranked: Sequence[str],
    budget_tokens: int,
) -> Context:
    """Fill the budget with the records of `ranked`, best first, then order them as designed.

    A record that does not fit whole is cut to the room left, or skipped where that would leave
    less than a sentence; what is shown never exceeds the budget.
    """
    history = index.corpus(store)
    chosen: dict[str, Excerpt] = {}
    used = 0
    seen: list[frozenset[str]] = []
    for record_id in _with_neighbours(index, store, ranked, design.neighbours):
        room = budget_tokens - used
        if room < min(32, budget_tokens):
            break
        record = history[record_id]
        bag = frozenset(content_words(record.text)) if design.deduplicate else frozenset()
        if any(len(bag & s) >= _SAME_TEXT * len(bag | s) for s in seen if s or bag):
            continue
        excerpt = _excerpt(design, question, record)
        cost = excerpt.tokens
        if cost > room:
            cut = _cut(excerpt, room)
            if cut is None or cut.tokens > room:
                continue
            excerpt, cost = cut, cut.tokens
        chosen[record_id] = excerpt
        seen += [bag] if design.deduplicate else []
        used += cost
    excerpts = list(chosen.values())
    if design.order == "time":
        excerpts.sort(key=lambda e: (e.record.time or datetime.max, e.record.position))
    return Context(tuple(excerpts), used)


def _with_neighbours(
    index: MemoryIndex, store: StoreDesign, ranked: Sequence[str], reach: int
) -> list[str]:
    """The ranked records, then their neighbours in the same order: they use only room left."""
    order = list(ranked)
    if reach:
        history = index.corpus(store)
        for record_id in ranked:
            record = history[record_id]
            siblings = history.groups.get(record.group, ())
            place = next((i for i, r in enumerate(siblings) if r.id == record_id), 0)
            order += [r.id for r in siblings[max(0, place - reach) : place + reach + 1]]
    return list(dict.fromkeys(order))


def _excerpt(design: ContextDesign, question: str, record: Record) -> Excerpt:
    header = f"[{record.id}]"
    if design.header != "id" and record.when:
        header += f" {record.when}"
    if design.header == "full":
        header += f" {record.kind}" + (f": {record.title}" if record.title else "")
    spans = [(0, len(record.text))]
    if design.compress == "own_words" and record.utterances:
        own = [(u.start, u.end) for u in record.utterances if u.role == "user" and u.end > u.start]
        spans = own or spans
    elif design.compress == "sentences":
        spans = _nearest_sentences(question, record.text, design.keep_sentences)
    return Excerpt(record, header, tuple(Span(record.id, start, end) for start, end in spans))


def _nearest_sentences(question: str, text: str, keep: int) -> list[tuple[int, int]]:
    """The `keep` sentences that share most stems with the question; earlier ones win ties."""
    sentences = _sentence_stems(text)
    if len(sentences) <= keep:
        return [(0, len(text))]
    wanted = set(index_words(question, stem=True))
    best = sorted(range(len(sentences)), key=lambda i: (-len(wanted & sentences[i][1]), i))[:keep]
    return [sentences[i][0] for i in sorted(best)]


@lru_cache(maxsize=16384)
def _sentence_stems(text: str) -> list[tuple[tuple[int, int], frozenset[str]]]:
    return [
        ((start, end), frozenset(index_words(text[start:end], stem=True)))
        for start, end in sentence_spans(text)
    ]


def _cut(excerpt: Excerpt, room: int) -> Excerpt | None:
    """The excerpt shortened to `room` tokens; None where less than a sentence's worth fits."""
    room -= count_tokens(excerpt.header)
    if room < 24:
        return None
    spans = []
    for span in excerpt.spans:
        text = truncate_tokens(excerpt.record.text[span.start : span.end], room - 1)
        if text:
            spans.append(Span(span.record_id, span.start, span.start + len(text)))
        room -= count_tokens(text) + 1
        if room < 2:
            break
    return Excerpt(excerpt.record, excerpt.header, tuple(spans))
