"""Grouping texts: by distance, by pairs, by words; and which texts repeat each other."""

import itertools

import numpy as np
import pytest

from lore.ranking.cluster import Distances, agglomerated, clustered, contained, containment, named, topics_of


def distances_of(points: list[float]) -> Distances:
    line = np.array(points, np.float64)
    apart: Distances = np.abs(line[:, None] - line[None, :])
    return apart


def by_hand(distances: Distances, cut: float) -> list[list[int]]:
    """Average linkage as the textbook says it: join the closest two groups as long as they are close."""
    groups = [[at] for at in range(len(distances))]

    def apart(pair: tuple[int, int]) -> float:
        return float(np.mean([distances[a, b] for a in groups[pair[0]] for b in groups[pair[1]]]))

    while len(groups) > 1:
        best = min(itertools.combinations(range(len(groups)), 2), key=apart)
        if apart(best) > cut:
            break
        groups[best[0]] = sorted(groups[best[0]] + groups.pop(best[1]))
    return sorted(groups)


def test_what_is_close_comes_together() -> None:
    assert agglomerated(distances_of([0.0, 0.1, 5.0, 5.2, 0.2])) == [[0, 1, 4], [2, 3]]


@pytest.mark.parametrize("cut", [0.05, 0.3, 0.5, 0.9])
def test_chains_of_neighbours_find_what_the_textbook_finds(cut: float) -> None:
    generator = np.random.default_rng(7)
    for _ in range(20):
        points = generator.normal(size=(14, 4))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        distances = 1 - points @ points.T
        assert sorted(agglomerated(distances, cut)) == by_hand(distances, cut)


def test_one_text_or_none_is_no_trouble() -> None:
    assert agglomerated(np.zeros((1, 1))) == [[0]]
    assert agglomerated(np.zeros((0, 0))) == []


def test_pairs_join_through_others_and_single_ones_are_left_out() -> None:
    assert clustered([(0, 3), (3, 5), (1, 2)], 6) == [[0, 3, 5], [1, 2]]
    assert clustered([], 3) == []


@pytest.mark.parametrize(
    ("one", "other", "share"),
    [
        ("FastMCP", "Stack: FastMCP, SQLite and ONNX", 1.0),
        ("red BLUE", "blue, green; yellow", 0.5),
        ("word word word", "word", 1.0),
        ("", "anything", 1.0),
        ("...", "anything", 1.0),
    ],
)
def test_containment_is_the_share_of_the_shorter_texts_words(one: str, other: str, share: float) -> None:
    assert containment(one, other) == share
    assert containment(other, one) == share


def test_only_a_text_half_as_long_can_be_contained() -> None:
    assert contained("ab", "ab cd"[:4], 0.5) is True  # exactly twice as long
    assert contained("abc", "abc d", 0.5) is False
    assert contained("unrelated", "something else that is much longer", 0.7) is False


def test_topics_are_called_after_their_own_words() -> None:
    texts = ["deploy vercel site", "vercel deploy again", "cats prefer fish", "fish for cats"]
    assert named(texts, [[0, 1], [2, 3]]) == {"Deploy Vercel": [0, 1], "Cats Fish": [2, 3]}


def test_topics_without_words_of_their_own_are_numbered_and_never_collide() -> None:
    assert named(["same word", "same word"], [[0], [1]]) == {"Tema_1": [0], "Tema_2": [1]}
    twins = named(["alpha beta gamma", "alpha beta gamma", "delta"], [[0], [1], [2]])
    assert list(twins.values()) == [[0], [1], [2]]


def test_without_distances_shared_words_make_the_topics() -> None:
    texts = ["vercel deploys today", "vercel failed", "cats sleep", "cats purr", "zebra"]
    topics = topics_of(texts, None)
    assert topics["Vercel"] == [0, 1]
    assert topics["Cats"] == [2, 3]
    assert sorted(at for group in topics.values() for at in group) == [0, 1, 2, 3, 4]


def test_distances_that_do_not_part_the_texts_leave_it_to_the_words() -> None:
    texts = ["vercel one", "vercel two", "cats one", "cats two"]
    assert topics_of(texts, np.zeros((4, 4))) == topics_of(texts, None)


def test_texts_that_cannot_be_told_apart_are_halved() -> None:
    assert topics_of(["widget"] * 5, None) == {
        "Tema_A": [0, 1, 2],
        "Tema_B": [3, 4],
    }
