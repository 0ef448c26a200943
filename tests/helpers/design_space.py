"""All memory designs over raw records, as a hypothesis strategy."""

from typing import Any

from hypothesis import strategies as st

from memsteer.programs.design import BASE_BM25, KNOBS, MemoryDesign

CHOICES: dict[str, list[Any]] = {
    "store.unit": ["record", "window", "conversation", "section", "sentence"],
    "store.enrich": ["none", "heading", "previous"],
    "store.stem": [True, False],
    "retrieval.fusion": ["score", "rrf"],
    "retrieval.reranker": ["none", "sentence", "cross-encoder"],
    "context.order": ["rank", "time"],
    "context.header": ["id", "date", "full"],
    "context.compress": ["none", "own_words", "sentences"],
    "context.deduplicate": [True, False],
    "context.validate_answer": [True, False],
}


@st.composite
def changes(draw: st.DrawFn) -> dict[str, Any]:
    """Some fields with values that the schema allows."""
    drawn: dict[str, Any] = {}
    for path, options in CHOICES.items():
        if draw(st.booleans()):
            drawn[path] = draw(st.sampled_from(options))
    for knob in KNOBS:
        if draw(st.integers(0, 3)) == 0:
            low, high = knob.low, knob.high
            whole = st.integers(int(low), int(high))
            drawn[knob.path] = draw(whole if knob.integer else st.floats(low, high))
    return drawn


def designs() -> st.SearchStrategy[MemoryDesign]:
    return changes().map(BASE_BM25.changed)
