"""Citation marks: inside its repository every dialect says whether the files of a memory are as they were."""

from pathlib import Path
from typing import Any

import pytest

from lore import Draft, Lore
from lore.surfaces import SURFACES
from tests.surfaces.checked import checked_call

RULE = "The walrus pool in src/app.py must stay small."
ENTITY = {"name": "Ferry", "entityType": "Project", "observations": [RULE]}


def call(lore: Lore, surface: str, tool: str, arguments: dict[str, Any]) -> Any:
    return checked_call(SURFACES[surface].tools[tool], lore, arguments).data


MARKED: list[tuple[str, str, dict[str, Any], str]] = [
    ("tree", "search", {"query": "walrus pool"}, "results"),
    ("tree", "search", {"query": "walrus pool", "detail": "preview"}, "results"),
    ("tree", "search", {"query": "walrus pool", "detail": "full"}, "results"),
    ("tree", "read", {"ids": ["ID"]}, "fragments"),
    ("tree", "read", {"id": "ID"}, ""),
    ("tree", "list_roots", {}, "roots"),
    ("tree-first", "query_memory", {"topic": "walrus pool"}, "fragments"),
    ("tree-first", "traverse_memory", {"fragment_id": "ID", "direction": "parent"}, ""),
    ("scored", "lore_search", {"query": "walrus pool", "format": "title"}, "results"),
    ("scored", "lore_search", {"query": "walrus pool"}, "results memory"),
    ("typed", "memory_recall", {"query": "walrus pool"}, "memories"),
    ("typed", "memory_recall", {"mode": "recent"}, "memories"),
]


@pytest.mark.parametrize(("surface", "tool", "arguments", "place"), MARKED)
def test_a_memory_that_cites_a_file_is_marked_wherever_it_is_shown(
    surface: str, tool: str, arguments: dict[str, Any], place: str, inside: Lore, checkout: Path
) -> None:
    memory = inside.remember(Draft(content=RULE, kind="fragment", embed_now=True))
    given = {name: [memory.id] if value == ["ID"] else memory.id if value == "ID" else value
             for name, value in arguments.items()}  # fmt: skip

    def mark(lore: Lore) -> Any:
        data = call(lore, surface, tool, given)
        for name in place.split():
            data = data[name][0] if isinstance(data[name], list) else data[name]
        return data.get("citations")

    assert mark(inside) == {"src/app.py": "fresh"}
    (checkout / "src" / "app.py").write_text("pool = 8\n")
    assert mark(inside) == {"src/app.py": "changed"}
    assert mark(inside.in_folder("")) is None


def test_a_line_of_a_summary_names_the_file_that_changed(inside: Lore, checkout: Path) -> None:
    inside.remember(Draft(content=RULE, embed_now=True))
    (checkout / "src" / "app.py").unlink()
    summary = call(inside, "typed", "memory_recall", {"query": "walrus pool"})["summary"]
    assert "(outdated: src/app.py gone)" in summary


def test_the_graph_lists_an_observation_as_outdated_once_its_file_changed(
    inside: Lore, checkout: Path
) -> None:
    call(inside, "graph", "create_entities", {"entities": [ENTITY]})
    assert "outdated" not in call(inside, "graph", "open_nodes", {"names": ["Ferry"]})["entities"][0]
    (checkout / "src" / "app.py").write_text("pool = 8\n")
    [marked] = call(inside, "graph", "open_nodes", {"names": ["Ferry"]})["entities"][0]["outdated"]
    assert marked == {"observation": RULE, "citations": {"src/app.py": "changed"}}


def test_the_official_dialect_answers_as_before(inside: Lore, checkout: Path) -> None:
    call(inside, "official", "create_entities", {"entities": [ENTITY]})
    (checkout / "src" / "app.py").write_text("pool = 8\n")
    [shown] = call(inside, "official", "open_nodes", {"names": ["Ferry"]})["entities"]
    assert shown == {"name": "Ferry", "entityType": "Project", "observations": [RULE]}
