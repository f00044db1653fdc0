"""One store, many dialects: what one tool saves, every tool of every dialect can read, extend, relate,
change and delete, or refuses in clear words; and what is deleted is gone for all of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from lore import Draft, Filter, Lore, LoreError
from lore.engine.entity_view import Subject
from lore.surfaces import SURFACES
from tests.surfaces.checked import checked_call

MARK = "Quillfeather"
SENTENCE = f"The walrus station keeps its logbook under the name {MARK}."
QUESTION = "walrus station"
NAME = "Northern outpost"
BYSTANDER = "Zebras graze on the far side of the river."
OTHER = "Zoo"

NEWS_MARK = "Glimmerwick"
NEWS = f"Its spare lantern for the polar winter is called {NEWS_MARK}."
NEWS_QUESTION = "spare lantern"

Arguments = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Saved:
    """What a dialect has saved, as the others address it.

    id: of the memory with the sentence. name, number: of the node that the graph shows for it.
    """

    id: str
    name: str
    number: int


Call = tuple[str, Callable[[Saved], Arguments]]

ENTITY = {"name": NAME, "entityType": "Place", "observations": [SENTENCE]}
SAVES: dict[str, tuple[str, Arguments]] = {
    "tree.store": ("store", {"content": SENTENCE}),
    "tree-first.store_memory": ("store_memory", {"content": SENTENCE, "summary": "the logbook"}),
    "typed.memory_save": ("memory_save", {"content": SENTENCE, "memory_type": "event"}),
    "scored.lore_insert": ("lore_insert", {"memories": [{"title": NAME, "content": SENTENCE}]}),
    "scored.lore_remember": ("lore_remember", {"thought": SENTENCE}),
    "graph.create_entities": ("create_entities", {"entities": [ENTITY]}),
    "official.create_entities": ("create_entities", {"entities": [ENTITY]}),
    "files.memory": ("memory", {"command": "create", "path": "/memories/station.md", "file_text": SENTENCE}),
}
ENTITIES = {"graph.create_entities", "official.create_entities"}


def finds(question: str) -> list[tuple[str, Arguments]]:
    """The tools that find by words."""
    return [
        ("tree.search", {"query": question}),
        ("tree-first.query_memory", {"topic": question}),
        ("typed.memory_recall", {"query": question}),
        ("scored.lore_search", {"query": question}),
        ("graph.search_nodes", {"query": question}),
        ("graph.search_semantic", {"query": question}),
        ("official.search_nodes", {"query": question}),
    ]


READS: list[Call] = [
    *((tool, lambda _, given=given: given) for tool, given in finds(QUESTION)),
    ("tree.read", lambda saved: {"id": saved.id}),
    ("tree.list_roots", lambda _: {}),
    ("tree-first.explore_memory", lambda _: {"topic": QUESTION}),
    ("scored.lore_search", lambda saved: {"ids": [saved.id]}),
    ("typed.memory_recall", lambda _: {"mode": "recent"}),
    ("graph.open_nodes", lambda saved: {"names": [saved.name]}),
    ("graph.open_nodes", lambda saved: {"names": [saved.name], "detailed": True}),
    ("graph.read_graph", lambda _: {}),
    ("official.open_nodes", lambda saved: {"names": [saved.name]}),
    ("official.read_graph", lambda _: {}),
]
"""The answer holds the sentence; where it holds ids instead, it is read on from there."""

EXTENDS: list[Call] = [
    ("tree.store", lambda saved: {"content": NEWS, "parent_id": saved.id}),
    ("tree-first.store_memory", lambda saved: {"content": NEWS, "summary": NEWS, "parent_id": saved.id}),
    ("typed.memory_save", lambda saved: {"content": NEWS, "associations": [{"target_id": saved.id}]}),
    (
        "scored.lore_insert",
        lambda saved: {
            "memories": [
                {"title": "Lantern", "content": NEWS, "links": [_scored_link(saved)]},
            ]
        },
    ),
    ("graph.add_observations", lambda saved: {"name": saved.name, "observations": [NEWS]}),
    (
        "official.add_observations",
        lambda saved: {"observations": [{"entityName": saved.name, "contents": [NEWS]}]},
    ),
]
"""Afterwards the news are found by every dialect."""

CHANGES: list[Call] = [("tree.update", lambda saved: {"fragment_id": saved.id, "content": NEWS})]
"""Afterwards every dialect finds the news, and none the sentence."""

RELATES: list[Call] = [
    ("graph.create_relations", lambda saved: {"relations": [_relation(saved)]}),
    ("official.create_relations", lambda saved: {"relations": [_relation(saved)]}),
]
UNRELATES: list[Call] = [
    ("graph.delete_relations", lambda saved: {"relations": [_relation(saved)]}),
    ("official.delete_relations", lambda saved: {"relations": [_relation(saved)]}),
    ("graph.end_relation", lambda saved: {"relation_id": 0}),
]

DELETES: list[Call] = [
    ("tree.delete", lambda saved: {"fragment_id": saved.id}),
    ("typed.memory_delete", lambda saved: {"memory_id": saved.id}),
    ("scored.lore_forget", lambda saved: {"memory_ids": [saved.id], "reason": "outdated"}),
    (
        "scored.lore_update",
        lambda saved: {"memory_feedback": [{"id": saved.id, "useful": False, "confidence": 1}]},
    ),
    ("graph.delete_entities", lambda saved: {"entityNames": [saved.name]}),
    ("graph.delete_observations", lambda saved: {"name": saved.name, "observations": [SENTENCE]}),
    ("official.delete_entities", lambda saved: {"entityNames": [saved.name]}),
    (
        "official.delete_observations",
        lambda saved: {"deletions": [{"entityName": saved.name, "observations": [SENTENCE]}]},
    ),
]
"""Afterwards no dialect finds the sentence."""

ENTITIES_ONLY: list[Call] = [
    ("graph.analyze_entity_split", lambda saved: {"entity_name": saved.name}),
    ("graph.propose_entity_split", lambda saved: {"entity_name": saved.name}),
    ("graph.execute_entity_split", lambda saved: {"entity_name": saved.name, "approved_splits": [_split()]}),
    ("graph.find_duplicate_observations", lambda saved: {"entity_name": saved.name}),
]
"""What does not make sense for other memories is refused with the reason."""

ALSO: list[Call] = [
    ("tree-first.traverse_memory", lambda saved: {"fragment_id": saved.id, "direction": "children"}),
    ("scored.lore_recommend_links", lambda saved: {"lore_id": saved.id}),
    (
        "graph.add_reflection",
        lambda saved: {"target_type": "entity", "target_id": saved.number, "content": "It matters."},
    ),
    (
        "scored.lore_reflect",
        lambda saved: {"session_id": "s", "summary": "A day at the station.", "memory_ids": [saved.id]},
    ),
]
"""Other tools that take a memory: they know it, whichever dialect saved it."""

NO_MEMORY = {
    "tree-first.list_topics",
    "scored.lore_processed_sessions",
    "scored.lore_get_suggestions",
    "scored.lore_review_suggestion",
    "graph.migrate",
    "graph.search_reflections",
    "graph.find_split_candidates",
    "graph.consolidation_report",
}
"""Tools that neither take a memory nor show one with its text."""


def _relation(saved: Saved) -> dict[str, str]:
    return {"from": saved.name, "to": OTHER, "relationType": "supplies"}


def _scored_link(saved: Saved) -> dict[str, str]:
    return {"target_memory_id": saved.id, "relation_type": "related_to", "reason": "the same place"}


def _split() -> dict[str, Any]:
    return {"name": "Part", "observations": [SENTENCE]}


each_saver = pytest.mark.parametrize("saver", SAVES)


def each(calls: list[Call]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("call", calls, ids=[tool for tool, _ in calls])


def run(lore: Lore, tool: str, arguments: Arguments) -> Any:
    surface, _, name = tool.partition(".")
    return checked_call(SURFACES[surface].tools[name], lore, arguments).data


def save(lore: Lore, saver: str) -> Saved:
    lore.remember(Draft(content=BYSTANDER, embed_now=True))
    lore.introduce([Subject(name=OTHER)])
    run(lore, saver, SAVES[saver][1])
    lore.embed_pending()
    [memory] = [memory for memory in lore.select(Filter(), 100) if MARK in memory.content]
    [node] = run(lore, "graph.search_nodes", {"query": MARK})["entities"]
    return Saved(id=memory.id, name=node["name"], number=node["id"])


def shown(lore: Lore, tool: str, arguments: Arguments) -> str:
    """All that an agent sees: at any depth, and read on where the tree dialects answer with ids."""
    if tool == "tree-first.query_memory":
        return str([run(lore, tool, {**arguments, "depth": depth}) for depth in range(4)])
    answer = run(lore, tool, arguments)
    if tool.startswith(("tree.", "tree-first.explore")):
        below: list[str] = []
        for _ in range(3):
            below = [id for id in _ids(answer) if id not in below]
            answer = [answer, *(run(lore, "tree.read", {"id": id}) for id in below)]
    return str(answer)


def _ids(answer: Any) -> list[str]:
    """The ids of memories in an answer of the tree dialects."""
    if isinstance(answer, list):
        return [id for item in answer for id in _ids(item)]
    if not isinstance(answer, dict):
        return []
    own = [answer["id"]] if "id" in answer else []
    children = [id for id in answer.get("children", []) if isinstance(id, str)]
    return own + children + [id for value in answer.values() for id in _ids(value)]


def visible(lore: Lore, mark: str, question: str) -> list[str]:
    """The tools that find a text by its words."""
    return [tool for tool, given in finds(question) if mark in shown(lore, tool, given)]


def test_every_tool_of_every_dialect_is_part_of_the_matrix() -> None:
    groups = (READS, EXTENDS, CHANGES, RELATES, UNRELATES, DELETES, ENTITIES_ONLY, ALSO)
    covered = {tool for calls in groups for tool, _ in calls} | set(SAVES) | NO_MEMORY
    assert covered == {f"{name}.{tool}" for name, surface in SURFACES.items() for tool in surface.tools}


@each_saver
def test_what_one_saves_every_other_reads(saver: str, lore: Lore) -> None:
    saved = save(lore, saver)
    assert [tool for tool, given in READS if MARK not in shown(lore, tool, given(saved))] == []
    for tool, given in ALSO:
        run(lore, tool, given(saved))


@each_saver
@each(EXTENDS)
def test_what_one_saves_every_other_extends(call: Call, saver: str, lore: Lore) -> None:
    tool, given = call
    saved = save(lore, saver)
    run(lore, tool, given(saved))
    lore.embed_pending()
    assert visible(lore, NEWS_MARK, NEWS_QUESTION) == [tool for tool, _ in finds("")]
    assert visible(lore, MARK, QUESTION) == [tool for tool, _ in finds("")]


@each_saver
@each(CHANGES)
def test_what_one_saves_every_other_changes(call: Call, saver: str, lore: Lore) -> None:
    tool, given = call
    run(lore, tool, given(save(lore, saver)))
    lore.embed_pending()
    assert visible(lore, NEWS_MARK, NEWS_QUESTION) == [tool for tool, _ in finds("")]
    assert visible(lore, MARK, QUESTION) == []


@each_saver
@each(RELATES)
def test_what_one_saves_every_other_relates_and_unrelates(call: Call, saver: str, lore: Lore) -> None:
    tool, given = call
    saved = save(lore, saver)
    for ending, gone in UNRELATES:
        run(lore, tool, given(saved))
        for reader in ("graph", "official"):
            [relation] = run(lore, f"{reader}.open_nodes", {"names": [OTHER]})["relations"]
            assert {key: relation[key] for key in _relation(saved)} == _relation(saved)
            assert run(lore, f"{reader}.open_nodes", {"names": [relation["from"]]})["relations"]
            assert run(lore, f"{reader}.read_graph", {})["relations"]
        [relation] = run(lore, "graph.search_nodes", {"query": MARK})["relations"]
        numbered = {"relation_id": relation["id"]} if ending == "graph.end_relation" else gone(saved)
        run(lore, ending, numbered)
        assert run(lore, "official.read_graph", {})["relations"] == []


@each_saver
@each(DELETES)
def test_what_one_saves_every_other_deletes_and_it_is_gone_for_all(
    call: Call, saver: str, lore: Lore
) -> None:
    tool, given = call
    saved = save(lore, saver)
    run(lore, tool, given(saved))
    left = [tool for tool, read in READS if tool != "tree.read" and MARK in shown(lore, tool, read(saved))]
    assert left == []
    assert MARK not in str([memory.content for memory in lore.select(Filter(), 100)])
    lore.restore([memory.id for memory in lore.select(Filter(forgotten=True), 100) if memory.forgotten_at])
    lore.embed_pending()
    assert visible(lore, MARK, QUESTION) == [tool for tool, _ in finds("")]


@each_saver
@each(ENTITIES_ONLY)
def test_what_is_for_entities_only_says_so_of_other_memories(call: Call, saver: str, lore: Lore) -> None:
    tool, given = call
    saved = save(lore, saver)
    if saver in ENTITIES:
        run(lore, tool, given(saved))
    else:
        with pytest.raises(LoreError, match=r"another tool stored, not an entity"):
            run(lore, tool, given(saved))
