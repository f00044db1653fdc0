"""Condense: the user's words stay whole; tool calls go first, then what the agent said on its way."""

from dataclasses import replace

import pytest

from lore.distil.base import Role, Spoken
from lore.distil.condense import condensed

DAY = 86_400.0


def turns(*texts: tuple[Role, str]) -> list[Spoken]:
    return [
        Spoken(number=number, role=role, text=text, tool="Bash" if role == "tool" else "", at=DAY)
        for number, (role, text) in enumerate(texts, 1)
    ]


STORY = turns(
    ("user", "Fix the clock. " * 30),
    ("assistant", "I look at the clock first. " * 40),
    ("tool", "Bash: pytest tests/test_clock.py\n" + "12 passed in 3 s\n" * 400),
    ("assistant", "All tests pass now, and the clock is right. " * 30),
    ("user", "Thanks."),
)


def shown(limit: int) -> dict[int, str]:
    [part] = condensed(STORY, limit)
    return dict(part)


def test_of_a_tool_call_that_worked_there_is_one_line() -> None:
    assert shown(0)[3] == "tool Bash: pytest tests/test_clock.py"


def test_of_a_tool_call_that_failed_the_beginning_of_the_error_stays() -> None:
    failed = replace(STORY[2], failed=True, text="Bash: pytest\nE  ZeroDivisionError\n" + "more\n" * 400)
    [part] = condensed([*STORY[:2], failed, *STORY[3:]], 0)
    assert part[2][1].startswith("tool Bash (failed): pytest → E ZeroDivisionError more")
    assert len(part[2][1]) < 500


def test_the_user_and_the_closing_message_are_whole_and_others_shortened() -> None:
    entries = shown(0)
    assert entries[1] == f"user, 1970-01-02: {STORY[0].text.strip()}"
    assert entries[4] == f"assistant: {STORY[3].text.strip()}"
    assert "characters left out" in entries[2]
    assert len(entries[2]) < 700


WORK: list[tuple[Role, str]] = [("assistant", "I look further. " * 32), ("tool", f"Bash: {'x' * 200}\nok")]
ROUND: list[tuple[Role, str]] = [
    ("user", "Now this. " * 20), *WORK * 4, ("assistant", "It is done. " * 17)
]  # fmt: skip
LONG = turns(*ROUND * 5)


@pytest.mark.parametrize(
    ("limit", "on_the_way", "calls"),
    [(20_000, 512, 160), (11_500, 300, 80), (9_800, 300, 0), (6_000, 120, 0)],
)
def test_what_is_worth_least_goes_first(limit: int, on_the_way: int, calls: int) -> None:
    [part] = condensed(LONG, limit)
    by_number = dict(part)
    assert sum(len(text) for text in by_number.values()) <= limit
    assert all(LONG[number - 1].text.strip() in by_number[number] for number in (1, 10, 11, 20, 41, 50))
    assert on_the_way - 20 <= len(by_number[2]) <= on_the_way + 60
    assert (3 in by_number) == (calls > 0)
    assert len(by_number.get(3, "")) <= calls + 20


def test_the_shortest_form_has_what_the_user_said_and_the_closing_messages() -> None:
    [part] = condensed(LONG, 2_600)
    assert [number for number, _ in part] == [1, 10, 11, 20, 21, 30, 31, 40, 41, 50]


def test_a_pasted_text_is_cut_in_the_middle() -> None:
    [part] = condensed(turns(("user", f"Look: {'log ' * 10_000} the end"), ("assistant", "I see.")), 60_000)
    assert len(part[0][1]) < 8_100
    assert part[0][1].endswith("the end")


def test_parts_are_within_the_limit_and_begin_with_the_user() -> None:
    pair: list[tuple[Role, str]] = [("user", "word " * 100), ("assistant", "answer " * 100)]
    parts = condensed(turns(*pair * 20), 6_000)
    assert [number for part in parts for number, _ in part] == list(range(1, 41))
    assert all(sum(len(text) for _, text in part) <= 6_000 for part in parts)
    assert all(part[0][0] % 2 == 1 for part in parts)
    assert 4 <= len(parts) <= 6


def test_a_small_limit_cuts_every_turn_rather_than_being_exceeded() -> None:
    parts = condensed(STORY, 400)
    assert all(len(text) < 200 for part in parts for _, text in part)
    assert {number for part in parts for number, _ in part} >= {1, 4, 5}


def test_no_turns_are_no_part() -> None:
    assert condensed([], 100) == []
