"""LanceDB as the vector index: a table in a folder of its own, thrown away with the index."""

import shutil
import tempfile
import weakref
from typing import Any, Final, Literal

import lancedb
import numpy as np
import pyarrow as pa

from lore.store.index.codes import Aliases, Rows
from lore.vectors import STORED, Vector

TABLE = "vector"
TIDIED_EVERY = 64  # every put leaves a small file behind


class LanceIndex:
    """Exact search over a LanceDB table. Derived state: the folder goes when the index does."""

    feed: Final[Literal["vector"]] = "vector"

    def __init__(self, dimension: int) -> None:
        folder = tempfile.mkdtemp(prefix="lore-lance-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._database = lancedb.connect(folder)
        fields = [pa.field("alias", pa.int64()), pa.field("vector", pa.list_(pa.float32(), dimension))]
        self._schema = pa.schema(fields)
        self.clear()

    def put(self, aliases: Aliases, rows: Rows) -> None:
        if not len(aliases):
            return
        numbers = pa.array(np.ascontiguousarray(rows).view(STORED).reshape(-1))
        vectors = pa.FixedSizeListArray.from_arrays(numbers, self._schema.field("vector").type.list_size)
        new = pa.table([pa.array(aliases), vectors], schema=self._schema)
        self._table.merge_insert("alias").when_matched_update_all().when_not_matched_insert_all().execute(new)
        self._puts += 1
        if self._puts % TIDIED_EVERY == 0:
            self._table.optimize()

    def remove(self, aliases: Aliases) -> None:
        if len(aliases):
            self._table.delete(f"alias IN ({_listed(aliases)})")

    def nearest(self, vector: Vector, limit: int, among: Aliases | None = None) -> Aliases:
        if limit < 1 or (among is not None and not len(among)):
            return np.empty(0, np.int64)
        search: Any = self._table.search(vector)
        query = search.distance_type("cosine").limit(limit).select(["alias", "_distance"])
        if among is not None:
            query = query.where(f"alias IN ({_listed(among)})", prefilter=True)
        found: Aliases = query.to_arrow()["alias"].to_numpy().astype(np.int64)
        return found

    def clear(self) -> None:
        self._puts = 0
        self._table = self._database.create_table(TABLE, schema=self._schema, mode="overwrite")

    def __len__(self) -> int:
        return int(self._table.count_rows())


def _listed(aliases: Aliases) -> str:
    return ", ".join(map(str, np.unique(aliases).tolist()))
