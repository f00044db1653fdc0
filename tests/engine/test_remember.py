"""remember: all or none, findable at once, in its place; what cannot be kept is refused."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from lore import Draft, Duplicate, Filter, Invalid, Lore, NotFound, Query
from lore.clock import Clock
from lore.engine.read import last_change
from lore.model import Cause
from lore.store.sqlite.store import SqliteStore
from lore.store.values import Page
from tests.doors.resident import until

BAD_DRAFTS: dict[str, Draft] = {
    "no content": Draft(content=""),
    "blank content": Draft(content=" \n\t "),
    "a byte too much": Draft(content="x" * 50_001),
    "NUL": Draft(content="a\0b"),
    "a lone surrogate": Draft(content="a\ud800b"),
    "a long title": Draft(content="x", title="t" * 1_001),
    "NUL in the title": Draft(content="x", title="\0"),
    "a surrogate in the summary": Draft(content="x", summary="\udfff"),
    "a long kind": Draft(content="x", kind="k" * 501),
    "NUL in the session": Draft(content="x", session="\0"),
    "a surrogate in the source": Draft(content="x", source="\ud800"),
    "negative importance": Draft(content="x", importance=-0.1),
    "too much importance": Draft(content="x", importance=1.1),
    "importance that is no number": Draft(content="x", importance=float("nan")),
    "a score below 0": Draft(content="x", score=-0.1),
    "a score above 10": Draft(content="x", score=10.1),
    "a surrogate in the metadata": Draft(content="x", metadata={"k": "\ud800"}),
    "metadata that is not JSON": Draft(content="x", metadata={"k": object()}),
    "metadata that is no number": Draft(content="x", metadata={"k": float("nan")}),
    "enormous metadata": Draft(content="x", metadata={"k": "v" * 50_001}),
    "a surrogate in a flag": Draft(content="x", flags=frozenset({"\ud800"})),
}


def contents(lore: Lore) -> set[str]:
    return {
        memory.content for memory in lore.store.reader(lore.namespace).select(Filter(), Page(limit=10_000))
    }


def test_a_memory_is_kept_as_it_was_drafted(lore: Lore, clock: Clock) -> None:
    draft = Draft(
        content="  The deploy key lives in the vault. ",
        title="Key",
        summary="Where",
        kind="fragment",
        type="fact",
        status="open",
        importance=0.7,
        score=8.0,
        source="chat",
        source_type="told",
        session="s1",
        channel="c1",
        flags=frozenset({"pinned"}),
        metadata={"k": ["ü", None]},
    )
    memory = lore.remember(draft)
    for field in ("content", "title", "summary", "kind", "type", "status", "importance", "score", "source",
                  "source_type", "session", "channel", "flags", "metadata"):  # fmt: skip
        assert getattr(memory, field) == getattr(draft, field)
    assert memory.created_at == memory.updated_at == clock()
    assert (memory.namespace, memory.depth, memory.access_count) == ("shared", 0, 0)
    assert lore.read(memory.id, use=False).memory == memory


def test_a_memory_is_found_by_its_words_at_once(lore: Lore) -> None:
    memory = lore.remember(Draft(content="The walrus sleeps."))
    assert [hit.memory.id for hit in lore.search(Query(text="walrus")).hits] == [memory.id]
    assert lore.status().pending == 1


def test_a_memory_that_must_be_found_by_meaning_at_once_is(lore: Lore) -> None:
    lore.remember(Draft(content="The walrus sleeps.", embed_now=True))
    assert (lore.status().embedded, lore.status().pending) == (1, 0)


def test_the_largest_content_is_kept_whole(lore: Lore) -> None:
    content = "é" * 25_000
    assert lore.read(lore.remember(Draft(content=content)).id, use=False).memory.content == content


def test_many_are_kept_in_their_order(lore: Lore) -> None:
    kept = [one.memory for one in lore.remember_all([Draft(content=f"number {n}") for n in range(5)])]
    assert [memory.content for memory in kept] == [f"number {n}" for n in range(5)]
    assert len({memory.id for memory in kept}) == 5
    assert lore.remember_all([]) == []


@pytest.mark.parametrize("bad", BAD_DRAFTS.values(), ids=BAD_DRAFTS)
def test_one_bad_draft_keeps_all_from_being_kept(bad: Draft, lore: Lore) -> None:
    with pytest.raises(Invalid):
        lore.remember_all([Draft(content="good"), bad])
    assert contents(lore) == set()
    assert last_change(lore.store.reader(lore.namespace)) is None


def test_too_many_at_once_are_refused(lore: Lore) -> None:
    with pytest.raises(Invalid, match=r"1,001 memories at once; at most 1,000"):
        lore.remember_all([Draft(content="x")] * 1_001)
    assert last_change(lore.store.reader(lore.namespace)) is None


def test_a_memory_below_a_parent_hangs_one_deeper(lore: Lore) -> None:
    parent = lore.remember(Draft(content="parent"))
    child = lore.remember(Draft(content="child", parent=parent.id))
    grandchild = lore.remember(Draft(content="grandchild", parent=child.id))
    assert (child.depth, grandchild.depth) == (1, 2)
    assert lore.read(grandchild.id, use=False).breadcrumb == ("parent", "child")
    assert lore.read(parent.id, use=False).children == (child.id,)


@pytest.mark.parametrize("parent", ["", "nowhere", "x" * 100_000, "a\0b", "ü", "\ud800"])
def test_an_unknown_parent_is_refused(parent: str, lore: Lore) -> None:
    with pytest.raises(NotFound, match="unknown parent"):
        lore.remember_all([Draft(content="good"), Draft(content="x", parent=parent)])
    assert last_change(lore.store.reader(lore.namespace)) is None


def test_a_forgotten_parent_is_refused(lore: Lore) -> None:
    parent = lore.remember(Draft(content="parent"))
    lore.forget([parent.id])
    with pytest.raises(NotFound, match="unknown parent"):
        lore.remember(Draft(content="child", parent=parent.id))


def test_a_parent_of_another_namespace_is_refused(lore: Lore) -> None:
    parent = lore.for_namespace("theirs").remember(Draft(content="parent"))
    with pytest.raises(NotFound, match="unknown parent"):
        lore.for_namespace("mine").remember(Draft(content="child", parent=parent.id))


def test_a_memory_finds_a_home_below_the_most_similar_root(lore: Lore) -> None:
    lore.remember(Draft(content="birds of the forest"))
    sea = lore.remember(Draft(content="fish of the sea"))
    lore.embed_pending()
    child = lore.remember(Draft(content="more fish of the sea", auto_parent_above=0.5))
    assert lore.read(child.id, use=False).parent == sea.id


def test_a_home_that_is_forgotten_meanwhile_leaves_a_root(lore: Lore) -> None:
    home = lore.remember(Draft(content="fish of the sea", embed_now=True))
    assert isinstance(lore.store, SqliteStore)
    turns = lore.store._connections._group_commit
    with ThreadPoolExecutor(1) as pool:
        with lore.store.transaction(lore.namespace, Cause(verb="forget"), 1.0) as writer:
            storing = pool.submit(lore.remember, Draft(content="more fish of the sea", auto_parent_above=0.5))
            until(lambda: turns._in_line == 1)  # it has found its home, and waits to be written
            writer.put([replace(home, forgotten_at=1.0)])
        assert storing.result(30).depth == 0


def test_a_memory_unlike_all_roots_becomes_one(lore: Lore) -> None:
    lore.remember(Draft(content="birds of the forest"))
    lore.embed_pending()
    assert lore.remember(Draft(content="quarterly tax return", auto_parent_above=0.5)).depth == 0


def test_a_home_is_a_root_of_the_same_kind(lore: Lore) -> None:
    lore.remember(Draft(content="fish of the sea", kind="turn"))
    root = lore.remember(Draft(content="birds"))
    lore.remember(Draft(content="fish of the sea", parent=root.id))
    lore.embed_pending()
    assert lore.remember(Draft(content="fish of the sea", auto_parent_above=0.5)).depth == 0


def test_a_given_parent_goes_before_a_similar_root(lore: Lore) -> None:
    given = lore.remember(Draft(content="birds"))
    lore.remember(Draft(content="fish of the sea"))
    lore.embed_pending()
    child = lore.remember(Draft(content="fish of the sea", parent=given.id, auto_parent_above=0.1))
    assert lore.read(child.id, use=False).parent == given.id


def test_the_journal_tells_who_remembered_through_which_surface(lore: Lore) -> None:
    memory = lore.for_namespace("mine", surface="mcp", actor="agent7").remember(Draft(content="x"))
    [entry] = lore.for_namespace("mine").history(memory.id)
    assert (entry.cause.verb, entry.cause.surface, entry.cause.actor) == ("remember", "mcp", "agent7")
    assert memory.namespace == "mine"


def test_a_title_that_must_be_unique_is_refused_twice_but_free_once_forgotten(lore: Lore) -> None:
    first = lore.remember(Draft(content="one", title="Same", unique_title=True))
    with pytest.raises(Duplicate) as refused:
        lore.remember(Draft(content="two", title="Same", unique_title=True))
    assert refused.value.existing == first.id
    lore.for_namespace("ada").remember(Draft(content="hers", title="Same", unique_title=True))
    lore.remember(Draft(content="an entity may share it", title="Same", kind="entity", unique_title=True))
    lore.forget([first.id])
    assert lore.remember(Draft(content="three", title="Same", unique_title=True)).title == "Same"


def test_two_drafts_of_one_call_cannot_have_the_same_unique_title(lore: Lore) -> None:
    draft = Draft(content="x", title="Twice", unique_title=True)
    with pytest.raises(Invalid, match="Twice"):
        lore.remember_all([draft, draft])
    assert lore.status().counts.memories == 0
