"""lending: a server that lends a token to whoever calls: the suite of conformance cannot send one."""

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import anyio
import uvicorn
from anyio.from_thread import start_blocking_portal
from starlette.types import ASGIApp, Receive, Scope, Send

from bench.administrator import of_store
from lore.config import load
from lore.connecting import wire
from lore.doors.http.connection import Connection
from lore.doors.http.entrance import entrance
from lore.doors.http.served import Served
from lore.doors.http.server import HttpServer, address_of, listen, routes

STOP_SECONDS = 60.0


@contextmanager
def lending(data: Path) -> Iterator[tuple[str, str]]:
    """Serve the store of this folder, in a thread; yield its address and the token that it lends."""
    config = load(data_dir=data)
    with closing(wire(config, patient=False)) as lore, start_blocking_portal() as portal:
        lore.background.start()
        token, served = of_store(lore.store, "conformance", lore.clock()), Served(lore=lore, config=config)
        app = _with_token(entrance(served, routes(served)), token)
        door = HttpServer(uvicorn.Config(app, http=Connection, ws="none", lifespan="off", log_config=None))
        with listen("127.0.0.1", 0) as listener:
            serving = portal.start_task_soon(_serve, served, door, listener)
            try:
                yield address_of(listener, config), token
            finally:
                portal.call(served.stopping.set)
                door.should_exit = True
                serving.result(STOP_SECONDS)


async def _serve(served: Served, door: HttpServer, listener: socket.socket) -> None:
    async with served.running(), anyio.create_task_group() as until:
        await door.serve(sockets=[listener])
        until.cancel_scope.cancel()


def _with_token(app: ASGIApp, token: str) -> ASGIApp:
    header = (b"authorization", f"Bearer {token}".encode())

    async def called(scope: Scope, receive: Receive, send: Send) -> None:
        sent = [pair for pair in scope["headers"] if pair[0] != b"authorization"]
        await app({**scope, "headers": [*sent, header]}, receive, send)

    return called
