"""The offline engine: every role played by extraction rules, without model, key or network."""

from memsteer.programs.offline.engine import ExtractiveEngine, offline_lm

__all__ = ["ExtractiveEngine", "offline_lm"]
