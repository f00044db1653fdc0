"""door: where a daemon listens, a Unix socket or a port of this machine, and how it lets clients in."""

import errno
import logging
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio
from anyio.abc import SocketAttribute, SocketListener, SocketStream, TaskGroup

from lore.doors.endpoint import LOOPBACK, Endpoint
from lore.doors.state import write_whole

BACKLOG = 256
OWNER = 0o600
EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
PAUSE_SECONDS = 0.2
"""Before the next client is let in, when the system has nothing left for one."""

logger = logging.getLogger(__name__)


class Door:
    """One address to listen at. handed: the socket that this process listens on already."""

    def __init__(self, endpoint: Endpoint, token: str, handed: int | None = None) -> None:
        self._endpoint = endpoint
        self._token = token
        self._handed = handed
        self._path = endpoint.socket if endpoint.unix else endpoint.port
        self._inode = 0
        self._kept = False

    @property
    def in_place(self) -> bool:
        """Whether clients find it: the file by which they do is there, and is ours."""
        return self._inode == _inode(self._path) != 0

    def kept(self, listener: SocketListener) -> int:
        """A descriptor that goes on listening when the block has ended."""
        self._kept = True
        return os.dup(listener.extra(SocketAttribute.raw_socket).fileno())

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[SocketListener]:
        """Whoever owns our files may connect; nobody finds us once the block has ended, unless it is kept."""
        async with await self._listener() as listener:
            if not self._endpoint.unix and self._handed is None:
                write_whole(self._path, f"{listener.extra(SocketAttribute.local_port)} {self._token}")
            self._inode = _inode(self._path)
            try:
                yield listener
            finally:
                if not self._kept and self.in_place:
                    os.unlink(self._path)

    async def _listener(self) -> SocketListener:
        if self._handed is not None:
            return await SocketListener.from_socket(self._handed)
        if self._endpoint.unix:
            return await anyio.create_unix_listener(self._path, mode=OWNER, backlog=BACKLOG)
        several = await anyio.create_tcp_listener(local_host=LOOPBACK, backlog=BACKLOG)
        [listener] = several.listeners
        return cast(SocketListener, listener)


async def let_in(
    listener: SocketListener, serve: Callable[[SocketStream], Coroutine[Any, Any, None]], tasks: TaskGroup
) -> None:
    """Accept clients for ever; where the system has no descriptor left, after a pause."""
    while True:
        try:
            client = await listener.accept()
        except OSError as error:
            if error.errno not in (*EXHAUSTED, errno.ECONNABORTED):
                raise
            logger.warning("a client could not be let in: %s", error.strerror)
            await anyio.sleep(PAUSE_SECONDS)
        else:
            tasks.start_soon(serve, client)


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0
