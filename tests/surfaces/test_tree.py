"""The tree dialect: the six tools of seed 001, called as a door calls them."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from lore import Draft, Invalid, Lore, LoreError, NotFound, Tie
from lore.clock import Clock
from lore.model import Cause
from lore.ranking.policy import REFERENCE
from lore.surfaces import SURFACES, Reply
from lore.text import tokens_in
from tests.surfaces.checked import checked_call

TOOLS = SURFACES["tree"].tools


def call(lore: Lore, tool: str, **arguments: Any) -> Reply:
    return checked_call(TOOLS[tool], lore, arguments)


def stored(lore: Lore, content: str, **arguments: Any) -> str:
    return str(call(lore, "store", content=content, **arguments).data["id"])


def found(lore: Lore, query: str, **arguments: Any) -> list[str]:
    return [result["id"] for result in call(lore, "search", query=query, **arguments).data["results"]]


def writes(lore: Lore) -> list[str]:
    """All that is known of the store's past, to see that a refused call left no trace."""
    return [entry.batch for root in lore.roots(1_000) for entry in lore.history(root.memory.id)]


def test_the_six_tools_are_there_in_order() -> None:
    assert list(TOOLS) == ["search", "read", "list_roots", "store", "update", "delete"]


def test_parameters_and_defaults_are_those_of_the_dialect() -> None:
    schema = TOOLS["search"].input_schema
    assert schema["required"] == ["query"]
    assert {name: value.get("default") for name, value in schema["properties"].items()} == {
        "query": None,
        "parent_id": None,
        "limit": 10,
        "deep": False,
        "detail": "ids",
        "budget_tokens": 1_000,
    }
    assert TOOLS["list_roots"].input_schema["properties"]["limit"]["default"] == 20
    assert TOOLS["store"].input_schema["properties"]["depth"]["default"] == 1


def test_hints_tell_which_tools_change_and_destroy() -> None:
    assert {name for name, tool in TOOLS.items() if tool.read_only} == {"search", "list_roots"}
    assert {name for name, tool in TOOLS.items() if tool.destructive} == {"update", "delete"}


def test_what_all_tools_cost_the_model_is_small() -> None:
    words = sum(len(tool.description) + len(str(tool.input_schema)) for tool in TOOLS.values())
    assert words / 4 < 1_000


# --- search
def test_search_returns_ids_and_scores_and_no_content(lore: Lore) -> None:
    root = stored(lore, "Rust error handling", depth=0)
    child = stored(lore, "Prefer anyhow in applications", parent_id=root)
    reply = call(lore, "search", query="anyhow applications")
    assert reply.data["results"][0]["id"] == child
    assert set(reply.data["results"][0]) == {"id", "score", "depth", "breadcrumb"}
    assert reply.data["results"][0]["breadcrumb"] == ["Rust error handling"]
    assert "Prefer anyhow" not in str(reply.data) + str(reply.text)


def test_the_published_score_is_similarity_and_relevance(lore: Lore) -> None:
    stored(lore, "alpha beta gamma", depth=0)
    by_formula = replace(lore, policies=REFERENCE)
    [result] = call(by_formula, "search", query="alpha beta gamma").data["results"]
    assert result["score"] == pytest.approx(0.7 * 1.0 + 0.3 * 0.3, abs=1e-3)


def test_several_hits_of_one_tree_are_shown_unless_the_published_formula_is_chosen(lore: Lore) -> None:
    root = stored(lore, "gardening tomatoes", depth=0)
    child = stored(lore, "gardening tomatoes in the greenhouse", parent_id=root)
    other = stored(lore, "gardening roses", depth=0)
    assert found(lore, "gardening tomatoes") == [root, child, other]
    assert found(replace(lore, policies=REFERENCE), "gardening tomatoes") == [root, other]


def test_parent_id_scopes_to_the_whole_subtree(lore: Lore) -> None:
    root = stored(lore, "databases", depth=0)
    child = stored(lore, "relational systems", parent_id=root)
    leaf = stored(lore, "postgres listens on port 6432", parent_id=child)
    stored(lore, "postgres listens on port 5432", depth=0)
    assert found(lore, "postgres port", parent_id=root)[0] == leaf
    assert set(found(lore, "postgres port", parent_id=root)) <= {child, leaf}


def test_a_leaf_has_no_children_to_search(lore: Lore) -> None:
    leaf = stored(lore, "alone", depth=0)
    assert call(lore, "search", query="x", parent_id=leaf).text == ("No children found for this fragment.",)


def test_deep_follows_associations_to_what_shares_no_words(lore: Lore) -> None:
    key = stored(lore, "deploy key rotation", depth=0)
    vault = stored(lore, "hashicorp appliance upstairs", depth=0)
    stored(lore, "unrelated lunch menu", depth=0)
    for filler in range(12):
        stored(lore, f"deploy key note number {filler}", depth=0)
    lore.link([Tie(source=key, target=vault, reason="is kept in")])
    assert vault not in found(lore, "deploy key rotation", limit=3)
    assert vault in found(lore, "deploy key rotation", limit=3, deep=True)


def test_the_published_formula_hides_what_has_faded_and_says_so(lore: Lore, clock: Clock) -> None:
    lore = replace(lore, policies=REFERENCE)
    lore.remember(Draft(content="a trifle about weather", importance=0.1, kind="fragment", embed_now=True))
    assert len(found(lore, "weather trifle")) == 1
    clock.sleep(days=8)
    reply = call(lore, "search", query="weather trifle")
    assert reply.data["results"] == []
    assert any("1 weak hit" in note for note in reply.data["notes"])


def test_an_empty_store_says_so(lore: Lore) -> None:
    reply = call(lore, "search", query="anything")
    assert reply.text == ("No results for 'anything'.", "Nothing is stored yet.")


def test_a_search_for_ids_does_not_count_as_a_use(lore: Lore) -> None:
    id = stored(lore, "quiet fragment", depth=0)
    found(lore, "quiet fragment")
    assert lore.read(id, use=False).memory.access_count == 0


FILLER = "Nothing of interest happened on this day at all. " * 40


def noted(lore: Lore, number: int) -> str:
    """A long memory that says one thing about ferries in its middle."""
    content = f"{FILLER}Ferry {number} leaves from pier {number}00. {FILLER}"
    return lore.remember(Draft(content=content, title=f"Log {number}", embed_now=True)).id


def test_a_preview_shows_the_matching_passage_with_date_project_and_origin(lore: Lore) -> None:
    ferry = lore.remember(
        Draft(
            content=f"{FILLER}The ferry leaves from pier 9. {FILLER}",
            title="Harbour log",
            source="codex",
            project="github.com/acme/harbour",
            embed_now=True,
        )
    )
    reply = call(lore, "search", query="which pier does the ferry leave from", detail="preview")
    [result] = reply.data["results"]
    assert "The ferry leaves from pier 9." in result["passage"]
    assert len(result["passage"]) <= 300
    about = {
        "label": "Harbour log",
        "date": "2026-01-01",
        "project": "github.com/acme/harbour",
        "source": "codex",
    }
    assert about.items() <= result.items()
    assert lore.read(ferry.id, use=False).memory.access_count == 0


def test_ten_passages_fit_where_two_whole_memories_would(lore: Lore) -> None:
    for number in range(10):
        noted(lore, number)
    reply = call(lore, "search", query="which pier does the ferry leave from", detail="full")
    contents = [result["content"] for result in reply.data["results"]]
    assert tokens_in(reply.text[0]) <= 1_000
    assert len(contents) > 5
    assert all("leaves from pier" in content for content in contents)
    assert all("[cut from 3," in content and "read its id for all]" in content for content in contents)
    [note] = reply.data["notes"]
    assert note.startswith(f"{10 - len(contents)} more did not fit in 1,000 tokens")
    more = call(lore, "search", query="ferry pier", detail="full", budget_tokens=20_000).data
    assert (len(more["results"]), more["notes"]) == (10, [])
    assert all("[cut" not in result["content"] for result in more["results"])


def test_full_contents_count_as_a_use(lore: Lore) -> None:
    id = stored(lore, "quiet fragment", depth=0)
    found(lore, "quiet fragment", detail="full")
    assert lore.read(id, use=False).memory.access_count == 1


# --- read
def test_a_memory_is_read_by_the_end_of_its_id_that_a_brief_shows(lore: Lore) -> None:
    one, two = stored(lore, "tea"), stored(lore, "coffee")
    assert call(lore, "read", id=one[-8:]).data["id"] == one
    fragments = call(lore, "read", ids=[two[-8:], one]).data["fragments"]
    assert [fragment["content"] for fragment in fragments] == ["coffee", "tea"]
    with pytest.raises(Invalid):
        call(lore, "read", id=one[-7:])


def test_several_ids_are_read_at_once_and_a_bad_one_does_not_spoil_the_others(lore: Lore) -> None:
    one, two = stored(lore, "one", depth=0), stored(lore, "two", depth=0)
    fragments = call(lore, "read", ids=[two, "nonsense", UNKNOWN, one]).data["fragments"]
    assert [fragment["id"] for fragment in fragments] == [two, "nonsense", UNKNOWN, one]
    assert fragments[1]["error"] == "Fragment nonsense not found."
    assert "error" in fragments[2]
    assert fragments[0] == {**call(lore, "read", id=two).data, "relevance": fragments[0]["relevance"]}


def test_several_long_memories_are_read_within_a_budget(lore: Lore) -> None:
    ids = [stored(lore, f"{number} " + "walrus " * 5_000, depth=0) for number in range(10, 30)]
    reply = call(lore, "read", ids=ids)
    assert tokens_in(reply.blocks()[0]) <= 8_000
    assert len(reply.data["fragments"]) == 20
    assert "[cut from 35,003 characters; read it alone for all]" in reply.data["fragments"][1]["content"]
    assert call(lore, "read", ids=ids[:1]).data["fragments"][0]["content"] == "10 " + "walrus " * 5_000


def test_a_long_turn_is_read_whole_within_the_budget_of_each_answer(lore: Lore) -> None:
    whole = "".join(f"{number} walruses. " for number in range(5_000))
    id = stored(lore, "0 walruses. […]", depth=0)
    with lore.store.transaction(lore.namespace, Cause(verb="test"), 0.0) as writer:
        [turn] = writer.get([id]).values()
        writer.put([replace(turn, metadata={"full_length": len(whole)})], {id: whole})
    excerpt = call(lore, "read", id=id).data
    assert excerpt["content"] == "0 walruses. […]"
    assert excerpt["notes"] == [
        f"The content is an excerpt of {len(whole):,} characters; offset=0 reads them."
    ]
    read, offset = "", 0
    while offset < len(whole):
        reply = call(lore, "read", id=id, offset=offset)
        assert tokens_in(reply.blocks()[0]) <= 8_500
        read += reply.data["content"]
        offset = len(read)
        assert reply.data["notes"][0].endswith(
            "." if read == whole else f" of {len(whole):,}; offset={offset} reads on."
        )
    assert read == whole
    for wrong in (-1, len(whole)):
        with pytest.raises(Invalid, match=f"offset is {wrong}; it must be between 0 and {len(whole) - 1:,}"):
            call(lore, "read", id=id, offset=wrong)
    with pytest.raises(Invalid, match="offset is for one fragment"):
        call(lore, "read", ids=[id], offset=0)


def test_a_reading_lists_the_first_children_and_says_how_many_there_are(lore: Lore) -> None:
    root = stored(lore, "root", depth=0)
    lore.remember_all([Draft(content=f"child {n}", parent=root) for n in range(120)])
    reading = call(lore, "read", id=root).data
    assert len(reading["children"]) == 100
    assert reading["notes"] == [f"{root} has 120 children, 100 are listed; search with parent_id."]


def test_a_replaced_fact_says_what_replaced_it_and_when(lore: Lore, clock: Clock) -> None:
    old, new = stored(lore, "port 4000", depth=0), stored(lore, "port 5000", depth=0)
    clock.sleep(days=3)
    with lore.store.transaction(lore.namespace, Cause(verb="test"), lore.clock()) as writer:
        memory = lore.read(old, use=False).memory
        writer.put([replace(memory, superseded_by=new, superseded_at=lore.clock())])
    by = {"id": new, "label": "port 5000", "date": "2026-01-04"}
    assert call(lore, "read", id=old).data["replaced_by"] == by
    assert call(lore, "read", ids=[new, old]).data["fragments"][1]["replaced_by"] == by
    assert "replaced_by" not in call(lore, "read", id=new).data


def test_read_returns_content_parent_children_and_associations(lore: Lore) -> None:
    root = stored(lore, "root concept", depth=0)
    child = stored(lore, "narrower aspect", parent_id=root)
    leaf = stored(lore, "specific finding", parent_id=child)
    far = stored(lore, "another tree", depth=0)
    lore.link([Tie(source=child, target=far, weight=0.8, reason="reminds of")])
    assert call(lore, "read", id=child).data == {
        "id": child,
        "content": "narrower aspect",
        "depth": 1,
        "relevance": 0.3,
        "parent_id": root,
        "breadcrumb": ["root concept"],
        "children": [leaf],
        "associations": [{"id": far, "relationship": "reminds of", "weight": 0.8}],
    }


def test_every_reading_has_the_same_keys(lore: Lore) -> None:
    root = stored(lore, "lonely root", depth=0)
    child = stored(lore, "child", parent_id=root)
    assert set(call(lore, "read", id=root).data) == set(call(lore, "read", id=child).data)


def test_reading_strengthens_and_never_lowers(lore: Lore, clock: Clock) -> None:
    id = stored(lore, "often needed", depth=0)
    readings = [call(lore, "read", id=id).data["relevance"] for _ in range(4)]
    assert readings == sorted(set(readings))
    assert readings[:2] == [0.3, 0.352]


def test_reading_wakes_the_neighbours_but_does_not_edit_them(lore: Lore) -> None:
    root = stored(lore, "root", depth=0)
    child = stored(lore, "child", parent_id=root)
    before = lore.read(child, use=False)
    call(lore, "read", id=root)
    after = lore.read(child, use=False)
    assert after.relevance == pytest.approx(before.relevance + 0.1)
    assert after.memory.updated_at == before.memory.updated_at
    assert after.memory.access_count == 0


# --- list_roots
def test_roots_come_with_their_number_of_children_the_most_relevant_first(lore: Lore, clock: Clock) -> None:
    old = stored(lore, "old root", depth=0)
    stored(lore, "child one", parent_id=old)
    stored(lore, "child two", parent_id=old)
    clock.sleep(days=30)
    new = stored(lore, "new root", depth=0)
    assert call(lore, "list_roots").data["roots"] == [
        {"id": new, "children_count": 0},
        {"id": old, "children_count": 2},
    ]
    assert len(call(lore, "list_roots", limit=1).data["roots"]) == 1


def test_an_empty_list_of_roots_comes_with_a_sentence(lore: Lore) -> None:
    assert call(lore, "list_roots").text == ("No knowledge stored yet.",)


# --- store
def test_a_correction_is_kept_and_the_older_statement_names_it(lore: Lore, clock: Clock) -> None:
    old = stored(lore, "The API rate limit of Zephyr is 100 requests per minute", depth=0)
    clock.sleep(days=1)
    new = stored(lore, "Correction: the API rate limit of Zephyr is now 250 requests per minute", depth=0)
    first, second = call(lore, "search", query="rate limit of Zephyr", detail="preview").data["results"]
    assert [first["id"], second["id"]] == [new, old]
    assert second["updated_by"]["id"] == new
    assert call(lore, "read", id=old).data["updated_by"]["id"] == new


def test_a_new_fragment_finds_its_home_by_meaning(lore: Lore) -> None:
    root = stored(lore, "python packaging with wheels", depth=0)
    stored(lore, "the cat sleeps on the sofa", depth=0)
    reply = call(lore, "store", content="python wheels are built by hatchling")
    assert reply.data["parent_id"] == root
    assert reply.data["depth"] == 1


def test_a_fragment_without_a_home_becomes_a_root_not_an_orphan(lore: Lore) -> None:
    stored(lore, "python packaging with wheels", depth=0)
    reply = call(lore, "store", content="zebras graze quietly", depth=1)
    assert (reply.data["depth"], reply.data["parent_id"]) == (0, None)
    assert reply.data["id"] in str(call(lore, "list_roots").data)


def test_depth_follows_from_the_parent(lore: Lore) -> None:
    root = stored(lore, "root", depth=0)
    child = stored(lore, "child", parent_id=root, depth=7)
    assert call(lore, "store", content="leaf", parent_id=child).data["depth"] == 2


# --- update
def test_an_update_replaces_words_and_meaning_and_keeps_the_old_text(lore: Lore) -> None:
    id = stored(lore, "we deploy on fridays", depth=0)
    assert call(lore, "update", fragment_id=id, content="releases ship mondays").data == {
        "status": "updated",
        "id": id,
    }
    lore.embed_pending()
    assert call(lore, "search", query="releases mondays").data["results"][0]["score"] > 0.5
    assert call(lore, "search", query="deploy fridays").data["results"] == []
    assert (lore.history(id)[-1].before or {})["content"] == "we deploy on fridays"


# --- delete
def test_delete_hands_the_children_up_and_restore_brings_all_back(lore: Lore) -> None:
    root = stored(lore, "root", depth=0)
    middle = stored(lore, "middle", parent_id=root)
    leaf = stored(lore, "leaf", parent_id=middle)
    assert call(lore, "delete", fragment_id=middle).data == {"status": "deleted", "id": middle}
    assert call(lore, "read", id=leaf).data["parent_id"] == root
    assert call(lore, "read", id=leaf).data["depth"] == 1
    with pytest.raises(NotFound, match=f"Fragment {middle} not found."):
        call(lore, "read", id=middle)
    lore.restore([middle])
    assert call(lore, "read", id=leaf).data["parent_id"] == middle
    assert call(lore, "read", id=leaf).data["depth"] == 2


def test_children_of_a_deleted_root_become_roots(lore: Lore) -> None:
    root = stored(lore, "root", depth=0)
    child = stored(lore, "child", parent_id=root)
    call(lore, "delete", fragment_id=root)
    assert call(lore, "list_roots").data["roots"] == [{"id": child, "children_count": 0}]


# --- bad input
UNKNOWN = "01a1e199-c073-71dd-958f-3013d1acd782"
REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("search", {"query": ""}, "query is empty"),
    ("search", {"query": "  \n"}, "query is empty"),
    ("search", {"query": "a\0b"}, "NUL"),
    ("search", {"query": "a\ud800b"}, "lone surrogate"),
    ("search", {"query": "x" * 50_001}, "50,000"),
    ("search", {"query": "x", "limit": 0}, "between 1 and 1,000"),
    ("search", {"query": "x", "limit": -3}, "between 1 and 1,000"),
    ("search", {"query": "x", "limit": 10**30}, "between 1 and 1,000"),
    ("search", {"query": "x", "limit": "many"}, "'limit'"),
    (
        "search",
        {"query": "x", "top_k": 3},
        "unknown argument 'top_k'; known: budget_tokens, deep, detail",
    ),
    ("search", {"query": "x", "detail": "all"}, "'detail'"),
    ("search", {"query": "x", "detail": "full", "budget_tokens": 0}, "budget_tokens is 0"),
    ("search", {}, "'query' is missing"),
    ("search", {"query": "x", "parent_id": "nonsense"}, "Invalid parent ID: nonsense"),
    ("search", {"query": "x", "parent_id": UNKNOWN}, f"Fragment {UNKNOWN} not found."),
    ("read", {"id": ""}, "Invalid fragment ID: "),
    ("read", {"id": "é" * 500}, "Invalid fragment ID: é"),
    ("read", {"id": UNKNOWN}, f"Fragment {UNKNOWN} not found."),
    ("read", {}, "read needs an id"),
    ("read", {"ids": []}, "read needs an id"),
    ("read", {"ids": [f"{n}" for n in range(51)]}, "51 ids; at most 50"),
    ("list_roots", {"limit": 0}, "between 1 and 1,000"),
    ("store", {"content": ""}, "content is empty"),
    ("store", {"content": "x" * 50_001}, "the limit is 50,000"),
    ("store", {"content": "é" * 25_001}, "50,002 bytes"),
    ("store", {"content": "a\0b"}, "NUL character at position 1"),
    ("store", {"content": "a\udfffb"}, "lone surrogate at position 1"),
    ("store", {"content": "x", "depth": -1}, "depth is -1"),
    ("store", {"content": "x", "parent_id": "1"}, "Invalid parent ID: 1"),
    ("store", {"content": "x", "parent_id": UNKNOWN}, f"Fragment {UNKNOWN} not found."),
    ("store", {"content": 5}, "'content'"),
    ("update", {"fragment_id": UNKNOWN, "content": "x"}, f"Fragment {UNKNOWN} not found."),
    ("update", {"fragment_id": "x", "content": "x"}, "Invalid fragment ID: x"),
    ("delete", {"fragment_id": UNKNOWN}, f"Fragment {UNKNOWN} not found."),
]


@pytest.mark.parametrize(("tool", "arguments", "message"), REFUSED)
def test_bad_input_is_named_and_changes_nothing(
    lore: Lore, tool: str, arguments: dict[str, Any], message: str
) -> None:
    stored(lore, "what was there before", depth=0)
    before = writes(lore)
    with pytest.raises(LoreError) as refusal:
        call(lore, tool, **arguments)
    assert message in str(refusal.value)
    assert len(str(refusal.value)) < 300
    assert writes(lore) == before
    assert found(lore, "before")


def test_an_empty_update_is_refused(lore: Lore) -> None:
    id = stored(lore, "keep me", depth=0)
    with pytest.raises(Invalid, match="content is empty"):
        call(lore, "update", fragment_id=id, content=" ")
    assert call(lore, "read", id=id).data["content"] == "keep me"


@pytest.mark.parametrize(
    "query",
    ['"', "'", "*", "NEAR(a b)", "-minus", "a AND", "title:x", "C++", "^caret", "{}", "()", "日本語", "🙂"],
)
def test_search_syntax_in_a_question_is_just_text(lore: Lore, query: str) -> None:
    stored(lore, f"about {query} and more", depth=0)
    assert len(found(lore, query)) == 1


def test_the_largest_content_is_kept_whole(lore: Lore) -> None:
    content = "é" * 25_000
    assert call(lore, "read", id=stored(lore, content, depth=0)).data["content"] == content


def test_fragments_of_other_namespaces_are_neither_found_nor_changed(lore: Lore) -> None:
    hers = stored(lore.for_namespace("ada"), "ada's private fragment", depth=0)
    ours = stored(lore, "a shared fragment", depth=0)
    assert found(lore.for_namespace("ada"), "fragment") == [hers, ours] or found(
        lore.for_namespace("ada"), "fragment"
    )
    assert set(found(lore.for_namespace("ada"), "fragment")) == {hers, ours}
    assert found(lore.for_namespace("bob"), "fragment") == [ours]
    for tool, arguments in (
        ("read", {"id": hers}),
        ("update", {"fragment_id": hers, "content": "stolen"}),
        ("delete", {"fragment_id": hers}),
        ("store", {"content": "x", "parent_id": hers}),
    ):
        with pytest.raises(NotFound):
            call(lore.for_namespace("bob"), tool, **arguments)


def test_every_fragment_has_an_id_of_its_own(lore: Lore) -> None:
    ids = {stored(lore, f"fragment {n}", depth=0) for n in range(20)}
    assert len(ids) == 20
    assert str(uuid4()) not in ids
