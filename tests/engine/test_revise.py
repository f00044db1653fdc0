"""revise: what was asked for changes, what was said before stays in the history."""

from dataclasses import replace

import pytest

from lore import Draft, Invalid, Lore, NotFound, Query
from lore.clock import Clock
from lore.engine.read import last_change
from lore.model import Revision

BAD_REVISIONS: dict[str, Revision] = {
    "nothing": Revision(id=""),
    "no content": Revision(id="", content=" "),
    "a byte too much": Revision(id="", content="x" * 50_001),
    "NUL": Revision(id="", content="\0"),
    "a lone surrogate": Revision(id="", content="\ud800"),
    "NUL in the title": Revision(id="", title="\0"),
    "a long title": Revision(id="", title="t" * 1_001),
    "a long type": Revision(id="", type="t" * 501),
    "a long status": Revision(id="", status="s" * 501),
    "a surrogate in the summary": Revision(id="", summary="\ud800"),
    "importance below 0": Revision(id="", importance=-0.1),
    "importance above 1": Revision(id="", importance=1.1),
    "importance that is no number": Revision(id="", importance=float("nan")),
}


def test_only_what_was_asked_for_changes(lore: Lore, clock: Clock) -> None:
    before = lore.remember(Draft(content="old", title="Title", importance=0.3))
    clock.sleep(hours=1)
    after = lore.revise(Revision(id=before.id, content="new", importance=0.9))
    assert after == replace(before, content="new", importance=0.9, updated_at=clock())
    assert lore.read(before.id, use=False).memory == after


def test_an_empty_text_may_take_a_title_away(lore: Lore) -> None:
    memory = lore.remember(Draft(content="x", title="Title"))
    assert lore.revise(Revision(id=memory.id, title="")).title == ""


def test_the_new_words_are_found_at_once_and_the_old_ones_no_longer(lore: Lore) -> None:
    memory = lore.remember(Draft(content="walrus"))
    lore.embed_pending()
    lore.revise(Revision(id=memory.id, content="penguin"))
    assert [hit.memory.id for hit in lore.search(Query(text="penguin")).hits] == [memory.id]
    assert lore.search(Query(text="walrus")).hits == ()
    assert lore.status().pending == 1


def test_meaning_follows_soon_after(lore: Lore) -> None:
    memory = lore.remember(Draft(content="walrus"))
    lore.embed_pending()
    lore.revise(Revision(id=memory.id, content="penguin"))
    lore.embed_pending()
    [hit] = lore.search(Query(text="penguin")).hits
    assert hit.evidence["meaning"].strength > 0.5
    assert lore.status().pending == 0


def test_the_old_text_stays_in_the_history_with_the_reason(lore: Lore) -> None:
    memory = lore.remember(Draft(content="old"))
    lore.revise(Revision(id=memory.id, content="new"), reason="it was wrong")
    _, entry = lore.history(memory.id)
    assert (entry.before, entry.after) == ({"content": "old"}, {"content": "new"})
    assert (entry.cause.verb, entry.cause.reason) == ("revise", "it was wrong")


def test_a_revision_to_the_same_leaves_no_trace(lore: Lore, clock: Clock) -> None:
    memory = lore.remember(Draft(content="same"))
    clock.sleep(hours=1)
    assert lore.revise(Revision(id=memory.id, content="same")) == memory
    assert len(lore.history(memory.id)) == 1


@pytest.mark.parametrize("bad", BAD_REVISIONS.values(), ids=BAD_REVISIONS)
def test_a_bad_revision_is_refused_and_changes_nothing(bad: Revision, lore: Lore) -> None:
    memory = lore.remember(Draft(content="good"))
    with pytest.raises(Invalid):
        lore.revise(replace(bad, id=memory.id))
    assert lore.read(memory.id, use=False).memory == memory
    assert len(lore.history(memory.id)) == 1


@pytest.mark.parametrize("id", ["", "nowhere", "x" * 100_000, "a\0b", "ü", "\ud800"])
def test_an_unknown_memory_cannot_be_revised(id: str, lore: Lore) -> None:
    with pytest.raises(NotFound, match="unknown memory"):
        lore.revise(Revision(id=id, content="new"))
    assert last_change(lore.store.reader(lore.namespace)) is None


def test_neither_a_forgotten_memory_nor_anothers_can_be_revised(lore: Lore) -> None:
    gone = lore.remember(Draft(content="gone"))
    lore.forget([gone.id])
    theirs = lore.for_namespace("theirs").remember(Draft(content="theirs"))
    for id in (gone.id, theirs.id):
        with pytest.raises(NotFound):
            lore.for_namespace("mine").revise(Revision(id=id, content="mine now"))
    assert lore.for_namespace("theirs").read(theirs.id, use=False).memory == theirs


@pytest.mark.parametrize("reason", ["\0", "\ud800", "x" * 50_001])
def test_a_reason_that_cannot_be_stored_is_refused(reason: str, lore: Lore) -> None:
    memory = lore.remember(Draft(content="old"))
    with pytest.raises(Invalid, match="reason"):
        lore.revise(Revision(id=memory.id, content="new"), reason=reason)
    assert lore.read(memory.id, use=False).memory == memory
