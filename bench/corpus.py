"""A synthetic corpus: English words in natural proportions, and vectors shaped like the real model's."""

import random
import re
from importlib.resources import files
from pathlib import Path

import numpy as np

from lore.vectors import Vectors

STOP = "the a of to and in is it we for on that with as be at this by not are from or have an was".split()


class Corpus:
    """Texts and questions from one seed; the same seed gives the same corpus on every machine."""

    def __init__(self, seed: int = 7) -> None:
        self._random = random.Random(seed)
        lines = (files("lore.embed") / "models" / "vocab.txt").read_text(encoding="utf-8").splitlines()
        words = [word for word in lines if word.isascii() and word.isalpha() and len(word) > 3]
        self._random.shuffle(words)
        self._words = words[:12_000]
        self._weights = np.cumsum([1 / (rank + 10) for rank in range(len(self._words))]).tolist()

    def text(self, shortest: int = 8, longest: int = 40) -> str:
        """One memory: content words by Zipf's law, every third word a stop word."""
        length = self._random.randint(shortest, longest)
        content = self._random.choices(self._words, cum_weights=self._weights, k=length)
        return (
            " ".join(
                word if at % 3 else f"{self._random.choice(STOP)} {word}" for at, word in enumerate(content)
            ).capitalize()
            + "."
        )

    def question(self, text: str) -> str:
        """A question that a text answers: some of its words, in other company."""
        words = [word.strip(".").lower() for word in text.split()]
        asked = self._random.sample(words, min(5, len(words)))
        return f"what do we know about {' '.join(asked)}?"


def sentences(seed: int = 7) -> list[str]:
    """Real sentences, those of Lore's own documentation, in random order: texts whose meanings differ."""
    root = Path(__file__).parent.parent
    pages = [root / "README.md", root / "ARCHITECTURE.md", *sorted((root / "docs").rglob("*.md"))]
    text = "\n\n".join(page.read_text(encoding="utf-8") for page in pages)
    prose = re.sub(r"^```.*?^```|^\|.*?$|^#.*?$|[`*]|\]\([^)]*\)|\[", "", text, flags=re.M | re.S)
    found = re.split(r"(?<=[.!?])\s+|\n\n+|\n- ", prose)
    whole = dict.fromkeys(" ".join(one.split()) for one in found if len(one.split()) >= 6)
    mixed = list(whole)
    random.Random(seed).shuffle(mixed)
    return mixed


def like(real: Vectors, count: int, seed: int = 7) -> Vectors:
    """`count` unit vectors distributed like `real`: between random pairs of them, with a little noise."""
    generator = np.random.default_rng(seed)
    left, right = generator.integers(0, len(real), (2, count))
    share = generator.uniform(0.0, 0.4, (count, 1)).astype(np.float32)
    mixed = real[left] * (1 - share) + real[right] * share
    mixed += generator.normal(0, 0.15 / np.sqrt(real.shape[1]), mixed.shape).astype(np.float32)
    unit: Vectors = mixed / np.linalg.norm(mixed, axis=1, keepdims=True)
    return unit
