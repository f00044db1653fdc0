"""The graph dialect: the nineteen tools of seed 003, and read_graph, called as a door calls them."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lore import Draft, Filter, Invalid, Lore, LoreError, NotFound, Tie
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.embed.onnx import OnnxEmbedder
from lore.engine.read import last_change
from lore.ranking.policy import REFERENCE
from lore.surfaces import SURFACES
from lore.text import compact
from tests.surfaces.checked import checked_call

TOOLS = SURFACES["graph"].names()
SITE = {
    "name": "CachorroSpace",
    "entityType": "Project",
    "observations": ["Stack: Astro 6.x + Starlight 0.38.x", "Deployed on Vercel at cachorro.space"],
}
OLD, NEW = "The limit of Zephyr is 100", "The limit of Zephyr is 250"
USES = {"from": "CachorroSpace", "to": "Astro", "relationType": "uses"}


def call(lore: Lore, tool: str, **arguments: Any) -> dict[str, Any]:
    return dict(checked_call(TOOLS[tool], lore, arguments).data)


def created(lore: Lore, *entities: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = call(lore, "create_entities", entities=list(entities))["entities"]
    return found


def opened(lore: Lore, name: str, **arguments: Any) -> dict[str, Any]:
    [entity] = call(lore, "open_nodes", names=[name], **arguments)["entities"]
    assert isinstance(entity, dict)
    return entity


@pytest.fixture
def graph(lore: Lore) -> Lore:
    """The example of the documentation."""
    created(lore, SITE, {"name": "Astro"})
    call(lore, "create_relations", relations=[USES])
    return lore


def test_the_tools_are_there_and_each_is_listed_once() -> None:
    assert set(SURFACES["graph"].tools) == {
        "create_entities",
        "create_relations",
        "add_observations",
        "delete_entities",
        "delete_observations",
        "delete_relations",
        "search_nodes",
        "open_nodes",
        "search_semantic",
        "migrate",
        "analyze_entity_split",
        "propose_entity_split",
        "execute_entity_split",
        "find_split_candidates",
        "find_duplicate_observations",
        "consolidation_report",
        "end_relation",
        "add_reflection",
        "search_reflections",
        "read_graph",
    }
    assert TOOLS["propose_entity_split_tool"] is TOOLS["propose_entity_split"]
    assert TOOLS["execute_entity_split_tool"] is TOOLS["execute_entity_split"]


@pytest.mark.parametrize(
    ("tool", "required", "defaults"),
    [
        ("create_entities", ["entities"], {}),
        ("search_semantic", ["query"], {"limit": 10}),
        ("migrate", [], {"source_path": ""}),
        (
            "find_duplicate_observations",
            ["entity_name"],
            {"threshold": 0.85, "containment_threshold": 0.7},
        ),
        ("consolidation_report", [], {"stale_days": 90.0}),
        ("end_relation", ["relation_id"], {}),
        ("add_reflection", ["target_type", "content"], {"author": "sofia"}),
        ("search_reflections", ["query"], {"limit": 10}),
        ("execute_entity_split", ["entity_name", "approved_splits"], {}),
    ],
)
def test_parameters_and_defaults_are_those_of_the_dialect(
    tool: str, required: list[str], defaults: dict[str, Any]
) -> None:
    schema = TOOLS[tool].input_schema
    assert schema.get("required", []) == required
    given = {name: value.get("default") for name, value in schema["properties"].items()}
    assert {name: value for name, value in given.items() if value is not None} == defaults


def test_what_all_tools_cost_the_model_is_bounded() -> None:
    spent = sum(len(tool.description) + len(compact(tool.input_schema)) for tool in set_of_tools())
    assert spent / 4 < 2_400


def set_of_tools() -> list[Any]:
    return list(SURFACES["graph"].tools.values())


# --- entities and observations
def test_the_documented_examples_answer_as_documented(lore: Lore) -> None:
    [site] = created(lore, SITE)
    assert {key: site[key] for key in SITE} == SITE
    assert site["status"] == "activo"
    more = call(lore, "add_observations", name="CachorroSpace", observations=["Accent color: teal (#2dd4bf)"])
    assert more["entity"]["observations"] == [*SITE["observations"], "Accent color: teal (#2dd4bf)"]
    less = call(
        lore, "delete_observations", name="CachorroSpace", observations=["Accent color: teal (#2dd4bf)", "x"]
    )
    assert less["entity"]["observations"] == SITE["observations"]


def test_creating_an_existing_entity_adds_observations_and_keeps_its_type_and_status(lore: Lore) -> None:
    created(lore, SITE | {"status": "pausado"})
    [site] = created(lore, {"name": "CachorroSpace", "observations": [SITE["observations"][0], "new"]})
    assert (site["entityType"], site["status"]) == ("Project", "pausado")
    assert site["observations"] == [*SITE["observations"], "new"]


def test_observations_are_added_by_name_or_as_a_list_of_entities(graph: Lore) -> None:
    added = call(
        graph,
        "add_observations",
        observations=[
            {"entityName": "Astro", "contents": ["fast", "fast"]},
            {"entityName": "CachorroSpace", "contents": []},
        ],
    )
    assert added["results"] == [
        {"entityName": "Astro", "addedObservations": ["fast"]},
        {"entityName": "CachorroSpace", "addedObservations": []},
    ]
    gone = call(graph, "delete_observations", deletions=[{"entityName": "Astro", "observations": ["fast"]}])
    assert (gone["success"], gone["entity"]) == (True, None)
    assert opened(graph, "Astro")["observations"] == []


def test_deleting_reports_what_was_not_there_and_deletes_the_rest(graph: Lore) -> None:
    assert call(graph, "delete_entities", entityNames=["Astro", "Nope"]) == {
        "deleted": ["Astro"],
        "errors": ["Entity not found: Nope"],
    }
    assert call(graph, "read_graph")["relations"] == []


# --- relations
def test_relations_answer_as_documented(graph: Lore) -> None:
    again = call(graph, "create_relations", relations=[USES])
    assert again == {"relations": [USES | {"error": "Relation already exists"}], "errors": []}
    missing = call(graph, "create_relations", relations=[USES | {"to": "NonExistentEntity"}])
    assert missing == {
        "relations": [{"error": "Entity not found: NonExistentEntity"}],
        "errors": ["Entity not found: NonExistentEntity"],
    }
    assert call(graph, "delete_relations", relations=[USES]) == {"deleted": [USES], "errors": []}
    assert call(graph, "delete_relations", relations=[USES, USES | {"from": "X"}])["errors"] == [
        "Relation not found: CachorroSpace -> Astro (uses)",
        "Entity not found: X or Astro",
    ]


def test_a_relation_ends_by_the_id_that_searches_show(graph: Lore, clock: Clock) -> None:
    call(graph, "create_relations", relations=[USES | {"relationType": "contiene", "context": "core"}])
    relations = call(graph, "search_nodes", query="astro")["relations"]
    tie = next(one for one in relations if one["relationType"] == "contiene")
    clock.sleep(days=1)
    ended = call(graph, "end_relation", relation_id=tie["id"])
    assert ended["result"] == f"Relation {tie['id']} expired successfully"
    assert ended["relation"] == {
        "id": tie["id"],
        "from": "CachorroSpace",
        "to": "Astro",
        "relation_type": "contiene",
        "active": False,
        "ended_at": "2026-01-02 00:00:00",
        "context": "core",
    }
    assert ended["inverse_expired_id"] is not None
    again = call(graph, "end_relation", relation_id=tie["id"])
    assert (again["result"], set(again)) == (f"Relation {tie['id']} was already expired", set(ended))
    shown = opened(graph, "CachorroSpace", detailed=True)["relations"]
    assert {(one["relation_type"], one["direction"], one["active"]) for one in shown} == {
        ("uses", "from", True),
        ("contiene", "from", False),
        ("parte_de", "to", False),
    }


# --- searching
def test_text_is_found_in_name_type_and_observations(graph: Lore) -> None:
    for query, expected in (
        ("ASTRO", ["CachorroSpace", "Astro"]),
        ("project", ["CachorroSpace"]),
        ("cachorro.space", ["CachorroSpace"]),
        ("%", []),
        ("_", []),
        ("Space (Project", []),
        ("  ", []),
    ):
        found = call(graph, "search_nodes", query=query)["entities"]
        assert [entity["name"] for entity in found] == expected, query


def test_open_nodes_keeps_the_order_and_leaves_out_the_unknown(graph: Lore) -> None:
    found = call(graph, "open_nodes", names=["Astro", "Nope", "CachorroSpace", "astro"])
    assert [entity["name"] for entity in found["entities"]] == ["Astro", "CachorroSpace"]
    assert [(one["from"], one["to"]) for one in found["relations"]] == [("CachorroSpace", "Astro")]
    assert set(found["entities"][0]) == {"id", "name", "entityType", "status", "observations"}


def test_detailed_nodes_have_ids_ended_relations_and_reflections(graph: Lore) -> None:
    first = opened(graph, "CachorroSpace", detailed=True)["observations"][0]
    assert (first["kind"], first["similarity_flag"], first["superseded_at"]) == ("generic", 0, None)
    call(
        graph,
        "add_observations",
        name="CachorroSpace",
        observations=["Stack: Astro 7.x"],
        kind="decision",
        supersedes=first["id"],
    )
    now = opened(graph, "CachorroSpace", detailed=True, include_superseded=True)["observations"]
    assert [one["superseded_at"] is not None for one in now] == [True, False, False]
    assert now[2]["supersedes"] == first["id"]
    assert opened(graph, "CachorroSpace", kinds=["decision"])["observations"] == ["Stack: Astro 7.x"]
    call(graph, "add_reflection", target_type="entity", target_id=1, content="It matters.")
    [thought] = opened(graph, "CachorroSpace", detailed=True)["reflections"]
    assert thought["content"] == "It matters."


def test_semantic_results_have_the_documented_keys(graph: Lore) -> None:
    results = call(graph, "search_semantic", query="where is it deployed", limit=5)["results"]
    assert results[0]["name"] == "CachorroSpace"
    for result in results:
        assert set(result) == {
            "id",
            "name",
            "entityType",
            "status",
            "observations",
            "limbic_score",
            "scoring",
            "routing_strategy",
            "distance",
            "rrf_score",
        }
        assert set(result["scoring"]) == {"importance", "temporal_factor", "cooc_boost"}
    by_formula = replace(graph, policies=REFERENCE)
    by_meaning_only = call(by_formula, "search_semantic", query="xyzzy", limit=5)["results"]
    assert by_meaning_only
    assert all("rrf_score" not in result for result in by_meaning_only)
    nothing = call(graph, "search_semantic", query="What is the capital of Mongolia?")
    assert nothing == {"results": [], "notes": ["Nothing relevant is known about this."]}


def test_a_search_shows_the_observations_that_match_within_a_budget(graph: Lore) -> None:
    notes = [f"note {number} about the walrus " + "word " * 300 for number in range(90)]
    call(graph, "create_entities", entities=[{"name": "Walrus", "observations": [*notes, "tusk is ivory"]}])
    result, *_ = call(graph, "search_semantic", query="walrus tusk ivory", limit=2)["results"]
    assert "tusk is ivory" in result["observations"]
    assert (len(result["observations"]), result["observations_omitted"]) == (20, 71)
    assert len(json.dumps(result)) < 20_000
    [whole] = call(graph, "open_nodes", names=["Walrus"])["entities"]
    assert len(whole["observations"]) == 91


def test_an_observation_that_was_replaced_says_by_what(graph: Lore) -> None:
    old, new = "The limit of Zephyr is 100", "The limit of Zephyr is 250"
    for content in (old, new):
        SURFACES["tree"].tools["store"](graph, {"content": content, "depth": 0})
    ids = {memory.content: memory.id for memory in graph.select(Filter(), 100)}
    graph.link([Tie(source=ids[new], target=ids[old], type="updates")])
    [opened] = call(graph, "open_nodes", names=[old])["entities"]
    [mark] = opened["outdated"]
    assert (mark["observation"], mark["updated_by"]["label"]) == (old, new)


def test_searches_and_the_whole_graph_mark_what_is_updated(graph: Lore) -> None:
    for content in (OLD, NEW):
        SURFACES["tree"].tools["store"](graph, {"content": content, "depth": 0})
    for answer in (call(graph, "search_nodes", query="limit"), call(graph, "read_graph")):
        marks = {one["name"]: one["outdated"] for one in answer["entities"] if "outdated" in one}
        assert {name: mark["updated_by"]["label"] for name, [mark] in marks.items()} == {OLD: NEW}


@pytest.mark.parametrize("include_superseded", [False, True])
def test_a_memory_that_was_replaced_is_opened_by_its_old_name_and_says_by_what(
    graph: Lore, clock: Clock, include_superseded: bool
) -> None:
    new = replaced_at_night(graph, clock)
    entity = opened(graph, OLD, include_superseded=include_superseded)
    assert entity["observations"] == [OLD]
    [mark] = entity["outdated"]
    assert mark == {
        "observation": OLD,
        "replaced_by": {"id": new, "label": NEW, "date": "2026-01-04"},
    }
    assert [one["name"] for one in call(graph, "search_nodes", query="limit")["entities"]] == [NEW]
    assert SURFACES["official"].tools["open_nodes"](graph, {"names": [OLD]}).data["entities"] == []


def test_a_memory_that_was_replaced_is_refused_with_the_name_of_the_newer_one(
    graph: Lore, clock: Clock
) -> None:
    new = replaced_at_night(graph, clock)
    refusal = f"Entity not found: {OLD} (replaced by {NEW!r}, id {new}, on 2026-01-04)"
    for tool in ("add_observations", "delete_observations"):
        with pytest.raises(LoreError) as error:
            call(graph, tool, name=OLD, observations=["x"])
        assert str(error.value) == refusal
    assert call(graph, "delete_entities", entityNames=[OLD])["errors"] == [refusal]
    tie = {"from": OLD, "to": "Astro", "relationType": "limits"}
    assert call(graph, "create_relations", relations=[tie])["errors"] == [refusal]


def replaced_at_night(lore: Lore, clock: Clock) -> str:
    """Store two statements, of which the newer replaces the older three days later; the id of the newer."""
    old, new = (
        SURFACES["tree"].tools["store"](lore, {"content": content, "depth": 0}).data["id"]
        for content in (OLD, NEW)
    )
    clock.sleep(days=3)
    lore.supersede(old, new)
    return str(new)


def test_observations_that_are_not_there_to_be_deleted_are_named(graph: Lore) -> None:
    SURFACES["tree"].tools["store"](graph, {"content": OLD, "depth": 0})
    for name in (OLD, "Astro"):
        gone = call(graph, "delete_observations", name=name, observations=["bogus"])
        assert (gone["success"], gone["message"]) == (False, "0 of 1 observations deleted")
        assert gone["errors"] == [f"Observation not found in {name!r}: 'bogus'"]
    site = SITE["observations"][0]
    deletions = [
        {"entityName": "CachorroSpace", "observations": [site, "bogus"]},
        {"entityName": "Nope", "observations": ["x"]},
    ]
    gone = call(graph, "delete_observations", deletions=deletions)
    assert (gone["success"], gone["message"]) == (True, "1 of 3 observations deleted")
    assert gone["errors"] == ["Observation not found in 'CachorroSpace': 'bogus'", "Entity not found: Nope"]


def test_a_search_changes_nothing_in_the_graph(graph: Lore, clock: Clock) -> None:
    changed = last_change(graph.store.reader(graph.namespace))
    clock.sleep(days=1)
    call(graph, "search_semantic", query="deployed")
    call(graph, "open_nodes", names=["Astro", "CachorroSpace"])
    call(graph, "search_nodes", query="astro")
    call(graph, "consolidation_report")
    assert last_change(graph.store.reader(graph.namespace)) == changed


def test_what_other_dialects_keep_is_shown_as_entities(graph: Lore) -> None:
    graph.remember(Draft(content="The astro meetup is on Friday.", type="event", embed_now=True))
    found = call(graph, "search_nodes", query="meetup")["entities"]
    assert [(one["name"], one["entityType"], one["observations"]) for one in found] == [
        ("The astro meetup is on Friday.", "event", ["The astro meetup is on Friday."])
    ]
    assert opened(graph, found[0]["name"])["id"] == found[0]["id"]
    names = [one["name"] for one in call(graph, "search_semantic", query="meetup on friday")["results"]]
    assert names[0] == "The astro meetup is on Friday."


@pytest.mark.parametrize(
    "content",
    [
        "Short.",
        "A long remark whose first eighty characters are its name, cut somewhere within a word, and more.",
        "First line\nsecond   line\n\n" + "and so on " * 20,
        "日本語のとても長い文章" * 20,
        "🙂🙂🙂",
        "x" * 300,
        "Ends with an ellipsis…",
        "…",
        "(#12)",
        "say \"quoted\" AND (NOT 'this')",
    ],
)
def test_the_name_that_is_shown_addresses_the_memory(lore: Lore, content: str) -> None:
    memory = lore.remember(Draft(content=content))
    [shown] = call(lore, "read_graph")["entities"]
    more = call(lore, "add_observations", name=shown["name"], observations=["One more fact."])
    assert more["entity"]["observations"] == [content, "One more fact."]
    assert opened(lore, shown["name"])["observations"] == [content, "One more fact."]
    with pytest.raises(Invalid, match="other observations were added to it"):
        call(lore, "delete_observations", name=shown["name"], observations=[content])
    assert call(lore, "delete_entities", entityNames=[shown["name"]])["deleted"] == [shown["name"]]
    assert call(lore, "search_nodes", query="one more fact")["entities"] == []
    lore.restore([memory.id])
    assert opened(lore, shown["name"])["observations"] == [content, "One more fact."]
    gone = call(lore, "delete_observations", name=shown["name"], observations=[content, "One more fact."])
    assert (gone["success"], gone["entity"]) == (True, None)
    assert call(lore, "read_graph")["entities"] == []


def test_an_empty_name_addresses_nothing(lore: Lore) -> None:
    lore.remember(Draft(content="A remark without a title."))
    assert call(lore, "open_nodes", names=[""])["entities"] == []
    assert call(lore, "delete_entities", entityNames=["", " "])["deleted"] == []
    official = SURFACES["official"].tools
    official["delete_entities"](lore, {"entityNames": [""]})
    assert lore.status().counts.memories == 1


def test_memories_with_the_same_name_are_told_apart_by_their_numbers(lore: Lore) -> None:
    lore.remember_all([Draft(content=text, title="Plan") for text in ("one", "two")])
    created(lore, {"name": "Roadmap", "observations": ["three"]})
    lore.remember(Draft(content="four", title="Roadmap"))
    names = [entity["name"] for entity in call(lore, "read_graph")["entities"]]
    assert len(set(names)) == 4
    with pytest.raises(Invalid, match=r"2 memories are called 'Plan'; name one: 'Plan \(#\d+\)', 'Plan"):
        call(lore, "delete_entities", entityNames=["Plan"])
    assert call(lore, "delete_entities", entityNames=names)["deleted"] == names
    assert lore.status().counts.memories == 0


def test_what_the_graph_keeps_is_found_by_the_tree(graph: Lore) -> None:
    tree = SURFACES["tree"].tools
    [best, *_] = tree["search"](graph, {"query": "deployed vercel"}).data["results"]
    assert "Vercel" in tree["read"](graph, {"id": best["id"]}).data["content"] or best["breadcrumb"]


# --- splitting and care
def test_a_large_entity_is_analyzed_proposed_and_split(lore: Lore) -> None:
    texts = [f"deploy server {n} vercel" for n in range(9)] + [f"cats love fish {n}" for n in range(9)]
    created(lore, {"name": "Sesión 1", "entityType": "Sesion", "observations": texts})
    analysis = call(lore, "analyze_entity_split", entity_name="Sesión 1")["analysis"]
    assert (analysis["observation_count"], analysis["threshold"], analysis["needs_split"]) == (18, 15, True)
    assert analysis["split_score"] == pytest.approx(18 / 15 + len(analysis["topics"]) / 18, abs=1e-4)
    assert call(lore, "find_split_candidates")["candidates"] == [analysis]
    proposal = call(lore, "propose_entity_split_tool", entity_name="Sesión 1")["proposal"]
    assert proposal["original_entity"] == {"name": "Sesión 1", "entity_type": "Sesion"}
    assert proposal["analysis"]["num_topics"] == len(proposal["suggested_splits"]) == 2
    assert len(proposal["relations_to_create"]) == 4
    done = call(
        lore,
        "execute_entity_split",
        entity_name="Sesión 1",
        approved_splits=proposal["suggested_splits"][:1],
    )["result"]
    assert done == {
        "new_entities": [proposal["suggested_splits"][0]["name"]],
        "moved_observations": 9,
        "relations_created": 2,
        "original_observations_remaining": 9,
    }
    made = {(one["from"], one["relationType"], one["to"]) for one in call(lore, "read_graph")["relations"]}
    assert made == {(one["from"], one["type"], one["to"]) for one in proposal["relations_to_create"][:2]}


@pytest.mark.parametrize(("type", "threshold"), [("Sesion", 15), ("Proyecto", 25), ("Persona", 20)])
def test_the_type_of_an_entity_decides_how_many_observations_are_too_many(
    lore: Lore, type: str, threshold: int
) -> None:
    texts = [f"fact {number}" for number in range(threshold + 1)]
    created(lore, {"name": "E", "entityType": type, "observations": texts[:-1]})
    small = call(lore, "analyze_entity_split", entity_name="E")["analysis"]
    assert (small["threshold"], small["needs_split"], small["topics"]) == (threshold, False, {})
    call(lore, "add_observations", name="E", observations=texts)
    assert call(lore, "analyze_entity_split", entity_name="E")["analysis"]["needs_split"]


def test_entities_are_ranked_by_their_status_and_questions_by_their_phrases(lore: Lore) -> None:
    statuses = ("archivado", "completado", "pausado", "activo")
    created(
        lore, *({"name": status, "status": status, "observations": ["walrus log"]} for status in statuses)
    )
    results = call(lore, "search_semantic", query="walrus log", limit=4)["results"]
    assert [result["name"] for result in results] == [*reversed(statuses)]
    for question, strategy in (("qué es walrus", "cosine_heavy"), ("explícame walrus log", "limbic_heavy")):
        [result, *_] = call(lore, "search_semantic", query=question, limit=10)["results"]
        assert result["routing_strategy"] == strategy


def test_a_small_entity_gets_no_proposal(graph: Lore) -> None:
    small = call(graph, "propose_entity_split", entity_name="Astro")
    assert small == {"proposal": None, "message": "Entity does not need splitting"}


def test_repetitions_come_as_pairs_and_clusters(lore: Lore) -> None:
    created(
        lore, {"name": "P", "observations": ["Stack: FastMCP + SQLite + ONNX", "FastMCP", "unrelated cats"]}
    )
    found = call(lore, "find_duplicate_observations", entity_name="P")
    assert found["total_observations"] == 3
    assert [(pair["obs_text_b"], pair["match_type"]) for pair in found["duplicate_pairs"]] == [
        ("FastMCP", "containment")
    ]
    assert [cluster["size"] for cluster in found["clusters"]] == [2]


def test_at_threshold_zero_all_observations_are_pairs(config: Config) -> None:
    """With the bundled model, whose unrelated texts lie below its scale."""
    lore = wire(config)
    texts = [
        "The compost heap is turned every second week.",
        "Her recital piece is a sonatina by Clementi.",
        "Tyre pressure should be 2.4 bar in front.",
        "Insulin has not been necessary so far.",
        "A refund usually arrives within three weeks.",
    ]
    created(lore, {"name": "P", "observations": texts})
    found = call(lore, "find_duplicate_observations", entity_name="P", threshold=0)
    assert found["duplicates_found"] == 10
    lore.close()


def test_the_report_lists_entities_and_observations_that_need_attention(graph: Lore, clock: Clock) -> None:
    call(
        graph, "add_observations", name="CachorroSpace", observations=["Deployed on Vercel at cachorro space"]
    )
    clock.sleep(days=91)
    report = call(graph, "consolidation_report")
    assert report["summary"] == {
        "total_entities": 2,
        "total_observations": 3,
        "split_candidates_count": 0,
        "flagged_observations_count": 1,
        "stale_entities_count": 1,
        "large_entities_count": 0,
    }
    [flagged] = report["flagged_observations"]
    assert flagged["observation_text"] == "Deployed on Vercel at cachorro space"
    [stale] = report["stale_entities"]
    assert (stale["entity_name"], stale["last_accessed_days_ago"]) == ("CachorroSpace", 91)


def test_a_file_is_imported_from_the_folders_that_the_settings_name(tmp_path: Path) -> None:
    config = Config(data_dir=tmp_path / "data", import_roots=f"~, {tmp_path}")
    lore = wire(config, embedder=HashEmbedder())
    (tmp_path / "memory.jsonl").write_text(
        '{"type":"entity","name":"A","entityType":"T","observations":["x"]}\nbroken\n', encoding="utf-8"
    )
    counts = {"entities_imported": 1, "relations_imported": 0, "errors": 0, "skipped": 1}
    for _ in range(2):
        assert call(lore, "migrate", source_path=str(tmp_path / "memory.jsonl")) == counts
    with pytest.raises(Invalid, match="LORE_IMPORT_ROOTS"):
        call(lore, "migrate", source_path="/etc/hostname")
    lore.close()


# --- reflections
def test_a_reflection_is_kept_and_found_with_its_target(graph: Lore) -> None:
    kept = call(
        graph,
        "add_reflection",
        target_type="entity",
        target_id=1,
        content="The core architectural decision.",
        author="nolan",
        mood="insight",
    )["result"]
    assert {**kept, "id": 0} == {
        "id": 0,
        "target_type": "entity",
        "target_id": 1,
        "author": "nolan",
        "content": "The core architectural decision.",
        "mood": "insight",
        "created_at": "2026-01-01 00:00:00",
    }
    [found] = call(graph, "search_reflections", query="architectural decision", author="nolan")["results"]
    assert {key: value for key, value in found.items() if key != "score"} == kept
    assert call(graph, "search_reflections", query="architectural", mood="duda")["results"] == []
    assert call(graph, "search_nodes", query="architectural")["entities"] == []


# --- bad input
LONG, MANY = "x" * 2_001, [str(n) for n in range(101)]
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("create_entities", {"entities": [{"name": f"E{n}"} for n in range(51)]}, "Too many entities: 51"),
    ("create_entities", {"entities": [{"name": "E", "observations": MANY}]}, "Too many observations: 101"),
    ("create_entities", {"entities": [{"name": "E"}, {"name": "F", "observations": [LONG]}]}, "too long"),
    ("create_entities", {"entities": [{"name": "E"}, {"entityType": "T"}]}, "'entities.1.name' is missing"),
    ("create_entities", {"entities": [{"name": "E"}, {"name": ""}]}, "name is empty"),
    ("create_entities", {"entities": [{"name": "E", "observations": ["ok", " "]}]}, "observation is empty"),
    ("create_entities", {"entities": [{"name": "E", "observations": "text"}]}, "'entities.0.observations'"),
    ("create_relations", {"relations": [{"from": "A", "to": "B"}]}, "relationType' is missing"),
    ("create_relations", {"relations": [USES | {"relationType": " "}]}, "relationType is empty"),
    ("add_observations", {"name": "Nope", "observations": ["x"]}, "Entity not found: Nope"),
    ("add_observations", {"name": "Astro", "observations": MANY}, "Too many observations"),
    ("add_observations", {"name": "Astro", "observations": [LONG]}, "Observation too long: 2,001"),
    ("add_observations", {"observations": ["x"]}, "Give name"),
    ("add_observations", {"name": "Astro", "observations": ["x"], "supersedes": 99}, "not found: 99"),
    ("delete_entities", {"entityNames": [str(n) for n in range(51)]}, "Too many entities"),
    ("delete_observations", {"name": "Nope", "observations": []}, "Entity not found: Nope"),
    ("delete_observations", {"name": "Astro"}, "Give name and observations"),
    ("analyze_entity_split", {"entity_name": "Nope"}, "Entity not found: Nope"),
    ("propose_entity_split", {"entity_name": "Nope"}, "Entity not found: Nope"),
    ("search_nodes", {"query": "q" * 501}, "Query too long: 501"),
    ("open_nodes", {"names": [str(n) for n in range(51)]}, "Too many names: 51"),
    ("search_semantic", {"query": "q" * 501}, "Query too long"),
    ("search_semantic", {"query": "q", "limit": 51}, "Limit too high: 51"),
    ("search_semantic", {"query": "q", "limit": 0}, "Limit too low"),
    ("search_semantic", {"query": " "}, "query is empty"),
    ("search_reflections", {"query": "q", "limit": 51}, "Limit too high"),
    ("search_reflections", {"query": "q", "target_type": "planet"}, "'target_type'"),
    ("analyze_entity_split", {"entity_name": "Nope"}, "Entity not found: Nope"),
    ("execute_entity_split", {"entity_name": "Nope", "approved_splits": []}, "at least one"),
    ("find_duplicate_observations", {"entity_name": "Nope"}, "Entity not found: Nope"),
    ("find_duplicate_observations", {"entity_name": "Astro", "threshold": 2}, "between 0 and 1"),
    ("consolidation_report", {"stale_days": -1}, "0 or more"),
    ("end_relation", {"relation_id": 999}, "Relation not found: 999"),
    ("end_relation", {"relation_id": 2**70}, "Relation not found"),
    ("add_reflection", {"target_type": "entity", "content": "x"}, "target_id is required"),
    ("add_reflection", {"target_type": "entity", "content": "x", "target_id": 99}, "Entity not found: 99"),
    ("add_reflection", {"target_type": "relation", "content": "x", "target_id": 99}, "Relation not found"),
    ("add_reflection", {"target_type": "global", "content": "x", "target_id": 1}, "no target_id"),
    ("add_reflection", {"target_type": "global", "content": " "}, "content is empty"),
    ("add_reflection", {"target_type": "planet", "content": "x"}, "'target_type'"),
    ("migrate", {}, "source_path is empty"),
    ("migrate", {"source_path": "~/no such file.jsonl"}, "Source file not found"),
]


@pytest.mark.parametrize(("tool", "arguments", "message"), REFUSED)
def test_bad_input_is_named_and_changes_nothing(
    graph: Lore, tool: str, arguments: dict[str, Any], message: str
) -> None:
    before = graph.status().counts
    with pytest.raises(LoreError) as refusal:
        call(graph, tool, **arguments)
    assert message in str(refusal.value)
    assert len(str(refusal.value)) < 400
    assert graph.status().counts == before


@pytest.mark.parametrize("name", ["%", "a'b", '"', "日本語", "🙂", "x\ny", " padded ", "\u00c9", "E\u0301"])
def test_any_name_is_kept_and_found_exactly_as_it_is(lore: Lore, name: str) -> None:
    created(lore, {"name": name, "observations": ["fact"]}, {"name": name + "!"})
    assert opened(lore, name)["observations"] == ["fact"]
    assert call(lore, "delete_entities", entityNames=[name])["deleted"] == [name]


def test_the_largest_call_is_kept_whole(lore: Lore) -> None:
    texts = [f"{n:03}" + "é" * 1_997 for n in range(100)]
    created(lore, {"name": "E", "observations": texts})
    assert opened(lore, "E")["observations"] == texts


def test_without_a_model_semantic_tools_say_what_to_do(config: Config) -> None:
    lore = wire(config, embedder=OnnxEmbedder(config.data_dir / "nowhere"))
    created(lore, SITE)
    for tool, arguments in (
        ("search_semantic", {"query": "x"}),
        ("search_reflections", {"query": "x"}),
        ("find_duplicate_observations", {"entity_name": "CachorroSpace"}),
    ):
        with pytest.raises(LoreError, match=r"Embedding model not available.*lore doctor"):
            call(lore, tool, **arguments)
    assert len(call(lore, "search_nodes", query="astro")["entities"]) == 1
    assert call(lore, "consolidation_report")["summary"]["total_entities"] == 1
    lore.close()


def test_memories_of_other_namespaces_are_neither_found_nor_changed(lore: Lore) -> None:
    ada = lore.for_namespace("ada")
    created(ada, SITE)
    assert call(lore, "search_nodes", query="astro")["entities"] == []
    assert call(lore, "open_nodes", names=["CachorroSpace"])["entities"] == []
    with pytest.raises(NotFound):
        call(lore, "add_observations", name="CachorroSpace", observations=["stolen"])
    assert call(lore, "delete_entities", entityNames=["CachorroSpace"])["deleted"] == []
    assert len(opened(ada, "CachorroSpace")["observations"]) == 2
