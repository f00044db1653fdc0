"""undo: one transaction of the journal is taken back exactly, or refused with the later change."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lore import Draft, Invalid, Lore, NotFound, Tie
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.entity_view import Subject
from lore.engine.rate import Rating
from lore.engine.read import last_change
from lore.errors import Duplicate, LoreError
from lore.model import Filter, Query, Revision
from lore.store.columns import columns_of, link_columns_of
from lore.store.values import EVERY, Suggestion, SuggestionFilter

ALL = Filter(forgotten=True, superseded=True)
State = tuple[dict[str, Any], dict[str, Any]]


def batch(lore: Lore) -> str:
    """Of the last change."""
    last = last_change(lore.store.reader(lore.namespace))
    return "" if last is None else last.batch


def state(lore: Lore) -> State:
    """Every memory and link, but for the time of the last change."""
    reader = lore.store.reader(lore.namespace)
    memories = {
        one.id: columns_of(one) | {"depth": one.depth, "updated_at": None}
        for one in reader.select(ALL, EVERY)
    }
    links = {one.id: link_columns_of(one) | {"updated_at": None} for one in reader.links(ended=True)}
    return memories, links


def assert_restored(now: State, earlier: State) -> None:
    """All that was there is as it was; all that is new is hidden."""
    for present, past, over in zip(now, earlier, ("forgotten_at", "ended_at"), strict=True):
        assert {id: present[id] for id in past} == past
        assert all(present[id][over] is not None for id in present.keys() - past.keys())


def test_a_revision_is_undone_and_found_by_its_old_words_again(lore: Lore, clock: Clock) -> None:
    id = lore.remember(Draft(content="the walrus sleeps", importance=0.3)).id
    lore.embed_pending()
    before = state(lore)
    clock.sleep(days=1)
    lore.revise(Revision(id=id, content="the penguin swims", importance=0.9))
    revised = batch(lore)
    clock.sleep(days=1)
    undone = lore.undo(revised)
    assert (undone.changed, undone.batch, state(lore)) == ((id,), batch(lore), before)
    assert [hit.memory.id for hit in lore.search("walrus").hits] == [id]
    assert lore.search(Query(text="penguin")).hits == ()
    assert lore.pending() == 1
    assert lore.read(id, use=False).memory.updated_at == clock()
    assert lore.history(id)[-1].cause.reason == f"undo of {revised}"


def test_an_undo_is_undone_like_any_change(lore: Lore) -> None:
    id = lore.remember("first").id
    lore.revise(Revision(id=id, content="second"))
    after = state(lore)
    undone = lore.undo(batch(lore))
    assert lore.read(id, use=False).memory.content == "first"
    lore.undo(undone.batch)
    assert state(lore) == after


def test_a_dry_run_names_what_would_change_and_changes_nothing(lore: Lore) -> None:
    a, b = (lore.remember(text).id for text in "ab")
    [link] = lore.link([Tie(source=a, target=b)])
    before, last = state(lore), batch(lore)
    undone = lore.undo(last, dry_run=True)
    assert (undone.batch, undone.changed) == ("", (link.id,))
    assert (state(lore), batch(lore)) == (before, last)


def test_children_return_to_a_forgotten_parent(lore: Lore, clock: Clock) -> None:
    root = lore.remember("root").id
    middle = lore.remember(Draft(content="middle", parent=root)).id
    leaf = lore.remember(Draft(content="leaf", parent=middle)).id
    before = state(lore)
    clock.sleep(days=1)
    lore.forget([middle])
    assert lore.read(leaf, use=False).parent == root
    lore.undo(batch(lore))
    assert_restored(state(lore), before)
    assert lore.read(leaf, use=False).parent == middle


@pytest.mark.parametrize("later", ["content", "forgotten"])
def test_what_was_changed_since_is_not_undone_and_the_later_change_is_named(lore: Lore, later: str) -> None:
    id = lore.remember("first").id
    lore.revise(Revision(id=id, content="second"))
    revised = batch(lore)
    if later == "content":
        lore.revise(Revision(id=id, content="third"))
        before = state(lore)
        with pytest.raises(Invalid, match=f"revise at .* \\(batch {batch(lore)}\\); undo that first"):
            lore.undo(revised)
        assert state(lore) == before
    else:  # another field: both changes stand for themselves
        lore.forget([id])
        lore.undo(revised)
        lore.restore([id])
        assert lore.read(id, use=False).memory.content == "first"


def test_nothing_is_undone_twice(lore: Lore) -> None:
    lore.remember("a")
    done = batch(lore)
    lore.undo(done)
    with pytest.raises(Invalid, match="by undo at"):
        lore.undo(done)


def test_a_new_memory_that_others_have_built_on_stays(lore: Lore) -> None:
    parent = lore.remember("parent").id
    made = batch(lore)
    lore.remember(Draft(content="child", parent=parent))
    with pytest.raises(Invalid, match="hangs below"):
        lore.undo(made)
    old, new = lore.remember("old").id, lore.remember("new").id
    made = batch(lore)
    lore.supersede(old, new)
    with pytest.raises(Invalid, match="was replaced by"):
        lore.undo(made)


def test_observations_of_an_entity_are_undone_one_by_one(lore: Lore) -> None:
    lore.introduce([Subject(name="Ferry", observations=("it leaves at noon",))])
    lore.observe([Subject(name="Ferry", observations=("it is red",))])
    second = batch(lore)
    lore.observe([Subject(name="Ferry", observations=("it is slow",))])
    lore.undo(second)
    [view] = lore.nodes("Ferry").views
    assert [one.content for one in view.observations] == ["it leaves at noon", "it is slow"]
    assert "it is red" not in view.entity.context
    assert "it is slow" in view.entity.context


def test_a_file_does_not_come_back_to_a_path_that_is_taken(lore: Lore) -> None:
    lore.edit_file("/memories/a.md", lambda text: "first")
    [file] = lore.select(Filter(kinds=frozenset({"file"})), 1)
    lore.forget([file.id])
    forgotten = batch(lore)
    lore.edit_file("/memories/a.md", lambda text: "second")
    with pytest.raises(Duplicate):
        lore.undo(forgotten)


def test_a_suggestion_whose_acceptance_is_undone_waits_again(lore: Lore) -> None:
    a, b = sorted(lore.remember(text).id for text in "ab")
    proposed = Suggestion(id="s", source=a, target=b, score=0.9, signals={}, created_at=0.0, updated_at=0.0)
    with lore._context("test").transaction() as writer:
        writer.put_suggestions([proposed])
    lore.review(["s"], accepted=True)
    assert lore.suggestions(5).best == ()
    lore.undo(batch(lore))
    assert [one.id for one in lore.suggestions(5).best] == ["s"]
    lore.undo(batch(lore))
    assert lore.store.reader(lore.namespace).suggestions(SuggestionFilter(pending=True)) == []


@pytest.mark.parametrize("unknown", ["", "nowhere", "\ud800", "x" * 10_000, "ü"])
def test_an_unknown_change_is_not_found(lore: Lore, unknown: str) -> None:
    with pytest.raises(NotFound, match="no change"):
        lore.undo(unknown)


def test_a_change_that_is_partly_out_of_sight_stays(lore: Lore) -> None:
    mine, theirs = lore.for_namespace("mine"), lore.for_namespace("theirs")
    shared = lore.remember("shared").id
    id = theirs.remember("private").id
    with pytest.raises(NotFound):
        mine.undo(batch(theirs))
    theirs.forget([id, shared])
    with pytest.raises(Invalid, match="does not see"):
        mine.undo(batch(theirs))
    assert set(theirs.undo(batch(theirs)).changed) == {id, shared}


# --- any changes, taken back one by one
Change = Callable[[Lore, Callable[[int], str], int, int], object]
CHANGES: dict[str, Change] = {
    "remember": lambda lore, at, a, b: lore.remember(Draft(content=f"text {a} {b}")),
    "below": lambda lore, at, a, b: lore.remember(Draft(content=f"below {a} {b}", parent=at(a))),
    "revise": lambda lore, at, a, b: lore.revise(
        Revision(id=at(a), content=f"revised {b}", title=f"title {a}")
    ),
    "forget": lambda lore, at, a, b: lore.forget([at(a), at(b)]),
    "restore": lambda lore, at, a, b: lore.restore([at(a)]),
    "supersede": lambda lore, at, a, b: lore.supersede(at(a), at(b)),
    "link": lambda lore, at, a, b: lore.link([Tie(source=at(a), target=at(b), weight=a % 10 / 10)]),
    "hang": lambda lore, at, a, b: lore.link([Tie(source=at(a), target=at(b), kind="hierarchical")]),
    "unlink": lambda lore, at, a, b: lore.unlink([link.id for link in lore.links([at(a)])]),
    "rate": lambda lore, at, a, b: lore.rate([Rating(id=at(a), useful=bool(b % 2), confidence=b % 10 + 1)]),
    "observe": lambda lore, at, a, b: lore.introduce(
        [Subject(name=f"Entity {a % 3}", observations=(f"observation {b}",))]
    ),
}
STEPS = st.lists(
    st.tuples(st.sampled_from(sorted(CHANGES)), st.integers(0, 30), st.integers(0, 30)),
    min_size=3,
    max_size=14,
)


@settings(max_examples=25)
@given(steps=STEPS)
def test_any_changes_are_undone_and_redone_exactly(
    steps: list[tuple[str, int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    clock = Clock()
    folder: Path = tmp_path_factory.mktemp("undo")
    with wire(Config(data_dir=folder), embedder=HashEmbedder(), clock=clock) as lore:
        lore.remember_all([Draft(content=f"seed {number}") for number in range(3)])
        states, batches = [state(lore)], [batch(lore)]
        for name, a, b in steps:
            clock.sleep(seconds=1)
            ids = sorted(states[-1][0])
            try:
                CHANGES[name](lore, lambda number, ids=ids: ids[number % len(ids)], a, b)  # type: ignore[misc]
            except LoreError:
                continue
            if batch(lore) != batches[-1]:
                states.append(state(lore))
                batches.append(batch(lore))
        undone = []
        for done, earlier in zip(batches[:0:-1], states[-2::-1], strict=True):
            clock.sleep(seconds=1)
            undone.append(lore.undo(done).batch)
            assert_restored(state(lore), earlier)
        for done, later in zip(reversed(undone), states[1:], strict=True):
            clock.sleep(seconds=1)
            if done:  # a change of nothing but a time needs no undo
                lore.undo(done)
            assert_restored(state(lore), later)
        assert [finding for finding in lore.check() if not finding.passed] == []
