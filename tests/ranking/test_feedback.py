"""Feedback moves scores and confidence by the published numbers."""

from itertools import pairwise

import pytest

from lore.ranking.decay import confidence_after, given_up, score_after


def after(ratings: list[int], window: int = 20) -> list[float]:
    """The running confidence after each rating."""
    values: list[float] = []
    for count, rating in enumerate(ratings):
        values.append(confidence_after(values[-1] if values else None, count, rating, window))
    return values


def test_confidence_is_a_running_mean() -> None:
    assert after([8, 6, 10]) == pytest.approx([8, 7, 8])


def test_after_the_window_a_rating_moves_confidence_by_a_twentieth() -> None:
    values = after([4] * 30 + [10])
    assert values[-1] - values[-2] == pytest.approx((10 - 4) / 20)


def test_a_window_of_nothing_is_a_window_of_one() -> None:
    assert after([4, 8], window=0) == [4, 8]


@pytest.mark.parametrize(
    ("useful", "confidence", "bumps", "score"),
    [
        (True, 8, (0.5, 0.5), 5.40),
        (False, 3, (0.5, 0.5), 4.60),
        (True, 8, (0.1, 0.05), 5.08),
        (False, 3, (0.1, 0.05), 4.96),
        (True, None, (0.5, 0.5), 5.5),
        (False, None, (0.5, 0.5), 4.5),
        (False, 10, (0.5, 0.5), 4.95),
    ],
)
def test_a_verdict_moves_a_score_of_five(
    useful: bool, confidence: int | None, bumps: tuple[float, float], score: float
) -> None:
    assert score_after(5.0, useful, confidence, *bumps) == pytest.approx(score)


def test_scores_stay_between_nothing_and_ten() -> None:
    assert score_after(9.9, True, 10, 0.5, 0.5) == 10
    assert score_after(0.1, False, 1, 0.5, 0.5) == 0


def test_sure_praise_and_unsure_blame_weigh_most() -> None:
    praise = [score_after(5, True, sure, 0.5, 0.5) for sure in range(1, 11)]
    blame = [score_after(5, False, sure, 0.5, 0.5) for sure in range(1, 11)]
    assert all(low < high for low, high in pairwise(praise))
    assert all(low < high for low, high in pairwise(blame))


@pytest.mark.parametrize(
    ("useful", "confidence", "gone"),
    [(False, 1, True), (False, 2, True), (False, 3, False), (False, None, False), (True, 1, False)],
)
def test_only_a_bad_verdict_with_a_low_rating_gives_a_memory_up(
    useful: bool, confidence: int | None, gone: bool
) -> None:
    assert given_up(useful, confidence, at_most=2) is gone
