"""Signals of different scales come together, and the reasons stay."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.model import Signal
from lore.ranking.fuse import Signals, reciprocal_rank, relative_to_best, total, weighed

VALUES = st.dictionaries(st.text(max_size=3), st.floats(-1e6, 1e6), max_size=8)


@pytest.mark.parametrize(
    ("lists", "score"),
    [
        ([["a"], ["a"]], 0.032787),
        ([["a"], ["x", "a"]], 0.032522),
        ([["a"], ["x"]], 0.016393),
        ([["a"], ["a"], ["a"]], 0.049180),
    ],
    ids=["first in both", "first and second", "first in one", "first in three"],
)
def test_ranks_add_up_by_their_reciprocals(lists: list[list[str]], score: float) -> None:
    assert reciprocal_rank(lists)["a"] == pytest.approx(score, abs=5e-7)


def test_values_become_shares_of_the_best() -> None:
    assert relative_to_best({"a": 4.0, "b": 1.0, "c": -1.0}) == {"a": 1.0, "b": 0.25, "c": 0.0}


@pytest.mark.parametrize("values", [{}, {"a": 0.0}, {"a": -2.0}])
def test_nothing_positive_gives_no_shares(values: dict[str, float]) -> None:
    assert relative_to_best(values) == {}


@given(VALUES)
def test_shares_lie_between_none_and_all(values: dict[str, float]) -> None:
    assert all(0 <= value <= 1 for value in relative_to_best(values).values())


def test_a_missing_signal_counts_as_nothing_and_an_unweighed_one_not_at_all() -> None:
    strengths, weights = {"words": 0.5, "charm": 1.0}, {"words": 0.4, "meaning": 0.6}
    signals = Signals(strengths, weights)
    assert signals == {"words": Signal(0.5, 0.4), "meaning": Signal(0.0, 0.6)}
    assert total(signals) == weighed(strengths, weights) == pytest.approx(0.2)
