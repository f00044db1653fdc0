"""mcp: the Model Context Protocol over HTTP: streamable HTTP in both protocol eras at /mcp, SSE at /sse.

Every request acts for the caller that its own token names; the id of a session is no proof of identity.
"""

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from weakref import WeakValueDictionary

import anyio
from anyio.abc import TaskStatus
from mcp.server import Server, ServerRequestContext
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser, AuthorizationContext
from mcp.server.auth.provider import AccessToken
from mcp.server.sse import SseServerTransport
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send
from typing_extensions import override

from lore.doors.http.callers import Caller
from lore.doors.http.routes import Route
from lore.doors.http.served import Served
from lore.doors.offer import Offer, to_one_client
from lore.doors.principal import Principal, fair_share
from lore.doors.streams import cancel_when
from lore.errors import Unavailable
from lore.surfaces import SURFACES, surfaces_named
from lore.surfaces.surface import Surface, Tool

PATH = "/mcp"
SSE_PATH, MESSAGES_PATH = "/sse", "/messages/"
IDLE_SECONDS = 30 * 60.0
"""A session of the older era without a request or an open stream for this long ends."""
MOST_SESSIONS = 2_000
"""Sessions of the older era for one choice of surfaces, and connections over SSE. One caller has at most as
many of them as are free, so that nobody can take the last one."""

READ_ONLY = "You may only read: tools that change memories are not offered to you."
NEEDS_WRITE = "{name} needs the right 'write', which this token does not have; nothing was changed"
ONLY_LOCAL = "{name} reads files of the machine where Lore runs, and is not offered over HTTP"

App = Callable[[Scope, Receive, Send], Awaitable[None]]


def routes(served: Served) -> list[Route]:
    """The routes of the Model Context Protocol."""
    door = McpDoor(served)
    served.resources.append(door.running)
    methods = ("POST", "GET", "DELETE")
    return [
        *(Route(method, PATH, "read", door.streamable, ("surfaces",)) for method in methods),
        Route("GET", SSE_PATH, "read", door.sse, ("surfaces",)),
        Route("POST", MESSAGES_PATH, "read", door.message, ("session_id",)),
    ]


class McpDoor:
    """Offers surfaces to the callers of a server: one offer for each choice of surfaces and rights."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._managers: dict[tuple[object, ...], StreamableHTTPSessionManager] = {}
        self._starting = anyio.Lock()
        self._sse = SseServerTransport(MESSAGES_PATH, max_request_body_size=served.config.body_bytes)
        self._sse_connections: Counter[str] = Counter()
        self._turns: WeakValueDictionary[tuple[str, str], anyio.CapacityLimiter] = WeakValueDictionary()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve sessions until the server has ended."""
        async with anyio.create_task_group() as self._tasks:
            yield
            self._tasks.cancel_scope.cancel()

    async def streamable(self, request: Request, caller: Caller) -> Response:
        """One request of streamable HTTP, of either era."""
        surfaces = self._surfaces(request, caller)
        self._bind(request, caller)
        key = (_writes(caller), *(surface.name for surface in surfaces))
        async with self._starting:
            if key not in self._managers:
                self._managers[key] = await self._tasks.start(self._manage, surfaces)
        endless = request.method == "GET"
        return await self._handed(self._managers[key].handle_request, request, endless)

    async def sse(self, request: Request, caller: Caller) -> Response:
        """The stream of an older client, which sends its messages to MESSAGES_PATH."""
        if request.method != "GET":
            return Response(status_code=405, headers={"Allow": "GET"})
        who, connections = repr((caller.tenant, caller.id)), self._sse_connections
        if not _is_place_left(connections[who], connections.total()):
            raise Unavailable("too many clients are connected over SSE; try again later")
        surfaces, principal = self._surfaces(request, caller), self._bind(request, caller)

        async def connect(scope: Scope, receive: Receive, send: Send) -> None:
            connections[who] += 1
            try:
                with Offer(surfaces, to_one_client(principal), self._served.audience) as offer:
                    async with self._sse.connect_sse(scope, receive, send) as streams:
                        await self._converse(offer.server, *streams)
            finally:
                connections[who] -= 1
                if not connections[who]:
                    del connections[who]

        return await self._handed(connect, request)

    async def _converse(self, server: Server, incoming: Any, outgoing: Any) -> None:
        """Serve one connection until the client goes or the server stops; then its stream ends."""
        async with incoming, outgoing, anyio.create_task_group() as until:
            until.start_soon(cancel_when, self._served.stopping, until.cancel_scope)
            await server.run(incoming, outgoing, server.create_initialization_options())
            until.cancel_scope.cancel()

    async def message(self, request: Request, caller: Caller) -> Response:
        """A message of a client whose stream is at SSE_PATH; refused if another caller opened that."""
        self._bind(request, caller)
        return await self._handed(self._sse.handle_post_message, request)

    async def _manage(
        self,
        surfaces: Sequence[Surface],
        *,
        task_status: TaskStatus[StreamableHTTPSessionManager] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Serve all sessions with these surfaces; streams of listeners end when the server stops."""
        with Offer(surfaces, _principal_of, self._served.audience) as offer:
            manager = _Sessions(
                offer.server,
                session_idle_timeout=IDLE_SECONDS,
                max_request_body_size=self._served.config.body_bytes,
                max_sessions=MOST_SESSIONS,
            )
            async with manager.run():
                task_status.started(manager)
                await self._served.stopping.wait()
                offer.end_streams()
                await anyio.sleep_forever()

    def _surfaces(self, request: Request, caller: Caller) -> list[Surface]:
        """The surfaces that the address names, in the order of the table, with the tools for this caller."""
        chosen = surfaces_named(request.query_params.get("surfaces", self._served.config.surfaces))
        names = {surface.name for surface in chosen}
        return [_allowed(surface, caller) for name, surface in SURFACES.items() if name in names]

    def _bind(self, request: Request, caller: Caller) -> Principal:
        """The principal of a request, kept in its scope; the SDK compares the user with a session's owner."""
        who = (caller.tenant, caller.id)
        turns = self._turns.setdefault(who, fair_share())
        principal = Principal(
            lore=self._served.lore_of(request, caller, ""),
            workers=self._served.workers,
            request_seconds=self._served.config.request_seconds,
            turns=turns,
            called=self._served.tool_called,
        )
        owner = AccessToken(token="", client_id=caller.id, subject=_authority(caller), scopes=[])
        request.scope["user"] = AuthenticatedUser(owner)
        request.state.principal = principal
        return principal

    async def _handed(self, app: App, request: Request, endless: bool = False) -> Response:
        """The response that an application of the SDK gives. endless: it is cut when the server stops."""
        body = await request.body()
        return _Handed(app, body, self._served.stopping if endless else None)


class _Sessions(StreamableHTTPSessionManager):
    """The sessions of many callers, none of whom takes the places of all."""

    @override
    def _admit_session(self, requestor: AuthorizationContext | None) -> StreamableHTTPServerTransport | None:
        own = sum(owner == requestor for owner in self._session_owners.values())
        if not _is_place_left(own, len(self._session_owners)):
            return None
        return super()._admit_session(requestor)


def _is_place_left(own: int, all: int) -> bool:
    """Whether a caller with this many sessions, or connections, may open another one."""
    return own < MOST_SESSIONS - all


class _Handed(Response):
    """Hands the request, whose body was received, to an application. stopping: the event that ends it."""

    def __init__(self, app: App, body: bytes, stopping: anyio.Event | None) -> None:
        super().__init__()
        self._app = app
        self._received: Message | None = {"type": "http.request", "body": body, "more_body": False}
        self._stopping = stopping

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began = False

        async def replay() -> Message:
            message, self._received = self._received, None
            return message or await receive()

        async def note(message: Message) -> None:
            nonlocal began
            began = message["type"] == "http.response.start" or bool(message.get("more_body"))
            await send(message)

        async with anyio.create_task_group() as until:
            if self._stopping is not None:
                until.start_soon(cancel_when, self._stopping, until.cancel_scope)
            await self._app(scope, replay, note)
            until.cancel_scope.cancel()
        if began:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _principal_of(context: ServerRequestContext) -> Principal:
    """Who makes a request: the caller of the HTTP request that carries it."""
    assert isinstance(context.request, Request)
    principal: Principal = context.request.state.principal
    return principal


def _authority(caller: Caller) -> str:
    """What a caller may do, as a text: a user of an issuer may have tokens of different worth."""
    return repr((caller.tenant, caller.namespaces, sorted(caller.rights)))


def _writes(caller: Caller) -> bool:
    return bool(caller.rights & {"write", "admin"})


def _allowed(surface: Surface, caller: Caller) -> Surface:
    """The surface with the tools that a caller may use over HTTP."""
    writes = _writes(caller)
    withheld = {tool.name: why for tool in surface.tools.values() if (why := _reason(tool, writes))}
    allowed = surface.without(withheld)
    return allowed if writes else replace(allowed, instructions=f"{surface.instructions} {READ_ONLY}")


def _reason(tool: Tool, writes: bool) -> str:
    """Why a tool is not offered; empty if it is."""
    if tool.local:
        return ONLY_LOCAL.format(name=tool.name)
    return "" if writes or tool.right == "read" else NEEDS_WRITE.format(name=tool.name)
