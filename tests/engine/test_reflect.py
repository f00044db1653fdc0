"""reflect: the account of a session is stored once, and its lessons are linked to it."""

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


def test_a_reflection_is_one_memory_that_search_finds(lore: Lore) -> None:
    kept = lore.reflect(reflection())
    assert (kept.memory.kind, kept.memory.type, kept.memory.session) == ("reflection", "session", "s1")
    assert lore.similar("we built the walrus")[0].memory.id == kept.memory.id
    assert lore.sessions() == ["s1"]


def test_lessons_become_notes_linked_to_the_session(lore: Lore) -> None:
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
    note = lore.read(kept.learned[0].id, use=False).memory
    assert (note.kind, note.score, note.session, note.content) == (
        "note",
        8.0,
        "s1",
        "Check before you insert",
    )
    assert lore.status().pending == 0


def test_a_second_reflection_of_a_session_changes_nothing_and_returns_the_first(
    lore: Lore, clock: Clock
) -> None:
    first = lore.reflect(reflection(lesson("Check before you insert")))
    before = everything(lore)
    clock.sleep(days=3)
    again = lore.reflect(reflection(lesson("Something new entirely"), account="told differently"))
    assert again.again
    assert (again.memory, again.learned) == (first.memory, ())
    assert everything(lore) == before


def test_a_repeated_lesson_is_linked_but_not_stored_twice(lore: Lore) -> None:
    existing = lore.remember(
        Draft(content="Check before you insert", title="Check before you insert", embed_now=True)
    )
    kept = lore.reflect(reflection(lesson("Check before you insert"), lesson("A lesson"), lesson("A lesson")))
    assert [item.outcome for item in kept.learned] == ["duplicate", "inserted", "duplicate"]
    assert kept.learned[0].id == existing.id
    assert kept.learned[1].id == kept.learned[2].id
    assert {link.source for link in lore.links([kept.memory.id])} == {existing.id, kept.learned[1].id}
    assert len(everything(lore)) == 3


def test_an_invalid_lesson_does_not_prevent_the_others(lore: Lore) -> None:
    kept = lore.reflect(reflection(lesson("  "), lesson("x" * 50_001), lesson("a\ud800"), lesson("good")))
    assert [item.outcome for item in kept.learned] == ["error", "error", "error", "inserted"]
    assert "empty" in kept.learned[0].why
    assert everything(lore) == [("note", "good"), ("reflection", "walrus")]


def test_a_forgotten_reflection_can_be_stored_again(lore: Lore) -> None:
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
def test_an_invalid_reflection_stores_nothing(lore: Lore, wrong: Reflection, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        lore.reflect(wrong)
    assert everything(lore) == []


def test_sessions_of_another_namespace_are_invisible(lore: Lore) -> None:
    lore.for_namespace("ada").reflect(reflection())
    assert lore.for_namespace("bob").sessions() == []
    assert not lore.for_namespace("bob").reflect(reflection()).again
