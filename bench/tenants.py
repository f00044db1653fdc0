"""Measure what one memory and one call cost in a store of many tenants: bytes, and seconds of the processor.

python -m bench.tenants [--memories 20000] [--tenants 4] [--namespaces 1000000] [--texts 400] [--model NAME]
    [--json FILE]

On a PostgreSQL of its own, in a temporary folder. Bytes are those of each table with its indexes, divided by
the memories. Seconds of the processor are those of Lore's processes and of the server's; --namespaces is the
number of namespaces among which a worker claims the one that is due. Times on a busy machine mean little;
seconds of the processor mean more.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import psycopg

from bench.corpus import Corpus
from lore import Draft, Lore, Query
from lore.config import Config
from lore.connecting import wire
from lore.engine.push import Sent
from lore.engine.shared_schedule import SharedSchedules
from lore.model import Tie
from lore.store import SharedStore
from lore.store.records import UPKEEP_JOB
from lore.transcripts.turns import Turn
from scripts.postgres_server import Server, running
from tests.postgres import new_database

BATCH = 500
CHILDREN = 9
"""Memories below each memory at the top of a tree."""
CALLS = 50
SIZES = """
    SELECT c.relname, pg_table_size(c.oid), pg_indexes_size(c.oid) FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND c.relkind = 'r'
    ORDER BY pg_total_relation_size(c.oid) DESC
"""
MANY_TENANTS = "INSERT INTO tenant (name) SELECT 'idle ' || n FROM generate_series(1, %s) n"
MANY_JOBS = f"""
    INSERT INTO job (tenant, namespace, name, due_at)
        SELECT number, 'shared', '{UPKEEP_JOB}', 1e12 + number FROM tenant WHERE name LIKE 'idle %%'
"""


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="lore-tenants-") as folder, _server() as server:
        report = {"talk": _shown("talk", _talk(_config(folder, server, "talk", options)))}
        report |= _measured(options, _config(folder, server, "tenants", options), server)
    if options.json:
        Path(options.json).write_text(json.dumps(report, indent=1))


def _config(folder: str, server: Server, name: str, options: argparse.Namespace) -> Config:
    url, model = new_database(server, name), options.model
    return Config(
        data_dir=Path(folder), database_url=url, embedding_model=model, consolidation_interval=7200.0
    )


def _measured(options: argparse.Namespace, config: Config, server: Server) -> dict[str, Any]:
    lore = wire(config)
    admin = psycopg.connect(server.url("tenants"), autocommit=True)
    report: dict[str, Any] = {}
    with lore, admin:
        filled = _fill(lore, options)
        admin.execute("VACUUM (ANALYZE)")
        sizes = admin.execute(SIZES).fetchall()
        report["bytes"] = {
            str(name): [int(table) / filled, int(indexes) / filled] for name, table, indexes in sizes
        }
        _show_bytes(report["bytes"])
        report["calls"] = _shown("calls", _calls(lore, admin, options))
        report["embedding"] = {
            number: _shown(f"embedding, {number}", _embedding(lore, config, number, options.texts))
            for number in options.processes
        }
        report["consolidation"] = _shown("consolidation", _consolidations(lore))
        report["claims"] = _shown("claims", _claims(lore, admin, options.namespaces))
    return report


# --- the store
def _fill(lore: Lore, options: argparse.Namespace) -> int:
    """Memories with vectors, in small trees, of some tenants; their number."""
    corpus, generator = Corpus(), np.random.default_rng(7)
    each = options.memories // options.tenants
    for tenant in range(options.tenants):
        ours = replace(lore, tenant=f"tenant {tenant}")
        for start in range(0, each, BATCH):
            drafts = [Draft(content=corpus.text()) for _ in range(min(BATCH, each - start))]
            ids = [one.memory.id for one in ours.remember_all(drafts)]
            parents = {at: at - at % (CHILDREN + 1) for at in range(len(ids)) if at % (CHILDREN + 1)}
            ours.link(
                [Tie(source=ids[top], target=ids[at], kind="hierarchical") for at, top in parents.items()]
            )
        while passages := lore.store.unembedded(lore.embeddings.model, BATCH).passages:
            vectors = generator.normal(size=(len(passages), lore.embeddings.dimension)).astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            lore.store.embed(lore.embeddings.model, dict(zip(passages, vectors, strict=True)))
    return int(each * options.tenants)


def _calls(lore: Lore, admin: "psycopg.Connection[Any]", options: argparse.Namespace) -> dict[str, Any]:
    """Milliseconds of a search and of a write: median by the wall, and mean of the processors."""
    corpus = Corpus(11)
    tenants = [replace(lore, tenant=f"tenant {number}") for number in range(options.tenants)]
    questions = iter([corpus.question(corpus.text()) for _ in range(2 * CALLS)])
    texts = iter([corpus.text() for _ in range(2 * CALLS)])
    at = iter(range(10**9))

    def search() -> None:
        tenants[next(at) % len(tenants)].search(Query(text=next(questions)))

    def write() -> None:
        tenants[next(at) % len(tenants)].remember(next(texts))

    return {"search": _cost(search, admin), "write": _cost(write, admin)}


def _cost(call: Callable[[], None], admin: "psycopg.Connection[Any]") -> dict[str, float]:
    for _ in range(CALLS):
        call()
    cpu, server, times = time.process_time(), _server_seconds(admin), []
    for _ in range(CALLS):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return {
        "median_ms": median(times) * 1000,
        "cpu_ms": (time.process_time() - cpu) / CALLS * 1000,
        "server_cpu_ms": (_server_seconds(admin) - server) / CALLS * 1000,
    }


def _server_seconds(admin: "psycopg.Connection[Any]") -> float:
    """Processor seconds of all backends of this database."""
    found = admin.execute("SELECT pid FROM pg_stat_activity WHERE datname = current_database()").fetchall()
    total = 0
    for (pid,) in found:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


# --- the work of workers
def _talk(config: Config, tenants: int = 10, turns: int = 20) -> dict[str, float]:
    """The consolidation of tenants with one conversation each."""
    corpus, ago = Corpus(13), time.time() - 86400
    with wire(config) as lore:
        for number in range(tenants):
            conversation = [
                Turn(uuid=str(at), session="s", role="user", text=f"We decided: {corpus.text()}", at=ago + at)
                for at in range(turns)
            ]
            replace(lore, tenant=f"talk {number}").keep_pushed([Sent("codex", turn) for turn in conversation])
        lore.embed_pending()
        return _consolidations(lore)


def _consolidations(lore: Lore) -> dict[str, float]:
    """Seconds, also of Lore's processor, to consolidate a namespace: first, and again without any change."""
    lore.embed_pending()
    assert isinstance(lore.store, SharedStore)
    later = [time.time() + 1000]
    schedules = SharedSchedules(replace(lore, clock=lambda: later[0]), lore.store)
    found = {}
    for name in ("first", "again"):
        began, cpu, runs = time.perf_counter(), time.process_time(), 0
        while schedules.due():
            schedules.run()
            runs += 1
        later[0] += 8000
        found[f"runs {name}"] = float(runs)
        found[f"cpu_seconds {name}"] = (time.process_time() - cpu) / max(1, runs)
        found[f"seconds {name}"] = (time.perf_counter() - began) / max(1, runs)
    return found


def _claims(lore: Lore, admin: "psycopg.Connection[Any]", namespaces: int) -> dict[str, float]:
    """Milliseconds of a claim among many namespaces that are not due."""
    admin.execute(MANY_TENANTS, (namespaces,))
    admin.execute(MANY_JOBS)
    admin.execute("VACUUM ANALYZE job")
    assert isinstance(lore.store, SharedStore)
    times = []
    for number in range(CALLS):
        now = 1e12 + 10 + number
        began = time.perf_counter()
        found = lore.store.claim_due(UPKEEP_JOB, now, now + 1e6)
        times.append(time.perf_counter() - began)
        assert found is not None
    ((size,),) = admin.execute("SELECT pg_total_relation_size('job')").fetchall()
    return {"namespaces": float(namespaces), "median_ms": median(times) * 1000, "bytes": size / namespaces}


def _embedding(lore: Lore, config: Config, processes: int, texts: int) -> dict[str, float]:
    """Texts that workers embed in a second, by the wall and of the processors, after the model is loaded."""
    corpus = Corpus(17 + processes)
    env = {
        **os.environ,
        "LORE_DATA_DIR": str(config.data_dir),
        "LORE_DATABASE_URL": config.database_url,
        "LORE_EMBEDDING_MODEL": config.embedding_model,
        "LORE_CONSOLIDATION_INTERVAL": "0",
    }
    command = [sys.executable, "-m", "lore.doors.cli", "worker", "--processes", str(processes)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(command, env=env, stderr=subprocess.DEVNULL) as worker:
        _embed_some(lore, corpus, 64)
        began = time.perf_counter()
        _embed_some(lore, corpus, texts)
        seconds = time.perf_counter() - began
        worker.terminate()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"texts_per_second": texts / seconds, "cpu_seconds_per_text": cpu / (texts + 64)}


def _embed_some(lore: Lore, corpus: Corpus, count: int) -> None:
    """Have the workers embed new memories; returns when they have."""
    replace(lore, tenant="texts").remember_all([Draft(content=corpus.text()) for _ in range(count)])
    while lore.pending():
        time.sleep(0.05)


# --- the report
def _shown(part: str, figures: dict[str, Any]) -> dict[str, Any]:
    """The same figures, after they are printed."""
    print(part, json.dumps(figures), flush=True)
    return figures


def _show_bytes(sizes: dict[str, list[float]]) -> None:
    print(f"{'bytes of a memory':<24}{'table':>10}{'indexes':>10}")
    for name, (table, indexes) in sizes.items():
        if table + indexes >= 1:
            print(f"{name:<24}{table:>10,.0f}{indexes:>10,.0f}")
    print(f"{'all':<24}{sum(map(sum, sizes.values())):>20,.0f}", flush=True)


@contextmanager
def _server() -> Iterator[Server]:
    with tempfile.TemporaryDirectory(prefix="lore-pg-tenants-") as folder:
        Path(folder).chmod(0o755)
        with running(Path(folder) / "server", {"shared_buffers": "256MB"}) as server:
            yield server


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memories", type=int, default=20_000)
    parser.add_argument("--tenants", type=int, default=4)
    parser.add_argument("--namespaces", type=int, default=1_000_000)
    parser.add_argument("--texts", type=int, default=400)
    parser.add_argument("--processes", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--model", default="gte-small")
    parser.add_argument("--json", metavar="FILE")
    return parser.parse_args()


if __name__ == "__main__":
    main()
