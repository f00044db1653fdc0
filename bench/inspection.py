"""Processor time of the verbs that look through a large store, against a search of the same store."""

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bench.measuring import Bar
from lore import Lore
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.model import Cause, Filter, Link, LinkKind, Memory, Query, new_id
from lore.ranking.decay import DAY_SECONDS
from lore.store import open_store

KINDS = ("note", "fragment", "observation", "turn")
TYPES = ("fact", "decision", "preference", "")
DAYS = 90
PER_DAY = 5
"""Transactions of a day."""
TIMES = 5
WORDS = [f"word{number}" for number in range(5_000)]


def fill(path: Path, count: int, now: float) -> None:
    """A store of the last DAYS: trees of five, links, revisions, forgotten and replaced memories."""
    random_ = random.Random(1)
    store, ids, bar = open_store(path), list[str](), Bar("filling", count)
    batches = DAYS * PER_DAY
    for number in range(batches):
        at = now - DAYS * DAY_SECONDS * (1 - number / batches)
        size = count * (number + 1) // batches - len(ids)
        memories = [_memory(random_, at + place / 1000) for place in range(size)]
        links = [
            _link(memories[place - place % 5].id, one.id, at, "hierarchical")
            for place, one in enumerate(memories)
            if place % 5
        ]
        links += [_link(one.id, random_.choice(ids), at, "associative") for one in memories[::2] if ids]
        with store.transaction("shared", Cause(verb="remember"), at) as writer:
            writer.put(memories)
            writer.put_links(links)
        if ids and number % PER_DAY == 0:
            with store.transaction("shared", Cause(verb="revise"), at) as writer:
                some = list(writer.get(random_.sample(ids, min(len(ids), 60))).values())
                writer.put(_changed(one, place, at, ids[-1]) for place, one in enumerate(some))
        ids += [one.id for one in memories]
        bar.at(len(ids))
    store.close()


def _memory(random_: random.Random, at: float) -> Memory:
    return Memory(
        id=new_id(at),
        content=" ".join(random_.choices(WORDS, k=60)),
        title=" ".join(random_.choices(WORDS, k=4)) if random_.random() < 0.7 else "",
        kind=random_.choice(KINDS),
        type=random_.choice(TYPES),
        project=f"project {random_.randrange(20)}",
        importance=random_.random(),
        access_count=random_.randrange(20),
        created_at=at,
        updated_at=at,
    )


def _link(source: str, target: str, at: float, kind: LinkKind) -> Link:
    return Link(id=new_id(at), source=source, target=target, kind=kind, created_at=at, updated_at=at)


def _changed(memory: Memory, place: int, at: float, newer: str) -> Memory:
    """A third is rewritten, a third forgotten, a third replaced."""
    if place % 3 == 0:
        return replace(memory, content=f"{memory.content} changed", updated_at=at)
    if place % 3 == 1:
        return replace(memory, forgotten_at=at, updated_at=at)
    return replace(memory, superseded_by=newer, superseded_at=at, updated_at=at)


def questions(lore: Lore, now: float) -> dict[str, Callable[[], object]]:
    some = lore.browse(Filter(kinds=frozenset({"note"})), limit=1).memories[0].id
    last = lore.history(some)[-1].batch
    return {
        "search": lambda: lore.search(Query(text="word17 word2100", counted=False)),
        "browse(50, total)": lambda: lore.browse(limit=50, total=True),
        "activity(50)": lambda: lore.activity(50),
        "growth(90)": lambda: lore.growth(90),
        "knowledge_map(10000)": lambda: lore.knowledge_map(10_000),
        "inbox(50)": lambda: lore.inbox(50),
        "known_at(30 days ago)": lambda: lore.known_at(now - 30 * DAY_SECONDS),
        "relevance_curve": lambda: lore.relevance_curve(some),
        "undo, dry run": lambda: lore.undo(last, dry_run=True),
    }


def seconds(work: Callable[[], object]) -> float:
    """Processor time, which other programs hardly change: the median of TIMES, after one that warms up."""
    work()
    taken = []
    for _ in range(TIMES):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return statistics.median(taken)


def run(folder: Path, count: int) -> dict[str, float]:
    """Seconds of processor time of each verb in a store of `count` memories."""
    now, path = time.time(), folder / "memory.db"
    fill(path, count, now)
    with wire(Config(data_dir=folder, db_path=path), embedder=HashEmbedder()) as lore:
        first = seconds(lambda: lore.inbox(50))
        while not lore.inbox(50).complete:
            pass
        found = {name: seconds(work) for name, work in questions(lore, now).items()}
        gone = lore.browse(limit=1).memories[0].id
        lore.forget([gone])
        began = time.process_time()
        lore.purge([gone])
        purged = time.process_time() - began
    return {**found, "inbox(50), not yet complete": first, "purge of one memory": purged}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=100_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = run(Path(folder), arguments.memories)
    print(f"{arguments.memories:,} memories; processor time, median of {TIMES}, warm; and against one search")
    for name, taken in found.items():
        print(f"{name:<30}{taken * 1000:>10,.1f} ms{taken / found['search']:>10.1f} x")


if __name__ == "__main__":
    main()
