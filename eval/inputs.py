"""What a run reads: history and questions, earlier supervision, a design; and their digests."""

import hashlib
import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import dspy

from memsteer.eval.config import ConfigError, RunConfig, Source
from memsteer.eval.questions import Benchmark, load_questions
from memsteer.eval.rhelm import load_rhelm
from memsteer.eval.sample_data import load_sample
from memsteer.programs.design import DesignError, MemoryDesign
from memsteer.programs.records import History, HistoryError
from memsteer.programs.supervision import Supervision


def load_source(source: Source) -> Benchmark:
    """The history and its official questions (none where no file names them)."""
    if source.kind == "sample":
        return load_sample()
    if source.kind == "rhelm":
        return load_rhelm(source.data, source.persona, source.external)
    history = History.from_jsonl(source.history)
    questions = load_questions(source.questions, history) if source.questions else ()
    return Benchmark("history", history, questions)


def load_supervision(config: RunConfig, history: History) -> Supervision:
    """What an earlier run wrote into `config.supervision_dir`, checked against the history."""
    path = Path(config.supervision_dir) / "supervision.jsonl"
    if not path.is_file():
        raise HistoryError(f"{path}: does not exist; give a folder that `supervise` wrote")
    try:
        supervision = Supervision.from_jsonl(path.parent, seed=config.seed)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HistoryError(f"{path}: is not what `supervise` writes ({error})") from error
    for item in supervision.items:
        for span in item.evidence:
            if span.record_id not in history.by_id:
                raise HistoryError(
                    f"{path}, item {item.id!r}, field 'evidence': no record of the history has the "
                    f"id {span.record_id!r}; give the history that the supervision came from"
                )
    return supervision


def load_design(path: str) -> MemoryDesign:
    """The design in a JSON file; raises `DesignError` naming the file and the field."""
    try:
        return MemoryDesign.parse(json.loads(Path(path).read_text(encoding="utf-8")))
    except OSError as error:
        raise DesignError(f"{path}: cannot be read ({error.strerror})") from error
    except DesignError as error:
        raise DesignError(f"{path}: {error}") from error
    except ValueError as error:
        raise DesignError(f"{path}: is not JSON ({error})") from error


def split_official(
    config: RunConfig, benchmark: Benchmark
) -> tuple[list[dspy.Example], list[dspy.Example]]:
    """Official questions with evidence in the corpus: those to train with, those to score.

    All are scored, and none trains, unless the configuration asks for halves. The halves depend
    on the seed alone, so that both kinds of supervision are scored on the same questions.
    """
    examples = [question.to_example() for question in benchmark.scored]
    if config.supervision == "generated" and not config.score_half:
        return [], examples
    random.Random(config.seed).shuffle(examples)
    cut = len(examples) // 2
    if config.supervision == "official" and cut < 2:
        raise ConfigError(
            f"--supervision official: needs 4 questions with evidence, {len(examples)} are here"
        )
    return (examples[:cut] if config.supervision == "official" else []), examples[cut:]


def digests(config: RunConfig, benchmark: Benchmark) -> dict[str, str]:
    """What the run's inputs hold, by the field of the configuration that names them."""
    found = {"source.history": _digest(r.to_row() for r in benchmark.history)}
    found["source.questions"] = _digest(repr(q) for q in benchmark.questions)
    if config.supervision_dir:
        items = load_supervision(config, benchmark.history).items
        found["supervision_dir"] = _digest(item.to_row() for item in items)
    if config.design:
        found["design"] = _digest([load_design(config.design).model_dump()])
    return found


def _digest(rows: Iterable[Any]) -> str:
    sha = hashlib.sha256()
    for row in rows:
        sha.update(json.dumps(row, sort_keys=True).encode() + b"\n")
    return sha.hexdigest()[:16]
