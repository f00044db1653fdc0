"""subscriptions: serves resources and notifies subscribed clients of changes, in both protocol eras."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import anyio
from mcp import MCPError
from mcp.server import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp_types import (
    INVALID_PARAMS,
    EmptyResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    ResourceTemplate,
    SubscribeRequestParams,
    SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
    TextResourceContents,
    UnsubscribeRequestParams,
)
from mcp_types import Resource as OfferedResource

from lore.doors.principal import PrincipalOf
from lore.engine import Lore
from lore.surfaces.memory_document import SCHEME, TEMPLATE, document
from lore.surfaces.surface import Resource, Surface, unknown_resource
from lore.text import preview

JSON = "application/json"
MOST_SUBSCRIBERS = 1_000
"""Subscriptions of the old era that are kept; beyond that the oldest one ends."""
NOTIFY_SECONDS = 2.0
"""Longest time to hand a notification to a subscriber's connection; one that takes longer is given up."""


class Audience:
    """The subscriptions of all clients of one store: a change by one client notifies the others."""

    def __init__(self) -> None:
        self._present: set[Subscriptions] = set()

    def join(self, subscriptions: "Subscriptions") -> None:
        self._present.add(subscriptions)

    def leave(self, subscriptions: "Subscriptions") -> None:
        self._present.discard(subscriptions)

    def __bool__(self) -> bool:
        """Whether anybody wants to know of changes."""
        return any(subscriptions.wanted for subscriptions in self._present)

    async def notify(self, tenant: str) -> None:
        """Notify the subscribers of a tenant that its store has changed."""
        for subscriptions in list(self._present):
            await subscriptions.notify(tenant)


class _Subscriber(NamedTuple):
    session: ServerSession
    tenant: str


class _Channel(NamedTuple):
    """The listeners of one tenant."""

    bus: InMemorySubscriptionBus
    listen: ListenHandler


class Subscriptions:
    """The resources of one server and their subscribers.

    Old clients subscribe by connection, new ones listen on a stream of their own.
    """

    def __init__(self, surfaces: Sequence[Surface], principal_of: PrincipalOf) -> None:
        self._principal_of = principal_of
        self._resources = {uri: resource for one in surfaces for uri, resource in one.resources.items()}
        self._has_template = not all(surface.drop_in for surface in surfaces)
        self._channels: dict[str, _Channel] = {}
        self._listening = 0
        self._subscribers: dict[tuple[str, int], _Subscriber] = {}

    @property
    def wanted(self) -> bool:
        """Whether anybody wants to know of changes."""
        return bool(self._listening or self._subscribers)

    async def list(
        self, context: ServerRequestContext, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        return ListResourcesResult(resources=[_offered(resource) for resource in self._resources.values()])

    async def list_templates(
        self, context: ServerRequestContext, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=[_TEMPLATE] if self._has_template else [])

    async def read(
        self, context: ServerRequestContext, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        uri = str(params.uri)
        work, mime_type = self._reader(uri)
        text = await self._principal_of(context).read(preview(uri, 200), work)
        return ReadResourceResult(contents=[TextResourceContents(uri=uri, mime_type=mime_type, text=text)])

    def _reader(self, uri: str) -> tuple[Callable[[Lore], str], str]:
        """How to read a resource, and its type."""
        if self._has_template and uri.startswith(SCHEME):
            return partial(document, id=uri.removeprefix(SCHEME)), JSON
        resource = self._resource(uri)
        return resource.read, resource.mime_type

    async def subscribe(self, context: ServerRequestContext, params: SubscribeRequestParams) -> EmptyResult:
        subscriber = _Subscriber(context.session, self._principal_of(context).lore.tenant)
        self._subscribers[_key(self._resource(str(params.uri)).uri, context)] = subscriber
        while len(self._subscribers) > MOST_SUBSCRIBERS:
            del self._subscribers[next(iter(self._subscribers))]
        return EmptyResult()

    async def unsubscribe(
        self, context: ServerRequestContext, params: UnsubscribeRequestParams
    ) -> EmptyResult:
        self._subscribers.pop(_key(str(params.uri), context), None)
        return EmptyResult()

    async def listen(
        self, context: ServerRequestContext, params: SubscriptionsListenRequestParams
    ) -> SubscriptionsListenResult:
        tenant = self._principal_of(context).lore.tenant
        if tenant not in self._channels:
            bus = InMemorySubscriptionBus()
            self._channels[tenant] = _Channel(bus, ListenHandler(bus))
        self._listening += 1
        try:
            return await self._channels[tenant].listen(context, params)
        finally:
            self._listening -= 1

    def end_streams(self) -> None:
        """End the streams of all listeners."""
        for channel in self._channels.values():
            channel.listen.close()

    async def notify(self, tenant: str) -> None:
        """Send to a tenant's subscribers that all resources have changed; remove those that have gone."""
        for uri in self._resources:
            if tenant in self._channels:
                await self._channels[tenant].bus.publish(ResourceUpdated(uri))
            for key, subscriber in list(self._subscribers.items()):
                if (key[0], subscriber.tenant) == (uri, tenant) and not await _sent(subscriber.session, uri):
                    self._subscribers.pop(key, None)

    def _resource(self, uri: str) -> Resource:
        if uri not in self._resources:
            raise MCPError(INVALID_PARAMS, unknown_resource(preview(uri, 200)), {"uri": preview(uri, 200)})
        return self._resources[uri]


async def _sent(session: ServerSession, uri: str) -> bool:
    """Whether a connection took the notification."""
    with anyio.move_on_after(NOTIFY_SECONDS):
        try:
            await session.send_resource_updated(uri)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            return False
        return True
    return False


def _key(uri: str, context: ServerRequestContext) -> tuple[str, int]:
    """A session object lives for one request; the client's parameters live as long as the connection."""
    return uri, id(context.session.client_params)


_TEMPLATE = ResourceTemplate(
    uri_template=TEMPLATE,
    name="memory",
    title="Memory",
    description="One memory with its whole text, its place and its links.",
    mime_type=JSON,
)


def _offered(resource: Resource) -> OfferedResource:
    return OfferedResource(
        uri=resource.uri,
        name=resource.name,
        title=resource.title,
        description=resource.description,
        mime_type=resource.mime_type,
    )
