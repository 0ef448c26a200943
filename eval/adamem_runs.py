"""One cell of AdaMem-Bench: a method run over a story, everything it does in its folder.

All LM calls go through one ledger there (`calls.jsonl`), so a run that was stopped is started
again by the same call and makes no call twice. `journal.jsonl` holds every date, question, update
and writeback as it is done; `result.json` comes last: a cell that has it is complete.
"""

import hashlib
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dspy

from memsteer.eval.adamem_alignment import judge_alignment
from memsteer.eval.adamem_bench import load_story
from memsteer.eval.adamem_config import CellConfig
from memsteer.eval.adamem_figures import StoryFigures
from memsteer.eval.adamem_story import Story
from memsteer.eval.adamem_stream import (
    JudgeMarker,
    RuleMarker,
    gold_feedback,
    goldens_by_session,
    to_stream,
)
from memsteer.eval.config import ConfigError, first_difference
from memsteer.eval.folder import Journal, write_json
from memsteer.eval.judge import Judge
from memsteer.eval.models import make_lm
from memsteer.eval.progress import Reporter, Silent
from memsteer.eval.sample_data import load_sample_story
from memsteer.eval.stages import NoAnswers
from memsteer.programs.adamem import Event, StoryRun, WeeklyLoop
from memsteer.programs.baselines import FullContext, IdealMemory
from memsteer.programs.embedding import Embedder, SentenceTransformerEmbedder, default_cache_dir
from memsteer.programs.ledger import Budget, Ledger, Usage
from memsteer.programs.records import HistoryError
from memsteer.programs.systems import (
    ADAMEM,
    MEM0,
    MEM0_TIME,
    PAPER_ADAMEM,
    PolicyMemory,
    WritingSystem,
)

_WRITERS = {
    "adamem": ADAMEM,
    "adamem-paper": PAPER_ADAMEM,
    "mem0": MEM0,
    "mem0-time": MEM0_TIME,
}
_SHOWN_LINES = 5


def load_cell_story(config: CellConfig) -> Story:
    """The story of a cell: from the benchmark's folder, or the bundled one. Raises HistoryError."""
    if config.data:
        return load_story(config.data, config.story)
    story = load_sample_story()
    if config.story != story.number:
        raise HistoryError(f"no --data: the bundled story is {story.number}, not {config.story}")
    return story


def run_cell(
    config: CellConfig, reporter: Reporter | None = None, *, embedder: Embedder | None = None
) -> dict[str, Any]:
    """Run the cell in `config.out`; what `result.json` then holds.

    Raises `HistoryError`, `ConfigError`, `LedgerError`, `EmbedderError`, `VectorsMissing` or
    `NoAnswers` for what the caller can mend, and `BudgetExhausted` where the budget ends the run;
    called again with a larger one, it goes on.
    """
    started = time.monotonic()
    reporter = reporter or Silent()
    reporter.stage(f"story {config.story}, {config.method}, {config.feedback}")
    story = load_cell_story(config)
    folder = _prepare(config, story)
    with Ledger(folder / "calls.jsonl", Budget(config.budget_calls)) as ledger:
        reporter.watch(lambda: ledger.usage)
        _begin(folder, config, story)
        cell = _Cell(config, story, ledger, Journal(folder / "journal.jsonl"), reporter)
        with dspy.context(
            lm=cell.model(config.lm),
            adapter=dspy.ChatAdapter(),
            disable_history=True,
            max_trace_size=0,
            track_usage=False,
        ):
            result = cell.run(embedder)
        result["lm"] = _told_usage(ledger.usage)
    result["seconds"] = time.monotonic() - started
    write_json(folder / "result.json", result)
    return result


def finished(config: CellConfig) -> dict[str, Any] | None:
    """The result of a cell that is complete in `config.out`, else None.

    Raises `ConfigError` where the folder holds a cell of another configuration or other data.
    """
    path = Path(config.out) / "result.json"
    if not path.exists():
        return None
    _prepare(config, load_cell_story(config))
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None  # not readable: it is run again, over its ledger
    return result if isinstance(result, dict) else None


def make_system(method: str, story: Story, embedder: Embedder | None = None) -> WritingSystem:
    """The writing system of a method's name."""
    if method == "fc":
        return FullContext()
    embedder = embedder or SentenceTransformerEmbedder(cache_dir=default_cache_dir())
    if method == "id":
        return IdealMemory(embedder, goldens_by_session(story))
    return PolicyMemory(embedder, _WRITERS[method])


@dataclass
class _Cell:
    """One cell while it runs."""

    config: CellConfig
    story: Story
    ledger: Ledger
    journal: Journal
    reporter: Reporter
    done: int = 0

    def model(self, name: str) -> dspy.LM:
        lm = make_lm(name, self.config.api_base)
        if self.config.seed:
            lm = lm.copy(rollout_id=self.config.seed)
        return self.ledger.record(lm)

    def run(self, embedder: Embedder | None) -> dict[str, Any]:
        config, story = self.config, self.story
        self._announce()
        system = make_system(config.method, story, embedder)
        for role in ("extractor", "gate", "updater", "answerer"):
            module = getattr(system, role, None)
            if module is not None and role in config.role_lms:
                module.set_lm(self.model(config.role_lms[role]))
        marker = JudgeMarker(story, self._judge()) if config.judged_by_model else RuleMarker(story)
        stream = to_stream(story, tell_person=config.tell_person)
        feedback = gold_feedback(story, config.feedback, marker)
        run: StoryRun = WeeklyLoop(system)(
            stream=stream, feedback=feedback, on_event=self._on_event
        ).run
        result = self._result(run)
        if config.judged_by_model:
            result["unjudged_answers"] = getattr(marker, "unjudged", 0)
        return result

    def _judge(self) -> Judge:
        judge = Judge()
        judge.set_lm(self.model(self.config.role_lms.get("judge", self.config.lm)))
        return judge

    def _result(self, run: StoryRun) -> dict[str, Any]:
        config, learns = self.config, self.config.method.startswith("adamem")
        figures = StoryFigures(self.story, run, keeps_memories=config.method != "fc")
        overall = figures.overall()
        if config.judged_by_model and learns:
            lm = self.model(config.role_lms.get("judge", config.lm))
            overall["policy_alignment"] = judge_alignment(self.story, run.weeks[-1].policy, lm)
        return {
            "story": self.story.number,
            "method": config.method,
            "feedback": config.feedback,
            "lm_name": config.lm,
            "judge": "model" if config.judged_by_model else "rule",
            "seed": config.seed,
            **overall,
            "questions": len(run.asked),
            "failed_questions": [a.question.id for a in run.asked if a.answered.failure],
            "failed_dates": [s.date for s in run.failed],
            "refused": len(run.state.store.refused),
            "weeks": figures.by_week(),
            "policy": run.weeks[-1].policy.model_dump(mode="json") if learns else None,
        }

    def _announce(self) -> None:
        report = self.story.report
        self.journal("start", {"story": self.story.number, "loaded": list(report)})
        for line in report[:_SHOWN_LINES]:
            self.reporter.note(f"  {line}")
        if len(report) > _SHOWN_LINES:
            self.reporter.note(f"  and {len(report) - _SHOWN_LINES} more such lines in the journal")

    def _on_event(self, event: Event) -> None:
        self.journal(event.kind, {"week": event.week, "key": event.key, **event.data})
        self.done += event.kind == "question"
        self.reporter.progress("questions", self.done, len(self.story.questions))
        usage = self.ledger.usage
        if usage.failures and not usage.calls:
            raise NoAnswers(
                f"--lm {self.config.lm}: none of {usage.failures} calls was answered "
                f"({event.data.get('failure', 'no reason given')}); "
                "check the name, the key and the address"
            )


def _prepare(config: CellConfig, story: Story) -> Path:
    """The cell's folder, made if need be; refuses a folder that holds another cell."""
    folder = Path(config.out)
    path = folder / "config.json"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        text = path.read_text(encoding="utf-8") if path.exists() else ""
    except OSError as error:
        raise ConfigError(f"--out {folder}: cannot be used ({error.strerror})") from error
    if not text:
        return folder
    try:
        held = dict(json.loads(text)["compared"])
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{path}: is not a cell's configuration; give another --out") from error
    found = first_difference(held, _compared(config, story))
    if found:
        name, was, now = found
        said = "has changed since" if name == "digest" else f"{was!r} there, {now!r} now"
        raise ConfigError(
            f"{folder}: holds another run, field {name!r}: {said}; give another --out"
        )
    return folder


def _begin(folder: Path, config: CellConfig, story: Story) -> None:
    """Note which cell the folder holds, once its ledger is ours."""
    (folder / "result.json").unlink(missing_ok=True)
    row = {"config": config.model_dump(), "compared": _compared(config, story)}
    write_json(folder / "config.json", row)


def _compared(config: CellConfig, story: Story) -> dict[str, Any]:
    profiles = sorted(story.profiles.items())
    parts = repr((profiles, story.weeks, story.outline, story.questions))
    return {**config.compared, "digest": hashlib.sha256(parts.encode()).hexdigest()}


def _told_usage(usage: Usage) -> dict[str, int]:
    return {
        "calls": usage.calls,
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.completion_tokens,
    }
