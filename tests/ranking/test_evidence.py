"""evidence: what tells, besides words and meaning, that a memory answers a question."""

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.model import TURN, Memory
from lore.ranking.evidence import (
    NO_PRIOR,
    Prior,
    memory_signals,
    neighbour_support,
    parse_question,
    recency,
    session_support,
    z_scaled,
)

NOW = 1_700_000_000.0  # 14 November 2023
NUMBERS = st.dictionaries(st.text(min_size=1, max_size=3), st.floats(-1e6, 1e6), min_size=1, max_size=20)


def memory(content: str, context: str = "") -> Memory:
    return Memory(id="one", content=content, context=context, created_at=0.0, updated_at=0.0)


# --- z_scaled
def test_the_mean_stands_at_a_quarter_and_a_deviation_is_an_eighth() -> None:
    assert z_scaled({"low": 1.0, "high": 3.0}) == {"low": 0.125, "high": 0.375}


def test_what_is_all_the_same_stands_at_a_quarter() -> None:
    assert z_scaled({"one": 2.0, "other": 2.0}) == {"one": 0.25, "other": 0.25}
    assert z_scaled({}) == {}


def test_the_only_one_stands_out_among_those_that_nobody_has_seen() -> None:
    [alone] = z_scaled({"one": 1.0}, Prior(20)).values()
    assert alone == pytest.approx(0.25 + 20**0.5 / 8)
    [plain] = z_scaled({"one": 0.3}, Prior(20, mean=0.3, spread=0.1)).values()
    assert plain == pytest.approx(0.25)


@given(NUMBERS, st.floats(0.01, 100), st.floats(-100, 100))
def test_standing_does_not_depend_on_the_scale(
    values: dict[str, float], stretch: float, shift: float
) -> None:
    if max(values.values()) - min(values.values()) < 1.0:
        return
    moved = z_scaled({name: value * stretch + shift for name, value in values.items()})
    assert moved == pytest.approx(z_scaled(values), abs=1e-3)


@given(NUMBERS)
def test_what_is_more_stands_higher(values: dict[str, float]) -> None:
    stands = z_scaled(values, NO_PRIOR)
    ranked = sorted(values, key=lambda name: values[name])
    assert all(stands[low] <= stands[high] for low, high in pairwise(ranked))


# --- memory_signals
@pytest.mark.parametrize(
    ("question", "content", "says"),
    [
        ("What did Anna buy?", "Anna: I bought a boat.", 1.0),
        ("Where is Anna's boat?", "Anna: It is in the harbour.", 1.0),
        ("What did Anna buy?", "Ben: Anna bought a boat.", 0.0),
        ("What was bought?", "Anna: I bought a boat.", 0.0),
        ("What did Anna Berg buy?", "Anna Berg: A boat.", 1.0),
        ("Why does it fail?", "Error: the disk is full", 0.0),
    ],
)
def test_the_speaker_counts_whom_the_question_names(question: str, content: str, says: float) -> None:
    assert memory_signals(parse_question(question, NOW), memory(content))["speaker"] == says


@pytest.mark.parametrize(
    ("question", "by_user"),
    [
        ("Which formatter do I use?", 1.0),
        ("What did the owner want for the prompts?", 1.0),
        ("Which rule is there for commits?", 1.0),
        ("Why does the build fail?", 0.0),
    ],
)
def test_a_question_about_the_user_points_to_turns_of_the_user_and_to_notes(
    question: str, by_user: float
) -> None:
    of_user = replace(memory("Use clack."), kind=TURN, type="user")
    of_assistant = replace(of_user, type="assistant")
    found = [
        memory_signals(parse_question(question, NOW), one)["speaker"]
        for one in (of_user, memory("clack"), of_assistant)
    ]
    assert found == [by_user, by_user, 0.0]


def test_who_asks_tells_nothing() -> None:
    question = parse_question("When does the ferry leave?", NOW)
    assert memory_signals(question, memory("At noon."))["is_statement"] == 1.0
    assert memory_signals(question, memory("When does the ferry leave? "))["is_statement"] == 0.0


@pytest.mark.parametrize(
    ("question", "content", "told"),
    [
        ("When did the ferry sink?", "It sank last Tuesday.", 1.0),
        ("What year was that?", "In 1912.", 1.0),
        ("When do we deploy?", "Deploys happen on Mondays.", 1.0),
        ("When do we deploy?", "The limit is 250 requests.", 0.0),
        ("When did the ferry sink?", "It sank quickly.", 0.0),
        ("Why did the ferry sink?", "It sank last Tuesday.", 0.0),
    ],
)
def test_a_time_counts_where_one_is_asked_for(question: str, content: str, told: float) -> None:
    assert memory_signals(parse_question(question, NOW), memory(content))["when"] == told


def test_who_says_more_is_fuller_up_to_a_paragraph() -> None:
    question = parse_question("What is stored?", NOW)
    counts = (2, 20, 40, 2_000)
    short, half, full, long = (
        memory_signals(question, memory("word " * count))["length"] for count in counts
    )
    assert 0 < short < half == 0.5 < full == long


@pytest.mark.parametrize(
    ("question", "continues"),
    [
        ("I'm back. What is next?", True),
        ("Let’s take the second option", True),
        ("The draft is done. What do you need for the next step?", True),
        ("Where did we leave the keys?", False),
        ("When did Anna move? And where did you go？", False),
        ("deployment keys of the vault", False),
        ("...?", False),
    ],
)
def test_who_tells_something_to_somebody_goes_on(question: str, continues: bool) -> None:
    assert parse_question(question, NOW).continues is continues


# --- the others
def test_the_best_of_a_conversation_speaks_for_the_others_in_it() -> None:
    match = {"a": 0.9, "b": 0.2, "c": 0.5, "d": 0.5}
    around = session_support(match, {"a": "talk", "b": "talk", "c": "other"})
    assert around["a"] == around["b"] > around["c"] == around["d"]
    assert session_support({}, {}) == {}


def test_the_better_neighbour_counts_if_it_stands_out() -> None:
    stands = {"a": 0.9, "b": 0.1, "c": 0.4, "d": 0.2, "e": 0.2}
    beside = neighbour_support(
        stands, [("b", "a"), ("c", "b"), ("b", "c"), ("d", "c"), ("d", "e"), ("e", "unseen")]
    )
    assert beside == {"a": 0.25, "b": 0.9, "c": 0.25, "d": 0.4, "e": 0.25}
    assert neighbour_support(stands, [("a", "b")])["b"] == 0.9


def test_the_last_conversation_is_the_most_recent_and_all_of_it() -> None:
    told = [("old", "one", 1.0), ("new", "two", 5.0), ("begun", "two", 0.0), ("fact", "", 3.0)]
    left = recency(
        Memory(id=id, content="x", session=session, created_at=at, updated_at=at) for id, session, at in told
    )
    assert left["new"] == left["begun"] == 1.0
    assert left["fact"] == pytest.approx(1 - math.log(2) / math.log(4))
    assert left["old"] == pytest.approx(1 - math.log(3) / math.log(4))
    assert recency([]) == {}


def test_what_is_of_the_time_that_is_asked_for_shows_it() -> None:
    of_october = memory("the boat was painted")
    of_october = replace(of_october, created_at=NOW - 30 * 86_400)
    assert memory_signals(parse_question("what was painted last month?", NOW), of_october)["when"] == 1.0
    assert memory_signals(parse_question("what was painted in May 2022?", NOW), of_october)["when"] < 0.01
    assert memory_signals(parse_question("what was painted?", NOW), of_october)["when"] == 0.0
