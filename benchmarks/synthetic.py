"""A made-up history for benchmarks: turns of Zipf-distributed words, seeded."""

import random

import numpy as np

from memsteer.programs.records import History


def synthetic_history(turns: int, seed: int = 0) -> History:
    """`turns` conversation turns of about 60 + 200 words in sessions of 18."""
    rng = np.random.default_rng(seed)
    names = random.Random(seed)
    words = [
        "".join(names.choices("abcdefghijklmnoprstuvw", k=names.randint(3, 9))) for _ in range(8000)
    ]

    def text(length: int) -> str:
        picks = np.minimum(rng.zipf(1.3, length), len(words)) - 1
        sentences = [words[i] for i in picks]
        return ". ".join(" ".join(sentences[i : i + 12]) for i in range(0, length, 12)) + "."

    rows = [
        {
            "id": f"t{n}",
            "time": f"2024-{1 + n // 100 % 12:02d}-{1 + n // 18 % 28:02d}T10:00",
            "group": f"s{n // 18}",
            "position": n % 18,
            "messages": [
                {"role": "user", "content": text(60)},
                {"role": "assistant", "content": text(200)},
            ],
        }
        for n in range(turns)
    ]
    return History.from_rows(rows)


class HashEmbedder:
    """Word hashes as vectors: what a benchmark of everything but the model needs."""

    name = "hash"

    def encode(self, texts):  # type: ignore[no-untyped-def]
        out = np.zeros((len(texts), 256), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in text.split():
                out[row, hash_word(word)] += 1
        return out / np.maximum(np.linalg.norm(out, axis=1, keepdims=True), 1e-9)


def hash_word(word: str) -> int:
    return sum(ord(c) * 31**i for i, c in enumerate(word)) % 256
