"""Pages hear of changes as they happen: of every process, only in their own sight, joined while they wait."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from lore.config import load
from lore.connecting import wire
from lore.doors.http.feeds import MOST_IDS, MOST_LISTENERS, Feed, Feeds
from lore.doors.http.tokens import Grant, create
from lore.errors import Unavailable
from lore.model import Draft, Tie
from tests.doors.http.guarded import bearer
from tests.doors.http.serving import Server, serving
from tests.doors.resident import SECONDS


@contextmanager
def listening(server: Server, headers: dict[str, str] | None = None) -> Iterator[Iterator[tuple[str, Any]]]:
    """The events of a page, each with its name and data, once the server listens for it."""
    with server.client.stream("GET", "/api/v1/events", headers=headers or {}, timeout=SECONDS) as answer:
        assert answer.headers["content-type"].startswith("text/event-stream")

        def events() -> Iterator[tuple[str, Any]]:
            name = ""
            for line in answer.iter_lines():
                kind, _, value = line.partition(": ")
                name = value if kind == "event" else name
                if kind == "data":
                    yield name, json.loads(value)

        found = events()
        assert next(found)[0] == "status"
        yield found


def changes(events: Iterator[tuple[str, Any]], wanted: set[str]) -> set[str]:
    """The ids of the changes until all these were named."""
    named: set[str] = set()
    while not wanted <= named:
        name, data = next(events)
        named |= set(data["ids"]) if name == "change" else set()
    return named


def test_changes_of_this_and_other_processes_reach_a_page(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        first = server.call("remember", {"draft": "Before the page was opened."}).json()["id"]
        with listening(server) as events:
            here = server.call("remember", {"draft": "Through the same server."}).json()["id"]
            assert first not in changes(events, {here})
            other = wire(load({}, data_dir=tmp_path, embedding_model="hash"))
            there = [other.remember(Draft(content=f"By another process {one}.")).id for one in range(3)]
            assert changes(events, set(there)) == set(there)
            other.link([Tie(source=here, target=there[0], weight=0.5)])
            assert changes(events, {here, there[0]}) == {here, there[0]}
            other.close()


def test_a_page_hears_nothing_of_what_it_may_not_see(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        store = server.served.lore.store
        tokens = {
            name: bearer(create(store, Grant(name=name, namespaces=(name,), tenant=tenant), 1.0)[0])
            for name, tenant in (("web", ""), ("finance", ""), ("elsewhere", "other"))
        }

        def remember(who: str) -> str:
            answer = server.client.post("/api/v1/remember", json={"draft": f"Of {who}."}, headers=tokens[who])
            return str(answer.json()["id"])

        remember("web")
        with listening(server, tokens["web"]) as events:
            foreign = {remember("finance"), remember("elsewhere")}
            own = remember("web")
            assert not foreign & changes(events, {own})


def test_the_stream_ends_when_the_server_stops_and_needs_a_session_in_a_browser(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        url, page = f"http://127.0.0.1:{server.port}/api/v1/events", {"Sec-Fetch-Site": "same-origin"}
        with httpx2.stream("GET", url, headers=page, timeout=SECONDS) as refused:
            assert refused.status_code == 401
        assert server.client.head("/api/v1/events").status_code == 200
        with listening(server) as events:
            server.served.stopping.set()
            assert [event for event in events if event[0] == "change"] == []


@pytest.mark.anyio
async def test_events_that_wait_are_joined_and_listeners_are_limited() -> None:
    feeds = Feeds()
    with feeds.listening(("", "web")) as feed:
        feeds.publish(("", "web"), "change", {"ids": ["a", "b"], "at": 1.0})
        feeds.publish(("", "web"), "change", {"ids": ["b", "c"], "at": 2.0})
        feeds.publish(("", "web"), "consolidation", {"state": "running", "done": 1})
        feeds.publish(("", "web"), "consolidation", {"state": "running", "done": 2})
        feeds.publish(("other", "web"), "status", {})
        assert await feed.take(0) == {
            "change": {"ids": ["a", "b", "c"], "at": 2.0},
            "consolidation": {"state": "running", "done": 2},
        }
        assert await feed.take(0) == {}
        feed.add("change", {"ids": [str(one) for one in range(MOST_IDS)], "at": 1.0})
        feed.add("change", {"ids": ["one more"], "at": 2.0})
        assert await feed.take(0) == {"change": {"ids": None, "at": 2.0}}
        places = [feeds.listening(("", "web")) for _ in range(MOST_LISTENERS)]
        feeds_open = [place.__enter__() for place in places[:-1]]
        with pytest.raises(Unavailable, match="close some"):
            places[-1].__enter__()
        assert all(isinstance(one, Feed) for one in feeds_open)
        for place in places[:-1]:
            place.__exit__(None, None, None)
    assert not feeds._feeds


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
