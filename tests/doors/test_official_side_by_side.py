"""Lore beside the official memory server: the same calls through the same client, the same answers."""

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError, StdioServerParameters

from lore.config import Config
from tests.doors.in_process import served
from tests.doors.resident import SECONDS

PACKAGE = "@modelcontextprotocol/server-memory"
SERVE = """
import sys
from lore.config import load
from lore.doors.mcp import serve
from lore.surfaces import surfaces_named
config = load(data_dir=sys.argv[1])
serve(config, surfaces_named(config.surfaces))
"""

ADA = {"name": "Ada", "entityType": "person", "observations": ["wrote notes", "liked Engines"]}
ENGINE = {"name": "Engine", "entityType": "machine", "observations": []}
HYPATIA = {"name": "Ὑπατία", "entityType": "Person_100%", "observations": ["Été à Alexandrie", "astronomer"]}
BUILT = {"from": "Charles", "to": "Engine", "relationType": "built"}
WROTE = {"from": "Ada", "to": "Engine", "relationType": "wrote about"}
ITSELF = {"from": "Engine", "to": "Engine", "relationType": "contiene"}

SCRIPT: list[tuple[str, dict[str, Any]]] = [
    ("read_graph", {}),
    ("search_nodes", {"query": "nothing"}),
    ("create_entities", {"entities": [ADA, ENGINE]}),
    ("create_entities", {"entities": [ADA | {"observations": ["other"]}, HYPATIA]}),
    ("create_entities", {"entities": []}),
    ("create_relations", {"relations": [WROTE, BUILT]}),
    ("create_relations", {"relations": [WROTE, ITSELF]}),
    ("read_graph", {}),
    ("add_observations", {"observations": [{"entityName": "Ada", "contents": ["liked Engines", "a poet"]}]}),
    ("add_observations", {"observations": [{"entityName": "Nobody", "contents": ["x"]}]}),
    ("add_observations", {"observations": [{"entityName": "Charles", "contents": ["x"]}]}),
    ("search_nodes", {"query": "ENGINE"}),
    ("search_nodes", {"query": "person"}),
    ("search_nodes", {"query": "ÉTÉ"}),
    ("search_nodes", {"query": "ὑπατία"}),
    ("search_nodes", {"query": "100%"}),
    ("search_nodes", {"query": "%"}),
    ("search_nodes", {"query": "_"}),
    ("search_nodes", {"query": "charles"}),
    ("search_nodes", {"query": ""}),
    ("open_nodes", {"names": ["Ada", "Nobody"]}),
    ("open_nodes", {"names": ["Charles"]}),
    ("open_nodes", {"names": []}),
    (
        "create_entities",
        {"entities": [{"name": "Charles", "entityType": "person", "observations": ["inventor"]}]},
    ),
    ("read_graph", {}),
    (
        "delete_observations",
        {"deletions": [{"entityName": "Ada", "observations": ["wrote notes", "unknown"]}]},
    ),
    ("delete_observations", {"deletions": [{"entityName": "Nobody", "observations": ["x"]}]}),
    ("delete_relations", {"relations": [WROTE, WROTE | {"relationType": "unknown"}]}),
    ("read_graph", {}),
    ("create_relations", {"relations": [WROTE]}),
    ("read_graph", {}),
    ("create_relations", {"relations": [{"from": "Zoe", "to": "Yan", "relationType": "knows"}]}),
    (
        "create_entities",
        {
            "entities": [
                {"name": n, "entityType": "person", "observations": []} for n in ("Ida", "Yan", "Zoe")
            ]
        },
    ),
    ("read_graph", {}),
    ("delete_entities", {"entityNames": ["Engine", "Nobody"]}),
    ("read_graph", {}),
    ("create_entities", {"entities": [ENGINE]}),
    ("read_graph", {}),
]


AWKWARD: list[tuple[str, dict[str, Any]]] = [
    ("create_entities", {"entities": [ADA, ENGINE | {"entityType": ""}]}),
    ("create_entities", {"entities": [HYPATIA | {"unknown": 1}], "unknown": True}),
    ("read_graph", {"unknown": 1}),
    ("open_nodes", {"names": ["Engine", "Ada", "Engine"]}),
    ("add_observations", {"observations": [{"entityName": "Nobody" * 50, "contents": ["x"]}]}),
    (
        "add_observations",
        {"observations": [{"entityName": "Ada", "contents": [text]} for text in ("first", "first", "last")]},
    ),
    ("create_relations", {"relations": [WROTE | {"relationType": ""}, BUILT | {"unknown": 1}]}),
    ("create_entities", {}),
    ("create_entities", {"entities": "x"}),
    ("create_entities", {"entities": None}),
    ("create_entities", {"entities": ["x", None, [], {"name": 5, "entityType": None}]}),
    ("create_entities", {"entities": [ADA | {"observations": [1, 1.5, True, {}]}]}),
    ("create_relations", {"relations": [{"from": "A"}]}),
    ("add_observations", {"name": "Ada", "observations": ["x"]}),
    ("delete_observations", {"deletions": [{"entityName": "Ada"}]}),
    ("delete_entities", {"entityNames": "Ada"}),
    ("search_nodes", {"query": 5}),
    ("nonexistent_tool", {}),
    ("read_graph", {}),
]
"""What a client does by mistake."""

DIFFERENT: list[tuple[str, dict[str, Any], str]] = [
    ("create_entities", {"entities": [ADA, ADA | {"observations": []}]}, '"observations": [\n'),
    ("create_entities", {"entities": [HYPATIA | {"observations": ["same", "same"]}]}, '"same"\n'),
    ("create_relations", {"relations": [WROTE, WROTE]}, '"wrote about"\n'),
    ("add_observations", {"observations": [{"entityName": "Ada", "contents": ["x", "x"]}]}, '"x"\n'),
    ("create_entities", {"entities": [ADA | {"name": ""}]}, "name is empty; give some text"),
    ("create_entities", {"entities": [ADA | {"name": "B", "observations": [""]}]}, "observation is empty"),
    ("create_entities", {"entities": [ADA | {"name": "a\0b"}]}, "NUL character"),
    ("create_entities", {"entities": [ADA | {"name": "n" * 2_000}]}, "the limit is 1,000"),
    ("add_observations", {"observations": [{"entityName": "Ada", "contents": ["o" * 100_000]}]}, "50,000"),
    ("create_relations", {"relations": [WROTE | {"from": ""}]}, "name is empty"),
]
"""The differences that the page of the dialect lists, with a part of Lore's answer that occurs in it once."""


@pytest.fixture(scope="module")
def official(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The official server, installed from the package registry."""
    npm = shutil.which("npm")
    if npm is None or shutil.which("node") is None:
        _unavailable("npm is not there")
    folder = tmp_path_factory.mktemp("official")
    command = [str(npm), "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--silent", PACKAGE]
    try:
        subprocess.run(command, check=True, capture_output=True, timeout=200)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
        _unavailable(f"the official server cannot be installed: {error}")
    return folder / "node_modules" / PACKAGE / "dist" / "index.js"


def _unavailable(why: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(why)
    pytest.skip(why)


@asynccontextmanager
async def theirs(script: Path, folder: Path) -> AsyncIterator[Client]:
    env = {**os.environ, "MEMORY_FILE_PATH": str(folder / "memory.jsonl")}
    server = StdioServerParameters(command="node", args=[str(script)], env=env)
    async with Client(server, mode="legacy") as client:
        yield client


def ours(folder: Path) -> AbstractAsyncContextManager[Client]:
    return served(Config(data_dir=folder, embedding_model="hash", surfaces="official"), "legacy")


@asynccontextmanager
async def our_process(folder: Path, **env: str) -> AsyncIterator[Client]:
    settings = {**os.environ, "LORE_EMBEDDING_MODEL": "hash", "LORE_SURFACES": "official", **env}
    server = StdioServerParameters(command=sys.executable, args=["-c", SERVE, str(folder)], env=settings)
    async with Client(server, mode="legacy") as client:
        yield client


async def answered(client: Client, tool: str, arguments: dict[str, Any]) -> tuple[bool, Any, list[str]]:
    result = await client.call_tool(tool, arguments)
    texts = [block.text for block in result.content if block.type == "text"]
    return bool(result.is_error), result.structured_content, texts


@pytest.mark.parametrize("script", [SCRIPT, AWKWARD], ids=["script", "mistakes"])
def test_the_same_calls_have_the_same_answers(
    script: list[tuple[str, dict[str, Any]]], official: Path, tmp_path: Path
) -> None:
    async def story() -> None:
        with anyio.fail_after(SECONDS):
            async with theirs(official, tmp_path) as their, ours(tmp_path / "lore") as our:
                for step, (tool, arguments) in enumerate(script):
                    expected = await answered(their, tool, arguments)
                    assert await answered(our, tool, arguments) == expected, (step, tool, arguments)

    anyio.run(story)


def test_where_answers_differ_the_difference_is_the_documented_one(official: Path, tmp_path: Path) -> None:
    async def story() -> None:
        with anyio.fail_after(SECONDS):
            async with theirs(official, tmp_path) as their, ours(tmp_path / "lore") as our:
                for tool, arguments, part in DIFFERENT:
                    expected = await answered(their, tool, arguments)
                    answer = await answered(our, tool, arguments)
                    assert not expected[0]
                    assert answer != expected
                    assert answer[2][0].count(part) == 1, (tool, arguments, answer)

    anyio.run(story)


def test_unknown_resources_and_templates_are_answered_the_same(official: Path, tmp_path: Path) -> None:
    async def story() -> None:
        with anyio.fail_after(SECONDS):
            async with theirs(official, tmp_path) as their, ours(tmp_path / "lore") as our:
                refusals = []
                for client in (their, our):
                    assert (await client.list_resource_templates()).resource_templates == []
                    with pytest.raises(MCPError) as refusal:
                        await client.read_resource("memory://nope")
                    refusals.append((refusal.value.error.code, refusal.value.error.message))
                assert refusals[0] == refusals[1]

    anyio.run(story)


def test_tools_take_the_same_arguments_and_give_the_same_hints(official: Path, tmp_path: Path) -> None:
    async def story() -> None:
        with anyio.fail_after(SECONDS):
            async with theirs(official, tmp_path) as their, ours(tmp_path / "lore") as our:
                expected = {tool.name: tool for tool in (await their.list_tools()).tools}
                offered = {tool.name: tool for tool in (await our.list_tools()).tools}
                assert list(offered) == list(expected)
                for name, tool in offered.items():
                    assert tool.title == expected[name].title
                    assert tool.annotations == expected[name].annotations
                    same = expected[name].input_schema
                    assert set(tool.input_schema["properties"]) == set(same.get("properties", {}))
                    assert tool.input_schema.get("required", []) == same.get("required", [])
                [resource] = (await our.list_resources()).resources
                [known] = (await their.list_resources()).resources
                assert (resource.uri, resource.name, resource.mime_type, resource.title) == (
                    known.uri,
                    known.name,
                    known.mime_type,
                    known.title,
                )

    anyio.run(story)


def test_a_file_of_the_official_server_is_taken_over_whole(official: Path, tmp_path: Path) -> None:
    """What it wrote, Lore begins with, once: what is deleted afterwards stays deleted."""

    async def story() -> None:
        with anyio.fail_after(SECONDS):
            async with theirs(official, tmp_path) as their:
                for tool, arguments in SCRIPT[:9]:
                    await answered(their, tool, arguments)
                expected = await answered(their, "read_graph", {})
                resource = await their.read_resource("memory://knowledge-graph")
            file = str(tmp_path / "memory.jsonl")
            async with our_process(tmp_path / "lore", MEMORY_FILE_PATH=file) as our:
                assert await answered(our, "read_graph", {}) == expected
                shown = await our.read_resource("memory://knowledge-graph")
                assert [c.model_dump() for c in shown.contents] == [c.model_dump() for c in resource.contents]
                await answered(our, "delete_entities", {"entityNames": ["Ada"]})
            async with our_process(tmp_path / "lore", MEMORY_FILE_PATH=file) as our:
                assert "Ada" not in str(
                    (await answered(our, "open_nodes", {"names": ["Ada"]}))[1]["entities"]
                )

    anyio.run(story)
