"""state: what a daemon is doing, in a file that other programs read (a tray, a script)."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from lore.health import Embedding

Doing = Literal["idle", "ingesting", "embedding", "consolidating", "syncing"]
NOTICEABLE = 32
"""Memories that a backlog must have to be the state of a daemon; fewer are embedded within seconds."""


class State:
    """The file says `state`, `pid`, `updated_at` and `mode`; it is there as long as the daemon is.

    While the daemon embeds a backlog it also says `embedding`: how many are left, and about how long. While
    something does not work, it also says `troubles`: what, and why.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self.mode = "local"
        self._doing: list[Doing] = []
        self.embedding: dict[str, float | None] | None = None
        self._troubles: dict[str, str] = {}

    @property
    def now(self) -> Doing:
        """What was begun last of all that goes on; embedding goes on beside everything else."""
        if self._doing:
            return self._doing[-1]
        return "embedding" if self.embedding else "idle"

    def begin(self) -> None:
        self._say()

    @contextmanager
    def doing(self, what: Doing) -> Iterator[None]:
        """Say so while the block runs; another one may begin before and end in it."""
        self._doing.append(what)
        self._say()
        try:
            yield
        finally:
            self._doing.remove(what)
            self._say()

    def embeds(self, work: Embedding | None) -> None:
        """Say how far the embedding of a backlog is; None: there is none."""
        large = work is not None and work.done + work.left >= NOTICEABLE
        shown = _shown(work) if work is not None and large else None
        if shown != self.embedding:
            self.embedding = shown
            self._say()

    def suffers(self, troubles: dict[str, str]) -> None:
        """Say what does not work, and why."""
        if troubles != self._troubles:
            self._troubles = troubles
            self._say()

    def _say(self) -> None:
        """Whole or not at all: whoever reads it never sees half a file."""
        document = {"state": self.now, "pid": os.getpid(), "updated_at": int(time.time()), "mode": self.mode}
        more = {"embedding": self.embedding, "troubles": self._troubles}
        text = json.dumps(document | {name: value for name, value in more.items() if value})
        with suppress(OSError):  # nobody works less because a disk is full
            write_whole(self._path, text)


def _shown(work: Embedding) -> dict[str, float | None]:
    seconds = work.seconds_left
    return {"left": work.left, "seconds_left": None if seconds is None else round(seconds)}


def write_whole(path: str, text: str) -> None:
    """Put a file in place at once, for its owner alone."""
    draft = f"{path}.{os.getpid()}"
    try:
        with open(
            os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
        ) as file:
            file.write(text)
        os.replace(draft, path)
    except OSError:
        with suppress(OSError):
            os.unlink(draft)
        raise
