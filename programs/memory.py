"""The memory program: a design over one history, as a DSPy module that answers questions."""

from dataclasses import replace
from datetime import datetime
from typing import Any

import dspy

from memsteer.programs.context import Context, build_context
from memsteer.programs.design import BASE_BM25, DesignParameter, MemoryDesign
from memsteer.programs.records import History, parse_time
from memsteer.programs.retrieval import MemoryIndex, Query
from memsteer.signatures.memory import AnswerQuestion, RewriteQuery, WriteHypothetical

DEFAULT_BUDGET = 3000  # tokens of context: about a screenful of records; part of the task


class MemoryProgram(dspy.Module):
    """Answers questions from a history through a memory design. Starts as Base-BM25.

    One object serves many threads: nothing changes in `forward`. The design is a DSPy parameter:
    `save`, `load`, deep copies and other optimizers keep it. Swap a role's model by
    `program.answerer.set_lm(lm)`; the roles are answerer, rewriter and hyde_writer.

    Args:
        memory: a `History`, or a `MemoryIndex` to share indexes between programs.
        design: the memory design to start from.
        budget_tokens: the context budget, which no design can change.
    """

    def __init__(
        self,
        memory: History | MemoryIndex,
        design: MemoryDesign = BASE_BM25,
        budget_tokens: int = DEFAULT_BUDGET,
    ) -> None:
        super().__init__()
        if budget_tokens < 1:
            raise ValueError(f"budget_tokens must be at least 1, not {budget_tokens}")
        self.index = MemoryIndex(memory) if isinstance(memory, History) else memory
        self.budget_tokens = budget_tokens
        self.memory_design = DesignParameter(design)
        self.answerer = dspy.Predict(AnswerQuestion)
        self.rewriter = dspy.Predict(RewriteQuery)
        self.hyde_writer = dspy.Predict(WriteHypothetical)

    @property
    def design(self) -> MemoryDesign:
        return self.memory_design.value

    def with_design(self, design: MemoryDesign) -> "MemoryProgram":
        """A copy that differs in its design alone; indexes are shared."""
        other = self.deepcopy()
        other.memory_design.value = design
        return other  # type: ignore[no-any-return]

    def forward(
        self,
        question: str,
        question_time: str | datetime = "",
        query: Query | None = None,
    ) -> dspy.Prediction:
        """Answer one question.

        Returns a prediction with `answer`, `cited` (record ids the answerer named), `retrieved`
        (ids of up to 100 records, best first) and `context` (a `Context`). `query` may bring
        searches made earlier (`make_query`).
        """
        query = query or self.make_query(question, question_time)
        retrieved, context = self.recall(query)
        shown = {
            "memory": str(context) or "(empty)",
            "question": question,
            "question_time": query.time.isoformat(timespec="minutes") if query.time else "",
        }
        answer = self.answerer(**shown, note="")
        cited = [c.strip("[] ") for c in answer.cited]
        if self.design.context.validate_answer and not set(cited) & set(context.record_ids):
            note = "The answer cited no record of the memory. Answer from a record shown, cite it."
            answer = self.answerer(**shown, note=note)
            cited = [c.strip("[] ") for c in answer.cited]
        return dspy.Prediction(
            answer=str(answer.answer).strip(), cited=cited, retrieved=retrieved, context=context
        )

    def make_query(
        self,
        question: str,
        question_time: str | datetime = "",
        *,
        rewrites: bool | None = None,
        hyde: bool | None = None,
    ) -> Query:
        """The question with its rewritten queries and hypothetical passages.

        They are asked of the LM where the design uses them, or as `rewrites` and `hyde` say.
        """
        retrieval = self.design.retrieval
        time = parse_time("question_time", question_time)
        query = Query(question, time)
        asked: dict[str, Any] = {
            "question": question,
            "question_time": time.isoformat(timespec="minutes") if time else "",
        }
        if retrieval.rewrites > 0 if rewrites is None else rewrites:
            queries = self.rewriter(**asked).queries
            query = replace(query, rewrites=tuple(q for q in queries if q.strip()))
        if retrieval.hyde > 0 if hyde is None else hyde:
            passages = self.hyde_writer(**asked).passages
            query = replace(query, hypotheticals=tuple(p for p in passages if p.strip()))
        return query

    def recall(self, query: Query) -> tuple[tuple[str, ...], Context]:
        """What retrieval finds (up to 100 ids) and what of it the context shows. No LM calls."""
        design = self.design
        retrieved = self.index.rank(design.store, design.retrieval, query)
        context = build_context(
            self.index,
            design.store,
            design.context,
            query.question,
            retrieved[: design.retrieval.k],
            self.budget_tokens,
        )
        return retrieved, context
