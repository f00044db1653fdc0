"""Measure a server under the load of many clients, beside a daemon under the same load through its socket.

python -m bench.server [--clients 64] [--seconds 30] [--rounds 3] [--memories 5000] [--model NAME]
                       [--smoke] [--json FILE] [--through api mcp socket]

Each way gets its own copy of the same store and its own process: the routes of verbs (`api`) and MCP (`mcp`)
of a `lore-server`, and MCP through the Unix socket of a daemon (`socket`). The ways take turns, so that other
work of the machine touches all alike. Every client has one connection, and over HTTP a token of its own; it
sends the next call as soon as it has the answer to the last one. Four of five calls search, the others write.
RSS and open files (with the clients, and after they have gone) are those of the process that serves. The exit
code is 1 if a call failed or if an acknowledged write is not in the store afterwards.
"""

import argparse
import asyncio
import json
import os
import platform
import random
import shutil
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from bench.clients.report import Cell, say, spread, table
from bench.clients.scene import Scene
from bench.clients.usage import spent, taken
from bench.corpus import Corpus
from bench.server.callers import Api, Caller, Failed, Make, McpOverHttp, McpOverSocket
from bench.server.serving import Server, quiet
from bench.speed import fill
from lore.config import Config
from lore.connecting import wire

WAYS = {"api": "HTTP, /api/v1", "mcp": "HTTP, /mcp", "socket": "Unix socket, MCP"}
WRITES = 0.2
"""Share of the calls."""
GONE_SECONDS = 2.0
"""After the last client has gone, until its resources are counted."""
QUESTIONS = 500
GONE = (OSError, asyncio.IncompleteReadError)
SHOWN_FAILURES = 5
SMOKE = {"clients": 4, "seconds": 1.0, "rounds": 1, "memories": 60, "model": "hash"}
HEADS = (
    "through|calls/s|CPU ms|search p50|p99 ms|write p50|p99 ms|RSS MB|after|files|after|acked|lost|failed"
).split("|")


@dataclass(slots=True)
class Tally:
    """Milliseconds of each kind of call, the texts that were acknowledged, and failures."""

    search: list[float] = field(default_factory=list)
    write: list[float] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


class Said(NamedTuple):
    """What clients write and ask. questions: answered by memories of the store."""

    corpus: Corpus
    questions: list[str]


async def work(number: int, caller: Caller, until: float, said: Said, tally: Tally) -> None:
    """One client, until a moment of the monotonic clock."""
    chance, count = random.Random(number), 0
    while time.monotonic() < until:
        writes = chance.random() < WRITES
        text = f"Note {number}-{count}: {said.corpus.text()}" if writes else chance.choice(said.questions)
        count += 1
        began = time.monotonic()
        try:
            await (caller.write(text) if writes else caller.search(text))
        except (Failed, *GONE) as error:
            tally.failures.append(f"{type(error).__name__}: {error}")
            break
        (tally.write if writes else tally.search).append(1000 * (time.monotonic() - began))
        if writes:
            tally.kept.append(text)
    with suppress(*GONE):
        await caller.close()


class Serving:
    """A process that serves a copy of the store, and what the clients of one way have found."""

    def __init__(self, way: str, store: Path, stack: ExitStack, options: argparse.Namespace) -> None:
        self.way = way
        self._scene = scene = stack.enter_context(Scene(options.model))
        shutil.copytree(store, scene.data, dirs_exist_ok=True)
        self.make: Make = lambda number: McpOverSocket(scene.endpoint)
        if way == "socket":
            self.pid, self._stop = scene.warm(), scene.stop
        else:
            server, client = (
                stack.enter_context(Server(scene, options.clients)),
                Api if way == "api" else McpOverHttp,
            )
            self.pid, self._stop = server.pid, server.stop
            self.make = lambda number: client(server.port, server.tokens[number])
        self.tally, self.round, self.seconds, self.processor = Tally(), 0, 0.0, 0.0
        self.files, self.resident = [open_files(self.pid)], [taken(self.pid).resident]

    def report(self) -> dict[str, Any]:
        """All figures, after its end."""
        self._stop()
        contents, tally = self._scene.contents(), self.tally
        calls = len(tally.search) + len(tally.write)
        doctor = self._scene.healthy()
        return {
            "through": self.way,
            "calls": calls,
            "calls_per_second": calls / self.seconds,
            "processor_ms_per_call": 1000 * self.processor / max(1, calls),
            "search": spread(tally.search)._asdict(),
            "write": spread(tally.write)._asdict(),
            "resident_mb": self.resident,
            "files": self.files,
            "acknowledged": len(tally.kept),
            "lost": sum(not contents[text] for text in tally.kept),
            "failed": len(tally.failures),
            "failures": [*sorted(set(tally.failures))[:SHOWN_FAILURES], *([doctor] if doctor else [])],
        }


async def load(way: Serving, said: Said, options: argparse.Namespace) -> None:
    """One round: all clients come, work and go."""
    pid = way.pid
    callers = [way.make(number) for number in range(options.clients)]
    for caller in callers:
        await caller.open()
    began, processor = time.monotonic(), spent(pid)
    until = began + options.seconds / options.rounds

    async def count_files() -> None:
        await asyncio.sleep((until - began) / 2)
        way.files.append(open_files(pid))

    await asyncio.gather(
        count_files(),
        *(
            work(number, caller, until, said, way.tally)
            for number, caller in enumerate(callers, way.round * options.clients)
        ),
    )
    way.seconds += time.monotonic() - began
    way.processor += spent(pid) - processor
    way.round += 1
    await asyncio.sleep(GONE_SECONDS)
    way.files.append(open_files(pid))
    way.resident.append(taken(pid).resident)


def open_files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def measured(store: Path, said: Said, options: argparse.Namespace) -> list[dict[str, Any]]:
    """The load through each way, in turn."""
    with ExitStack() as stack:
        ways = [Serving(way, store, stack, options) for way in options.through]
        for number in range(options.rounds):
            for way in ways:
                say(f"round {number + 1}: {WAYS[way.way]}")
                asyncio.run(load(way, said, options))
        return [way.report() for way in ways]


def seeded(folder: Path, options: argparse.Namespace) -> Said:
    """A store in `folder`, and what clients say to it."""
    corpus = Corpus()
    lore = wire(Config(data_dir=folder, embedding_model=options.model))
    texts = fill(lore, corpus, options.memories, options.model)
    lore.close()
    return Said(corpus, [corpus.question(text) for text in texts[:: max(1, len(texts) // QUESTIONS)]])


def shown(report: dict[str, Any]) -> str:
    rows: list[list[Cell]] = [
        [
            WAYS[one["through"]], one["calls_per_second"], one["processor_ms_per_call"],
            one["search"]["p50"], one["search"]["p99"], one["write"]["p50"], one["write"]["p99"],
            one["resident_mb"][0], one["resident_mb"][-1], *one["files"][-2:],
            one["acknowledged"], one["lost"], one["failed"],
        ]
        for one in report["ways"]
    ]  # fmt: skip
    *others, last = rows
    for row in others:
        ratios = [_ratio(ours, base) for ours, base in zip(row[1:7], last[1:7], strict=True)]
        rows.append([f"{row[0]} / {last[0]}", *ratios, *[None] * (len(last) - 7)])
    failures = [f"  failed: {failure}" for one in report["ways"] for failure in one["failures"]]
    what = f"{report['clients']} clients, {report['memories']:,} memories, {report['model']}"
    title = f"{what}; {report['machine']}"
    return "\n".join([table(title, HEADS, rows), *failures])


def _ratio(ours: Cell, base: Cell) -> float | None:
    return ours / base if isinstance(ours, float) and isinstance(base, float) and base else None


def machine() -> str:
    """What the figures were measured on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if os.path.exists("/proc/cpuinfo") else []
    model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} x {model}, Python {platform.python_version()}, load average before: {load:.1f}"


def main() -> None:
    options = _options()
    quiet()
    report: dict[str, Any] = {"machine": machine(), "ways": []}
    report |= {"clients": options.clients, "memories": options.memories, "model": options.model}
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder)
        say(f"{options.memories:,} memories")
        said = seeded(store, options)
        report["ways"] = measured(store, said, options)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(shown(report))
    sys.exit(1 if any(one["failures"] or one["lost"] for one in report["ways"]) else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        prog="python -m bench.server",
    )
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=30.0, help="of each way")
    parser.add_argument("--rounds", type=int, default=3, help="in which each way has its turn")
    parser.add_argument("--memories", type=int, default=5_000, help="in the store before the load")
    parser.add_argument("--model", default="gte-small", help="the embedding model; hash: a quick double")
    parser.add_argument("--through", nargs="+", choices=WAYS, default=list(WAYS), help="default: all")
    parser.add_argument("--smoke", action="store_true", help="a few clients for a second")
    parser.add_argument("--json", type=Path, help="write all figures there")
    options = parser.parse_args()
    if options.smoke:
        parser.set_defaults(**SMOKE)
        options = parser.parse_args()
    return options


if __name__ == "__main__":
    main()
