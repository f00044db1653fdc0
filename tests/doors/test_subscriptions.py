"""The resource of the graph through the official client, in both protocol eras; and many calls at once."""

import json
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from mcp import Client, MCPError
from mcp.client.subscriptions import ResourceUpdated
from mcp.shared.exceptions import MCPDeprecationWarning
from mcp_types import ResourceUpdatedNotification

from lore.config import Config
from tests.doors.in_process import answer, served
from tests.doors.resident import SECONDS

URI = "memory://knowledge-graph"
NEW_ERA = "2026-07-28"
ERAS = ["legacy", NEW_ERA]


def connected(
    folder: Path, era: str, surface: str = "graph", heard: list[str] | None = None, file: Path | None = None
) -> AbstractAsyncContextManager[Client]:
    """heard: collects the resources that have changed. file: of the server that Lore replaces."""

    async def hear(message: Any) -> None:
        if isinstance(message, ResourceUpdatedNotification) and heard is not None:
            heard.append(str(message.params.uri))

    config = Config(data_dir=folder, embedding_model="hash", surfaces=surface, memory_file_path=file)
    return served(config, era, on_message=hear)


def entity(name: str) -> dict[str, Any]:
    return {"name": name, "entityType": "T", "observations": [f"about {name}"]}


@pytest.mark.parametrize("surface", ["graph", "official"])
@pytest.mark.parametrize("era", ERAS)
def test_the_graph_can_be_read_as_a_resource(tmp_path: Path, era: str, surface: str) -> None:
    async def story() -> None:
        async with connected(tmp_path, era, surface) as client:
            await answer(client, "create_entities", entities=[entity("A")])
            [resource] = (await client.list_resources()).resources
            assert (str(resource.uri), resource.mime_type) == (URI, "application/json")
            [content] = (await client.read_resource(URI)).contents
            assert json.loads(content.text) == {"entities": [entity("A")], "relations": []}  # type: ignore[union-attr]
            with pytest.raises(MCPError, match="Resource memory://other not found"):
                await client.read_resource("memory://other")

    anyio.run(story)


def test_subscribers_of_the_old_era_hear_of_changes_only(tmp_path: Path) -> None:
    heard: list[str] = []

    async def story() -> None:
        async with connected(tmp_path, "legacy", heard=heard) as client:
            await answer(client, "create_entities", entities=[entity("before")])
            with pytest.warns(MCPDeprecationWarning):
                await client.subscribe_resource(URI)
            assert heard == []
            await answer(client, "search_nodes", query="before")
            await answer(client, "open_nodes", names=["before"])
            await answer(client, "create_entities", entities=[entity("A")])
            await _until(lambda: heard == [URI])
            with pytest.warns(MCPDeprecationWarning):
                await client.unsubscribe_resource(URI)
            await answer(client, "create_entities", entities=[entity("B")])
            await answer(client, "search_nodes", query="before")
            assert heard == [URI]

    anyio.run(story)


def test_listeners_of_the_new_era_hear_of_changes(tmp_path: Path) -> None:
    async def story() -> None:
        async with connected(tmp_path, NEW_ERA) as client:
            async with client.listen(resource_subscriptions=[URI]) as events:
                await answer(client, "search_nodes", query="nothing")
                await answer(client, "create_entities", entities=[entity("A")])
                async for event in events:
                    assert event == ResourceUpdated(URI)
                    break
            await answer(client, "create_entities", entities=[entity("B")])

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_a_memory_can_be_read_as_a_resource_by_its_id(tmp_path: Path, era: str) -> None:
    async def story() -> None:
        async with connected(tmp_path, era, "tree") as client:
            stored = await answer(client, "store", content="The harbour opens at six.")
            [template] = (await client.list_resource_templates()).resource_templates
            uri = template.uri_template.replace("{id}", stored["id"])
            [content] = (await client.read_resource(uri)).contents
            assert json.loads(content.text)["content"] == "The harbour opens at six."  # type: ignore[union-attr]
            assert (await client.list_resources()).resources == []
            with pytest.raises(MCPError, match="nobody"):
                await client.read_resource("lore://memory/nobody")

    anyio.run(story)


@pytest.mark.parametrize("era", ERAS)
def test_parallel_calls_on_one_connection_are_all_kept(tmp_path: Path, era: str) -> None:
    """Fifty new entities, and fifty observations of one and the same entity."""

    async def story() -> None:
        async with connected(tmp_path, era) as client:
            await answer(client, "create_entities", entities=[entity("Busy")])
            async with anyio.create_task_group() as tasks:
                for number in range(50):
                    tasks.start_soon(
                        lambda n: answer(client, "create_entities", entities=[entity(f"E{n}")]), number
                    )
                    tasks.start_soon(
                        lambda n: answer(client, "add_observations", name="Busy", observations=[f"fact {n}"]),
                        number,
                    )
            graph = await answer(client, "read_graph")
            assert {one["name"] for one in graph["entities"]} == {"Busy", *(f"E{n}" for n in range(50))}
            [busy] = [one for one in graph["entities"] if one["name"] == "Busy"]
            assert set(busy["observations"]) == {"about Busy", *(f"fact {n}" for n in range(50))}

    anyio.run(story)


@pytest.mark.parametrize(("surface", "begins"), [("official", True), ("graph", True), ("tree", False)])
def test_an_empty_store_begins_with_the_file_that_the_settings_name(
    tmp_path: Path, surface: str, begins: bool
) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_text(json.dumps({"type": "entity", **entity("A")}) + "\nbroken", encoding="utf-8")

    async def story() -> None:
        async with connected(tmp_path / "lore", "legacy", surface, file=file):
            pass
        file.write_text(json.dumps({"type": "entity", **entity("B")}), encoding="utf-8")
        async with connected(tmp_path / "lore", "legacy", "graph", file=file) as client:
            found = (await answer(client, "read_graph"))["entities"]
            assert [one["name"] for one in found] == (["A"] if begins else ["B"])

    anyio.run(story)


def test_a_missing_graph_file_does_not_prevent_serving(tmp_path: Path) -> None:
    async def story() -> None:
        for file in (tmp_path / "missing.jsonl", tmp_path):
            async with connected(tmp_path / "lore", "legacy", "official", file=file) as client:
                assert (await answer(client, "read_graph"))["entities"] == []

    anyio.run(story)


async def _until(condition: Any) -> None:
    with anyio.fail_after(SECONDS):
        while not condition():
            await anyio.lowlevel.checkpoint()
