"""The record graph on histories small enough to say by hand which edges must exist."""

import math
import os
import subprocess
import sys
from datetime import datetime, timedelta

import pytest

from memsteer.programs.graph import EDGE_KINDS, GraphConfig, build_graph, graph_report
from memsteer.programs.records import History, Record, turn_text

START = datetime(2024, 3, 1)


def kinds_of(graph):
    return {frozenset((a, b)): kinds for a, b, kinds in graph.edges(data="kinds")}


def thread(size, kind="conversation", group="g"):
    """A group whose records have no word in common."""
    return [
        Record(id=f"{group}{n}", text=f"word{group}{n}", kind=kind, group=group, position=n)
        for n in range(size)
    ]


def test_a_conversation_joins_turns_up_to_three_places_apart():
    graph = build_graph(History(tuple(thread(5))))
    weights = {(a[1:], b[1:]): w for a, b, w in graph.edges(data="weight")}
    near = {("0", "1"), ("1", "2"), ("2", "3"), ("3", "4")}
    assert {pair for pair, w in weights.items() if w == 1} == near
    assert {p for p, w in weights.items() if w == 1 / 2} == {("0", "2"), ("1", "3"), ("2", "4")}
    assert {p for p, w in weights.items() if w == 1 / 3} == {("0", "3"), ("1", "4")}
    assert len(weights) == 9
    assert set(kinds_of(graph).values()) == {("conversation",)}


def test_reach_one_joins_consecutive_emails_only():
    graph = build_graph(History(tuple(thread(4, "email"))), GraphConfig(conversation_reach=1))
    assert set(kinds_of(graph)) == {frozenset((f"g{n}", f"g{n + 1}")) for n in range(3)}


def test_neighbours_are_counted_in_places_so_gaps_in_positions_do_not_part_a_thread():
    records = [
        Record(id=i, text=i, kind="conversation", group="g", position=p)
        for i, p in (("alpha", 10), ("beta", 500), ("gamma", 9000))
    ]
    graph = build_graph(History(tuple(records)), GraphConfig(conversation_reach=1))
    assert set(kinds_of(graph)) == {frozenset(("alpha", "beta")), frozenset(("beta", "gamma"))}


def test_without_positions_time_orders_a_thread():
    records = [
        Record(id=i, text=i, kind="email", group="g", time=START + timedelta(days=d))
        for i, d in (("t2", 0), ("t10", 1), ("t1", 2))
    ]
    graph = build_graph(History(tuple(records)), GraphConfig(conversation_reach=1))
    assert set(kinds_of(graph)) == {frozenset(("t2", "t10")), frozenset(("t10", "t1"))}


def test_a_document_joins_adjacent_sections_only():
    graph = build_graph(History(tuple(thread(3, "document"))))
    assert kinds_of(graph) == {
        frozenset(("g0", "g1")): ("section",),
        frozenset(("g1", "g2")): ("section",),
    }


def test_a_photo_shown_in_a_conversation_is_part_of_it():
    records = (*thread(2), Record(id="p", text="sunset", kind="photo", group="g", position=2))
    assert kinds_of(build_graph(History(records)))[frozenset(("g1", "p"))] == ("conversation",)


def test_a_reference_joins_both_ways_and_a_record_that_names_itself_gets_no_loop():
    a = Record(id="a", text="alpha", references=("b", "a"))
    b = Record(id="b", text="beta", references=("a",))
    graph = build_graph(History((a, b)))
    assert kinds_of(graph) == {frozenset("ab"): ("reference",)}
    assert graph.edges["a", "b"]["weight"] == 1


def test_the_lexical_weight_is_the_idf_cosine():
    a = Record(id="a", text="marigold seedlings")
    b = Record(id="b", text="marigold basket")
    c = Record(id="c", text="projector")
    # n = 3; df(marigold) = 2, so idf = ln(1 + 3/2); df = 1 for the others, so idf = ln 4.
    common, own = math.log(2.5) ** 2, math.log(4) ** 2
    graph = build_graph(History((a, b, c)))
    assert kinds_of(graph) == {frozenset("ab"): ("lexical",)}
    assert graph.edges["a", "b"]["weight"] == pytest.approx(common / (common + own))
    assert common / (common + own) == pytest.approx(0.304, abs=0.001)
    above = GraphConfig(lexical_overlap=0.31)
    assert not build_graph(History((a, b, c)), above).edges


def test_lexical_edges_cross_groups_and_never_stay_in_one():
    same = [
        Record(id=f"d{n}", text="marigold", kind="document", group="doc", position=n)
        for n in range(3)
    ]
    other = Record(id="n", text="marigold")
    kinds = kinds_of(build_graph(History((*same, other))))
    assert frozenset(("d0", "d2")) not in kinds
    assert all(kinds[frozenset((f"d{n}", "n"))] == ("lexical",) for n in range(3))


def test_only_what_the_person_said_counts_for_overlap():
    def turn(n, user, assistant):
        text, utterances = turn_text([("user", user), ("assistant", assistant)])
        return Record(id=n, text=text, kind="conversation", group=n, utterances=utterances)

    said = (turn("a", "marigold", "splendid"), turn("b", "marigold", "sure"))
    echoed = (turn("a", "marigold", "splendid"), turn("b", "projector", "splendid"))
    assert kinds_of(build_graph(History(said))) == {frozenset("ab"): ("lexical",)}
    assert not build_graph(History(echoed)).edges


def test_speakers_with_names_are_heard_but_their_labels_do_not_count():
    def turn(n, *said):
        text, utterances = turn_text(said)
        return Record(id=n, text=text, kind="conversation", group=n, utterances=utterances)

    shared = (turn("a", ("ann", "marigold")), turn("b", ("bob", "marigold")))
    labels = (turn("a", ("ann", "marigold")), turn("b", ("ann", "projector")))
    assert build_graph(History(shared)).number_of_edges() == 1
    assert build_graph(History(labels)).number_of_edges() == 0


def test_one_edge_can_have_several_kinds_and_its_weight_is_their_sum():
    a = Record(id="a", text="alpha", kind="document", group="g", position=1, references=("b",))
    b = Record(id="b", text="beta", kind="document", group="g", position=2)
    c = Record(id="c", text="beta", references=("b",))
    graph = build_graph(History((a, b, c)))
    assert graph.edges["a", "b"] == {"kinds": ("section", "reference"), "weight": 2.0}
    assert graph.edges["b", "c"]["kinds"] == ("reference", "lexical")
    assert graph.edges["b", "c"]["weight"] == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("first", "second"),
    [("Straße nach Köln", "STRASSE NACH KÖLN"), ("京都の寺", "京都の寺"), ("цветы 🌼", "цветы 🎉")],
)
def test_overlap_in_other_languages(first, second):
    graph = build_graph(History((Record(id="a", text=first), Record(id="b", text=second))))
    assert kinds_of(graph) == {frozenset("ab"): ("lexical",)}


@pytest.mark.parametrize("size", [40, 400])
def test_many_copies_of_one_text_do_not_blow_up(size):
    records = tuple(Record(id=f"r{n}", text="water the marigold") for n in range(size))
    graph = build_graph(History(records))
    # Each record chooses at most four; with more copies than the posting limit, none.
    assert graph.number_of_edges() <= 4 * size
    assert (graph.number_of_edges() == 0) == (size > GraphConfig().posting_limit)
    # Ties go to the nearest, so that no copy becomes the hub of all others.
    assert max(dict(graph.degree()).values()) <= 8


def test_the_report_counts_kinds_and_components():
    records = (*thread(3), *thread(2, "document", "d"), Record(id="z", text="lonely"))
    history = History(records)
    report = graph_report(build_graph(history), history)
    assert report.edges == {"conversation": 3, "section": 1, "reference": 0, "lexical": 0}
    assert (report.records, report.isolated) == (6, 1)
    assert (report.components, report.largest_component) == (3, 3)
    assert str(report) == (
        "6 records in 3 components (the largest holds 3, 1 records are isolated); "
        "edges: 3 conversation, 1 section, 0 reference, 0 lexical"
    )


def test_one_record_and_only_isolated_records_are_reported_not_refused():
    one = History((Record(id="a", text="🌼"),))
    assert graph_report(build_graph(one), one).isolated == 1
    many = History(tuple(Record(id=w, text=w) for w in ("alpha", "beta", "gamma")))
    report = graph_report(build_graph(many), many)
    assert (report.isolated, report.components, report.largest_component) == (3, 3, 1)


@pytest.mark.parametrize("bad", [{"conversation_reach": -1}, {"lexical_overlap": 1.5}])
def test_a_config_out_of_range_is_refused_by_name(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        GraphConfig(**bad)


SCRIPT = """
import random
from memsteer.programs.graph import build_graph
from memsteer.programs.bundles import grow_bundles
from memsteer.programs.records import History, Record
rng = random.Random(3)
words = [f"w{n}" for n in range(60)]
h = History(tuple(Record(id=f"r{n}", text=" ".join(rng.choices(words, k=9))) for n in range(80)))
g = build_graph(h)
print(list(g.edges(data=True)))
print([(b.id, b.edges) for b in grow_bundles(h, g, count=50, seed=7)])
"""


def test_the_graph_and_bundles_do_not_depend_on_the_hash_seed():
    outputs = {
        subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            check=True,
        ).stdout
        for hash_seed in ("1", "2")
    }
    assert len(outputs) == 1
    assert EDGE_KINDS[3].encode() in outputs.pop()
