"""`memsteer tables adamem`: the command's arguments and its output, over `adamem_tables`.

With `--json` stdout carries one JSON object; without it the tables as text. Exit code 0, or 2 with
one line on stderr that names the file and the field at fault.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any


def add_tables_parser(subparsers: "argparse._SubParsersAction[Any]") -> None:
    """Add `tables adamem` to the command line; its handler is `main_tables`."""
    tables = subparsers.add_parser("tables", help="recompute a paper's tables from its artifacts")
    papers = tables.add_subparsers(dest="paper", required=True, metavar="PAPER")
    parser = papers.add_parser("adamem", help="Tables 1 and 2 of AdaMem (arXiv 2606.21144)")
    parser.add_argument(
        "--artifacts",
        type=Path,
        required=True,
        metavar="DIR",
        help="the folder that holds data/scaling and exp/paper",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    parser.set_defaults(handler=main_tables)


def main_tables(args: argparse.Namespace) -> int:
    """Write the tables of `args.artifacts` to stdout, as JSON if `args.json`."""
    # Imported here: help and usage errors need not wait for DSPy.
    from memsteer.eval.adamem_tables import recompute, render
    from memsteer.programs.records import HistoryError

    try:
        tables = recompute(args.artifacts)
    except HistoryError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if args.json:
        sys.stdout.write(json.dumps(tables.to_json()) + "\n")
        for line in tables.report:
            sys.stderr.write(f"{line}\n")
    else:
        sys.stdout.write(render(tables))
    return 0
