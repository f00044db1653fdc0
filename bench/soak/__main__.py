"""Run an hour of mixed load and check that memory, open files, threads and latency of the daemon do not grow.

python -m bench.soak [--minutes 60] [--intervals 20] [--clients 6] [--calls-per-second 6] [--model NAME]
                     [--json FILE]

One daemon runs in its own folder. Clients use it through `lore-mcp`: they store, search, read, update, link
and forget, disconnect after some calls and return as new processes. Transcripts grow at the same time, and
`lore consolidate` runs now and then. The store grows too, so after the load a fresh daemon gets the same
load, without transcripts, on the same store for one interval: the resources that the old daemon takes beyond
that have grown with time alone.
Exits with 1 if a call failed or the daemon ended.
"""

import argparse
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import apsw

from bench.clients.report import say, table
from bench.clients.scene import Scene
from bench.clients.usage import taken
from bench.soak.client import Client, Tally
from bench.transcripts import generated
from lore.embed import DEFAULT

LINE_SECONDS = 3.0
"""Between two lines of a transcript."""
CONSOLIDATIONS = 6
"""During the whole load."""
SHOWN = 10
SAMPLED = ("memories", "turns", "calls", "resident_mb", "descriptors", "threads")
HEADS = "|memories|turns|calls|RSS MB|files|threads|write p50|p95|p99 ms|search p50|p95|p99 ms".split("|")


@dataclass(frozen=True, slots=True)
class Sample:
    """The daemon at the end of an interval; latencies in milliseconds (p50, p95, p99) of that interval."""

    minute: float
    memories: int
    turns: int
    calls: int
    resident_mb: float
    descriptors: int
    threads: int
    writes_ms: tuple[float, float, float]
    searches_ms: tuple[float, float, float]


# --- the rest of the load


def grow_transcripts(home: Path, seconds: float, over: threading.Event) -> None:
    """Append lines to the transcripts of an agent, one conversation after the other."""
    folder = home / ".claude" / "projects" / "-gone-ferry"
    folder.mkdir(parents=True)
    for session in generated(max(1, round(seconds / LINE_SECONDS))):
        with open(folder / f"{session.name}.jsonl", "w") as file:
            for line in session.lines:
                if over.wait(LINE_SECONDS):
                    return
                file.write(line + "\n")
                file.flush()


def consolidate(scene: Scene, tally: Tally, every_seconds: float, over: threading.Event) -> None:
    while not over.wait(every_seconds):
        done = subprocess.run([*scene.lore(), "consolidate", "--offline"], capture_output=True, text=True)
        if done.returncode:
            with tally.lock:
                tally.failures.append(f"consolidate: {done.stderr[-300:]}")


@contextmanager
def running(*lives: Callable[[], None], over: threading.Event) -> Iterator[None]:
    """Let all of them live until the end of the block."""
    with ThreadPoolExecutor(len(lives)) as pool:
        futures = [pool.submit(life) for life in lives]
        try:
            yield
        finally:
            over.set()
    for future in futures:
        future.result()


# --- the watcher


def sampled(scene: Scene, pid: int, tally: Tally, began: float) -> Sample:
    times = tally.taken()
    searches = [*times.pop("search", []), *times.pop("read", [])]
    starts = times.pop("start", [])
    writes = [one for some in times.values() for one in some]
    with apsw.Connection(str(scene.data / "memory.db"), flags=apsw.SQLITE_OPEN_READONLY) as connection:
        kinds = [str(kind) for (kind,) in connection.execute("SELECT kind FROM memory").fetchall()]
    return Sample(
        minute=(time.monotonic() - began) / 60,
        memories=len(kinds),
        turns=kinds.count("turn"),
        calls=len(searches) + len(writes) + len(starts),
        resident_mb=taken(pid).resident,
        descriptors=len(os.listdir(f"/proc/{pid}/fd")),
        threads=len(os.listdir(f"/proc/{pid}/task")),
        writes_ms=percentiles(writes),
        searches_ms=percentiles(searches),
    )


def percentiles(times: Sequence[float]) -> tuple[float, float, float]:
    ordered = sorted(times) or [0.0]
    p50, p95, p99 = (ordered[round((len(ordered) - 1) * share)] for share in (0.5, 0.95, 0.99))
    return p50, p95, p99


def watch(scene: Scene, options: argparse.Namespace, intervals: int, tally: Tally) -> list[Sample]:
    """The load with a daemon that is warm, and a sample after each interval."""
    pid, over = scene.warm(), threading.Event()
    pause, seconds = options.clients / options.calls_per_second, options.minutes * 60
    clients = [
        Client(number * 100 + intervals, scene, tally, pause, over) for number in range(options.clients)
    ]
    lives: list[Callable[[], None]] = [
        *(client.live for client in clients),
        lambda: consolidate(scene, tally, seconds / CONSOLIDATIONS, over),
    ]
    if intervals > 1:
        lives.append(lambda: grow_transcripts(scene.folder, seconds, over))
    samples: list[Sample] = []
    with running(*lives, over=over):
        began = time.monotonic()
        for number in range(1, intervals + 1):
            end = began + number * options.minutes * 60 / options.intervals
            over.wait(max(0.0, end - time.monotonic()))
            if scene.pid() != pid:
                tally.failures.append(f"the daemon {pid} has ended")
                break
            samples.append(sampled(scene, pid, tally, began))
            say(str(samples[-1]))
    return samples


def measure(options: argparse.Namespace) -> dict[str, Any]:
    tally = Tally()
    with Scene(options.model) as scene:
        os.environ["HOME"] = str(scene.folder)
        samples = watch(scene, options, options.intervals, tally)
        scene.stop()
        fresh = watch(scene, options, 1, tally)
        scene.stop()
        unhealthy = scene.healthy()
    if unhealthy:
        tally.failures.append(f"doctor: {unhealthy}")
    return {
        "samples": [asdict(sample) for sample in samples],
        "fresh": [asdict(sample) for sample in fresh],
        "failures": tally.failures,
    }


# --- the report


def row(name: str, sample: dict[str, Any]) -> list[Any]:
    figures = [sample[key] for key in SAMPLED]
    return [name, *figures, *sample["writes_ms"], *sample["searches_ms"]]


def mean(rows: list[list[Any]]) -> list[float]:
    return [sum(column) / len(rows) for column in list(zip(*rows, strict=True))[1:]]


def shown(report: dict[str, Any]) -> str:
    rows = [row(f"{sample['minute']:.1f} min", sample) for sample in report["samples"]]
    quarter = max(1, len(rows) // 4)
    first, last = mean(rows[:quarter]), mean(rows[-quarter:])
    ratio = [late / early if early else None for early, late in zip(first, last, strict=True)]
    rows += [["first quarter", *first], ["last quarter", *last], ["last / first", *ratio]]
    rows += [row("fresh daemon, same store", sample) for sample in report["fresh"]]
    failures = [f"  failed: {failure}" for failure in report["failures"][:SHOWN]]
    return "\n".join([table(f"mixed load; {len(report['failures'])} failed", HEADS, rows), *failures])


def main() -> None:
    options = _options()
    report = measure(options)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(shown(report))
    sys.exit(1 if report["failures"] or len(report["samples"]) < options.intervals else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--intervals", type=int, default=20, help="samples (default: 20)")
    parser.add_argument("--clients", type=int, default=6)
    parser.add_argument("--calls-per-second", type=float, default=6.0, help="of all clients together")
    parser.add_argument("--model", default=DEFAULT)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
