"""A Lore without an embedding model."""

from collections.abc import Iterator, Sequence

import pytest

from lore import Lore, Unavailable
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.vectors import Vector, Vectors


class Absent:
    """See `Embedder`."""

    ready = False
    floor = 0.0
    dimension = 384
    model = HashEmbedder().model

    def warm(self) -> None:
        raise Unavailable("the model was deleted")

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise Unavailable("the model was deleted")

    def embed_query(self, text: str) -> Vector:
        raise Unavailable("the model was deleted")

    def release(self) -> None:
        """Nothing to give back."""


@pytest.fixture
def without_embedder(config: Config, clock: Clock) -> Iterator[Lore]:
    """It finds by words alone."""
    opened = wire(config, embedder=Absent(), clock=clock)
    yield opened
    opened.close()
