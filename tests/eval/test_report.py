"""The report: its numbers are there, and nothing from a history runs in a browser."""

from html.parser import HTMLParser

from memsteer.eval.charts import Bar, bars, steps
from memsteer.eval.config import RunConfig
from memsteer.eval.questions import Benchmark
from memsteer.eval.report import html_report, markdown_report
from memsteer.eval.result import Findings, RunResult, Stage
from memsteer.optimizers.outcomes import Outcome
from memsteer.optimizers.trajectory import OptimizationResult, Proposed, Step
from memsteer.programs.design import BASE_BM25
from memsteer.programs.ledger import Usage
from memsteer.programs.records import History, Span
from memsteer.programs.supervision import Rejection, Supervision, SupervisionItem

EVIL = '<script>alert("x")</script>| **b**'
BETTER = BASE_BM25.changed({"retrieval.dense_weight": 0.5})


def outcome(verdict: str, retrieved: tuple[str, ...]) -> Outcome:
    return Outcome(
        id="q",
        question=EVIL,
        expected="4",
        answer=EVIL,
        verdict=verdict,  # type: ignore[arg-type]
        reason="",
        evidence=("a",),
        retrieved=retrieved,
    )


def result(lm: str = "extractive") -> RunResult:
    history = History.from_rows([{"id": "a", "text": EVIL}], person=EVIL)
    item = SupervisionItem("i", EVIL, "4", "number", "x", (Span("a", 0, 3),))
    rejection = Rejection("r", "audit", "question_differs_from_plan", EVIL, EVIL, EVIL, ("a",))
    step = Step(0, BASE_BM25, 0.25, 0.5, 0.125)
    proposal = Proposed(1, EVIL, (("retrieval.dense_weight", "0.5"),), "accepted", 0.5, 0.875)
    usage = Usage(calls=1234, prompt_tokens=5, completion_tokens=6)
    found = Findings(
        design=BETTER,
        supervision=Supervision((item,), (rejection,) * 3),
        optimization=OptimizationResult(
            (step, Step(1, BETTER, 0.5, 0.5, 0.875)), (proposal,), usage
        ),
        base=(outcome("wrong", ()),),
        optimized=(outcome("correct", ("a",)),),
        scored_on="official",
    )
    return RunResult(
        RunConfig(lm=lm),
        Benchmark("history", history, ()),
        found,
        (Stage("supervise", usage, 1.5),),
        usage,
        2.5,
    )


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        assert not [name for name, _ in attrs if name in ("src", "href") or name[:2] == "on"]


def test_text_from_a_history_is_shown_and_never_run() -> None:
    page = html_report(result())
    tags = Tags()
    tags.feed(page)
    assert "script" not in tags.seen
    assert "&lt;script&gt;alert" in page
    assert "<script" not in markdown_report(result())


def test_a_cell_stays_one_cell_in_markdown() -> None:
    table = markdown_report(result()).split("## Every proposal and its fate")[1].split("## ")[0]
    for line in table.strip().splitlines():
        assert line.replace(r"\|", "").count("|") == 7  # six columns


def test_the_numbers_are_in_both_forms() -> None:
    for text in (html_report(result()), markdown_report(result()).replace("\\", "")):
        for number in ("1,234", "87.5%", "100.0%", "+100.0", "retrieval.dense_weight", "accepted"):
            assert number in text, number
        assert "1 of 4 bundles" in text
        assert "question differs from plan" in text


def test_the_offline_engine_is_called_what_it_is() -> None:
    plain = "answers by extraction rules, no language model"
    assert plain in html_report(result())
    assert plain in markdown_report(result())
    assert plain not in html_report(result("openai/some-model"))


def test_bars_are_drawn_to_scale() -> None:
    drawn = bars("t", [Bar("a<", 10, "10"), Bar("b", 5, "5", 4, 6)])
    assert 'width="340.0"' in drawn  # 640 less 190 for labels and 110 for numbers
    assert 'width="170.0"' in drawn
    assert "M326.0 17" not in drawn  # the whisker of the second row, 26 lower
    assert "M326.0 43H394.0" in drawn  # 190 + 340 · 4/10 to 190 + 340 · 6/10
    assert "a&lt;" in drawn


def test_steps_of_a_single_point() -> None:
    drawn = steps("t", [("one", "a", [0.5])])
    assert 'cx="60.0" cy="116.0"' in drawn
    assert "one 50.0%" in drawn
