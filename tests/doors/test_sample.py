"""The sample: a small story for an empty store, told through the public verbs."""

from dataclasses import replace

from lore import Draft, Lore, Query
from lore.doors.sample import load_sample
from lore.model import Branch


def size(branch: Branch) -> int:
    return 1 + sum(size(child) for child in branch.children)


def test_an_empty_store_gets_a_few_linked_trees(lore: Lore) -> None:
    kept = load_sample(lore)
    roots = lore.roots()
    assert 18 <= kept <= 25
    assert 4 <= len(roots) <= 5
    assert sum(size(lore.explore(root.memory.id)) for root in roots) == kept
    assert set(lore.status().counts.kinds) == {"fragment"}
    assert all(root.memory.title and root.children_count for root in roots)


def test_the_links_lead_somewhere(lore: Lore) -> None:
    kept = load_sample(lore)
    in_trees = kept - len(lore.roots())
    assert lore.status().counts.links - in_trees >= 4


def test_the_sample_can_be_searched(lore: Lore) -> None:
    load_sample(lore)
    lore.embed_pending()
    best = lore.search(Query(text="why SQLite and not a server")).hits[0]
    assert best.memory.title == "SQLite instead of a database server"


def test_a_store_in_use_is_left_alone(lore: Lore) -> None:
    lore.remember(Draft(content="mine"))
    assert load_sample(lore) == 0
    assert lore.status().counts.memories == 1


def test_a_store_whose_memories_were_all_forgotten_is_not_empty(lore: Lore) -> None:
    lore.forget([lore.remember(Draft(content="mine")).id])
    assert load_sample(lore) == 0


def test_the_sample_belongs_to_no_project_wherever_it_is_loaded(lore: Lore) -> None:
    load_sample(replace(lore, project="example.org/harbour/ferry"))
    assert lore.projects() == {}
