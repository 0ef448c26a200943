"""A run: load, estimate, supervise, optimise, evaluate; everything it does is in its folder.

All LM calls go through one ledger in that folder. The pipeline is deterministic, so a run that was
stopped is started again by the same call: what was answered is replayed, the rest is asked.
Official questions enter at one place only, the evaluation (and, where `supervision="official"`
says so, as the training set of a measurement of what they would reach).
"""

import time
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path

import dspy

from memsteer.eval.config import ConfigError, RunConfig
from memsteer.eval.folder import Journal, begin, prepare, write_json, write_outcomes
from memsteer.eval.inputs import digests, load_design, load_source, split_official
from memsteer.eval.models import Models, is_offline
from memsteer.eval.progress import Reporter, Silent
from memsteer.eval.report import html_report, markdown_report
from memsteer.eval.result import Findings, RunResult
from memsteer.eval.stages import Work
from memsteer.programs.design import BASE_BM25
from memsteer.programs.embedding import Embedder
from memsteer.programs.ledger import Budget, Ledger
from memsteer.programs.memory import MemoryProgram

_REMOTE_THREADS = 8
_OFFLINE_THREADS = 2


def run(
    config: RunConfig, reporter: Reporter | None = None, *, embedder: Embedder | None = None
) -> RunResult:
    """Do what `config` says, in the folder `config.out`.

    Raises `HistoryError`, `DesignError`, `ConfigError`, `LedgerError`, `EmbedderError`,
    `VectorsMissing` or `NoAnswers` for what the caller can mend, and `BudgetExhausted` where the
    budget ends the run; called again with a larger one, it goes on.
    """
    started = time.monotonic()
    reporter = reporter or Silent()
    reporter.stage("load")
    benchmark = load_source(config.source)
    inputs = digests(config, benchmark)
    training, official = split_official(config, benchmark)
    folder = prepare(config, inputs)
    with Ledger(folder / "calls.jsonl", Budget(config.budget_calls, config.budget_usd)) as ledger:
        models = Models.of(config, ledger)
        begin(folder, config, inputs)
        reporter.watch(lambda: ledger.usage)
        journal = Journal(folder / "journal.jsonl")
        work = Work(config, benchmark, folder, ledger, models, reporter, journal, embedder)
        work.announce(training, official)
        with dspy.context(
            lm=models.default,
            adapter=dspy.ChatAdapter(),
            disable_history=True,
            max_trace_size=0,
            num_threads=config.threads or _default_threads(config),
        ):
            found = _do(work, training, official)
        usage = ledger.usage
        journal("end", {"usage": asdict(usage)})
    seconds = time.monotonic() - started
    stages = tuple(work.stages)
    result = RunResult(config, benchmark, found, stages=stages, usage=usage, seconds=seconds)
    _write(folder, result)
    return result


def _do(work: Work, training: Sequence[dspy.Example], official: Sequence[dspy.Example]) -> Findings:
    """The stages that the command asks for."""
    config = work.config
    if config.command == "evaluate":
        if not official:
            raise ConfigError("evaluate: no official questions are here; give --questions FILE")
        design = load_design(config.design) if config.design else BASE_BM25
        return work.score(Findings(design), official, "official")
    found = Findings()
    train, val = list(training[::2]), list(training[1::2])
    if not training:
        supervision = work.supervise()
        found = replace(found, supervision=supervision)
        train, val = supervision.train, supervision.val
        if not val:  # a single item: better than none, and the report says on how many it rests
            val = train
    if config.command == "supervise" or not train:
        return found
    found = work.optimise(found, train, val)
    if official and config.command != "optimize":
        return work.score(found, official, "official")
    return work.score(found, val, "validation")


def _default_threads(config: RunConfig) -> int:
    remote = not all(is_offline(name) for name in (config.lm, *config.role_lms.values()))
    return _REMOTE_THREADS if remote else _OFFLINE_THREADS


def _write(folder: Path, result: RunResult) -> None:
    write_outcomes(folder / "outcomes_base.jsonl", result.found.base)
    write_outcomes(folder / "outcomes_optimized.jsonl", result.found.optimized)
    write_json(folder / "design.json", result.found.design.model_dump())
    # A program without LMs: whoever loads it sets a model.
    MemoryProgram(result.benchmark.history, result.found.design, result.config.budget_tokens).save(
        folder / "program.json"
    )
    (folder / "report.md").write_text(markdown_report(result), encoding="utf-8")
    (folder / "report.html").write_text(html_report(result), encoding="utf-8")
    write_json(folder / "result.json", result.to_dict())  # last: a run that has it is complete
