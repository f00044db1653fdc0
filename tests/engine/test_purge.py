"""purge: no byte of the store holds an erased memory, everything else stays, and nothing brings it back."""

from dataclasses import replace
from pathlib import Path

import pytest

from lore import Draft, Filter, Invalid, Lore, NotFound, Tie
from lore.clock import Clock
from lore.distil.account import account_id
from lore.engine.entity_view import Subject
from lore.model import Revision
from lore.store.records import ConsolidationRun, SessionAnswers
from tests.engine.test_forget_session import conversation, distilled
from tests.engine.test_undo import batch, state
from tests.store.test_scrub import data

WORD, OTHER, CHINESE = "zanzibar", "quetzal", "秘密的大象"


def copies(lore: Lore, word: str = WORD) -> bool:
    """Whether a word is anywhere in the file or its log, in whatever case."""
    found = data(Path(lore.store.report().location))
    return word.encode() in found or word.encode() in found.lower()


def forget(lore: Lore, *ids: str, reason: str = "") -> None:
    lore.forget(ids, reason=reason)


def test_no_byte_of_the_store_holds_an_erased_memory(lore: Lore, clock: Clock) -> None:
    draft = Draft(
        content=f"Deploy to {WORD}. {CHINESE}", title=f"{WORD.title()} Server", metadata={"x": WORD}
    )
    id = lore.remember(draft).id
    kept = lore.remember(Draft(content=f"The {OTHER} stays", parent=id)).id
    lore.link([Tie(source=kept, target=id, reason=f"about {WORD}")])
    lore.embed_pending()
    clock.sleep(days=1)
    lore.revise(Revision(id=id, content=f"Never deploy to {WORD} again. {CHINESE}"), reason=f"{WORD} is down")
    with lore._context("test").transaction() as writer:
        writer.put([], {id: "".join(f"{WORD} {number}\n" for number in range(9_000))})
    lore.embed_pending()
    lore.search(f"{WORD} {OTHER}")
    forget(lore, id, reason=f"{WORD} was sold")
    assert copies(lore)
    assert copies(lore, CHINESE)
    purged = lore.purge([id])
    assert not copies(lore)
    assert not copies(lore, CHINESE)
    assert copies(lore, OTHER)
    assert purged.ids == (id,)
    assert purged.rows.keys() >= {"memory", "link", "journal", "full_text", "words", "short_vector", "usage"}
    assert purged.rows["memory"] == 1
    assert (lore.search(WORD).hits, [hit.memory.id for hit in lore.search(OTHER).hits]) == ((), [kept])
    assert lore.read(kept, use=False).parent is None
    assert [finding for finding in lore.check() if not finding.passed] == []
    assert [entry.cause.verb for entry in lore.history(id)] == ["remember", "revise", "forget", "purge"]


def test_an_erased_observation_leaves_the_journal_of_its_entity(lore: Lore) -> None:
    lore.introduce([Subject(name="Ferry", observations=(f"it goes to {WORD}", f"it carries a {OTHER}"))])
    lore.observe([Subject(name="Ferry", observations=("it is red",))])
    [view] = lore.nodes("Ferry").views
    [gone] = [one for one in view.observations if WORD in one.content]
    lore.retract([Subject(name="Ferry", observations=(gone.content,))])
    lore.purge([gone.id])
    assert not copies(lore)
    [view] = lore.nodes("Ferry").views
    assert OTHER in view.entity.context


def test_a_session_goes_with_its_turns_memories_and_records(lore: Lore) -> None:
    session, turns = conversation(lore, "ferry", f"When does {WORD} open?", f"{WORD} opens at noon.")
    _, others = conversation(lore, "harbour", f"When does the {OTHER} close?", "At ten.")
    fact = distilled(lore, f"{WORD} opens at noon", turns[1])
    title = lore.read(session, use=False).memory.title
    with lore._context("test").transaction() as writer:
        remarks = (f"“{title}” could not be digested",)
        answers = SessionAnswers(session=session, answers={"1": WORD})
        writer.put_records([answers, ConsolidationRun(began_at=1.0, seconds=1.0, remarks=remarks)])
    forget(lore, session)
    assert set(lore.purge([session]).ids) == {session, *turns, fact, account_id(session)}
    assert not copies(lore)
    assert {memory.id for memory in lore.select(Filter(kinds=frozenset({"turn"})), 9)} == set(others)


def test_only_forgotten_memories_are_erased(lore: Lore) -> None:
    gone, kept = lore.remember("gone").id, lore.remember("kept").id
    forget(lore, gone)
    before = state(lore)
    with pytest.raises(Invalid, match="is not forgotten"):
        lore.purge([gone, kept])
    with pytest.raises(NotFound, match="nowhere"):
        lore.purge([gone, "nowhere"])
    assert state(lore) == before
    assert lore.purge([]).ids == ()


def test_neither_a_purge_nor_what_it_erased_can_be_undone(lore: Lore) -> None:
    gone, kept = (one.memory.id for one in lore.remember_all([Draft(content="gone"), Draft(content="kept")]))
    together = batch(lore)
    forget(lore, gone)
    forgotten = batch(lore)
    lore.purge([gone])
    with pytest.raises(Invalid, match="for good"):
        lore.undo(batch(lore))
    for earlier in (together, forgotten):
        with pytest.raises(Invalid, match="for good"):
            lore.undo(earlier)
    assert lore.restore([gone]) == []
    assert [one.id for one in lore.select(Filter(), 5)] == [kept]


def test_copies_that_keep_the_text_are_named(lore: Lore) -> None:
    id = lore.remember(WORD).id
    path = Path(lore.store.report().location)
    (path.parent / "backups").mkdir()
    lore.backup(path.parent / "backups" / f"{path.stem}-20260101-000000.db")
    forget(lore, id)
    [copy] = lore.purge([id]).backups
    assert WORD.encode() in Path(copy).read_bytes()


def test_nothing_of_another_namespace_or_tenant_is_erased(lore: Lore) -> None:
    theirs, elsewhere = lore.for_namespace("theirs"), replace(lore, tenant="acme")
    for other in (theirs, elsewhere):
        id = other.remember(WORD).id
        forget(other, id)
        with pytest.raises(NotFound):
            lore.for_namespace("mine").purge([id])
        assert other.restore([id]) == [id]
