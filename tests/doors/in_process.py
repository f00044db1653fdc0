"""The official MCP client on a server in this process, for tests to which a process of its own makes no
difference."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from typing import Any

import anyio
from mcp import Client
from mcp.client.session import MessageHandlerFnT
from mcp_types import Implementation

from lore.config import Config
from lore.connecting import wire
from lore.doors.mcp import take_over
from lore.doors.offer import Offer, to_one_client
from lore.doors.principal import Principal
from lore.doors.subscriptions import Audience
from lore.doors.workers import Workers
from lore.embed import Embedder
from lore.surfaces import surfaces_named
from tests.doors.resident import SECONDS


async def ignore(message: Any) -> None:
    """Handle no message of the server."""


@asynccontextmanager
async def served(
    config: Config,
    era: str,
    embedder: Embedder | None = None,
    on_message: MessageHandlerFnT = ignore,
    program: str = "mcp",
) -> AsyncIterator[Client]:
    """A client of a server with these settings, as `lore mcp` has it. program: its name for itself."""
    surfaces = surfaces_named(config.surfaces)
    with closing(wire(config, embedder=embedder, patient=False)) as lore:
        take_over(lore, config, surfaces)
        lore.background.start()
        principal = Principal(lore=lore, workers=Workers(), request_seconds=config.request_seconds)
        with (
            anyio.fail_after(SECONDS),
            Offer(surfaces, to_one_client(principal), Audience()) as offer,
        ):
            async with Client(
                offer.server,
                mode=era,
                message_handler=on_message,
                client_info=Implementation(name=program, version="1"),
            ) as client:
                yield client


async def answer(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured answer of a call that must succeed, checked by the client against the schema."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert isinstance(result.structured_content, dict)
    return result.structured_content
