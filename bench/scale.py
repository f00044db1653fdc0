"""Measure one machine from a thousand to a million memories, and the vector stores side by side.

python -m bench.scale FOLDER [--sizes 1000 10000 100000 1000000] [--engines builtin lancedb chroma sqlite-vec]
    [--engines-at 100000] [--postgres URL] [--queries 100] [--json FILE]

Stores are built in FOLDER once and kept (see bench.stores). Each measurement has a process of its own. Times
are milliseconds by the wall and of the processor; the latter matter on a busy machine. Recall is that of the
ten nearest to real sentences, against an exact search over all stored vectors; "1 %" is a filter that one
memory in a hundred passes. Disk is that of store and index beyond the texts. --postgres adds pgvector in a
database of its own (HNSW on halfvec), asked directly.
"""

import argparse
import json
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import numpy.typing as npt

from bench.measuring import measured
from bench.stores import MODEL, SESSIONS, Built, built, put
from lore import Filter, Query
from lore.config import Config
from lore.connecting import wire
from lore.doors.upkeep import spare_loaded
from lore.embed import open_embedder
from lore.lazy import load
from lore.model import SHARED
from lore.store.index import INDEXES
from lore.store.sqlite.checks import rows_of
from lore.store.sqlite.index_files import folder_of
from lore.store.sqlite.store import SqliteStore
from lore.store.sqlite.vector_rows import VectorRows
from lore.vectors import Vector, Vectors

LIMIT = 64
"""Candidates by meaning that a search asks for."""
RECALLED = 100
"""Sentences whose ten nearest are compared with an exact search."""
WRITES = 20
PART = Filter(sessions=frozenset({"7"}))
Row = dict[str, float | int | str]


def main() -> None:
    options = _options()
    rows: dict[str, list[Row]] = {"sizes": [], "engines": []}
    for size in options.sizes:
        store = built(options.folder, size, options.model)
        built_in, _ = measured(build, store, options.model)
        row, _ = measured(embedded, store, options.model, options.queries)
        rows["sizes"].append(row := row | built_in)
        print(_line(f"{size:,} memories", row), flush=True)
    if len(rows["sizes"]) > 1:
        print(growth(rows["sizes"]))
    for name in options.engines:
        store = built(options.folder, options.engines_at, options.model)
        row, _ = measured(engine, store, name, options.model, options.queries)
        rows["engines"].append(row)
        print(_line(f"{name}, {options.engines_at:,}", row), flush=True)
    if options.postgres:
        store = built(options.folder, options.engines_at, options.model)
        row, _ = measured(pgvector, store, options.postgres, options.model, options.queries)
        rows["engines"].append(row)
        print(_line(f"pgvector, {options.engines_at:,}", row), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")


# --- the embedded store, whole searches
def build(store: Built, model: str) -> Row:
    """Build the index again; its seconds, and the most memory that it took."""
    embedder, opened = open_embedder(model), SqliteStore(store.path)
    wall, cpu = time.perf_counter(), time.process_time()
    opened.build_index(embedder.model, embedder.dimension, lambda done, total: None)
    taken: Row = {"build_s": time.perf_counter() - wall, "build_cpu_s": time.process_time() - cpu}
    opened.close()
    return taken | {"build_peak_mb": _memory()[1]}


def embedded(store: Built, model: str, queries: int) -> Row:
    """Everything about the store of one size, whose index is there."""
    began = time.perf_counter()
    lore = wire(Config(db_path=store.path, embedding_model=model))
    opened = time.perf_counter()
    questions = _spread(store.questions, queries)
    lore.search(Query(text="a first question about something else"))
    first = time.perf_counter()
    spare_loaded()  # as in every process that serves a store
    search = _timed(questions, lambda text: lore.search(Query(text=text)))
    filtered = _timed(questions, lambda text: lore.search(Query(text=text, where=PART)))
    resident, peak = _memory()
    vectors = np.stack([_query(lore, text) for text in store.probes[:RECALLED]])
    assert isinstance(lore.store, SqliteStore)
    row: Row = {
        "memories": store.size,
        "open_ms": 1000 * (opened - began),
        "first_search_ms": 1000 * (first - opened),
        **{f"search_{name}": value for name, value in search.items()},
        **{f"search_1%_{name}": value for name, value in filtered.items()},
        **recalls(lore.store, store.path, vectors, lore.embeddings.model),
        "rss_mb": resident,
        "peak_mb": peak,
    }
    lore.close()
    row["bytes_per_memory"] = (disk(store.path) - store.text_bytes) / store.size
    row["index_bytes_per_memory"] = _folder_bytes(folder_of(store.path)) / store.size
    return row


def _query(lore: Any, text: str) -> Vector:
    vector = lore.embeddings.embed_query(text)
    assert vector is not None
    found: Vector = vector
    return found


def growth(rows: Sequence[Row]) -> str:
    """How the largest store compares with the smallest."""
    names = ("search_cpu_p50", "search_cpu_p99", "first_search_ms", "rss_mb")
    ratios = ", ".join(f"{name} x {float(rows[-1][name]) / float(rows[0][name]):.2f}" for name in names)
    return f"from {rows[0]['memories']:,} to {rows[-1]['memories']:,}: {ratios}"


# --- vector stores side by side, candidates by meaning alone
def engine(store: Built, name: str, model: str, queries: int) -> Row:
    """One vector store under the same rows."""
    embedder = open_embedder(model)
    vectors = embedder.embed(_spread(store.probes, queries))
    before, _ = _memory()
    with tempfile.TemporaryDirectory(prefix="lore-scale-") as folder:
        path = Path(folder) / "memory.db"
        shutil.copyfile(store.path, path)
        opened = SqliteStore(path, vector_store=name)
        wall, cpu = time.perf_counter(), time.process_time()
        opened.build_index(embedder.model, embedder.dimension, lambda done, total: None)
        row: Row = {
            "engine": name,
            "build_s": time.perf_counter() - wall,
            "build_cpu_s": time.process_time() - cpu,
        }
        reader = opened.reader(SHARED)
        near = _timed(vectors, lambda vector: reader.near(vector, embedder.model, LIMIT, Filter()))
        part = _timed(vectors, lambda vector: reader.near(vector, embedder.model, LIMIT, PART))
        row |= {f"near_{name}": value for name, value in near.items()}
        row |= {f"near_1%_{name}": value for name, value in part.items()}
        resident, peak = _memory()
        row |= recalls(opened, path, vectors[:RECALLED], embedder.model)
        row |= {"rss_mb": resident - before, "peak_mb": peak - before}
        row["index_bytes_per_memory"] = _folder_bytes(folder_of(path)) / store.size
        added = _timed(range(WRITES), lambda at: _write(opened, store.size + at, vectors[at], embedder.model))
        row |= {f"write_{name}": value for name, value in added.items()}
        opened.close()
    return row


def _write(store: SqliteStore, at: int, vector: Vector, model: str) -> None:
    """One memory, and a search that finds it."""
    put(store, at, [f"A new memory, the number {at}."], vector[np.newaxis], model)
    store.reader(SHARED).near(vector, model, 1, Filter())


def recalls(store: SqliteStore, path: Path, queries: Vectors, model: str) -> Row:
    """The share of the exact ten nearest that the index finds, with and without a filter."""
    reader, every, part = store.reader(SHARED), *exact(path, queries, model)
    row: Row = {}
    for name, where, nearest in (("recall", Filter(), every), ("recall_1%", PART, part)):
        found = [reader.get(reader.near(query, model, 10, where)) for query in queries]
        aliases = [{memory.alias for memory in memories.values()} for memories in found]
        both = sum(len(one & wanted) for one, wanted in zip(aliases, nearest, strict=True))
        row[name] = both / sum(map(len, nearest))
    return row


def exact(path: Path, queries: Vectors, model: str) -> tuple[list[set[int]], list[set[int]]]:
    """The aliases of the ten nearest to each query by every stored vector: of all, and of those of PART."""
    connection = apsw.Connection(str(path))
    (session,) = PART.sessions
    rows = connection.execute("SELECT alias FROM memory WHERE session = ?", (session,)).fetchall()
    passing = np.array([alias for (alias,) in rows], np.int64)
    every, part = [_Best() for _ in queries], [_Best() for _ in queries]
    vector_rows = VectorRows(rows_of(connection), 1, str)
    for aliases, vectors in vector_rows.all(model, queries.shape[1]):
        products = queries @ vectors.T
        inside = np.isin(aliases, passing)
        for one, of_part, scores in zip(every, part, products, strict=True):
            one.add(aliases, scores)
            of_part.add(aliases[inside], scores[inside])
    return [set(one.aliases.tolist()) for one in every], [set(one.aliases.tolist()) for one in part]


class _Best:
    """The ten aliases with the best scores so far."""

    def __init__(self) -> None:
        self.aliases, self._scores = np.empty(0, np.int64), np.empty(0, np.float32)

    def add(self, aliases: npt.NDArray[np.int64], scores: Vector) -> None:
        both, values = np.concatenate([self.aliases, aliases]), np.concatenate([self._scores, scores])
        top = np.argsort(-values)[:10]
        self.aliases, self._scores = both[top], values[top]


# --- pgvector
def pgvector(store: Built, url: str, model: str, queries: int) -> Row:
    """A table of halfvec with an HNSW index, in a database that has the extension `vector`."""
    embedder = open_embedder(model)
    vectors = embedder.embed(_spread(store.probes, queries))
    source = SqliteStore(store.path)
    ids = [trace.id for trace in source.reader(SHARED).traces(Filter())]
    with load("psycopg:connect")(url, autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS scale")
        connection.execute("CREATE TABLE scale (id int PRIMARY KEY, part int, data halfvec(384))")
        began = time.perf_counter()
        with connection.cursor().copy("COPY scale FROM STDIN") as copy:
            for start in range(0, len(ids), 10_000):
                found = source.reader(SHARED).vectors(embedder.model, ids[start : start + 10_000])
                for at, vector in enumerate(found.values()):
                    copy.write_row((start + at, (start + at) % SESSIONS, _text(vector)))
        connection.execute("SET maintenance_work_mem = '1GB'")
        connection.execute("CREATE INDEX ON scale USING hnsw (data halfvec_cosine_ops)")
        connection.execute("CREATE INDEX ON scale (part)")
        connection.execute("ANALYZE scale")
        row: Row = {"engine": "pgvector", "build_s": time.perf_counter() - began}
        connection.execute("SET hnsw.ef_search = 200")

        def near(vector: Vector, where: str = "") -> list[int]:
            ask = f"SELECT id FROM scale {where} ORDER BY data <=> %s LIMIT {2 * LIMIT}"
            return [id for (id,) in connection.execute(ask, (_text(vector),)).fetchall()]

        def write(at: int) -> None:
            values = (store.size + at, 0, _text(vectors[at]))
            connection.execute("INSERT INTO scale VALUES (%s, %s, %s)", values)
            near(vectors[at])

        row |= {f"near_{name}": value for name, value in _timed(vectors, near).items()}
        part = _timed(vectors, lambda vector: near(vector, "WHERE part = 7"))
        row |= {f"near_1%_{name}": value for name, value in part.items()}
        row |= {f"write_{name}": value for name, value in _timed(range(WRITES), write).items()}
        ((size,),) = connection.execute("SELECT pg_total_relation_size('scale')").fetchall()
        row["index_bytes_per_memory"] = size / store.size
        connection.execute("DROP TABLE scale")
    source.close()
    return row


def _text(vector: Vector) -> str:
    return f"[{','.join(f'{number:.6f}' for number in vector.tolist())}]"


# --- measuring
def _timed(items: Sequence[Any] | Vectors, call: Callable[[Any], object]) -> Row:
    """Milliseconds of each call: the middle and the slowest hundredth, by the wall and of the processor."""
    walls, cpus = [], []
    for item in items:
        wall, cpu = time.perf_counter(), time.process_time()
        call(item)
        walls.append(1000 * (time.perf_counter() - wall))
        cpus.append(1000 * (time.process_time() - cpu))
    return {
        f"{kind}_p{part}": float(np.percentile(values, part))
        for kind, values in (("ms", walls), ("cpu", cpus))
        for part in (50, 99)
    }


def _spread(questions: Sequence[str], count: int) -> list[str]:
    return [questions[at * len(questions) // count] for at in range(min(count, len(questions)))]


def _memory() -> tuple[float, float]:
    """Of this process in MB: now, and the most so far."""
    status = Path("/proc/self/status").read_text()
    return tuple(int(re.findall(rf"{name}:\s+(\d+)", status)[0]) / 1024 for name in ("VmRSS", "VmHWM"))  # type: ignore[return-value]


def disk(path: Path) -> int:
    """Bytes of a store with its log and its index."""
    files = (path, path.with_name(path.name + "-wal"))
    return sum(file.stat().st_size for file in files if file.exists()) + _folder_bytes(folder_of(path))


def _folder_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def _line(label: str, row: Row) -> str:
    numbers = {name: value for name, value in row.items() if not isinstance(value, str)}
    shown = [
        f"{name} {value:,.3g}" if value < 10 else f"{name} {value:,.0f}" for name, value in numbers.items()
    ]
    return f"{label}: {', '.join(shown)}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--engines", nargs="*", choices=list(INDEXES), default=list(INDEXES))
    parser.add_argument("--engines-at", type=int, default=100_000)
    parser.add_argument("--postgres", metavar="URL")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
