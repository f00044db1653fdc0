"""LanceDB as the vector index: a table in a folder of its own."""

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa

from lore.store.index import DamagedIndex
from lore.store.index.signs import Aliases
from lore.vectors import Vector, Vectors

TABLE = "vector"
TIDIED_EVERY = 64  # every put leaves a small file behind


class LanceIndex:
    """Exact search over a LanceDB table."""

    def __init__(self, dimension: int, folder: Path | None = None) -> None:
        """Without a folder, the table is in a temporary one that goes with the index."""
        if folder is None:
            folder = Path(tempfile.mkdtemp(prefix="lore-lance-"))
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        fields = [pa.field("alias", pa.int64()), pa.field("vector", pa.list_(pa.float32(), dimension))]
        self._schema = pa.schema(fields)
        self._puts = 0
        with _plainly():
            self._database = lancedb.connect(folder)
            self._table = self._database.create_table(TABLE, schema=self._schema, exist_ok=True)

    def put(self, aliases: Aliases, vectors: Vectors) -> None:
        if not len(aliases):
            return
        numbers = pa.array(np.ascontiguousarray(vectors).reshape(-1))
        lists = pa.FixedSizeListArray.from_arrays(numbers, self._schema.field("vector").type.list_size)
        new = pa.table([pa.array(aliases), lists], schema=self._schema)
        with _plainly():
            merge = self._table.merge_insert("alias").when_matched_update_all()
            merge.when_not_matched_insert_all().execute(new)
            self._puts += 1
            if self._puts % TIDIED_EVERY == 0:
                self._table.optimize()

    def remove(self, aliases: Aliases) -> None:
        if len(aliases):
            with _plainly():
                self._table.delete(f"alias IN ({_listed(aliases)})")

    def nearest(self, vector: Vector, limit: int, among: Aliases | None = None) -> Aliases:
        if limit < 1 or (among is not None and not len(among)):
            return np.empty(0, np.int64)
        with _plainly():
            search: Any = self._table.search(vector)
            query = search.distance_type("cosine").limit(limit).select(["alias", "_distance"])
            if among is not None:
                query = query.where(f"alias IN ({_listed(among)})", prefilter=True)
            found: Aliases = query.to_arrow()["alias"].to_numpy().astype(np.int64)
        return found

    def clear(self) -> None:
        with _plainly():
            self._table = self._database.create_table(TABLE, schema=self._schema, mode="overwrite")

    def __len__(self) -> int:
        with _plainly():
            return int(self._table.count_rows())


@contextmanager
def _plainly() -> Iterator[None]:
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        raise DamagedIndex(f"LanceDB: {error}") from error


def _listed(aliases: Aliases) -> str:
    return ", ".join(map(str, np.unique(aliases).tolist()))
