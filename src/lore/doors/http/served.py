"""served: what the routes of one server share: the engine, its worker threads, and the engine for one
caller."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import anyio
from starlette.requests import Request

from lore.config import Config
from lore.doors.figures import Figures
from lore.doors.http.callers import EVERY_NAMESPACE, Caller
from lore.doors.http.feeds import Feeds
from lore.doors.http.metrics import Metrics
from lore.doors.http.sessions import Sessions
from lore.doors.streams import Late
from lore.doors.subscriptions import Audience
from lore.doors.workers import Workers, late_text
from lore.engine import Lore
from lore.errors import LoreError
from lore.text import check_storable

PARAMETERS = {
    "namespace": "The namespace to act in; without it, the first of the token.",
    "project": "The project that new memories belong to and that searches prefer; without it, none.",
    "session": "The caller's own conversation, by its client's id; searches leave its turns out.",
}
"""Parameters in the address of a request that say where it acts."""

LONGEST_NAME_BYTES = 1_000

T = TypeVar("T")


class Overdue(LoreError):
    """A call did not end within the time of one request; the message says whether it may have been done."""


@dataclass(frozen=True, kw_only=True)
class Served:
    """The engine and the settings of a server.

    workers: the threads for work on the engine. audience: the clients to notify of changes. stopping: set
    when the server ends; an answer that goes on for ever ends then. used: called for every request.
    sessions: of browsers. feeds: of pages that listen to events. figures: of calls and searches. resources:
    context managers that parts of the server need; they are entered before the first request and left after
    the last one.
    """

    lore: Lore
    config: Config
    workers: Workers = field(default_factory=Workers)
    audience: Audience = field(default_factory=Audience)
    stopping: anyio.Event = field(default_factory=anyio.Event)
    used: Callable[[], None] = lambda: None
    sessions: Sessions = field(default_factory=Sessions)
    feeds: Feeds = field(default_factory=Feeds)
    figures: Figures = field(default_factory=Figures)
    resources: list[Callable[[], AbstractAsyncContextManager[object]]] = field(default_factory=list)

    @cached_property
    def metrics(self) -> Metrics:
        """Counters of what this server does."""
        return Metrics(self.lore)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Hold the resources of all parts."""
        async with AsyncExitStack() as stack:
            for resource in self.resources:
                await stack.enter_async_context(resource())
            yield

    def lore_of(self, request: Request, caller: Caller, surface: str) -> Lore:
        """The Lore of a caller, in the namespace, project and session that the request's address names."""
        wanted = request.query_params
        namespace = caller.namespace(wanted.get("namespace", ""))
        project, session = (_name(wanted.get(name, ""), name) for name in ("project", "session"))
        if namespace in caller.namespaces:  # others may be made up, and each would be swept for ever
            self.lore.background.sweep_also(namespace, self.config, caller.tenant)
        return replace(
            self.lore.for_namespace(namespace, surface),
            tenant=caller.tenant,
            teams=tuple(name for name in caller.namespaces if name not in (namespace, EVERY_NAMESPACE)),
            author=caller.name,
            project=project,
            conversation=session,
            searched=self.figures.searched,
            whole_store=caller.whole_store,
        )

    def tool_called(self, tool: str, seconds: float, failed: bool) -> None:
        """Count a call of a tool."""
        self.metrics.tool_called(tool)
        self.figures.called("tool", tool, seconds, failed=failed)

    async def run(self, what: str, work: Callable[[], T], *, reading: bool) -> T:
        """The result of `work` in a worker thread; Overdue after the time of one request.

        what: the name of the work for the error. reading: it changes nothing.
        """
        seconds = self.config.request_seconds
        try:
            return await self.workers.run(work, seconds, reading=reading)
        except Late as late:
            raise Overdue(late_text(late, what, seconds, reading=reading)) from late


def _name(text: str, what: str) -> str:
    """A name in the address of a request; Invalid if no store can hold it."""
    return check_storable(text, what, LONGEST_NAME_BYTES)
