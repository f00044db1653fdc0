"""Vector rows: the stored vectors of one tenant, as indexes are filled from them."""

from collections.abc import Callable, Iterator

import numpy as np

from lore.store.columns import Rows
from lore.store.index import Aliases
from lore.vectors import Vectors, stored_bytes, unpacked_rows

BATCH = 4_096
NEW = f"""
    SELECT e.memory, e.seq, v.data FROM embedding e CROSS JOIN short_vector v ON v.memory = e.memory
        WHERE e.tenant = :tenant AND e.seq > :seen AND e.model = :model AND v.model = :model
        AND length(v.data) = :size ORDER BY e.seq LIMIT {BATCH}
"""
"""The feed of a tenant's vectors. Every writer of vectors holds the write lock while it takes numbers and
until it commits, so numbers are committed in their order and none is skipped."""
ALL = f"""
    SELECT v.memory, v.data FROM short_vector v CROSS JOIN embedding e ON e.memory = v.memory
        WHERE v.memory > :last AND e.tenant = :tenant AND v.model = :model AND length(v.data) = :size
        ORDER BY v.memory LIMIT {BATCH}
"""
SOME = """
    SELECT v.memory, v.data FROM json_each(:aliases) j CROSS JOIN embedding e ON e.memory = j.value
        CROSS JOIN short_vector v ON v.memory = e.memory
        WHERE e.tenant = :tenant AND e.model = :model AND v.model = :model AND e.seq <= :until
        AND length(v.data) = :size ORDER BY v.memory
"""
COUNT = "SELECT count(*) FROM embedding WHERE tenant = :tenant AND model = :model AND seq <= :until"
LAST_SEQ = "SELECT seq FROM vector_feed WHERE tenant = :tenant"
LAST_ALIAS = "SELECT coalesce(max(memory), 0) FROM short_vector"
ANY_TIME = 1 << 62


class VectorRows:
    """Reads what is committed. birth: what tells the store and its copies from all others."""

    def __init__(self, rows: Rows, tenant: int, birth: Callable[[], str]) -> None:
        self._rows, self.tenant, self._birth = rows, tenant, birth

    def origin(self, model: str) -> str:
        """Which vectors an index holds, in one text."""
        return f"{self._birth()} {self.tenant} {model}"

    def count(self, model: str, until: int = ANY_TIME) -> int:
        """The number of vectors of a model, up to a number of the feed."""
        ((count,),) = self._rows(COUNT, {"tenant": self.tenant, "model": model, "until": until})
        return int(count)

    def last_seq(self) -> int:
        """The last number of the feed."""
        rows = self._rows(LAST_SEQ, {"tenant": self.tenant})
        return int(rows[0][0]) if rows else 0

    def feed(self, model: str, dimension: int, seen: int) -> Iterator[tuple[Aliases, Vectors, int]]:
        """The vectors behind a number of the feed, in its order, each batch with its last number."""
        wanted = self._wanted(model, dimension)
        while rows := self._rows(NEW, wanted | {"seen": seen}):
            seen = rows[-1][1]
            yield _aliases([row[0] for row in rows]), unpacked_rows([row[2] for row in rows]), seen
            if len(rows) < BATCH:
                break

    def all(self, model: str, dimension: int) -> Iterator[tuple[Aliases, Vectors]]:
        """All vectors of a model, in ascending order of their aliases."""
        wanted, last = self._wanted(model, dimension), 0
        while rows := self._rows(ALL, wanted | {"last": last}):
            last = rows[-1][0]
            yield _aliases([row[0] for row in rows]), unpacked_rows([row[1] for row in rows])

    def some(
        self, model: str, dimension: int, aliases: Aliases, until: int = ANY_TIME
    ) -> tuple[Aliases, Vectors]:
        """The vectors of those among `aliases` that have one no newer than a number of the feed."""
        wanted = self._wanted(model, dimension) | {"aliases": str(aliases.tolist()), "until": until}
        rows = self._rows(SOME, wanted)
        if not rows:
            return _aliases([]), np.empty((0, dimension), np.float32)
        return _aliases([row[0] for row in rows]), unpacked_rows([row[1] for row in rows])

    def spread(
        self, model: str, dimension: int, count: int, until: int = ANY_TIME
    ) -> tuple[Aliases, Vectors]:
        """About `count` vectors from all times; fewer if few aliases have one."""
        ((last,),) = self._rows(LAST_ALIAS, {})
        aliases = np.unique(np.linspace(1, max(1, last), count).astype(np.int64))
        return self.some(model, dimension, aliases, until)

    def _wanted(self, model: str, dimension: int) -> dict[str, str | int]:
        return {"tenant": self.tenant, "model": model, "size": stored_bytes(dimension)}


def _aliases(values: list[int]) -> Aliases:
    return np.array(values, np.int64)
