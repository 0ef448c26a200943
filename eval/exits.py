"""How a command ends: its exit code, one line for people, one JSON object where it is wanted."""

import json
import sys
from collections.abc import Callable

OK, BAD_INPUT, NOTHING_ACCEPTED, BUDGET_SPENT, INTERRUPTED = 0, 2, 3, 4, 130


def guarded(work: Callable[[], int], as_json: bool) -> int:
    """`work()`'s exit code, or that of the fault it ends in, told in one line."""
    # Imported here: help and usage errors need not wait for DSPy.
    from memsteer.eval.config import ConfigError
    from memsteer.eval.stages import NoAnswers
    from memsteer.programs.design import DesignError
    from memsteer.programs.embedding import EmbedderError
    from memsteer.programs.ledger import BudgetExhausted, LedgerError
    from memsteer.programs.offline.vectors import VectorsMissing
    from memsteer.programs.records import HistoryError

    try:
        return work()
    except BudgetExhausted as end:
        said = f"{end}; the same command with a larger budget goes on from here"
        return stop(BUDGET_SPENT, said, as_json)
    except (
        ConfigError,
        DesignError,
        EmbedderError,
        HistoryError,
        LedgerError,
        NoAnswers,
        VectorsMissing,
    ) as error:
        return stop(BAD_INPUT, str(error), as_json)


def stop(code: int, reason: str, as_json: bool) -> int:
    """Tell why the command ends with `code`; gives the code back."""
    line = " ".join(reason.split())
    sys.stderr.write(f"memsteer: {line}\n")
    if as_json:
        sys.stdout.write(json.dumps({"exit": code, "error": line}, ensure_ascii=False) + "\n")
    return code
