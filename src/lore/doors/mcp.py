"""mcp: offer surfaces over the Model Context Protocol, on stdin and stdout."""

import functools
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from types import FrameType

import anyio
import anyio.to_thread
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
from lore.doors.early import TROUBLED
from lore.doors.mcp_stream import McpStream
from lore.doors.streams import Late, within
from lore.doors.subscriptions import Audience, Subscriptions
from lore.engine import Lore
from lore.engine.read import last_change
from lore.environment import folder, session
from lore.errors import LoreError
from lore.surfaces.surface import Surface, Tool, instructions_of, unknown_tool
from lore.text import listed, preview
from lore.version import VERSION

AT_ONCE = 4
"""Calls of one client that may wait for a worker at a time; its other calls delay no other client."""
READING, WRITING = 2, 2
"""Calls of all clients that run at a time: more would only compete for the interpreter."""
SESSION_KEYS = ("threadId", "ai.opencode/sessionID")
"""Keys in a call's `_meta` under which Codex and OpenCode name its session."""

UNFINISHED = "{what} took longer than {seconds:g} seconds and was given up. Ask for less, or try again later."
UNKNOWN = (
    "{what} has not ended after {seconds:g} seconds. It may still be done: look for the result before you try"
    " again."
)
NOT_BEGUN = (
    "{what} was not begun within {seconds:g} seconds: Lore is busy with other requests. Nothing was done; try"
    " again later."
)
REFUSAL = (
    "Lore cannot be opened: {trouble}. Nothing was read or stored. Tell the user; the next call tries again."
)

logger = logging.getLogger(__name__)


def serve(config: Config, surfaces: Sequence[Surface]) -> None:
    """Serve until the client closes stdin or a signal stops the process."""
    lore = _open(config, surfaces)
    with Offer(lore, surfaces, Workers(), Audience(), config.request_seconds) as offer:
        _serve_stdio(offer.server, lore.close)


def serve_unready(trouble: str, surfaces: Sequence[Surface], settings: Callable[[], Config]) -> None:
    """Serve on stdin and stdout although Lore cannot be opened, until the client goes.

    settings: returns the settings, or raises the error in them.
    """
    unready = Unready(trouble, surfaces, settings)
    _serve_stdio(unready.server, unready.close)


def _open(config: Config, surfaces: Sequence[Surface]) -> Lore:
    lore = wire(config, patient=False).in_folder(folder())
    lore = replace(lore, conversation=session(), connected_at=lore.clock())
    take_over(lore, config, surfaces)
    lore.background.start()
    return lore


def _serve_stdio(server: Server, close: Callable[[], None]) -> None:
    def stop(signum: int, frame: FrameType | None) -> None:
        """Finish the current write, then exit: a thread that waits for a line on stdin cannot be woken."""
        close()
        os._exit(0)

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    try:
        anyio.run(over_stdio, server)
    finally:
        close()


def take_over(lore: Lore, config: Config, surfaces: Iterable[Surface]) -> None:
    """Import the file of the memory server that Lore replaces into an empty store."""
    path, vocabulary = config.memory_file_path, next((one.adopts for one in surfaces if one.adopts), None)
    if path is None or not path.exists() or vocabulary is None:
        return
    try:
        if last_change(lore.store.reader(lore.namespace)) is None:
            imported = lore.for_namespace(lore.namespace, "mcp").import_graph(path, vocabulary=vocabulary)
            logger.warning("%s: imported %s", path, imported)
    except LoreError as trouble:
        logger.warning("%s was not imported: %s", path, trouble)


async def over_stdio(server: Server) -> None:
    """Serve on stdin and stdout, which belong to the protocol alone: libraries print to stderr."""
    incoming, outgoing = os.dup(sys.stdin.fileno()), os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with open(incoming, "rb", buffering=0) as stdin, open(outgoing, "wb", buffering=0) as stdout:
        stream = StapledByteStream(FileWriteStream(stdout), FileReadStream(stdin))
        await McpStream(stream).run(server, anyio.Event())


class Workers:
    """The threads that all clients of a process share. Reading calls do not wait for writing ones."""

    def __init__(self) -> None:
        self._reading = anyio.CapacityLimiter(READING)
        self._writing = anyio.CapacityLimiter(WRITING)

    async def call(
        self, tool: Tool, lore: Lore, arguments: dict[str, object], seconds: float, watched: bool
    ) -> tuple[CallToolResult, bool]:
        """The result of a tool, or an error after `seconds` (0: no limit); and whether it changed the store.

        watched: whether anybody has to know of changes.
        """
        turns = self._reading if tool.read_only else self._writing
        watched = watched and not tool.read_only
        try:
            return await within(seconds, turns, partial(_call, tool, lore, arguments, watched))
        except Late as late:
            text = (UNFINISHED if tool.read_only else UNKNOWN) if late.begun else NOT_BEGUN
            return _error(text.format(what=tool.name, seconds=seconds)), watched and late.begun


class Offer:
    """Surfaces offered to one client over MCP, in both protocol eras of the SDK."""

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
        self._subscriptions = Subscriptions(lore, resources, request_seconds) if resources else None
        self.server = self._server()

    @property
    def repeatable(self) -> list[str]:
        """The tools that may be called again when the answer was lost."""
        return [name for name, (_, tool) in self._tools.items() if tool.read_only or tool.idempotent]

    def __enter__(self) -> "Offer":
        if self._subscriptions:
            self._audience.join(self._subscriptions)
        return self

    def __exit__(self, *_: object) -> None:
        if self._subscriptions:
            self._audience.leave(self._subscriptions)

    def _server(self) -> Server:
        subscriptions = self._subscriptions
        return Server(
            "lore",
            version=VERSION,
            title="Lore",
            instructions=instructions_of(self._surfaces),
            on_list_tools=partial(_list_tools, self._surfaces),
            on_call_tool=self.call_tool,
            on_list_resources=subscriptions.list if subscriptions else None,
            on_list_resource_templates=subscriptions.list_templates if subscriptions else None,
            on_read_resource=subscriptions.read if subscriptions else None,
            on_subscribe_resource=subscriptions.subscribe if subscriptions else None,
            on_unsubscribe_resource=subscriptions.unsubscribe if subscriptions else None,
            on_subscriptions_listen=subscriptions.listen if subscriptions else None,
        )

    async def call_tool(self, context: ServerRequestContext, params: CallToolRequestParams) -> CallToolResult:
        """Answer one call of a client."""
        if params.name not in self._tools and any(surface.drop_in for surface in self._surfaces):
            return _error(unknown_tool(params.name))
        if params.name not in self._tools:
            message = f"unknown tool {preview(params.name, 80)!r}; known: {listed(self._tools)}"
            raise MCPError(INVALID_PARAMS, message)
        surface, tool = self._tools[params.name]
        lore = self._lore.for_namespace(self._lore.namespace, surface.name, _client(context))
        if session := _session(params):
            lore = replace(lore, conversation=session)
        async with self._turns:
            result, changed = await self._workers.call(
                tool, lore, params.arguments or {}, self._request_seconds, bool(self._audience)
            )
        if changed:
            await self._audience.notify()
        return result


class Unready:
    """Lists the tools of surfaces without a Lore; answers calls with the reason until one can be opened.

    An agent shows nothing of a server that ends at its start; this one lets the agent pass the reason on.
    """

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
            on_list_tools=partial(_list_tools, surfaces),
            on_call_tool=self._call_tool,
        )

    def close(self) -> None:
        if self._lore is not None:
            self._lore.close()

    async def _call_tool(
        self, context: ServerRequestContext, params: CallToolRequestParams
    ) -> CallToolResult:
        async with self._opening:
            if self._offer is None:
                try:
                    self._offer = await anyio.to_thread.run_sync(self._open)
                except LoreError as error:
                    return _error(REFUSAL.format(trouble=str(error).removesuffix(".")))
        return await self._offer.call_tool(context, params)

    def _open(self) -> Offer:
        config = self._settings()
        self._lore = _open(config, self._surfaces)
        return Offer(self._lore, self._surfaces, Workers(), Audience(), config.request_seconds)


async def _list_tools(
    surfaces: Sequence[Surface], context: ServerRequestContext, params: PaginatedRequestParams | None
) -> ListToolsResult:
    return ListToolsResult(tools=[offered(tool) for surface in surfaces for tool in surface.tools.values()])


def _call(tool: Tool, lore: Lore, arguments: dict[str, object], watched: bool) -> tuple[CallToolResult, bool]:
    """The tool's result, an error in the dialect's words if it refuses; and whether the store changed."""
    before = last_change(lore.store.reader(lore.namespace)) if watched else None
    try:
        reply = tool(lore, arguments)
    except LoreError as error:
        result = _error(str(error))
    else:
        result = CallToolResult(
            content=[TextContent(text=text) for text in reply.blocks()], structured_content=dict(reply.data)
        )
    return result, watched and last_change(lore.store.reader(lore.namespace)) != before


def _error(why: str) -> CallToolResult:
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


def _session(params: CallToolRequestParams) -> str:
    """The session in which a tool is called; empty if the client does not name it."""
    values = map((params.meta or {}).get, SESSION_KEYS)
    return next((str(value) for value in values if value), "")


def _client(context: ServerRequestContext) -> str:
    """The client's name for itself, for the journal."""
    params = context.session.client_params
    return params.client_info.name if params else ""
