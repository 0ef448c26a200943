"""Fixtures of the run tests; `fakes` is importable beside this file."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fakes import FakeEmbedder


@pytest.fixture
def fake_embedder(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs embed without a model."""
    monkeypatch.setattr("memsteer.programs.retrieval.SentenceTransformerEmbedder", FakeEmbedder)
