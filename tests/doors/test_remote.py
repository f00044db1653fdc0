"""Agents of a team: `lore-mcp --remote` is served by a server; without it, by the copy on this machine."""

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import pytest
from anyio.abc import SocketStream
from mcp import Client
from mcp_types import CallToolResult, TextContent

from lore import Draft, Lore
from lore.doors.endpoint import Endpoint
from lore.doors.offer import to_one_client
from lore.doors.principal import Principal
from lore.doors.remote import Remote, RemoteOffer
from lore.doors.remote_http import RemoteServer
from lore.doors.subscriptions import Audience
from lore.doors.workers import Workers
from lore.store.records import SyncMark
from lore.surfaces import surfaces_named
from tests.doors.command import Command
from tests.doors.http.test_server_process import SERVER, environment
from tests.doors.resident import RELAY, SECONDS, Agent, an_endpoint, short_folder, until

NOON = "The ferry to Elba leaves at noon"


# --- a server, two people with a machine each
@contextmanager
def serving(folder: Path, port: int = 0) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a server, and its process, which is killed at the end."""
    command = [*SERVER, "--port", str(port)]
    with subprocess.Popen(command, env=environment(folder), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            yield process.stdout.readline().split(" at ")[1].split(";")[0].strip(), process
        finally:
            process.kill()


@dataclass
class Member:
    """A member of the team at a machine of her or his own."""

    endpoint: Endpoint
    url: str
    token: str

    def agent(self, namespace: str) -> Agent:
        options = ("--remote", self.url, "--namespace", namespace)
        return Agent(self.endpoint, *options, LORE_SURFACES="tree", LORE_TOKEN=self.token).greet()

    def sync(self, namespace: str) -> None:
        lore = Command(Path(self.endpoint.home))
        lore("sync", self.url, "--pull", "--namespace", namespace, env={"LORE_TOKEN": self.token})


def of_copy(answer: dict[str, Any]) -> bool:
    return any("From the copy on this machine (of 20" in note for note in answer["notes"])


def found(agent: Agent, copy: bool = False) -> list[tuple[str, str]]:
    """Text and author of the ferries that a search finds. copy: on this machine, not on the server."""
    answer = agent.call("search", query="ferry", detail="preview")
    assert of_copy(answer) == copy, answer
    return sorted((hit["passage"], hit.get("author", "")) for hit in answer["results"])


def test_what_one_agent_stores_for_the_team_the_others_find_with_and_without_the_server(
    tmp_path: Path,
) -> None:
    tokens = {
        who: Command(tmp_path)("token", "create", who, "--namespace", who, "--namespace", "web").stdout
        for who in ("alice", "bob")
    }
    with ExitStack() as stack:
        url, process = stack.enter_context(serving(tmp_path))
        alice, bob = (
            Member(stack.enter_context(an_endpoint(stack.enter_context(short_folder()))), url, token.strip())
            for token in tokens.values()
        )
        hers, of_team, his = (
            stack.enter_context(agent)
            for agent in (alice.agent("alice"), alice.agent("web"), bob.agent("web"))
        )
        hers.call("store", content="My own ferry ticket is in the drawer")
        of_team.call("store", content=NOON)
        assert found(his) == [(NOON, "alice")]
        assert len(found(hers)) == 2, "her own, and her team's"
        refused = bob.agent("alice")
        answer = stack.enter_context(refused).ask("tools/call", {"name": "list_roots", "arguments": {}})
        assert "namespace 'alice' is not yours" in answer["result"]["content"][0]["text"]

        uri = f"lore://memory/{of_team.call('search', query='Elba')['results'][0]['id']}"
        assert NOON in his.ask("resources/read", {"uri": uri})["result"]["contents"][0]["text"]

        bob.sync("web")
        process.kill()
        process.wait(SECONDS)
        assert found(his, copy=True) == [(NOON, "alice")]
        later = "The ferry to Elba has a dog on board"
        his.call("store", content=later)
        assert (later, "") in found(his, copy=True), "his own, on his machine"

        stack.enter_context(serving(tmp_path, urlsplit(url).port or 0))
        until(lambda: not of_copy(his.call("search", query="ferry")))
        assert len(found(hers)) == 2, "what he stored meanwhile is on his machine"
        bob.sync("web")
        assert (later, "bob") in found(hers)
        Command(tmp_path)("token", "revoke", "bob", "--yes")
        answer = his.ask("tools/call", {"name": "search", "arguments": {"query": "ferry"}})
        assert answer["result"]["isError"]
        assert f"{url} refuses this call" in answer["result"]["content"][0]["text"]


@pytest.mark.parametrize("setting", ["LORE_TEAMS", "LORE_REMOTE_NAMESPACES"])
def test_a_setting_shows_the_memories_of_a_team_or_of_a_copy_on_this_machine(
    setting: str, tmp_path: Path
) -> None:
    lore = Command(tmp_path)
    lore("--namespace", "web", "remember", NOON)
    search = ("--namespace", "bob", "search", "ferry")
    assert NOON not in lore(*search).stdout
    assert NOON in lore(*search, env={setting: "ops, web"}).stdout


# --- what becomes of a call that gets no answer
def canned(status: int, body: str = '{"error": {"message": "because"}}') -> bytes:
    head = f"HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\nconnection: close"
    return f"{head}\r\ncontent-length: {len(body)}\r\n\r\n{body}".encode()


MUTE = b""
FATES: dict[str, tuple[bytes | None, str, str, str]] = {
    # what a server says -> what becomes of search, store and update
    "no server": (None, "local", "local", "local"),
    "cut off": (MUTE, "local", "unknown", "local"),
    "half an answer": (canned(200)[:-5], "local", "unknown", "local"),
    "no Lore": (canned(200, "<html>"), "local", "unknown", "local"),
    "no such path": (canned(404), "local", "local", "local"),
    "moved": (canned(301), "local", "local", "local"),
    "busy": (canned(503), "local", "local", "local"),
    "broken": (canned(500), "local", "unknown", "local"),
    "wrong token": (canned(401), "refused", "refused", "refused"),
    "foreign namespace": (canned(403), "refused", "refused", "refused"),
}
SAYS = {"From the copy": "local", "Done on this": "local", "was sent": "unknown", "refuses": "refused"}


def outcome(result: CallToolResult) -> str:
    [text] = [block.text for block in result.content[-1:] if isinstance(block, TextContent)]
    return next(kind for says, kind in SAYS.items() if says in text)


@pytest.mark.parametrize("fate", FATES)
def test_a_call_without_an_answer_is_done_here_unless_the_server_may_have_done_it(
    fate: str, lore: Lore
) -> None:
    says, *expected = FATES[fate]
    kept = lore.remember(Draft(content=NOON, kind="fragment"))
    calls: list[tuple[str, dict[str, Any]]] = [
        ("search", {"query": "ferry"}),
        ("store", {"content": "The dog on board is called Laika"}),
        ("update", {"fragment_id": kept.id, "content": f"{NOON} sharp"}),
    ]

    async def answer(stream: SocketStream) -> None:
        async with stream:
            await stream.receive()
            if says:
                await stream.send(says)

    async def story() -> list[str]:
        listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
        url = f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}"
        outcomes = []
        async with anyio.create_task_group() as tasks:
            if says is None:
                await listener.aclose()
            else:
                tasks.start_soon(listener.serve, answer)
            for tool, arguments in calls:  # each for the first time: without a pause after a failure
                server = RemoteServer(url=url, client_id="test")
                async with Remote(server, {}) as remote, offered(lore, remote) as client:
                    outcomes.append(outcome(await client.call_tool(tool, arguments)))
            tasks.cancel_scope.cancel()
        await listener.aclose()
        return outcomes

    assert anyio.run(story) == expected
    done = [how == "local" for how in expected[1:]]
    texts = {hit.memory.content for hit in lore.search("ferry dog").hits}
    assert [calls[1][1]["content"] in texts, calls[2][1]["content"] in texts] == done


def offered(lore: Lore, remote: Remote, seconds: float = SECONDS) -> Client:
    """An agent whose calls go to the server. seconds: for each."""
    principal = Principal(lore=lore, workers=Workers(), request_seconds=seconds)
    offer = RemoteOffer(remote, surfaces_named("tree"), to_one_client(principal), Audience())
    return Client(offer.server, mode="legacy")


def test_a_server_that_says_nothing_is_given_up_after_a_while_and_not_asked_again_at_once(lore: Lore) -> None:
    async def story() -> None:
        asked = 0

        async def keep_silent(stream: SocketStream) -> None:
            nonlocal asked
            asked += 1
            async with stream:
                await anyio.sleep_forever()

        async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
            url = f"http://127.0.0.1:{listener.extra(anyio.abc.SocketAttribute.local_port)}"
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listener.serve, keep_silent)
                async with (
                    Remote(RemoteServer(url=url, client_id="test"), {}) as remote,
                    offered(lore, remote, seconds=2.0) as client,
                ):
                    for _ in range(3):
                        assert outcome(await client.call_tool("search", {"query": "x"})) == "local"
                tasks.cancel_scope.cancel()
        assert asked == 1

    anyio.run(story)


@pytest.mark.parametrize("pulled", [True, False])
def test_a_change_made_here_is_said_to_reach_the_server_only_if_its_namespace_is_synchronised(
    pulled: bool, lore: Lore
) -> None:
    nobody = RemoteServer(url="http://127.0.0.1:1", client_id="test")
    if pulled:
        lore.move_sync_mark(SyncMark(remote=nobody.url, direction="pull", cursor="1"))

    async def story() -> CallToolResult:
        async with Remote(nobody, {}) as remote, offered(lore, remote) as client:
            return await client.call_tool("store", {"content": NOON})

    [*_, text] = [block.text for block in anyio.run(story).content if isinstance(block, TextContent)]
    assert ("synchronisation brings it to http://127.0.0.1:1" in text) == pulled
    assert ("lore sync --pull --namespace shared" in text) != pulled


def test_a_change_that_fails_here_is_not_said_to_be_done(lore: Lore) -> None:
    async def story() -> CallToolResult:
        nobody = RemoteServer(url="http://127.0.0.1:1", client_id="test")
        async with Remote(nobody, {}) as remote, offered(lore, remote) as client:
            return await client.call_tool("update", {"fragment_id": "0" * 8, "content": "x"})

    result = anyio.run(story)
    assert result.is_error
    assert "Done" not in str(result.content)


def test_a_remote_conversation_needs_the_daemon() -> None:
    command = [*RELAY, "--standalone", "--remote", "http://127.0.0.1:1"]
    refused = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert refused.returncode == 2
    assert refused.stderr == "lore-mcp: --remote needs the daemon; leave --standalone away\n"
