"""evidence: what tells, besides words and meaning, that a memory answers a question."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.model import Memory
from lore.ranking.evidence import NOBODY, Others, asked, company, fullness, signs, standing

NUMBERS = st.dictionaries(st.text(min_size=1, max_size=3), st.floats(-1e6, 1e6), min_size=1, max_size=20)


def memory(content: str, context: str = "") -> Memory:
    return Memory(id="one", content=content, context=context, created_at=0.0, updated_at=0.0)


# --- standing
def test_the_mean_stands_at_a_quarter_and_a_deviation_is_an_eighth() -> None:
    assert standing({"low": 1.0, "high": 3.0}) == {"low": 0.125, "high": 0.375}


def test_what_is_all_the_same_stands_at_a_quarter() -> None:
    assert standing({"one": 2.0, "other": 2.0}) == {"one": 0.25, "other": 0.25}
    assert standing({}) == {}


def test_the_only_one_stands_out_among_those_that_nobody_has_seen() -> None:
    [alone] = standing({"one": 1.0}, Others(20)).values()
    assert alone == pytest.approx(0.25 + 20**0.5 / 8)
    [plain] = standing({"one": 0.3}, Others(20, mean=0.3, spread=0.1)).values()
    assert plain == pytest.approx(0.25)


@given(NUMBERS, st.floats(0.01, 100), st.floats(-100, 100))
def test_standing_does_not_depend_on_the_scale(
    values: dict[str, float], stretch: float, shift: float
) -> None:
    if max(values.values()) - min(values.values()) < 1.0:
        return
    moved = standing({name: value * stretch + shift for name, value in values.items()})
    assert moved == pytest.approx(standing(values), abs=1e-3)


@given(NUMBERS)
def test_what_is_more_stands_higher(values: dict[str, float]) -> None:
    stands = standing(values, NOBODY)
    ranked = sorted(values, key=lambda name: values[name])
    assert all(stands[low] <= stands[high] for low, high in pairwise(ranked))


# --- signs
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
    assert signs(asked(question), memory(content))["speaker"] == says


def test_who_asks_tells_nothing_and_who_follows_answers() -> None:
    question = asked("When does the ferry leave?")
    told = signs(question, memory("At noon.", context="the user\nWhen does it leave?"))
    assert (told["tells"], told["answers"]) == (1.0, 1.0)
    wondered = signs(question, memory("When does the ferry leave? ", context="the user"))
    assert (wondered["tells"], wondered["answers"]) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("question", "content", "dated"),
    [
        ("When did the ferry sink?", "It sank last Tuesday.", 1.0),
        ("What year was that?", "In 1912.", 1.0),
        ("When did the ferry sink?", "It sank quickly.", 0.0),
        ("Why did the ferry sink?", "It sank last Tuesday.", 0.0),
    ],
)
def test_a_time_counts_where_one_is_asked_for(question: str, content: str, dated: float) -> None:
    assert signs(asked(question), memory(content))["dated"] == dated


# --- the others
def test_who_says_more_is_fuller() -> None:
    short, long = memory("yes"), Memory(id="two", content="yes " * 30, created_at=0.0, updated_at=0.0)
    full = fullness([short, long])
    assert full["two"] > full["one"]


def test_the_best_of_a_conversation_speak_for_the_others_in_it() -> None:
    scores = {"a": 0.9, "b": 0.8, "c": 0.1, "d": 0.1, "e": 0.1}
    around = company(scores, {"a": "talk", "b": "talk", "c": "talk", "d": "other"})
    assert around["a"] == around["b"] == around["c"] > around["d"] == around["e"]
    assert company({}, {}) == {}
