"""residence: the files by which clients find a daemon, kept in place while it runs, and its alone.

Two locks say that a daemon is the only one: `daemon.lock` of its place, and `.serving` beside the database,
which stays when somebody removes all files of the daemon.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lore.doors.endpoint import Endpoint
from lore.doors.locking import Held, holding, in_place, retaken, still_holding
from lore.doors.state import write_whole
from lore.errors import Unavailable

SERVING = ".serving"
"""What is added to the name of a database to name the lock of the daemon that serves it."""


class Residence:
    """The place of the one daemon of a store, as long as it holds both locks."""

    def __init__(self, endpoint: Endpoint, lock: int, serving: int) -> None:
        self.endpoint = endpoint
        self.locks = (lock, serving)

    @property
    def ours(self) -> bool:
        """Whether the files in the place are this daemon's: nobody else holds its lock."""
        return in_place(self.endpoint.lock, self.locks[0])

    def settle(self) -> None:
        """Remove what another one has left behind, and say who is here now."""
        self.endpoint.clear()
        self.write_pid()

    def write_pid(self) -> None:
        """The number of this process, for those who cannot ask."""
        if _text(self.endpoint.pid) != str(os.getpid()):
            write_whole(self.endpoint.pid, str(os.getpid()))

    def regain(self) -> bool:
        """Hold the place's lock again if its file was removed; False if another one holds it by now."""
        return self.ours or (os.path.isdir(self.endpoint.home) and retaken(self.endpoint.lock, self.locks[0]))

    def leave(self) -> None:
        """Remove the files, unless they are another one's."""
        if self.ours:
            self.endpoint.clear()


@contextmanager
def residing(
    endpoint: Endpoint, database: Path, patience: float, handed: tuple[int, int] | None
) -> Iterator[Residence]:
    """Be the one daemon of this place and this database; Unavailable if there is one after `patience` s.

    handed: the locks that this process holds already.
    """
    beside = f"{os.path.realpath(database)}{SERVING}"
    try:
        with (
            still_holding(handed[0]) if handed else holding(endpoint.lock, patience) as lock,
            still_holding(handed[1]) if handed else holding(beside, patience) as serving,
        ):
            residence = Residence(endpoint, lock, serving)
            try:
                if handed is None:
                    residence.settle()
                yield residence
            finally:
                residence.leave()
    except Held as error:
        raise Unavailable(f"a daemon runs already for {endpoint.home} or {database}") from error


def _text(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except (OSError, ValueError):
        return ""
