"""A daemon and its relays for tests: real processes on a folder of their own, hashed words for meaning."""

import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
from array import array
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import apsw

from lore.doors.endpoint import Endpoint
from lore.doors.starting import CHILDREN, ping, stop

RELAY = (sys.executable, "-m", "lore.doors.relay")
SETTINGS = {
    "LORE_EMBEDDING_MODEL": "hash",
    "LORE_DB_PATH": "",
    "LORE_SURFACES": "official",
}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
}
SECONDS = 90.0
"""For what takes a moment on a machine that has time; a busy one may need far more."""
SHORTEST_PAUSE_SECONDS = 0.01
PAUSED = 0.1
"""Share of the time so far that passes between two looks: looking takes the processor from the others."""
LONGEST_FOLDER = 20
"""Characters of a temporary folder in which the path of a Unix socket is short enough."""

T = TypeVar("T")


@contextmanager
def short_folder() -> Iterator[Path]:
    """A temporary folder with a name that leaves room for a Unix socket."""
    usual = tempfile.gettempdir()
    folder = Path(tempfile.mkdtemp(prefix="lore-", dir=usual if len(usual) <= LONGEST_FOLDER else "/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def an_endpoint(folder: Path) -> Iterator[Endpoint]:
    """The endpoint of a daemon in this folder; a daemon that still runs when the block ends is stopped."""
    endpoint = Endpoint({}, str(folder))
    try:
        yield endpoint
    finally:
        if not stop(endpoint) and Path(endpoint.pid).exists():
            kill(int(Path(endpoint.pid).read_text()))
        for child in CHILDREN:
            if endpoint.home in str(child.args):
                child.wait(SECONDS)


def until(look: Callable[[], T]) -> T:
    """Its first result that is true."""
    began = time.monotonic()
    while not (found := look()):
        elapsed = time.monotonic() - began
        assert elapsed < SECONDS, "it did not happen"
        select.select([], [], [], max(SHORTEST_PAUSE_SECONDS, PAUSED * elapsed))
    return found


def pid_of(endpoint: Endpoint) -> int:
    """Process id of the daemon that answers."""
    reply = ping(endpoint)
    assert reply is not None
    return int(reply["pid"])


def status(endpoint: Endpoint) -> dict[str, Any]:
    """The status document of the daemon that answers."""
    reply = ping(endpoint, "status")
    assert reply is not None
    document: dict[str, Any] = json.loads(reply["status"])
    return document


def messages(endpoint: Endpoint, agent: "Agent") -> int:
    """How many messages of this agent the daemon has read."""
    clients = status(endpoint)["clients"]
    return sum(client["messages"] for client in clients if client["pid"] == agent.process.pid)


def entity(name: str) -> dict[str, Any]:
    """Arguments of `create_entities` for one entity without observations."""
    return {"entities": [{"name": name, "entityType": "thing", "observations": []}]}


@contextmanager
def writers_waiting(endpoint: Endpoint) -> Iterator[None]:
    """Nobody can write to the store meanwhile."""
    connection = apsw.Connection(os.path.join(endpoint.home, "memory.db"))
    connection.set_busy_timeout(int(SECONDS * 1000))  # the daemon may be embedding what it was just told
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.close()


def kill(pid: int, signum: int = signal.SIGKILL) -> None:
    try:
        os.kill(pid, signum)
    except ProcessLookupError:
        return


class Agent:
    """Speaks to a `lore-mcp` of its own, line by line, in one of the protocol's eras."""

    def __init__(self, endpoint: Endpoint, *options: str, era: str = "legacy", **settings: str) -> None:
        self.modern = era != "legacy"
        self.process = subprocess.Popen(
            [*RELAY, *endpoint.flags, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **SETTINGS, **settings},
        )
        self._asked = 0

    def greet(self) -> "Agent":
        """The handshake, where the era has one."""
        if not self.modern:
            about = {"name": "test", "version": "0"}
            parameters = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
            assert "result" in self.ask("initialize", parameters)
            self.say({"method": "notifications/initialized"})
        return self

    def say(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n")
        self.process.stdin.flush()

    def begin(self, method: str, parameters: dict[str, Any] | None = None) -> int:
        """Send a request; its id."""
        self._asked += 1
        meta = {"_meta": MODERN} if self.modern else {}
        self.say({"id": self._asked, "method": method, "params": {**(parameters or {}), **meta}})
        return self._asked

    def hear(self) -> dict[str, Any]:
        """The next message."""
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, self.process.stderr and self.process.stderr.read()
        message: dict[str, Any] = json.loads(line)
        return message

    def ask(self, method: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        id = self.begin(method, parameters)
        while (message := self.hear()).get("id") != id:
            pass
        return message

    def begin_call(self, tool: str, **arguments: Any) -> int:
        return self.begin("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured answer of a call that must succeed."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert not answer["result"].get("isError"), answer
        structured: dict[str, Any] = answer["result"]["structuredContent"]
        return structured

    def wait_until_read(self) -> None:
        """Until the relay has taken all that was said."""
        assert self.process.stdin
        left = array("i", [0])
        stdin = self.process.stdin.fileno()
        until(lambda: fcntl.ioctl(stdin, termios.FIONREAD, left) == 0 and left[0] == 0)

    def close(self) -> int:
        """Go away; the relay's exit code."""
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        self.process.stdin.close()
        self.process.stdout.close()
        code = self.process.wait(SECONDS)
        self.process.stderr.close()
        return code

    def __enter__(self) -> "Agent":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
