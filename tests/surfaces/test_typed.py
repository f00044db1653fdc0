"""The typed dialect: the three tools of seed 004, called as a door calls them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Any

import pytest

from lore import Draft, Filter, Lore, LoreError, NotFound, Tie, Unavailable
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.remember import UPDATES_ABOVE
from lore.model import Cause
from lore.ranking.decay import IMPORTANCE
from lore.surfaces import SURFACES
from lore.vectors import Vector, Vectors
from tests.surfaces.checked import checked_call

TOOLS = SURFACES["typed"].tools
TYPES = ("fact", "preference", "decision", "identity", "event", "observation", "goal", "todo")
RELATIONS = ("related_to", "updates", "contradicts", "caused_by", "result_of", "part_of")


def call(lore: Lore, tool: str, **arguments: Any) -> Any:
    return checked_call(TOOLS[tool], lore, arguments).data


def saved(lore: Lore, content: str, **arguments: Any) -> str:
    return str(call(lore, "memory_save", content=content, **arguments)["memory_id"])


def recalled(lore: Lore, query: str | None = None, **arguments: Any) -> list[str]:
    return [memory["id"] for memory in call(lore, "memory_recall", query=query, **arguments)["memories"]]


def one(lore: Lore, id: str, query: str) -> Any:
    memories = call(lore, "memory_recall", query=query)["memories"]
    return next(memory for memory in memories if memory["id"] == id)


class Missing(HashEmbedder):
    """A model that cannot be loaded."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise Unavailable("the model file is gone")

    def embed_query(self, text: str) -> Vector:
        raise Unavailable("the model file is gone")


@pytest.fixture
def wordy(config: Config, clock: Clock) -> Iterator[Lore]:
    """A Lore without a model."""
    opened = wire(config, embedder=Missing(), clock=clock)
    yield opened
    opened.close()


# --- what is offered
def test_the_three_tools_are_there_in_order() -> None:
    assert list(TOOLS) == ["memory_save", "memory_recall", "memory_delete"]


def test_parameters_and_defaults_are_those_of_the_dialect() -> None:
    save, recall, delete = (TOOLS[name].input_schema for name in TOOLS)
    assert save["required"] == ["content"]
    assert list(save["properties"]) == [
        "content", "memory_type", "importance", "source", "channel_id", "associations",
    ]  # fmt: skip
    assert tuple(save["properties"]["memory_type"]["enum"]) == TYPES
    association = save["$defs"]["Association"]
    assert association["required"] == ["target_id"]
    assert tuple(association["properties"]["relation_type"]["enum"]) == RELATIONS
    assert association["properties"]["relation_type"]["default"] == "related_to"
    assert association["properties"]["weight"]["default"] == 0.5
    assert "required" not in recall
    assert recall["properties"]["mode"]["default"] == "hybrid"
    assert recall["properties"]["mode"]["enum"] == ["hybrid", "recent", "important", "typed"]
    assert recall["properties"]["sort_by"]["enum"] == ["recent", "importance", "most_accessed"]
    assert recall["properties"]["max_results"]["default"] == 10
    assert delete["required"] == ["memory_id"]


def test_what_all_tools_cost_the_model_is_small() -> None:
    words = sum(len(tool.description) + len(str(tool.input_schema)) for tool in TOOLS.values())
    assert words / 4 < 800


# --- memory_save
def test_a_save_answers_with_the_id(lore: Lore) -> None:
    answer = call(lore, "memory_save", content="The user prefers tea", memory_type="preference")
    assert answer == {
        "memory_id": answer["memory_id"],
        "success": True,
        "message": "Memory saved successfully",
        "linked": [],
    }
    assert lore.read(answer["memory_id"], use=False).memory.content == "The user prefers tea"


@pytest.mark.parametrize("memory_type", TYPES)
def test_importance_is_that_of_the_type_unless_it_is_given(lore: Lore, memory_type: str) -> None:
    usual = saved(lore, "as usual", memory_type=memory_type)
    given = saved(lore, "something else", memory_type=memory_type, importance=0.0)
    assert lore.read(usual, use=False).memory.importance == IMPORTANCE[memory_type]
    assert lore.read(given, use=False).memory.importance == 0.0
    assert lore.read(usual, use=False).memory.type == memory_type


def test_source_and_channel_are_kept(lore: Lore) -> None:
    id = saved(lore, "likes jazz", source="user stated explicitly", channel_id="c-42")
    memory = lore.read(id, use=False).memory
    assert (memory.kind, memory.type) == ("note", "fact")
    assert (memory.source, memory.channel) == ("user stated explicitly", "c-42")


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_memory_is_saved_with_its_associations(lore: Lore, relation: str) -> None:
    target = saved(lore, "we use PostgreSQL")
    answer = call(
        lore,
        "memory_save",
        content="schema changes go through review",
        associations=[{"target_id": target, "relation_type": relation, "weight": 0.9}],
    )
    assert answer["linked"] == [
        {"memory_id": target, "relation_type": relation, "weight": 0.9, "content": "we use PostgreSQL"}
    ]
    [link] = lore.read(answer["memory_id"], use=False).links
    assert (link.source, link.kind, link.type) == (answer["memory_id"], "associative", relation)


def test_an_association_is_related_to_with_weight_one_half_by_default(lore: Lore) -> None:
    target = saved(lore, "we use PostgreSQL")
    [linked] = call(lore, "memory_save", content="x y z", associations=[{"target_id": target}])["linked"]
    assert (linked["relation_type"], linked["weight"]) == ("related_to", 0.5)


def test_a_memory_that_says_nearly_the_same_is_linked_as_an_update_and_named(lore: Lore) -> None:
    old = saved(lore, "The standup is every weekday at nine in the morning")
    saved(lore, "Zebras graze quietly")
    answer = call(lore, "memory_save", content="The standup is every weekday at nine in the morning!")
    [linked] = answer["linked"]
    assert (linked["memory_id"], linked["relation_type"]) == (old, "updates")
    assert linked["weight"] == 1.0
    assert linked["content"].startswith("The standup")
    assert set(recalled(lore, "standup weekday")) == {old, answer["memory_id"]}


def test_what_is_only_similar_is_not_updated(lore: Lore) -> None:
    saved(lore, "The standup is every weekday at nine")
    content = "The standup is every weekday at ten in the kitchen"
    [match] = lore.similar(content)
    assert match.meaning > UPDATES_ABOVE, "likeness alone makes no update"
    assert call(lore, "memory_save", content=content)["linked"] == []


def test_without_a_model_a_memory_is_saved_and_found_by_words(wordy: Lore) -> None:
    first = call(wordy, "memory_save", content="walrus on the ice")
    again = call(wordy, "memory_save", content="walrus on the ice")
    assert again["linked"] == []
    answer = call(wordy, "memory_recall", query="walrus")
    assert {memory["id"] for memory in answer["memories"]} == {first["memory_id"], again["memory_id"]}
    assert answer["memories"][0]["relevance_score"] > 0.5
    assert "Searched by words only: the model file is gone." in answer["summary"]


# --- memory_recall
def test_a_recalled_memory_has_all_that_is_promised(lore: Lore, clock: Clock) -> None:
    id = saved(lore, "The user lives in Lisbon", memory_type="identity")
    answer = call(lore, "memory_recall", query="where does the user live, Lisbon?")
    [memory] = answer["memories"]
    assert memory | {"created_at": "", "relevance_score": 0.9} == {
        "id": id,
        "content": "The user lives in Lisbon",
        "memory_type": "identity",
        "importance": 1.0,
        "created_at": "",
        "relevance_score": 0.9,
    }
    assert 0.5 < memory["relevance_score"] <= 1
    assert datetime.fromisoformat(memory["created_at"]).timestamp() == pytest.approx(clock(), abs=1e-3)
    assert answer["total_found"] == 1
    assert answer["summary"] == (
        "## Recalled memories\n\n"
        f"1. [identity] (importance 1.00, relevance {memory['relevance_score']:.2f}) The user lives in Lisbon"
    )


def test_hybrid_also_follows_associations(lore: Lore) -> None:
    key = saved(lore, "deploy key rotation")
    vault = saved(lore, "hashicorp appliance upstairs", associations=[{"target_id": key}])
    saved(lore, "lunch menu")
    assert recalled(lore, "deploy key rotation") == [key, vault]


def test_scores_are_between_0_and_1_and_fall(lore: Lore) -> None:
    ids = [saved(lore, f"walrus {word}") for word in ("ice", "sea", "zoo", "sun")]
    for one, other in pairwise(ids):
        lore.link([Tie(source=one, target=other)])
    scores = [m["relevance_score"] for m in call(lore, "memory_recall", query="walrus ice")["memories"]]
    assert len(scores) == 4
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_total_found_counts_what_the_limit_left_out(lore: Lore) -> None:
    for number in range(6):
        saved(lore, f"walrus number {number}")
    for arguments in ({"query": "walrus"}, {"mode": "recent"}, {"mode": "typed", "memory_type": "fact"}):
        answer = call(lore, "memory_recall", max_results=2, **arguments)
        assert (len(answer["memories"]), answer["total_found"]) == (2, 6)


def test_recent_important_and_typed_need_no_query(lore: Lore, clock: Clock) -> None:
    goal = saved(lore, "ship the release", memory_type="goal")
    clock.sleep(days=1)
    todo = saved(lore, "buy milk", memory_type="todo")
    clock.sleep(days=1)
    fact = saved(lore, "water boils at 100 degrees")
    assert recalled(lore, mode="recent") == [fact, todo, goal]
    assert recalled(lore, mode="recent", max_results=1) == [fact]
    assert recalled(lore, mode="important") == [goal, fact, todo]
    assert recalled(lore, mode="typed", memory_type="todo") == [todo]
    assert recalled(lore, mode="recent", memory_type="goal") == [goal]


def test_sort_by_orders_what_the_mode_chose(lore: Lore, clock: Clock) -> None:
    weak = saved(lore, "first", importance=0.1)
    clock.sleep(days=1)
    strong = saved(lore, "second", importance=0.9)
    clock.sleep(days=1)
    middle = saved(lore, "third", importance=0.5)
    lore.read(weak)
    typed = {"mode": "typed", "memory_type": "fact"}
    assert recalled(lore, **typed, sort_by="most_accessed", max_results=1) == [weak]
    assert recalled(lore, **typed) == [middle, strong, weak]
    assert recalled(lore, **typed, sort_by="importance", max_results=2) == [strong, middle]
    assert recalled(lore, mode="important", sort_by="recent", max_results=2) == [middle, strong]


def test_the_score_of_an_ordered_memory_follows_from_its_place(lore: Lore) -> None:
    for number in range(4):
        saved(lore, f"memory {number}")
    answer = call(lore, "memory_recall", mode="recent")
    assert [memory["relevance_score"] for memory in answer["memories"]] == [1.0, 0.75, 0.5, 0.25]


@pytest.mark.parametrize("arguments", [{"query": "walrus"}, {"mode": "recent"}, {"mode": "important"}])
def test_every_recall_counts_one_use_and_edits_nothing(lore: Lore, arguments: dict[str, Any]) -> None:
    id = saved(lore, "walrus")
    before = lore.read(id, use=False).memory
    recalled(lore, **arguments)
    after = lore.read(id, use=False).memory
    assert (before.access_count, after.access_count) == (0, 1)
    assert after.updated_at == before.updated_at


MODES: list[dict[str, Any]] = [
    {"query": "walrus"},
    {"mode": "recent"},
    {"mode": "important"},
    {"mode": "typed", "memory_type": "fact"},
]


@pytest.mark.parametrize("arguments", MODES)
def test_what_is_forgotten_or_superseded_is_never_recalled(lore: Lore, arguments: dict[str, Any]) -> None:
    kept, gone, old = (saved(lore, f"walrus {word}") for word in ("north", "south", "east"))
    call(lore, "memory_delete", memory_id=gone)
    with lore.store.transaction("shared", Cause(verb="test"), lore.clock()) as writer:
        writer.put([replace(writer.get([old])[old], superseded_by=kept)])
    assert recalled(lore, **arguments) == [kept]


@pytest.mark.parametrize("arguments", MODES)
def test_every_mode_answers_with_the_same_keys(lore: Lore, arguments: dict[str, Any]) -> None:
    empty = call(lore, "memory_recall", **arguments)
    assert empty["summary"].startswith("No relevant memories found.")
    saved(lore, "walrus")
    full = call(lore, "memory_recall", **arguments)
    assert set(empty) == set(full) == {"memories", "total_found", "summary"}
    assert len(full["memories"]) == 1


def test_identity_never_fades_and_a_trifle_does(lore: Lore, clock: Clock) -> None:
    name = saved(lore, "My name is Ada", memory_type="identity")
    fact = saved(lore, "It rained", importance=1.0)
    before = lore.read(name, use=False).relevance, lore.read(fact, use=False).relevance
    clock.sleep(days=400)
    assert lore.read(name, use=False).relevance == before[0]
    assert lore.read(fact, use=False).relevance < before[1]
    assert recalled(lore, "what is my name") == [name]


# --- memories of the other dialects
FOREIGN: list[tuple[Draft, str, str]] = [
    (Draft(content="walrus on ice", kind="fragment"), "fact", "walrus on ice"),
    (Draft(content="eats clams", title="Walrus", kind="note"), "fact", "Walrus\neats clams"),
    (Draft(content="walrus on ice", title="walrus on ice", kind="note"), "fact", "walrus on ice"),
    (Draft(content="walrus", kind="observation"), "observation", "walrus"),
    (Draft(content="walrus", kind="reflection"), "observation", "walrus"),
    (Draft(content="walrus", kind="turn"), "event", "walrus"),
    (Draft(content="walrus", kind="session"), "event", "walrus"),
    (Draft(content="walrus", kind="entity", title="walrus", type="Animal"), "fact", "walrus"),
    (Draft(content="walrus", kind="fragment", type="goal"), "goal", "walrus"),
]


@pytest.mark.parametrize(("draft", "memory_type", "content"), FOREIGN)
def test_foreign_memories_have_a_type_by_which_they_are_found(
    lore: Lore, draft: Draft, memory_type: str, content: str
) -> None:
    id = lore.remember(draft).id
    lore.embed_pending()
    memory = one(lore, id, "walrus")
    assert (memory["memory_type"], memory["content"]) == (memory_type, content)
    for other in TYPES:
        right = [id] if other == memory_type else []
        assert recalled(lore, "walrus", memory_type=other) == right
        assert recalled(lore, mode="typed", memory_type=other) == right


def test_an_entity_says_what_is_known_about_it(lore: Lore) -> None:
    id = lore.remember(Draft(content="Wally (Animal)", kind="entity", title="Wally")).id
    with lore.store.transaction("shared", Cause(verb="test"), lore.clock()) as writer:
        writer.put([replace(writer.get([id])[id], context="lives in the zoo")])
    assert one(lore, id, "Wally")["content"] == "Wally (Animal)\nlives in the zoo"


# --- memory_delete
def test_a_delete_tells_what_was_forgotten_and_why(lore: Lore) -> None:
    id = saved(lore, "The office is in Porto. " + "x" * 200, memory_type="event")
    answer = call(lore, "memory_delete", memory_id=id, reason="outdated")
    assert answer["forgotten"] is True
    assert answer["message"].startswith("Memory forgotten: [event] The office is in Porto.")
    assert answer["message"].endswith("… (reason: outdated)")
    assert recalled(lore, "office Porto") == []
    assert lore.history(id)[-1].cause.reason == "outdated"
    lore.restore([id])
    assert recalled(lore, "office Porto") == [id]


def test_deleting_an_unknown_memory_says_that_nothing_was_forgotten(lore: Lore) -> None:
    id = saved(lore, "once")
    call(lore, "memory_delete", memory_id=id)
    again = call(lore, "memory_delete", memory_id=id)
    assert again["forgotten"] is False
    assert "already forgotten: [fact] once" in again["message"]
    unknown = call(lore, "memory_delete", memory_id="nonsense" * 30)
    assert unknown["forgotten"] is False
    assert unknown["message"].startswith("No memory found with ID nonsense")
    assert len(unknown["message"]) < 120


# --- bad input
UNKNOWN = "01a1e199-c073-71dd-958f-3013d1acd782"
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("memory_save", {}, "'content' is missing"),
    ("memory_save", {"content": " "}, "content is empty"),
    ("memory_save", {"content": "a\0b"}, "NUL"),
    ("memory_save", {"content": "a\ud800b"}, "lone surrogate"),
    ("memory_save", {"content": "x" * 50_001}, "the limit is 50,000"),
    ("memory_save", {"content": "é" * 25_001}, "50,002 bytes"),
    ("memory_save", {"content": "x", "memory_type": "rumour"}, "'fact', 'preference'"),
    ("memory_save", {"content": "x", "importance": 1.01}, "between 0 and 1"),
    ("memory_save", {"content": "x", "importance": -0.1}, "between 0 and 1"),
    ("memory_save", {"content": "x", "importance": float("nan")}, "between 0 and 1"),
    ("memory_save", {"content": "x", "human_id": "y"}, "unknown argument 'human_id'"),
    ("memory_save", {"content": "x", "associations": [{"target_id": UNKNOWN}]}, f"unknown memory {UNKNOWN}"),
    ("memory_save", {"content": "x", "associations": [{}]}, "'associations.0.target_id' is missing"),
    ("memory_save", {"content": "x", "associations": [{"target_id": "?", "weight": 1.5}]}, "weight is 1.5"),
    (
        "memory_save",
        {"content": "x", "associations": [{"target_id": "?", "relation_type": "likes"}]},
        "'related_to', 'updates'",
    ),
    ("memory_save", {"content": "x", "source": "y" * 501}, "source has 501 bytes"),
    ("memory_recall", {}, "mode 'hybrid' needs a query"),
    ("memory_recall", {"query": "  "}, "mode 'hybrid' needs a query"),
    ("memory_recall", {"query": "a\0b"}, "NUL"),
    ("memory_recall", {"mode": "typed"}, "mode 'typed' needs a memory_type: fact"),
    ("memory_recall", {"mode": "psychic"}, "'hybrid', 'recent'"),
    ("memory_recall", {"query": "x", "max_results": 0}, "between 1 and 50"),
    ("memory_recall", {"query": "x", "max_results": 51}, "between 1 and 50"),
    ("memory_recall", {"mode": "recent", "max_results": 51}, "between 1 and 50"),
    ("memory_recall", {"mode": "recent", "sort_by": "size"}, "'recent', 'importance'"),
    ("memory_recall", {"mode": "recent", "memory_type": "human"}, "'fact', 'preference'"),
    ("memory_delete", {}, "'memory_id' is missing"),
    ("memory_delete", {"memory_id": "KNOWN", "reason": "y" * 1_001}, "reason has 1,001 bytes"),
]


@pytest.mark.parametrize(("tool", "arguments", "message"), REFUSED)
def test_bad_input_is_named_and_changes_nothing(
    lore: Lore, tool: str, arguments: dict[str, Any], message: str
) -> None:
    id = saved(lore, "what was there before")
    given = {name: id if value == "KNOWN" else value for name, value in arguments.items()}
    with pytest.raises(LoreError) as refusal:
        call(lore, tool, **given)
    assert message in str(refusal.value)
    assert len(str(refusal.value)) < 300
    assert [memory.id for memory in lore.select(Filter(forgotten=True), 10)] == [id]
    assert len(lore.history(id)) == 1


def test_one_unknown_target_among_many_keeps_the_whole_call_from_being_saved(lore: Lore) -> None:
    known = saved(lore, "known")
    with pytest.raises(NotFound, match="nothing was saved"):
        call(
            lore,
            "memory_save",
            content="new",
            associations=[{"target_id": known}, {"target_id": UNKNOWN}],
        )
    assert lore.count(Filter()) == 1
    assert lore.read(known, use=False).links == ()


def test_memories_of_other_namespaces_are_neither_recalled_nor_deleted(lore: Lore) -> None:
    hers = saved(lore.for_namespace("ada"), "ada's private walrus")
    ours = saved(lore, "the shared walrus")
    bob = lore.for_namespace("bob")
    for arguments in MODES:
        assert recalled(bob, **arguments) == [ours]
        assert set(recalled(lore.for_namespace("ada"), **arguments)) == {hers, ours}
    assert call(bob, "memory_delete", memory_id=hers)["forgotten"] is False
    with pytest.raises(NotFound):
        call(bob, "memory_save", content="x", associations=[{"target_id": hers}])
    assert call(bob, "memory_save", content="ada's private walrus")["linked"] == []
