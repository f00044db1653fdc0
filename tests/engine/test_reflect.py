"""reflect: a session is kept once, and what it taught is kept with real ties to it."""

import pytest

from lore import Draft, Filter, Invalid, Lore
from lore.clock import Clock
from lore.engine.reflect import Lesson, Reflection


def lesson(text: str, relation: str = "learned_in", score: float = 8.0) -> Lesson:
    return Lesson(text=text, relation=relation, score=score)


def reflection(*lessons: Lesson, session: str = "s1", account: str = "We built the walrus.") -> Reflection:
    return Reflection(session=session, title="walrus", account=account, lessons=lessons)


def everything(lore: Lore) -> list[tuple[str, str]]:
    return sorted((memory.kind, memory.title) for memory in lore.select(Filter(), 100))


def test_a_session_becomes_one_memory_that_is_found(lore: Lore) -> None:
    kept = lore.reflect(reflection())
    assert (kept.memory.kind, kept.memory.type, kept.memory.session) == ("reflection", "session", "s1")
    assert lore.similar("we built the walrus")[0].memory.id == kept.memory.id
    assert lore.sessions() == ["s1"]


def test_lessons_become_notes_with_real_ties_to_the_session(lore: Lore) -> None:
    kept = lore.reflect(
        reflection(lesson("Check before you insert"), lesson("BM25 is quick", "discovered_in", 7.0))
    )
    assert [(item.title, item.outcome) for item in kept.learned] == [
        ("Check before you insert", "inserted"),
        ("BM25 is quick", "inserted"),
    ]
    ties = {(link.source, link.target, link.kind, link.type) for link in lore.links([kept.memory.id])}
    assert ties == {
        (kept.learned[0].id, kept.memory.id, "relation", "learned_in"),
        (kept.learned[1].id, kept.memory.id, "relation", "discovered_in"),
    }
    note = lore.look_at(kept.learned[0].id).memory
    assert (note.kind, note.score, note.session, note.content) == (
        "note",
        8.0,
        "s1",
        "Check before you insert",
    )
    assert lore.status().pending == 0


def test_a_second_reflection_changes_nothing_and_tells_of_the_first(lore: Lore, clock: Clock) -> None:
    first = lore.reflect(reflection(lesson("Check before you insert")))
    before = everything(lore)
    clock.sleep(days=3)
    again = lore.reflect(reflection(lesson("Something new entirely"), account="told differently"))
    assert again.again
    assert (again.memory, again.learned) == (first.memory, ())
    assert everything(lore) == before


def test_what_is_known_already_is_tied_but_not_kept_twice(lore: Lore) -> None:
    known = lore.remember(
        Draft(content="Check before you insert", title="Check before you insert", embed_now=True)
    )
    kept = lore.reflect(reflection(lesson("Check before you insert"), lesson("A lesson"), lesson("A lesson")))
    assert [item.outcome for item in kept.learned] == ["duplicate", "inserted", "duplicate"]
    assert kept.learned[0].id == known.id
    assert kept.learned[1].id == kept.learned[2].id
    assert {link.source for link in lore.links([kept.memory.id])} == {known.id, kept.learned[1].id}
    assert len(everything(lore)) == 3


def test_one_lesson_that_cannot_be_kept_does_not_keep_the_others_out(lore: Lore) -> None:
    kept = lore.reflect(reflection(lesson("  "), lesson("x" * 50_001), lesson("a\ud800"), lesson("good")))
    assert [item.outcome for item in kept.learned] == ["error", "error", "error", "inserted"]
    assert "empty" in kept.learned[0].why
    assert everything(lore) == [("note", "good"), ("reflection", "walrus")]


def test_a_forgotten_reflection_may_be_made_anew(lore: Lore) -> None:
    first = lore.reflect(reflection())
    lore.forget([first.memory.id])
    assert lore.sessions() == []
    assert not lore.reflect(reflection()).again


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (reflection(session=" "), "session is empty"),
        (reflection(account=""), "account of the session is empty"),
        (reflection(account="x" * 50_001), "50,001 bytes"),
        (reflection(*[lesson(f"lesson {n}") for n in range(201)]), "at most 200"),
        (Reflection(session="s", title="t", account="a", metadata={"topic": "\ud800"}), "not valid Unicode"),
    ],
)
def test_a_reflection_that_cannot_be_kept_leaves_nothing(lore: Lore, wrong: Reflection, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        lore.reflect(wrong)
    assert everything(lore) == []


def test_sessions_of_others_are_out_of_sight(lore: Lore) -> None:
    lore.for_namespace("ada").reflect(reflection())
    assert lore.for_namespace("bob").sessions() == []
    assert not lore.for_namespace("bob").reflect(reflection()).again
