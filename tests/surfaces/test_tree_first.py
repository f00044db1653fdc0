"""The tree dialect of the first generation: the five tools of seed 002, called as a door calls them."""

from typing import Any

import pytest

from lore import Draft, Filter, Lore, LoreError, NotFound, Tie
from lore.clock import Clock
from lore.surfaces import SURFACES
from lore.surfaces.tree_first import CHILDREN_LIMIT, NEIGHBOURS_LIMIT, TOPICS_LIMIT
from tests.surfaces.checked import checked_call

TOOLS = SURFACES["tree-first"].tools


def call(lore: Lore, tool: str, **arguments: Any) -> Any:
    return checked_call(TOOLS[tool], lore, arguments).data


def stored(lore: Lore, content: str, summary: str = "in short", **arguments: Any) -> str:
    return str(call(lore, "store_memory", content=content, summary=summary, **arguments)["id"])


def queried(lore: Lore, topic: str, **arguments: Any) -> list[str]:
    return [fragment["id"] for fragment in call(lore, "query_memory", topic=topic, **arguments)["fragments"]]


def traversed(lore: Lore, id: str, direction: str) -> list[str]:
    answer = call(lore, "traverse_memory", fragment_id=id, direction=direction)
    return [fragment["id"] for fragment in answer["fragments"]]


@pytest.fixture
def chain(lore: Lore) -> list[str]:
    """A topic, a concept, a fact, a detail and a finer detail, each below the other."""
    texts = ("async", "async runtime", "async scheduler steals work", "async flag", "async flag value")
    ids: list[str] = []
    for text in texts:
        place = {"parent_id": ids[-1]} if ids else {"depth": 0}
        ids.append(stored(lore, text, f"about {text}", **place))
    return ids


# --- what is offered
def test_the_five_tools_are_there_in_order() -> None:
    assert list(TOOLS) == [
        "query_memory", "explore_memory", "traverse_memory", "store_memory", "list_topics",
    ]  # fmt: skip


SCHEMAS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "query_memory": (["topic"], {"topic": None, "depth": 1, "limit": 10}),
    "explore_memory": (["topic"], {"topic": None, "max_depth": 2}),
    "traverse_memory": (["fragment_id", "direction"], {"fragment_id": None, "direction": None}),
    "store_memory": (
        ["content", "summary"],
        {"content": None, "summary": None, "parent_id": None, "depth": 2},
    ),
    "list_topics": ([], {}),
}


@pytest.mark.parametrize("tool", SCHEMAS)
def test_parameters_and_defaults_are_those_of_the_dialect(tool: str) -> None:
    schema = TOOLS[tool].input_schema
    required, defaults = SCHEMAS[tool]
    assert schema.get("required", []) == required
    assert {name: value.get("default") for name, value in schema["properties"].items()} == defaults


def test_traverse_offers_children_parent_and_associations() -> None:
    direction = TOOLS["traverse_memory"].input_schema["properties"]["direction"]
    assert direction["enum"] == ["children", "parent", "associations"]


def test_every_argument_is_described() -> None:
    arguments = [field for tool in TOOLS.values() for field in tool.input_schema["properties"].values()]
    assert all(field["description"] for field in arguments)


def test_a_parent_may_be_null_in_the_schema_too() -> None:
    assert TOOLS["store_memory"].input_schema["properties"]["parent_id"]["type"] == ["string", "null"]


def test_a_fact_without_a_parent_is_found_at_the_depth_it_was_stored_for(lore: Lore) -> None:
    answer = call(lore, "store_memory", content="zebras graze", summary="zebras", depth=2)
    assert (answer["depth"], answer["parent_id"]) == (0, None)
    assert queried(lore, "zebras", depth=2) == [answer["id"]]


def test_what_all_tools_cost_the_model_is_small() -> None:
    words = sum(len(tool.description) + len(str(tool.input_schema)) for tool in TOOLS.values())
    assert words / 4 < 800


# --- query_memory
def test_a_query_answers_at_the_depth_that_was_asked_for(lore: Lore, chain: list[str]) -> None:
    topic, concept, fact, detail, finer = chain
    assert queried(lore, "async", depth=0) == [topic]
    assert queried(lore, "async") == [concept]
    assert queried(lore, "async", depth=2) == [fact]
    assert set(queried(lore, "async", depth=3)) == {detail, finer}
    assert queried(lore, "async", depth=4) == [finer]
    assert queried(lore, "async", depth=9) == []


def test_what_has_nothing_below_it_is_found_at_every_depth_below(lore: Lore, chain: list[str]) -> None:
    alone = stored(lore, "async in gardens", depth=0)
    assert set(queried(lore, "async", depth=0)) == {chain[0], alone}
    assert set(queried(lore, "async", depth=2)) == {chain[2], alone}


def test_a_fragment_is_shown_with_all_that_is_known(lore: Lore, chain: list[str]) -> None:
    [fragment] = call(lore, "query_memory", topic="async runtime")["fragments"]
    assert fragment | {"score": 0} == {
        "id": chain[1],
        "summary": "about async runtime",
        "content": "async runtime",
        "depth": 1,
        "relevance": 0.3,
        "score": 0,
        "path": ["async"],
    }
    assert 0.3 < fragment["score"] <= 0.79


def test_several_fragments_of_one_tree_are_found(lore: Lore) -> None:
    topic = stored(lore, "gardening", depth=0)
    below = {stored(lore, f"gardening with {what}", parent_id=topic) for what in ("roses", "tulips")}
    assert set(queried(lore, "gardening")) == below
    assert len(queried(lore, "gardening", limit=1)) == 1


def test_a_query_that_shows_content_counts_as_use(lore: Lore, chain: list[str]) -> None:
    queried(lore, "async runtime")
    assert lore.read(chain[1], use=False).memory.access_count == 1
    assert lore.read(chain[0], use=False).memory.access_count == 0


def test_a_query_without_results_explains_why(lore: Lore) -> None:
    assert call(lore, "query_memory", topic="x") == {"fragments": [], "notes": ["Nothing is stored yet."]}


def test_a_summary_is_searched_as_well(lore: Lore) -> None:
    id = stored(lore, "it listens on 6432", "database port", depth=0)
    stored(lore, "zebras graze", depth=0)
    assert queried(lore, "database port") == [id]


# --- explore_memory
def test_a_topic_is_shown_as_a_tree_of_summaries(lore: Lore, chain: list[str]) -> None:
    answer = call(lore, "explore_memory", topic="async scheduler")
    tree = answer["tree"]
    assert set(tree) == {"id", "summary", "depth", "relevance", "children_count", "children"}
    assert (tree["id"], tree["summary"], tree["depth"]) == (chain[0], "about async", 0)
    [concept] = tree["children"]
    [fact] = concept["children"]
    assert (fact["id"], fact["children_count"], fact["children"]) == (chain[2], 1, [])
    assert answer["notes"] == []


def test_a_tree_is_shown_as_deep_as_was_asked_for(lore: Lore, chain: list[str]) -> None:
    assert call(lore, "explore_memory", topic="async", max_depth=0)["tree"]["children"] == []
    tree = call(lore, "explore_memory", topic="async", max_depth=9)["tree"]
    for id in chain:
        assert tree["id"] == id
        tree = (tree["children"] or [None])[0]


def test_the_tree_is_found_by_what_lies_deep_in_it(lore: Lore, chain: list[str]) -> None:
    stored(lore, "gardening with flags", depth=0)
    assert call(lore, "explore_memory", topic="async flag value")["tree"]["id"] == chain[0]


def test_a_broad_tree_is_cut_and_says_how_broad_it_is(lore: Lore) -> None:
    topic = stored(lore, "numbers", depth=0)
    lore.remember_all([Draft(content=f"number {n}", parent=topic) for n in range(CHILDREN_LIMIT + 3)])
    tree = call(lore, "explore_memory", topic="numbers")["tree"]
    assert (len(tree["children"]), tree["children_count"]) == (CHILDREN_LIMIT, CHILDREN_LIMIT + 3)


def test_exploring_an_empty_store_says_so(lore: Lore) -> None:
    answer = call(lore, "explore_memory", topic="x")
    assert answer == {"tree": None, "notes": ["Nothing is stored yet."]}


# --- traverse_memory
def test_from_a_fragment_one_goes_down_up_and_sideways(lore: Lore, chain: list[str]) -> None:
    other = stored(lore, "threads", depth=0)
    lore.link([Tie(source=chain[1], target=other, reason="is an alternative to")])
    assert traversed(lore, chain[1], "children") == [chain[2]]
    assert traversed(lore, chain[1], "parent") == [chain[0]]
    assert traversed(lore, chain[0], "parent") == []
    [neighbour] = call(lore, "traverse_memory", fragment_id=chain[1], direction="associations")["fragments"]
    assert neighbour == {
        "id": other,
        "summary": "in short",
        "content": "threads",
        "depth": 0,
        "relevance": 0.3,
        "relationship": "is an alternative to",
    }
    assert traversed(lore, other, "associations") == [chain[1]]


def test_children_beyond_the_limit_are_counted(lore: Lore) -> None:
    topic = stored(lore, "numbers", depth=0)
    lore.remember_all([Draft(content=f"number {n}", parent=topic) for n in range(NEIGHBOURS_LIMIT + 5)])
    answer = call(lore, "traverse_memory", fragment_id=topic, direction="children")
    assert (len(answer["fragments"]), answer["total"]) == (NEIGHBOURS_LIMIT, NEIGHBOURS_LIMIT + 5)


# --- store_memory
def test_a_fragment_without_a_parent_finds_one_by_topic(lore: Lore) -> None:
    topic = stored(lore, "python packaging with wheels", "python packaging", depth=0)
    stored(lore, "the cat sleeps on the sofa", "cat", depth=0)
    answer = call(lore, "store_memory", content="python wheels are built by hatchling", summary="wheels")
    assert answer == {"status": "stored", "id": answer["id"], "depth": 1, "parent_id": topic}


def test_depth_zero_is_a_new_topic_and_so_is_what_fits_nowhere(lore: Lore) -> None:
    stored(lore, "python packaging with wheels", "python", depth=0)
    same = call(lore, "store_memory", content="python packaging", summary="python", depth=0)
    other = call(lore, "store_memory", content="zebras graze quietly", summary="zebras", parent_id=None)
    assert same["parent_id"] is other["parent_id"] is None
    assert {same["depth"], other["depth"]} == {0}
    assert call(lore, "list_topics")["total"] == 3


def test_content_and_summary_are_kept(lore: Lore) -> None:
    memory = lore.read(stored(lore, "long text", "short text"), use=False).memory
    assert (memory.kind, memory.content, memory.summary) == ("fragment", "long text", "short text")


# --- list_topics
def test_topics_come_with_summary_and_fragment_count(lore: Lore, clock: Clock, chain: list[str]) -> None:
    clock.sleep(days=1)
    new = stored(lore, "gardening", "flowers and trees", depth=0)
    answer = call(lore, "list_topics")
    assert [(topic["id"], topic["summary"], topic["fragment_count"]) for topic in answer["topics"]] == [
        (new, "flowers and trees", 0),
        (chain[0], "about async", 4),
    ]
    assert answer["total"] == 2
    assert set(answer["topics"][0]) == {"id", "summary", "relevance", "fragment_count"}


def test_of_many_topics_the_most_relevant_are_listed(lore: Lore) -> None:
    lore.remember_all([Draft(content=f"topic {number}") for number in range(TOPICS_LIMIT + 1)])
    answer = call(lore, "list_topics")
    assert (len(answer["topics"]), answer["total"]) == (TOPICS_LIMIT, TOPICS_LIMIT + 1)


def test_an_empty_store_has_no_topics(lore: Lore) -> None:
    assert call(lore, "list_topics") == {"topics": [], "total": 0}


# --- beside the second generation
def test_tree_and_tree_first_share_one_store(lore: Lore) -> None:
    tree = SURFACES["tree"].tools
    root = tree["store"](lore, {"content": "rust error handling", "depth": 0}).data["id"]
    leaf = stored(lore, "prefer anyhow in rust applications", "anyhow", parent_id=root)
    assert tree["read"](lore, {"id": leaf}).data["content"] == "prefer anyhow in rust applications"
    assert queried(lore, "rust error handling", depth=0) == [root]
    assert queried(lore, "anyhow") == [leaf]
    [topic] = call(lore, "list_topics")["topics"]
    assert topic["summary"] == "rust error handling"


def test_a_memory_without_a_summary_shows_its_title_or_first_words(lore: Lore) -> None:
    lore.remember(Draft(content="walrus " * 100, embed_now=True))
    lore.remember(Draft(content="walrus again", title="On the walrus", embed_now=True))
    summaries = {f["summary"] for f in call(lore, "query_memory", topic="walrus")["fragments"]}
    assert "On the walrus" in summaries
    [other] = summaries - {"On the walrus"}
    assert other.startswith("walrus walrus")
    assert len(other) <= 80


def test_a_forgotten_fragment_is_in_no_answer(lore: Lore, chain: list[str]) -> None:
    lore.forget([chain[1]])
    assert queried(lore, "async") == [chain[2]]
    assert traversed(lore, chain[0], "children") == [chain[2]]
    with pytest.raises(NotFound, match=f"Fragment {chain[1]} not found."):
        traversed(lore, chain[1], "parent")


# --- bad input
UNKNOWN = "01a1e199-c073-71dd-958f-3013d1acd782"
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("query_memory", {}, "'topic' is missing"),
    ("query_memory", {"topic": " "}, "topic is empty"),
    ("query_memory", {"topic": "x", "limit": 0}, "between 1 and 1,000"),
    ("query_memory", {"topic": "x", "depth": -1}, "depth is -1; it must be between 0 and 100"),
    ("query_memory", {"topic": "x", "depth": 10**30}, "it must be between 0 and 100"),
    ("query_memory", {"topic": "x", "deep": True}, "unknown argument 'deep'"),
    ("explore_memory", {"topic": ""}, "topic is empty"),
    ("explore_memory", {"topic": "x", "max_depth": 101}, "max_depth is 101"),
    ("traverse_memory", {"fragment_id": UNKNOWN, "direction": "up"}, "'children', 'parent'"),
    ("traverse_memory", {"fragment_id": UNKNOWN, "direction": "parent"}, f"Fragment {UNKNOWN} not found."),
    ("traverse_memory", {"fragment_id": "x", "direction": "parent"}, "Invalid fragment ID: x"),
    ("store_memory", {"content": "x"}, "'summary' is missing"),
    ("store_memory", {"content": "x", "summary": ""}, "summary is empty"),
    ("store_memory", {"content": "x", "summary": "y" * 1_001}, "the limit is 1,000"),
    ("store_memory", {"content": "", "summary": "y"}, "content is empty"),
    ("store_memory", {"content": "x" * 50_001, "summary": "y"}, "the limit is 50,000"),
    ("store_memory", {"content": "x", "summary": "y", "depth": -1}, "depth is -1"),
    ("store_memory", {"content": "x", "summary": "y", "parent_id": UNKNOWN}, f"Fragment {UNKNOWN} not found"),
    ("store_memory", {"content": "x", "summary": "y", "parent_id": "1"}, "Invalid fragment ID: 1"),
    ("list_topics", {"limit": 3}, "unknown argument 'limit'"),
]


@pytest.mark.parametrize(("tool", "arguments", "message"), REFUSED)
def test_bad_input_is_named_and_changes_nothing(
    lore: Lore, tool: str, arguments: dict[str, Any], message: str
) -> None:
    stored(lore, "what was there before", depth=0)
    with pytest.raises(LoreError) as refusal:
        call(lore, tool, **arguments)
    assert message in str(refusal.value)
    assert len(str(refusal.value)) < 300
    assert lore.count(Filter(forgotten=True, superseded=True)) == 1


def test_fragments_of_other_namespaces_are_neither_found_nor_changed(lore: Lore) -> None:
    hers = stored(lore.for_namespace("ada"), "ada's private walrus", depth=0)
    ours = stored(lore, "the shared walrus", depth=0)
    bob = lore.for_namespace("bob")
    assert queried(bob, "walrus") == [ours]
    assert set(queried(lore.for_namespace("ada"), "walrus")) == {hers, ours}
    assert call(bob, "list_topics")["total"] == 1
    with pytest.raises(NotFound):
        traversed(bob, hers, "children")
    with pytest.raises(NotFound):
        stored(bob, "x", parent_id=hers)
