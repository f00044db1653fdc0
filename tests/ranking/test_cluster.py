"""Grouping texts: by distance, by pairs, by words; and which texts repeat each other."""

import itertools

import numpy as np
import pytest

from lore.ranking.cluster import Distances, clustered, communities, contained, containment, named, topics_of


def alike(*groups: int, within: float = 0.5, between: float = 0.1) -> Distances:
    """Texts in groups of these sizes: how alike two of one group are, and two of different ones."""
    labels = np.repeat(np.arange(len(groups)), groups)
    return np.where(labels[:, None] == labels[None, :], within, between)


def test_the_number_of_groups_follows_from_the_likenesses() -> None:
    for sizes in ((7, 7, 7), (4, 5), (3, 9, 4, 6)):
        ends = list(itertools.accumulate(sizes, initial=0))
        expected = [list(range(*pair)) for pair in itertools.pairwise(ends)]
        assert communities(alike(*sizes)) == expected
    assert len(communities(alike(7, 7, 7, within=0.2, between=0.1))) == 3


def test_a_text_that_is_like_no_other_is_alone() -> None:
    likeness = alike(3, 1, 3, between=0.0)
    assert communities(likeness) == [[0, 1, 2], [3], [4, 5, 6]]


@pytest.mark.parametrize("count", [0, 1])
def test_one_text_or_none_is_no_trouble(count: int) -> None:
    assert communities(np.zeros((count, count))) == [[at] for at in range(count)]


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


def test_without_a_model_shared_words_make_the_topics() -> None:
    texts = ["vercel deploys today", "vercel failed", "cats sleep", "cats purr", "zebra"]
    assert list(topics_of(texts, None).values()) == [[0, 1], [2, 3], [4]]


def test_likenesses_that_do_not_part_the_texts_leave_it_to_the_words() -> None:
    texts = ["vercel one", "vercel two", "cats one", "cats two"]
    assert list(topics_of(texts, np.ones((4, 4))).values()) == [[0, 1], [2, 3]]


def test_texts_that_are_like_no_other_share_a_topic() -> None:
    texts = ["vercel deploys", "vercel failed", "zebra", "lamp"]
    assert list(topics_of(texts, None).values()) == [[0, 1], [2, 3]]


def test_texts_that_cannot_be_told_apart_are_halved() -> None:
    assert topics_of(["widget"] * 5, None) == {
        "Tema_A": [0, 1, 2],
        "Tema_B": [3, 4],
    }
