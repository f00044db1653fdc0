"""Meaning: an index proposes candidates, the rows give the exact cosines; the two are kept in step here."""

import threading
from dataclasses import dataclass

import numpy as np

from lore.store import sql
from lore.store.index import Aliases, VectorIndex, open_index
from lore.vectors import Vector

OVERSAMPLING = 2
FEWEST_CANDIDATES = 64
FEED_ROWS = 20_000
FEEDS = {  # what an index is filled from: the statement, and how many bytes a number takes in it
    "code": (
        "SELECT memory, seq, code FROM embedding WHERE seq > :seen AND model = :model"
        f" AND length(code) = :size ORDER BY seq LIMIT {FEED_ROWS}",
        1,
    ),
    "vector": (
        "SELECT e.memory, e.seq, v.data FROM embedding e CROSS JOIN vector v ON v.memory = e.memory"
        " WHERE e.seq > :seen AND e.model = :model AND v.model = :model AND length(v.data) = :size"
        f" ORDER BY e.seq LIMIT {FEED_ROWS}",
        4,
    ),
}


@dataclass(frozen=True, slots=True)
class Scope:
    """The rows that one question may see: a condition on memory `m`, and how to ask."""

    rows: sql.Rows
    condition: str
    parameters: sql.Parameters

    def aliases(self) -> Aliases:
        """All of them."""
        rows = self.rows(f"SELECT m.alias FROM memory m WHERE {self.condition}", self.parameters)
        return np.fromiter((alias for (alias,) in rows), np.int64, len(rows))

    def cosines(self, vector: Vector, model: str, among: Aliases | None = None) -> dict[str, float]:
        """The exact cosine of each that has a vector of this model, best first."""
        chosen = (
            "vector v" if among is None else "json_each(:among) j CROSS JOIN vector v ON v.memory = j.value"
        )
        rows = self.rows(
            f"SELECT m.id, v.data FROM {chosen} CROSS JOIN memory m ON m.alias = v.memory"
            f" WHERE v.model = :model AND {self.condition}",
            self.parameters | {"model": model, "among": str([] if among is None else among.tolist())},
        )
        if not rows:
            return {}
        matrix = np.frombuffer(b"".join(data for _, data in rows), "<f4").reshape(len(rows), -1)
        cosines = matrix @ vector
        best = np.argsort(-cosines, kind="stable")
        return {rows[at][0]: float(cosines[at]) for at in best}


class Meaning:
    """The index of one model, in memory, fed from what has been committed by anybody.

    It only ever proposes: a memory that changed or vanished meanwhile is scored, or missed, by its row.
    """

    def __init__(self, committed: sql.Rows, backend: str = "builtin") -> None:
        self._committed = committed
        self._backend = backend
        self._feeding = threading.Lock()
        self._index: VectorIndex = open_index(backend, 1)
        self._model = ""
        self._seen = 0

    def forget(self) -> None:
        """Throw the index away; the next question builds it anew."""
        with self._feeding:
            self._index = open_index(self._backend, 1)
            self._model = ""

    def nearest(self, vector: Vector, model: str, limit: int, scope: Scope, narrow: bool) -> dict[str, float]:
        """The best `limit` of the scope. `narrow`: the scope is likely small, so look it up first."""
        index = self._caught_up(model, len(vector))
        wanted = max(FEWEST_CANDIDATES, OVERSAMPLING * limit)
        among = scope.aliases() if narrow else None
        found = scope.cosines(vector, model, index.nearest(vector, wanted, among))
        if len(found) < limit and among is None and wanted < len(index):
            among = scope.aliases()
            found = scope.cosines(vector, model, index.nearest(vector, wanted, among))
        return dict(list(found.items())[:limit])

    def _caught_up(self, model: str, dimension: int) -> VectorIndex:
        """The index with all that has been committed; it stays good for its reader when it is thrown away."""
        with self._feeding:
            if model != self._model:
                self._index = open_index(self._backend, dimension)
                self._model, self._seen = model, 0
            statement, bytes_per_number = FEEDS[self._index.feed]
            more = {"model": model, "size": bytes_per_number * dimension}
            while rows := self._committed(statement, more | {"seen": self._seen}):
                aliases = np.fromiter((alias for alias, _, _ in rows), np.int64, len(rows))
                fed = np.frombuffer(b"".join(data for _, _, data in rows), np.uint8)
                self._index.put(aliases, fed.reshape(len(rows), -1))
                self._seen = rows[-1][1]
                if len(rows) < FEED_ROWS:
                    break
            return self._index
