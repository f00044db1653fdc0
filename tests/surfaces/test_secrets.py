"""No tool of any dialect stores a secret, in whichever argument it comes. The secret here is made up."""

import json
import random
import string
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lore import Draft, Lore, LoreError
from lore.engine.entity_view import Subject
from lore.engine.relate import Relation
from lore.surfaces import SURFACES

SECRET = "ghp_" + "".join(random.Random(3).choices(string.ascii_letters + string.digits, k=36))
TEXT = f"The walrus station logs in with {SECRET} at night."
OTHER = f"Its second lantern needs {SECRET} as well."
NAME = f"Station {SECRET}"
NEEDLE = SECRET[4:24].lower().encode()
"""A part of the secret that the text index would hold as it is."""

ID, NUMBER = "the id of a memory", 1_000_000
"""What stands in the arguments for the id of a memory and for the number of the entity Zoo."""

Arguments = Mapping[str, Any]
LESSONS = {"lessons_learnt": [TEXT], "good_patterns": [OTHER], "factual_discoveries": [f"One more: {SECRET}"]}
RELATION = {"from": "Zoo", "to": "Park", "relationType": f"opened_by_{SECRET}"}
IMPLIED = {"from": f"North {SECRET}", "to": NAME, "relationType": "supplies"}
CALLS: list[tuple[str, Arguments]] = [
    ("tree.store", {"content": TEXT, "parent_id": ID}),
    ("tree.update", {"fragment_id": ID, "content": TEXT}),
    ("tree.delete", {"fragment_id": ID}),
    ("tree.search", {"query": TEXT}),
    ("tree.read", {"id": ID}),
    ("tree.list_roots", {}),
    ("tree-first.store_memory", {"content": TEXT, "summary": OTHER}),
    ("tree-first.query_memory", {"topic": TEXT}),
    ("tree-first.explore_memory", {"topic": TEXT}),
    ("tree-first.traverse_memory", {"fragment_id": ID, "direction": "children"}),
    ("tree-first.list_topics", {}),
    ("scored.lore_search", {"query": TEXT}),
    ("scored.lore_remember", {"thought": TEXT}),
    (
        "scored.lore_insert",
        {
            "memories": [
                {"title": NAME, "content": TEXT, "description": OTHER},
                {"title": "Lantern", "content": OTHER},
            ],
            "links": [
                {
                    "source_memory_id": "0",
                    "target_memory_id": ID,
                    "relation_type": "related_to",
                    "reason": TEXT,
                }
            ],
        },
    ),
    ("scored.lore_update", {"memory_feedback": [{"id": ID, "useful": True, "confidence": 1}]}),
    ("scored.lore_forget", {"memory_ids": [ID], "reason": "outdated"}),
    (
        "scored.lore_reflect",
        {
            "session_id": SECRET,
            "summary": TEXT,
            "topic": NAME,
            "task_type": SECRET,
            "what_was_done": OTHER,
            "decisions": TEXT,
            **LESSONS,
            "user_profile_updates": [f"The user likes {SECRET}."],
            "memory_ids": [ID],
        },
    ),
    ("scored.lore_review_suggestion", {"suggestion_ids": [SECRET], "action": "accept"}),
    ("scored.lore_get_suggestions", {}),
    ("scored.lore_recommend_links", {"lore_id": ID}),
    ("scored.lore_processed_sessions", {}),
    ("typed.memory_save", {"content": TEXT, "source": SECRET, "channel_id": SECRET}),
    ("typed.memory_recall", {"query": TEXT}),
    ("typed.memory_delete", {"memory_id": ID, "reason": TEXT}),
    (
        "graph.create_entities",
        {"entities": [{"name": NAME, "entityType": SECRET, "status": SECRET, "observations": [TEXT, OTHER]}]},
    ),
    ("graph.add_observations", {"name": "Zoo", "observations": [TEXT, OTHER], "kind": SECRET}),
    (
        "graph.add_reflection",
        {
            "target_type": "entity",
            "target_id": NUMBER,
            "content": TEXT,
            "author": SECRET,
            "mood": SECRET,
        },
    ),
    ("graph.create_relations", {"relations": [RELATION | {"context": TEXT}]}),
    ("graph.delete_relations", {"relations": [RELATION]}),
    ("graph.end_relation", {"relation_id": 1}),
    ("graph.delete_entities", {"entityNames": [NAME, "Zoo"]}),
    ("graph.delete_observations", {"name": "Zoo", "observations": [TEXT]}),
    (
        "graph.execute_entity_split",
        {
            "entity_name": "Zoo",
            "approved_splits": [{"name": NAME, "entity_type": SECRET, "observations": ["It has walruses."]}],
        },
    ),
    ("graph.migrate", {"source_path": "export.jsonl"}),
    ("graph.open_nodes", {"names": [NAME, "Zoo"]}),
    ("graph.read_graph", {}),
    ("graph.search_nodes", {"query": TEXT}),
    ("graph.search_semantic", {"query": TEXT}),
    ("graph.search_reflections", {"query": TEXT}),
    ("graph.analyze_entity_split", {"entity_name": "Zoo"}),
    ("graph.propose_entity_split", {"entity_name": "Zoo"}),
    ("graph.find_split_candidates", {}),
    ("graph.find_duplicate_observations", {"entity_name": "Zoo"}),
    ("graph.consolidation_report", {}),
    (
        "official.create_entities",
        {"entities": [{"name": NAME, "entityType": SECRET, "observations": [TEXT, OTHER]}]},
    ),
    ("official.create_relations", {"relations": [RELATION, IMPLIED]}),
    ("official.add_observations", {"observations": [{"entityName": "Zoo", "contents": [TEXT]}]}),
    ("official.delete_entities", {"entityNames": [NAME, "Zoo"]}),
    ("official.delete_observations", {"deletions": [{"entityName": "Zoo", "observations": [TEXT]}]}),
    ("official.delete_relations", {"relations": [RELATION]}),
    ("official.read_graph", {}),
    ("official.search_nodes", {"query": TEXT}),
    ("official.open_nodes", {"names": [NAME, "Zoo"]}),
    ("files.memory", {"command": "create", "path": "/memories/station.md", "file_text": TEXT}),
    ("files.memory", {"command": "create", "path": f"/memories/{SECRET}.md", "file_text": OTHER}),
]


def run(lore: Lore, tool: str, arguments: Mapping[str, Any]) -> Any:
    surface, _, name = tool.partition(".")
    return SURFACES[surface].tools[name](replace(lore, surface=surface, actor=SECRET), arguments).data


def stored(lore: Lore) -> bytes:
    """All bytes of the store, its log included, in small letters."""
    path = Path(lore.store.report().location)
    files = [path, path.with_name(f"{path.name}-wal")]
    return b"".join(file.read_bytes() for file in files if file.exists()).lower()


def test_every_tool_of_every_dialect_takes_part() -> None:
    tools = {f"{name}.{tool}" for name, surface in SURFACES.items() for tool in surface.tools}
    assert {tool for tool, _ in CALLS} == tools


@pytest.mark.parametrize(("tool", "arguments"), CALLS, ids=[tool for tool, _ in CALLS])
def test_no_tool_stores_a_secret(
    tool: str, arguments: Arguments, lore: Lore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [
        {"type": "entity", "name": NAME, "entityType": SECRET, "observations": [TEXT]},
        {"type": "relation", "from": NAME, "to": f"South {SECRET}", "relationType": SECRET},
    ]
    (tmp_path / "export.jsonl").write_text("\n".join(map(json.dumps, lines)))
    lore = replace(lore, tuning=replace(lore.tuning, import_roots=str(tmp_path)))
    memory = lore.remember(Draft(content="Seals sleep on the ice."))
    names = ["Zoo", "Park"]
    zoo, _ = lore.introduce([Subject(name=name, observations=("It has walruses.",)) for name in names])
    lore.relate([Relation(source="Park", target="Zoo", type="near")])
    spelled = json.dumps(arguments).replace(ID, memory.id).replace(str(NUMBER), str(zoo.entity.alias))
    for _ in range(2):
        try:
            run(lore, tool, json.loads(spelled))
        except LoreError:
            assert not tool.endswith(
                ("store", "save", "insert", "remember", "create_entities", "reflect", "migrate")
            )
    lore.embed_pending()
    assert NEEDLE not in stored(lore)
    assert b"sleep on the ice" in stored(lore)


def test_a_secret_with_a_name_is_a_secret_in_metadata(lore: Lore) -> None:
    told = {"password": "tr0ub4dor", "nested": [{"api_key": "0123abcd4567"}], "note": "kept"}
    memory = lore.remember(Draft(content="A ferry.", metadata=told))
    assert memory.metadata == {
        "password": "[redacted: password]",
        "nested": [{"api_key": "[redacted: secret]"}],
        "note": "kept",
    }
    assert b"tr0ub4dor" not in stored(lore)


def test_the_same_text_with_a_secret_is_known_the_second_time(lore: Lore) -> None:
    first = lore.remember(Draft(content=TEXT, once=True))
    assert lore.remember(Draft(content=TEXT, once=True)).id == first.id
    lore.introduce([Subject(name=NAME, observations=(TEXT,))])
    [view] = lore.introduce([Subject(name=NAME, observations=(TEXT,))])
    assert view.added == ()


def test_the_vector_is_that_of_the_text_without_its_secret(lore: Lore) -> None:
    draft = Draft(content=TEXT, auto_parent_above=0.9)
    memory = lore.remember(draft)
    lore.embed_pending()
    [match] = lore.similar(memory.content, limit=1)
    assert match.meaning == pytest.approx(1.0, abs=1e-5)
