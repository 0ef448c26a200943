"""Metering: the calls and tokens of a stretch of work, on this thread and others."""

import dspy
from scripted import scripted_lm

from memsteer.programs.ledger import Usage
from memsteer.programs.metering import metered
from memsteer.programs.parallel import run_parallel


def test_calls_and_tokens_are_counted_over_threads() -> None:
    lm, _ = scripted_lm(lambda *_: {"answer": "x"})
    predict = dspy.Predict("question -> answer")
    with dspy.context(lm=lm), metered() as meter:
        assert meter.usage == Usage(usd=None)
        predict(question="a")
        assert meter.usage.calls == 1
        run_parallel(lambda q: predict(question=q), [("b",), ("c",), ("d",)], 3)
        predict(question="e")
    # Each scripted call is 10 prompt and 2 completion tokens.
    assert meter.usage == Usage(calls=5, prompt_tokens=50, completion_tokens=10, usd=None)


def test_nothing_outside_is_counted() -> None:
    lm, _ = scripted_lm(lambda *_: {"answer": "x"})
    predict = dspy.Predict("question -> answer")
    with dspy.context(lm=lm):
        predict(question="before")
        with metered() as meter:
            pass
        predict(question="after")
    assert meter.usage.calls == 0


def test_two_models_are_added_up() -> None:
    one, _ = scripted_lm(lambda *_: {"answer": "x"})
    other, _ = scripted_lm(lambda *_: {"answer": "y"})
    other.model = "memsteer/other"
    predict = dspy.Predict("question -> answer")
    with metered() as meter:
        for lm in (one, other):
            with dspy.context(lm=lm):
                predict(question="a")
    assert meter.usage.calls == 2
