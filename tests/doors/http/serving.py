"""A server for tests: the real one on a real socket, in a thread of the test's process."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from anyio.from_thread import start_blocking_portal

from lore.config import load
from lore.connecting import wire
from lore.doors.http.served import Served
from lore.doors.http.server import address_of, listen, serve_http
from tests.doors.http.tokens import bearer, token_of
from tests.doors.resident import SECONDS


@dataclass(frozen=True)
class Server:
    """A running server, and a client of it with every right for the whole store. token: of the client."""

    served: Served
    port: int
    client: httpx2.Client
    token: str

    def call(self, verb: str, arguments: object = None, **parameters: str) -> httpx2.Response:
        """The answer to a verb."""
        return self.client.post(f"/api/v1/{verb}", json=arguments or {}, params=parameters)

    def connect(self) -> socket.socket:
        """A connection that has sent nothing yet."""
        return socket.create_connection(("127.0.0.1", self.port), SECONDS)


@contextmanager
def serving(folder: Path, **settings: Any) -> Iterator[Server]:
    """A server with a store in this folder, on a free port of this machine."""
    config = load({}, data_dir=folder, embedding_model="hash", **settings)
    with closing(wire(config, patient=False)) as lore, start_blocking_portal() as portal:
        lore.background.start()
        served, listener = Served(lore=lore, config=config), listen("127.0.0.1", 0)
        address, port = address_of(listener, config), listener.getsockname()[1]
        server = portal.start_task_soon(serve_http, served, listener)
        token = token_of(lore)
        try:
            with httpx2.Client(base_url=address, timeout=SECONDS, headers=bearer(token)) as client:
                yield Server(served, port, client, token)
        finally:
            portal.call(served.stopping.set)
            server.result(SECONDS)
