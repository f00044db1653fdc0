"""beside: the explorer of a process that serves an agent on stdin and stdout, in a thread of its own."""

from collections.abc import Iterator
from contextlib import contextmanager

from anyio.from_thread import start_blocking_portal

from lore.config import Config
from lore.doors.endpoint import LOOPBACK
from lore.doors.http.served import Served
from lore.doors.http.server import address_of, listen_anyhow, serve_http
from lore.doors.http.sessions import Sessions
from lore.doors.http.sign_in import link
from lore.doors.streams import FINISH_SECONDS
from lore.engine import Lore


class Beside:
    """An open port of this machine. link: signs in once; requests wait until `serving` begins."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._sessions = Sessions()
        self._listener = listen_anyhow(LOOPBACK)
        self.link = link(self._sessions, address_of(self._listener, config))

    @contextmanager
    def serving(self, lore: Lore) -> Iterator[None]:
        """Answer requests about this Lore while the block runs."""
        with self._listener, start_blocking_portal() as portal:
            served = Served(lore=lore, config=self._config, sessions=self._sessions)
            server = portal.start_task_soon(serve_http, served, self._listener)
            try:
                yield
            finally:
                portal.call(served.stopping.set)
                server.result(2 * FINISH_SECONDS)
