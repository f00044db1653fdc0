"""The contract of a vector index: it proposes neighbours, the rows decide."""

from collections.abc import Callable
from typing import Literal, Protocol

from lore.store.index.codes import Aliases, CodeIndex, Rows
from lore.vectors import Vector

__all__ = ["BACKENDS", "Aliases", "Rows", "VectorIndex"]


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


BACKENDS: dict[str, Callable[[int], VectorIndex]] = {"codes": CodeIndex}  # dimension -> index
