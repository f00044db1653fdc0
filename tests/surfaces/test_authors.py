"""Who wrote what: every dialect that can say it names the author of a memory, if it has one."""

import json
from dataclasses import replace
from typing import Any

import pytest

from lore import Lore
from lore.surfaces import SURFACES
from tests.surfaces.checked import checked_call

TEXT = "The ferry to Elba leaves at noon"
ASKING: dict[str, tuple[str, dict[str, Any]]] = {
    "tree": ("search", {"query": "ferry", "detail": "preview"}),
    "tree-first": ("query_memory", {"topic": "ferry"}),
    "typed": ("memory_recall", {"query": "ferry"}),
    "scored": ("lore_search", {"query": "ferry"}),
    "graph": ("search_nodes", {"query": "ferry"}),
    "official": ("search_nodes", {"query": "ferry"}),
}
SILENT = {"official": "a drop-in: its answers have the fields of the server that it replaces"}


def test_every_dialect_with_a_search_is_asked_here() -> None:
    assert ASKING.keys() | {"files"} == SURFACES.keys(), "files are texts that agents edit"


@pytest.mark.parametrize("dialect", ASKING)
def test_an_answer_names_the_author_of_a_memory_and_has_no_field_for_none(dialect: str, lore: Lore) -> None:
    def answer() -> str:
        tool, arguments = ASKING[dialect]
        return json.dumps(checked_call(SURFACES[dialect].tools[tool], lore, arguments).data)

    memory = lore.remember(TEXT)
    assert TEXT in answer()
    assert "author" not in answer()
    lore.forget([memory.id])
    replace(lore, author="alice").remember(TEXT)
    assert TEXT in answer()
    assert ("alice" in answer()) == (dialect not in SILENT)


def test_a_fragment_that_is_read_names_its_author(lore: Lore) -> None:
    memory = replace(lore, author="alice").remember(TEXT)
    assert checked_call(SURFACES["tree"].tools["read"], lore, {"id": memory.id}).data["author"] == "alice"


def test_an_entity_names_all_who_wrote_about_it(lore: Lore) -> None:
    tools = SURFACES["graph"].tools
    for who in ("bob", "alice"):
        entity = {"name": "Elba", "entityType": "island", "observations": [f"{who} was there"]}
        checked_call(tools["create_entities"], replace(lore, author=who), {"entities": [entity]})
    opened = checked_call(tools["open_nodes"], lore, {"names": ["Elba"]}).data
    assert opened["entities"][0]["authors"] == ["alice", "bob"]
