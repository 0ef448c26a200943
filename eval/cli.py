"""The command line: `memsteer demo | supervise | optimize | evaluate | run | tables`.

Thin over `memsteer.eval.runs.run`. People read stderr; with --json stdout carries one JSON object.
Exit codes: 0 done; 2 bad input or usage, one line; 3 nothing accepted; 4 the budget is spent;
130 interrupted. After 4 and 130 the same command goes on where the run was.
"""

import json
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from memsteer.eval.arguments import parse, read_arguments
from memsteer.eval.config import ConfigError, RunConfig

if TYPE_CHECKING:
    from memsteer.eval.result import RunResult

OK, BAD_INPUT, NOTHING_ACCEPTED, BUDGET_SPENT, INTERRUPTED = 0, 2, 3, 4, 130
# Without a network these fail at once instead of after minutes; other people's progress bars
# would write across ours.
_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "HF_HUB_ETAG_TIMEOUT": "5",
    "HF_HUB_DOWNLOAD_TIMEOUT": "20",
    "TQDM_DISABLE": "1",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    as_json = "--json" in arguments
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        options = parse(arguments)
        if hasattr(options, "handler"):
            return int(options.handler(options))
        config, as_json = read_arguments(arguments)
    except ConfigError as error:
        return _stop(BAD_INPUT, str(error), as_json)
    try:
        return _run(config, as_json)
    except KeyboardInterrupt:
        return _stop(INTERRUPTED, "interrupted; the same command goes on from here", as_json)


def _run(config: RunConfig, as_json: bool) -> int:
    # Imported here: help and usage errors need not wait for DSPy.
    from memsteer.eval.progress import StreamReporter
    from memsteer.eval.runs import run
    from memsteer.eval.stages import NoAnswers
    from memsteer.programs.design import DesignError
    from memsteer.programs.embedding import EmbedderError
    from memsteer.programs.ledger import BudgetExhausted, LedgerError
    from memsteer.programs.offline.vectors import VectorsMissing
    from memsteer.programs.records import HistoryError

    try:
        with StreamReporter() as reporter:
            result = run(config, reporter)
    except BudgetExhausted as stop:
        said = f"{stop}; the same command with a larger budget goes on from here"
        return _stop(BUDGET_SPENT, said, as_json)
    except (
        ConfigError,
        DesignError,
        EmbedderError,
        HistoryError,
        LedgerError,
        NoAnswers,
        VectorsMissing,
    ) as error:
        return _stop(BAD_INPUT, str(error), as_json)
    if as_json:
        print(json.dumps(result.to_dict(), ensure_ascii=False))
    _tell(result)
    return NOTHING_ACCEPTED if result.nothing_accepted else OK


def _stop(code: int, reason: str, as_json: bool) -> int:
    line = " ".join(reason.split())
    print(f"memsteer: {line}", file=sys.stderr)
    if as_json:
        print(json.dumps({"exit": code, "error": line}, ensure_ascii=False))
    return code


def _tell(result: "RunResult") -> None:
    """The outcome in a few lines for people."""
    for line in _lines(result):
        print(line, file=sys.stderr)


def _lines(result: "RunResult") -> list[str]:
    data: dict[str, Any] = result.to_dict()
    lines = []
    supervision = data["supervision"]
    if supervision:
        lines.append(f"supervision: {supervision['accepted']} accepted; rejected:")
        lines += [f"  {n:5d}  {reason}" for reason, n in supervision["rejected"].items()]
    if result.nothing_accepted:
        lines.append("nothing was accepted, so there is nothing to optimise with")
    if data["base"] and data["optimized"]:
        lines.append(f"{data['questions']} {data['scored_on']} questions: base -> optimised")
        for name in ("evidence_recall_at_10", "context_coverage", "answer_accuracy"):
            before, after = data["base"][name], data["optimized"][name]
            if before is not None and after is not None:
                lines.append(f"  {name:22s} {before:6.1%} -> {after:6.1%}")
    lines.append(f"report: {os.path.join(result.config.out, 'report.html')}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
