"""MemSteer: supervision from one person's unlabelled history, and memory designs that fit it."""

__version__ = "0.1.0"
