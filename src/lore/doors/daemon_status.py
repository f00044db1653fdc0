"""daemon_status: what a daemon does: the file that it writes for other programs, and how they read or query
it."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal

from lore.doors.endpoint import Endpoint, Hung
from lore.durable import write_whole
from lore.filelock import is_held
from lore.health import Embedding
from lore.version import VERSION

State = Literal["idle", "ingesting", "embedding", "consolidating", "syncing"]
ACTIVITIES: tuple[State, ...] = ("ingesting", "consolidating", "syncing")
"""States that a command may announce to the daemon while it works on the store itself."""
NOTICEABLE = 32
"""Memories of a backlog that make `embedding` the state of a daemon; fewer are embedded within seconds."""

BUSY = "busy"
"""The state of a daemon that does not answer: it starts, it ends, or it has too much to do."""
HUNG = "hung"
"""The state of a daemon that was stopped by a signal, or has not answered for half a minute."""

FILE_KEYS = ("state", "mode", "pid", "embedding")
KEYS = (
    *("state", "mode", "pid", "version", "started_at", "uptime_seconds", "memories", "pending"),
    "embedding",
    *("staged_turns", "last_consolidation_at", "store", "socket", "http", "model"),
    *("language_model", "troubles", "clients"),
)
HTTP_SERVICE = "serving HTTP"
"""The name under which `troubles` says why HTTP is not served."""
NOT_RUNNING: dict[str, Any] = {"running": False, **dict.fromkeys(KEYS)}


class StatusFile:
    """Writes `state`, `pid`, `updated_at` and `mode` into a file that exists as long as the daemon runs.

    While the daemon embeds a backlog the file also has `embedding`: memories left, and seconds. While
    something does not work it also has `troubles`: name and reason.
    """

    def __init__(self, path: str, mode: str = "local") -> None:
        self._path = path
        self._mode = mode
        self._doing: list[State] = []
        self.embedding: dict[str, float | None] | None = None
        self._troubles: dict[str, str] = {}

    @property
    def state(self) -> State:
        """The activity that began last of those that go on; embedding goes on beside everything else."""
        if self._doing:
            return self._doing[-1]
        return "embedding" if self.embedding else "idle"

    @contextmanager
    def doing(self, state: State) -> Iterator[None]:
        """Show this state while the block runs; another activity may begin before and end in it."""
        self._doing.append(state)
        self.write()
        try:
            yield
        finally:
            self._doing.remove(state)
            self.write()

    def update(self, work: Embedding | None, troubles: dict[str, str]) -> None:
        """Show the progress of a backlog (None: there is none) and the troubles, if either has changed."""
        large = work is not None and work.done + work.left >= NOTICEABLE
        embedding = _progress(work) if work is not None and large else None
        if (embedding, troubles) != (self.embedding, self._troubles) or not os.path.exists(self._path):
            self.embedding, self._troubles = embedding, troubles
            self.write()

    def write(self) -> None:
        """Replace the file. A disk that is full keeps nobody from working."""
        document: dict[str, Any] = {"state": self.state, "pid": os.getpid(), "updated_at": int(time.time())}
        document["mode"] = self._mode
        more = {"embedding": self.embedding, "troubles": self._troubles}
        with suppress(OSError):
            write_whole(
                self._path, json.dumps(document | {name: value for name, value in more.items() if value})
            )


def read_status(endpoint: Endpoint) -> dict[str, Any]:
    """Whether a daemon runs, its state, mode and pid, and how far it embeds, without asking it.

    Only the lock proves that it runs: the files may have been left behind.
    """
    if not is_held(endpoint.lock):
        return {"running": False, **dict.fromkeys(FILE_KEYS)}
    written = {"state": BUSY, **_read_file(endpoint)}
    return {"running": True, **{name: written.get(name) for name in FILE_KEYS}}


def query_status(endpoint: Endpoint) -> dict[str, Any]:
    """Query the daemon for its full status; the same keys where none runs."""
    status = NOT_RUNNING | read_status(endpoint)
    if not status["running"]:
        return status
    try:
        connection, _, reply = endpoint.dial("status", {"version": VERSION})
    except Hung:
        return status | {"state": HUNG}
    except OSError:
        return status | {"state": BUSY}
    connection.close()
    return status | dict(json.loads(reply.get("status", "{}")))


def _progress(work: Embedding) -> dict[str, float | None]:
    seconds = work.seconds_left
    return {"left": work.left, "seconds_left": None if seconds is None else round(seconds)}


def _read_file(endpoint: Endpoint) -> dict[str, Any]:
    """The status file, which does not exist while a daemon starts or ends."""
    try:
        with open(endpoint.status, encoding="utf-8") as file:
            return dict(json.load(file))
    except (OSError, ValueError, TypeError):
        return {}
