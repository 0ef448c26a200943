"""The bundled sample: an invented person's history with hand-checked questions about it."""

from importlib.resources import as_file, files

from memsteer.eval.questions import Benchmark, load_questions
from memsteer.programs.records import History

PERSON = "Imogen Tarrant"


def load_sample() -> Benchmark:
    """The history and the 40 questions that come with the package."""
    with as_file(files("memsteer.eval") / "sample") as folder:
        history = History.from_jsonl(folder / "history.jsonl", PERSON)
        return Benchmark("sample", history, load_questions(folder / "questions.jsonl", history))
