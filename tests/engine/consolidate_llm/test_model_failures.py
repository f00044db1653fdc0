"""A language model that fails: nothing is lost or stored twice, and answers that came are kept."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from lore import Lore
from lore.clock import Clock
from lore.engine.consolidate.backlog import ATTEMPTS, RETRY_SECONDS
from lore.engine.consolidate.digest import FAILURES_IN_A_ROW
from lore.engine.spending import StoreLedger
from lore.llm.base import LanguageModel, NoAnswer, Prompt, Refused, Unreachable, UnusableModel
from lore.llm.scripted import ScriptedModel
from lore.store.records import SessionAnswers
from tests.engine.consolidate.helpers import extraction, item, run_phases
from tests.engine.consolidate_llm.conftest import (
    FIRST,
    RecordSession,
    fragments,
    is_consistent,
    prompts_of,
    scripted,
    statements,
    with_budget,
    with_model,
)

DIGEST = "digest"
GOOD = extraction(item("The pilot boards at ten."))
LONG = [f"Pier number {number} needs timber{number}. " + "We looked at it. " * 60 for number in range(40)]


def in_parts(lore: Lore, model: LanguageModel | None = None) -> Lore:
    """With prompts that hold about a quarter of LONG."""
    tuning = replace(lore.tuning, max_chars_per_extraction=12_000)
    return replace(lore, tuning=tuning, model=model or lore.model)


def of_its_part(prompt: Prompt) -> dict[str, Any]:
    """One statement for each question, which names its first turn."""
    [(number, timber), *_] = re.findall(r"^\[(\d+)\] .*?(timber\d+)", prompt.text, re.MULTILINE)
    return extraction(item(f"The crew has {timber} in stock.", turns=[int(number)]))


def several(record_session: RecordSession, count: int) -> list[str]:
    """Conversations, the oldest first."""
    return [
        record_session(
            f"Is timber{number} there?", "Yes.", session=f"s{number}", at=FIRST + timedelta(hours=number)
        ).id
        for number in range(count)
    ]


def test_a_session_waits_longer_after_each_failure_and_in_the_end_for_a_person(
    lore: Lore, record_session: RecordSession, clock: Clock
) -> None:
    session = record_session("The pilot boards at ten.", "Noted.")
    model = scripted(session=Refused("too long for me"))
    lore_with_model = with_model(lore, model)
    for attempt in range(1, ATTEMPTS + 1):
        report = run_phases(lore_with_model, DIGEST)
        assert len(model.prompts) == attempt
        assert f"({attempt} of {ATTEMPTS} tries): too long for me" in report.remarks[0]
        [waiting] = lore.staged()
        assert (waiting.turns, waiting.attempts, waiting.trouble) == (2, attempt, "too long for me")
        backoff = RETRY_SECONDS * 2 ** (attempt - 1)
        clock.sleep(seconds=backoff - 1)
        assert run_phases(lore_with_model, DIGEST).remarks == ()
        clock.sleep(seconds=1)
    clock.sleep(days=30)
    run_phases(lore_with_model, DIGEST)
    assert len(model.prompts) == ATTEMPTS
    assert fragments(lore) == []
    assert lore.retry([session.id]) == [session.id]
    run_phases(with_model(lore, scripted(session=GOOD)), DIGEST)
    assert statements(lore) == ["The pilot boards at ten."]
    assert lore.staged() == []
    assert is_consistent(lore)


@pytest.mark.parametrize(
    "failing",
    [
        ScriptedModel(lambda _: Refused("the key is wrong", general=True)),
        ScriptedModel(lambda _: Unreachable("nobody listens", general=True)),
        UnusableModel("unknown backend 'gpt'"),
    ],
)
def test_rules_replace_a_model_that_cannot_be_used_and_the_report_says_so(
    lore: Lore, record_session: RecordSession, failing: Any, clock: Clock
) -> None:
    rule = "We decided to use Postgres for the ferry service because it has row level security."
    record_session(rule, "Noted.")
    record_session("I prefer short names in the ferry service.", "Noted.", session="two")
    report = run_phases(with_model(lore, failing))
    assert report.fallback
    assert report.remarks == (f"{report.fallback}; the rules do its work",)
    assert report.counts["sessions_digested"] == 2
    assert rule in statements(lore)
    assert lore.staged() == []
    last_run = lore.status().last_run
    assert last_run is not None
    assert last_run["fallback"] == report.fallback
    clock.sleep(days=1)
    assert run_phases(with_model(lore, scripted())).fallback == ""
    assert is_consistent(lore)


def test_after_several_failures_in_a_row_the_run_asks_no_more(
    lore: Lore, record_session: RecordSession
) -> None:
    several(record_session, FAILURES_IN_A_ROW + 2)
    model = scripted(session=Refused("I do not feel well"))
    run_phases(with_model(lore, model), DIGEST)
    assert len(model.prompts) == FAILURES_IN_A_ROW
    assert [one.attempts for one in lore.staged()] == [0, 0] + [1] * FAILURES_IN_A_ROW


def test_one_failing_conversation_does_not_stop_the_others(lore: Lore, record_session: RecordSession) -> None:
    ids = several(record_session, 5)

    def answer(prompt: Prompt) -> dict[str, Any] | NoAnswer:
        return Refused("not this one") if "timber1" in prompt.text else of_its_part(prompt)

    run_phases(with_model(lore, scripted(session=answer)), DIGEST)
    assert [one.session.id for one in lore.staged()] == [ids[1]]
    assert len(statements(lore)) == 4


def only(allowed: Callable[[int], bool]) -> ScriptedModel:
    """A model that answers only some of its questions, by their number."""
    numbers = iter(range(1_000))
    return scripted(session=lambda prompt: of_its_part(prompt) if allowed(next(numbers)) else Refused("no"))


def test_answered_parts_of_a_failed_conversation_are_not_asked_about_again(
    lore: Lore, record_session: RecordSession, clock: Clock
) -> None:
    record_session(*LONG)
    model = only(lambda number: number != 2)
    run_phases(in_parts(lore, model), DIGEST)
    assert fragments(lore) == []
    clock.sleep(hours=1)
    again = scripted(session=of_its_part)
    run_phases(in_parts(lore, again), DIGEST)
    told_before = {prompt.text for prompt in model.prompts}
    assert len({prompt.text for prompt in again.prompts} & told_before) == 1
    assert len(statements(lore)) == len(told_before | {prompt.text for prompt in again.prompts})
    assert lore.store.reader(lore.namespace).records(SessionAnswers) == []
    assert is_consistent(lore)


def test_after_a_failure_no_further_part_is_asked_about(lore: Lore, record_session: RecordSession) -> None:
    record_session(*LONG)
    model = only(lambda number: number != 1)
    run_phases(in_parts(lore, model), DIGEST)
    assert len(model.prompts) == 2
    assert len(lore.store.reader(lore.namespace).records(SessionAnswers)) == 1


def cost_of(model: ScriptedModel) -> int:
    """About what a question and its answer may take."""
    prompt = model.prompts[0]
    return len(prompt.system + prompt.text + str(prompt.schema)) // 4 + prompt.max_tokens


def test_when_the_budget_is_spent_digestion_continues_the_next_day(
    lore: Lore, record_session: RecordSession, clock: Clock
) -> None:
    several(record_session, 7)
    probe = scripted(session=of_its_part)
    run_phases(with_model(lore, probe), DIGEST, dry=True)
    limit = cost_of(probe) + 4_000
    model = scripted(session=of_its_part)
    lore_with_model = with_budget(lore, model, clock, tokens=limit)
    days = 0
    while lore.staged():
        before = len(model.prompts)
        report = run_phases(lore_with_model, DIGEST)
        if lore.staged():
            assert "the day's budget is" in report.remarks[0]
            assert "2026-01-0" in report.remarks[0]
            assert run_phases(lore_with_model, DIGEST).remarks == report.remarks
        assert len(model.prompts) > before
        clock.sleep(days=1)
        days += 1
    assert 2 <= days <= 7
    assert len(prompts_of(model, "session")) == 7
    assert sorted(statements(lore)) == [f"The crew has timber{number} in stock." for number in range(7)]
    assert is_consistent(lore)


def test_a_conversation_beyond_the_daily_budget_is_digested_over_several_days(
    lore: Lore, record_session: RecordSession, clock: Clock
) -> None:
    record_session(*LONG)
    probe = scripted(session=of_its_part)
    run_phases(in_parts(lore, probe), DIGEST, dry=True)
    model = scripted(session=of_its_part)
    lore_with_model = in_parts(with_budget(lore, model, clock, tokens=int(cost_of(probe) * 1.6)))
    for _ in range(10):
        run_phases(lore_with_model, DIGEST)
        clock.sleep(days=1)
    assert lore.staged() == []
    assert len(model.prompts) == len(probe.prompts) == len(statements(lore))
    assert {prompt.text for prompt in model.prompts} == {prompt.text for prompt in probe.prompts}


def test_tokens_of_unusable_answers_count_as_spent(
    lore: Lore, record_session: RecordSession, clock: Clock
) -> None:
    record_session("The pilot boards at ten.", "Noted.")
    run_phases(with_budget(lore, scripted(session="What?"), clock, tokens=100_000), DIGEST)
    [spent] = StoreLedger(lore.store, clock).load("2026-01-01")
    assert spent.calls == 2
    assert spent.tokens_in > 1_000
    assert fragments(lore) == []


def test_the_other_phases_run_while_the_model_is_unreachable(
    lore: Lore, record_session: RecordSession
) -> None:
    record_session("The pilot boards at ten.", "Noted.")
    model = scripted(session=Unreachable("nobody listens", general=True))
    report = run_phases(with_model(lore, model))
    assert len(report.phases) == 9
    assert prompts_of(model, "session") == model.prompts
