"""mixed: agents write and search at the same time, through one daemon or, for comparison, each alone."""

import os
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.clients.crowd import Agent, crowd
from bench.clients.line import Line, Refused, Silence
from bench.clients.peers import Missing, official
from bench.clients.report import Cell, say, spread, table
from bench.clients.scene import Scene, wait_until_warm
from bench.clients.usage import spent, taken
from bench.corpus import Corpus

WRITE, SEARCH = "write", "search"
DAEMON, ALONE = "lore-mcp (one daemon)", "lore mcp (each alone)"


def mixed(model: str, clients: int, calls: int, folder: Path, others: bool) -> dict[str, Any]:
    """others: beside the official server."""
    loads = []
    for name in (DAEMON, ALONE):
        say(f"mixed: {name}")
        loads.append({"through": name, **_load(model, clients, calls, alone=name == ALONE)})
    say("parallel")
    return {"clients": clients, "calls": calls, "load": loads, "parallel": _parallel(model, folder, others)}


def shown(report: dict[str, Any]) -> str:
    ours, alone = report["load"]
    figures: list[list[float]] = [
        [load["calls_per_second"], load["processor_ms_per_call"], load[WRITE]["p50"], load[WRITE]["p99"],
         load[SEARCH]["p50"], load[SEARCH]["p99"], load["resident_mb"], load["share_mb"]]
        for load in (ours, alone)
    ]  # fmt: skip
    counts = [[load["acknowledged"], load["lost"], load["failed"]] for load in (ours, alone)]
    rows: list[list[Cell]] = [
        [name, *row, *count] for name, row, count in zip((DAEMON, ALONE), figures, counts, strict=True)
    ]
    ratios = [second / first if first else None for first, second in zip(*figures, strict=True)]
    heads = "through|calls/s|CPU ms|write p50|p99 ms|search p50|p99 ms|RSS MB|PSS MB|acked|lost|failed"
    load = table(
        f"{report['clients']} clients x {report['calls']} calls, half of them writes",
        heads.split("|"),
        [*rows, ["the second / the first", *ratios, None, None, None]],
    )
    calls = [
        [row["server"], row["sent"], row["acknowledged"], row["kept"], row["lost"], row["seconds"]]
        for row in report["parallel"]
    ]
    parallel = table(
        "calls in flight at once on one connection",
        ["server", "sent", "acked", "kept", "lost", "seconds"],
        calls,
    )
    return load + "\n" + parallel


def sound(report: dict[str, Any]) -> bool:
    """Lore has refused nothing, and lost nothing that it acknowledged."""
    [parallel, *_] = report["parallel"]
    whole = all(load["lost"] == 0 and load["failed"] == 0 for load in report["load"])
    return whole and parallel["lost"] == 0 and parallel["acknowledged"] == parallel["sent"]


# --- many clients
def _load(model: str, clients: int, calls: int, alone: bool) -> dict[str, Any]:
    with Scene(model) as scene:
        daemons = [] if alone else [scene.warm()]
        command = scene.standalone() if alone else scene.relay()
        texts = _texts(clients, calls)

        def life(agent: Agent) -> Iterator[Any]:
            with Line(command, log=scene.log) as line:
                line.tools()
                wait_until_warm(line)
                yield line.pid
                agent.wait()
                yield _worked(line, texts[agent.number])
                agent.wait()

        with crowd(clients, life) as agents:
            servers = [*daemons, *agents.told()]
            agents.wait()
            began, before = time.monotonic(), spent(*servers)
            told = agents.told()
            seconds, processor = time.monotonic() - began, spent(*servers) - before
            memory = taken(*servers)
            agents.wait()
        scene.stop()
        contents = scene.contents()
    kept = [text for one in told for text in one["kept"]]
    return {
        "seconds": seconds,
        "calls_per_second": clients * calls / seconds,
        "processor_ms_per_call": processor * 1000 / (clients * calls),
        WRITE: spread([time for one in told for time in one[WRITE]])._asdict(),
        SEARCH: spread([time for one in told for time in one[SEARCH]])._asdict(),
        "acknowledged": len(kept),
        "lost": sum(contents[text] == 0 for text in kept),
        "twice": sum(contents[text] > 1 for text in kept),
        "failed": sum(len(one["failed"]) for one in told),
        "failures": sorted({failure for one in told for failure in one["failed"]})[:5],
        "resident_mb": memory.resident,
        "share_mb": memory.share,
    }


def _texts(clients: int, calls: int) -> list[list[str]]:
    """For each client its own, and no two alike."""
    corpus = Corpus()
    return [
        [f"Note {client}-{number}: {corpus.text()}" for number in range(calls)] for client in range(clients)
    ]


def _worked(line: Line, texts: Sequence[str]) -> dict[str, Any]:
    """Write or search, as a coin falls that has as many heads as tails; one call for each text."""
    sides = ([WRITE, SEARCH] * len(texts))[: len(texts)]
    random.Random(texts[0]).shuffle(sides)
    told: dict[str, Any] = {WRITE: [], SEARCH: [], "kept": [], "failed": []}
    for kind, text in zip(sides, texts, strict=True):
        began = time.monotonic()
        try:
            if kind == WRITE:
                result = line.call("store", {"content": text})
            else:
                result = line.call("search", {"query": " ".join(text.split()[2:8])})
        except Refused as refusal:
            result = {"isError": True, "content": str(refusal)}
        told[kind].append((time.monotonic() - began) * 1000)
        if result.get("isError"):
            told["failed"].append(str(result["content"])[:200])
        elif kind == WRITE:
            told["kept"].append(text)
    return told


# --- many calls of one client
def _parallel(model: str, folder: Path, others: bool, calls: int = 50) -> list[dict[str, Any]]:
    """The same calls, by the same client, to Lore in the official dialect and to the official server."""
    with Scene(model) as scene:
        rows = [{"server": "lore-mcp", **_at_once(scene.relay("--surfaces", "official"), {}, calls)}]
        if others:
            try:
                peer = official(folder)
            except Missing as error:
                say(f"the official server is not here: {error}")
            else:
                file = {"MEMORY_FILE_PATH": str(scene.folder / "memory.jsonl")}
                name = f"{peer.name} {peer.version}"
                rows.append({"server": name, **_at_once(peer.command, file, calls)})
    return rows


def _at_once(command: Sequence[str], env: Mapping[str, str], calls: int) -> dict[str, Any]:
    acknowledged = set()
    with Line(command, env={**os.environ, **env}) as line:
        line.tools()
        began = time.monotonic()
        sent = {line.send("tools/call", _entity(number)): f"Ship {number}" for number in range(calls)}
        for number, name in sent.items():
            try:
                if not line.answer(number).get("isError"):
                    acknowledged.add(name)
            except (Refused, Silence) as error:
                say(f"{name}: {error}")
        seconds = time.monotonic() - began
    with Line(command, env={**os.environ, **env}) as line:
        line.tools()
        graph = line.call("read_graph", {})["structuredContent"]
    kept = {entity["name"] for entity in graph["entities"]}
    return {
        "sent": calls,
        "acknowledged": len(acknowledged),
        "kept": len(kept),
        "lost": len(acknowledged - kept),
        "seconds": seconds,
    }


def _entity(number: int) -> dict[str, Any]:
    entity = {"name": f"Ship {number}", "entityType": "ship", "observations": [f"carries load {number}"]}
    return {"name": "create_entities", "arguments": {"entities": [entity]}}
