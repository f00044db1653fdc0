"""Attention spreads over links: a little to neighbours, and by a walk to what lies beyond."""

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.engine.deep_search import ROUNDS
from lore.ranking.graph import Edge, personalized_pagerank, shares, spread
from lore.ranking.policy import policy_named

NODES = st.sampled_from("abcdef")
EDGES = st.lists(st.tuples(NODES, NODES, st.floats(-1, 2)), max_size=12)
SEEDS = st.dictionaries(NODES, st.floats(0.01, 1), min_size=1)


def walked(seeds: dict[str, float], edges: list[Edge]) -> dict[str, float]:
    """Three steps along links, both ways, as the tree dialect documents its walk."""
    weights: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for source, target, weight in edges:
        if source != target and weight > 0:
            weights[source][target] += weight
            weights[target][source] += weight
    ways = {node: shares(neighbours) for node, neighbours in weights.items()}
    return personalized_pagerank(seeds, ways, policy_named("tree").teleport, ROUNDS)


@pytest.mark.parametrize(
    ("seeds", "edges", "mass"),
    [
        ({"A": 1.0}, [("A", "B", 1.0), ("B", "C", 1.0)], {"A": 0.3735, "B": 0.5530, "C": 0.0735}),
        ({"A": 1.0}, [("A", "B", 0.9), ("A", "C", 0.3)], {"A": 0.4470, "B": 0.4148, "C": 0.1383}),
        ({"A": 0.6, "B": 0.3}, [("A", "C", 1.0)], {"A": 0.4403, "B": 0.1330, "C": 0.4267}),
        ({"A": 0.6, "B": 0.3}, [], {"A": 0.6667, "B": 0.3333}),
    ],
    ids=["chain", "star", "two seeds", "no links"],
)
def test_a_walk_shares_out_its_mass(
    seeds: dict[str, float], edges: list[Edge], mass: dict[str, float]
) -> None:
    assert walked(seeds, edges) == pytest.approx(mass, abs=1e-4)


@given(SEEDS, EDGES)
def test_no_mass_is_lost_or_made(seeds: dict[str, float], edges: list[Edge]) -> None:
    assert sum(walked(seeds, edges).values()) == pytest.approx(1.0)


@given(SEEDS, EDGES)
def test_links_are_walked_both_ways(seeds: dict[str, float], edges: list[Edge]) -> None:
    turned = [(target, source, weight) for source, target, weight in edges]
    back, forth = (walked(seeds, links) for links in (turned, edges))
    assert back == pytest.approx(forth)


def test_a_walk_reaches_only_what_is_linked_to_a_seed() -> None:
    ways = [("A", "B", 1.0), ("X", "Y", 1.0)]
    assert set(walked({"A": 1.0}, ways)) == {"A", "B"}


@pytest.mark.parametrize("seeds", [{}, {"A": 0.0}, {"A": -1.0}])
def test_a_walk_from_nowhere_leads_nowhere(seeds: dict[str, float]) -> None:
    assert walked(seeds, [("A", "B", 1.0)]) == {}


def test_reading_lends_a_tenth_of_each_weight_to_the_neighbours() -> None:
    gains = spread("A", [("A", "B", 1.0), ("C", "A", 0.5), ("B", "C", 1.0)])
    assert gains == pytest.approx({"B": 0.1, "C": 0.05})


@given(st.floats(-10, 10))
def test_no_link_lends_more_than_a_tenth_or_less_than_nothing(weight: float) -> None:
    assert 0 <= spread("A", [("A", "B", weight)])["B"] <= 0.1


def test_nothing_is_lent_to_oneself() -> None:
    assert spread("A", [("A", "A", 1.0)]) == {}
