"""flood: many agents start at the same instant while no daemon runs."""

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

from bench.clients.crowd import Agent, crowd
from bench.clients.line import Line
from bench.clients.report import spread, table
from bench.clients.scene import Scene
from lore.version import VERSION

LOOK_EVERY_SECONDS = 0.02


def flood(model: str, clients: int) -> dict[str, Any]:
    """Everyone lists the tools, stores a memory and finds it; how many daemons were there?"""
    with Scene(model) as scene:

        def life(agent: Agent) -> Iterator[Any]:
            text = f"Lighthouse {agent.number} has keeper{agent.number}x."
            agent.wait()
            with Line(scene.relay(), log=scene.log) as line:
                tools = line.tools()
                served_at = time.monotonic()
                stored = line.call("store", {"content": text, "depth": 0})
                found = line.call("search", {"query": f"keeper{agent.number}x"})
                id = stored.get("structuredContent", {}).get("id")
                yield {
                    "pid": line.pid,
                    "tools": len(tools),
                    "served_at": served_at,
                    "kept": text if id else "",
                    "found": id is not None and id in str(found.get("structuredContent")),
                }
                agent.wait()

        with crowd(clients, life) as agents, Watch(scene) as seen:
            agents.wait()
            began = time.monotonic()
            told = agents.told()
            status = _status(scene)
            alive = scene.daemons()
            agents.wait()
        scene.stop()
        contents = scene.contents()
    here = {client["pid"] for client in status["clients"]}
    served = [one["served_at"] - began for one in told]
    return {
        "clients": clients,
        "daemons_started": len(seen | alive),
        "daemons_alive": len(alive),
        "answers_pid": status["pid"] in alive,
        "clients_of_it": sum(one["pid"] in here for one in told),
        "listed": sum(one["tools"] > 0 for one in told),
        "kept": sum(contents[one["kept"]] == 1 for one in told if one["kept"]),
        "found": sum(one["found"] for one in told),
        "first_seconds": spread(served).best,
        "p50_seconds": spread(served).p50,
        "last_seconds": spread(served).worst,
    }


def shown(report: dict[str, Any]) -> str:
    return table(
        f"{report['clients']} clients start at once, no daemon runs",
        ["daemons", "alive", "clients of it", "listed", "kept", "found", "first s", "p50 s", "last s"],
        [
            [report["daemons_started"], report["daemons_alive"], report["clients_of_it"], report["listed"],
             report["kept"], report["found"], report["first_seconds"], report["p50_seconds"],
             report["last_seconds"]]
        ],
    )  # fmt: skip


def sound(report: dict[str, Any]) -> bool:
    """One daemon, and everyone was served by it."""
    everyone = {report[name] for name in ("clients_of_it", "listed", "kept", "found")}
    one = report["daemons_started"] == report["daemons_alive"] == 1 and report["answers_pid"]
    return one and everyone == {report["clients"]}


class Watch:
    """The daemons that are ever seen while the block runs."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._seen: set[int] = set()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> set[int]:
        self._thread.start()
        return self._seen

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(LOOK_EVERY_SECONDS):
            self._seen |= self._scene.daemons()


def _status(scene: Scene) -> dict[str, Any]:
    connection, _, reply = scene.endpoint.dial("status", {"version": VERSION})
    connection.close()
    status: dict[str, Any] = json.loads(reply["status"])
    return status
