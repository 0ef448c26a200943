"""What a run will ask of its LMs, said before it asks."""

from dataclasses import dataclass

from memsteer.eval.config import RunConfig
from memsteer.programs.records import History

# Tokens of a role's instruction with its field descriptions; measured, rounded up.
_INSTRUCTION = 900
_BUNDLE_RECORDS = 2.5  # the mean of 1 to 3 hops, less what the budget cuts
_BUNDLE_BUDGET = 1500
_CALLS_PER_BUNDLE = 4  # planner, question writer, auditor, blind recoverer
_ATTEMPTS = 4
_FINALISTS = 2


@dataclass(frozen=True)
class Estimate:
    """About the most calls a stage makes, and how many prompt tokens they hold."""

    stage: str
    calls: int
    prompt_tokens: int

    def __str__(self) -> str:
        return (
            f"{self.stage}: up to about {self.calls:,} LM calls with "
            f"{self.prompt_tokens:,} prompt tokens"
        )


def estimate(config: RunConfig, history: History, scored: int, supervised: int) -> list[Estimate]:
    """About the most that each stage of `config` can ask.

    `scored` counts the official questions to be scored, `supervised` the items that train and
    validate (at most). Answers from the ledger, and calls that the same request makes needless,
    are not taken off.
    """
    found = []
    if config.command in ("demo", "run", "supervise") and config.supervision == "generated":
        record = sum(r.tokens for r in history) / len(history)
        bundle = min(_BUNDLE_BUDGET, _BUNDLE_RECORDS * record)
        calls = round(config.questions * _ATTEMPTS) * _CALLS_PER_BUNDLE
        found.append(Estimate("supervise", calls, round(calls * (_INSTRUCTION + bundle))))
    answer = _INSTRUCTION + config.budget_tokens
    if config.command in ("demo", "run", "optimize"):
        half = (supervised + 1) // 2
        answers = 2 * half + config.rounds * (_FINALISTS + 1) * half
        calls = answers + config.rounds
        found.append(Estimate("optimise", calls, answers * answer + config.rounds * 12_000))
    if config.command in ("demo", "run", "evaluate") and scored:
        found.append(Estimate("evaluate", 2 * scored, 2 * scored * answer))
    return found
