"""state: what a daemon is doing, in a file that other programs read (a tray, a script)."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

Doing = Literal["idle", "ingesting", "consolidating", "syncing"]


class State:
    """The file says `state`, `pid`, `updated_at` and `mode`; it is there as long as the daemon is."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.mode = "local"
        self._doing: list[Doing] = []

    @property
    def now(self) -> Doing:
        """What was begun last of all that goes on."""
        return self._doing[-1] if self._doing else "idle"

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

    def _say(self) -> None:
        """Whole or not at all: whoever reads it never sees half a file."""
        document = {"state": self.now, "pid": os.getpid(), "updated_at": int(time.time()), "mode": self.mode}
        write_whole(self._path, json.dumps(document))


def write_whole(path: str, text: str) -> None:
    """Put a file in place at once, for its owner alone."""
    draft = f"{path}.{os.getpid()}"
    with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(draft, path)
