"""The bundled samples are whole and hold what the README says of them."""

from collections import Counter

from memsteer.eval.sample_data import load_sample, load_sample_story


def test_the_sample_history_and_its_questions() -> None:
    benchmark = load_sample()
    kinds = Counter(record.kind for record in benchmark.history)
    assert kinds == {"conversation": 201, "email": 43, "document": 44, "photo": 15}
    assert len(benchmark.scored) == len(benchmark.questions) == 40
    assert sum(len(q.evidence) > 1 for q in benchmark.questions) == 26


def test_the_sample_story_has_three_weeks_and_no_irregularity() -> None:
    story = load_sample_story()
    assert len(story.weeks) == 3
    assert [len(week.conversations) for week in story.weeks] == [10, 10, 10]
    assert len(story.questions) == 30
    assert story.report == ()
