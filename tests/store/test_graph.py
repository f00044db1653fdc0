"""What a store promises for the graph: aliases, pieces of text, vectors, pairs shown together."""

import numpy as np
import pytest

from lore.model import SHARED, Filter
from lore.store import Store
from lore.store.values import Cooccurrence
from tests.store.test_contract import (
    EAST,
    MODEL,
    NORTH,
    NOW,
    keep,
    link,
    memory,
    one,
    place,
    shared,
    touch,
)


def test_aliases_lead_to_ids_of_memories_and_links_in_sight(store: Store) -> None:
    keep(store, memory("a"), memory("b"), link("a", "b"))
    keep(store, memory("hers", namespace="ada"), namespace="ada")
    a, hers = one(store, "a").alias, store.reader("ada").get(["hers"])["hers"].alias
    assert shared(store).resolve([a, hers, 99], 1) == {a: ["a"], hers: [], 99: []}
    assert store.reader("ada").resolve([hers], 1) == {hers: ["hers"]}
    [tie] = shared(store).links(["a"])
    assert shared(store).resolve([tie.alias, 99], 1, "link") == {tie.alias: ["a-b"], 99: []}


def test_links_with_an_end_out_of_sight_have_no_alias(store: Store) -> None:
    keep(store, memory("a"), memory("hers", namespace="ada"), link("a", "hers"), namespace="ada")
    [tie] = store.reader("ada").links(["a"])
    assert shared(store).resolve([tie.alias], 1, "link") == {tie.alias: []}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("ASTRO", ["content", "title", "type"]),
        ("100%", ["percent"]),
        ("a_b", ["underscore"]),
        ("ÉTÉ", ["accent"]),
        ("été à la", ["accent"]),
        ("日本", ["wide"]),
        ("nowhere", []),
        ("'; DROP", []),
    ],
)
def test_a_piece_of_text_is_found_whatever_the_case(store: Store, text: str, found: list[str]) -> None:
    keep(
        store,
        memory("content", "built with Astro 6"),
        memory("title", "x", title="astronomy"),
        memory("type", "x", type="Castro"),
        memory("percent", "100% done"),
        memory("other", "1000 done"),
        memory("underscore", "a_b"),
        memory("not", "axb"),
        memory("accent", "L'Été à la plage"),
        memory("wide", "東京は日本"),
    )
    assert sorted(shared(store).containing(text, Filter())) == found


def test_an_empty_piece_of_text_is_in_everything_oldest_first(store: Store) -> None:
    keep(store, memory("b"), memory("a"), memory("gone", forgotten_at=NOW))
    assert shared(store).containing("", Filter()) == ["b", "a"]


def test_a_piece_of_text_is_looked_for_within_the_filter_and_in_sight(store: Store) -> None:
    keep(store, memory("a", "word", kind="note"), memory("b", "word", kind="turn"))
    keep(store, memory("hers", "word", namespace="ada"), namespace="ada")
    assert shared(store).containing("word", Filter(other_kinds=frozenset({"turn"}))) == ["a"]
    assert shared(store).containing("word", Filter()) == ["a", "b"]


def test_vectors_of_the_model_are_given_as_they_were_kept(store: Store) -> None:
    keep(store, memory("a"), memory("b"), memory("c"))
    place(store, {"a": EAST, "b": NORTH})
    place(store, {"c": EAST}, model="another")
    found = shared(store).vectors(MODEL, ["a", "b", "c", "unknown"])
    assert set(found) == {"a", "b"}
    assert np.allclose(found["a"], EAST)


def test_memories_shown_together_are_counted_as_pairs(store: Store) -> None:
    keep(store, memory("a"), memory("b"), memory("c"))
    touch(store, "b", "a", now=NOW, together=True)
    touch(store, "a", "b", "c", now=NOW + 5, together=True)
    touch(store, "a", "c", now=NOW + 9)
    assert sorted(shared(store).cooccurrences(["a", "b", "c"]), key=lambda m: (m.one, m.other)) == [
        Cooccurrence("a", "b", 2, NOW + 5),
        Cooccurrence("a", "c", 1, NOW + 5),
        Cooccurrence("b", "c", 1, NOW + 5),
    ]
    assert shared(store).cooccurrences(["a", "unknown"]) == []


def test_pairs_with_a_memory_out_of_sight_are_not_listed(store: Store) -> None:
    keep(store, memory("a"), namespace=SHARED)
    keep(store, memory("hers", namespace="ada"), namespace="ada")
    touch(store, "a", "hers", now=NOW, together=True)
    assert len(store.reader("ada").cooccurrences(["a", "hers"])) == 1
    assert shared(store).cooccurrences(["a", "hers"]) == []
