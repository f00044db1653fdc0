"""events: changes of memories, consolidation and the state of the store, sent to a page as they happen.

The journal of the store is read once a second for each listener: so changes of every process appear, and a
page sees only those in its own sight.
"""

import json
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from lore.doors.http.callers import Caller
from lore.doors.http.feeds import MOST_IDS, Feed
from lore.doors.http.openapi import PREFIX
from lore.doors.http.routes import Route
from lore.doors.http.served import Served
from lore.doors.http.sessions import EVENT_STREAM
from lore.engine import Lore
from lore.engine.read import last_change
from lore.model import Entry
from lore.store.values import JournalFilter, Page
from lore.supervision import failure_of

POLL_SECONDS = 1.0
HEARTBEAT_SECONDS = 15.0
STATUS_SECONDS = 5.0
"""Seconds between two looks at the state of the store."""
LONGEST_SECONDS = 3600.0
"""A stream ends after this time; the page opens the next one, and its session is checked again."""
ALIVE = b": alive\n\n"


def routes(served: Served) -> list[Route]:
    """The routes of this module."""
    looks = anyio.CapacityLimiter(1)
    return [Route("GET", f"{PREFIX}/events", "read", partial(_events, served, looks))]


async def _events(served: Served, looks: anyio.CapacityLimiter, request: Request, caller: Caller) -> Response:
    lore = served.lore_of(request, caller, "explorer")
    headers = {"X-Accel-Buffering": "no"}
    if request.method == "HEAD":
        return Response(media_type=EVENT_STREAM, headers=headers)
    listener = Listener(served, lore, looks)
    await listener.look()
    return StreamingResponse(listener.stream(), media_type=EVENT_STREAM, headers=headers)


class Listener:
    """One page that listens. looks: the turns in which listeners read the store."""

    def __init__(self, served: Served, lore: Lore, looks: anyio.CapacityLimiter) -> None:
        self._served = served
        self._lore = lore
        self._looks = looks
        self._last: Entry | None = None
        self._status: dict[str, Any] = {}

    async def stream(self) -> AsyncIterator[bytes]:
        """The bytes of all events, until the server stops."""
        with self._served.feeds.listening((self._lore.tenant, self._lore.namespace)) as feed:
            yield b"retry: 1000\n\n"
            began = sent = looked = anyio.current_time()
            while not self._served.stopping.is_set() and anyio.current_time() - began < LONGEST_SECONDS:
                for kind, data in (await feed.take(POLL_SECONDS)).items():
                    yield _event(kind, data)
                    sent = anyio.current_time()
                now = anyio.current_time()
                if not self._status or now - looked >= STATUS_SECONDS:
                    await self._look_at_status(feed)
                    looked = now
                await self.look(feed)
                if now - sent >= HEARTBEAT_SECONDS:
                    yield ALIVE
                    sent = now

    async def look(self, feed: Feed | None = None) -> None:
        """Read the journal on from the last look, and feed what was changed."""
        found: list[dict[str, Any]] = []
        await anyio.to_thread.run_sync(
            failure_of, lambda: found.extend(self._changes()), limiter=self._looks
        )  # a store that is busy is read at the next look
        if feed is not None and found:
            feed.add("change", found[0])

    def _changes(self) -> list[dict[str, Any]]:
        """One change with the ids of all memories in new entries; none if nothing is new."""
        reader = self._lore.store.reader(self._lore.namespace, self._lore.tenant, self._lore.teams)
        newest, last = last_change(reader), self._last
        if newest is None or _key(newest) == _key(last):
            return []
        self._last = newest
        if last is None:
            return [{"ids": None, "at": newest.at}]
        entries = list(reader.journal(JournalFilter(), Page(limit=MOST_IDS)))
        new = [_key(one) for one in entries]
        if _key(last) not in new:
            return [{"ids": None, "at": newest.at}]
        entries = entries[: new.index(_key(last))]
        links = reader.links(ids=[one.id for one in entries if one.noun == "link"], ended=True)
        ids = [one.id for one in entries if one.noun == "memory"]
        ends = [end for link in links for end in (link.source, link.target)]
        return [{"ids": list(dict.fromkeys([*ids, *ends])), "at": newest.at}]

    async def _look_at_status(self, feed: Feed) -> None:
        status: dict[str, Any] = {}
        await anyio.to_thread.run_sync(failure_of, lambda: status.update(self._state()), limiter=self._looks)
        if status and status != self._status:
            self._status = status
            feed.add("status", status)

    def _state(self) -> dict[str, Any]:
        lore = self._lore
        pending = lore.pending() if lore.whole_store else lore.status().pending
        return {"pending": pending, "embedding_state": lore.embeddings.state}


def _key(entry: Entry | None) -> tuple[int, str, str] | None:
    return None if entry is None else (entry.seq, entry.batch, entry.id)


def _event(kind: str, data: dict[str, Any]) -> bytes:
    return f"event: {kind}\ndata: {json.dumps(data)}\n\n".encode()
