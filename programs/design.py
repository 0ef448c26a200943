"""The memory design: one frozen model that validates, tells the proposer its schema, and spans
the knobs that Optuna sets (MemSteer, section 3.3).

Each numeric field carries its range; a field that another choice switches off says so with
`needs`, so that neither proposer nor tuner spends anything on it. The answering model, its
instruction and the context budget belong to the task: no design holds them.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from dspy.predict.parameter import Parameter
from pydantic import BaseModel, ConfigDict, Field, ValidationError


class DesignError(ValueError):
    """A design, or a change to one, that the schema refuses: one line that names the field."""


def _knob(default: float, low: float, high: float, desc: str, needs: str = "") -> Any:
    """A numeric field with its range; `needs` names a field that must be set (not 0, not none)."""
    return Field(
        default=default, ge=low, le=high, description=desc, json_schema_extra={"needs": needs}
    )


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StoreDesign(_Part):
    """What is stored: the unit, what stands in it, and under which write policy."""

    unit: Literal["record", "window", "conversation", "section", "sentence"] = Field(
        default="record",
        description="what is matched by words as one piece: a record, a window of consecutive "
        "records of a group, a whole conversation (group), a section of about 120 tokens, one "
        "sentence; embeddings are of records and sentences, whatever the unit",
    )
    enrich: Literal["none", "heading", "previous"] = Field(
        default="none",
        description="what is indexed with each unit's words: nothing, date and title, or these "
        "and the person's words in the record before it",
    )
    write: Literal["raw", "policy"] = Field(
        default="raw",
        description="raw records, or memories written under the person's memory policy",
    )
    stem: bool = Field(
        default=False, description="reduce words to their stems in the lexical index"
    )
    window: int = _knob(3, 2, 8, "records in a window", "store.window_unit")

    @cached_property
    def key(self) -> str:
        """Canonical JSON: equal store designs share their indexes."""
        return self.model_dump_json()


class RetrievalDesign(_Part):
    """How stored units are found. Every channel is scaled to at most 1 before it is weighted."""

    fusion: Literal["score", "rrf"] = Field(
        default="score",
        description="join channels by weighted scaled scores, or by reciprocal rank",
    )
    reranker: Literal["none", "sentence", "cross-encoder"] = Field(
        default="none",
        description="rescore the first records by their best sentence or a cross-encoder",
    )
    text_weight: float = _knob(1.0, 0.0, 2.0, "weight of BM25 over the whole text")
    own_words_weight: float = _knob(0.0, 0.0, 2.0, "weight of BM25 over what the person said")
    title_weight: float = _knob(0.0, 0.0, 1.0, "weight of BM25 over titles, people and dates")
    dense_weight: float = _knob(0.0, 0.0, 2.0, "weight of embeddings of the whole text")
    own_dense_weight: float = _knob(0.0, 0.0, 2.0, "weight of embeddings of the person's words")
    sentence_weight: float = _knob(0.0, 0.0, 2.0, "weight of the best single sentence's embedding")
    rewrites: int = _knob(0, 0, 4, "rewritten queries that search beside the question")
    rewrite_weight: float = _knob(0.5, 0.1, 1.5, "weight of them all", "retrieval.rewrites")
    hyde: int = _knob(0, 0, 3, "hypothetical passages that search beside the question (HyDE)")
    hyde_weight: float = _knob(0.5, 0.1, 1.5, "weight of them all", "retrieval.hyde")
    rerank_depth: int = _knob(30, 10, 100, "records rescored", "retrieval.reranker")
    rerank_weight: float = _knob(0.5, 0.1, 2.0, "weight of that score", "retrieval.reranker")
    date_weight: float = _knob(0.0, 0.0, 1.0, "bonus for records of a date the question names")
    recency_weight: float = _knob(0.0, 0.0, 0.5, "bonus for recent records")
    recency_days: float = _knob(60, 7, 365, "half-life of that bonus", "retrieval.recency_weight")
    neighbour_weight: float = _knob(0.0, 0.0, 1.0, "share of its neighbours' score a record gets")
    group_weight: float = _knob(0.0, 0.0, 1.0, "share of its conversation's best scores it gets")
    graph_weight: float = _knob(0.0, 0.0, 1.0, "share of the score of records linked to it")
    k: int = _knob(10, 5, 60, "records handed to the context")


class ContextDesign(_Part):
    """How the retrieved records become the answerer's memory, inside the task's token budget."""

    order: Literal["rank", "time"] = Field(default="rank", description="order of the excerpts")
    header: Literal["id", "date", "full"] = Field(
        default="date",
        description="shown above an excerpt: its id; also its date; also kind and title",
    )
    compress: Literal["none", "own_words", "sentences"] = Field(
        default="none",
        description="what is kept of a record: all, what the person said, or the sentences "
        "nearest to the question",
    )
    deduplicate: bool = Field(
        default=False, description="leave out a text that nearly repeats another"
    )
    validate_answer: bool = Field(
        default=False, description="ask once more when the answer cites nothing that was shown"
    )
    keep_sentences: int = _knob(4, 1, 12, "sentences kept of a record", "context.sentences_kept")
    neighbours: int = _knob(0, 0, 2, "records before and after each, shown where budget is left")


class MemoryDesign(_Part):
    """A memory design: store, retrieval and context. The default is Base-BM25."""

    store: StoreDesign = StoreDesign()
    retrieval: RetrievalDesign = RetrievalDesign()
    context: ContextDesign = ContextDesign()

    @cached_property
    def flat(self) -> Mapping[str, Any]:
        """Every field by its path, such as `retrieval.k`."""
        return {
            f"{part}.{name}": value
            for part, fields in self.model_dump().items()
            for name, value in fields.items()
        }

    def changed(self, changes: Mapping[str, Any]) -> "MemoryDesign":
        """This design with the fields of `changes` (path to value) set; raises `DesignError`."""
        data = self.model_dump()
        for path, value in changes.items():
            part, _, name = path.partition(".")
            if name not in data.get(part, {}):
                raise DesignError(f"design has no field {path!r}; see MemoryDesign")
            data[part][name] = value
        return self.parse(data)

    @classmethod
    def parse(cls, data: object) -> "MemoryDesign":
        """Validate a mapping or JSON text; raises `DesignError` naming the first bad field."""
        if not isinstance(data, str | Mapping):
            raise DesignError(f"design: is a {type(data).__name__}, not an object")
        try:
            return cls.model_validate_json(data) if isinstance(data, str) else cls(**data)
        except ValidationError as error:
            first = error.errors()[0]
            path = ".".join(str(p) for p in first["loc"]) or "design"
            raise DesignError(f"design field {path!r}: {first['msg']}") from error
        except TypeError as error:
            raise DesignError(f"design: is not an object ({error})") from error

    @cached_property
    def key(self) -> str:
        """Canonical JSON: equal designs have equal keys."""
        return json.dumps(self.model_dump(), sort_keys=True)

    def differences(self, other: "MemoryDesign") -> dict[str, tuple[Any, Any]]:
        """Path to (value here, value in `other`) for the fields that differ."""
        theirs = other.flat
        return {p: (v, theirs[p]) for p, v in self.flat.items() if v != theirs[p]}


BASE_BM25 = MemoryDesign()


@dataclass(frozen=True)
class Knob:
    """One numeric field as a search dimension."""

    path: str
    low: float
    high: float
    integer: bool
    needs: str


def _knobs() -> tuple[Knob, ...]:
    found = []
    for part, part_model in MemoryDesign.model_fields.items():
        fields: Mapping[str, Any] = part_model.annotation.model_fields  # type: ignore[union-attr]
        for name, info in fields.items():
            bounds = {type(m).__name__: m for m in info.metadata}
            if "Ge" not in bounds:
                continue
            found.append(
                Knob(
                    path=f"{part}.{name}",
                    low=bounds["Ge"].ge,
                    high=bounds["Le"].le,
                    integer=info.annotation is int,
                    needs=(info.json_schema_extra or {}).get("needs", ""),
                )
            )
    return tuple(found)


KNOBS = _knobs()


def active_knobs(design: MemoryDesign) -> tuple[Knob, ...]:
    """The knobs that matter under this design's structure.

    A weight of 0 switches its channel off: that is structure, which the proposer decides, so a
    knob at 0 is left alone. `k` and the knobs of chosen parts are always there.
    """
    flat = design.flat
    switches = {
        **flat,
        "store.window_unit": flat["store.unit"] == "window",
        "context.sentences_kept": flat["context.compress"] == "sentences",
    }
    return tuple(
        knob
        for knob in KNOBS
        if switches.get(knob.needs, True) not in (0, False, "none") and flat[knob.path] != 0
    )


def schema_for_proposer() -> str:
    """One line a field: path, allowed values or range, meaning. Shorter than JSON schema."""
    lines = []
    for part, part_model in MemoryDesign.model_fields.items():
        fields: Mapping[str, Any] = part_model.annotation.model_fields  # type: ignore[union-attr]
        for name, info in fields.items():
            knob = next((k for k in KNOBS if k.path == f"{part}.{name}"), None)
            if knob:
                values = f"{'int' if knob.integer else 'float'} {knob.low:g} to {knob.high:g}"
            else:
                options: Iterable[Any] = getattr(info.annotation, "__args__", ("true", "false"))
                values = " | ".join(str(option) for option in options)
            lines.append(f"{part}.{name} ({values}): {info.description}")
    return "\n".join(lines)


class DesignParameter(Parameter):
    """Holds a design inside a DSPy program, so that saving, loading and copying keep it."""

    def __init__(self, value: MemoryDesign = BASE_BM25) -> None:
        self.value = value

    def reset(self) -> None:
        """Keep the design: other optimizers reset demos, not what was learned here."""

    def dump_state(self, json_mode: bool = True) -> dict[str, Any]:
        return {"design": self.value.model_dump()}

    def load_state(self, state: Mapping[str, Any]) -> None:
        self.value = MemoryDesign.parse(state["design"])
