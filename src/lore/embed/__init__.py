"""Text → vector: what an embedder promises, and how to open one by name."""

from collections.abc import Sequence
from typing import Protocol, cast

from lore.errors import Invalid
from lore.lazy import load
from lore.vectors import Vector, Vectors

DEFAULT = "gte-small"
MODELS = {  # name -> where its class is; imported only when opened
    "gte-small": "lore.embed.onnx:OnnxEmbedder",
    "potion-multilingual": "lore.embed.static:StaticEmbedder",
    "hash": "lore.embed.hashing:HashEmbedder",
}


class Embedder(Protocol):
    """Turns texts into unit vectors, so that like meanings point the same way. Safe to share by threads.

    The same text gives the same vector, alone or among others. Vectors of different `model` ids must
    not be compared. Raw cosines rank; a threshold needs `lore.vectors.likeness(cosine, floor)`.
    """

    @property
    def model(self) -> str:
        """The id stored with every vector: name/variant/dimension."""

    @property
    def dimension(self) -> int: ...

    @property
    def floor(self) -> float:
        """The cosine of unrelated texts: likeness 0."""

    @property
    def ready(self) -> bool:
        """Loaded: embedding will not have to wait for a load."""

    def warm(self) -> None:
        """Load now, if not loaded. Raises Unavailable; a later call tries again."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One unit row for each text to be found later. Loads if needed; raises Unavailable."""

    def embed_query(self, text: str) -> Vector:
        """The unit vector of a text to search with (read-only). Loads if needed; raises Unavailable."""

    def release(self) -> None:
        """Give the memory back; the next use loads again."""


def open_embedder(name: str = DEFAULT) -> Embedder:
    """The embedder called `name`, not loaded yet."""
    if name not in MODELS:
        raise Invalid(f"unknown embedding model {name!r}; known: {', '.join(MODELS)}")
    return cast(Embedder, load(MODELS[name])())
