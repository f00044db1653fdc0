"""client: an agent that makes calls of all kinds, disconnects and returns."""

import random
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from bench.clients.line import Line, Refused, Silence
from bench.clients.scene import Scene
from bench.corpus import Corpus

WEIGHTS = {"store": 30, "search": 35, "read": 10, "update": 5, "link": 10, "forget": 10}
"""Shares of the calls, in percent."""
LIFE_CALLS = (20, 200)
"""Calls of a client before it hangs up: the fewest and the most."""


@dataclass(slots=True)
class Tally:
    """Milliseconds of each call by kind, and failures; shared by all clients."""

    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    failures: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def timing(self, kind: str) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        except (Refused, Silence) as error:
            with self.lock:
                self.failures.append(f"{kind}: {error}")
            raise
        with self.lock:
            self.times[kind].append((time.monotonic() - began) * 1000)

    def taken(self) -> dict[str, list[float]]:
        """The times since the last call of this."""
        with self.lock:
            times, self.times = self.times, defaultdict(list)
        return times


class Client:
    """One agent after another, each with a `lore-mcp` of its own, until `over`."""

    def __init__(self, number: int, scene: Scene, tally: Tally, pause: float, over: threading.Event) -> None:
        self._number, self._scene, self._tally = number, scene, tally
        self._pause, self._over = pause, over
        self._chance, self._corpus = random.Random(number), Corpus(number)
        self._own: list[str] = []
        self._count = 0

    def live(self) -> None:
        while not self._over.is_set():
            try:
                with Line(self._scene.relay("--surfaces", "tree,official"), log=self._scene.log) as line:
                    with self._tally.timing("start"):
                        line.tools()
                    self._work(line, self._chance.randint(*LIFE_CALLS))
            except (Refused, Silence):
                self._over.wait(1.0)  # it is in the tally; the next one tries again

    def _work(self, line: Line, calls: int) -> None:
        for _ in range(calls):
            if self._over.wait(self._chance.expovariate(1.0) * self._pause):
                return
            [kind] = self._chance.choices(list(WEIGHTS), list(WEIGHTS.values()))
            self._count += 1
            with self._tally.timing(kind):
                self._call(line, kind if self._own else "store")

    def _call(self, line: Line, kind: str) -> None:
        text = f"Note {self._number}-{self._count}: {self._corpus.text()}"
        match kind:
            case "store":
                answer = self._asked(line, "store", {"content": text})
                self._own.append(str(answer["id"]))
            case "search":
                self._asked(line, "search", {"query": self._corpus.question(text)})
            case "read":
                self._asked(line, "read", {"id": self._chance.choice(self._own)})
            case "update":
                self._asked(line, "update", {"fragment_id": self._chance.choice(self._own), "content": text})
            case "link":
                names = [f"Ship {self._chance.randrange(200)}" for _ in range(2)]
                entities = [{"name": name, "entityType": "ship", "observations": [text]} for name in names]
                self._asked(line, "create_entities", {"entities": entities})
                relation = {"from": names[0], "to": names[1], "relationType": f"follows {self._count % 50}"}
                self._asked(line, "create_relations", {"relations": [relation]})
            case _:
                self._asked(line, "delete", {"fragment_id": self._own.pop(0)})

    def _asked(self, line: Line, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = line.call(tool, arguments)
        if result.get("isError"):
            raise Refused(f"{tool} {arguments}: {result['content']}"[:300])
        answer: dict[str, Any] = result.get("structuredContent") or {}
        return answer
