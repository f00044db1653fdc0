"""The contract of a vector index: it proposes neighbours, the rows decide."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, cast

from lore.errors import Invalid, LoreError, Unavailable
from lore.lazy import load
from lore.store.index.signs import Aliases
from lore.text import listed
from lore.vectors import Vector, Vectors

__all__ = ["BUILTIN", "INDEXES", "Aliases", "DamagedIndex", "VectorIndex", "index_class", "open_index"]


class DamagedIndex(LoreError):
    """An index cannot read its own data; it is to be made again from the rows."""


class VectorIndex(Protocol):
    """Proposes neighbours; the rows decide. Derived state: it may be thrown away at any time.

    A stale or half-filled index costs candidates, never a wrong score: the store reads what is proposed
    from the rows and scores it exactly. Safe for many readers beside writers. Every method may raise
    DamagedIndex.
    """

    def put(self, aliases: Aliases, vectors: Vectors) -> None:
        """Insert or replace the vector of each of these distinct aliases."""

    def remove(self, aliases: Aliases) -> None:
        """Forget these; unknown ones are ignored."""

    def nearest(self, vector: Vector, limit: int, among: Aliases | None = None) -> Aliases:
        """At most `limit` candidates, the most promising first. With `among`, only these are considered,
        and none of them is lost to the filter: if they are no more than `limit`, all known ones return."""

    def clear(self) -> None:
        """Know nothing."""

    def __len__(self) -> int: ...


INDEXES = {  # name -> where its class is, imported only when opened, and the extra that brings it
    "builtin": ("lore.store.index.codes:CodeIndex", ""),
    "lancedb": ("lore.store.index.lance:LanceIndex", "lancedb"),
    "chroma": ("lore.store.index.chroma:ChromaIndex", "chroma"),
    "sqlite-vec": ("lore.store.index.sqlite_vec:SqliteVecIndex", "sqlite-vec"),
}
BUILTIN = "builtin"


def open_index(name: str, dimension: int, folder: Path | None = None) -> VectorIndex:
    """The index of that kind in a folder, which is its own; without a folder an empty one.

    DamagedIndex: the folder holds something else.
    """
    index = index_class(name)
    return index(dimension) if folder is None else index(dimension, folder)


def index_class(name: str) -> Callable[..., VectorIndex]:
    """What makes an index of that kind; Invalid if it is unknown, Unavailable if it is not installed."""
    if name not in INDEXES:
        raise Invalid(f"unknown vector store {name!r}; known: {listed(INDEXES)}")
    place, extra = INDEXES[name]
    try:
        return cast(Callable[..., VectorIndex], load(place))
    except ImportError as error:
        wanted = f"pip install 'agent-lore[{extra}]'"
        raise Unavailable(f"the vector store {name} is not installed ({error}); {wanted}") from error
