"""daemon_http: the HTTP port of a daemon: open from its start, or from the first link to the explorer on."""

import logging
import socket
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from lore import lazy
from lore.config import Config
from lore.doors.clients import Clients
from lore.doors.daemon_status import HTTP_SERVICE
from lore.doors.endpoint import LOOPBACK
from lore.doors.streams import cancel_when
from lore.engine import Lore
from lore.errors import Unavailable
from lore.supervision import Service, async_failure_of

if TYPE_CHECKING:
    from lore.doors.http.sessions import Sessions

OPEN_SECONDS = 20.0
"""Longest time until a port that was asked for is open; clients wait a little longer for the answer."""
POLL_SECONDS = 0.05

logger = logging.getLogger(__name__)


class DaemonHttp:
    """Offers the daemon's store over HTTP, on this machine only, until `stopping` is set.

    address: where, or None. service: fails while the port cannot be used.
    """

    def __init__(self, lore: Lore, config: Config, clients: Clients, stopping: anyio.Event) -> None:
        self._lore = lore
        self._config = config
        self._clients = clients
        self._stopping = stopping
        self._port = config.http_port
        self._listener: socket.socket | None = None
        self._wanted = anyio.Event()
        self._opening = anyio.Lock()
        self._sessions: Sessions | None = None
        self.address: str | None = None
        self.service = Service(HTTP_SERVICE)
        if self._port:
            self._wanted.set()

    @property
    def wanted(self) -> bool:
        """Whether the port is open, or is to be."""
        return self._wanted.is_set()

    async def run(self) -> None:
        """Serve as soon as the port is wanted, and again after each failure."""
        async with anyio.create_task_group() as until:
            until.start_soon(cancel_when, self._stopping, until.cancel_scope)
            await self._wanted.wait()
            until.cancel_scope.cancel()
        while not self._stopping.is_set():
            error = await async_failure_of(self._serve)
            self.address = None
            if error is not None:
                with anyio.move_on_after(self.service.failed(error)):
                    await self._stopping.wait()

    async def link(self, port: int) -> str:
        """A link to the explorer that signs in the user of this machine, once; opens the port if none is.

        port: to open; 0 for the usual one, or a free one if another program has that. Unavailable if it
        cannot be had.
        """
        server = await anyio.to_thread.run_sync(lambda: lazy.http_server)
        async with self._opening:
            if not self.wanted:
                self._listener = server.listen(LOOPBACK, port) if port else server.listen_anyhow(LOOPBACK)
                self._port = self._listener.getsockname()[1]
                self._wanted.set()
        with anyio.move_on_after(OPEN_SECONDS):
            while self.address is None and not self.service.trouble:
                await anyio.sleep(POLL_SECONDS)
        if self.address is None or self._sessions is None:
            raise Unavailable(self.service.trouble or f"port {self._port} of the daemon is not open yet")
        return str(server.link(self._sessions, self.address))

    async def _serve(self) -> None:
        server = await anyio.to_thread.run_sync(lambda: lazy.http_server)
        kept = {"sessions": self._sessions} if self._sessions else {}
        served = server.Served(
            lore=self._lore,
            config=self._config,
            workers=self._clients.workers,
            audience=self._clients.audience,
            stopping=self._stopping,
            used=self._clients.used,
            figures=self._clients.figures,
            **kept,
        )
        self._sessions = served.sessions
        waiting, self._listener = self._listener, None
        with waiting or server.listen(LOOPBACK, self._port) as listener:
            self.address = server.address_of(listener, self._config)
            self.service.works()
            logger.info("lore serves HTTP at %s", self.address)
            await server.serve_http(served, listener)
