"""What the day has cost, and when enough is enough."""

import logging
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import pytest

from lore.clock import Clock
from lore.llm import Calling, Waiting
from lore.llm.base import NoAnswer, OverBudget, Price, Prompt, Reply, Unreachable
from lore.llm.budget import PRICES, Budget, Ledger, Limits, MemoryLedger, Spent, estimate, price_of
from lore.llm.scripted import ScriptedModel

QUESTION = Prompt(system="s" * 400, text="t" * 400, max_tokens=300)  # 200 tokens in, 300 out: 500 at most
NEEDED = estimate(QUESTION, "m", {})
CLAUDE = "claude-haiku-4-5-20251001"


def reply(tokens_in: int, tokens_out: int, model: str = CLAUDE, cost: float | None = None) -> Reply:
    return Reply(text="green", model=model, tokens_in=tokens_in, tokens_out=tokens_out, cost=cost)


def budget(
    waiting: Waiting, ledger: Ledger, *, prices: dict[str, Price] | None = None, **limits: float
) -> Budget:
    return Budget(
        limits=Limits(tokens=int(limits.get("tokens", 0)), dollars=limits.get("dollars", 0.0)),
        ledger=ledger,
        clock=waiting.clock,
        prices=prices or {},
    )


def calling(script: list[Reply | NoAnswer], budget: Budget, waiting: Waiting) -> Calling:
    return Calling(ScriptedModel(script), budget, timeout=1000, concurrency=8, waiting=waiting)


@pytest.fixture
def ledger() -> MemoryLedger:
    return MemoryLedger()


def test_a_dated_name_has_the_price_of_its_model_and_an_unknown_one_has_none() -> None:
    assert price_of("claude-sonnet-4-20250514", PRICES) == Price(tokens_in=3.0, tokens_out=15.0)
    assert price_of("gpt-4o-mini-2024-07-18", PRICES) == Price(tokens_in=0.15, tokens_out=0.6)
    assert price_of("claude-3-5-haiku-latest", PRICES) == Price(tokens_in=0.8, tokens_out=4.0)
    assert price_of("gpt-5-pro", PRICES) is None
    assert price_of("llama3.2", PRICES) is None


@pytest.mark.parametrize(
    ("name", "dollars"),
    [
        ("claude-opus-9-20301231", 4.0),
        ("claude-7-sonnet", 2.0),
        ("anthropic/claude-haiku-4-5", 1.0),
        ("anthropic/claude-haiku-9", 0.1),
        ("sonnet", 2.0),
    ],
)
def test_a_new_claude_is_not_taken_for_free(name: str, dollars: float) -> None:
    price = price_of(name, PRICES)
    assert price is not None
    assert price.tokens_in == dollars


@pytest.mark.parametrize("name", ["claudette-opus", "my-claude-sonnet", "sonnet-7b", "gpt-oss:20b"])
def test_a_name_that_only_sounds_like_it_is_unknown(name: str) -> None:
    assert price_of(name, PRICES) is None


def test_tokens_and_dollars_are_counted_for_each_model(waiting: Waiting, ledger: MemoryLedger) -> None:
    accounts = budget(waiting, ledger)
    script: list[Reply | NoAnswer] = [reply(1000, 200), reply(500, 100), reply(50, 5, "llama3.2")]
    model = calling(script, accounts, waiting)
    assert [model.complete(QUESTION).cost for _ in range(3)] == [
        pytest.approx(0.002), pytest.approx(0.001), None
    ]  # fmt: skip
    paid, free = accounts.spent_today()
    assert paid == Spent(model=CLAUDE, calls=2, tokens_in=1500, tokens_out=300, dollars=paid.dollars)
    assert paid.dollars == pytest.approx(0.003)
    assert free == Spent(model="llama3.2", calls=1, tokens_in=50, tokens_out=5, dollars=0.0, unpriced=55)


def test_settings_may_name_other_prices(waiting: Waiting, ledger: MemoryLedger) -> None:
    prices = {
        "claude-haiku-4-5": Price(tokens_in=100.0, tokens_out=0.0),
        "llama3.2": Price(tokens_in=0.0, tokens_out=1.0),
    }
    model = calling(
        [reply(10, 5), reply(9, 1000, "llama3.2")], budget(waiting, ledger, prices=prices), waiting
    )
    assert model.complete(QUESTION).cost == pytest.approx(0.001)
    assert model.complete(QUESTION).cost == pytest.approx(0.001)


def test_what_the_service_says_it_cost_counts(waiting: Waiting, ledger: MemoryLedger) -> None:
    accounts = budget(waiting, ledger)
    assert calling([reply(1000, 200, cost=0.5)], accounts, waiting).complete(QUESTION).cost == 0.5
    assert [spent.dollars for spent in accounts.spent_today()] == [0.5]


def test_a_service_that_does_not_count_is_guessed_at(waiting: Waiting, ledger: MemoryLedger) -> None:
    told = calling([reply(0, 0)], budget(waiting, ledger), waiting).complete(QUESTION)
    assert (told.tokens_in, told.tokens_out) == (NEEDED.tokens_in, 1)
    assert [spent.tokens for spent in ledger.load("2026-01-01")] == [told.tokens_in + told.tokens_out]


def test_an_answer_that_was_lost_is_paid_for_and_a_refused_connection_is_not(
    waiting: Waiting, ledger: MemoryLedger
) -> None:
    script: list[Reply | NoAnswer] = [
        Unreachable("no answer", lost=True),
        Unreachable("not there"),
        reply(10, 5, "scripted-extraction"),
    ]
    calling(script, budget(waiting, ledger), waiting).complete(QUESTION)
    [spent] = ledger.load("2026-01-01")
    assert (spent.calls, spent.tokens_in, spent.tokens_out) == (2, NEEDED.tokens_in + 10, 5)


def test_the_day_ends_when_its_tokens_are_spent_and_the_next_one_goes_on(
    waiting: Waiting, clock: Clock, ledger: MemoryLedger
) -> None:
    clock.sleep(hours=22)
    limit = 2 * NEEDED.tokens + 2
    model = calling([reply(1, NEEDED.tokens - 1)] * 3, budget(waiting, ledger, tokens=limit), waiting)
    model.complete(QUESTION)
    model.complete(QUESTION)
    with pytest.raises(OverBudget) as caught:
        model.complete(QUESTION)
    assert "daily_tokens" in str(caught.value)
    assert f"{limit:,} tokens" in str(caught.value)
    assert f"{2 * NEEDED.tokens:,} tokens are spent" in str(caught.value)
    assert "2026-01-02 00:00 UTC" in str(caught.value)
    assert caught.value.resumes == clock() + 2 * 3600
    assert not caught.value.retry

    clock.sleep(hours=2)
    assert model.complete(QUESTION).text == "green"
    assert [spent.calls for spent in ledger.load("2026-01-02")] == [1]


def test_dollars_end_the_day_too(waiting: Waiting, ledger: MemoryLedger) -> None:
    prices = {"scripted-extraction": Price(tokens_in=1000.0, tokens_out=1000.0)}
    needed = estimate(QUESTION, "scripted-extraction", prices)
    accounts = budget(waiting, ledger, prices=prices, dollars=needed.dollars * 1.5)
    model = calling([reply(0, 600, "scripted-extraction")], accounts, waiting)
    model.complete(QUESTION)
    with pytest.raises(OverBudget, match=r"\$0\.75\d\d \(daily_dollars\): \$0\.60\d\d are spent"):
        model.complete(QUESTION)


def test_a_question_that_no_day_allows_is_not_put_off_until_tomorrow(
    waiting: Waiting, ledger: MemoryLedger
) -> None:
    model = calling([], budget(waiting, ledger, tokens=NEEDED.tokens - 1), waiting)
    with pytest.raises(OverBudget, match="raise daily_tokens") as caught:
        model.complete(QUESTION)
    assert caught.value.resumes is None


def test_calls_under_way_count_so_that_many_at_once_stay_within(
    waiting: Waiting, ledger: MemoryLedger
) -> None:
    accounts = budget(waiting, ledger, tokens=int(NEEDED.tokens * 2.5))
    allowed = partial(accounts.allowing, QUESTION, "m")
    with allowed(), allowed(), pytest.raises(OverBudget), allowed():
        pass
    with allowed():
        pass


def test_who_waits_for_a_place_keeps_nothing_from_those_who_are_asked(
    waiting: Waiting, ledger: MemoryLedger
) -> None:
    """The budget allows one question: the second is not over budget, only too early."""

    def answer(_: Prompt) -> Reply:
        with pytest.raises(Unreachable, match="max_concurrency"):
            model.complete(replace(QUESTION, timeout=0.01))
        return reply(1, 1, "m")

    accounts = budget(waiting, ledger, tokens=int(NEEDED.tokens * 1.5))
    model = Calling(ScriptedModel(answer), accounts, timeout=1000, concurrency=1, waiting=waiting)
    assert [model.complete(QUESTION).text for _ in range(2)] == ["green", "green"]


def test_without_limits_nothing_ends_the_day(waiting: Waiting, ledger: MemoryLedger) -> None:
    model = calling([reply(10**9, 10**9)] * 3, budget(waiting, ledger), waiting)
    assert [model.complete(QUESTION).text for _ in range(3)] == ["green"] * 3


def test_it_is_said_once_that_a_limit_in_dollars_does_not_hold(
    waiting: Waiting, ledger: MemoryLedger, caplog: pytest.LogCaptureFixture
) -> None:
    model = calling([reply(5, 5, "llama3.2")] * 2, budget(waiting, ledger, dollars=1.0), waiting)
    with caplog.at_level(logging.WARNING):
        model.complete(QUESTION)
        model.complete(QUESTION)
    assert [record.getMessage() for record in caplog.records if "llama3.2" in record.getMessage()] == [
        "no price is known for llama3.2, so it counts as free; "
        "set its price in [llm.prices], or a limit in daily_tokens"
    ]


def test_a_ledger_keeps_days_and_models_apart_whoever_writes() -> None:
    ledger = MemoryLedger()
    entries = [
        (f"2026-01-0{1 + at % 2}", Spent(model=f"m{at % 3}", calls=1, tokens_in=1)) for at in range(600)
    ]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda entry: ledger.add(*entry), entries))
    for day in ("2026-01-01", "2026-01-02"):
        assert {spent.model: spent.tokens for spent in ledger.load(day)} == {"m0": 100, "m1": 100, "m2": 100}
    assert ledger.load("2026-01-03") == ()
