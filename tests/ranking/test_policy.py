"""Each dialect weighs the match by its published shares, or by its published formula if that is set."""

from collections.abc import Mapping

import pytest

from lore.errors import Invalid
from lore.ranking.decay import fade, usage
from lore.ranking.fuse import weighed
from lore.ranking.policy import POLICIES, REFERENCE, Policy, policy_named
from lore.text import overlap


def test_the_scored_dialect_combines_four_signals_and_fades() -> None:
    scored = policy_named("scored", REFERENCE)
    strengths = {"similarity": 0.8, "words": 1.0, "quality": 5 / 10, "use": usage(10, scored.usage_cap)}
    combined = weighed(strengths, scored.weights)
    assert combined == pytest.approx(0.7870, abs=5e-5)
    assert combined * fade(30, scored.fade_per_day) == pytest.approx(0.6246, abs=5e-5)


@pytest.mark.parametrize(
    ("question", "score"), [("deploy key", 0.86), ("deploy banana", 0.65), ("DEPLOY KEY ", 0.86)]
)
def test_the_tree_dialect_falls_back_to_words(question: str, score: float) -> None:
    likeness = overlap(question, "Where the deploy key lives")
    points = weighed({"similarity": likeness, "relevance": 1.0}, policy_named("tree", REFERENCE).weights)
    assert points == pytest.approx(score)


def test_the_tree_dialect_shows_only_what_is_present_and_one_hit_for_each_tree() -> None:
    tree = policy_named("tree", REFERENCE)
    assert tree.visible_above == 0.05
    assert tree.best_per_tree


@pytest.mark.parametrize("policies", [POLICIES, REFERENCE], ids=["lore", "reference"])
def test_the_weights_of_every_policy_add_up_to_one(policies: Mapping[str, Policy]) -> None:
    for name, policy in policies.items():
        assert sum(policy.weights.values()) == pytest.approx(1.0), name


def test_an_unknown_policy_is_refused_with_the_known_ones() -> None:
    with pytest.raises(Invalid, match=r"unknown policy 'best'; known: graph, lore, scored, tree"):
        policy_named("best")
