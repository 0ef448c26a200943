"""Bundles: paths within the budget, from seeds that are spread over the history."""

import copy
import random
from collections import Counter
from datetime import datetime, timedelta
from itertools import islice, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsteer.programs.bundles import Bundle, bundle_id, coverage_report, grow_bundles
from memsteer.programs.graph import build_graph
from memsteer.programs.records import History, HistoryError, Record, Span

START = datetime(2024, 1, 1)


def grow(history, **options):
    return list(grow_bundles(history, build_graph(history), **{"count": 100, "seed": 1} | options))


def conversation(size, group="g", day=0):
    return [
        Record(
            id=f"{group}:{n}",
            text=f"turn {group}x{n}",
            kind="conversation",
            group=group,
            position=n,
            time=START + timedelta(days=day),
        )
        for n in range(size)
    ]


@st.composite
def histories(draw):
    """Up to 14 records of few words, kinds and groups, so that all edge kinds occur."""
    size = draw(st.integers(1, 14))
    records = []
    for n in range(size):
        names = draw(st.lists(st.sampled_from(["red", "京", "цвет", "🌼", "blue"]), min_size=1))
        records.append(
            Record(
                id=f"r{n}",
                text=" ".join(names),
                kind=draw(st.sampled_from(("conversation", "email", "document", "note"))),
                group=draw(st.sampled_from(("", "a", "b"))),
                position=n,
                references=(f"r{draw(st.integers(0, n - 1))}",)
                if n and draw(st.booleans())
                else (),
            )
        )
    return History(tuple(records))


@settings(deadline=None)  # a busy machine is no failure
@given(histories(), st.integers(1, 12), st.integers(0, 99))
def test_every_bundle_is_a_path_in_the_graph_within_the_budget(history, budget, seed):
    if all(record.tokens > budget for record in history):
        with pytest.raises(HistoryError, match="no record fits"):
            grow(history, budget_tokens=budget)
        return
    graph = build_graph(history)
    bundles = list(grow_bundles(history, graph, count=30, budget_tokens=budget, seed=seed))
    assert bundles
    assert len({bundle.id for bundle in bundles}) == len(bundles)
    for bundle in bundles:
        ids = [record.id for record in bundle.records]
        assert len(set(ids)) == len(ids) <= 4
        assert bundle.tokens == sum(record.tokens for record in bundle.records) <= budget
        steps = [graph.edges[a, b]["kinds"] for a, b in pairwise(ids)]
        assert all(kind in step for kind, step in zip(bundle.edges, steps, strict=True))


def test_one_seed_gives_one_result_and_another_seed_another():
    history = History(tuple(r for d in range(9) for r in conversation(6, f"g{d}", d)))
    ids = [bundle.id for bundle in grow(history, count=20)]
    assert ids == [bundle.id for bundle in grow(history, count=20)]
    assert ids == [bundle.id for bundle in grow(history, count=20, seed=random.Random(1))]
    assert ids != [bundle.id for bundle in grow(history, count=20, seed=2)]


def test_growing_leaves_the_global_random_state_alone():
    state = random.getstate()
    grow(History(tuple(conversation(6))))
    assert random.getstate() == state


def test_one_record_gives_one_bundle_of_one():
    (bundle,) = grow(History((Record(id="a", text="🌼"),)))
    assert [r.id for r in bundle.records] == ["a"]
    assert (bundle.edges, bundle.spans) == ((), (Span("a", 0, 1),))


def test_isolated_records_give_a_bundle_each_and_then_the_run_ends():
    history = History(tuple(Record(id=w, text=w) for w in ("alpha", "beta", "gamma")))
    assert sorted(b.records[0].id for b in grow(history)) == ["alpha", "beta", "gamma"]


def test_all_sets_of_a_small_path_are_found_once():
    # Three sections in a row: with one or two hops, the sets are {0,1}, {1,2} and {0,1,2}.
    words = ("alpha", "beta", "gamma")
    records = (
        Record(id=w, text=w, kind="document", group="d", position=n) for n, w in enumerate(words)
    )
    sets = [{r.id for r in b.records} for b in grow(History(tuple(records)), hops=(1, 2))]
    assert len(sets) == 3
    assert all(s in sets for s in ({"alpha", "beta"}, {"beta", "gamma"}, set(words)))


def test_a_path_grows_at_its_beginning_when_its_end_cannot():
    words = ("alpha", "beta", "gamma", "delta")
    records = (
        Record(id=w, text=w, kind="document", group="d", position=n) for n, w in enumerate(words)
    )
    (bundle,) = grow(History(tuple(records)), hops=(3,))
    assert [r.id for r in bundle.records] in (list(words), list(reversed(words)))


def test_a_record_larger_than_the_budget_is_in_no_bundle():
    turns = conversation(3)
    long = Record(id="long", text="word " * 50, kind="conversation", group="g", position=3)
    bundles = grow(History((*turns, long)), budget_tokens=20)
    assert bundles
    assert all(record.id != "long" for bundle in bundles for record in bundle.records)


def test_when_every_record_is_too_large_the_shortest_is_named():
    history = History((Record(id="a", text="one two three"), Record(id="b", text="a b c d")))
    with pytest.raises(HistoryError, match=r"bundle of 2 tokens \(the shortest has 3\)"):
        grow_bundles(history, build_graph(history), count=1, budget_tokens=2, seed=0)


@pytest.mark.parametrize("bad", [{"count": -1}, {"hops": ()}, {"hops": (-1,)}])
def test_arguments_without_a_sense_are_refused_at_the_call(bad):
    with pytest.raises(ValueError, match="want hops"):
        grow(History((Record(id="a", text="x"),)), **bad)


def test_a_graph_of_another_history_is_refused():
    mine, other = (History((Record(id=i, text=i),)) for i in "ab")
    with pytest.raises(ValueError, match="another history"):
        grow_bundles(mine, build_graph(other), count=1, seed=0)


def test_zero_hops_takes_a_long_record_alone_and_gives_a_short_one_company():
    pair = tuple(
        Record(id=f"s{n}", text=f"{'word ' * size}x{n}", kind="document", group="d", position=n)
        for n, size in enumerate((60, 2))
    )
    sets = {frozenset(r.id for r in b.records) for b in grow(History(pair), hops=(0,))}
    assert sets == {frozenset({"s0"}), frozenset({"s0", "s1"})}


def test_the_first_seeds_are_spread_over_time_groups_and_kinds():
    turns = [r for day in range(64) for r in conversation(4, f"g{day}", day)]
    notes = [Record(id=f"n{d}", text=f"note{d}", time=START + timedelta(d)) for d in range(16)]
    history = History((*turns, *notes))
    seeds = [b.records[0] for b in grow(history, count=50, hops=(0,), budget_tokens=3)]
    # 256 turns and 16 notes: the square roots are 16 and 4, so four turns for a note.
    assert Counter(r.kind for r in seeds) == {"conversation": 40, "note": 10}
    assert max(Counter(r.group for r in seeds if r.group).values()) == 1
    quarters = Counter((r.time - START).days // 16 for r in seeds if r.group)
    assert all(9 <= quarters[q] <= 11 for q in range(4))


def test_about_sixty_per_cent_of_the_steps_stay_in_the_conversation_and_all_kinds_occur():
    turns = [r for day in range(40) for r in conversation(8, f"g{day}", day)]
    tied = [
        Record(id=f"d{n}", text=f"section d{n}", kind="document", group=f"d{n // 4}", position=n,
               references=(turns[n].id,))
        for n in range(len(turns))
    ]  # fmt: skip
    echo = [Record(id=f"e{n}", text=f"{r.text} {r.text}") for n, r in enumerate(turns)]
    bundles = grow(History((*turns, *tied, *echo)), count=600, hops=(1,))
    from_turns = [b.edges[0] for b in bundles if b.edges and b.records[0].kind == "conversation"]
    steps = Counter(from_turns)
    assert 0.5 < steps["conversation"] / steps.total() < 0.7
    assert {"conversation", "reference", "lexical"} == set(steps)
    assert coverage_report(bundles, History((*turns, *tied, *echo))).steps["section"] > 0


def test_ids_ignore_order_and_tell_awkward_ids_apart():
    assert bundle_id(["a", "b"]) == bundle_id(["b", "a"])
    assert bundle_id(["a,b"]) != bundle_id(["a", "b"])
    assert bundle_id(["a", "b"]) == "3554d2b8a1e34099"


def test_time_order_puts_records_without_a_time_last():
    late, early = (Record(id=i, text=i, time=START + timedelta(d)) for i, d in (("l", 2), ("e", 1)))
    undated = Record(id="u", text="u")
    bundle = Bundle("x", (undated, late, early), ("reference", "reference"))
    assert [r.id for r in bundle.in_time_order] == ["e", "l", "u"]
    assert copy.deepcopy(bundle) is bundle


def test_the_coverage_of_two_bundles_by_hand():
    a, b, c = conversation(3)
    note, other = (Record(id=i, text=i) for i in ("note", "other"))
    bundles = [Bundle("1", (a, b), ("conversation",)), Bundle("2", (a, note), ("reference",))]
    report = coverage_report(bundles, History((a, b, c, note, other)))
    assert report.record_share == 3 / 5
    assert report.kind_shares == {"conversation": 2 / 3, "note": 1 / 2}
    assert (report.bundles, report.groups_used, report.groups) == (2, 2, 3)
    assert report.largest_group_share == 3 / 4
    assert report.steps == {"conversation": 1, "section": 0, "reference": 1, "lexical": 0}


def test_the_coverage_of_no_bundles_is_nothing():
    report = coverage_report([], History((Record(id="a", text="a"),)))
    assert (report.record_share, report.largest_group_share, report.groups_used) == (0, 0, 0)


def test_bundles_come_one_by_one():
    history = History(tuple(conversation(6)))
    assert len(list(islice(grow_bundles(history, build_graph(history), count=9, seed=0), 2))) == 2
