"""Measure the cost of a consolidation: the first one, one without changes, and one after a few changes.

python -m bench.consolidate [--sizes 1000,10000,100000] [--sessions 20,200] [--branches 4] [--here]
                            [--json FILE]

Each phase runs in its own process (with --here in this one), without a language model, on a generated store
(`bench.nights`). Another process writes a little at the same time; the bench shows how long it had to wait.
"""

import argparse
import json
import math
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from bench.measuring import measured
from bench.nights import CAUSE, Nature
from lore import Lore
from lore.config import Config
from lore.connecting import wire
from lore.engine.consolidate.phases import PHASES, Run, consolidate
from lore.errors import Unavailable
from lore.settings import LlmSettings
from lore.store.records import Job

NIGHT = 1_800_000_000.0
LATER = 7_200.0
NEW = 100
"""Before the third night there is one more memory for so many."""
PAUSE_SECONDS = 0.02
UNDISTURBED = {"neighbour_p50_ms": 0.0, "neighbour_max_ms": 0.0, "neighbour_refused": 0}
OF_CONVERSATIONS = ("digest",)
OF_MEMORIES = tuple(name for name in PHASES if name not in OF_CONVERSATIONS)


def main() -> None:
    options = _options()
    rows = [_memories(size, options.branches, options.here) for size in options.sizes]
    rows += [_conversations(count, options.here) for count in options.sessions]
    report = {"rows": rows, "growth": growth(rows)}
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(shown(report))


def _memories(size: int, branches: int, here: bool) -> dict[str, Any]:
    """Three nights of a store of so many memories."""
    with _opened() as (lore, config):
        nature = Nature(lore.embeddings.embed_texts(["x"])[0].size)  # type: ignore[index]
        nature.trees(lore, size, branches, NIGHT)
        nights = {"first": _night(lore, config, NIGHT, OF_MEMORIES, here)}
        nights["second"] = _night(lore, config, NIGHT + LATER, OF_MEMORIES, here)
        nature.trees(lore, max(1, size // NEW), branches, NIGHT + 2 * LATER)
        nights["third"] = _night(lore, config, NIGHT + 2 * LATER, OF_MEMORIES, here)
        return {
            "noun": "memories",
            "size": size,
            "megabytes": lore.store.report().size_bytes / 2**20,
            **nights,
        }


def _conversations(count: int, here: bool) -> dict[str, Any]:
    """Two nights of a store of so many conversations."""
    with _opened() as (lore, config):
        Nature(lore.embeddings.embed_texts(["x"])[0].size).conversations(lore, count, NIGHT)  # type: ignore[index]
        first = _night(lore, config, NIGHT, OF_CONVERSATIONS, here)
        second = _night(lore, config, NIGHT + LATER, OF_CONVERSATIONS, here)
        return {"noun": "conversations", "size": count, "first": first, "second": second}


@contextmanager
def _opened() -> Iterator[tuple[Lore, Config]]:
    with tempfile.TemporaryDirectory() as folder:
        config = Config(
            db_path=Path(folder) / "memory.db", embedding_model="hash", llm=LlmSettings(backend="none")
        )
        lore = wire(config)
        try:
            yield lore, config
        finally:
            lore.close()


def _night(lore: Lore, config: Config, now: float, phases: Sequence[str], here: bool) -> dict[str, Any]:
    """Each phase: its cost, what it did, and the longest and the middle wait of another writer."""
    night = {}
    for name in phases:
        if waiting := lore.store.unembedded(lore.embeddings.model, 0).total:
            _, cost = measured(settled, config, here=here)
            night[f"embed for {name}"] = {**asdict(cost), "counts": {"embedded": waiting}, **UNDISTURBED}
        with Neighbour(lore) as neighbour:
            counts, cost = measured(phase, config, now, name, here=here)
        night[name] = {**asdict(cost), "counts": counts, **neighbour.waits()}
    return night


def settled(config: Config) -> None:
    """What the phase before has changed is embedded; here by the double, in life by the model."""
    lore = wire(config)
    lore.embed_pending()
    lore.close()


def phase(config: Config, now: float, name: str) -> dict[str, int]:
    """One phase, as a process does it that has nothing else to do."""
    lore = wire(config, clock=lambda: now)
    counts = consolidate(lore, Run(phases=[name])).counts
    lore.close()
    return counts


class Neighbour:
    """Somebody else who writes a little, again and again, and notes how long that took."""

    def __init__(self, lore: Lore) -> None:
        self._lore = lore
        self._over = threading.Event()
        self._taken: list[float] = []
        self._refused = 0
        self._thread = threading.Thread(target=self._write)

    def __enter__(self) -> "Neighbour":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _write(self) -> None:
        while not self._over.wait(PAUSE_SECONDS):
            began = time.perf_counter()
            try:
                with self._lore.store.transaction(self._lore.namespace, CAUSE, NIGHT) as writer:
                    writer.put_records([Job(name="neighbour", done_at=len(self._taken))])
            except Unavailable:
                self._refused += 1
            self._taken.append((time.perf_counter() - began) * 1000)

    def waits(self) -> dict[str, float]:
        return {
            "neighbour_p50_ms": statistics.median(self._taken or [0.0]),
            "neighbour_max_ms": max(self._taken, default=0.0),
            "neighbour_refused": self._refused,
        }


def growth(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """By which power of the size the processor's seconds grow, phase by phase: 1 linear, 2 quadratic."""
    found = {}
    for noun in dict.fromkeys(row["noun"] for row in rows):
        of_noun = [row for row in rows if row["noun"] == noun]
        for one, other in pairwise(of_noun):
            for night in ("first", "second", "third"):
                for name in [name for name in one.get(night, ()) if name in other[night]]:
                    times = one[night][name]["cpu_seconds"], other[night][name]["cpu_seconds"]
                    power = math.log(times[1] / times[0]) / math.log(other["size"] / one["size"])
                    found[f"{name}, {night}, {one['size']:,} to {other['size']:,}"] = power
    return found


def shown(report: Mapping[str, Any]) -> str:
    lines = []
    for row in report["rows"]:
        for night in ("first", "second", "third"):
            if night not in row:
                continue
            costs = row[night].values()
            whole = [sum(cost[name] for cost in costs) for name in ("seconds", "cpu_seconds")]
            lines.append(
                f"{row['size']:,} {row['noun']}, {night} night: {whole[0]:.1f} s ({whole[1]:.1f} s CPU),"
                f" at most {max(cost['peak_mb'] for cost in costs):.0f} MB; another writer waited"
                f" {max(cost['neighbour_max_ms'] for cost in costs):,.0f} ms at most,"
                f" was refused {sum(cost['neighbour_refused'] for cost in costs)} times"
            )
            lines += [f"    {name:22}{_line(cost)}" for name, cost in row[night].items()]
    lines += [f"{name}: n^{power:.2f}" for name, power in report["growth"].items() if ", first, " in name]
    return "\n".join(lines)


def _line(cost: Mapping[str, Any]) -> str:
    counts = ", ".join(f"{name} {count:,}" for name, count in cost["counts"].items())
    times = f"{cost['seconds']:7.2f} s {cost['cpu_seconds']:7.2f} s CPU {cost['peak_mb']:6.0f} MB"
    return f"{times}, neighbour {cost['neighbour_max_ms']:6,.0f} ms  {counts}"


def _sizes(text: str) -> list[int]:
    return [int(size) for size in text.split(",") if size]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=_sizes, default=[1_000, 10_000, 100_000])
    parser.add_argument("--sessions", type=_sizes, default=[20, 200])
    parser.add_argument("--branches", type=int, default=4, help="how many memories hang below each root")
    parser.add_argument("--here", action="store_true", help="run the phases in this process")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
