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

from lore.doors.streams import Late, within
from lore.engine import Lore
from lore.errors import LoreError
from lore.surfaces.surface import Resource, unknown_resource
from lore.text import preview

READING = 2
"""Resources of one client that are read at a time."""


class Audience:
    """The subscriptions of all clients of one store: a change by one client notifies the others."""

    def __init__(self) -> None:
        self._present: set[Subscriptions] = set()

    def join(self, subscriptions: "Subscriptions") -> None:
        self._present.add(subscriptions)

    def leave(self, subscriptions: "Subscriptions") -> None:
        self._present.discard(subscriptions)

    def __bool__(self) -> bool:
        return bool(self._present)

    async def notify(self) -> None:
        """Notify all subscribers that the store has changed."""
        for subscriptions in list(self._present):
            await subscriptions.notify()


class Subscriptions:
    """The resources of one server and their subscribers.

    Old clients subscribe by connection, new ones listen on a stream of their own.
    """

    def __init__(self, lore: Lore, resources: Mapping[str, Resource], request_seconds: float) -> None:
        """request_seconds: longest time to read a resource; 0: no limit."""
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
        """Empty: clients that list resources list templates as well."""
        return ListResourceTemplatesResult(resource_templates=[])

    async def read(
        self, context: ServerRequestContext, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        resource = self._resource(str(params.uri))
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
        self._sessions[_subscriber(self._resource(str(params.uri)).uri, context)] = context.session
        return EmptyResult()

    async def unsubscribe(
        self, context: ServerRequestContext, params: UnsubscribeRequestParams
    ) -> EmptyResult:
        self._sessions.pop(_subscriber(str(params.uri), context), None)
        return EmptyResult()

    async def notify(self) -> None:
        """Send that all resources have changed; connections that have gone are removed."""
        for uri in self._resources:
            await self._bus.publish(ResourceUpdated(uri))
            for subscriber, session in list(self._sessions.items()):
                if subscriber[0] == uri:
                    try:
                        await session.send_resource_updated(uri)
                    except (anyio.ClosedResourceError, anyio.BrokenResourceError):
                        self._sessions.pop(subscriber, None)

    def _resource(self, uri: str) -> Resource:
        if uri not in self._resources:
            raise MCPError(INVALID_PARAMS, unknown_resource(preview(uri, 200)))
        return self._resources[uri]


def _subscriber(uri: str, context: ServerRequestContext) -> tuple[str, int]:
    """A session object lives for one request; the client's parameters live as long as the connection."""
    return uri, id(context.session.client_params)


def _offered(resource: Resource) -> OfferedResource:
    return OfferedResource(
        uri=resource.uri,
        name=resource.name,
        title=resource.title,
        description=resource.description,
        mime_type=resource.mime_type,
    )
