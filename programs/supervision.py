"""Supervision: bundles go through plan, question, audit and blind recovery; what stands is kept.

Checks that cost nothing run before calls that cost. Every refusal is kept with its reason. With a
folder, each item and each rejection is a line on disk as soon as it is decided.
"""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal, cast

import dspy

from memsteer.programs.answers import compare, fold
from memsteer.programs.bundles import Bundle, grow_bundles
from memsteer.programs.graph import build_graph
from memsteer.programs.parallel import Failure, run_parallel
from memsteer.programs.plan_checks import Fault, check_plan, check_question
from memsteer.programs.records import History, Span
from memsteer.programs.roles import Auditor, BlindRecoverer, Planner, QuestionWriter
from memsteer.signatures.supervision import AnswerPlan, AnswerType

Stage = Literal["plan", "question", "audit", "recovery", "failed"]
Progress = Callable[[int, int, int], None]  # accepted, wanted, bundles tried


@dataclass(frozen=True)
class SupervisionItem:
    """One verified question with its answer and the spans that give it."""

    id: str
    question: str
    answer: str
    answer_type: AnswerType
    intent: str
    evidence: tuple[Span, ...]
    question_time: str = ""

    @property
    def evidence_records(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(span.record_id for span in self.evidence))

    def to_example(self) -> dspy.Example:
        """An example with inputs question and question_time; evidence are (id, start, end)."""
        return dspy.Example(
            id=self.id,
            question=self.question,
            question_time=self.question_time,
            answer=self.answer,
            answer_type=self.answer_type,
            evidence=[(s.record_id, s.start, s.end) for s in self.evidence],
        ).with_inputs("question", "question_time")

    def to_row(self) -> dict[str, Any]:
        row = {**self.__dict__}
        row["evidence"] = [[s.record_id, s.start, s.end] for s in self.evidence]
        return row

    @classmethod
    def from_row(cls, row: dict[str, Any]) -> "SupervisionItem":
        return cls(**{**row, "evidence": tuple(Span(*s) for s in row["evidence"])})


@dataclass(frozen=True)
class Rejection:
    """A bundle that gave no item: where it fell, for which reason, and what was written so far."""

    id: str
    stage: Stage
    reason: str
    detail: str = ""
    question: str = ""
    answer: str = ""
    records: tuple[str, ...] = ()


@dataclass(frozen=True)
class Supervision:
    """What a history gave: accepted items in order, and every rejection.

    `train` and `val` are examples: every `1 / val_share`-th item, drawn by `seed`, validates.
    """

    items: tuple[SupervisionItem, ...]
    rejections: tuple[Rejection, ...] = ()
    val_share: float = 0.5
    seed: int = 0

    @cached_property
    def _split(self) -> tuple[list[dspy.Example], list[dspy.Example]]:
        order = list(self.items)
        random.Random(self.seed).shuffle(order)
        cut = round(len(order) * self.val_share)
        return [i.to_example() for i in order[cut:]], [i.to_example() for i in order[:cut]]

    @property
    def train(self) -> list[dspy.Example]:
        return self._split[0]

    @property
    def val(self) -> list[dspy.Example]:
        return self._split[1]

    @property
    def reasons(self) -> dict[str, int]:
        """How often each reason refused a bundle, most frequent first."""
        return dict(Counter(r.reason for r in self.rejections).most_common())

    def to_jsonl(self, folder: str | Path) -> None:
        """Write `supervision.jsonl` and `rejects.jsonl` into `folder`."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        _write(folder / "supervision.jsonl", (item.to_row() for item in self.items))
        _write(folder / "rejects.jsonl", (r.__dict__ for r in self.rejections))

    @classmethod
    def from_jsonl(cls, folder: str | Path, **split: Any) -> "Supervision":
        """Read what `to_jsonl` (or a builder with a folder) wrote; `split` as for the class."""
        folder = Path(folder)
        items = [SupervisionItem.from_row(row) for row in _read(folder / "supervision.jsonl")]
        rejects = [
            Rejection(**{**row, "records": tuple(row["records"])})
            for row in _read(folder / "rejects.jsonl")
        ]
        return cls(tuple(items), tuple(rejects), **split)


def _write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")


def _read(path: Path) -> Iterator[dict[str, Any]]:
    if path.exists():
        yield from (json.loads(x) for x in path.read_text("utf-8").split("\n") if x.strip())


class SupervisionBuilder(dspy.Module):
    """Turns a history into supervision. The roles are planner, question_writer, auditor and
    blind_recoverer; swap one's model by `builder.auditor.set_lm(lm)`.

    Args:
        questions: how many items to accept; stops earlier when bundles run out.
        attempts: bundles tried at most, as a multiple of `questions`.
        budget_tokens: the size of a bundle.
        hops: steps of a bundle's path, taken in turn; 0 is a single record.
        val_share: share of the items that validate.
        seed: decides bundles and split.
        num_threads: LM calls at once; None takes `dspy.settings.num_threads`.
    """

    def __init__(
        self,
        questions: int = 200,
        *,
        attempts: float = 4.0,
        budget_tokens: int = 1500,
        hops: Sequence[int] = (0, 1, 2),
        val_share: float = 0.5,
        seed: int = 0,
        num_threads: int | None = None,
    ) -> None:
        super().__init__()
        if questions < 1:
            raise ValueError(f"questions must be at least 1, not {questions}")
        self.questions = questions
        self.attempts = attempts
        self.budget_tokens = budget_tokens
        self.hops = tuple(hops)
        self.val_share = val_share
        self.seed = seed
        self.num_threads = num_threads
        self.planner = Planner()
        self.question_writer = QuestionWriter()
        self.auditor = Auditor()
        self.blind_recoverer = BlindRecoverer()

    def forward(
        self,
        history: History,
        folder: str | Path | None = None,
        progress: Progress | None = None,
    ) -> Supervision:
        """Build supervision; raises `HistoryError` where no record fits a bundle.

        Bundles are worked on in waves and judged in order, so that the result does not depend
        on the number of threads.
        """
        sinks = _Sinks(Path(folder)) if folder else None
        items: list[SupervisionItem] = []
        rejections: list[Rejection] = []
        asked: set[str] = set()
        bundles = iter(self._bundles(history))
        while len(items) < self.questions:
            wave = list(islice(bundles, min(32, max(8, self.questions - len(items)))))
            if not wave:
                break
            outcomes = run_parallel(self.make_item, [(b,) for b in wave], self.num_threads)
            for bundle, outcome in zip(wave, outcomes, strict=True):
                result = _settle(bundle, outcome, asked)
                if isinstance(result, Rejection):
                    rejections.append(result)
                elif len(items) < self.questions:
                    asked.add(fold(result.question))
                    items.append(result)
                else:
                    continue  # beyond what was wanted: neither kept nor refused
                if sinks:
                    sinks.add(result)
            if progress:
                progress(len(items), self.questions, len(items) + len(rejections))
        return Supervision(tuple(items), tuple(rejections), self.val_share, self.seed)

    def _bundles(self, history: History) -> Iterable[Bundle]:
        return grow_bundles(
            history,
            build_graph(history),
            count=round(self.questions * self.attempts),
            budget_tokens=self.budget_tokens,
            hops=self.hops,
            seed=self.seed,
        )

    def make_item(self, bundle: Bundle) -> SupervisionItem | Rejection:
        """One bundle through all stages: the item, or where and why it was refused."""
        plan: AnswerPlan | None = self.planner(bundle=bundle).plan
        if plan is None:
            return _reject(bundle, "plan", Fault("no_plan"))
        checked = check_plan(plan, bundle)
        if isinstance(checked, Fault):
            return _reject(bundle, "plan", checked, plan)
        question = str(self.question_writer(bundle=bundle, plan=plan).question).strip()
        fault = check_question(question, plan, bundle)
        if fault:
            return _reject(bundle, "question", fault, plan, question)
        audit = self.auditor(bundle=bundle, plan=plan, question=question)
        if not audit.evidence_supports_answer:
            fault = Fault("evidence_does_not_support_answer", audit.reason)
        elif not audit.question_matches_plan:
            fault = Fault("question_differs_from_plan", audit.reason)
        if fault:
            return _reject(bundle, "audit", fault, plan, question)
        fault = self._recover(bundle, plan, question)
        if fault:
            return _reject(bundle, "recovery", fault, plan, question)
        return SupervisionItem(
            id=bundle.id,
            question=question,
            answer=plan.answer,
            answer_type=plan.answer_type,
            intent=plan.intent,
            evidence=tuple(dict.fromkeys(checked)),
            question_time=_asked_on(bundle),
        )

    def _recover(self, bundle: Bundle, plan: AnswerPlan, question: str) -> Fault | None:
        found = self.blind_recoverer(bundle=bundle, question=question, answer_type=plan.answer_type)
        verdict = compare(str(found.answer), plan.answer, plan.answer_type)
        if not verdict.correct:
            reason = "recovery_abstained" if verdict.outcome == "abstained" else "another_answer"
            return Fault(reason, f"{found.answer!r}, not {plan.answer!r}: {verdict.reason}")
        cited = {citation.record_id for citation in found.citations}
        missing = [record.id for record in bundle.records if record.id not in cited]
        return Fault("record_not_cited", ", ".join(missing)) if missing else None


def _asked_on(bundle: Bundle) -> str:
    """The date a bundle's question is asked: one to thirteen weeks after its last record.

    People ask weeks or months after the event, not all at the end of their history; drawn from
    the bundle's id, so that it is the same in every run.
    """
    last = max((r.time for r in bundle.records if r.time), default=None)
    if last is None:
        return ""
    wait = timedelta(days=random.Random(bundle.id).randint(7, 91))
    asked = min(last, datetime.max - wait) + wait  # the last year of the calendar has no next
    return asked.date().isoformat()


def _settle(
    bundle: Bundle, outcome: "SupervisionItem | Rejection | Failure", asked: set[str]
) -> SupervisionItem | Rejection:
    if isinstance(outcome, Failure):
        return _reject(bundle, "failed", Fault(outcome.reason, outcome.detail))
    if isinstance(outcome, SupervisionItem) and fold(outcome.question) in asked:
        fault = Fault("question_asked_before", outcome.question)
        return _reject(bundle, "question", fault)
    return outcome


def _reject(
    bundle: Bundle,
    stage: Stage,
    fault: Fault,
    plan: AnswerPlan | None = None,
    question: str = "",
) -> Rejection:
    return Rejection(
        id=bundle.id,
        stage=stage,
        reason=fault.reason,
        detail=fault.detail,
        question=question,
        answer=plan.answer if plan else "",
        records=tuple(record.id for record in bundle.records),
    )


class _Sinks:
    """The two files of a folder, begun anew; each row is flushed as it is decided."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._paths = (folder / "supervision.jsonl", folder / "rejects.jsonl")
        for path in self._paths:
            path.write_text("", encoding="utf-8")

    def add(self, result: SupervisionItem | Rejection) -> None:
        accepted = isinstance(result, SupervisionItem)
        row = cast(SupervisionItem, result).to_row() if accepted else result.__dict__
        with self._paths[0 if accepted else 1].open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
