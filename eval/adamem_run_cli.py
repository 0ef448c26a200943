"""`memsteer adamem` (one cell) and `memsteer adamem matrix`: arguments and output.

People read stderr; the figures go to stdout, as text or with `--json` as one object. Exit codes
are those of every command: 0, 2 bad input, 4 budget spent, 130 interrupted.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import ValidationError

from memsteer.eval.adamem_config import FEEDBACKS, FIGURES, METHODS, ROLES, CellConfig
from memsteer.eval.config import ConfigError, read_role_lms
from memsteer.eval.exits import guarded

_ABOUT = "run a memory method over a story of AdaMem-Bench"
_LM = "a DSPy/LiteLLM name, or extractive (the offline engine); default: MEMSTEER_LM"
_DATA = "AdaMem-Bench's folder (holds data/scaling); without it the bundled story 1"


def add_adamem_parser(subparsers: "argparse._SubParsersAction[Any]") -> None:
    """Add `adamem` and `adamem matrix` to the command line."""
    cell = subparsers.add_parser("adamem", help=_ABOUT, description=_ABOUT, allow_abbrev=False)
    cell.add_argument("--story", type=int, default=1, metavar="N")
    cell.add_argument("--method", choices=METHODS, default="adamem")
    cell.add_argument("--feedback", choices=FEEDBACKS, default="explicit")
    _add_common(cell, "the cell's folder")
    cell.set_defaults(handler=main_cell)
    modes = cell.add_subparsers(dest="mode", metavar="[matrix]")
    about = "methods x feedbacks x stories, each cell once, and a table of them"
    matrix = modes.add_parser("matrix", help=about, description=about, allow_abbrev=False)
    matrix.add_argument("--stories", metavar="N,N", help="default: all that --data holds")
    matrix.add_argument("--methods", default=",".join(METHODS), metavar="M,M")
    matrix.add_argument("--feedbacks", default="explicit", metavar="F,F")
    _add_common(matrix, "holds a folder for each cell")
    matrix.set_defaults(handler=main_matrix)


def _add_common(parser: argparse.ArgumentParser, out: str) -> None:
    parser.add_argument("--data", default="", metavar="DIR", help=_DATA)
    parser.add_argument("--lm", metavar="NAME", help=_LM)
    roles = f"another model for one role: {', '.join(ROLES)}"
    parser.add_argument("--role-lm", action="append", default=[], metavar="R=NAME", help=roles)
    parser.add_argument("--api-base", default="", metavar="URL", help="OpenAI-compatible server")
    parser.add_argument("--out", metavar="DIR", help=out)
    parser.add_argument("--seed", type=int, default=0, help="which sample a model is asked for")
    parser.add_argument("--budget-calls", type=int, metavar="N", help="stop before call N + 1")
    parser.add_argument(
        "--tell-person", action="store_true", help="tell the updater whom a question is about"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")


def main_cell(args: argparse.Namespace) -> int:
    """Run one cell. Raises `ConfigError` for arguments that make none."""
    config = _config(args, story=args.story, method=args.method, feedback=args.feedback)

    def work() -> int:
        from memsteer.eval.adamem_matrix import render_cell
        from memsteer.eval.adamem_runs import run_cell
        from memsteer.eval.progress import StreamReporter

        with StreamReporter() as reporter:
            result = run_cell(config, reporter)
        sys.stdout.write(json.dumps(result) + "\n" if args.json else render_cell(result))
        return 0

    return guarded(work, args.json)


def main_matrix(args: argparse.Namespace) -> int:
    """Run the cells that are not done, then write the table of all."""
    methods = _list(args.methods, "--methods", METHODS)
    feedbacks = _list(args.feedbacks, "--feedbacks", FEEDBACKS)
    stories = None if args.stories is None else _list(args.stories, "--stories", None, int)
    base = _config(args)

    def work() -> int:
        from memsteer.eval.adamem_matrix import cells_of, render_matrix, run_matrix
        from memsteer.eval.progress import StreamReporter

        cells = cells_of(base, stories, methods, feedbacks)
        with StreamReporter() as reporter:
            results = run_matrix(cells, base.budget_calls, reporter)
        if args.json:
            shown = [{k: v for k, v in r.items() if k not in ("weeks", "policy")} for r in results]
            sys.stdout.write(json.dumps({"figures": list(FIGURES), "cells": shown}) + "\n")
        else:
            sys.stdout.write(render_matrix(results))
        return 0

    return guarded(work, args.json)


def _config(args: argparse.Namespace, **fields: Any) -> CellConfig:
    lm = args.lm or os.environ.get("MEMSTEER_LM") or ""
    if not lm:
        raise ConfigError(f"no model: give --lm NAME or set MEMSTEER_LM; NAME is {_LM}")
    try:
        return CellConfig(
            data=args.data,
            lm=lm,
            role_lms=read_role_lms(args.role_lm, ROLES),
            api_base=args.api_base,
            seed=args.seed,
            tell_person=args.tell_person,
            out=args.out or ("memsteer-adamem-matrix" if args.mode else "memsteer-adamem"),
            budget_calls=args.budget_calls,
            **fields,
        )
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(str(part) for part in first["loc"]).replace("_", "-")
        raise ConfigError(f"--{name} {first['input']}: {first['msg']}") from error


def _list(
    text: str, option: str, known: Sequence[str] | None, read: Callable[[str], Any] = str
) -> list[Any]:
    """The comma-separated values of an option, each once."""
    found = []
    for part in (p.strip() for p in text.split(",")):
        try:
            value = read(part)
        except ValueError as error:
            raise ConfigError(f"{option} {text}: {part!r} is no number") from error
        if known is not None and value not in known:
            raise ConfigError(f"{option} {text}: {part!r} is none of {', '.join(known)}")
        found.append(value)
    return list(dict.fromkeys(found))
