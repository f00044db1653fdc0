"""The official profile: the nine tools of the official memory server, called as a door calls them."""

import json
from typing import Any

import pytest

from lore import Draft, Invalid, Lore, LoreError, NotFound
from lore.surfaces import SURFACES, surfaces_named
from lore.surfaces.surface import Reply
from tests.surfaces.checked import checked_call

OFFICIAL = SURFACES["official"]
ADA = {"name": "Ada", "entityType": "person", "observations": ["wrote notes"]}
KNOWS = {"from": "Ada", "to": "Charles", "relationType": "knows"}


def call(lore: Lore, tool: str, **arguments: Any) -> Reply:
    return checked_call(OFFICIAL.tools[tool], lore, arguments)


def answer_of(lore: Lore, tool: str, **arguments: Any) -> dict[str, Any]:
    return dict(call(lore, tool, **arguments).data)


def test_the_hints_are_those_of_the_official_server() -> None:
    hints = {
        name: (tool.read_only, tool.destructive, tool.idempotent) for name, tool in OFFICIAL.tools.items()
    }
    adds, deletes, reads = (False, False, False), (False, True, True), (True, False, True)
    assert hints == {
        "create_entities": adds,
        "create_relations": adds,
        "add_observations": adds,
        "delete_entities": deletes,
        "delete_observations": deletes,
        "delete_relations": deletes,
        "read_graph": reads,
        "search_nodes": reads,
        "open_nodes": reads,
    }


def test_official_cannot_be_combined_with_graph_because_their_tools_share_names() -> None:
    assert OFFICIAL not in surfaces_named("all")
    assert surfaces_named("official") == [OFFICIAL]
    with pytest.raises(Invalid, match="both have a tool"):
        surfaces_named("graph,official")


def test_existing_names_are_skipped_not_merged(lore: Lore) -> None:
    assert answer_of(lore, "create_entities", entities=[ADA]) == {"entities": [ADA]}
    assert answer_of(lore, "create_entities", entities=[ADA | {"observations": ["new"]}]) == {"entities": []}
    assert answer_of(lore, "open_nodes", names=["Ada"])["entities"] == [ADA]


def test_relations_are_kept_even_if_their_entities_do_not_exist(lore: Lore) -> None:
    assert answer_of(lore, "create_relations", relations=[KNOWS, KNOWS]) == {"relations": [KNOWS]}
    assert answer_of(lore, "read_graph") == {"entities": [], "relations": [KNOWS]}
    answer_of(lore, "create_entities", entities=[ADA])
    assert answer_of(lore, "search_nodes", query="ADA") == {"entities": [ADA], "relations": [KNOWS]}
    assert answer_of(lore, "search_nodes", query="charles")["entities"] == []
    answer_of(lore, "delete_entities", entityNames=["Charles"])
    assert answer_of(lore, "read_graph")["relations"] == []


def test_unknown_entities_are_an_error_to_observe_and_nothing_to_delete(lore: Lore) -> None:
    answer_of(lore, "create_entities", entities=[ADA])
    wanted = [{"entityName": "Ada", "contents": ["x"]}, {"entityName": "Nobody", "contents": ["y"]}]
    with pytest.raises(NotFound, match="Entity with name Nobody not found"):
        call(lore, "add_observations", observations=wanted)
    assert answer_of(lore, "read_graph")["entities"] == [ADA]
    done = {"success": True, "message": "Observations deleted successfully"}
    unknown = [{"entityName": "Nobody", "observations": ["y"]}]
    assert answer_of(lore, "delete_observations", deletions=unknown) == done


def test_text_blocks_are_pretty_json(lore: Lore) -> None:
    reply = call(lore, "create_entities", entities=[ADA])
    assert reply.text == (json.dumps([ADA], indent=2),)
    assert call(lore, "delete_entities", entityNames=["Ada"]).text == ("Entities deleted successfully",)
    assert call(lore, "read_graph").text == ('{\n  "entities": [],\n  "relations": []\n}',)


def test_creating_a_relation_creates_no_inverse(lore: Lore) -> None:
    answer_of(lore, "create_relations", relations=[KNOWS | {"relationType": "contiene"}])
    assert len(answer_of(lore, "read_graph")["relations"]) == 1


def test_memories_of_other_dialects_are_part_of_the_graph_but_do_not_flood_it(lore: Lore) -> None:
    remark = "A remark about engines."
    lore.remember(Draft(content=remark))
    shown = [{"name": remark, "entityType": "note", "observations": [remark]}]
    assert answer_of(lore, "search_nodes", query="engines")["entities"] == shown
    assert answer_of(lore, "read_graph")["entities"] == shown
    lore.remember(Draft(content="User: what about engines?", kind="turn"))
    assert call(lore, "read_graph").text == (json.dumps({"entities": shown, "relations": []}, indent=2),)
    lore.remember_all([Draft(content=f"Remark number {n}.") for n in range(60)])
    reply = call(lore, "read_graph")
    assert len(reply.data["entities"]) == 50
    assert reply.text[1].startswith("11 more memories of other tools are not shown")
    lore.remember_all([Draft(content=f"{n} " + "long " * 8_000) for n in range(2)])
    assert len(answer_of(lore, "read_graph")["entities"]) == 1


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("create_entities", {"entities": [ADA, {"name": "B"}]}),
        ("create_entities", {"entities": [ADA, ADA | {"name": ""}]}),
        ("create_entities", {"entities": [ADA | {"observations": ["nul \0"]}]}),
        ("create_relations", {"relations": [KNOWS, {"from": "A"}]}),
        ("create_relations", {"relations": [KNOWS, KNOWS | {"to": ""}]}),
        ("add_observations", {"name": "Ada", "observations": ["x"]}),
    ],
)
def test_a_call_with_one_invalid_item_stores_nothing(
    lore: Lore, tool: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(LoreError):
        call(lore, tool, **arguments)
    assert answer_of(lore, "read_graph") == {"entities": [], "relations": []}
