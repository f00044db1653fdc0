"""MCP over HTTP: a real server on a loopback port, with the official client in both eras and over SSE."""

import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
import uvicorn
from mcp import Client, MCPError
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import PromptReference, ResourceTemplateReference, TextContent
from starlette.requests import Request

from lore import Lore
from lore.config import Config
from lore.connecting import wire
from lore.doors.http import mcp
from lore.doors.http.app import application
from lore.doors.http.callers import Caller, Unauthenticated
from lore.doors.http.served import Served
from lore.doors.http.server import HttpServer
from lore.verbs import Right
from tests.doors.in_process import answer
from tests.doors.resident import SECONDS

LEGACY, MODERN = ERAS = ["legacy", "2026-07-28"]
BOTH: frozenset[Right] = frozenset({"read", "write"})
CALLERS = {
    caller.id: caller
    for caller in (
        Caller(name="alice", id="alice", namespaces=("web",), rights=BOTH),
        Caller(name="alice", id="namesake", namespaces=("web",), rights=BOTH),
        Caller(name="bob", id="bob", namespaces=("ops",), rights=BOTH),
        Caller(name="reader", id="reader", namespaces=("web",), rights=frozenset({"read"})),
        Caller(name="stranger", id="stranger", tenant="elsewhere", namespaces=("web",), rights=BOTH),
    )
}
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
LIST = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
ACCEPT = {"Accept": "application/json, text/event-stream"}

in_both_eras = pytest.mark.parametrize("era", ERAS)


async def identify(request: Request) -> Caller:
    """The caller whose id is the token."""
    name = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if name not in CALLERS:
        raise Unauthenticated("unknown token")
    return CALLERS[name]


class Running:
    """A server, and connections to it."""

    def __init__(self, served: Served, address: str) -> None:
        self.served = served
        self.lore: Lore = served.lore
        self.address = address

    def http(self, name: str) -> httpx2.AsyncClient:
        headers = {"Authorization": f"Bearer {name}", **ACCEPT}
        return httpx2.AsyncClient(base_url=self.address, headers=headers, timeout=SECONDS)

    @asynccontextmanager
    async def client(self, name: str, era: str, query: str = "") -> AsyncIterator[Client]:
        async with AsyncExitStack() as stack:
            if era == "sse":
                headers = {"Authorization": f"Bearer {name}"}
                transport: Any = sse_client(f"{self.address}/sse{query}", headers=headers)
            else:
                http = await stack.enter_async_context(self.http(name))
                transport = streamable_http_client(f"{self.address}/mcp{query}", http_client=http)
            mode = LEGACY if era == "sse" else era
            yield await stack.enter_async_context(Client(transport, mode=mode))


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Running]:
    config = Config(data_dir=folder, embedding_model="hash", surfaces="tree")
    lore = wire(config, patient=False)
    try:
        served = Served(lore=lore, config=config)
        listener = socket.create_server(("127.0.0.1", 0))
        app = application(served, mcp.routes(served), identify)
        server = HttpServer(uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=5))
        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(server.serve, [listener])
                yield Running(served, f"http://127.0.0.1:{listener.getsockname()[1]}")
                served.stopping.set()
                server.should_exit = True
    finally:
        lore.close()


def run(story: Callable[[Running], Awaitable[None]], folder: Path) -> None:
    async def told() -> None:
        async with running(folder) as server:
            await story(server)

    anyio.run(told)


@pytest.mark.parametrize("era", [*ERAS, "sse"])
def test_a_memory_of_one_surface_is_found_through_another(tmp_path: Path, era: str) -> None:
    async def story(server: Running) -> None:
        async with server.client("alice", era) as client:
            stored = await answer(client, "store", content="The harbour opens at six.")
        async with server.client("alice", era, "?surfaces=graph") as client:
            found = await answer(client, "search_nodes", query="harbour")
            assert [entity["name"] for entity in found["entities"]] == ["The harbour opens at six."]
        async with server.client("bob", era) as client:
            assert (await answer(client, "search", query="harbour"))["results"] == []
        async with server.client("stranger", era) as client:
            assert (await answer(client, "search", query="harbour"))["results"] == []
        [entry, *_] = server.lore.for_namespace("web").history(stored["id"])
        assert (entry.cause.actor, entry.cause.surface) == ("alice via mcp", "tree")

    run(story, tmp_path)


@in_both_eras
def test_a_token_without_the_right_to_write_can_only_read(tmp_path: Path, era: str) -> None:
    async def story(server: Running) -> None:
        async with server.client("alice", era) as client:
            stored = await answer(client, "store", content="The harbour opens at six.")
        async with server.client("reader", era) as client:
            names = {tool.name for tool in (await client.list_tools()).tools}
            assert names == {"search", "read", "list_roots"}
            assert (await answer(client, "read", id=stored["id"]))["content"] == "The harbour opens at six."
            refused = await client.call_tool("store", {"content": "The harbour is closed."})
            assert refused.is_error
            [text] = refused.content
            assert isinstance(text, TextContent)
            assert "needs the right 'write'" in text.text
            assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["recall", "brief"]
        assert server.lore.for_namespace("web").status().counts.memories == 1

    run(story, tmp_path)


def test_a_tool_that_reads_files_of_the_server_is_not_offered(tmp_path: Path) -> None:
    async def story(server: Running) -> None:
        async with server.client("alice", MODERN, "?surfaces=graph") as client:
            assert "migrate" not in {tool.name for tool in (await client.list_tools()).tools}
            refused = await client.call_tool("migrate", {"source_path": "/etc/passwd"})
            assert refused.is_error

    run(story, tmp_path)


def test_a_session_serves_only_the_caller_who_opened_it(tmp_path: Path) -> None:
    async def story(server: Running) -> None:
        async with server.http("alice") as alice, server.http("bob") as bob, server.http("nobody") as nobody:
            opened = await alice.post("/mcp", json=INITIALIZE)
            session = {"Mcp-Session-Id": opened.headers["Mcp-Session-Id"]}
            async with server.http("namesake") as namesake:
                assert (await namesake.post("/mcp", json=LIST, headers=session)).status_code == 404
            assert (await bob.post("/mcp", json=LIST, headers=session)).status_code == 404
            assert (await nobody.post("/mcp", json=LIST, headers=session)).status_code == 401
            assert (await alice.post("/mcp?namespace=ops", json=LIST, headers=session)).status_code == 403
            assert (await bob.delete("/mcp", headers=session)).status_code == 404
            assert (await alice.post("/mcp", json=LIST, headers=session)).status_code == 200
            assert (await alice.delete("/mcp", headers=session)).status_code == 200
            assert (await alice.post("/mcp", json=LIST, headers=session)).status_code == 404

    run(story, tmp_path)


def test_the_number_of_sessions_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp, "MOST_SESSIONS", 1)

    async def story(server: Running) -> None:
        async with server.http("alice") as alice:
            first = await alice.post("/mcp", json=INITIALIZE)
            assert (await alice.post("/mcp", json=INITIALIZE)).status_code == 503
            session = {"Mcp-Session-Id": first.headers["Mcp-Session-Id"]}
            assert (await alice.delete("/mcp", headers=session)).status_code == 200
            assert (await alice.post("/mcp", json=INITIALIZE)).status_code == 200

    run(story, tmp_path)


def test_a_caller_with_many_sessions_leaves_room_for_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mcp, "MOST_SESSIONS", 4)

    async def story(server: Running) -> None:
        async with AsyncExitStack() as stack:
            alice, bob = [await stack.enter_async_context(server.http(name)) for name in ("alice", "bob")]
            codes = [(await alice.post("/mcp", json=INITIALIZE)).status_code for _ in range(3)]
            assert codes == [200, 200, 503]
            assert (await bob.post("/mcp", json=INITIALIZE)).status_code == 200
            streams = [await stack.enter_async_context(alice.stream("GET", "/sse")) for _ in range(3)]
            assert [stream.status_code for stream in streams] == codes
            assert (await stack.enter_async_context(bob.stream("GET", "/sse"))).status_code == 200

    run(story, tmp_path)


def test_messages_to_the_stream_of_another_caller_are_refused(tmp_path: Path) -> None:
    async def story(server: Running) -> None:
        async with (
            server.http("alice") as alice,
            server.http("bob") as bob,
            alice.stream("GET", "/sse") as stream,
        ):
            lines = aiter(stream.aiter_lines())
            address = await _data(lines)
            assert (await bob.post(address, json=INITIALIZE)).status_code == 404
            assert (await alice.post(address, json=INITIALIZE)).status_code == 202
            assert '"serverInfo"' in await _data(lines)

    run(story, tmp_path)


async def _data(lines: AsyncIterator[str]) -> str:
    """The data of the next event."""
    while not (line := await anext(lines)).startswith("data: "):
        pass
    return line.removeprefix("data: ")


@in_both_eras
def test_prompts_are_filled_and_completed_within_the_sight_of_the_caller(tmp_path: Path, era: str) -> None:
    async def story(server: Running) -> None:
        async with server.client("alice", era) as client:
            stored = await answer(client, "store", content="The harbour opens at six.")
            recall, topic = PromptReference(name="recall"), {"name": "topic", "value": "HARB"}
            assert (await client.complete(recall, topic)).completion.values == ["The harbour opens at six."]
            template = ResourceTemplateReference(uri="lore://memory/{id}")
            part = {"name": "id", "value": stored["id"][:13]}
            assert (await client.complete(template, part)).completion.values == [stored["id"]]
            assert "harbour opens at six" in await _text(client, "brief")
            text = await _text(client, "recall", topic="tides", depth="2")
            assert "for: tides" in text
            assert "2 steps" in text
            with pytest.raises(MCPError, match="'topic' is missing"):
                await client.get_prompt("recall")
            with pytest.raises(MCPError, match="number from 1 to 9"):
                await client.get_prompt("recall", {"topic": "tides", "depth": "many"})
        async with server.client("bob", era) as client:
            assert (await client.complete(recall, topic)).completion.values == []
            assert (await client.complete(template, part)).completion.values == []
            with pytest.raises(MCPError, match=r"."):
                await client.read_resource(f"lore://memory/{stored['id']}")

    run(story, tmp_path)


async def _text(client: Client, name: str, **arguments: str) -> str:
    [message] = (await client.get_prompt(name, arguments)).messages
    assert isinstance(message.content, TextContent)
    return message.content.text


def test_listeners_of_the_same_tenant_hear_of_changes_and_the_server_stops_although_they_listen(
    tmp_path: Path,
) -> None:
    uri = "memory://knowledge-graph"

    async def story(server: Running) -> None:
        async with AsyncExitStack() as stack:
            alice, bob, stranger = [
                await stack.enter_async_context(server.client(name, MODERN, "?surfaces=graph"))
                for name in ("alice", "bob", "stranger")
            ]
            heard = await stack.enter_async_context(alice.listen(resource_subscriptions=[uri]))
            foreign = await stack.enter_async_context(stranger.listen(resource_subscriptions=[uri]))
            await answer(bob, "create_entities", entities=[{"name": "A", "entityType": "T"}])
            assert (await anext(aiter(heard))).uri == uri  # type: ignore[union-attr]
            await answer(stranger, "create_entities", entities=[{"name": "B", "entityType": "T"}])
            assert (await anext(aiter(foreign))).uri == uri  # type: ignore[union-attr]
            server.served.stopping.set()
            assert [event async for event in heard] == []
            assert [event async for event in foreign] == []

    run(story, tmp_path)


def test_unknown_surfaces_and_bodies_that_are_no_messages_are_refused(tmp_path: Path) -> None:
    async def story(server: Running) -> None:
        async with server.http("alice") as alice:
            unknown = await alice.post("/mcp?surfaces=nonsense", json=INITIALIZE)
            assert (unknown.status_code, unknown.json()["error"]["kind"]) == (400, "Invalid")
            assert "nonsense" in unknown.json()["error"]["message"]
            for body in (b"", b"{", b"[]", b'"x"', b"\xff"):
                refused = await alice.post("/mcp", content=body, headers={"Content-Type": "application/json"})
                assert refused.status_code == 400, body
            assert (await alice.head("/sse")).status_code == 405
            assert (await alice.post("/mcp", json=INITIALIZE)).status_code == 200

    run(story, tmp_path)
