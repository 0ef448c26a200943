"""Contexts: what fits a budget, in which order and shape, and how much evidence it shows."""

from design_space import designs
from hypothesis import given
from hypothesis import strategies as st
from small import PETS, history, note

from memsteer.programs.context import Context, Excerpt, build_context
from memsteer.programs.design import BASE_BM25, MemoryDesign
from memsteer.programs.records import History, Record, Span, turn_text
from memsteer.programs.retrieval import MemoryIndex
from memsteer.programs.text import count_tokens

TURN, UTTERANCES = turn_text([("user", "My dog is ill."), ("assistant", "Poor dog.")])
DIARY = history(
    note("a", "The dog barked. We woke. It was late.", 1, group="g", position=0),
    note("b", "We slept badly.", 2, group="g", position=1, title="Night", kind="email"),
    note("c", TURN, 3, utterances=UTTERANCES, kind="conversation"),
    note("d", "No date here."),
)


def shown(
    *ranked: str, budget: int = 1000, question: str = "", held: History = DIARY, **values: object
) -> Context:
    design = BASE_BM25.changed({f"context.{name}": v for name, v in values.items()})
    index = MemoryIndex(held, embedder=PETS)
    return build_context(index, design.store, design.context, question, ranked, budget)


def test_headers_show_what_the_design_says() -> None:
    assert str(shown("b", header="id")) == "[b]\nWe slept badly."
    assert str(shown("b")) == "[b] 2024-05-02\nWe slept badly."
    assert str(shown("b", header="full")) == "[b] 2024-05-02 email: Night\nWe slept badly."
    assert str(shown("d", header="full")) == "[d] note\nNo date here."


def test_order_is_by_rank_or_by_time_with_the_undated_last() -> None:
    assert shown("c", "d", "a", "b").record_ids == ("c", "d", "a", "b")
    assert shown("c", "d", "a", "b", order="time").record_ids == ("a", "b", "c", "d")


def test_tokens_are_those_of_the_whole_text() -> None:
    context = shown("b", "d", header="id")
    assert context.tokens == count_tokens(str(context)) == (3 + 4) + (3 + 4)


def test_a_record_longer_than_the_budget_is_cut() -> None:
    held = history(note("a", "one " * 500), note("b", "two " * 20))
    context = shown("a", "b", budget=50, held=held, header="id")
    # 50 less the header's 3 and one spared for a gap between spans.
    assert str(context) == "[a]\n" + " ".join(["one"] * 46)
    assert context.tokens == 49
    assert context.excerpts[0].spans == (Span("a", 0, 46 * 4 - 1),)


def test_where_less_than_a_sentence_fits_nothing_is_cut() -> None:
    held = history(note("a", "one " * 70), note("b", "two " * 60), note("c", "three " * 20))
    # After a (73) 32 tokens are left: b would be cut to 28, c fits whole.
    assert shown("a", "c", "b", budget=105, held=held, header="id").record_ids == ("a", "c")
    # A budget of 20 leaves no room to cut.
    assert shown("a", budget=20, held=held).record_ids == ()
    assert str(shown("a", budget=20, held=held)) == ""


def test_neighbours_use_only_the_room_left() -> None:
    assert shown("b", "d", neighbours=1).record_ids == ("b", "d", "a")
    assert shown("d", neighbours=2).record_ids == ("d",)
    assert shown("b", "d", neighbours=1, budget=34).record_ids == ("b",)


def test_near_repeats_are_left_out() -> None:
    held = history(
        note("a", "The dog barked at night."),
        note("b", "At night the dog barked!"),
        note("c", "🎉"),
        note("d", "🎉🎉"),
    )
    assert shown("a", "b", "c", "d", held=held, deduplicate=True).record_ids == ("a", "c", "d")
    assert shown("a", "b", held=held).record_ids == ("a", "b")


def test_a_repeat_of_what_is_not_shown_is_no_repeat() -> None:
    words = " ".join(f"w{n}" for n in range(20))
    held = history(
        note("a", "x y " * 15),
        note("long", f"{words} . " + "the " * 50, title="a b c d e f g"),
        note("short", words),
    )
    # After a (34) 32 tokens are left: less than a header of 12 and a sentence's 24.
    context = shown("a", "long", "short", budget=66, held=held, header="full", deduplicate=True)
    assert context.record_ids == ("a", "short")


def test_own_words_alone() -> None:
    context = shown("c", "d", header="id", compress="own_words")
    assert str(context) == "[c]\nMy dog is ill.\n\n[d]\nNo date here."
    text, utterances = turn_text([("user", ""), ("assistant", "Hello.")])
    silent = history(note("s", text, utterances=utterances))
    context = shown("s", held=silent, header="id", compress="own_words")
    assert str(context) == f"[s]\n{text}"  # the person said nothing: the whole is kept


def test_the_nearest_sentences_in_their_order() -> None:
    context = shown(
        "a", question="How late did dogs bark?", header="id", compress="sentences", keep_sentences=2
    )
    assert str(context) == "[a]\nThe dog barked. … It was late."
    first = shown("a", question="zebra", header="id", compress="sentences", keep_sentences=1)
    assert str(first) == "[a]\nThe dog barked."


def test_coverage_is_the_share_of_characters() -> None:
    record = note("a", "0123456789")
    other = note("b", "01234")
    excerpt = Excerpt(record, "[a]", (Span("a", 2, 4), Span("a", 6, 10)))
    context = Context((excerpt,), 5)
    assert context.coverage([Span("a", 2, 4)]) == 1
    assert context.coverage([Span("a", 0, 4)]) == 0.5
    assert context.coverage([record]) == 0.6
    assert context.coverage([other]) == 0
    assert context.coverage([Span("a", 3, 7), Span("b", 0, 1)]) == 0.25
    assert context.coverage([]) == 1
    assert Context((), 0).coverage([record]) == 0


@st.composite
def histories(draw: st.DrawFn) -> History:
    texts = st.text("dog cat. \n🎉東京«»'", min_size=1, max_size=400) | st.text(min_size=1)
    records = []
    for n in range(draw(st.integers(1, 5))):
        text, utterances = draw(texts), ()
        if draw(st.booleans()):
            text, utterances = turn_text([("user", text), ("assistant", draw(texts))])
        group = draw(st.sampled_from(["", "g"]))
        day = draw(st.none() | st.integers(1, 30))
        records.append(
            note(f"r{n}", text, day, group=group, position=n, utterances=utterances, title="T")
        )
    return History(tuple(records))


@given(histories(), designs(), st.integers(1, 120), st.permutations(range(5)))
def test_no_design_exceeds_the_budget(
    held: History, design: MemoryDesign, budget: int, order: list[int]
) -> None:
    index = MemoryIndex(held, embedder=PETS)
    ranked = [f"r{n}" for n in order if n < len(held)]
    context = build_context(
        index, design.store, design.context, "Which dog 東?", ranked[: design.retrieval.k], budget
    )
    assert context.tokens == count_tokens(str(context)) <= budget
    assert len(set(context.record_ids)) == len(context.record_ids)
    for excerpt in context.excerpts:
        ends = [0]
        for span in excerpt.spans:
            assert span.record_id == excerpt.record.id
            assert ends[-1] <= span.start <= span.end <= len(excerpt.record.text)
            ends.append(span.end)
    evidence: list[Span | Record] = list(held)
    assert 0 <= context.coverage(evidence) <= 1
