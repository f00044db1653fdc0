"""The limbic formulas: golden numbers, and where each of them ends."""

import pytest

from lore.ranking.fuse import reciprocal_rank
from lore.ranking.limbic import (
    QuestionPhrases,
    Scoring,
    blended,
    cooccurrence,
    dampening,
    importance,
    strategy_for,
    temporal,
    words_only,
)


@pytest.mark.parametrize(
    ("days", "left"),
    [
        (0, 1.0),
        (1, 0.9976),
        (7, 0.9833),
        (30, 0.9305),
        (90, 0.8057),
        (180, 0.6492),
        (365, 0.4164),
        (730, 0.1734),
        (959.5, 0.1),
        (9_999, 0.1),
    ],
)
def test_disuse_fades_slowly_and_never_below_a_tenth(days: float, left: float) -> None:
    assert temporal(days * 24) == pytest.approx(left, abs=5e-5)


def test_a_clock_that_went_back_counts_as_no_time() -> None:
    assert temporal(-5) == 1.0


@pytest.mark.parametrize(
    ("uses", "degree", "days", "most_days", "expected"),
    [
        (10, 0, 1, 1, 0.7876),
        (20, 15, 1, 1, 1.15),
        (20, 400, 1, 1, 1.15),
        (20, 15, 8, 8, 1.38),
        (5, 3, 2, 8, 0.6668),
    ],
)
def test_importance_grows_with_use_relations_and_days(
    uses: int, degree: int, days: int, most_days: int, expected: float
) -> None:
    given = importance(uses=uses, most_uses=20, degree=degree, days=days, most_days=most_days)
    assert given == pytest.approx(expected, abs=5e-5)


def test_where_nothing_was_ever_used_nothing_is_important() -> None:
    assert importance(uses=0, most_uses=0, degree=9) == 0.0


def test_company_counts_on_a_logarithmic_scale_and_fades() -> None:
    assert cooccurrence([(10, 0)]) == pytest.approx(3.4594, abs=5e-5)
    assert cooccurrence([(10, 1e9)]) == pytest.approx(0.3459, abs=5e-5)
    assert cooccurrence([]) == 0.0


@pytest.mark.parametrize(
    ("distance", "scoring", "expected"),
    [
        (0.1234, Scoring(importance=0.8512, temporal=0.9923, cooccurrence=1.2341), 1.2554),
        (0.3591, Scoring(importance=0.6234, temporal=0.8756, cooccurrence=0.5123), 0.7399),
    ],
)
def test_the_limbic_score_is_the_documented_formula(
    distance: float, scoring: Scoring, expected: float
) -> None:
    assert scoring.applied_to(1 - distance) == pytest.approx(expected, abs=5e-5)


def test_ranks_are_fused_with_sixty() -> None:
    fused = reciprocal_rank([["a", "b"], ["a", "c", "b"]])
    assert fused["a"] == pytest.approx(0.032787, abs=5e-7)
    assert fused["c"] == pytest.approx(1 / 62)


def test_what_only_words_found_lies_between_a_fifth_and_four_fifths() -> None:
    assert words_only({"low": 0.01, "middle": 0.02, "high": 0.03}) == pytest.approx(
        {"low": 0.2, "middle": 0.5, "high": 0.8}
    )
    assert words_only({"alone": 0.5}) == {"alone": pytest.approx(0.8)}
    assert words_only({}) == {}


@pytest.mark.parametrize(
    ("question", "limit", "strategy"),
    [
        ("qué es FastMCP", 10, "cosine_heavy"),
        ("vercel", 3, "cosine_heavy"),
        ("where is the site deployed", 10, "hybrid_balanced"),
        ("explícame todo", 10, "limbic_heavy"),
        ("one two three four five six seven eight nine ten", 10, "limbic_heavy"),
        ("one two three four five six seven eight nine ten", 5, "hybrid_balanced"),
    ],
)
def test_the_question_chooses_the_strategy(question: str, limit: int, strategy: str) -> None:
    phrases = QuestionPhrases(factual=("qué es",), comparing=("diferencia",), narrative=("explícame",))
    assert strategy_for(question, limit, phrases) == strategy


def test_strategies_blend_likeness_with_the_spread_out_limbic_score() -> None:
    limbic, likeness = {"used": 1.0, "alike": 0.5}, {"used": 0.1, "alike": 0.9}
    assert blended(limbic, likeness, "hybrid_balanced") == limbic
    assert blended(limbic, likeness, "cosine_heavy") == pytest.approx({"used": 0.37, "alike": 0.63})
    assert blended(limbic, likeness, "limbic_heavy") == pytest.approx({"used": 0.73, "alike": 0.27})
    assert blended({"words": 0.4}, {}, "cosine_heavy") == pytest.approx({"words": 0.3})


def test_what_is_set_aside_or_mostly_metadata_is_dampened() -> None:
    factors = {"paused": 0.85, "archived": 0.5}
    statuses = ("active", "paused", "archived")
    assert [dampening(status, [], factors) for status in statuses] == [1.0, 0.85, 0.5]
    assert dampening("active", ["metadata", "metadata", "generic"], factors) == 0.7
    assert dampening("active", ["metadata", "generic"], factors) == 1.0
    assert dampening("archived", ["metadata"], factors) == pytest.approx(0.35)
