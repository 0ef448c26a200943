"""What a report says, as sections of plain values; `report` gives them their two forms."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from memsteer.eval.charts import Bar, bars, steps
from memsteer.eval.metrics import MEASURES, Summary
from memsteer.eval.result import RunResult
from memsteer.optimizers.trajectory import Proposed, Step
from memsteer.programs.design import BASE_BM25
from memsteer.programs.ledger import Usage
from memsteer.programs.supervision import Rejection

T = TypeVar("T")
NAMES = {
    "evidence_recall_at_10": "Evidence recall@10",
    "context_coverage": "Context coverage",
    "answer_accuracy": "Answer accuracy",
}
_SHOWN = 20


@dataclass(frozen=True)
class Table:
    """A header and rows of cells."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Section:
    """A heading with text, chart (SVG) and table, each optional; `folded` may start closed."""

    title: str
    text: str = ""
    chart: str = ""
    table: Table | None = None
    folded: bool = False


def sections(result: RunResult) -> list[Section]:
    """All sections that the run has something to say in."""
    found = [
        _measures(result),
        _yield(result),
        _trajectory(result),
        _proposals(result),
        _design(result),
        _usage(result),
        _questions(result),
        _rejections(result),
        _answers(result),
    ]
    return [section for section in found if section]


def percent(value: float | None) -> str:
    return "none" if value is None else f"{value:.1%}"


def _measures(result: RunResult) -> Section | None:
    base, optimized = result.base, result.optimized
    if base is None or optimized is None:
        return None
    rows, drawn = [], []
    for name in MEASURES:
        gain = result.gains.get(name)
        said = (
            f"{100 * gain.mean:+.1f} ({100 * gain.interval.low:+.1f} to "
            f"{100 * gain.interval.high:+.1f})"
            if gain
            else "none"
        )
        rows.append((NAMES[name], _mean(base, name), _mean(optimized, name), said))
        drawn += [_bar(f"{NAMES[name]}: base", base, name, "b")]
        drawn += [_bar("optimised", optimized, name, "a")]
    for verdict in ("correct", "wrong", "abstained", "failed"):
        before, after = getattr(base, verdict), getattr(optimized, verdict)
        rows.append((f"Questions {verdict}", str(before), str(after), f"{after - before:+d}"))
    where = {
        "official": "official questions, which took no part in the optimisation",
        "validation": "questions of the validation split, by which the design was chosen: "
        "a friendly estimate",
        "nothing": "questions",
    }[result.found.scored_on]
    return Section(
        "Base-BM25 against the optimised design",
        f"Measured on {base.questions} {where}. In brackets: 95 % bootstrap intervals; the last "
        "column is in points, paired by question.",
        bars("Base against optimised", drawn, top=1.0),
        Table(("Measure", "Base", "Optimised", "Difference"), tuple(rows)),
    )


def _mean(summary: Summary, name: str) -> str:
    interval = summary.intervals.get(name)
    said = percent(getattr(summary, name))
    return f"{said} ({interval.low:.1%} to {interval.high:.1%})" if interval else said


def _bar(label: str, summary: Summary, name: str, style: str) -> Bar:
    value = getattr(summary, name)
    interval = summary.intervals.get(name)
    low, high = interval or (None, None)
    return Bar(label, value or 0.0, percent(value), low, high, style)


def _yield(result: RunResult) -> Section | None:
    supervision = result.found.supervision
    if supervision is None:
        return None
    accepted, reasons = len(supervision.items), supervision.reasons
    tried = accepted + sum(reasons.values())
    counts = [("accepted", accepted), *((r.replace("_", " "), n) for r, n in reasons.items())]
    return Section(
        "Supervision",
        f"{accepted} of {tried} bundles became verified questions; every other one was refused "
        "for the reason shown.",
        bars(
            "Yield by reason",
            [Bar(name, n, str(n), style="b" if i else "a") for i, (name, n) in enumerate(counts)],
        ),
        Table(
            ("Outcome", "Bundles", "Share"),
            tuple((name, str(n), percent(n / tried if tried else None)) for name, n in counts),
        ),
    )


def _trajectory(result: RunResult) -> Section | None:
    optimization = result.found.optimization
    if optimization is None:
        return None
    held = optimization.steps
    accepted = len(held) - 1
    text = f"{accepted} accepted revision{'' if accepted == 1 else 's'}."
    if not accepted:
        text += " No proposal did better on the validation questions: Base-BM25 stays."
    lines = [
        ("screening", "b", [s.screen for s in held]),
        ("validation", "a", [s.val_accuracy for s in held]),
    ]
    header = ("Round", "Screening (evidence)", "Training accuracy", "Validation accuracy")
    return Section(
        "Trajectory", text, steps("Trajectory", lines), Table(header, tuple(map(_step, held)))
    )


def _step(step: Step) -> tuple[str, ...]:
    shares = (step.screen, step.train_accuracy, step.val_accuracy)
    return (str(step.round), *map(percent, shares))


def _proposals(result: RunResult) -> Section | None:
    optimization = result.found.optimization
    if optimization is None or not optimization.proposals:
        return None
    header = ("Round", "Changes", "Why", "Screening", "Validation", "Fate")
    rows = tuple(map(_proposal, optimization.proposals))
    return Section("Every proposal and its fate", table=Table(header, rows), folded=True)


def _proposal(proposed: Proposed) -> tuple[str, ...]:
    changes = ", ".join(f"{path} = {value}" for path, value in proposed.changes)
    scores = ("" if v is None else percent(v) for v in (proposed.screen, proposed.accuracy))
    return (str(proposed.round), changes, proposed.rationale, *scores, proposed.fate)


def _design(result: RunResult) -> Section | None:
    if result.config.command == "supervise":
        return None
    changed = BASE_BM25.differences(result.found.design)
    if not changed:
        return Section("The design", "The design is Base-BM25, unchanged.")
    rows = tuple((path, str(a), str(b)) for path, (a, b) in changed.items())
    return Section(
        "The design, where it differs from Base-BM25",
        table=Table(("Field", "Base-BM25", "Optimised"), rows),
    )


def _usage(result: RunResult) -> Section:
    rows = [_used(s.name, s.usage, s.seconds) for s in result.stages]
    rows.append(_used("all", result.usage, result.seconds))
    header = ("Stage", "LM calls", "Prompt tokens", "Completion tokens", "USD", "Failed", "Seconds")
    return Section(
        "What it took",
        "Answers that were replayed from calls.jsonl count as calls; a call that two stages share "
        "counts in the first. Failed calls and seconds are of this process alone.",
        table=Table(header, tuple(rows)),
    )


def _used(name: str, usage: Usage, seconds: float) -> tuple[str, ...]:
    return (
        name,
        f"{usage.calls:,}",
        f"{usage.prompt_tokens:,}",
        f"{usage.completion_tokens:,}",
        "unknown" if usage.usd is None else f"{usage.usd:.4f}",
        str(usage.failures),
        f"{seconds:.1f}",
    )


def _sample(items: Sequence[T], seed: int) -> list[T]:
    """Up to twenty of `items`, drawn by `seed`, in their order."""
    drawn = random.Random(seed).sample(range(len(items)), min(_SHOWN, len(items)))
    return [items[i] for i in sorted(drawn)]


def _questions(result: RunResult) -> Section | None:
    supervision = result.found.supervision
    if supervision is None or not supervision.items:
        return None
    rows = tuple(
        (i.question, i.answer, i.answer_type, ", ".join(i.evidence_records))
        for i in _sample(supervision.items, result.config.seed)
    )
    header = ("Question", "Answer", "Type", "Evidence")
    return Section(f"{len(rows)} questions to read", table=Table(header, rows), folded=True)


def _rejections(result: RunResult) -> Section | None:
    supervision = result.found.supervision
    if supervision is None or not supervision.rejections:
        return None
    rows = tuple(map(_rejection, _sample(supervision.rejections, result.config.seed)))
    header = ("Stage", "Reason", "Question", "Answer", "Detail")
    return Section(f"{len(rows)} rejections to read", table=Table(header, rows), folded=True)


def _rejection(rejection: Rejection) -> tuple[str, ...]:
    reason = rejection.reason.replace("_", " ")
    detail = rejection.detail[:300]
    return (rejection.stage, reason, rejection.question, rejection.answer, detail)


def _answers(result: RunResult) -> Section | None:
    """The questions on which the two designs differ: where a reader learns most."""
    pairs = zip(result.found.base, result.found.optimized, strict=True)
    differing = [(b, o) for b, o in pairs if b.verdict != o.verdict]
    if not differing:
        return None
    rows = tuple(
        (o.question, o.expected, f"{b.answer} ({b.verdict})", f"{o.answer} ({o.verdict})")
        for b, o in _sample(differing, result.config.seed)
    )
    return Section(
        f"{len(rows)} answers that differ",
        f"The verdict changed on {len(differing)} questions.",
        table=Table(("Question", "Expected", "Base", "Optimised"), rows),
        folded=True,
    )
