"""What every store promises about suggested links."""

from typing import Any

import pytest

from lore.model import SHARED, Cause, Link, Memory
from lore.store import Store, Suggestion
from lore.store.values import SuggestionFilter
from tests.store.conftest import OpenStore

NOW = 1_800_000_000.0
CAUSE = Cause(verb="test")


@pytest.fixture
def store(open_store: OpenStore) -> Store:
    opened = open_store()
    with opened.transaction("ada", CAUSE, NOW) as writer:
        writer.put([memory(id) for id in "abcd"])
        writer.put([memory("x", namespace="ada")])
    return opened


def memory(id: str, **fields: Any) -> Memory:
    return Memory(id=id, content=f"text of {id}", created_at=NOW, updated_at=NOW, **fields)


def suggestion(source: str, target: str, score: float = 0.5, **fields: Any) -> Suggestion:
    given: dict[str, Any] = {
        "id": f"{source}{target}",
        "created_at": NOW,
        "updated_at": NOW,
        "signals": {"bm25": 1},
    }
    return Suggestion(source=source, target=target, score=score, **(given | fields))


def suggest(store: Store, *suggestions: Suggestion) -> None:
    with store.transaction("ada", CAUSE, NOW) as writer:
        writer.put_suggestions(suggestions)


def pending(store: Store, namespace: str = SHARED, least: float = 0.0) -> list[str]:
    found = store.reader(namespace).suggestions(SuggestionFilter(pending=True, min_score=least), 10)
    return [item.id for item in found]


def touching(store: Store, id: str, namespace: str = SHARED) -> list[Suggestion]:
    return store.reader(namespace).suggestions(SuggestionFilter(touching=(id,)))


def test_a_suggestion_comes_back_as_it_was_put(store: Store) -> None:
    given = suggestion("a", "b", 0.7, type="causes", status="rejected")
    suggest(store, given)
    assert store.reader(SHARED).suggestions(SuggestionFilter(ids=("ab", "nope"))) == [given]


def test_a_pair_has_one_order_and_one_suggestion(store: Store) -> None:
    suggest(store, suggestion("b", "a", 0.4))
    suggest(store, suggestion("a", "b", 0.6, id="again"))
    [only] = touching(store, "b")
    assert (only.id, only.source, only.target, only.score) == ("ba", "a", "b", 0.6)


def test_suggestions_are_found_by_either_end_whatever_became_of_them(store: Store) -> None:
    suggest(store, suggestion("a", "b"), suggestion("b", "c", status="rejected"), suggestion("c", "d"))
    assert {item.id for item in touching(store, "b")} == {"ab", "bc"}


def test_unknown_ends_are_left_out(store: Store) -> None:
    suggest(store, suggestion("a", "nobody"), suggestion("a", "b"))
    assert pending(store) == ["ab"]


def test_the_pending_ones_come_best_first(store: Store) -> None:
    suggest(
        store,
        suggestion("a", "b", 0.4),
        suggestion("a", "c", 0.9),
        suggestion("a", "d", 0.6, status="accepted"),
    )
    assert pending(store) == ["ac", "ab"]
    assert pending(store, least=0.5) == ["ac"]
    assert store.reader(SHARED).counts().suggestions == 2


def test_pairs_that_were_linked_or_forgotten_meanwhile_are_not_pending(store: Store) -> None:
    suggest(store, suggestion("a", "b"), suggestion("a", "c"), suggestion("b", "d"))
    link = Link(id="l", source="b", target="a", kind="associative", created_at=NOW, updated_at=NOW)
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        writer.put_links([link])
        writer.put([memory("c", forgotten_at=NOW)])
    assert pending(store) == ["bd"]
    assert store.reader(SHARED).counts().suggestions == 1


def test_nobody_sees_suggestions_about_what_is_out_of_sight(store: Store) -> None:
    suggest(store, suggestion("a", "x"))
    assert pending(store, "ada") == ["ax"]
    bob = store.reader("bob")
    assert (pending(store, "bob"), bob.counts().suggestions, touching(store, "a", "bob")) == ([], 0, [])
    assert bob.suggestions(SuggestionFilter(ids=("ax",))) == []


def test_what_nobody_judged_expires_and_what_was_judged_stays(store: Store) -> None:
    suggest(store, suggestion("a", "b"), suggestion("a", "c", status="rejected"))
    suggest(store, suggestion("a", "d", updated_at=NOW + 10))
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        assert writer.put_suggestions([], expire_before=NOW + 5) == 1
    assert {item.id for item in touching(store, "a")} == {"ac", "ad"}
