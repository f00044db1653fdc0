"""relate, unrelate, end: relations by name, in pairs where they are, over but not gone."""

import pytest

from lore import Lore, NotFound
from lore.clock import Clock
from lore.engine.entity_view import Subject
from lore.engine.nodes import named_bonds
from lore.engine.relate import Relation


@pytest.fixture
def three(lore: Lore) -> Lore:
    lore.introduce([Subject(name=name) for name in "ABC"])
    return lore


def tie(source: str, target: str, type: str = "uses") -> Relation:
    return Relation(source=source, target=target, type=type)


def bonds(lore: Lore) -> list[tuple[str, str, str]]:
    return [(bond.source, bond.link.type, bond.target) for bond in lore.nodes().bonds]


def test_what_can_be_related_is_and_what_cannot_is_named(three: Lore) -> None:
    done = three.relate([tie("A", "B"), tie("A", "X"), tie("A", "B"), tie("C", "C")])
    assert [one.link is not None for one in done] == [True, False, False, True]
    assert (done[1].missing, done[2].existed) == (("X",), True)
    assert bonds(three) == [("A", "uses", "B"), ("C", "uses", "C")]


@pytest.mark.parametrize(("type", "inverse"), [("contains", "part_of"), ("part_of", "contains")])
def test_some_relations_come_in_pairs(three: Lore, type: str, inverse: str) -> None:
    three.relate([tie("A", "B", type)])
    assert bonds(three) == [("A", type, "B"), ("B", inverse, "A")]
    three.unrelate([tie("A", "B", type)])
    assert bonds(three) == []


def test_without_pairs_only_what_was_asked_for_is_made(three: Lore) -> None:
    three.relate([tie("A", "B", "contains")], inverses={})
    assert bonds(three) == [("A", "contains", "B")]


def test_taking_away_half_a_pair_that_somebody_made_leaves_the_other(three: Lore) -> None:
    three.relate([tie("A", "B", "contains"), tie("B", "A", "part_of")], inverses={})
    three.unrelate([tie("A", "B", "contains")])
    assert bonds(three) == [("B", "part_of", "A")]


def test_both_halves_can_be_taken_away_in_one_call(three: Lore) -> None:
    three.relate([tie("A", "B", "contains")])
    done = three.unrelate([tie("A", "B", "contains"), tie("B", "A", "part_of")])
    assert all(one.link is not None for one in done)
    assert bonds(three) == []


def test_an_ended_relation_stays_as_history_and_can_begin_again(three: Lore) -> None:
    [made] = three.relate([tie("A", "B", "contains")])
    assert made.link is not None
    ending = three.end_relation(made.link.alias)
    assert (ending.link.active, ending.already) == (False, False)
    assert ending.inverse is not None
    assert not ending.inverse.active
    assert bonds(three) == []
    entity = three.entities(["A"])["A"]
    assert [bond.link.active for bond in three.relations(entity)] == [False, False]
    again = three.end_relation(made.link.alias)
    assert (again.already, again.link.ended_at) == (True, ending.link.ended_at)
    [back] = three.relate([tie("A", "B", "contains")])
    assert back.link is not None
    assert back.link.alias == made.link.alias
    assert bonds(three) == [("A", "contains", "B"), ("B", "part_of", "A")]


def test_what_was_taken_away_is_no_history(three: Lore) -> None:
    [made] = three.relate([tie("A", "B")])
    assert made.link is not None
    three.unrelate([tie("A", "B")])
    assert three.relations(three.entities(["A"])["A"]) == []
    with pytest.raises(NotFound):
        three.end_relation(made.link.alias)


def test_only_relations_can_be_ended(three: Lore) -> None:
    [view] = three.introduce([Subject(name="D", observations=("fact",))])
    [place] = three.read(view.observations[0].id, use=False).links
    with pytest.raises(NotFound):
        three.end_relation(place.alias)
    with pytest.raises(NotFound):
        three.end_relation(999)


def test_an_implied_end_is_shown_to_nobody_until_it_is_introduced(lore: Lore, clock: Clock) -> None:
    lore.relate([tie("Ghost", "House")], imply=True)
    assert bonds(lore) == [("Ghost", "uses", "House")]
    clock.sleep(minutes=1)
    assert lore.nodes().views == ()
    lore.introduce([Subject(name="House")])
    nodes = lore.open_nodes(["House", "Ghost"])
    assert [view.name for view in nodes.views] == ["House"]
    assert [(bond.source, bond.target) for bond in nodes.bonds] == [("Ghost", "House")]
    clock.sleep(minutes=1)
    [ghost] = lore.introduce([Subject(name="Ghost")], merge=False)
    assert ghost.created
    assert [view.name for view in lore.nodes().views] == ["House", "Ghost"]


def test_a_relation_whose_end_goes_while_the_graph_is_read_is_left_out(three: Lore) -> None:
    """Between two reads of one call another client may delete an entity."""
    three.relate([tie("A", "B"), tie("A", "C")])
    nodes = three.nodes()
    [gone] = [view.entity.id for view in nodes.views if view.name == "B"]
    three.forget([gone])
    reader = three.store.reader(three.namespace)
    named = [view for view in nodes.views if view.name == "A"]
    kept = named_bonds([bond.link for bond in nodes.bonds], named, reader)
    assert [(bond.source, bond.target) for bond in kept] == [("A", "C")]
