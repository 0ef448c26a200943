"""The roles at reading time: answerer, judge, query rewriter and HyDE writer."""

import dspy


class AnswerQuestion(dspy.Signature):
    """Answer a person's question from their memory, and from nothing else.

    The memory holds excerpts of the person's own records, each headed by its id in square
    brackets. Answer with the shortest exact value; add no explanation. If the question rests
    on something that the memory contradicts, say so in the answer. If the memory does not
    settle it, answer "Unknown".
    """

    memory: str = dspy.InputField(desc="excerpts of the person's records")
    question: str = dspy.InputField()
    question_time: str = dspy.InputField(desc="when it is asked (ISO); empty if unknown")
    note: str = dspy.InputField(desc="what was wrong with an earlier attempt; empty at first")
    answer: str = dspy.OutputField(desc='the shortest exact answer, or "Unknown"')
    cited: list[str] = dspy.OutputField(desc="ids of the records the answer rests on")


class JudgeAnswer(dspy.Signature):
    """Judge whether an answer means the same as the reference answer to a question.

    The reference is right. Other wording is fine; extra detail is fine unless it conflicts.
    Numbers, dates and amounts must agree. A set must have most of its items and few others.
    If the reference says that something did not happen or is not known, only an answer that
    says so is right. In doubt, false.
    """

    question: str = dspy.InputField()
    reference: str = dspy.InputField(desc="the right answer")
    answer: str = dspy.InputField(desc="the answer to judge")
    correct: bool = dspy.OutputField()
    reason: str = dspy.OutputField(desc="one sentence")


class RewriteQuery(dspy.Signature):
    """Rewrite a question as search queries over a person's own records.

    One query for each separate event, person or thing that the question mentions, in words
    the person may have used when it happened. Short; no question words; most useful first.
    """

    question: str = dspy.InputField()
    question_time: str = dspy.InputField(desc="when it is asked (ISO); empty if unknown")
    queries: list[str] = dspy.OutputField(desc="two to four short search queries")


class WriteHypothetical(dspy.Signature):
    """Write short passages as they might stand in the person's records and answer the question.

    Each is one or two sentences in the first person, as said at the time of the event. Invent
    plausible details freely: the passages are only used to search for the real ones (HyDE).
    """

    question: str = dspy.InputField()
    question_time: str = dspy.InputField(desc="when it is asked (ISO); empty if unknown")
    passages: list[str] = dspy.OutputField(desc="three different passages")
