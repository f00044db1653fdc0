"""mcp: offer surfaces over the Model Context Protocol, on stdin and stdout."""

import functools
import logging
import os
import signal
from collections.abc import Iterable
from types import FrameType

import anyio
import anyio.to_thread
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as OfferedTool

from lore.config import Config
from lore.connecting import wire
from lore.doors.watching import Watching
from lore.engine import Lore
from lore.errors import LoreError
from lore.surfaces import Surface, Tool, surfaces_named
from lore.text import listed, preview
from lore.version import VERSION

logger = logging.getLogger(__name__)


def serve(config: Config) -> None:
    """Serve until the client closes stdin or the process is told to stop."""
    surfaces = surfaces_named(config.surfaces)
    lore = wire(config, patient=False)

    def stop(signum: int, frame: FrameType | None) -> None:
        """Let the write at hand finish, then go: a thread that waits for a line on stdin cannot be woken."""
        lore.close()
        os._exit(0)

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    _begin(lore, config, surfaces)
    lore.background.start()
    try:
        anyio.run(_over_stdio, server(lore, surfaces))
    finally:
        lore.close()


def _begin(lore: Lore, config: Config, surfaces: Iterable[Surface]) -> None:
    """An empty store takes over the file of the memory server that it stands in for."""
    path = config.memory_file_path
    if path is None or not path.exists() or not any(surface.adopts for surface in surfaces):
        return
    try:
        if lore.changed_at is None:
            adopted = lore.within(lore.namespace, "mcp").graph.adopt_own(path)
            logger.warning("%s: imported %s", path, adopted)
    except LoreError as trouble:
        logger.warning("%s was not imported: %s", path, trouble)


async def _over_stdio(server: Server) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def server(lore: Lore, surfaces: Iterable[Surface]) -> Server:
    """An MCP server for these surfaces; both protocol eras are the SDK's business."""
    surfaces = list(surfaces)
    tools = {name: (surface, tool) for surface in surfaces for name, tool in surface.names().items()}
    listed_tools = [offered(tool) for surface in surfaces for tool in surface.tools.values()]
    resources = {uri: resource for surface in surfaces for uri, resource in surface.resources.items()}
    watching = Watching(lore, resources) if resources else None

    async def list_tools(
        context: ServerRequestContext, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=listed_tools)

    async def call_tool(context: ServerRequestContext, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in tools:
            message = f"unknown tool {preview(params.name, 80)!r}; known: {listed(tools)}"
            raise MCPError(INVALID_PARAMS, message)
        surface, tool = tools[params.name]
        asked = lore.within(lore.namespace, surface.name, _client(context))
        before = asked.changed_at if watching else None
        answer = functools.partial(_called, tool, asked, params.arguments or {})
        result = await anyio.to_thread.run_sync(answer)
        if watching and asked.changed_at != before:
            await watching.tell(resources)
        return result

    return Server(
        "lore",
        version=VERSION,
        title="Lore",
        instructions="\n\n".join(surface.instructions for surface in surfaces),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=watching.list if watching else None,
        on_read_resource=watching.read if watching else None,
        on_subscribe_resource=watching.subscribe if watching else None,
        on_unsubscribe_resource=watching.unsubscribe if watching else None,
        on_subscriptions_listen=watching.listen if watching else None,
    )


def _called(tool: Tool, lore: Lore, arguments: dict[str, object]) -> CallToolResult:
    """The tool's answer; what it refuses is flagged as an error, in the dialect's own words."""
    try:
        reply = tool(lore, arguments)
    except LoreError as error:
        return CallToolResult(content=[TextContent(text=str(error))], is_error=True)
    return CallToolResult(
        content=[TextContent(text=text) for text in reply.blocks()], structured_content=dict(reply.data)
    )


def offered(tool: Tool) -> OfferedTool:
    """The tool as MCP lists it."""
    return OfferedTool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        output_schema=dict(tool.output_schema),
        annotations=ToolAnnotations(
            read_only_hint=tool.read_only,
            destructive_hint=tool.destructive,
            idempotent_hint=tool.idempotent,
            open_world_hint=False,
        ),
    )


def _client(context: ServerRequestContext) -> str:
    """What the client calls itself, for the journal."""
    params = context.session.client_params
    return params.client_info.name if params else ""
