"""The bundled samples: an invented person's history with questions, and a story of three weeks."""

from importlib.resources import as_file, files

from memsteer.eval.adamem_bench import load_story
from memsteer.eval.adamem_story import Story
from memsteer.eval.questions import Benchmark, load_questions
from memsteer.programs.records import History

PERSON = "Imogen Tarrant"


def load_sample() -> Benchmark:
    """The history and the 40 questions that come with the package."""
    with as_file(files("memsteer.eval") / "sample") as folder:
        history = History.from_jsonl(folder / "history.jsonl", PERSON)
        return Benchmark("sample", history, load_questions(folder / "questions.jsonl", history))


def load_sample_story() -> Story:
    """The three weeks that come with the package, in the layout of AdaMem-Bench."""
    with as_file(files("memsteer.eval") / "sample") as folder:
        return load_story(folder, 1)
