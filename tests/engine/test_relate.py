"""relate, unrelate, end: relations by name, in pairs where they are, over but not gone."""

import pytest

from lore import Lore, NotFound
from lore.clock import Clock
from lore.engine.nodes import named_bonds
from lore.engine.observe import Subject
from lore.engine.relate import Relation


@pytest.fixture
def three(lore: Lore) -> Lore:
    lore.graph.introduce([Subject(name=name) for name in "ABC"])
    return lore


def tie(source: str, target: str, type: str = "uses") -> Relation:
    return Relation(source=source, target=target, type=type)


def bonds(lore: Lore) -> list[tuple[str, str, str]]:
    return [(bond.source, bond.link.type, bond.target) for bond in lore.graph.everything().bonds]


def test_what_can_be_related_is_and_what_cannot_is_named(three: Lore) -> None:
    done = three.graph.relate([tie("A", "B"), tie("A", "X"), tie("A", "B"), tie("C", "C")])
    assert [one.link is not None for one in done] == [True, False, False, True]
    assert (done[1].missing, done[2].known) == (("X",), True)
    assert bonds(three) == [("A", "uses", "B"), ("C", "uses", "C")]


@pytest.mark.parametrize(("type", "inverse"), [("contiene", "parte_de"), ("parte_de", "contiene")])
def test_some_relations_come_in_pairs(three: Lore, type: str, inverse: str) -> None:
    three.graph.relate([tie("A", "B", type)])
    assert bonds(three) == [("A", type, "B"), ("B", inverse, "A")]
    three.graph.unrelate([tie("A", "B", type)])
    assert bonds(three) == []


def test_without_pairs_only_what_was_asked_for_is_made(three: Lore) -> None:
    three.graph.relate([tie("A", "B", "contiene")], pairs=False)
    assert bonds(three) == [("A", "contiene", "B")]


def test_taking_away_half_a_pair_that_somebody_made_leaves_the_other(three: Lore) -> None:
    three.graph.relate([tie("A", "B", "contiene"), tie("B", "A", "parte_de")], pairs=False)
    three.graph.unrelate([tie("A", "B", "contiene")])
    assert bonds(three) == [("B", "parte_de", "A")]


def test_both_halves_can_be_taken_away_in_one_call(three: Lore) -> None:
    three.graph.relate([tie("A", "B", "contiene")])
    done = three.graph.unrelate([tie("A", "B", "contiene"), tie("B", "A", "parte_de")])
    assert all(one.link is not None for one in done)
    assert bonds(three) == []


def test_an_ended_relation_stays_as_history_and_can_begin_again(three: Lore) -> None:
    [made] = three.graph.relate([tie("A", "B", "contiene")])
    assert made.link is not None
    ending = three.graph.end(made.link.alias)
    assert (ending.link.active, ending.already) == (False, False)
    assert ending.inverse is not None
    assert not ending.inverse.active
    assert bonds(three) == []
    entity = three.graph.named(["A"])["A"]
    assert [link.active for link in three.graph.relations_of(entity)] == [False, False]
    again = three.graph.end(made.link.alias)
    assert (again.already, again.link.ended_at) == (True, ending.link.ended_at)
    [back] = three.graph.relate([tie("A", "B", "contiene")])
    assert back.link is not None
    assert back.link.alias == made.link.alias
    assert bonds(three) == [("A", "contiene", "B"), ("B", "parte_de", "A")]


def test_what_was_taken_away_is_no_history(three: Lore) -> None:
    [made] = three.graph.relate([tie("A", "B")])
    assert made.link is not None
    three.graph.unrelate([tie("A", "B")])
    assert three.graph.relations_of(three.graph.named(["A"])["A"]) == []
    with pytest.raises(NotFound):
        three.graph.end(made.link.alias)


def test_only_relations_can_be_ended(three: Lore) -> None:
    [view] = three.graph.introduce([Subject(name="D", observations=("fact",))])
    [place] = three.look_at(view.observations[0].id).links
    with pytest.raises(NotFound):
        three.graph.end(place.alias)
    with pytest.raises(NotFound):
        three.graph.end(999)


def test_an_implied_end_is_shown_to_nobody_until_it_is_introduced(lore: Lore, clock: Clock) -> None:
    lore.graph.relate([tie("Ghost", "House")], imply=True)
    assert bonds(lore) == [("Ghost", "uses", "House")]
    clock.sleep(minutes=1)
    assert lore.graph.everything().views == ()
    lore.graph.introduce([Subject(name="House")])
    nodes = lore.graph.opened(["House", "Ghost"])
    assert [view.name for view in nodes.views] == ["House"]
    assert [(bond.source, bond.target) for bond in nodes.bonds] == [("Ghost", "House")]
    clock.sleep(minutes=1)
    [ghost] = lore.graph.introduce([Subject(name="Ghost")], merge=False)
    assert ghost.created
    assert [view.name for view in lore.graph.everything().views] == ["House", "Ghost"]


def test_a_relation_whose_end_goes_while_the_graph_is_read_is_left_out(three: Lore) -> None:
    """Between two reads of one call another client may delete an entity."""
    three.graph.relate([tie("A", "B"), tie("A", "C")])
    nodes = three.graph.everything()
    [gone] = [view.entity.id for view in nodes.views if view.name == "B"]
    three.forget([gone])
    reader = three.store.reader(three.namespace)
    named = [view for view in nodes.views if view.name == "A"]
    kept = named_bonds([bond.link for bond in nodes.bonds], named, reader)
    assert [(bond.source, bond.target) for bond in kept] == [("A", "C")]
