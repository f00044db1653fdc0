"""Measure the latency of a write for its caller, and the throughput of several writers at once.

python -m bench.writes [--memories 10000] [--calls 40] [--model hash] [--threads 1 8] [--seconds 4]
"""

import argparse
import statistics
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.corpus import Corpus
from bench.speed import fill
from bench.surfaces import CALLS, Scene, _prepared
from lore import Draft, Lore
from lore.config import Config
from lore.connecting import wire
from lore.surfaces import SURFACES, Tool

WRITING = {
    "tree": ("store", "update", "delete"),
    "tree-first": ("store_memory",),
    "scored": ("lore_insert", "lore_remember", "lore_update", "lore_forget", "lore_reflect"),
    "graph": ("create_entities", "create_relations", "add_observations", "add_reflection"),
    "typed": ("memory_save", "memory_delete"),
    "official": ("create_entities", "create_relations", "add_observations", "delete_observations"),
}
OWN: dict[tuple[str, str], Callable[[Scene], dict[str, Any]]] = {
    ("graph", "create_entities"): lambda scene: {
        "entities": [{"name": scene.text(), "entityType": "Project", "observations": [scene.text()]}]
    },
    ("official", "create_entities"): lambda scene: {
        "entities": [{"name": scene.text(), "entityType": "Project", "observations": [scene.text()]}]
    },
    ("official", "create_relations"): lambda scene: {
        "relations": [{"from": scene.name(), "to": scene.name(), "relationType": scene.text()[:20]}]
    },
    ("official", "add_observations"): lambda scene: {
        "observations": [{"entityName": scene.name(), "contents": [scene.text()]}]
    },
    ("official", "delete_observations"): lambda scene: {
        "deletions": [{"entityName": scene.name(), "observations": [scene.text()]}]
    },
}


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        lore = wire(Config(db_path=Path(folder) / "memory.db", embedding_model=options.model), patient=False)
        corpus = Corpus()
        scene = Scene(lore, corpus, fill(lore, corpus, options.memories))
        _prepared(scene)
        lore.embed_pending()
        lore.background.start()
        print(
            f"{options.memories:,} memories, model {lore.embeddings.model}; CPU of the caller, wall, ms p50"
        )
        for surface, names in WRITING.items():
            for name in names:
                tool = SURFACES[surface].tools[name]
                arguments = OWN.get((surface, name)) or CALLS[name]
                cpu, wall = _cost(tool, scene, arguments, options.calls)
                print(f"  {surface:10} {name:22} {cpu:8.2f} {wall:8.2f}", flush=True)
        for threads in options.threads:
            print(_throughput(lore, corpus, threads, options.seconds), flush=True)
        lore.close()


def _cost(
    tool: Tool, scene: Scene, arguments: Callable[[Scene], dict[str, Any]], calls: int
) -> tuple[float, float]:
    cpus, walls = [], []
    for _ in range(calls):
        given = arguments(scene)
        cpu, wall = time.thread_time(), time.perf_counter()
        tool(scene.lore, given)
        cpus.append((time.thread_time() - cpu) * 1000)
        walls.append((time.perf_counter() - wall) * 1000)
    return statistics.median(cpus), statistics.median(walls)


def _throughput(lore: Lore, corpus: Corpus, threads: int, seconds: float) -> str:
    """Plain notes, as fast as so many threads can keep them."""
    texts = [corpus.text() for _ in range(1_000)]
    taken: list[float] = []
    until = time.perf_counter() + seconds

    def write() -> None:
        number = 0
        while (began := time.perf_counter()) < until:
            lore.remember(Draft(content=texts[number % len(texts)]))
            taken.append((time.perf_counter() - began) * 1000)
            number += 1

    workers = [threading.Thread(target=write) for _ in range(threads)]
    cpu = time.process_time()
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    cpu = (time.process_time() - cpu) * 1000 / len(taken)
    taken.sort()
    middle, slow = taken[len(taken) // 2], taken[len(taken) * 99 // 100]
    rate = len(taken) / seconds
    return f"{threads} threads: {rate:.0f} writes/s, p50 {middle:.1f} ms, p99 {slow:.1f} ms, CPU {cpu:.2f} ms"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=40)
    parser.add_argument("--model", default="hash")
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 8])
    parser.add_argument("--seconds", type=float, default=4.0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
