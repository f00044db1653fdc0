"""Where a conversation turns to something else."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.distil.base import Role, Spoken
from lore.distil.segment import LONG_PAUSE_SECONDS, segments
from lore.vectors import Vector

BAKING = "knead the sourdough dough with flour water salt then proof overnight"
SAILING = "hoist mainsail trim jib sheet windward tack harbour anchor keel"
CHESS = "sicilian defence bishop fianchetto castling endgame rook pawn structure"
ROLES: tuple[Role, ...] = ("user", "assistant")


def said(*texts: str, at: float | None = None) -> list[Spoken]:
    return [
        Spoken(number=number, role=ROLES[(number + 1) % 2], text=text, at=at)
        for number, text in enumerate(texts, start=1)
    ]


def in_direction(turn: Spoken, axis: int) -> Spoken:
    vector: Vector = np.full(3, 0.8, dtype=np.float32)
    vector[axis] += 0.6
    return replace(turn, vector=vector)


@pytest.mark.parametrize("count", [1, 2, 11, 12])
def test_up_to_twelve_turns_are_about_one_thing(count: int) -> None:
    texts = [BAKING] * (count // 2) + [SAILING] * (count - count // 2)
    assert segments(said(*texts)) == [count]


def test_nothing_said_ends_at_zero() -> None:
    assert segments([]) == [0]


def test_thirteen_turns_may_be_about_two() -> None:
    assert segments(said(*[BAKING] * 6, *[SAILING] * 7)) == [6, 13]


def test_three_subjects_are_three_segments() -> None:
    assert segments(said(*[BAKING] * 8, *[SAILING] * 8, *[CHESS] * 8)) == [8, 16, 24]


def test_words_that_say_nothing_begin_no_subject() -> None:
    assert segments(said(*["is it so"] * 8, *["we do go"] * 8)) == [16]
    assert segments(said(*[f"is it so {BAKING}"] * 8, *[f"is it so {SAILING}"] * 8)) == [8, 16]


@given(st.lists(st.sampled_from([BAKING, SAILING, CHESS, "go on", "is it so"]), min_size=1, max_size=60))
def test_segments_are_in_order_and_six_turns_long(texts: list[str]) -> None:
    ends = segments(said(*texts))
    lengths = [end - begin for begin, end in zip([0, *ends], ends, strict=False)]
    assert ends[-1] == len(texts)
    assert len(ends) == 1 or min(lengths) >= 6


def test_a_user_who_changes_the_subject_begins_a_segment() -> None:
    assert segments(said(*[BAKING] * 8, *[SAILING] * 8)) == [8, 16]


def test_the_same_subject_is_one_segment_however_long() -> None:
    assert segments(said(*[BAKING, f"{BAKING} again and warmer"] * 20)) == [40]


def test_a_subject_does_not_begin_in_the_middle_of_an_answer() -> None:
    turns = said(*[BAKING] * 8, *[SAILING] * 8)
    assert segments([replace(turn, role="assistant") for turn in turns]) == [16]


def test_who_goes_on_with_also_goes_on_with_the_subject() -> None:
    assert segments(said(*[BAKING] * 8, f"also {SAILING}", *[SAILING] * 7)) == [16]


def test_meaning_decides_where_words_do_not() -> None:
    turns = said(*[BAKING] * 20)
    shifted = [in_direction(turn, 0 if turn.number <= 10 else 1) for turn in turns]
    first, last = segments(shifted)
    assert abs(first - 10) <= 2
    assert last == 20


def test_one_meaning_in_many_words_is_one_segment() -> None:
    turns = said(*[BAKING] * 8, *[SAILING] * 8)
    assert segments([in_direction(turn, 0) for turn in turns]) == [16]


def test_a_long_pause_begins_a_segment_even_after_two_turns() -> None:
    early, late = said(BAKING, BAKING, at=0.0), said(BAKING, BAKING, at=LONG_PAUSE_SECONDS)
    assert segments(early + late) == [2, 4]
    nearly = said(BAKING, BAKING, at=LONG_PAUSE_SECONDS - 1)
    assert segments(early + nearly) == [4]


@pytest.mark.parametrize(
    "words",
    [
        "next: the readme",
        "ok, now let's fix the login",
        "Different topic: fonts",
        "thanks! new question, which port?",
        "Anderes Thema: die Rechnungen",
        "passons à la base de données",
        "otra cosa, el servidor",
    ],
)
def test_a_user_who_says_so_begins_a_segment(words: str) -> None:
    assert segments(said(BAKING, BAKING, words, BAKING)) == [2, 4]
    assert segments(said(BAKING, words, BAKING, BAKING)) == [4], "the assistant does not decide that"


def test_what_is_too_long_is_cut_where_it_is_least_coherent() -> None:
    turns = [replace(turn, role="assistant") for turn in said(*[BAKING] * 7, *[SAILING] * 7)]
    assert segments(turns, max_turns=10) == [7, 14]


@given(
    st.lists(
        st.builds(
            Spoken,
            number=st.just(1),
            role=st.sampled_from(["user", "assistant", "tool", "summary"]),
            text=st.text(max_size=40),
            at=st.none() | st.floats(0, 1e6),
        ),
        max_size=50,
    ),
    st.integers(1, 20),
)
def test_segments_part_all_turns_and_none_is_too_long(turns: list[Spoken], max_turns: int) -> None:
    ends = segments(turns, max_turns)
    lengths = [end - begin for begin, end in zip([0, *ends], ends, strict=False)]
    assert ends[-1] == len(turns)
    assert not turns or all(0 < length <= max_turns for length in lengths)
