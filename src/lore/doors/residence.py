"""residence: how a daemon is found, and is the only one: its locks, its files and the socket where it
listens.

Two locks make a daemon the only one: `daemon.lock` of its endpoint, and `.serving` beside the database, which
remains when somebody removes all files of the daemon.
"""

import errno
import logging
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, cast

import anyio
from anyio.abc import SocketAttribute, SocketListener, SocketStream, TaskGroup

from lore.doors.endpoint import LOOPBACK, Endpoint
from lore.durable import write_whole
from lore.errors import Unavailable
from lore.filelock import Held, holding, in_place, reacquired

SERVING = ".serving"
"""Suffix of the database's name for the lock of the daemon that serves it."""
BACKLOG = 256
OWNER = 0o600
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
PAUSE_SECONDS = 0.2
"""Pause before the next client is accepted when the system has no descriptor left."""

logger = logging.getLogger(__name__)


class Residence:
    """The endpoint of the one daemon of a store, as long as it holds both locks."""

    def __init__(self, endpoint: Endpoint, database: Path, lock: int) -> None:
        self.endpoint = endpoint
        self._database = str(database)
        self._lock = lock
        self._opened = (0, 0)

    @property
    def is_ours(self) -> bool:
        """Whether the files of the endpoint are this daemon's: no other process holds its lock."""
        return in_place(self.endpoint.lock, self._lock)

    def serve_file(self) -> None:
        """Remember which file the store has opened."""
        self._opened = _file(self._database)

    @property
    def is_replaced(self) -> bool:
        """Whether the database is no longer the file that was opened: nothing can be written any more."""
        return self._opened != _file(self._database)

    def write_pid(self) -> None:
        """The number of this process, for programs that cannot ask."""
        if _text(self.endpoint.pid) != str(os.getpid()):
            write_whole(self.endpoint.pid, str(os.getpid()))

    def regain(self) -> bool:
        """Hold the lock again if its file was removed; False if another process holds it by now."""
        return self.is_ours or (
            os.path.isdir(self.endpoint.home) and reacquired(self.endpoint.lock, self._lock)
        )


@contextmanager
def residing(endpoint: Endpoint, database: Path, patience: float) -> Iterator[Residence]:
    """Be the one daemon of this endpoint and this database; Unavailable if there is one after `patience`
    s."""
    beside = f"{os.path.realpath(database)}{SERVING}"
    try:
        with holding(endpoint.lock, patience) as lock, holding(beside, patience):
            residence = Residence(endpoint, database, lock)
            try:
                endpoint.clear()
                residence.write_pid()
                yield residence
            finally:
                if residence.is_ours:
                    endpoint.clear()
    except Held as error:
        raise Unavailable(f"a daemon runs already for {endpoint.home} or {database}") from error


class Listener:
    """Where a daemon listens: a Unix socket, or a port of this machine and a token."""

    def __init__(self, endpoint: Endpoint, token: str) -> None:
        self._endpoint = endpoint
        self._token = token
        self._path = endpoint.socket if endpoint.unix else endpoint.port
        self._inode = 0

    @property
    def in_place(self) -> bool:
        """Whether clients find it: the file that names it exists and is ours."""
        return self._inode == _inode(self._path) != 0

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[SocketListener]:
        """Listen for clients of the same user until the block ends; then remove the file."""
        async with await self._open() as listener:
            if not self._endpoint.unix:
                write_whole(self._path, f"{listener.extra(SocketAttribute.local_port)} {self._token}")
            self._inode = _inode(self._path)
            try:
                yield listener
            finally:
                if self.in_place:
                    os.unlink(self._path)

    async def _open(self) -> SocketListener:
        if self._endpoint.unix:
            return await anyio.create_unix_listener(self._path, mode=OWNER, backlog=BACKLOG)
        several = await anyio.create_tcp_listener(local_host=LOOPBACK, backlog=BACKLOG)
        [listener] = several.listeners
        return cast(SocketListener, listener)


async def accept_clients(
    listener: SocketListener, serve: Callable[[SocketStream], Coroutine[Any, Any, None]], tasks: TaskGroup
) -> None:
    """Accept clients forever; after a pause where the system has no descriptor left."""
    while True:
        try:
            client = await listener.accept()
        except (OSError, anyio.BrokenResourceError) as error:
            cause = error.__cause__ or error  # anyio wraps errors of Unix sockets
            if not isinstance(cause, OSError) or cause.errno not in (*EXHAUSTED, errno.ECONNABORTED):
                raise
            logger.warning("a client could not be accepted: %s", cause.strerror)
            await anyio.sleep(PAUSE_SECONDS)
        else:
            tasks.start_soon(serve, client)


def _text(path: str) -> str:
    try:
        with open(path) as file:
            return file.read()
    except (OSError, ValueError):
        return ""


def _inode(path: str) -> int:
    return _file(path)[1]


def _file(path: str) -> tuple[int, int]:
    """Device and inode; zeros where there is no such file."""
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino
