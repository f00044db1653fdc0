"""daemon_status: whether a daemon runs and what it does, read from its files or queried from it."""

import json
from typing import Any

from lore.doors.endpoint import Endpoint, Hung
from lore.doors.locking import held
from lore.version import VERSION

BUSY = "busy"
"""The state of a daemon that does not answer: it begins, it ends, or it has too much to do."""

HUNG = "hung"
"""The state of one that was stopped by a signal, or has not answered for half a minute."""

GLANCED = ("state", "mode", "pid", "embedding")
KNOWN = (
    *("state", "mode", "pid", "version", "started_at", "uptime_seconds", "memories", "pending"),
    "embedding",
    *("staged_turns", "last_consolidation_at", "store", "socket", "http", "model"),
    *("language_model", "troubles", "clients"),
)
NONE: dict[str, Any] = {"running": False, **dict.fromkeys(KNOWN)}
"""The status where no daemon runs."""


def read_status(endpoint: Endpoint) -> dict[str, Any]:
    """Whether a daemon runs, its state, mode and pid, and how far it embeds, without asking it.

    Only the lock tells whether it runs: the files may have been left behind.
    """
    if not held(endpoint.lock):
        return {"running": False, **dict.fromkeys(GLANCED)}
    written = {"state": BUSY, **_written(endpoint)}
    return {"running": True, **{name: written.get(name) for name in GLANCED}}


def query_status(endpoint: Endpoint) -> dict[str, Any]:
    """Query the daemon for its full status; the same keys where none runs."""
    seen = NONE | read_status(endpoint)
    if not seen["running"]:
        return seen
    try:
        connection, _, reply = endpoint.dial("status", {"version": VERSION})
    except Hung:
        return seen | {"state": HUNG}
    except OSError:
        return seen | {"state": BUSY}
    connection.close()
    return seen | dict(json.loads(reply.get("status", "{}")))


def _written(endpoint: Endpoint) -> dict[str, Any]:
    """The status file: it is not there yet when a daemon begins, nor when it ends."""
    try:
        with open(endpoint.status, encoding="utf-8") as file:
            return dict(json.load(file))
    except (OSError, ValueError, TypeError):
        return {}
