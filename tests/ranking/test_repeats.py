"""A distilled memory and the turn that it came from: one of them is enough among the first."""

import pytest

from lore.ranking.repeats import repeating

TURN = "Well, I talked to Ines: the release branch is cut every second Thursday, as before. Shall we go on?"
FACT = "The release branch is cut every second Thursday."


@pytest.mark.parametrize(
    ("first", "second", "repeats"),
    [
        ((TURN, True), (FACT, False), True),
        ((FACT, False), (TURN, True), True),
        ((TURN, True), ("The release branch is cut by Ines and reviewed by Tom", False), False),
        ((TURN, True), (FACT, True), False),
        ((FACT, False), (FACT, False), False),
        ((TURN, True), ("Release Thursday", False), False),
    ],
    ids=["the fact again", "the turn again", "says more", "two turns", "two facts", "too short"],
)
def test_what_says_the_same_in_another_way_repeats(
    first: tuple[str, bool], second: tuple[str, bool], repeats: bool
) -> None:
    assert repeating([("one", *first), ("two", *second)]) == ({"two"} if repeats else set())


def test_what_repeats_speaks_for_nobody() -> None:
    """Two turns say the same; the fact is enough for both, and hides none but them."""
    ranked = [("fact", FACT, False), ("turn", TURN, True), ("again", FACT, False), ("other", TURN, True)]
    assert repeating(ranked) == {"turn", "other"}
