"""principal: who makes a request over MCP, and the work that is done for it in the threads of the process."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias, TypeVar

import anyio
from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp_types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, TextContent

from lore.doors.streams import Late
from lore.doors.workers import Workers, late_text
from lore.engine import Lore
from lore.engine.read import last_change
from lore.errors import LoreError
from lore.model import Entry
from lore.surfaces.surface import Tool

AT_ONCE = 4
"""Requests of one client that may wait for a worker at a time; its others delay no other client."""

T = TypeVar("T")


def fair_share() -> anyio.CapacityLimiter:
    """The turns of one client."""
    return anyio.CapacityLimiter(AT_ONCE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """Who makes a request. lore: what it sees and changes.

    workers: the threads of the process. request_seconds: the longest time for one request; 0: no limit.
    turns: shared by its requests. called: gets the name of each tool after its call, the time in seconds, and
    whether it failed.
    """

    lore: Lore
    workers: Workers
    request_seconds: float = 0.0
    turns: anyio.CapacityLimiter = field(default_factory=fair_share)
    called: Callable[[str, float, bool], None] = lambda tool, seconds, failed: None

    async def call(
        self, tool: Tool, arguments: dict[str, object], watched: bool
    ) -> tuple[CallToolResult, bool]:
        """The result of a tool, or an error after `request_seconds`; and whether it changed the store.

        watched: whether anybody has to know of changes.
        """
        began = anyio.current_time()
        result, changed = await self._call(tool, arguments, watched and not tool.read_only)
        self.called(tool.name, anyio.current_time() - began, bool(result.is_error))
        return result, changed

    async def _call(
        self, tool: Tool, arguments: dict[str, object], watched: bool
    ) -> tuple[CallToolResult, bool]:
        seconds = self.request_seconds
        work = partial(_call, tool, self.lore, arguments, watched)
        async with self.turns:
            try:
                return await self.workers.run(work, seconds, reading=tool.read_only)
            except Late as late:
                text = late_text(late, tool.name, seconds, reading=tool.read_only)
                return refusal(text), watched and late.begun

    async def read(self, what: str, work: Callable[[Lore], T]) -> T:
        """The result of work that only reads; an MCPError if it fails or takes too long."""
        async with self.turns:
            try:
                return await self.workers.run(partial(work, self.lore), self.request_seconds, reading=True)
            except LoreError as error:
                raise MCPError(INVALID_PARAMS, str(error)) from error
            except Late as late:
                text = late_text(late, what, self.request_seconds, reading=True)
                raise MCPError(INTERNAL_ERROR, text) from late


PrincipalOf: TypeAlias = Callable[[ServerRequestContext], Principal]


def client_of(context: ServerRequestContext) -> str:
    """The client's name for itself; empty if it does not say it."""
    params = context.session.client_params
    return params.client_info.name if params else ""


def refusal(why: str) -> CallToolResult:
    """The result of a call that failed."""
    return CallToolResult(content=[TextContent(text=why)], is_error=True)


def _call(tool: Tool, lore: Lore, arguments: dict[str, object], watched: bool) -> tuple[CallToolResult, bool]:
    """The tool's result, an error in the dialect's words if it refuses; and whether the store changed."""
    before = _last_change(lore) if watched else None
    try:
        reply = tool(lore, arguments)
    except LoreError as error:
        result = refusal(str(error))
    else:
        result = CallToolResult(
            content=[TextContent(text=text) for text in reply.blocks()], structured_content=dict(reply.data)
        )
    return result, watched and _last_change(lore) != before


def _last_change(lore: Lore) -> Entry | None:
    return last_change(lore.store.reader(lore.namespace, lore.tenant, lore.teams))
