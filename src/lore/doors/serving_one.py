"""serving_one: serve the one client of an open socket, as a daemon does, without any file of a daemon."""

import anyio
from anyio.abc import SocketStream

from lore.config import Config
from lore.connecting import wire
from lore.doors.clients import Clients
from lore.engine import Lore


def serve_one(config: Config, client: int) -> None:
    """Until the client goes. client: the descriptor of its socket."""
    lore = wire(config, patient=False)
    try:
        lore.background.start()
        anyio.run(_serve, lore, config, client)
    finally:
        lore.close()


async def _serve(lore: Lore, config: Config, client: int) -> None:
    clients = Clients(lore, config, anyio.Event(), dict)
    await clients.serve(await SocketStream.from_socket(client))
