"""One store, many dialects: what one saves every other finds, and what one forgets is gone in all."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from lore import Draft, Filter, Lore
from lore.surfaces import SURFACES

MARK = "Quillfeather"
SENTENCE = f"The walrus station keeps its logbook under the name {MARK}."
QUESTION = "walrus station"
NAME = "Northern outpost"
BYSTANDER = "Zebras graze on the far side of the river."

Arguments = Mapping[str, Any]

ENTITY = {"name": NAME, "entityType": "Place", "observations": [SENTENCE]}
SAVES: dict[str, tuple[str, Arguments]] = {
    "tree": ("store", {"content": SENTENCE}),
    "tree-first": ("store_memory", {"content": SENTENCE, "summary": "the logbook of the station"}),
    "typed": ("memory_save", {"content": SENTENCE, "memory_type": "event"}),
    "scored": ("lore_insert", {"memories": [{"title": NAME, "content": SENTENCE}]}),
    "graph": ("create_entities", {"entities": [ENTITY]}),
    "official": ("create_entities", {"entities": [ENTITY]}),
}
"""How each dialect saves one memory."""

FINDS: list[tuple[str, str, Arguments]] = [
    ("tree", "search", {"query": QUESTION}),
    ("tree-first", "query_memory", {"topic": QUESTION}),
    ("typed", "memory_recall", {"query": QUESTION}),
    ("typed", "memory_recall", {"mode": "recent"}),
    ("scored", "lore_search", {"query": QUESTION}),
    ("graph", "search_nodes", {"query": QUESTION}),
    ("graph", "search_semantic", {"query": QUESTION}),
    ("official", "search_nodes", {"query": QUESTION}),
]
"""How each finds it: by words that the sentence holds, none of which is the mark."""

FORGETS: dict[str, Callable[[list[str]], list[tuple[str, Arguments]]]] = {
    "tree": lambda ids: [("delete", {"fragment_id": id}) for id in ids],
    "typed": lambda ids: [("memory_delete", {"memory_id": id}) for id in ids],
    "scored": lambda ids: [("lore_forget", {"memory_ids": ids, "reason": "outdated"})],
    "graph": lambda ids: [("delete_entities", {"entityNames": [NAME]})],
    "official": lambda ids: [("delete_entities", {"entityNames": [NAME]})],
}
BY_NAME = {"graph", "official"}
"""How each forgets memories by id; those that know names only are tried on entities."""

SAVERS = [name for name in SAVES if name in SURFACES]
FINDERS = [find for find in FINDS if find[0] in SURFACES]
FORGOTTEN = [
    (saver, forgetter)
    for saver in SAVERS
    for forgetter in FORGETS
    if forgetter in SURFACES and (forgetter not in BY_NAME or saver in BY_NAME)
]

each_saver = pytest.mark.parametrize("saver", SAVERS)
each_finder = pytest.mark.parametrize("finder", FINDERS, ids=lambda find: f"{find[0]}.{find[1]}")


def call(lore: Lore, surface: str, tool: str, arguments: Arguments) -> Any:
    return SURFACES[surface].tools[tool](lore, arguments).data


def save(lore: Lore, saver: str) -> None:
    lore.remember(Draft(content=BYSTANDER, at_once=True))
    call(lore, saver, *SAVES[saver])
    lore.settle()


def shown(lore: Lore, find: tuple[str, str, Arguments]) -> str:
    """All that an agent sees that looks for the sentence; where answers are ids, it reads on from them."""
    surface, tool, arguments = find
    answer = call(lore, surface, tool, arguments)
    if surface != "tree":
        return str(answer)
    readings = [call(lore, "tree", "read", {"id": result["id"]}) for result in answer["results"]]
    below = [call(lore, "tree", "read", {"id": id}) for reading in readings for id in reading["children"]]
    return str(readings + below)


def bearing(lore: Lore) -> list[str]:
    """The memories that hold the sentence."""
    return [memory.id for memory in lore.select(Filter(), 100) if MARK in memory.content + memory.context]


def test_every_surface_is_part_of_the_matrix() -> None:
    assert set(SURFACES) == set(SAVERS) == {surface for surface, _, _ in FINDERS}


@each_saver
@each_finder
def test_what_one_saves_every_other_finds(saver: str, finder: tuple[str, str, Arguments], lore: Lore) -> None:
    assert MARK not in shown(lore, finder)
    save(lore, saver)
    assert MARK in shown(lore, finder)


@pytest.mark.parametrize(("saver", "forgetter"), FORGOTTEN)
def test_what_one_forgets_is_gone_in_all(saver: str, forgetter: str, lore: Lore) -> None:
    save(lore, saver)
    for tool, arguments in FORGETS[forgetter](bearing(lore)):
        call(lore, forgetter, tool, arguments)
    for finder in FINDERS:
        assert MARK not in shown(lore, finder), finder
    assert [memory.content for memory in lore.select(Filter(), 100)] == [BYSTANDER]


@each_saver
def test_what_comes_back_is_found_again(saver: str, lore: Lore) -> None:
    save(lore, saver)
    ids = bearing(lore)
    lore.forget(ids)
    lore.restore(ids)
    for finder in FINDERS:
        assert MARK in shown(lore, finder), finder
