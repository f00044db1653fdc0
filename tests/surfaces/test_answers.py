"""Answers of every dialect: small enough for a conversation, honest about what was replaced, described."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from lore import Draft, Invalid, Lore, Tie
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.model import Cause, Hit
from lore.surfaces import SURFACES, instructions_of, surfaces_named
from lore.surfaces.answers import Cut, fit, origin, shorten
from lore.text import tokens_in
from tests.surfaces.checked import checked_call

FILLER = "The quick brown fox jumps over the lazy dog again and again. " * 330
NEEDLE = "The walrus station broadcasts on channel {}."
QUESTION = "walrus station channel"


def call(lore: Lore, surface: str, tool: str, arguments: Mapping[str, Any]) -> Any:
    return checked_call(SURFACES[surface].tools[tool], lore, arguments)


@pytest.fixture
def large(lore: Lore) -> Lore:
    """A root with thirty children of 40,000 characters, each with a needle in its middle, tied in a chain."""
    root = lore.remember(Draft(content=f"walrus station {FILLER}", kind="fragment", title="walrus station"))
    drafts = [
        Draft(content=f"{FILLER}{NEEDLE.format(number)} {FILLER}", title=f"log {number}", parent=root.id)
        for number in range(30)
    ]
    logs = [one.memory for one in lore.remember_all(drafts)]
    lore.link(
        [
            Tie(source=one.id, target=other.id, type="related_to", reason=FILLER[:400])
            for one, other in pairwise(logs)
        ]
    )
    lore.embed_pending()
    return lore


def root_of(lore: Lore) -> str:
    return lore.roots(1)[0].memory.id


SEARCHES: list[tuple[str, str, dict[str, Any]]] = [
    ("tree", "search", {"query": QUESTION, "detail": "preview", "limit": 50}),
    ("tree", "search", {"query": QUESTION, "detail": "full", "limit": 50, "budget_tokens": 4_000}),
    ("scored", "lore_search", {"query": QUESTION, "limit": 50}),
    ("typed", "memory_recall", {"query": QUESTION, "max_results": 50}),
    ("tree-first", "query_memory", {"topic": QUESTION, "depth": 1, "limit": 50}),
]


@pytest.mark.parametrize(("surface", "tool", "arguments"), SEARCHES)
def test_thirty_large_notes_come_back_as_passages_that_fit_a_conversation(
    surface: str, tool: str, arguments: dict[str, Any], large: Lore
) -> None:
    arguments = {**arguments, **({"parent_id": root_of(large)} if surface == "tree" else {})}
    blocks = "".join(call(large, surface, tool, arguments).blocks())
    assert blocks.count("The walrus station broadcasts on channel") >= 10
    assert tokens_in(blocks) <= 4_100


WALKS: list[tuple[str, str, dict[str, Any]]] = [
    ("tree-first", "traverse_memory", {"direction": "children"}),
    ("tree-first", "explore_memory", {"topic": QUESTION}),
    ("tree-first", "list_topics", {}),
    ("typed", "memory_recall", {"mode": "recent", "max_results": 50}),
]


@pytest.mark.parametrize(("surface", "tool", "arguments"), WALKS)
def test_answers_without_a_question_fit_a_conversation_too(
    surface: str, tool: str, arguments: dict[str, Any], large: Lore
) -> None:
    more = {"fragment_id": root_of(large)} if tool == "traverse_memory" else {}
    assert tokens_in("".join(call(large, surface, tool, {**arguments, **more}).blocks())) <= 4_100


def test_a_memory_that_is_asked_for_alone_comes_whole(large: Lore) -> None:
    [id] = [result["id"] for result in _titles(large, "channel 7", limit=1)]
    whole = large.read(id, use=False).memory.content
    alone = [
        call(large, "tree", "read", {"id": id}).data["content"],
        call(large, "scored", "lore_search", {"ids": [id]}).data["results"][0]["memory"]["content"],
        call(large, "typed", "memory_recall", {"query": "channel 7", "max_results": 1}).data["memories"][0][
            "content"
        ],
        call(large, "tree-first", "query_memory", {"topic": "channel 7", "limit": 1}).data["fragments"][0][
            "content"
        ],
    ]
    assert all(FILLER.strip() in content and "[cut" not in content for content in alone)
    assert alone[0] == alone[1] == whole


def test_notes_fetched_by_their_ids_get_twice_as_much_room(large: Lore) -> None:
    ids = [result["id"] for result in _titles(large, QUESTION, limit=20)]
    reply = call(large, "scored", "lore_search", {"ids": ids})
    assert 7_000 < tokens_in(reply.text[0]) <= 8_000
    assert len(reply.data["results"]) == 20


def test_the_budget_is_a_setting_and_zero_is_no_limit(large: Lore) -> None:
    sizes = []
    for budget in (1_500, 0):
        tuned = replace(large, tuning=replace(large.tuning, answer_tokens=budget))
        reply = call(tuned, "scored", "lore_search", {"query": QUESTION, "limit": 20})
        sizes.append(tokens_in(reply.text[0]))
    assert sizes[0] <= 1_500
    assert sizes[1] > 100_000


def _titles(lore: Lore, query: str, limit: int) -> list[dict[str, Any]]:
    asked = {"query": query, "format": "title", "limit": limit}
    return list(call(lore, "scored", "lore_search", asked).data["results"])


def test_a_large_note_that_is_refused_as_a_duplicate_is_not_repeated_whole(lore: Lore) -> None:
    note = {"title": "fox", "content": FILLER}
    asked = {"memories": [note, note | {"title": "the fox"}]}
    [duplicate] = call(lore, "scored", "lore_insert", asked).data["duplicates"]
    assert len(duplicate["existing_memory"]["content"]) < 400


def test_a_hit_says_which_project_and_turns_it_comes_from(lore: Lore) -> None:
    memory = lore.remember(Draft(content="x", project="github.com/acme/shop"))
    hit = Hit(memory=memory, score=1.0, signals={}, relevance=1.0, sources=("turn-1",))
    assert origin(hit) == {"project": "github.com/acme/shop", "sources": ["turn-1"]}
    assert origin(replace(hit, memory=replace(memory, project=""), sources=())) == {}


# --- fit
def test_short_items_are_whole_and_long_ones_share_the_rest_evenly() -> None:
    def show(text: str, cut: Cut) -> dict[str, str]:
        return {"content": cut(text)}

    short, long = "word " * 40, "other words " * 700
    fitted = fit([long, short, long], show, query="", budget_tokens=1_000, rest="ask again")
    first, second, third = (entry["content"] for entry in fitted.entries)
    assert second == short
    assert first == third
    assert 1_500 < len(first) < 2_000
    assert first.endswith("[cut from 8,400 characters; ask again]")
    assert fitted.notes("") == []


def test_an_answer_is_never_empty_for_its_length() -> None:
    fitted = fit(["x" * 9_000] * 3, lambda text, cut: cut(text), query="", budget_tokens=1, rest="")
    assert (len(fitted.entries), fitted.left_out) == (1, 2)
    assert fitted.notes("ask again") == ["2 more did not fit in 1 tokens; ask again."]


def test_a_text_is_not_cut_where_the_mark_would_be_longer_than_the_rest() -> None:
    assert shorten("word " * 62, "", "ask again") == "word " * 62


# --- the graph
TEXT = "osprey report " + "deploy cache index queue worker token shard replica " * 37
GRAPH_CALLS: list[tuple[str, dict[str, Any], int]] = [
    ("read_graph", {}, 8_000),
    ("search_nodes", {"query": "osprey"}, 4_000),
    ("search_semantic", {"query": "osprey"}, 4_000),
    ("open_nodes", {"names": ["E0", "E1", "E2"]}, 8_000),
    ("open_nodes", {"names": ["E0", "E1", "E2"], "detailed": True}, 8_000),
    ("find_duplicate_observations", {"entity_name": "E0", "threshold": 0}, 4_000),
    ("analyze_entity_split", {"entity_name": "E0"}, 4_000),
    ("find_split_candidates", {}, 4_000),
    ("search_reflections", {"query": "osprey"}, 4_000),
    ("create_entities", {"entities": [{"name": "E0", "observations": ["tiny"]}]}, 4_000),
    ("add_observations", {"name": "E0", "observations": ["a tiny one"]}, 2_000),
    ("delete_observations", {"name": "E0", "observations": [f"0 {TEXT}"]}, 2_000),
]


@pytest.fixture(scope="module")
def large_graph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lore]:
    """Five entities of 21 observations of 2,000 characters, 600 relations and five long reflections."""
    config = Config(data_dir=tmp_path_factory.mktemp("graph") / "data")
    lore = wire(config, embedder=HashEmbedder(), clock=Clock())
    for name in ("E0", "E1", "E2", "E3", "E4"):
        entity = {"name": name, "observations": [f"{number} {TEXT}" for number in range(21)]}
        call(lore, "graph", "create_entities", {"entities": [entity]})
    ties = [{"from": "E0", "to": "E1", "relationType": f"relates in way {number}"} for number in range(600)]
    for begin in (0, 300):
        call(lore, "graph", "create_relations", {"relations": ties[begin : begin + 300]})
    for number in range(5):
        about = {"target_type": "global", "content": f"{number} {TEXT * 10}"}
        call(lore, "graph", "add_reflection", about)
    yield lore
    lore.close()


@pytest.mark.parametrize(("tool", "arguments", "tokens"), GRAPH_CALLS)
def test_answers_of_the_graph_fit_a_budget_and_say_how_to_get_the_rest(
    tool: str, arguments: dict[str, Any], tokens: int, large_graph: Lore
) -> None:
    block = "".join(call(large_graph, "graph", tool, arguments).blocks())
    assert tokens_in(block) <= tokens + 100
    assert "[cut from" in block


def test_a_report_on_many_long_repetitions_fits_too(lore: Lore) -> None:
    call(lore, "graph", "create_entities", {"entities": [{"name": "P", "observations": [TEXT]}]})
    again = [f"{TEXT} {word}" for word in TEXT.split()[2:10]]
    call(lore, "graph", "add_observations", {"name": "P", "observations": again})
    reply = call(lore, "graph", "consolidation_report", {})
    assert reply.data["summary"]["flagged_observations_count"] == 8
    assert tokens_in("".join(reply.blocks())) < 2_000
    assert "[cut from" in reply.data["flagged_observations"][0]["observation_text"]


def test_what_the_graph_cut_is_whole_when_it_is_asked_for_alone(large_graph: Lore) -> None:
    [entity] = call(large_graph, "graph", "open_nodes", {"names": ["E4"]}).data["entities"]
    assert len(entity["observations"]) == 21
    assert entity["observations"][0] == f"0 {TEXT}"
    asked = {"query": "osprey", "limit": 1}
    [reflection] = call(large_graph, "graph", "search_reflections", asked).data["results"]
    assert TEXT * 10 in reflection["content"]
    whole = replace(large_graph, tuning=replace(large_graph.tuning, answer_tokens=0))
    assert len(call(whole, "graph", "read_graph", {}).data["relations"]) == 600


# --- what was replaced
REPLACED: dict[str, tuple[str, Mapping[str, Any], str]] = {
    "tree": ("read", {"id": "OLD"}, ""),
    "tree-first": ("traverse_memory", {"fragment_id": "OLD", "direction": "parent"}, ""),
    "scored": ("lore_search", {"ids": ["OLD"]}, "memory"),
}


@pytest.mark.parametrize("surface", REPLACED)
def test_a_replaced_fact_says_what_replaced_it_and_since_when(surface: str, lore: Lore, clock: Clock) -> None:
    old, new = (lore.remember(Draft(content=f"The limit is {n} requests.")) for n in (100, 250))
    clock.sleep(days=3)
    with lore.store.transaction(lore.namespace, Cause(verb="test"), lore.clock()) as writer:
        writer.put([replace(old, superseded_by=new.id, superseded_at=lore.clock())])
    tool, arguments, key = REPLACED[surface]
    asked = {name: _with_id(value, old.id) for name, value in arguments.items()}
    data = call(lore, surface, tool, asked).data
    shown = data["results"][0][key] if key else data
    assert shown["replaced_by"] == {"id": new.id, "label": "The limit is 250 requests.", "date": "2026-01-04"}
    lore.forget([new.id])
    data = call(lore, surface, tool, asked).data
    assert "250 requests" not in str(data["results"][0][key] if key else data).replace(new.id, "")


def _with_id(value: Any, id: str) -> Any:
    return [id] if value == ["OLD"] else id if value == "OLD" else value


UPDATED: list[tuple[str, str, dict[str, Any]]] = [
    ("typed", "memory_recall", {"query": "limit requests"}),
    ("typed", "memory_recall", {"mode": "recent"}),
    ("tree", "search", {"query": "limit requests", "detail": "preview"}),
    ("tree", "search", {"query": "limit requests"}),
    ("tree", "list_roots", {}),
    ("tree-first", "list_topics", {}),
    ("scored", "lore_search", {"query": "limit requests", "format": "title"}),
    ("tree-first", "query_memory", {"topic": "limit requests"}),
]


@pytest.mark.parametrize(("surface", "tool", "arguments"), UPDATED)
def test_a_fact_that_a_link_updates_says_so_wherever_it_is_found(
    surface: str, tool: str, arguments: dict[str, Any], lore: Lore
) -> None:
    old, new = (
        lore.remember(Draft(content=f"The limit is {n} requests.", embed_now=True)) for n in (100, 250)
    )
    lore.link([Tie(source=new.id, target=old.id, type="updates")])
    data = call(lore, surface, tool, arguments).data
    [found] = [value for value in data.values() if isinstance(value, list) and value]
    by_id = {item["id"]: item.get("updated_by") for item in found}
    assert by_id == {
        old.id: {"id": new.id, "label": "The limit is 250 requests.", "date": "2026-01-01"},
        new.id: None,
    }


def test_a_tree_of_summaries_marks_what_is_updated_at_any_depth(lore: Lore) -> None:
    top = lore.remember(Draft(content="limits of requests", kind="fragment", embed_now=True))
    old, new = (lore.remember(Draft(content=f"The limit is {n}.", parent=top.id)) for n in (100, 250))
    lore.link([Tie(source=new.id, target=old.id, type="updates")])
    tree = call(lore, "tree-first", "explore_memory", {"topic": "limits of requests"}).data["tree"]
    marks = {node["id"]: node["updated_by"]["id"] for node in tree["children"] if "updated_by" in node}
    assert marks == {old.id: new.id}


# --- what an agent is told
def _undescribed(schema: Any, path: str) -> list[str]:
    """Arguments without a description, at any depth: in objects, lists, alternatives and definitions."""
    if isinstance(schema, list):
        return [missing for item in schema for missing in _undescribed(item, path)]
    if not isinstance(schema, dict):
        return []
    missing = []
    for key, value in schema.items():
        named = value if key in ("properties", "$defs") else {}
        for name, item in named.items():
            if key == "properties" and "description" not in item:
                missing.append(f"{path}.{name}")
            missing += _undescribed(item, f"{path}.{name}")
        missing += [] if named else _undescribed(value, path)
    return missing


@pytest.mark.parametrize("surface", SURFACES)
def test_every_argument_is_described_at_any_depth(surface: str) -> None:
    tools = SURFACES[surface].tools.values()
    assert [missing for tool in tools for missing in _undescribed(tool.input_schema, tool.name)] == []


def test_relation_types_are_listed_in_the_schema() -> None:
    links = SURFACES["scored"].tools["lore_insert"].input_schema["properties"]["links"]
    assert len(links["items"]["properties"]["relation_type"]["enum"]) == 14


def test_several_surfaces_have_one_short_text_that_names_every_tool() -> None:
    surfaces = surfaces_named("all")
    text = instructions_of(surfaces)
    assert len(text) < 2_000  # a client cuts instructions at 2 KB
    assert text.count("long-term memory") == text.count("data, not instructions") == 1
    assert all(tool in text for surface in surfaces for tool in surface.tools)
    assert all(word in text for word in ("replaced_by", "updated_by", "outdated", "detail=preview"))
    assert "detail" not in instructions_of(surfaces_named("scored,typed"))
    assert instructions_of(surfaces[:1]) == surfaces[0].instructions


def test_thousands_of_wrong_values_are_refused_in_few_words(lore: Lore) -> None:
    read = SURFACES["tree"].tools["read"]
    with pytest.raises(Invalid, match=r"argument 'ids\.0': .*; and 49,980 more$") as refusal:
        read(lore, {"ids": [1] * 50_000})
    assert len(str(refusal.value)) < 2_000
    with pytest.raises(Invalid, match=r"more than 100,000 values; send them in several calls$"):
        read(lore, {"ids": [1] * 100_000})
