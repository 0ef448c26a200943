"""MemSteer: supervision from one person's unlabelled history, and memory designs that fit it."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memsteer.optimizers.memsteer_opt import MemSteerOpt
    from memsteer.programs.design import MemoryDesign
    from memsteer.programs.ledger import Budget, Ledger
    from memsteer.programs.memory import MemoryProgram
    from memsteer.programs.offline import offline_lm
    from memsteer.programs.records import History
    from memsteer.programs.retrieval import MemoryIndex
    from memsteer.programs.supervision import Supervision, SupervisionBuilder

__version__ = "0.1.0"
__all__ = [
    "Budget",
    "History",
    "Ledger",
    "MemSteerOpt",
    "MemoryDesign",
    "MemoryIndex",
    "MemoryProgram",
    "Supervision",
    "SupervisionBuilder",
    "offline_lm",
]

# Where each name lives. It is imported when first asked for (PEP 562): DSPy alone takes a second.
_HOMES = {
    "Budget": "programs.ledger",
    "History": "programs.records",
    "Ledger": "programs.ledger",
    "MemSteerOpt": "optimizers.memsteer_opt",
    "MemoryDesign": "programs.design",
    "MemoryIndex": "programs.retrieval",
    "MemoryProgram": "programs.memory",
    "Supervision": "programs.supervision",
    "SupervisionBuilder": "programs.supervision",
    "offline_lm": "programs.offline",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"memsteer.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
