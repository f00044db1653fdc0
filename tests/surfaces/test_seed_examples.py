"""Conformance: every example request of the published descriptions, in order, with what it promises.

The requests have the published shapes; texts are our own. Example figures in the descriptions do not follow
their own formulas, so shapes and meaning are checked here, formulas in `tests/ranking`.
"""

from pathlib import Path
from typing import Any

import pytest

from lore import Lore, NotFound
from lore.surfaces import SURFACES
from tests.surfaces.checked import checked_call


def call(lore: Lore, surface: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return dict(checked_call(SURFACES[surface].names()[tool], lore, arguments).data)


# --- scored notes
def scored(lore: Lore, tool: str, **arguments: Any) -> dict[str, Any]:
    return call(lore, "scored", tool, arguments)


def test_the_scored_dialect_answers_its_examples(lore: Lore) -> None:
    flow = scored(
        lore,
        "lore_insert",
        memories=[{"title": "Checkout flow", "content": "Payment comes after the address."}],
    )
    target = flow["inserted_memories"][0]["id"]
    told = scored(
        lore,
        "lore_insert",
        memories=[
            {
                "title": "Mutable default arguments",
                "description": "One list for all calls.",
                "content": "...",
            },
            {
                "title": "Token refresh interval",
                "content": "Access tokens expire after an hour.",
                "links": [{"target_memory_id": target, "relation_type": "related_to", "reason": "login"}],
            },
        ],
        links=[],
        force=False,
    )
    assert [kept["title"] for kept in told["inserted_memories"]] == [
        "Mutable default arguments",
        "Token refresh interval",
    ]
    assert {link["relation_type"] for link in told["inserted_links"]} >= {"related_to"}
    assert (told["duplicates"], told["errors"]) == ([], [])
    one, other = (kept["id"] for kept in told["inserted_memories"])
    link = {
        "source_memory_id": one,
        "target_memory_id": other,
        "relation_type": "related_to",
        "reason": "both",
    }
    assert len(scored(lore, "lore_insert", memories=[], links=[link], force=False)["inserted_links"]) == 1

    lore.embed_pending()
    found = scored(
        lore,
        "lore_search",
        query="checkout payment flow",
        min_score=0.1,
        include_links=True,
        include_deleted=False,
        refine_from=None,
        format="full",
        ids=None,
    )
    best = found["results"][0]
    assert best["memory"]["title"] == "Checkout flow"
    assert set(best["relevance"]) == {"combined_score", "semantic_score", "keyword_score", "decay_factor"}
    assert best["links"][0]["relation_type"] == "related_to"
    titles = scored(lore, "lore_search", query="checkout payment flow", format="title")["results"]
    assert set(titles[0]) == {"id", "title", "score"}
    assert [
        hit["id"] for hit in scored(lore, "lore_search", ids=[other, one], format="title")["results"]
    ] == [
        other,
        one,
    ]

    thought = scored(lore, "lore_remember", thought="The hybrid formula weighs meaning more than words.")
    assert {"id", "title", "linked_to"} <= set(thought)
    rated = scored(
        lore,
        "lore_update",
        memory_feedback=[{"id": one, "useful": True, "confidence": 8}],
        link_feedback=[{"id": best["links"][0]["id"], "useful": False, "confidence": 3}],
    )
    assert (rated["updated_memories"], rated["updated_links"], rated["soft_deleted_memories"]) == (1, 1, 0)
    assert scored(lore, "lore_search", ids=[one])["results"][0]["memory"]["score"] == pytest.approx(5.4)

    gone = scored(lore, "lore_forget", memory_ids=[thought["id"], "unknown"], reason="hallucinated")
    assert gone == {"forgotten": [thought["id"]], "not_found": ["unknown"], "errors": []}
    session = {
        "session_id": "session-1",
        "summary": "Built the integration; three lessons.",
        "session_date": "2026-05-19",
        "topic": "integration",
        "task_type": "build",
        "what_was_done": "Built it.",
        "decisions": "- One session per call",
        "lessons_learnt": ["Look for duplicates before saving anything"],
        "good_patterns": ["Ask for independent things at once"],
        "factual_discoveries": ["Rebuilding the word index of five thousand notes takes ten milliseconds"],
        "memory_ids": [one, other],
        "auto_insert": True,
    }
    first = scored(lore, "lore_reflect", **session)
    assert {made["relation"] for made in first["memories_created"]} == {"discovered_in", "learned_in"}
    assert {made["status"] for made in first["memories_created"]} == {"inserted"}
    again = scored(lore, "lore_reflect", **session)
    assert (again["already_processed"], again["memories_created"]) == (True, [])
    assert again["reflection_id"] == first["reflection_id"]
    assert scored(lore, "lore_processed_sessions") == {"session_ids": ["session-1"]}
    links = scored(lore, "lore_recommend_links", lore_id=one, top_k=10)
    assert links["source_lore_id"] == one
    assert links["count"] == len(links["candidates"])
    for candidate in links["candidates"]:
        assert set(candidate["scores"]) == {"cosine", "bm25", "entity", "temporal"}


# --- the graph
def graph(lore: Lore, tool: str, **arguments: Any) -> dict[str, Any]:
    return call(lore, "graph", tool, arguments)


STACK, PLACE = "Stack: Astro and Starlight", "Deployed at example.org"


def test_the_graph_dialect_answers_its_examples(lore: Lore) -> None:
    entity = {"name": "Site", "entityType": "Project", "observations": [STACK, PLACE]}
    [told] = graph(lore, "create_entities", entities=[entity])["entities"]
    assert entity.items() <= told.items()
    graph(lore, "create_entities", entities=[{"name": "Astro"}, {"name": "Old Project"}])
    triple = {"from": "Site", "to": "Astro", "relationType": "uses"}
    [made] = graph(lore, "create_relations", relations=[triple])["relations"]
    assert {key: made[key] for key in triple} == triple
    [repeated] = graph(lore, "create_relations", relations=[triple])["relations"]
    assert repeated["error"] == "Relation already exists"
    missing = graph(lore, "create_relations", relations=[triple | {"to": "Nowhere"}])
    assert missing["errors"] == ["Entity not found: Nowhere"]

    more = ["Charts by ECharts", "Accent colour: teal"]
    kept = graph(lore, "add_observations", name="Site", observations=[*more, STACK])["entity"]
    assert (kept["name"], kept["entityType"]) == ("Site", "Project")
    assert kept["observations"] == [STACK, PLACE, *more]
    kept = graph(lore, "delete_observations", name="Site", observations=[more[1], "never said"])["entity"]
    assert kept["observations"] == [STACK, PLACE, more[0]]
    with pytest.raises(NotFound, match="Entity not found: Nowhere"):
        graph(lore, "add_observations", name="Nowhere", observations=["x"])
    gone = graph(lore, "delete_entities", entityNames=["Old Project", "Never There"])
    assert gone == {"deleted": ["Old Project"], "errors": ["Entity not found: Never There"]}

    assert [node["name"] for node in graph(lore, "search_nodes", query="astro")["entities"]] == [
        "Site",
        "Astro",
    ]
    opened = graph(lore, "open_nodes", names=["Site", "Nobody"])["entities"]
    assert [(node["name"], node["observations"]) for node in opened] == [("Site", [STACK, PLACE, more[0]])]
    lore.embed_pending()
    [best, *_] = graph(lore, "search_semantic", query="astro starlight stack", limit=5)["results"]
    assert best["name"] == "Site"
    assert {"limbic_score", "scoring", "distance", "rrf_score"} <= set(best)
    assert set(best["scoring"]) == {"importance", "temporal_factor", "cooc_boost"}

    ended = graph(lore, "end_relation", relation_id=made["id"])
    assert "expired" in ended["result"]
    assert graph(lore, "delete_relations", relations=[triple | {"to": "Nowhere"}])["deleted"] == []


def test_splitting_and_maintenance_answer_their_examples(lore: Lore) -> None:
    topics = ("sailing boats wind harbour", "baking bread flour oven", "chess openings pawns queen")
    told = [f"{topics[n % 3]} number {n}" for n in range(28)]
    graph(lore, "create_entities", entities=[{"name": "Big", "entityType": "Proyecto", "observations": told}])
    analysis = graph(lore, "analyze_entity_split", entity_name="Big")["analysis"]
    assert (analysis["observation_count"], analysis["threshold"], analysis["needs_split"]) == (28, 25, True)
    proposal = graph(lore, "propose_entity_split_tool", entity_name="Big")["proposal"]
    assert proposal == graph(lore, "propose_entity_split", entity_name="Big")["proposal"]
    assert {"original_entity", "suggested_splits", "relations_to_create", "analysis"} <= set(proposal)
    assert [found["entity_name"] for found in graph(lore, "find_split_candidates")["candidates"]] == ["Big"]
    part = {"name": "Big - Bread", "entity_type": "Proyecto", "observations": told[1:3]}
    result = graph(lore, "execute_entity_split_tool", entity_name="Big", approved_splits=[part])["result"]
    assert result == {
        "new_entities": ["Big - Bread"],
        "moved_observations": 2,
        "relations_created": 2,
        "original_observations_remaining": 26,
    }
    twins = graph(lore, "find_duplicate_observations", entity_name="Big", threshold=0.85)
    assert {"entity_name", "total_observations", "duplicate_pairs", "clusters"} <= set(twins)
    assert {"obs_text_a", "obs_text_b", "similarity_score", "match_type"} <= set(twins["duplicate_pairs"][0])
    report = graph(lore, "consolidation_report", stale_days=90)
    assert set(report["summary"]) == {
        "total_entities",
        "total_observations",
        "split_candidates_count",
        "flagged_observations_count",
        "stale_entities_count",
        "large_entities_count",
    }
    thought = graph(
        lore, "add_reflection", target_type="global", content="What shaped the harbour", author="nolan"
    )
    assert thought["result"]["author"] == "nolan"
    [found] = graph(lore, "search_reflections", query="harbour shaped", author="nolan", limit=5)["results"]
    assert found["id"] == thought["result"]["id"]
    assert "score" in found


def test_a_file_of_the_official_server_is_imported_once(lore: Lore, tmp_path: Path) -> None:
    file = Path.home() / f".lore-test-{tmp_path.name}.jsonl"
    file.write_text(
        '{"type":"entity","name":"A","entityType":"t","observations":["x"]}\n'
        '{"type":"entity","name":"B","entityType":"t","observations":[]}\n'
        '{"type":"relation","from":"A","to":"B","relationType":"knows"}\nnot json\n'
    )
    try:
        counts = graph(lore, "migrate", source_path=f"~/{file.name}")
        assert counts == {"entities_imported": 2, "relations_imported": 1, "errors": 0, "skipped": 1}
        graph(lore, "migrate", source_path=str(file))
    finally:
        file.unlink()
    assert len(graph(lore, "read_graph")["entities"]) == 2


# --- trees of the first generation: the published schemas
PUBLISHED = {
    "query_memory": ({"topic": None, "depth": 1, "limit": 10}, ["topic"]),
    "explore_memory": ({"topic": None, "max_depth": 2}, ["topic"]),
    "traverse_memory": ({"fragment_id": None, "direction": None}, ["fragment_id", "direction"]),
    "store_memory": (
        {"content": None, "summary": None, "parent_id": None, "depth": 2},
        ["content", "summary"],
    ),
    "list_topics": ({}, []),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_first_tools_of_the_trees_have_their_published_schemas(name: str) -> None:
    schema = SURFACES["tree-first"].tools[name].input_schema
    defaults, required = PUBLISHED[name]
    assert {key: value.get("default") for key, value in schema["properties"].items()} == defaults
    assert sorted(schema.get("required", [])) == sorted(required)


# --- typed memories
IMPORTANCE = {
    "identity": 1.0, "decision": 0.8, "preference": 0.7, "goal": 0.7,
    "fact": 0.5, "event": 0.5, "observation": 0.4, "todo": 0.3,
}  # fmt: skip


def test_the_typed_dialect_answers_its_examples(lore: Lore) -> None:
    ids = {}
    for kind in IMPORTANCE:
        saved = call(lore, "typed", "memory_save", {"content": f"a {kind} of its own", "memory_type": kind})
        assert saved["success"]
        ids[kind] = saved["memory_id"]
    tie = {"target_id": ids["fact"], "relation_type": "caused_by", "weight": 0.8}
    decision = {"content": "we chose the second way", "memory_type": "decision", "associations": [tie]}
    call(lore, "typed", "memory_save", decision | {"source": "user stated explicitly"})
    important = call(lore, "typed", "memory_recall", {"mode": "important", "max_results": 20})
    shown = {memory["id"]: memory["importance"] for memory in important["memories"]}
    assert {kind: shown[id] for kind, id in ids.items()} == IMPORTANCE
    hybrid = call(lore, "typed", "memory_recall", {"query": "a goal of its own"})
    assert hybrid["memories"][0]["id"] == ids["goal"]
    assert all(0 <= memory["relevance_score"] <= 1 for memory in hybrid["memories"])
    assert hybrid["total_found"] >= len(hybrid["memories"])
    typed = call(lore, "typed", "memory_recall", {"mode": "typed", "memory_type": "identity"})
    assert [memory["id"] for memory in typed["memories"]] == [ids["identity"]]
    gone = call(lore, "typed", "memory_delete", {"memory_id": ids["todo"], "reason": "done"})
    assert gone["forgotten"]
    assert "a todo of its own" in gone["message"]
