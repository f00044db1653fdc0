"""A server of a Lore that a test has already: the real application on a real socket, in a thread."""

from collections.abc import Iterator
from contextlib import contextmanager

from anyio.from_thread import start_blocking_portal

from lore.config import Config
from lore.doors.http.served import Served
from lore.doors.http.server import listen, serve_http
from lore.engine import Lore
from tests.doors.resident import SECONDS


@contextmanager
def serving(lore: Lore, config: Config) -> Iterator[int]:
    """The port of the server, until the block ends."""
    with start_blocking_portal() as portal:
        served = Served(lore=lore, config=config)
        listener = listen("127.0.0.1", 0)
        server = portal.start_task_soon(serve_http, served, listener)
        try:
            yield int(listener.getsockname()[1])
        finally:
            portal.call(served.stopping.set)
            server.result(SECONDS)
            listener.close()
