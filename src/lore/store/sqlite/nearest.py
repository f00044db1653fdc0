"""Nearest: a vector index proposes candidates, the rows give the exact cosines; kept in step here."""

import logging
import threading
from dataclasses import dataclass

import numpy as np

from lore.errors import Unavailable
from lore.model import PENDING_COUNTED
from lore.store.columns import Parameters, Rows
from lore.store.index import Aliases, DamagedIndex, VectorIndex
from lore.store.sqlite.index_files import IndexFiles, Progress, quietly
from lore.store.sqlite.vector_rows import VectorRows
from lore.store.values import Neighbours
from lore.vectors import Vector, stored_bytes, unpacked_rows

logger = logging.getLogger(__name__)

OVERSAMPLING = 2
FEWEST_CANDIDATES = 128

PENDING = f"""
    SELECT 1 FROM embedding e WHERE {{sight}} AND e.model < :model
    UNION ALL SELECT 1 FROM embedding e WHERE {{sight}} AND e.model > :model LIMIT {PENDING_COUNTED}
"""
"""Two range scans find what one inequality would have to search for in all rows."""
COSINES = f"""
    SELECT m.id, v.data FROM json_each(:among) j CROSS JOIN short_vector v ON v.memory = j.value
        CROSS JOIN memory m ON m.alias = v.memory
        WHERE v.model = :model AND length(v.data) = :size AND {{condition}}
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
            self.parameters
            | {"model": model, "size": stored_bytes(len(vector)), "among": str(among.tolist())},
        )
        if not rows:
            return Neighbours({}, pending)
        cosines = unpacked_rows([data for _, data in rows]) @ vector
        best = np.argsort(-cosines, kind="stable")
        return Neighbours({rows[at][0]: float(cosines[at]) for at in best}, pending)


class Nearest:
    """The index of one tenant and model, fed from all committed vectors.

    It only proposes: a memory that changed or vanished since is scored, or missed, by its row.
    """

    def __init__(self, rows: VectorRows, files: IndexFiles) -> None:
        self._rows, self._files = rows, files
        self._feeding = threading.Lock()
        self._index: VectorIndex | None = None
        self._model = ""
        self._seen = 0

    def forget(self) -> None:
        """Let go of the index; the next query opens or builds it again."""
        with self._feeding:
            self._index, self._model = None, ""
            self._files.close()

    def check(self) -> str:
        """What is wrong with the index on disk; empty: nothing."""
        with self._feeding:
            return self._files.check()

    def refresh(self, model: str, dimension: int) -> None:
        """Keep the index on disk not far behind the rows."""
        self._files.refresh(model, dimension)

    def build(self, model: str, dimension: int, progress: Progress) -> int:
        """Build the index again; returns the number of vectors. Unavailable if another process uses it."""
        self.forget()
        if not self._files.remove():
            raise Unavailable(
                "another process uses the vector index; end your agents (lore stop), and try again"
            )
        return len(self._caught_up(model, dimension, progress))

    def nearest(self, vector: Vector, model: str, limit: int, scope: Scope, narrow: bool) -> Neighbours:
        """The best `limit` of the scope. `narrow`: the scope is likely small, so look it up first."""
        wanted = max(FEWEST_CANDIDATES, OVERSAMPLING * limit)
        among = scope.aliases() if narrow else None
        proposed, size = self._proposed(vector, model, wanted, among)
        found = scope.cosines(vector, model, proposed)
        if len(found) < limit and among is None and wanted < size:
            proposed, _ = self._proposed(vector, model, wanted, scope.aliases())
            found = scope.cosines(vector, model, proposed)
        return Neighbours(dict(list(found.items())[:limit]), found.pending)

    def _proposed(self, vector: Vector, model: str, limit: int, among: Aliases | None) -> tuple[Aliases, int]:
        """Candidates, and the size of the index. A damaged index is built again, once."""
        try:
            index = self._caught_up(model, len(vector))
            return index.nearest(vector, limit, among), len(index)
        except DamagedIndex as error:
            logger.warning("the vector index is built again: %s", error)
            self.forget()
            self._files.remove()
        index = self._caught_up(model, len(vector))
        return index.nearest(vector, limit, among), len(index)

    def _caught_up(self, model: str, dimension: int, progress: Progress = quietly) -> VectorIndex:
        """The index with all that is committed; it stays good for its reader when it is thrown away."""
        with self._feeding:
            index = self._index
            if index is None or model != self._model or self._files.newer(index):
                index, self._seen = self._files.open(model, dimension, progress)
                self._index, self._model = index, model
            before = self._seen
            for aliases, vectors, seq in self._rows.feed(model, dimension, self._seen):
                index.put(aliases, vectors)
                self._seen = seq
                progress(seq - before, self._rows.last_seq() - before)
            self._files.advance(index, self._seen)
            return index
