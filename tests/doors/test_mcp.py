"""The MCP door, through the official client in both protocol eras, in this process and in one of its own."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters

from lore import Draft
from lore.config import Config
from lore.connecting import wire
from lore.embed.onnx import OnnxEmbedder
from tests.doors.in_process import answer, served
from tests.doors.resident import SECONDS

SERVE = """
import sys
from lore.config import load
from lore.doors.mcp import serve
from lore.surfaces import surfaces_named
config = load(data_dir=sys.argv[1])
serve(config, surfaces_named(config.surfaces))
"""
LEGACY, MODERN = ERAS = ["legacy", "2026-07-28"]

in_both_eras = pytest.mark.parametrize("era", ERAS)


def parameters(folder: Path, model: str = "hash", **variables: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-c", SERVE, str(folder)],
        env={**os.environ, "LORE_EMBEDDING_MODEL": model, **variables},
    )


@asynccontextmanager
async def connected(folder: Path, era: str) -> AsyncIterator[Client]:
    with anyio.fail_after(SECONDS):
        async with Client(parameters(folder), mode=era) as client:
            yield client


def in_process(folder: Path, era: str) -> AbstractAsyncContextManager[Client]:
    return served(Config(data_dir=folder, embedding_model="hash"), era)


@in_both_eras
def test_tools_are_listed_with_schemas_and_hints(tmp_path: Path, era: str) -> None:
    async def story() -> None:
        async with in_process(tmp_path, era) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert list(tools) == ["search", "read", "list_roots", "store", "update", "delete"]
            for tool in tools.values():
                assert tool.input_schema["type"] == "object"
                assert tool.output_schema is not None
                assert tool.output_schema["type"] == "object"
                assert tool.annotations is not None
                assert tool.annotations.open_world_hint is False
            hints = {
                name: (tool.annotations.read_only_hint, tool.annotations.destructive_hint)
                for name, tool in tools.items()
                if tool.annotations
            }
            assert hints == {
                "search": (True, False),
                "read": (False, False),
                "list_roots": (True, False),
                "store": (False, False),
                "update": (False, True),
                "delete": (False, True),
            }

    anyio.run(story)


@in_both_eras
def test_the_server_introduces_itself(tmp_path: Path, era: str) -> None:
    async def story() -> None:
        async with in_process(tmp_path, "auto" if era != "legacy" else era) as client:
            assert (client.protocol_version == era) == (era != "legacy")
            assert client.instructions is not None
            assert "long-term memory" in client.instructions
            assert len(client.instructions) < 2_000
            assert client.server_info is not None
            assert client.server_info.name == "lore"

    anyio.run(story)


@in_both_eras
def test_a_memory_travels_through_all_six_tools(tmp_path: Path, era: str) -> None:
    async def story() -> None:
        async with in_process(tmp_path, era) as client:
            root = (await answer(client, "store", content="deployment of the shop", depth=0))["id"]
            kept = await answer(client, "store", content="the shop deploys from branch main", parent_id=root)
            assert kept["depth"] == 1
            results = (await answer(client, "search", query="which branch deploys"))["results"]
            assert results[0]["id"] == kept["id"]
            assert (await answer(client, "read", id=root))["children"] == [kept["id"]]
            await answer(client, "update", fragment_id=kept["id"], content="the shop deploys from release")
            assert (await answer(client, "read", id=kept["id"]))["content"] == "the shop deploys from release"
            await answer(client, "delete", fragment_id=kept["id"])
            assert (await answer(client, "list_roots"))["roots"] == [
                {"id": root, "children_count": 0, "standing": "agent's note (mcp)"}
            ]

    anyio.run(story)


@in_both_eras
def test_text_blocks_carry_the_dialects_own_form(tmp_path: Path, era: str) -> None:
    async def story() -> None:
        async with in_process(tmp_path, era) as client:
            await answer(client, "store", content="one fragment", depth=0)
            result = await client.call_tool("search", {"query": "one fragment"})
            assert result.content[0].type == "text"
            [hit] = json.loads(result.content[0].text)
            assert set(hit) == {"id", "score", "depth", "breadcrumb", "standing"}

    anyio.run(story)


@in_both_eras
def test_refusals_are_flagged_and_the_server_lives_on(tmp_path: Path, era: str) -> None:
    unknown = "01a1e199-c073-71dd-958f-3013d1acd782"

    async def story() -> None:
        async with in_process(tmp_path, era) as client:
            for tool, arguments, words in (
                ("read", {"id": unknown}, f"Fragment {unknown} not found."),
                ("read", {"id": "x"}, "Invalid fragment ID: x"),
                ("delete", {"fragment_id": unknown}, "not found"),
                ("store", {"content": ""}, "content is empty"),
                ("store", {"content": "x" * 50_001}, "50,000"),
                ("store", {"content": "nul \0"}, "NUL"),
                ("search", {"query": "x", "limit": 0}, "limit is 0"),
                ("search", {"question": "x"}, "unknown argument 'question'"),
            ):
                result = await client.call_tool(tool, arguments)
                assert result.is_error, (tool, arguments)
                assert result.content[0].type == "text"
                assert words in result.content[0].text
            with pytest.raises(MCPError, match="unknown tool 'lore_nothing'; known: delete"):
                await client.call_tool("lore_nothing", {})
            assert (await answer(client, "list_roots"))["roots"] == []

    anyio.run(story)


@in_both_eras
def test_parallel_calls_on_one_connection_are_all_kept(tmp_path: Path, era: str) -> None:
    async def story() -> None:
        async with in_process(tmp_path, era) as client, anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(lambda n: answer(client, "store", content=f"fact {n}", depth=0), number)
        async with in_process(tmp_path, era) as client:
            assert len((await answer(client, "list_roots", limit=100))["roots"]) == 50

    anyio.run(story)


@in_both_eras
def test_what_one_process_stores_another_finds_at_once(tmp_path: Path, era: str) -> None:
    async def story() -> None:
        async with connected(tmp_path, era) as writer, in_process(tmp_path, era) as reader:
            assert (await answer(reader, "search", query="zanzibar"))["results"] == []
            for round in range(5):
                kept = await answer(writer, "store", content=f"zanzibar ferry number {round}", depth=0)
                results = (await answer(reader, "search", query=f"zanzibar ferry number {round}"))["results"]
                assert kept["id"] in {result["id"] for result in results}

    anyio.run(story)


@in_both_eras
def test_a_model_that_cannot_load_leaves_everything_else_working(tmp_path: Path, era: str) -> None:
    """An embedding model that is not there: search falls back to words and says so."""
    config = Config(data_dir=tmp_path)

    async def story() -> None:
        async with served(config, era, OnnxEmbedder(Path("nowhere"))) as client:
            kept = await answer(client, "store", content="the printer is on the third floor")
            found = await answer(client, "search", query="printer floor")
            assert [result["id"] for result in found["results"]] == [kept["id"]]
            assert any("words only" in note and "nowhere" in note for note in found["notes"])

    anyio.run(story)


@pytest.mark.parametrize(("stop", "era"), [(signal.SIGINT, LEGACY), (signal.SIGTERM, MODERN), (None, LEGACY)])
def test_the_process_ends_cleanly_when_it_is_stopped_or_its_client_goes(
    tmp_path: Path, era: str, stop: signal.Signals | None
) -> None:
    """Ctrl-C, a polite kill, or the client closing stdin: exit code 0, no traceback, nothing lost."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "LORE_EMBEDDING_MODEL": "hash"},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(opening(era)) + "\n")
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["id"] == 1
    if stop is None:
        process.stdin.close()
    else:
        process.send_signal(stop)
    assert process.wait(timeout=SECONDS) == 0
    assert process.stderr is not None
    assert process.stderr.read() == ""
    for pipe in (process.stdin, process.stdout, process.stderr):
        pipe.close()


def opening(era: str) -> dict[str, Any]:
    """The first message a client of that era sends."""
    client = {"name": "test", "version": "0"}
    if era == "legacy":
        params: dict[str, Any] = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
        return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    prefix = "io.modelcontextprotocol/"
    meta = {f"{prefix}protocolVersion": era, f"{prefix}clientCapabilities": {}, f"{prefix}clientInfo": client}
    return {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": meta}}


WALRUS = "the walrus {} sleeps"


def keep_turns(folder: Path) -> None:
    """One turn of the conversation `mine`, and one of another."""
    with closing(wire(Config(data_dir=folder, embedding_model="hash"))) as lore:
        for session in ("mine", "theirs"):
            lore.remember(Draft(content=WALRUS.format(session), kind="turn", session=session))


async def assert_own_turn_is_left_out(client: Client, meta: Any = None) -> None:
    result = await client.call_tool("search", {"query": "walrus", "detail": "full"}, meta=meta)
    assert WALRUS.format("theirs") in str(result.content)
    assert WALRUS.format("mine") not in str(result.content)
    assert "1 turn of the conversation in progress" in str(result.content)


@in_both_eras
def test_a_search_leaves_out_turns_of_the_conversation_that_a_call_names(tmp_path: Path, era: str) -> None:
    keep_turns(tmp_path)

    async def story() -> None:
        async with in_process(tmp_path, era) as client:
            for key in ("threadId", "ai.opencode/sessionID"):  # of Codex and OpenCode
                await assert_own_turn_is_left_out(client, {key: "mine"})

    anyio.run(story)


def test_a_search_leaves_out_turns_of_the_conversation_that_the_environment_names(tmp_path: Path) -> None:
    """As Claude Code does."""
    keep_turns(tmp_path)

    async def story() -> None:
        with anyio.fail_after(SECONDS):
            server = parameters(tmp_path, CLAUDE_CODE_SESSION_ID="mine")
            async with Client(server, mode=MODERN) as client:
                await assert_own_turn_is_left_out(client)

    anyio.run(story)
