"""Why a memory was found, in words that a person knows."""

from dataclasses import replace

import pytest

from lore.doors.cli.hits import WORDS, reasons
from lore.model import Hit, Memory, Signal
from lore.ranking.policy import POLICIES, REFERENCE


def hit(id: str, content: str, session: str = "", **signals: float) -> Hit:
    memory = Memory(id=id, content=content, created_at=0, updated_at=0, session=session)
    weighted = {name: Signal(strength, 1.0) for name, strength in signals.items()}
    return Hit(memory=memory, score=1.0, signals=weighted, relevance=1.0)


def explained(hit: Hit, *others: Hit, query: str = "tea") -> list[str]:
    return [words for _, words in reasons(hit, [hit, *others], query)]


@pytest.mark.parametrize("policy", POLICIES)
def test_every_signal_that_a_policy_weighs_has_words(policy: str) -> None:
    assert POLICIES[policy].weights.keys() | POLICIES[policy].evidence.keys() <= WORDS.keys()
    assert REFERENCE[policy].weights.keys() <= WORDS.keys()


def test_the_strongest_reason_comes_first_and_the_small_ones_are_left_out() -> None:
    found = hit("a", "green tea", meaning=0.5, wording=0.9, relevance=0.1, use=0.3)
    assert explained(found) == ["same words: tea", "similar meaning", "often used"]


def test_words_are_those_that_the_memory_shares_in_any_form() -> None:
    found = hit("a", "The director drinks teas", wording=1.0)
    assert explained(found, query="who directed the tea ceremony") == ["same words: directed"]
    assert explained(hit("a", "coffee", wording=0.25)) == []


def test_shared_words_are_found_at_the_end_of_a_long_memory_and_come_before_its_length() -> None:
    found = hit(
        "a", "word " * 500 + "the café switch is turbofin", wording=0.6, length=0.9, session_support=0.9
    )
    query = "turbofin café switch"
    assert explained(found, query=query) == [
        f"same words: {', '.join(query.split())}",
        "longer than a few words",
    ]


def test_a_conversation_is_named_by_its_other_hits() -> None:
    first, second = (hit(id, "tea", "talk", session_support=0.8) for id in "ab")
    elsewhere = hit("c", "tea", "other talk", session_support=0.8)
    assert explained(first, elsewhere, second) == ["said in the same conversation as number 3"]
    assert explained(elsewhere, second) == ["its conversation is about this"]
    assert explained(hit("d", "tea", session_support=0.8), second) == []


def test_a_speaker_is_a_reason_only_where_somebody_speaks() -> None:
    note = hit("a", "tea", speaker=1.0, wording=1.0)
    turn = replace(note, memory=replace(note.memory, kind="turn"))
    named = replace(note, memory=replace(note.memory, content="Melanie: tea"))
    spoken = "said by the person that you ask about"
    assert [spoken in explained(one) for one in (note, turn, named)] == [False, True, True]


def test_an_unknown_signal_is_shown_by_its_name() -> None:
    assert explained(hit("a", "tea", moon_phase=0.5)) == ["moon phase"]


def test_evidence_takes_the_place_of_the_match_that_it_makes_up() -> None:
    plain = hit("a", "green tea", match=0.9, use=0.2)
    found = replace(plain, evidence={"wording": Signal(0.9, 0.4), "meaning": Signal(0.5, 0.2)})
    assert explained(plain) == ["matches the question", "often used"]
    assert explained(found) == ["same words: tea", "similar meaning", "often used"]


def test_a_bar_shows_the_strength_and_an_arrow_what_lowers_the_score() -> None:
    found = hit("a", "tea", meaning=0.6, repeats=-0.5)
    assert [bar for bar, _ in reasons(found, [found], "tea")] == ["███░░", "↓    "]
