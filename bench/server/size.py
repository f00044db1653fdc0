"""Measure the memory and the disk that a server takes, by the number of memories.

python -m bench.server.size [--sizes 0 10000 100000] [--searches 100] [--model NAME] [--json FILE]

For each size a store is filled, and a `lore-server` on it is measured when it is ready, and again after one
client has searched. Megabytes; milliseconds of a search by a client that is alone.
"""

import argparse
import asyncio
import json
import time
from pathlib import Path
from typing import Any

from bench.clients.report import Cell, say, spread, table
from bench.clients.scene import Scene
from bench.clients.usage import taken
from bench.corpus import Corpus
from bench.server.callers import Api
from bench.server.serving import Server, quiet
from bench.speed import fill
from lore.config import Config
from lore.connecting import wire

HEADS = ("memories", "RSS ready", "RSS used", "file MB", "KB per memory", "search p50", "p99 ms")


def main() -> None:
    options = _options()
    quiet()
    rows = [measured(size, options) for size in options.sizes]
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")
    cells: list[list[Cell]] = [list(row.values()) for row in rows]
    print(table(f"lore-server, {options.model}", HEADS, cells))


def measured(size: int, options: argparse.Namespace) -> dict[str, Any]:
    say(f"{size:,} memories")
    with Scene(options.model) as scene:
        corpus = Corpus()
        lore = wire(Config(data_dir=scene.data, embedding_model=options.model))
        texts = fill(lore, corpus, size, options.model) if size else []
        lore.close()
        disk = (scene.data / "memory.db").stat().st_size
        with Server(scene) as server:
            ready = taken(server.pid).resident
            some = texts[:: max(1, len(texts) // options.searches)]
            times = asyncio.run(searched(server, [corpus.question(text) for text in some]))
            used = taken(server.pid).resident
    return {
        "memories": size,
        "resident_ready_mb": ready,
        "resident_used_mb": used,
        "file_mb": disk / 1e6,
        "kilobytes_per_memory": disk / 1e3 / size if size else None,
        "search_p50_ms": spread(times).p50,
        "search_p99_ms": spread(times).p99,
    }


async def searched(server: Server, questions: list[str]) -> list[float]:
    """Milliseconds of each search of one client."""
    times, client = [], Api(server.port, server.tokens[0])
    await client.open()
    for question in questions:
        began = time.monotonic()
        await client.search(question)
        times.append(1000 * (time.monotonic() - began))
    await client.close()
    return times


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[0, 10_000, 100_000])
    parser.add_argument("--searches", type=int, default=100)
    parser.add_argument("--model", default="gte-small", help="the embedding model; hash: a quick double")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
