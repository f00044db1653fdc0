"""calls: hostile calls of every tool, and damaged frames, through `lore-mcp` to a separate daemon."""

import json
import os
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.fuzz.chaos import Chaos
from lore.doors.endpoint import Endpoint
from lore.doors.envelope import Refused, read
from lore.doors.starting import ping, stop
from lore.surfaces import SURFACES

AT_ONCE = 24
"""Requests under way."""
ANSWER_SECONDS = 120.0
"""Without any answer for so long, what is open counts as unanswered."""
FRAME_SHARE = 0.15
"""Share of damaged frames among the calls."""
EXCEPTIONS = (0, -32603)
"""Codes of an error that nobody has foreseen."""
SHOWN = 300
"""Bytes of a line that are shown."""
LEFT_OUT = (b"cancel", b"listen", b"logging")
"""Words of frames that nobody has to answer, or that are answered when they end."""


@dataclass(slots=True)
class Figures:
    """What came of the calls to one dialect."""

    calls: int = 0
    frames: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    unanswered: list[str] = field(default_factory=list)
    exceptions: list[str] = field(default_factory=list)
    relay_ends: int = 0
    daemon_ends: int = 0
    slowest: float = 0.0
    slowest_call: str = ""


class Fuzz:
    """One relay and its daemon in a folder of their own."""

    def __init__(self, surface: str, folder: str, chaos: Chaos) -> None:
        self.figures = Figures()
        self._surface = surface
        self._chaos = chaos
        self._endpoint = Endpoint({}, folder)
        self._folder = folder
        self._open: Counter[str] = Counter()
        self._sent: dict[str, tuple[float, bytes]] = {}
        self._number = 0
        self._read = b""
        self._relay = self._started()

    def _started(self) -> "subprocess.Popen[bytes]":
        settings = {"LORE_EMBEDDING_MODEL": "hash", "LORE_SURFACES": self._surface, "LORE_INGEST_PAUSED": "1"}
        relay = subprocess.Popen(
            [sys.executable, "-m", "lore.doors.relay", *self._endpoint.flags],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **settings, "HOME": self._folder},
        )
        assert relay.stdout
        os.set_blocking(relay.stdout.fileno(), False)
        return relay

    def run(self, calls: int) -> Figures:
        about = {"name": "fuzz", "version": "0"}
        self._ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about})
        self._drain(0)
        self._send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        self._ask("tools/call", {"name": next(iter(SURFACES[self._surface].tools)), "arguments": {}})
        self._drain(0)
        daemon = ping(self._endpoint)
        tools = [(tool.name, tool.input_schema) for tool in SURFACES[self._surface].tools.values()]
        while self.figures.calls < calls:
            self._one(tools)
            self._drain(AT_ONCE - 1)
        self._drain(0)
        after = ping(self._endpoint)
        if not daemon or not after or daemon["pid"] != after["pid"]:
            self.figures.daemon_ends += 1
        return self.figures

    def _one(self, tools: list[tuple[str, Any]]) -> None:
        name, schema = self._chaos.chance.choice(tools)
        parameters = {"name": name, "arguments": self._chaos.arguments(schema)}
        if self._chaos.chance.random() < FRAME_SHARE:
            self._number += 1
            request = {"jsonrpc": "2.0", "id": self._number, "method": "tools/call", "params": parameters}
            frame = self._chaos.damaged(json.dumps(request).encode())
            if frame.strip() and not any(word in frame for word in LEFT_OUT):
                self.figures.frames += 1
                self._expect(frame)
                self._send(frame)
            return
        self.figures.calls += 1
        self._ask("tools/call", parameters)

    def _ask(self, method: str, parameters: dict[str, Any]) -> None:
        self._number += 1
        line = json.dumps(
            {"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters}
        ).encode()
        self._expect(line)
        self._send(line)

    def _expect(self, line: bytes) -> None:
        """Note the id under which an answer has to come, if one has to."""
        try:
            message = read(line)
        except Refused as refused:
            key = json.dumps(refused.id)
        else:
            if "id" not in message or "method" not in message:
                return
            key = json.dumps(message["id"])
        self._open[key] += 1
        self._sent[key] = time.monotonic(), line

    def _send(self, line: bytes) -> None:
        assert self._relay.stdin
        try:
            self._relay.stdin.write(line + b"\n")
            self._relay.stdin.flush()
        except BrokenPipeError:
            self._restart()

    def _drain(self, most: int) -> None:
        """Take answers until at most `most` requests are open."""
        assert self._relay.stdout
        while self._open.total() > most:
            ready, _, _ = select.select([self._relay.stdout], [], [], ANSWER_SECONDS)
            data = os.read(self._relay.stdout.fileno(), 1 << 20) if ready else None
            if data is None:
                self._give_up()
            elif not data:
                self._restart()
            else:
                *lines, self._read = (self._read + data).split(b"\n")
                for line in lines:
                    self._take(json.loads(line))

    def _take(self, answer: dict[str, Any]) -> None:
        key = json.dumps(answer.get("id"))
        if "method" in answer or not self._open[key]:
            self._count("notification" if "method" in answer else "not asked for")
            return
        self._open[key] -= 1
        if not self._open[key]:
            del self._open[key]
        began, line = self._sent.get(key, (time.monotonic(), b""))
        seconds = time.monotonic() - began
        if seconds > self.figures.slowest:
            self.figures.slowest, self.figures.slowest_call = seconds, repr(line[:SHOWN])
        if "error" in answer:
            self._count(f"error {answer['error']['code']}")
            if answer["error"]["code"] in EXCEPTIONS:
                self.figures.exceptions.append(f"{answer['error']['message'][:SHOWN]}: {line[:SHOWN]!r}")
        else:
            self._count("refused" if answer["result"].get("isError") else "done")

    def _count(self, outcome: str) -> None:
        self.figures.outcomes[outcome] = self.figures.outcomes.get(outcome, 0) + 1

    def _give_up(self) -> None:
        self.figures.unanswered += [repr(self._sent[key][1][:SHOWN]) for key in self._open]
        self._open.clear()

    def _restart(self) -> None:
        self.figures.relay_ends += 1
        self._give_up()
        self._relay.wait()
        self._relay = self._started()

    def close(self) -> None:
        assert self._relay.stdin
        assert self._relay.stdout
        self._relay.stdin.close()
        self._relay.wait(ANSWER_SECONDS)
        self._relay.stdout.close()
        stop(self._endpoint)


def fuzz_calls(calls: int, seed: int, surfaces: tuple[str, ...]) -> dict[str, Figures]:
    """`calls` calls, spread over the surfaces."""
    found: dict[str, Figures] = {}
    for number, surface in enumerate(surfaces):
        with tempfile.TemporaryDirectory(prefix="lore-", dir="/tmp", ignore_cleanup_errors=True) as folder:
            Path(folder).chmod(0o700)
            fuzz = Fuzz(surface, folder, Chaos(seed * 1_000 + number))
            try:
                found[surface] = fuzz.run(calls // len(surfaces))
            finally:
                fuzz.close()
    return found
