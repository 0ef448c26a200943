"""The command line: `memsteer demo | supervise | optimize | evaluate | run | tables | adamem`.

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
from memsteer.eval.exits import BAD_INPUT, INTERRUPTED, NOTHING_ACCEPTED, OK, guarded, stop

if TYPE_CHECKING:
    from memsteer.eval.result import RunResult

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
        return guarded(lambda: _run(config, as_json), as_json)
    except ConfigError as error:
        return stop(BAD_INPUT, str(error), as_json)
    except KeyboardInterrupt:
        return stop(INTERRUPTED, "interrupted; the same command goes on from here", as_json)


def _run(config: RunConfig, as_json: bool) -> int:
    # Imported here: help and usage errors need not wait for DSPy.
    from memsteer.eval.progress import StreamReporter
    from memsteer.eval.runs import run

    with StreamReporter() as reporter:
        result = run(config, reporter)
    if as_json:
        print(json.dumps(result.to_dict(), ensure_ascii=False))
    _tell(result)
    return NOTHING_ACCEPTED if result.nothing_accepted else OK


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
