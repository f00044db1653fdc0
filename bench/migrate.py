"""How long does a store take to move to PostgreSQL and back, and are the answers the same afterwards?

python -m bench.migrate FOLDER [--size 100000] [--questions 100] [--postgres URL] [--json FILE]

FOLDER keeps the store of this size (see bench.stores) and the file that came back. A PostgreSQL server is
started for the measurement and removed after it, unless --postgres names an empty database. Answers are hits
with their order and scores. SQLite and PostgreSQL rank words differently, so between them only the share of
common hits is given.
"""

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg

from bench.measuring import Bar
from bench.stores import MODEL, built
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed import open_embedder
from lore.model import Query
from lore.store.moving import database_of
from lore.transfer.migrate import Migrated, migrate
from scripts.postgres_server import Server, running

LIMIT = 10
Hits = list[tuple[str, float]]


@contextmanager
def own_server() -> Iterator[Server]:
    """A server in a temporary folder, which ends with the block."""
    with tempfile.TemporaryDirectory(prefix="lore-pg-", ignore_cleanup_errors=True) as place:
        Path(place).chmod(0o755)
        with running(Path(place) / "server") as server:
            yield server


def new_database(server: Server, name: str = "lore") -> str:
    """The address of an empty database whose owner is no superuser."""
    with psycopg.connect(server.url(), autocommit=True) as admin:
        admin.execute(f"CREATE ROLE {name} LOGIN")
        admin.execute(f"CREATE DATABASE {name} OWNER {name}")
    with psycopg.connect(server.url(name), autocommit=True) as admin:
        admin.execute("CREATE EXTENSION vector")
    return server.url(name, name)


def copied(source: str, target: str, label: str) -> tuple[Migrated, float]:
    """Copy a store; the report and the seconds."""
    bars: dict[str, Bar] = {}

    def progress(part: str, done: int, total: int) -> None:
        bars.setdefault(part, Bar(f"{label}: {part}", total)).at(done)

    began = time.perf_counter()
    report = migrate(database_of(source), database_of(target), progress)
    return report, time.perf_counter() - began


def answers(location: str, questions: tuple[str, ...], model: str) -> tuple[list[Hits], int]:
    """The hits of every question, and the bytes of the store. The clock stands still: scores depend on it."""
    where = {"database_url": location} if "://" in location else {"db_path": Path(location)}
    config = Config(data_dir=Path(tempfile.gettempdir()), **where)
    with closing(wire(config, embedder=open_embedder(model), clock=Clock())) as lore:
        found = [lore.search(Query(text=text, limit=LIMIT)) for text in questions]
        hits = [[(hit.memory.id, hit.score) for hit in answer.hits] for answer in found]
        return hits, lore.store.report().size_bytes


def overlap(one: list[Hits], other: list[Hits]) -> float:
    """The share of hits that both answers to a question have, on average."""
    shares = [
        len({id for id, _ in a} & {id for id, _ in b}) / max(1, len(a), len(b))
        for a, b in zip(one, other, strict=True)
    ]
    return sum(shares) / len(shares)


def measured(folder: Path, url: str, options: argparse.Namespace) -> dict[str, Any]:
    """Move a store up and back; figures of both ways, and the answers on all three sides."""
    store = built(folder, options.size, options.model)
    back = folder / f"{options.model}-{options.size}-back" / "memory.db"
    shutil.rmtree(back.parent, ignore_errors=True)
    step = max(1, len(store.questions) // options.questions)
    questions = store.questions[::step][: options.questions]
    row: dict[str, Any] = {"memories": options.size, "questions": len(questions)}
    for label, source, target in (("up", str(store.path), url), ("back", url, str(back))):
        report, seconds = copied(source, target, label)
        total = sum(report.rows.values())
        row[label] = {"rows": total, "seconds": seconds, "rows_per_second": total / seconds}
    places = {"before": str(store.path), "postgresql": url, "after": str(back)}
    found = {name: answers(place, questions, options.model) for name, place in places.items()}
    first, middle, last = (hits for hits, _ in found.values())
    return row | {
        "bytes": {name: size for name, (_, size) in found.items()},
        "hits": sum(map(len, first)),
        "identical": sum(a == b for a, b in zip(first, last, strict=True)),
        "overlap_postgresql": overlap(first, middle),
        "first_hit_postgresql": sum(
            [id for id, _ in a[:1]] == [id for id, _ in b[:1]] for a, b in zip(first, middle, strict=True)
        ),
    }


def show(row: dict[str, Any]) -> None:
    """Print the figures."""
    print(f"{row['memories']:,} memories")
    for way, name in (("up", "SQLite to PostgreSQL"), ("back", "PostgreSQL to SQLite")):
        one = row[way]
        print(
            f"  {name}: {one['rows']:,} rows in {one['seconds']:.1f} s, {one['rows_per_second']:,.0f} rows/s"
        )
    sizes = ", ".join(f"{name} {size / 1e6:,.1f} MB" for name, size in row["bytes"].items())
    print(f"  size: {sizes}")
    print(
        f"  answers: {row['identical']} of {row['questions']} identical before and after"
        f" ({row['hits']:,} hits with order and scores)"
    )
    print(
        f"  PostgreSQL: {row['overlap_postgresql']:.1%} of the hits are the same,"
        f" {row['first_hit_postgresql']} of {row['questions']} first hits"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--postgres", metavar="URL")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with ExitStack() as stack:
        url = options.postgres or new_database(stack.enter_context(own_server()))
        row = measured(options.folder, url, options)
    show(row)
    if options.json:
        options.json.write_text(json.dumps(row, indent=2))


if __name__ == "__main__":
    main()
