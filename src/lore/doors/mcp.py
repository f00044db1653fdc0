"""mcp: offer surfaces over the Model Context Protocol, on stdin and stdout."""

import functools
import logging
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from types import FrameType

import anyio
from anyio.streams.file import FileReadStream, FileWriteStream
from anyio.streams.stapled import StapledByteStream
from mcp import MCPError
from mcp.server import Server, ServerRequestContext
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
from lore.doors.deadline import Late, within
from lore.doors.mcp_stream import McpStream
from lore.doors.subscriptions import Audience, Subscriptions
from lore.engine import Lore
from lore.environment import folder, session
from lore.errors import LoreError
from lore.surfaces import Surface, Tool, instructions_of, surfaces_named
from lore.surfaces.zod import unknown_tool
from lore.text import listed, preview
from lore.version import VERSION

AT_ONCE = 4
"""How many calls of one client may be in line for work; its others wait, and other clients do not."""
READING, WRITING = 2, 2
"""How many calls are worked on at a time, of all clients: more would only fight for the interpreter."""
CONVERSATION = ("threadId", "ai.opencode/sessionID")
"""Where Codex and OpenCode tell in a call's `_meta` which conversation it belongs to."""

UNFINISHED = "{what} took longer than {seconds:g} seconds and was given up. Ask for less, or try again later."
UNKNOWN = (
    "{what} has not ended after {seconds:g} seconds. It may still be done: look for the result before you try"
    " again."
)
NOT_BEGUN = (
    "{what} was not begun within {seconds:g} seconds: Lore is busy with other requests. Nothing was done; try"
    " again later."
)

logger = logging.getLogger(__name__)


def serve(config: Config) -> None:
    """Serve until the client closes stdin or the process is told to stop."""
    surfaces = surfaces_named(config.surfaces)
    lore = wire(config, patient=False).in_folder(folder())
    lore = replace(lore, conversation=session(), connected_at=lore.clock())

    def stop(signum: int, frame: FrameType | None) -> None:
        """Let the write at hand finish, then go: a thread that waits for a line on stdin cannot be woken."""
        lore.close()
        os._exit(0)

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    take_over(lore, config, surfaces)
    lore.background.start()
    try:
        with Offer(lore, surfaces, Workers(), Audience(), config.request_seconds) as offer:
            anyio.run(over_stdio, offer.server)
    finally:
        lore.close()


def take_over(lore: Lore, config: Config, surfaces: Iterable[Surface]) -> None:
    """An empty store takes over the file of the memory server that it stands in for."""
    path = config.memory_file_path
    if path is None or not path.exists() or not any(surface.adopts for surface in surfaces):
        return
    try:
        if lore.changed_at is None:
            adopted = lore.for_namespace(lore.namespace, "mcp").graph.adopt_own(path)
            logger.warning("%s: imported %s", path, adopted)
    except LoreError as trouble:
        logger.warning("%s was not imported: %s", path, trouble)


async def over_stdio(server: Server) -> None:
    """Stdin and stdout belong to the protocol alone: what a library prints goes to stderr."""
    incoming, outgoing = os.dup(sys.stdin.fileno()), os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with open(incoming, "rb", buffering=0) as stdin, open(outgoing, "wb", buffering=0) as stdout:
        stream = StapledByteStream(FileWriteStream(stdout), FileReadStream(stdin))
        await McpStream(stream).run(server, anyio.Event())


class Workers:
    """The threads that all clients of a process share. Who reads does not wait for who writes."""

    def __init__(self) -> None:
        self._reading = anyio.CapacityLimiter(READING)
        self._writing = anyio.CapacityLimiter(WRITING)

    async def call(
        self, tool: Tool, lore: Lore, arguments: dict[str, object], seconds: float
    ) -> CallToolResult:
        """The answer of a tool, or an error after `seconds`, of which 0 means no limit."""
        turns = self._reading if tool.read_only else self._writing
        try:
            return await within(seconds, turns, partial(_called, tool, lore, arguments))
        except Late as late:
            text = (UNFINISHED if tool.read_only else UNKNOWN) if late.begun else NOT_BEGUN
            return _refused(text.format(what=tool.name, seconds=seconds))


class Offer:
    """Surfaces offered to one client over MCP; both protocol eras are the SDK's business."""

    def __init__(
        self,
        lore: Lore,
        surfaces: Sequence[Surface],
        workers: Workers,
        audience: Audience,
        request_seconds: float,
    ) -> None:
        self._request_seconds = request_seconds
        self._lore = lore
        self._surfaces = surfaces
        self._workers = workers
        self._audience = audience
        self._tools = {
            name: (surface, tool) for surface in surfaces for name, tool in surface.names().items()
        }
        self._turns = anyio.CapacityLimiter(AT_ONCE)
        resources = {uri: resource for surface in surfaces for uri, resource in surface.resources.items()}
        self._watching = Subscriptions(lore, resources, request_seconds) if resources else None
        self.server = self._server()

    @property
    def repeatable(self) -> list[str]:
        """The tools that may be called again when the answer was lost."""
        return [name for name, (_, tool) in self._tools.items() if tool.read_only or tool.idempotent]

    def __enter__(self) -> "Offer":
        if self._watching:
            self._audience.join(self._watching)
        return self

    def __exit__(self, *_: object) -> None:
        if self._watching:
            self._audience.leave(self._watching)

    def _server(self) -> Server:
        watching = self._watching
        return Server(
            "lore",
            version=VERSION,
            title="Lore",
            instructions=instructions_of(self._surfaces),
            on_list_tools=self._list_tools,
            on_call_tool=self.call_tool,
            on_list_resources=watching.list if watching else None,
            on_list_resource_templates=watching.list_templates if watching else None,
            on_read_resource=watching.read if watching else None,
            on_subscribe_resource=watching.subscribe if watching else None,
            on_unsubscribe_resource=watching.unsubscribe if watching else None,
            on_subscriptions_listen=watching.listen if watching else None,
        )

    async def _list_tools(
        self, context: ServerRequestContext, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(
            tools=[offered(tool) for surface in self._surfaces for tool in surface.tools.values()]
        )

    async def call_tool(self, context: ServerRequestContext, params: CallToolRequestParams) -> CallToolResult:
        """Answer one call of a client."""
        if params.name not in self._tools and any(surface.drop_in for surface in self._surfaces):
            return _refused(unknown_tool(params.name))
        if params.name not in self._tools:
            message = f"unknown tool {preview(params.name, 80)!r}; known: {listed(self._tools)}"
            raise MCPError(INVALID_PARAMS, message)
        surface, tool = self._tools[params.name]
        asked = self._lore.for_namespace(self._lore.namespace, surface.name, _client(context))
        if conversation := _conversation(params):
            asked = replace(asked, conversation=conversation)
        before = asked.changed_at if self._audience else None
        async with self._turns:
            arguments = params.arguments or {}
            result = await self._workers.call(tool, asked, arguments, self._request_seconds)
        if self._audience and asked.changed_at != before:
            await self._audience.tell()
        return result


def _called(tool: Tool, lore: Lore, arguments: dict[str, object]) -> CallToolResult:
    """The tool's answer; what it refuses is flagged as an error, in the dialect's own words."""
    try:
        reply = tool(lore, arguments)
    except LoreError as error:
        return _refused(str(error))
    return CallToolResult(
        content=[TextContent(text=text) for text in reply.blocks()], structured_content=dict(reply.data)
    )


def _refused(why: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=why)], is_error=True)


@functools.cache
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


def _conversation(params: CallToolRequestParams) -> str:
    """The conversation in which a tool is called, where the client tells."""
    values = map((params.meta or {}).get, CONVERSATION)
    return next((str(value) for value in values if value), "")


def _client(context: ServerRequestContext) -> str:
    """What the client calls itself, for the journal."""
    params = context.session.client_params
    return params.client_info.name if params else ""
