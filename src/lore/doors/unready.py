"""unready: serve an agent although Lore cannot open. The tools are there, and each call says what is wrong.

An MCP server that ends at its start shows an agent nothing, and its user has to find a log. This one answers,
so that the agent can pass the reason on. Each call tries again: once the cause is removed, the conversation
goes on.
"""

import os
import signal
from collections.abc import Callable, Sequence
from types import FrameType

import anyio
import anyio.to_thread
from mcp.server import Server, ServerRequestContext
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
)

from lore.config import Config
from lore.connecting import wire
from lore.doors.early import TROUBLED
from lore.doors.mcp import Offer, Workers, offered, over_stdio, take_over
from lore.doors.subscriptions import Audience
from lore.engine import Lore
from lore.environment import folder
from lore.errors import Invalid, LoreError
from lore.surfaces import Surface, surfaces_named
from lore.version import VERSION

REFUSAL = (
    "Lore cannot be opened: {trouble}. Nothing was read or stored. Tell the user; the next call tries again."
)


def serve_unready(trouble: str, surfaces: str, settings: Callable[[], Config]) -> None:
    """Serve on stdin and stdout until the client goes.

    surfaces: whose tools to list; the default ones where this names none. settings: gives the settings, or
    raises what is wrong with them.
    """
    unready = Unready(trouble, _known_surfaces(surfaces), settings)

    def stop(signum: int, frame: FrameType | None) -> None:
        unready.close()
        os._exit(0)

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    try:
        anyio.run(over_stdio, unready.server)
    finally:
        unready.close()


class Unready:
    """Offers the tools of surfaces without a Lore behind them, until one can be opened."""

    def __init__(self, trouble: str, surfaces: Sequence[Surface], settings: Callable[[], Config]) -> None:
        self._surfaces = surfaces
        self._settings = settings
        self._lore: Lore | None = None
        self._offer: Offer | None = None
        self._opening = anyio.Lock()
        self.server = Server(
            "lore",
            version=VERSION,
            title="Lore",
            instructions=TROUBLED.format(trouble=trouble.removesuffix(".")),
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
        )

    def close(self) -> None:
        if self._lore is not None:
            self._lore.close()

    async def _list_tools(
        self, context: ServerRequestContext, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(
            tools=[offered(tool) for surface in self._surfaces for tool in surface.tools.values()]
        )

    async def _call_tool(
        self, context: ServerRequestContext, params: CallToolRequestParams
    ) -> CallToolResult:
        async with self._opening:
            if self._offer is None:
                try:
                    self._offer = await anyio.to_thread.run_sync(self._opened)
                except LoreError as error:
                    text = REFUSAL.format(trouble=str(error).removesuffix("."))
                    return CallToolResult(content=[TextContent(text=text)], is_error=True)
        return await self._offer.call_tool(context, params)

    def _opened(self) -> Offer:
        config = self._settings()
        lore = wire(config, patient=False).in_folder(folder())
        take_over(lore, config, self._surfaces)
        lore.background.start()
        self._lore = lore
        return Offer(lore, self._surfaces, Workers(), Audience(), config.request_seconds)


def _known_surfaces(names: str) -> list[Surface]:
    try:
        return surfaces_named(names)
    except Invalid:
        return surfaces_named(Config().surfaces)
