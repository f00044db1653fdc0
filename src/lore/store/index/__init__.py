"""The contract of a vector index: it proposes neighbours, the rows decide."""

from typing import Literal, Protocol, cast

from lore.errors import Invalid, Unavailable
from lore.lazy import load
from lore.store.index.codes import Aliases, Rows
from lore.text import listed
from lore.vectors import Vector

__all__ = ["INDEXES", "Aliases", "Rows", "VectorIndex", "open_index"]


class VectorIndex(Protocol):
    """Proposes neighbours; the rows decide. Derived state: it may be thrown away at any time.

    A stale or half-filled index costs candidates, never a wrong score: the store reads what is proposed
    from the rows and scores it exactly. Safe for many readers beside writers.
    """

    @property
    def feed(self) -> Literal["code", "vector"]:
        """Which bytes of a row it is filled from: the compact code or the exact vector."""

    def put(self, aliases: Aliases, rows: Rows) -> None:
        """Insert or replace: one line of bytes (as `feed` names them) for each of the distinct aliases."""

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
}


def open_index(name: str, dimension: int) -> VectorIndex:
    """An empty index of that kind."""
    if name not in INDEXES:
        raise Invalid(f"unknown vector store {name!r}; known: {listed(INDEXES)}")
    place, extra = INDEXES[name]
    try:
        return cast(VectorIndex, load(place)(dimension))
    except ImportError as error:
        wanted = f"pip install 'agent-lore[{extra}]'"
        raise Unavailable(f"the vector store {name} is not installed ({error}); {wanted}") from error
