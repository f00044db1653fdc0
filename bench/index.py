"""Compare vector indexes: time, recall, filters, cold start and memory, each in its own process."""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Protocol, cast

import apsw
import apsw.sqlite_extra
import numpy as np
import numpy.typing as npt

from lore.store.index.codes import CodeIndex
from lore.vectors import Vector, Vectors

Ids = npt.NDArray[np.int64]
DIMENSION = 384
PARTS = 100  # a filter on one part passes 1 % of the rows
WANTED_PART = 7
LIMITS = (10, 100)

SCHEMA = """
CREATE TABLE memory(id INTEGER PRIMARY KEY, part INTEGER);
CREATE INDEX memory_part ON memory(part);
CREATE TABLE vector(memory INTEGER PRIMARY KEY, data BLOB);
"""


# --- data: exact answers and the rows every engine starts from


def mixture(count: int, rng: np.random.Generator, groups: int = 1000) -> Vectors:
    """Unit vectors from a mixture of gaussians with unequal axes, as centred text embeddings have."""
    axes = (np.arange(DIMENSION) + 1.0) ** -0.35
    centres = rng.standard_normal((groups, DIMENSION)) * axes
    spread = rng.standard_normal((count, DIMENSION)) * axes
    turn, _ = np.linalg.qr(rng.standard_normal((DIMENSION, DIMENSION)))
    return unit((centres[rng.integers(0, groups, count)] + spread) @ turn)


def unit(vectors: npt.NDArray[Any]) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def grown(vectors: Vectors, count: int, rng: np.random.Generator) -> Vectors:
    """The vectors and, up to `count`, directions between random pairs with a little noise, seen from the
    common mean and as far from it as one of the pair: so the new ones are no nearer to all than the old."""
    more = max(0, count - len(vectors))
    mean = vectors.mean(axis=0)
    left, right = (vectors - mean)[rng.integers(0, len(vectors), (2, more))]
    share = rng.uniform(0, 0.5, (more, 1))
    away = np.linalg.norm(left, axis=1, keepdims=True)
    noise = rng.standard_normal((more, DIMENSION)) * (0.2 * away / DIMENSION**0.5)
    return unit(np.vstack([vectors, mean + away * unit((1 - share) * left + share * right + noise)])[:count])


def best(scores: npt.NDArray[np.float32], limit: int) -> npt.NDArray[np.intp]:
    return np.argsort(-scores, kind="stable")[:limit]


def prepare(scratch: Path, vectors: Vectors, queries: Vectors, parts: Ids) -> None:
    """Write the rows, the queries and their exact answers."""
    ids = np.arange(1, len(vectors) + 1)
    mine = ids[parts == WANTED_PART]
    exact = np.array([ids[best(vectors @ query, max(LIMITS))] for query in queries])
    filtered = np.array([mine[best(vectors[mine - 1] @ query, 10)] for query in queries])
    np.savez(scratch / "truth.npz", queries=queries, exact=exact, filtered=filtered)
    with rows_in(scratch) as db, db:
        db.execute(SCHEMA)
        db.executemany("INSERT INTO memory VALUES(?, ?)", zip(ids.tolist(), parts.tolist(), strict=True))
        data = (vector.tobytes() for vector in vectors)
        db.executemany("INSERT INTO vector VALUES(?, ?)", zip(ids.tolist(), data, strict=True))


@contextmanager
def rows_in(scratch: Path) -> Iterator[apsw.Connection]:
    db = apsw.Connection(str(scratch / "rows.db"))
    db.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA mmap_size=2147483648")
    try:
        yield db
    finally:
        db.close()


def all_vectors(db: apsw.Connection) -> Vectors:
    return vectors_in([row[0] for row in db.execute("SELECT data FROM vector ORDER BY memory")])


def vectors_in(blobs: list[Any]) -> Vectors:
    return np.frombuffer(b"".join(blobs), np.float32).reshape(-1, DIMENSION)


def rescored(db: apsw.Connection, query: Vector, candidates: Ids, limit: int) -> Ids:
    """The candidates' exact vectors from the rows, the best `limit` by cosine."""
    sql = "SELECT v.memory, v.data FROM carray(?) AS c CROSS JOIN vector AS v ON v.memory = c.value"
    rows = db.execute(sql, (apsw.carray(np.sort(candidates)),)).fetchall()
    ids = np.array([row[0] for row in rows], np.int64)
    return ids[best(vectors_in([row[1] for row in rows]) @ query, limit)]


def passing(db: apsw.Connection) -> Ids:
    """Whom the filter lets through."""
    rows = db.execute("SELECT id FROM memory WHERE part = ?", (WANTED_PART,)).fetchall()
    return np.array([row[0] for row in rows], np.int64)


# --- engines


class Engine(Protocol):
    """One way to find neighbours over the same rows."""

    def build(self, db: apsw.Connection) -> None: ...
    def load(self, db: apsw.Connection) -> None: ...
    def nearest(self, query: Vector, limit: int) -> Ids: ...
    def filtered(self, query: Vector, limit: int) -> Ids: ...


@dataclass
class Codes:
    """Lore's default: codes propose, the rows decide."""

    factor: int
    least: int

    def build(self, db: apsw.Connection) -> None: ...

    def load(self, db: apsw.Connection) -> None:
        self.db, self.index = db, CodeIndex(DIMENSION)
        vectors = all_vectors(db)
        self.index.put(np.arange(1, len(vectors) + 1), vectors)

    def nearest(self, query: Vector, limit: int, among: Ids | None = None) -> Ids:
        candidates = self.index.nearest(query, max(self.least, self.factor * limit), among)
        return rescored(self.db, query, candidates, limit)

    def filtered(self, query: Vector, limit: int) -> Ids:
        return self.nearest(query, limit, passing(self.db))


@dataclass
class Vec1:
    """The SQLite project's extension; `training` empty means a flat scan."""

    training: dict[str, object] = field(default_factory=dict)
    probes: int = 0

    def build(self, db: apsw.Connection) -> None:
        apsw.sqlite_extra.load(db, "vec1")
        model: object = json.dumps({"index": "flat", "distance": "cos"})
        with db:
            db.execute("DROP TABLE IF EXISTS near; CREATE VIRTUAL TABLE near USING vec1(vector, part)")
            db.execute("""INSERT INTO near(rowid, vector, part)
                SELECT memory, data, part FROM vector JOIN memory ON id = memory ORDER BY memory""")
            if self.training:
                options = json.dumps({"distance": "cos", "nthread": 1} | self.training)
                model = db.execute("SELECT vec1_train(vector, ?) FROM near", (options,)).get
            db.execute("INSERT INTO near(cmd, arg) VALUES('rebuild', ?)", (model,))

    def load(self, db: apsw.Connection) -> None:
        apsw.sqlite_extra.load(db, "vec1")
        db.execute("SELECT vec1_config('nthread', 1)")
        self.db = db

    def nearest(self, query: Vector, limit: int, where: str = "") -> Ids:
        wanted = {"K": limit} | ({"nprobe": self.probes} if self.probes else {})
        sql = f"SELECT rowid FROM near(?, ?) {where}"
        rows = self.db.execute(sql, (query.tobytes(), json.dumps(wanted))).fetchall()
        return np.array([row[0] for row in rows], np.int64)

    def filtered(self, query: Vector, limit: int) -> Ids:
        return self.nearest(query, limit, f"WHERE part = {WANTED_PART}")


class Exact:
    """Every vector in memory, one product per query."""

    def build(self, db: apsw.Connection) -> None: ...

    def load(self, db: apsw.Connection) -> None:
        self.db, self.vectors = db, all_vectors(db)

    def nearest(self, query: Vector, limit: int) -> Ids:
        scores = self.vectors @ query
        top = np.argpartition(-scores, limit)[:limit]
        return top[best(scores[top], limit)] + 1

    def filtered(self, query: Vector, limit: int) -> Ids:
        mine = passing(self.db)
        return mine[best(self.vectors[mine - 1] @ query, limit)]


@dataclass
class Lists:
    """Inverted lists in numpy: the vectors in memory in the order of their k-means centre."""

    centres: int
    probes: int

    def build(self, db: apsw.Connection) -> None:
        vectors = all_vectors(db)
        rng = np.random.default_rng(0)
        sample = vectors[rng.choice(len(vectors), min(len(vectors), 40 * self.centres), replace=False)]
        centres = sample[: self.centres].copy()
        for _ in range(8):
            nearest = assigned(sample, centres)
            sums = np.zeros_like(centres)
            np.add.at(sums, nearest, sample)
            filled = np.bincount(nearest, minlength=self.centres) > 0
            centres[filled] = unit(sums[filled])
        db.execute("DROP TABLE IF EXISTS list; CREATE TABLE list(centres BLOB, members BLOB)")
        members = assigned(vectors, centres)
        db.execute("INSERT INTO list VALUES(?, ?)", (centres.tobytes(), members.tobytes()))

    def load(self, db: apsw.Connection) -> None:
        centres, members = cast(tuple[bytes, bytes], db.execute("SELECT * FROM list").get)
        list_of = np.frombuffer(members, np.int64)
        self.db, self.by_id = db, np.argsort(list_of, kind="stable")
        self.heads = np.frombuffer(centres, np.float32).reshape(-1, DIMENSION)
        self.ends = np.searchsorted(list_of[self.by_id], np.arange(self.centres + 1))
        self.vectors = all_vectors(db)[self.by_id]
        self.slot = np.argsort(self.by_id)

    def nearest(self, query: Vector, limit: int) -> Ids:
        heads = np.argpartition(-(self.heads @ query), self.probes)[: self.probes]
        runs = [slice(self.ends[head], self.ends[head + 1]) for head in heads]
        scores = np.concatenate([self.vectors[run] @ query for run in runs])
        ids = np.concatenate([self.by_id[run] for run in runs])
        return ids[best(scores, limit)] + 1

    def filtered(self, query: Vector, limit: int) -> Ids:
        mine = passing(self.db)
        return mine[best(self.vectors[self.slot[mine - 1]] @ query, limit)]


def assigned(vectors: Vectors, centres: Vectors) -> Ids:
    chunks = np.array_split(vectors, max(1, len(vectors) // 4096))
    return np.concatenate([np.argmax(chunk @ centres.T, axis=1) for chunk in chunks])


def engines(count: int) -> dict[str, Engine]:
    lists = max(16, int(2 * count**0.5))
    return {
        "codes, 2x and at least 32, rows decide": Codes(2, 32),
        "codes, 4x and at least 128, rows decide": Codes(4, 128),
        "vec1 flat": Vec1(),
        "vec1 IVF, 16 probes": Vec1({"nbucket": lists}, 16),
        "vec1 IVF, 64 probes": Vec1({"nbucket": lists}, 64),
        "numpy exact, in memory": Exact(),
        "numpy lists, 16 probes": Lists(lists, 16),
        "numpy lists, 64 probes": Lists(lists, 64),
    }


# --- measuring


@dataclass(frozen=True)
class Measured:
    engine: str
    cpu_ms_p50: float
    cpu_ms_p99: float
    wall_ms_p50: float
    recall_10: float
    recall_100: float
    filtered_ms: float
    filtered_recall_10: float
    cold_ms: float
    rss_mb: float
    build_s: float


def build(name: str, count: int, scratch: Path) -> float:
    """CPU seconds from the vectors in the rows to a usable index."""
    with rows_in(scratch) as db:
        began = time.process_time()
        engines(count)[name].build(db)
        taken = time.process_time() - began
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return taken


def measure(name: str, count: int, scratch: Path, build_s: float) -> Measured:
    truth = np.load(scratch / "truth.npz")
    queries, exact, wanted = truth["queries"], truth["exact"], truth["filtered"]
    engine = engines(count)[name]
    began = time.process_time()
    with rows_in(scratch) as db:
        engine.load(db)
        cold_ms = (time.process_time() - began) * 1e3
        ten, cpu, wall = timed(lambda query: engine.nearest(query, 10), queries)
        hundred, _, _ = timed(lambda query: engine.nearest(query, 100), queries)
        few, filtered, _ = timed(lambda query: engine.filtered(query, 10), queries)
        return Measured(
            name,
            float(np.percentile(cpu, 50)),
            float(np.percentile(cpu, 99)),
            float(np.percentile(wall, 50)),
            recall(ten, exact[:, :10]),
            recall(hundred, exact),
            float(np.percentile(filtered, 50)),
            recall(few, wanted),
            cold_ms,
            resident_mb(),
            build_s,
        )


def timed(ask: Callable[[Vector], Ids], queries: Vectors) -> tuple[list[Ids], list[float], list[float]]:
    """The answers, and the CPU and wall milliseconds of each; the first queries only warm up."""
    for query in queries[:20]:
        ask(query)
    answers, cpu, wall = [], [], []
    for query in queries:
        cpu_began, wall_began = time.process_time(), time.perf_counter()
        answers.append(ask(query))
        cpu.append((time.process_time() - cpu_began) * 1e3)
        wall.append((time.perf_counter() - wall_began) * 1e3)
    return answers, cpu, wall


def recall(answers: list[Ids], wanted: Ids) -> float:
    hits = sum(len(np.intersect1d(got, want)) for got, want in zip(answers, wanted, strict=True))
    return hits / wanted.size


def resident_mb() -> float:
    [line] = [line for line in Path("/proc/self/status").read_text().splitlines() if "RssAnon" in line]
    return int(line.split()[1]) / 1024


def alone(task: Callable[..., Any], *arguments: object) -> Any:
    """Run in a fresh process, so that no engine inherits another's memory."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(task, *arguments).result()


def table(results: list[Measured]) -> str:
    lines = [
        "| engine | CPU ms p50 / p99 | recall@10 | recall@100 | 1 % ms | 1 % recall@10 "
        "| cold ms | RSS MB | build s |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    lines += [
        f"| {r.engine} | {r.cpu_ms_p50:.2f} / {r.cpu_ms_p99:.2f} | {r.recall_10:.3f} | {r.recall_100:.3f} "
        f"| {r.filtered_ms:.2f} | {r.filtered_recall_10:.3f} | {r.cold_ms:.0f} | {r.rss_mb:.0f} "
        f"| {r.build_s:.1f} |"
        for r in results
    ]
    return "\n".join(lines)


def data_of(options: argparse.Namespace, rng: np.random.Generator) -> tuple[Vectors, Vectors, str]:
    if options.vectors is None:
        made = mixture(options.n + options.asked, rng)
        return (
            made[: options.n],
            made[options.n :],
            f"synthetic: {options.n} from a mixture of 1000 gaussians",
        )
    given = unit(np.load(options.vectors))
    if options.queries is None:
        given, queries = given[options.asked :], given[: options.asked]
    else:
        queries = unit(np.load(options.queries))[: options.asked]
    vectors = grown(given, options.n, rng)
    told = f"real: {min(len(given), options.n)} embeddings"
    if len(vectors) > len(given):
        told += f", grown to {len(vectors)} by directions between random pairs with a little noise"
    return vectors, queries, told


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.index", description=__doc__)
    parser.add_argument("--n", type=int, default=100_000, help="how many vectors")
    parser.add_argument("--asked", type=int, default=300, help="how many queries")
    parser.add_argument("--vectors", type=Path, help="a .npy of real, centred embeddings")
    parser.add_argument("--queries", type=Path, help="a .npy of real query embeddings")
    parser.add_argument("--json", type=Path, help="write the numbers here as well")
    parser.add_argument("--engine", default="", help="only engines whose name contains this")
    options = parser.parse_args()
    os.environ["OPENBLAS_NUM_THREADS"] = "1"  # for the children: one thread each, so CPU means work
    rng = np.random.default_rng(0)
    vectors, queries, told = data_of(options, rng)
    results: list[Measured] = []
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        prepare(scratch, vectors, queries, rng.integers(0, PARTS, len(vectors)))
        for name in engines(len(vectors)):
            if options.engine in name:
                print(f"{name} …", file=sys.stderr, flush=True)
                build_s = alone(build, name, len(vectors), scratch)
                results.append(alone(measure, name, len(vectors), scratch, build_s))
    print(f"{told}; {len(queries)} queries\n\n{table(results)}")
    if options.json is not None:
        options.json.write_text(json.dumps({"data": told, "results": [asdict(r) for r in results]}, indent=2))


if __name__ == "__main__":
    main()
