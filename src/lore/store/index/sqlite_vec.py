"""sqlite-vec as the vector index: a table of its own SQLite file, searched from its first row to its last.

The extension is loaded into the SQLite library that Lore uses; its Python package would load another one.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import apsw
import numpy as np

from lore.store.index import DamagedIndex
from lore.store.index.codes import code_of
from lore.store.index.signs import Aliases
from lore.vectors import Vector, Vectors

FILE = "vectors.db"
MOST_NEIGHBOURS = 4096
"""The limit of the extension's own search; beyond it, all distances are sorted."""
TABLE = """
    CREATE VIRTUAL TABLE IF NOT EXISTS vector USING vec0 (
        alias INTEGER PRIMARY KEY, code int8[{dimension}] distance_metric=cosine
    )
"""
DROP = "DELETE FROM vector WHERE alias IN (SELECT value FROM json_each(?))"
ADD = "INSERT INTO vector (alias, code) VALUES (?, vec_int8(?))"
AMONG = "alias IN (SELECT value FROM json_each(:among))"
NEAREST = "SELECT alias FROM vector WHERE code MATCH vec_int8(:code) AND k = :limit{among} ORDER BY distance"
SORTED = """
    SELECT alias FROM vector{among} ORDER BY vec_distance_cosine(code, vec_int8(:code)) LIMIT :limit
"""


class SqliteVecIndex:
    """Search by codes of one byte per number; the rows give the exact scores."""

    def __init__(self, dimension: int, folder: Path | None = None) -> None:
        """Without a folder, the table is in a temporary file that goes with the index."""
        extension = _extension()
        self._turn = threading.RLock()
        self._dimension = dimension
        with _plainly():
            self._connection = apsw.Connection("" if folder is None else str(folder / FILE))
            self._connection.enable_load_extension(True)
            self._connection.load_extension(str(extension))
            self._connection.enable_load_extension(False)
            if folder is not None:
                self._connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
            self._connection.execute(TABLE.format(dimension=dimension))

    def put(self, aliases: Aliases, vectors: Vectors) -> None:
        rows = zip(aliases.tolist(), map(bytes, code_of(vectors)), strict=True)
        with self._turn, _plainly(), self._connection:
            self._connection.execute(DROP, (str(aliases.tolist()),))
            self._connection.executemany(ADD, rows)

    def remove(self, aliases: Aliases) -> None:
        with self._turn, _plainly(), self._connection:
            self._connection.execute(DROP, (str(aliases.tolist()),))

    def nearest(self, vector: Vector, limit: int, among: Aliases | None = None) -> Aliases:
        limit = min(limit, len(self))
        values: dict[str, bytes | int | str] = {"code": bytes(code_of(vector[np.newaxis])[0]), "limit": limit}
        if among is not None:
            values["among"] = str(np.unique(among).tolist())
        if limit <= MOST_NEIGHBOURS:
            statement = NEAREST.format(among="" if among is None else f" AND {AMONG}")
        else:
            statement = SORTED.format(among="" if among is None else f" WHERE {AMONG}")
        with self._turn, _plainly():
            found = [alias for (alias,) in self._connection.execute(statement, values)]
        return np.array(found, np.int64)

    def clear(self) -> None:
        with self._turn, _plainly():
            self._connection.execute("DROP TABLE vector")
            self._connection.execute(TABLE.format(dimension=self._dimension))

    def __len__(self) -> int:
        with self._turn, _plainly():
            ((count,),) = self._connection.execute("SELECT count(*) FROM vector").fetchall()
        return int(str(count))


def _extension() -> Path:
    """The file of the extension, without its suffix; the package that brings it is not imported."""
    package = find_spec("sqlite_vec")
    if package is None or not package.submodule_search_locations:
        raise ImportError("there is no package sqlite_vec")
    return Path(package.submodule_search_locations[0]) / "vec0"


@contextmanager
def _plainly() -> Iterator[None]:
    try:
        yield
    except apsw.Error as error:
        raise DamagedIndex(f"sqlite-vec: {error}") from error
