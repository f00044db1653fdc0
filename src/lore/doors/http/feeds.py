"""feeds: the events that pages listen to, and how they wait for each listener: joined, so that a slow one
never holds more than one of each kind."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import anyio

from lore.errors import Unavailable

MOST_LISTENERS = 64
MOST_IDS = 500
"""Ids in one event; a listener that missed more reads everything again."""

Kind = Literal["change", "consolidation", "status"]
Place = tuple[str, str]
"""A tenant and a namespace."""


class Feed:
    """The events that one listener has not been sent."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._events: dict[Kind, dict[str, Any]] = {}
        self._arrived = anyio.Event()

    def add(self, kind: Kind, data: Mapping[str, Any]) -> None:
        """Keep an event; it takes the place of an older one of its kind, and changes are joined."""
        older = self._events.get(kind)
        new = dict(data)
        if kind == "change" and older is not None:
            new["ids"] = _joined(older["ids"], new["ids"])
        self._events[kind] = new
        self._arrived.set()

    async def take(self, seconds: float) -> dict[Kind, dict[str, Any]]:
        """The events since the last call, as soon as there is one, or after `seconds`."""
        with anyio.move_on_after(seconds):
            await self._arrived.wait()
        events, self._events, self._arrived = self._events, {}, anyio.Event()
        return events


class Feeds:
    """The listeners of one server. Used by one thread, that of the event loop."""

    def __init__(self) -> None:
        self._feeds: set[Feed] = set()
        self._consolidations: dict[Place, Mapping[str, Any]] = {}

    @contextmanager
    def listening(self, place: Place) -> Iterator[Feed]:
        """A feed for one listener; Unavailable if there are too many.

        It begins with the last event of a consolidation, which the listener may have missed.
        """
        if len(self._feeds) >= MOST_LISTENERS:
            raise Unavailable(f"{MOST_LISTENERS} pages listen to changes already; close some of them")
        feed = Feed(place)
        if event := self._consolidations.get(place):
            feed.add("consolidation", event)
        self._feeds.add(feed)
        try:
            yield feed
        finally:
            self._feeds.discard(feed)

    def publish(self, place: Place, kind: Kind, data: Mapping[str, Any]) -> None:
        """Send an event to all listeners of a namespace."""
        if kind == "consolidation":
            self._consolidations[place] = data
        for feed in self._feeds:
            if feed.place == place:
                feed.add(kind, data)


def _joined(older: list[str] | None, newer: list[str] | None) -> list[str] | None:
    """The ids of two changes; None, which stands for any, where they are too many."""
    if older is None or newer is None:
        return None
    ids = list(dict.fromkeys([*older, *newer]))
    return ids if len(ids) <= MOST_IDS else None
