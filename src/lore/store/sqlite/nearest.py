"""Nearest: an index in memory proposes candidates, the rows give the exact cosines; kept in step here."""

import threading
from dataclasses import dataclass

import numpy as np

from lore.model import PENDING_COUNTED
from lore.store.columns import Parameters, Rows
from lore.store.index import Aliases, VectorIndex, open_index
from lore.store.values import Neighbours
from lore.vectors import Vector

OVERSAMPLING = 2
FEWEST_CANDIDATES = 64
FEED_ROWS = 20_000
FEEDS = {  # what an index is filled from: the statement, and the bytes of a number in it
    "code": (
        "SELECT memory, seq, code FROM embedding WHERE tenant = :tenant AND seq > :seen AND model = :model"
        f" AND length(code) = :size ORDER BY seq LIMIT {FEED_ROWS}",
        1,
    ),
    "vector": (
        "SELECT e.memory, e.seq, v.data FROM embedding e CROSS JOIN vector v ON v.memory = e.memory"
        " WHERE e.tenant = :tenant AND e.seq > :seen AND e.model = :model AND v.model = :model"
        f" AND length(v.data) = :size ORDER BY e.seq LIMIT {FEED_ROWS}",
        4,
    ),
}
"""The feed of a tenant's vectors. Every writer of vectors holds the write lock while it takes a number and
until it commits, so numbers are committed in their order and none is skipped."""

PENDING = f"""
    SELECT 1 FROM embedding e WHERE {{sight}} AND e.model < :model
    UNION ALL SELECT 1 FROM embedding e WHERE {{sight}} AND e.model > :model LIMIT {PENDING_COUNTED}
"""
"""Two range scans find what one inequality would have to search for in all rows."""
COSINES = f"""
    SELECT m.id, v.data FROM json_each(:among) j CROSS JOIN vector v ON v.memory = j.value
        CROSS JOIN memory m ON m.alias = v.memory WHERE v.model = :model AND {{condition}}
    UNION ALL SELECT '', count(*) FROM ({PENDING})
"""
"""At last the number of memories in sight without a vector of the model."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The rows that one query may see, and how to read.

    sight: condition on a row `e` in sight. condition: on a row `m` of memory that also passes the filter.
    """

    rows: Rows
    sight: str
    condition: str
    parameters: Parameters

    def aliases(self) -> Aliases:
        """All of them."""
        rows = self.rows(f"SELECT m.alias FROM memory m WHERE {self.condition}", self.parameters)
        return np.fromiter((alias for (alias,) in rows), np.int64, len(rows))

    def cosines(self, vector: Vector, model: str, among: Aliases) -> Neighbours:
        """The exact cosine of each of these that has a vector of this model, best first."""
        *rows, (_, pending) = self.rows(
            COSINES.format(condition=self.condition, sight=self.sight),
            self.parameters | {"model": model, "among": str(among.tolist())},
        )
        if not rows:
            return Neighbours({}, pending)
        matrix = np.frombuffer(b"".join(data for _, data in rows), "<f4").reshape(len(rows), -1)
        cosines = matrix @ vector
        best = np.argsort(-cosines, kind="stable")
        return Neighbours({rows[at][0]: float(cosines[at]) for at in best}, pending)


class Nearest:
    """The index of one tenant and model, in memory, fed from all committed vectors.

    It only proposes: a memory that changed or vanished since is scored, or missed, by its row.
    """

    def __init__(self, committed: Rows, tenant: int, backend: str = "builtin") -> None:
        self._committed = committed
        self._tenant = tenant
        self._backend = backend
        self._feeding = threading.Lock()
        self._index: VectorIndex = open_index(backend, 1)
        self._model = ""
        self._seen = 0

    def forget(self) -> None:
        """Throw the index away; the next query builds it again."""
        with self._feeding:
            self._index = open_index(self._backend, 1)
            self._model = ""

    def nearest(self, vector: Vector, model: str, limit: int, scope: Scope, narrow: bool) -> Neighbours:
        """The best `limit` of the scope. `narrow`: the scope is likely small, so look it up first."""
        index = self._caught_up(model, len(vector))
        wanted = max(FEWEST_CANDIDATES, OVERSAMPLING * limit)
        among = scope.aliases() if narrow else None
        found = scope.cosines(vector, model, index.nearest(vector, wanted, among))
        if len(found) < limit and among is None and wanted < len(index):
            found = scope.cosines(vector, model, index.nearest(vector, wanted, scope.aliases()))
        return Neighbours(dict(list(found.items())[:limit]), found.pending)

    def _caught_up(self, model: str, dimension: int) -> VectorIndex:
        """The index with all that is committed; it stays good for its reader when it is thrown away."""
        with self._feeding:
            if model != self._model:
                self._index = open_index(self._backend, dimension)
                self._model, self._seen = model, 0
            statement, bytes_per_number = FEEDS[self._index.feed]
            wanted = {"tenant": self._tenant, "model": model, "size": bytes_per_number * dimension}
            while rows := self._committed(statement, wanted | {"seen": self._seen}):
                aliases = np.fromiter((alias for alias, _, _ in rows), np.int64, len(rows))
                fed = np.frombuffer(b"".join(data for _, _, data in rows), np.uint8)
                self._index.put(aliases, fed.reshape(len(rows), -1))
                self._seen = rows[-1][1]
                if len(rows) < FEED_ROWS:
                    break
            return self._index
