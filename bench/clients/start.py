"""start: time from the start of a server to its first list of tools, and memory of one more conversation."""

import os
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

from bench.clients.line import ERAS, Line, Refused, Silence
from bench.clients.peers import Missing, Peer, official, python_peer
from bench.clients.real import real
from bench.clients.report import Cell, say, spread, table
from bench.clients.scene import Scene
from bench.clients.usage import Taken, taken
from lore.version import VERSION

AT_ONCE = 5
REST_SECONDS = 3.0
"""After which a server has loaded what it loads in the background."""
OURS = "lore-mcp"


class Contender(NamedTuple):
    peer: Peer
    env: Mapping[str, str]
    eras: tuple[str, ...]


def start(model: str, rounds: int, folder: Path, others: bool) -> dict[str, Any]:
    """others: beside the servers of others, and through real clients."""
    with Scene(model) as scene:
        daemon = scene.warm()
        contenders, missing = _contenders(scene, folder if others else None)
        rows = [
            {"server": name, "era": era, **spread(times)._asdict()}
            for (name, era), times in _timed(contenders, rounds, scene).items()
        ]
        memories = {contender.peer.name: _memory(contender, scene, daemon) for contender in contenders}
        return {
            "versions": {contender.peer.name: contender.peer.version for contender in contenders},
            "missing": missing,
            "first_list_ms": rows,
            "memory_mb": memories,
            "real_clients": real(scene, folder) if others else [],
        }


def shown(report: dict[str, Any]) -> str:
    """The tables of a report."""
    ours = {row["era"]: row["p50"] for row in report["first_list_ms"] if row["server"] == OURS}
    times: list[list[Cell]] = [
        [row["server"], report["versions"][row["server"]], row["era"], row["p50"], row["best"],
         row["p50"] / ours.get(row["era"], ours["handshake"])]
        for row in report["first_list_ms"]
    ]  # fmt: skip
    own = report["memory_mb"][OURS]
    memories: list[list[Cell]] = [
        [name, taken["resident"], taken["resident"] / own["resident"], taken["share"],
         taken["share"] / own["share"], taken["daemon_growth"]]
        for name, taken in report["memory_mb"].items()
    ]  # fmt: skip
    parts = [
        table(
            "start to first tools/list, ms",
            ["server", "version", "era", "p50", "min", f"x {OURS}"],
            times,
        ),
        table(
            f"memory of one conversation ({AT_ONCE} at once), MB",
            ["server", "RSS", f"x {OURS}", "PSS", f"x {OURS}", "daemon grows by"],
            memories,
        ),
    ]
    if report["real_clients"]:
        parts.append(
            table(
                f"real clients with {OURS}",
                ["client", "version", "era", "tools", "calls", "outcome"],
                [list(row.values()) for row in report["real_clients"]],
            )
        )
    parts += [f"not measured: {name}: {why}\n" for name, why in report["missing"].items()]
    return "\n".join(parts)


def sound(report: dict[str, Any]) -> bool:
    """Whether every real client that could be had did its work."""
    return all(row["outcome"] in ("works", "not here") for row in report["real_clients"])


def _contenders(scene: Scene, folder: Path | None) -> tuple[list[Contender], dict[str, str]]:
    env = {**os.environ, "HOME": str(scene.folder), "MEMORY_FILE_PATH": str(scene.folder / "memory.jsonl")}
    own = {name: value for name, value in env.items() if name != "MEMORY_FILE_PATH"}
    contenders = [
        _known(Peer(OURS, VERSION, scene.relay()), own, scene),
        _known(Peer("lore mcp", VERSION, scene.standalone()), own, scene),
    ]
    missing = {}
    others: list[Callable[[Path], Peer]] = [official, python_peer]
    for peer in others if folder else []:
        try:
            assert folder
            contenders.append(_known(peer(folder), env, scene))
        except Missing as error:
            missing[peer.__name__.replace("_", " ")] = str(error)
    return contenders, missing


def _known(peer: Peer, env: Mapping[str, str], scene: Scene) -> Contender:
    """With the eras that it speaks; this is also the run that nobody counts."""
    eras = []
    for era in ERAS:
        try:
            with Line(peer.command, era, env, scene.log) as line:
                line.tools()
            eras.append(era)
        except Refused as refusal:
            say(f"{peer.name} does not speak {era}: {refusal}")
        except Silence as error:
            raise Missing(f"{peer.name} {peer.version}: {error}") from error
    return Contender(peer, env, tuple(eras))


def _timed(contenders: list[Contender], rounds: int, scene: Scene) -> dict[tuple[str, str], list[float]]:
    """Everyone in every round, so that what disturbs one disturbs all."""
    times: dict[tuple[str, str], list[float]] = {}
    for number in range(rounds):
        say(f"start: round {number + 1} of {rounds}")
        for peer, env, eras in contenders:
            for era in eras:
                with Line(peer.command, era, env, scene.log) as line:
                    line.tools()
                    taken_ms = (time.monotonic() - line.began) * 1000
                times.setdefault((peer.name, era), []).append(taken_ms)
    return times


def _memory(contender: Contender, scene: Scene, daemon: int) -> dict[str, float | None]:
    """Of one among several that run at once, after a rest."""
    say(f"memory of {contender.peer.name}")
    before = taken(daemon)
    with ExitStack() as stack:
        lines = [
            stack.enter_context(Line(contender.peer.command, env=contender.env, log=scene.log))
            for _ in range(AT_ONCE)
        ]
        for line in lines:
            line.tools()
        time.sleep(REST_SECONDS)
        each = taken(*(line.pid for line in lines)).times(1 / AT_ONCE)
        growth = taken(daemon).plus(before.times(-1)).times(1 / AT_ONCE)
    grown = growth.resident if contender.peer.name == OURS else None
    return {**Taken(*each)._asdict(), "daemon_growth": grown}
