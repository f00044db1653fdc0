"""When to consolidate: a decision about a state and a time, without a store, a process or a clock."""

from dataclasses import replace
from typing import Any

import pytest

from lore.engine.consolidate.backlog import ATTEMPTS, RETRY_SECONDS
from lore.engine.schedule import BACKLOG, FIRST_SECONDS, Due, ScheduleState, due, waiting
from lore.health import Staged
from lore.model import Memory

INTERVAL = 7200.0
STARTED_AT = 1_000_000.0
LATER = STARTED_AT + FIRST_SECONDS


def session(name: str, turns: int = 3, **failure: Any) -> Staged:
    memory = Memory(id=name, content=name, created_at=0.0, updated_at=0.0)
    return Staged(session=memory, turns=turns, **failure)


def state(*staged: Staged, **changed: object) -> ScheduleState:
    usual = ScheduleState(
        interval=INTERVAL, enough_sessions=2, started_at=STARTED_AT, staged=staged, recent_turns={}
    )
    return replace(usual, **changed)  # type: ignore[arg-type]


def test_a_minute_after_the_start_the_regular_job_may_be_claimed() -> None:
    assert due(state(), LATER - 1) is Due.NO
    assert due(state(), LATER) is Due.IF_CLAIMED


def test_an_interval_below_a_minute_is_not_waited_out_for_a_minute() -> None:
    assert due(state(interval=5.0), STARTED_AT + 5) is Due.IF_CLAIMED


def test_a_clock_that_was_turned_back_does_not_delay_a_run() -> None:
    assert due(state(), STARTED_AT - 1) is Due.IF_CLAIMED


@pytest.mark.parametrize(
    "changed",
    [{"interval": 0.0}, {"written": False}, {"pending": BACKLOG + 1}],
    ids=["only on request", "an empty store", "a backlog to embed"],
)
def test_nothing_is_due(changed: dict[str, object]) -> None:
    enough = state(session("a"), session("b"), exiting=True)
    assert due(enough, LATER) is Due.NOW
    assert due(replace(enough, **changed), LATER) is Due.NO  # type: ignore[arg-type]


def test_enough_quiet_sessions_do_not_wait_for_the_interval() -> None:
    two = state(session("a"), session("b"))
    assert due(two, LATER) is Due.NOW
    assert due(replace(two, recent_turns={"b": 1}), LATER) is Due.IF_CLAIMED
    assert due(replace(two, enough_sessions=0), LATER) is Due.IF_CLAIMED


def test_before_an_exit_one_quiet_session_is_enough_even_in_the_first_minute() -> None:
    one = state(session("a"), exiting=True)
    assert due(one, STARTED_AT) is Due.NOW
    assert due(replace(one, recent_turns={"a": 1}), STARTED_AT) is Due.NO


def test_a_session_that_the_last_run_left_waits_until_it_has_new_turns() -> None:
    left = state(session("a", turns=3), exiting=True, attempted=frozenset({("a", 3)}))
    assert due(left, LATER) is Due.IF_CLAIMED
    assert due(replace(left, staged=[session("a", turns=4)]), LATER) is Due.NOW


def test_a_failed_session_rests_and_is_given_up_after_some_attempts() -> None:
    rests = session("a", attempts=1, retry_at=LATER + RETRY_SECONDS)
    assert waiting(state(rests), LATER) == []
    assert waiting(state(rests), LATER + RETRY_SECONDS) == [rests]
    assert waiting(state(session("a", attempts=ATTEMPTS, retry_at=1.0)), LATER) == []
