"""No text makes a regular expression, or a function around one, take more than linear time."""

import re
from collections.abc import Iterable
from functools import cache

import pytest

from bench.house import SOURCE
from bench.patterns import Found, Trial, collected, functions, texts, tried, tried_function, worst
from lore import Draft, Lore

PATTERN_LENGTH = 10_000
"""Characters for patterns: a quadratic one takes a quarter of a second for them. `python -m
bench.patterns` takes more."""
LENGTH = 2_000
"""Characters for functions, most of which go through their text with many patterns."""
ROOMS = sorted({path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in SOURCE.rglob("*.py")})
"""Packages and modules directly below `lore`."""

patterns = cache(collected)


def assert_linear(trials: Iterable[tuple[str, Trial]]) -> None:
    assert not [(place, trial) for place, trial in trials if not trial.linear]


@pytest.mark.parametrize("room", ROOMS)
def test_patterns_are_linear(room: str) -> None:
    here = [found for found in patterns() if found.place.startswith((f"lore.{room}.", f"lore.{room}:"))]
    assert_linear((found.place, tried(found, PATTERN_LENGTH)) for found in here)


def test_functions_are_linear() -> None:
    assert_linear((function.place, tried_function(function, length=LENGTH)) for function in functions())


@pytest.mark.parametrize("bad", [r"[^.!?\n]*\w[^.!?\n]*[.!?]*", r"\s+$", r"(?:x+x+)+y"])
def test_a_pattern_that_is_not_linear_is_found_out(bad: str) -> None:
    found = Found("bad", re.compile(bad), frozenset({"finditer"}))
    assert not tried(found, PATTERN_LENGTH).linear


def test_a_name_of_thousands_of_words_is_looked_for_in_linear_time(lore: Lore) -> None:
    lore.remember(Draft(content="1," * 20_000))
    trial = worst(lambda name: lore.open_nodes([name]), [("1," * 1_250, "1," * 5_000)])
    assert trial.linear, trial


def test_all_kinds_of_places_are_searched_for_patterns() -> None:
    """Patterns in names, in tables of rules, in calls of `re`, in functions that close over them."""
    places = {found.place for found in patterns()}
    assert {
        "lore.ranking.evidence:SENTENCE",
        "lore.distil.cues:RULES",
        "lore.distil.entities:_SHAPES",
    } <= places
    assert any(place.rpartition(":")[2].isdigit() for place in places)
    assert len(places) > 250


def test_texts_drive_each_repetition() -> None:
    made = texts(re.compile(r"ab(?:c|d)*e"), 100)
    assert any(text.startswith("abcccc") for text in made)
    assert any(text.startswith("abdddd") for text in made)
