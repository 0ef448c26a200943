"""Embeddings: what is computed once, kept on disk, and refused in one line."""

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest

from memsteer.programs.embedding import (
    EmbedderError,
    SentenceTransformerEmbedder,
    default_cache_dir,
)

TEXTS = ["I walked my dog in the park.", "The puppy had a stroll outside.", "Taxes are due in May."]


def test_minilm_puts_like_meanings_together_and_keeps_them_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = SentenceTransformerEmbedder(cache_dir=tmp_path)
    vectors = embedder.encode(TEXTS)
    assert vectors.shape == (3, 384)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-3)
    walk, stroll, taxes = vectors
    assert walk @ stroll > 0.3 > 0.2 > walk @ taxes
    assert embedder.encode(TEXTS[:1])[0] == pytest.approx(walk, abs=1e-3)

    def refuse(*_: object) -> None:
        raise AssertionError("computed twice")

    monkeypatch.setattr(SentenceTransformerEmbedder, "_run", refuse)
    assert (embedder.encode(TEXTS[:1])[0] == embedder.encode(TEXTS[:1])[0]).all()  # in memory
    again = SentenceTransformerEmbedder(cache_dir=tmp_path)
    assert (again.encode(TEXTS) == vectors).all()  # from disk
    assert [p.suffix for p in (tmp_path / "embeddings").iterdir()] == [".npy"]
    for other in (TEXTS[::-1], [*TEXTS[:2], ""]):
        with pytest.raises(AssertionError):
            again.encode(other)


def test_no_texts_give_no_rows() -> None:
    assert SentenceTransformerEmbedder().encode([]).shape[0] == 0


def test_a_model_that_is_not_there_is_named_in_one_line() -> None:
    with pytest.raises(EmbedderError, match="embedding model 'no/such-model': cannot be loaded"):
        SentenceTransformerEmbedder("no/such-model").encode(["x"])


def test_copies_share_the_model_and_pickles_name_it(tmp_path: Path) -> None:
    embedder = SentenceTransformerEmbedder(cache_dir=tmp_path, max_tokens=64)
    assert copy.deepcopy(embedder) is embedder
    again = pickle.loads(pickle.dumps(embedder))
    assert (again.name, again.max_tokens) == (embedder.name, 64)


def test_the_cache_folder_is_the_one_named_or_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMSTEER_CACHE", "/somewhere")
    assert default_cache_dir() == Path("/somewhere")
    monkeypatch.delenv("MEMSTEER_CACHE")
    assert default_cache_dir() == Path.home() / ".cache" / "memsteer"
