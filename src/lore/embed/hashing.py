"""An embedder without a model: texts that share words are alike. For tests, and where nothing else runs."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from zlib import crc32

import numpy as np

from lore.errors import Invalid
from lore.vectors import Vector, Vectors, unit

WORD = re.compile(r"\w+")
TRIGRAM_WEIGHT = 0.25  # parts of words count less than words
SIGN = 1 << 31


class HashEmbedder:
    """See `Embedder`. The same text gives the same bits in every process, on every machine."""

    ready = True
    floor = 0.0

    def __init__(self, dimension: int = 384) -> None:
        if dimension < 1:
            raise Invalid(f"a vector needs at least one dimension, not {dimension}")
        self.dimension = dimension
        self.model = f"hash/words/{dimension}"

    def warm(self) -> None:
        """Nothing to load."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dimension), np.float32)
        for at, text in enumerate(texts):
            vectors[at] = self.embed_query(text)
        return vectors

    def embed_query(self, text: str) -> Vector:
        totals = np.zeros(self.dimension, np.float32)
        for feature, weight in _features(text).items():
            hashed = crc32(feature.encode())
            totals[hashed % SIGN % self.dimension] += weight if hashed & SIGN else -weight
        if not totals.any():  # no words at all
            totals[0] = 1.0
        vector = unit(totals)
        vector.flags.writeable = False
        return vector

    def release(self) -> None:
        """Nothing to give back."""


def _features(text: str) -> dict[str, float]:
    """Words and their trigrams; often repeated ones count a little more, not many times."""
    words = Counter(WORD.findall(text.lower()))
    trigrams = Counter(part for word in words for part in _trigrams(word))
    return {word: math.sqrt(count) for word, count in words.items()} | {
        f"#{part}": TRIGRAM_WEIGHT * math.sqrt(count) for part, count in trigrams.items()
    }


def _trigrams(word: str) -> Iterator[str]:
    framed = f"<{word}>"
    return (framed[at : at + 3] for at in range(len(framed) - 2))
