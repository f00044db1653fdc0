"""Lists: what a place is worth, what is left when a list is empty, and where links lead."""

import pytest

from lore.ranking.fuse import by_rank, reciprocal_rank, weighed, without
from lore.ranking.graph import bond, reached


def test_thirds_of_three_lists_are_the_normalised_reciprocal_rank() -> None:
    lists = [["a", "b", "c"], ["b", "a"], ["b", "d"]]
    thirds = dict.fromkeys(("first", "second", "third"), 1 / 3)
    fused = reciprocal_rank(lists)
    ranks = dict(zip(thirds, map(by_rank, lists), strict=True))
    for name in "abcd":
        score = weighed({at: ranked.get(name, 0.0) for at, ranked in ranks.items()}, thirds)
        assert score == pytest.approx(fused[name] / (3 / 61))


def test_the_first_of_all_lists_has_one() -> None:
    assert by_rank(["a", "b"]) == {"a": 1.0, "b": pytest.approx(61 / 62)}


def test_the_weight_of_what_is_missing_goes_to_the_others() -> None:
    weights = {"a": 0.5, "b": 0.3, "c": 0.2}
    assert without(weights, []) == pytest.approx(weights)
    assert without(weights, ["a"]) == pytest.approx({"b": 0.6, "c": 0.4})
    assert without(weights, weights) == {}


@pytest.mark.parametrize(
    ("likeness", "weight"), [(0.85, 0.5), (0.90, 0.6667), (0.95, 0.8333), (1.0, 1.0), (1.2, 1.0), (0.0, 0.0)]
)
def test_the_weight_of_a_link_between_alike_memories(likeness: float, weight: float) -> None:
    assert bond(likeness) == pytest.approx(weight, abs=5e-5)


def test_links_lead_two_steps_far_both_ways_and_lose_by_their_weight() -> None:
    edges = [("a", "b", 0.5), ("c", "b", 0.5), ("c", "d", 1.0)]
    assert reached({"a": 1.0}, edges) == pytest.approx({"b": 0.5, "c": 0.25})


def test_the_best_way_counts_and_a_seed_only_if_another_leads_there() -> None:
    edges = [("a", "b", 0.2), ("a", "c", 0.9), ("c", "b", 0.9), ("x", "a", 0.5)]
    assert reached({"a": 1.0}, edges)["b"] == pytest.approx(0.81)
    assert "a" not in reached({"a": 1.0}, edges)
    assert reached({"a": 1.0, "x": 0.5}, edges)["a"] == pytest.approx(0.25)


def test_a_link_without_weight_leads_nowhere() -> None:
    assert reached({"a": 1.0}, [("a", "b", 0.0)]) == {}
