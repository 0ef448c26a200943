"""The arguments of the command line, read into a `RunConfig` without importing DSPy."""

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import NoReturn

from pydantic import ValidationError

from memsteer import __version__
from memsteer.eval.adamem_cli import add_tables_parser
from memsteer.eval.adamem_run_cli import add_adamem_parser
from memsteer.eval.config import ROLES, ConfigError, RunConfig, Source, read_role_lms

_MODELS = "a DSPy/LiteLLM name such as openai/gpt-4.1-mini, or extractive (the offline engine)"
_ABOUT = {
    "demo": "run everything on the bundled sample; without a model, by the offline engine",
    "supervise": "turn a history into questions with verified answers and evidence",
    "optimize": "improve a memory design by supervision made earlier",
    "evaluate": "score Base-BM25 and a design on official questions",
    "run": "supervise, optimise and evaluate",
}
# Small enough for a demonstration of a minute.
_DEMO = {"questions": 100, "rounds": 3, "trials": 10, "budget_tokens": 1000}


class UsageError(ConfigError):
    """Arguments that make no run."""


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {self.prog} --help)")


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The options; a command that is no run brings its `handler`. Raises `UsageError`."""
    return _parser().parse_args(argv)


def read_arguments(
    argv: Sequence[str], environment: Mapping[str, str] = os.environ
) -> tuple[RunConfig, bool]:
    """A run's configuration, and whether JSON is wanted. Raises `UsageError`."""
    options = parse(argv)
    lm = options.lm or environment.get("MEMSTEER_LM") or ""
    if options.command == "demo":
        lm = lm or "extractive"
        for name, value in _DEMO.items():
            if getattr(options, name) is None:
                setattr(options, name, value)
    if not lm:
        raise UsageError(f"no model: give --lm NAME or set MEMSTEER_LM; NAME is {_MODELS}")
    values = {
        "command": options.command,
        "source": _source(options),
        "lm": lm,
        "role_lms": read_role_lms(options.role_lm, ROLES),
        "out": options.out or _default_out(options.command),
    }
    names = set(RunConfig.model_fields) - set(values)
    values |= {k: v for k, v in vars(options).items() if k in names and v is not None}
    try:
        return RunConfig(**values), options.json
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"])
        name = {"questions": "questions_wanted"}.get(name, name)
        raise UsageError(f"--{name.replace('_', '-')} {first['input']}: {first['msg']}") from error


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="memsteer", description="Supervision and memory designs from a history.")
    parser.add_argument("--version", action="version", version=f"memsteer {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, about in _ABOUT.items():
        command = commands.add_parser(name, help=about, description=about, allow_abbrev=False)
        if name != "demo":
            _add_source(command)
        _add_model(command)
        _add_bounds(command)
        _ADD[name](command)
    add_tables_parser(commands)
    add_adamem_parser(commands)
    return parser


def _add_source(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("source")
    group.add_argument("--history", metavar="FILE", help="a history, one JSON record a line")
    group.add_argument("--questions", dest="questions_file", metavar="FILE", help="about --history")
    group.add_argument("--benchmark", choices=["sample", "rhelm"])
    group.add_argument("--data", metavar="DIR", help="the benchmark's folder, or a hub data set")
    group.add_argument("--persona", metavar="NAME")
    group.add_argument("--setting", choices=["external", "internal"])


def _add_model(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    group.add_argument("--lm", metavar="NAME", help=f"{_MODELS}; default: MEMSTEER_LM")
    group.add_argument(
        "--role-lm",
        action="append",
        default=[],
        metavar="ROLE=NAME",
        help=f"another model for one role: {', '.join(ROLES)}",
    )
    group.add_argument("--api-base", metavar="URL", help="of an OpenAI-compatible server")


def _add_bounds(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("run")
    group.add_argument("--out", metavar="DIR", help="the run's folder")
    group.add_argument("--seed", type=int)
    group.add_argument("--threads", type=int, metavar="N", help="LM calls at once")
    group.add_argument("--budget-calls", type=int, metavar="N", help="stop before call N + 1")
    group.add_argument("--budget-usd", type=float, metavar="X", help="stop when X USD are spent")
    again = group.add_mutually_exclusive_group()
    again.add_argument("--resume", action="store_true", help="go on with DIR's run (the default)")
    again.add_argument("--fresh", action="store_true", help="discard what DIR holds of a run")
    group.add_argument("--json", action="store_true", help="print one JSON object on stdout")


def _add_supervise(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--questions-wanted", dest="questions", type=int, metavar="N", help="items to accept"
    )


def _add_answering(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--budget-tokens", type=int, metavar="N", help="of the answerer's context")
    parser.add_argument(
        "--metric",
        choices=["typed", "judge", "evidence"],
        help="typed comparison; a judge where that fails; or (to accept revisions only) whether "
        "the context shows all evidence, as a reader without faults would need",
    )


def _add_optimizer(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rounds", type=int, metavar="N", help="revisions at most")
    parser.add_argument("--trials", type=int, metavar="N", help="knob settings a proposal")
    parser.add_argument("--feedback", choices=["random", "gold", "diagnosis", "stratified"])


def _add_optimize(parser: argparse.ArgumentParser) -> None:
    _add_optimizer(parser)
    _add_answering(parser)
    parser.add_argument(
        "--supervision", dest="supervision_dir", metavar="DIR", required=True, help="of `supervise`"
    )


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    _add_answering(parser)
    parser.add_argument("--design", metavar="FILE", required=True, help="a design.json")


def _add_demo(parser: argparse.ArgumentParser) -> None:
    _add_supervise(parser)
    _add_optimizer(parser)
    _add_answering(parser)


def _add_run(parser: argparse.ArgumentParser) -> None:
    _add_demo(parser)
    parser.add_argument(
        "--supervision",
        choices=["generated", "official"],
        help="official: train on half of the official questions, to see what they would reach",
    )
    parser.add_argument(
        "--score-half", action="store_true", help="score the half that official would leave"
    )


_ADD = {
    "demo": _add_demo,
    "supervise": _add_supervise,
    "optimize": _add_optimize,
    "evaluate": _add_evaluate,
    "run": _add_run,
}


def _source(options: argparse.Namespace) -> Source:
    if options.command == "demo":
        return Source(kind="sample")
    if options.history and options.benchmark:
        raise UsageError("--history and --benchmark: give one of them")
    if options.benchmark != "rhelm":
        for name in ("data", "persona", "setting"):
            if getattr(options, name):
                raise UsageError(f"--{name}: needs --benchmark rhelm")
    if options.history:
        questions = options.questions_file or ""
        return Source(kind="history", history=options.history, questions=questions)
    if options.questions_file:
        raise UsageError("--questions: needs --history")
    if options.benchmark == "sample":
        return Source(kind="sample")
    if options.benchmark == "rhelm":
        for name in ("data", "persona"):
            if not getattr(options, name):
                raise UsageError(f"--benchmark rhelm: needs --{name}")
        external = options.setting != "internal"
        return Source(kind="rhelm", data=options.data, persona=options.persona, external=external)
    raise UsageError("no source: give --history FILE, or --benchmark sample or rhelm")


def _default_out(command: str) -> str:
    return f"memsteer-{command}"
