"""MemSteer-Opt on a small task: embeddings find what Base-BM25 misses, and answers are scripted."""

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import dspy
import pytest
from pets import BASE, DENSE, TRAIN, VAL, example, program, proposal, read
from scripted import ScriptedEngine, scripted_lm

from memsteer.optimizers.memsteer_opt import MemSteerOpt, OfficialQuestions
from memsteer.optimizers.trajectory import OptimizationResult
from memsteer.programs.answers import Verdict
from memsteer.programs.design import MemoryDesign
from memsteer.programs.memory import MemoryProgram

Round = Sequence[Mapping[str, Any]] | str
STEM = proposal({"store.stem": "true"}, "stems")
TIME = proposal({"context.order": "time"}, "order")


def roles(
    *rounds: Round, answer: Callable[[Mapping[str, str]], Any] = read
) -> tuple[dspy.LM, ScriptedEngine]:
    """A proposer that says one of `rounds` after the other (then nothing), and the reader."""
    left = list(rounds)

    def script(fields: frozenset[str], inputs: Mapping[str, str]) -> Any:
        if "proposals" in fields:
            said = left.pop(0) if left else []
            if isinstance(said, str):
                if "reasoning" in fields and not said.startswith("again:"):
                    left.insert(0, f"again:{said}")  # DSPy asks once more, as JSON
                return said
            return {"reasoning": "", "proposals": list(said)}
        if fields == {"queries"}:
            return {"queries": ["cat"]}
        if fields == {"passages"}:
            return {"passages": ["A cat."]}
        return answer(inputs)

    return scripted_lm(script)


def compiled(
    *rounds: Round,
    answer: Callable[[Mapping[str, str]], Any] = read,
    student: MemoryProgram | None = None,
    trainset: Sequence[dspy.Example] = TRAIN,
    valset: Sequence[dspy.Example] | None = VAL,
    **options: Any,
) -> tuple[MemoryProgram, OptimizationResult]:
    lm, _ = roles(*rounds, answer=answer)
    with dspy.context(lm=lm):
        optimizer = MemSteerOpt(**{"trials": 0} | options)
        found = optimizer.compile(student or program(), trainset=trainset, valset=valset)
    return found, found.optimization


def fates(result: OptimizationResult) -> list[str]:
    return [p.fate.partition(":")[0] for p in result.proposals]


def test_a_design_that_answers_more_is_accepted() -> None:
    student = program()
    found, result = compiled([proposal(DENSE, "by meaning")], student=student)
    assert found.design.retrieval.dense_weight > 0
    assert found is not student
    assert student.design == BASE
    assert not hasattr(student, "optimization")
    assert [s.round for s in result.steps] == [0, 1]
    before, after = result.steps
    assert (before.design, before.screen, before.train_accuracy, before.val_accuracy) == (
        *(BASE, 0.5, 0),
        0,
    )
    assert (after.design, after.screen, after.train_accuracy, after.val_accuracy) == (
        *(found.design, 1, 1),
        1,
    )
    (accepted,) = result.accepted
    assert (accepted.round, accepted.rationale, accepted.accuracy) == (1, "by meaning", 1)
    assert accepted.changes == tuple(DENSE.items())


@pytest.mark.parametrize(
    "answer",
    [
        lambda inputs: {"answer": "Rex", "cited": []},  # always wrong
        lambda inputs: {"answer": "Unknown", "cited": []},  # always abstains
    ],
)
def test_without_better_answers_nothing_is_accepted(answer: Any) -> None:
    # The screen rises to 1, but validation accuracy stays 0.
    found, result = compiled([proposal(DENSE)], answer=answer)
    assert found.design == BASE
    assert fates(result) == ["not better on validation"]
    assert result.proposals[0].screen == 1
    assert len(result.steps) == 1


def test_the_numbers_of_a_proposal_are_tuned_before_it_is_judged() -> None:
    # Stems find nothing, but with a larger k all ten records are shown.
    found, result = compiled([STEM], trials=8)
    assert fates(result) == ["accepted"]
    assert found.design.store.stem
    assert found.design.retrieval.k >= 9
    assert result.proposals[0].changes == (("store.stem", "true"),)


def test_equal_accuracy_is_not_an_improvement() -> None:
    found, result = compiled([STEM, TIME], finalists=4)
    assert found.design == BASE
    assert set(fates(result)) == {"not better on validation"}
    assert [p.accuracy for p in result.proposals] == [0, 0]


def test_a_design_that_screens_lower_is_not_paid_for() -> None:
    start = BASE.changed({"retrieval.dense_weight": 1})
    # Without the weight of embeddings the evidence is out of sight.
    _, result = compiled([proposal({"retrieval.dense_weight": "0"})], student=program(start))
    assert fates(result) == ["no gain in screening"]
    assert result.proposals[0].screen is not None
    assert result.proposals[0].screen < 1
    assert result.proposals[0].accuracy is None


def test_malformed_proposals_are_refused_and_logged() -> None:
    events: list[tuple[str, dict[str, Any]]] = []
    _, result = compiled(
        [
            proposal({"retrieval.k": "900"}),
            proposal({"answerer.prompt": "x"}),
            proposal({}),
            proposal({"retrieval.k": "5"}),
            proposal(DENSE),
            proposal(DENSE, "the same in other words"),
        ],
        journal=lambda event, data: events.append((event, data)),
        rounds=1,
    )
    refused = [p.fate for p in result.proposals if p.fate.startswith("refused")]
    assert [f.partition(": ")[2].split("(")[0][:30] for f in refused] == [
        "design field 'retrieval.k': In",
        "design has no field 'answerer.",
        "proposal changes nothing",
        "proposal leaves the design as ",
        "the same design as another pro",
    ]
    assert len(result.accepted) == 1
    logged = [data["fate"] for event, data in events if event == "proposal"]
    assert logged == [p.fate for p in result.proposals]
    assert [event for event, _ in events].count("held") == 2
    json.dumps(events)  # a journal's lines are JSON


def test_a_proposer_that_says_nothing_readable_costs_a_round_and_not_the_run() -> None:
    _, result = compiled("no fields here", [proposal(DENSE)])
    assert fates(result)[0] == "refused"
    assert "malformed_output" in result.proposals[0].fate
    assert fates(result)[-1] == "accepted"
    assert result.accepted[0].round == 2


def test_what_gained_is_stacked_and_tried_as_one() -> None:
    late = [example("Name of our kitten?", "kitten"), example("sold?", "boat")]
    # Each proposal finds one of the two; only both together answer both.
    dates = {"retrieval.date_weight": "1.0"}
    train = [late[0], example("What of May 10th?", "boat")]
    val = [late[0], example("What boat of May 10th?", "boat")]

    def answer(inputs: Mapping[str, str]) -> Any:
        both = "[r9]" in inputs["memory"]
        return read(inputs) if both or "kitten" in inputs["question"] else {"answer": "Unknown"}

    found, result = compiled(
        [proposal(DENSE, "meaning"), proposal(dates, "dates")],
        *([], []),
        trainset=train,
        valset=val,
        answer=answer,
        finalists=3,
        trials=0,
    )
    stack = [p for p in result.proposals if p.rationale.startswith("The proposals that gained")]
    assert len(stack) == 1
    assert dict(stack[0].changes) == {**DENSE, **dates}
    assert stack[0].screen == 1
    assert found.design.retrieval.dense_weight == 1


def test_the_best_of_a_stack_keeps_its_fields_and_what_adds_nothing_stays_out() -> None:
    train = [TRAIN[0], TRAIN[1], example("What of May 10th?", "boat")]
    dates = proposal({"retrieval.dense_weight": "2.0", "retrieval.date_weight": "1.0"}, "dates")
    dates["changes"].append({"path": "retrieval.k", "value": "6"})
    best = proposal(DENSE | {"retrieval.date_weight": "1.0"}, "best")
    lone = proposal({"retrieval.date_weight": "0.5"}, "lone")
    _, result = compiled([proposal(DENSE), lone, STEM], trainset=train, trials=0, rounds=1)
    stack = next(p for p in result.proposals if p.rationale.startswith("The proposals that gained"))
    assert dict(stack.changes) == {**DENSE, "retrieval.date_weight": "0.5"}
    _, result = compiled([best, dates], trainset=train, trials=0, rounds=1)
    assert [p.rationale for p in result.proposals] == ["best", "dates"]  # dates adds nothing


def test_patience_ends_a_run_without_progress() -> None:
    stems = [[STEM]] * 6
    for patience in (1, 2, 3):
        _, result = compiled(*stems, patience=patience)
        assert max(p.round for p in result.proposals) == patience
    _, result = compiled(*stems, patience=9, rounds=4)
    assert max(p.round for p in result.proposals) == 4
    # Progress starts the count anew: rounds 1 and 3 idle, 2 accepted, 4 idle ends it.
    _, result = compiled([STEM], [proposal(DENSE)], [STEM], [TIME], [TIME], patience=2)
    assert [p.round for p in result.accepted] == [2]
    assert max(p.round for p in result.proposals) == 4


def test_a_proposer_with_nothing_new_ends_the_run() -> None:
    _, result = compiled([], [proposal(DENSE)])
    assert result.proposals == ()
    assert len(result.steps) == 1
    _, result = compiled([proposal(DENSE)], rounds=0)
    assert len(result.steps) == 1


def test_the_proposer_is_told_what_became_of_earlier_proposals() -> None:
    lm, engine = roles([STEM], [TIME], [])
    with dspy.context(lm=lm):
        MemSteerOpt(trials=0).compile(program(), trainset=TRAIN, valset=VAL)
    shown = [p for p in engine.prompts if "design_fields" in p]
    assert shown[0]["tried"] == "[]"
    assert "not better on validation" in shown[1]["tried"]
    assert '"retrieval"' in shown[0]["cases"]
    assert json.loads(shown[0]["counts"]) == {
        "correct": 0,
        "storage": 0,
        "retrieval": 2,
        "answering": 0,
    }


@pytest.mark.parametrize("where", ["train", "val"])
def test_official_questions_are_refused_before_any_call(where: str) -> None:
    official = example("official?", "kitten", official=True)
    lm, engine = roles([proposal(DENSE)])
    sets = {"trainset": TRAIN, "valset": VAL}
    sets[f"{where}set"] = [*sets[f"{where}set"], official]
    with dspy.context(lm=lm):
        with pytest.raises(OfficialQuestions, match="these only measure"):
            MemSteerOpt().compile(program(), **sets)
        assert engine.asked == []
        found = MemSteerOpt(allow_official=True, rounds=0).compile(program(), **sets)
    assert len(found.optimization.steps) == 1


def test_without_a_valset_the_second_half_validates() -> None:
    three = [*TRAIN, VAL[0]]
    lm, engine = roles()
    with dspy.context(lm=lm):
        MemSteerOpt(rounds=0).compile(program(), trainset=three)
    # The last validates, then the first two are diagnosed.
    assert [p["question"] for p in engine.prompts] == [e.question for e in (three[2], *three[:2])]


@pytest.mark.parametrize(("train", "val"), [([], VAL), (TRAIN[:1], None), ([], None)])
def test_both_sets_must_hold_something(train: Any, val: Any) -> None:
    with pytest.raises(ValueError, match="at least one example to train and one to validate"):
        MemSteerOpt().compile(program(), trainset=train, valset=val)


def test_usage_is_that_of_the_whole_run() -> None:
    lm, engine = roles([proposal(DENSE)])
    with dspy.context(lm=lm):
        found = MemSteerOpt(trials=2, num_threads=2).compile(program(), trainset=TRAIN, valset=VAL)
    usage = found.optimization.usage
    # Base: 2 + 2 answers; two proposer calls; the finalist: 2, and its diagnosis: 2.
    assert usage.calls == len(engine.asked) == 10
    assert (usage.prompt_tokens, usage.completion_tokens) == (100, 20)


def test_a_run_repeats_by_seed_on_any_number_of_threads() -> None:
    rounds = [[proposal(DENSE), STEM], [TIME]]

    def result(**options: Any) -> OptimizationResult:
        return compiled(*rounds, trials=8, **options)[1]

    assert result(num_threads=1) == result(num_threads=4)
    assert result(seed=1).steps[0] == result(seed=2).steps[0]


def test_failed_answers_count_neither_for_nor_against() -> None:
    def answer(inputs: Mapping[str, str]) -> Any:
        if "puppy" in inputs["question"]:
            return "nothing readable"
        return read(inputs)

    found, result = compiled([proposal(DENSE)], answer=answer)
    assert [s.val_accuracy for s in result.steps] == [0, 1]
    assert found.design != BASE

    def only_failures_differ(inputs: Mapping[str, str]) -> Any:
        # Base: one right, one wrong. Dense: one right, one without an answer.
        if "puppy" not in inputs["question"]:
            return {"answer": "Mia", "cited": []}
        return "unreadable" if "[r8]" in inputs["memory"] else {"answer": "Rex", "cited": []}

    found, result = compiled([proposal(DENSE)], answer=only_failures_differ)
    assert fates(result) == ["not better on validation"]
    assert result.proposals[0].accuracy == 1  # of the one that was judged
    assert found.design == BASE


def test_searches_are_asked_for_once_a_run() -> None:
    rewrites = proposal({"retrieval.rewrites": "1"})
    hyde = proposal({"retrieval.hyde": "1"})
    lm, engine = roles([rewrites], [rewrites], [hyde])
    with dspy.context(lm=lm):
        MemSteerOpt(trials=1, finalists=0, patience=9).compile(
            program(), trainset=TRAIN, valset=VAL
        )
    # Two training questions: rewritten for round 1, not again for 2, and both for 3.
    assert engine.asked.count(frozenset({"queries"})) == 4
    assert engine.asked.count(frozenset({"passages"})) == 2


def test_the_metric_decides() -> None:
    found, result = compiled(
        [proposal(DENSE)], metric=lambda e, p: Verdict("correct", "all is well")
    )
    assert [s.val_accuracy for s in result.steps] == [1]
    assert found.design == BASE


def test_examples_without_evidence_can_train() -> None:
    bare = [dspy.Example(question="Name of our kitten?", answer="Mia").with_inputs("question")]
    found, _ = compiled([STEM], trainset=bare, valset=bare)
    assert found.design == BASE


class Outer(dspy.Module):
    def __init__(self, inner: MemoryProgram) -> None:
        super().__init__()
        self.inner = inner


def test_the_compiled_design_survives_copies_and_files(tmp_path: Path) -> None:
    found, result = compiled([proposal(DENSE)])
    design: MemoryDesign = found.design
    assert design != BASE
    found.save(tmp_path / "p.json")
    loaded = program()
    loaded.load(tmp_path / "p.json")
    assert loaded.design == design

    Outer(found).save(tmp_path / "outer.json")
    nested = Outer(program())
    nested.load(tmp_path / "outer.json")
    assert nested.inner.design == design

    for copied in (copy.deepcopy(found), found.deepcopy(), found.reset_copy()):
        assert copied.design == design
        assert copied.optimization == result
    assert [n for n, _ in found.named_parameters()] == [n for n, _ in program().named_parameters()]
