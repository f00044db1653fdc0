"""What ties two memories together, by the published numbers."""

import pytest

from lore.ranking.relate import (
    closeness_in_time,
    differ_in_detail,
    relatedness,
    shared_names,
    shared_words,
    twinness,
)

WEIGHTS = {"cosine": 0.5, "bm25": 0.3, "entity": 0.1, "temporal": 0.1}


@pytest.mark.parametrize(
    ("days", "strength"), [(0, 1), (7, 0.7919), (30, 0.3679), (90, 0.0498), (-7, 0.7919)]
)
def test_closeness_in_time_fades(days: float, strength: float) -> None:
    assert closeness_in_time(days, 30) == pytest.approx(strength, abs=5e-5)


def test_without_a_tau_time_does_not_matter() -> None:
    assert closeness_in_time(1_000, 0) == 1


@pytest.mark.parametrize(
    ("ours", "theirs", "strength"),
    [("abc", "abc", 1), ("ab", "bc", 1 / 3), ("a", "b", 0), ("", "", 0), ("a", "", 0)],
)
def test_shared_names_are_a_share_of_all_names(ours: str, theirs: str, strength: float) -> None:
    assert shared_names(set(ours), set(theirs)) == pytest.approx(strength)


@pytest.mark.parametrize(
    ("ours", "theirs", "share"), [("ab", "ab", 1), ("abc", "abd", 2 / 3), ("a", "abc", 0.5), ("", "a", 0)]
)
def test_shared_words_are_a_share_of_both_texts(ours: str, theirs: str, share: float) -> None:
    assert shared_words(set(ours), set(theirs)) == pytest.approx(share)


def test_relatedness_is_the_weighted_sum_and_a_missing_signal_is_nothing() -> None:
    assert relatedness({"cosine": 0.82, "bm25": 0.45}, WEIGHTS) == pytest.approx(0.545)
    assert relatedness(dict.fromkeys(WEIGHTS, 1.0), WEIGHTS) == pytest.approx(1.0)


def test_with_all_words_in_common_three_quarters_of_the_meaning_make_a_twin() -> None:
    assert twinness(0.75, 1.0) == pytest.approx(0.85)
    assert twinness(0.74, 1.0) < 0.85


def test_with_half_the_words_nothing_is_a_twin() -> None:
    assert twinness(1.0, 0.5) < 0.85


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The backup runs at 3", "The backup runs at 4"),
        ("The limit is 1.5 MB", "The limit is 1.50 MB or 2 MB"),
        ("We deploy to Frankfurt", "We deploy to Singapore"),
        ("The cache is used", "The cache is not used"),
        ("Wir nutzen Redis", "Wir nutzen kein Redis"),
        ("We can deploy on Fridays", "We can't deploy on Fridays"),
    ],
)
def test_a_number_a_name_or_a_not_tells_texts_apart(one: str, other: str) -> None:
    assert differ_in_detail(one, other)
    assert differ_in_detail(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The backup runs at 3", "At 3 the backup runs"),
        ("We deploy to Frankfurt", "we deploy every week to Frankfurt"),
        ("We use Redis", "We use Redis with Sentinel"),
        ("", ""),
    ],
)
def test_other_words_and_more_names_do_not(one: str, other: str) -> None:
    assert not differ_in_detail(one, other)
