"""No text makes a regular expression, or a function around one, take more than linear time."""

import re
from collections.abc import Iterable

import pytest

from bench.patterns import Found, Pure, Trial, collected, functions, texts, tried, tried_function, worst
from lore import Draft, Lore

LENGTH = 2_000
"""Characters for functions, most of which go through their text with many patterns."""
PATTERNS = collected()


def assert_linear(trials: Iterable[tuple[str, Trial]]) -> None:
    assert not [(place, trial) for place, trial in trials if not trial.linear]


def modules() -> list[str]:
    return sorted({found.place.partition(":")[0] for found in PATTERNS})


@pytest.mark.parametrize("module", modules())
def test_patterns_are_linear(module: str) -> None:
    here = [found for found in PATTERNS if found.place.partition(":")[0] == module]
    assert_linear((found.place, tried(found)) for found in here)


@pytest.mark.parametrize("function", functions(), ids=lambda function: str(function.place))
def test_functions_are_linear(function: Pure) -> None:
    assert_linear([(function.place, tried_function(function, length=LENGTH))])


@pytest.mark.parametrize("bad", [r"[^.!?\n]*\w[^.!?\n]*[.!?]*", r"\s+$", r"(?:x+x+)+y"])
def test_a_pattern_that_is_not_linear_is_found_out(bad: str) -> None:
    found = Found("bad", re.compile(bad), frozenset({"finditer"}))
    assert not tried(found).linear


def test_a_name_of_thousands_of_words_is_looked_for_in_linear_time(lore: Lore) -> None:
    lore.remember(Draft(content="1," * 20_000))
    trial = worst(lambda name: lore.graph.opened([name]), [("1," * 1_250, "1," * 5_000)])
    assert trial.linear, trial


def test_all_kinds_of_places_are_looked_at() -> None:
    """Patterns in names, in tables of rules, in calls of `re`, in functions that close over them."""
    places = {found.place for found in PATTERNS}
    assert {
        "lore.ranking.evidence:SENTENCE",
        "lore.distil.cues:RULES",
        "lore.distil.entities:_SHAPES",
    } <= places
    assert any(place.rpartition(":")[2].isdigit() for place in places)
    assert len(PATTERNS) > 400


def test_texts_drive_each_repetition() -> None:
    made = texts(re.compile(r"ab(?:c|d)*e"), 100)
    assert any(text.startswith("abcccc") for text in made)
    assert any(text.startswith("abdddd") for text in made)
