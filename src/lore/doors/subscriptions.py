"""subscriptions: serves resources and notifies subscribed clients of changes, in both protocol eras."""

from collections.abc import Mapping
from functools import partial

import anyio
from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    EmptyResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    SubscribeRequestParams,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from mcp_types import Resource as OfferedResource

from lore.doors.deadline import Late, within
from lore.engine import Lore
from lore.errors import LoreError
from lore.surfaces.base import Resource
from lore.surfaces.zod import unknown_resource
from lore.text import preview

READING = 2
"""Resources that are read at a time for one client."""


class Audience:
    """The watchers of all servers on one store: what one client changes, the others are told."""

    def __init__(self) -> None:
        self._present: set[Subscriptions] = set()

    def join(self, watching: "Subscriptions") -> None:
        self._present.add(watching)

    def leave(self, watching: "Subscriptions") -> None:
        self._present.discard(watching)

    def __bool__(self) -> bool:
        return bool(self._present)

    async def tell(self) -> None:
        """Something has changed."""
        for watching in list(self._present):
            await watching.tell()


class Subscriptions:
    """The resources of one server and who watches them.

    Old clients subscribe by connection, new ones listen on a stream of their own.
    """

    def __init__(self, lore: Lore, resources: Mapping[str, Resource], request_seconds: float) -> None:
        """request_seconds: limit of one reading; 0: none."""
        self._lore = lore
        self._request_seconds = request_seconds
        self._turns = anyio.CapacityLimiter(READING)
        self._resources = resources
        self._bus = InMemorySubscriptionBus()
        self._sessions: dict[tuple[str, int], ServerSession] = {}
        self.listen = ListenHandler(self._bus)

    async def list(
        self, context: ServerRequestContext, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        return ListResourcesResult(resources=[_offered(resource) for resource in self._resources.values()])

    async def list_templates(
        self, context: ServerRequestContext, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        """None: clients that ask for resources ask for these as well."""
        return ListResourceTemplatesResult(resource_templates=[])

    async def read(
        self, context: ServerRequestContext, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        resource = self._known(str(params.uri))
        try:
            text = await within(self._request_seconds, self._turns, partial(resource.read, self._lore))
        except LoreError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from error
        except Late as late:
            why = (
                f"{resource.uri} could not be read within {self._request_seconds:g} seconds; try again later"
            )
            raise MCPError(INTERNAL_ERROR, why) from late
        content = TextResourceContents(uri=resource.uri, mime_type=resource.mime_type, text=text)
        return ReadResourceResult(contents=[content])

    async def subscribe(self, context: ServerRequestContext, params: SubscribeRequestParams) -> EmptyResult:
        self._sessions[_watcher(self._known(str(params.uri)).uri, context)] = context.session
        return EmptyResult()

    async def unsubscribe(
        self, context: ServerRequestContext, params: UnsubscribeRequestParams
    ) -> EmptyResult:
        self._sessions.pop(_watcher(str(params.uri), context), None)
        return EmptyResult()

    async def tell(self) -> None:
        """All have changed; a connection that is gone is forgotten."""
        for uri in self._resources:
            await self._bus.publish(ResourceUpdated(uri))
            for watcher, session in list(self._sessions.items()):
                if watcher[0] == uri:
                    try:
                        await session.send_resource_updated(uri)
                    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                        self._sessions.pop(watcher, None)

    def _known(self, uri: str) -> Resource:
        if uri not in self._resources:
            raise MCPError(INVALID_PARAMS, unknown_resource(preview(uri, 200)))
        return self._resources[uri]


def _watcher(uri: str, context: ServerRequestContext) -> tuple[str, int]:
    """A session lives for one request; what the client told at the start lives as long as the connection."""
    return uri, id(context.session.client_params)


def _offered(resource: Resource) -> OfferedResource:
    return OfferedResource(
        uri=resource.uri,
        name=resource.name,
        title=resource.title,
        description=resource.description,
        mime_type=resource.mime_type,
    )
