"""What the questions of a day have cost, and whether the next one is still allowed."""

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Protocol

from lore.llm.base import Limited, OverBudget, Price, Prompt, Reply
from lore.text import tokens_in

MILLION = 1_000_000
DATED = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2}|latest)\Z")
"""What a name may end with and still be the same model at the same price."""
FAMILY = re.compile(r"claude-(?:\S+-)?(opus|sonnet|haiku)\b")
"""A name of Claude that is in no list yet still tells what such a model costs, about."""
PRICES: Mapping[str, Price] = {
    name: Price(tokens_in=paid_in, tokens_out=paid_out)
    for name, paid_in, paid_out in (
        ("claude-opus-5-5", 4.0, 20.0),
        ("claude-sonnet-5-5", 2.0, 10.0),
        ("claude-haiku-5-5", 0.1, 0.5),
        ("claude-opus-4-5", 5.0, 25.0),
        ("claude-opus-4-1", 15.0, 75.0),
        ("claude-opus-4", 15.0, 75.0),
        ("claude-sonnet-4-5", 3.0, 15.0),
        ("claude-sonnet-4", 3.0, 15.0),
        ("claude-haiku-4-5", 1.0, 5.0),
        ("claude-3-5-haiku", 0.8, 4.0),
        ("gpt-5", 1.25, 10.0),
        ("gpt-5-mini", 0.25, 2.0),
        ("gpt-5-nano", 0.05, 0.4),
        ("gpt-4.1", 2.0, 8.0),
        ("gpt-4.1-mini", 0.4, 1.6),
        ("gpt-4.1-nano", 0.1, 0.4),
        ("gpt-4o", 2.5, 10.0),
        ("gpt-4o-mini", 0.15, 0.6),
        ("opus", 4.0, 20.0),
        ("sonnet", 2.0, 10.0),
        ("haiku", 0.1, 0.5),
    )
}
"""List prices of the makers, as of November 2026, without discounts; the last three are the aliases of Claude
Code, and count where no other does."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """What one model has taken. unpriced: how many of the tokens have no known price and count as free."""

    model: str
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float = 0.0
    unpriced: int = 0

    @property
    def tokens(self) -> int:
        return self.tokens_in + self.tokens_out

    def __add__(self, other: "Spent") -> "Spent":
        return Spent(
            model=self.model,
            calls=self.calls + other.calls,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            dollars=self.dollars + other.dollars,
            unpriced=self.unpriced + other.unpriced,
        )


class Ledger(Protocol):
    """Where the sums of a day are kept. Safe to share by threads. A day is written 2026-01-31, in UTC."""

    def load(self, day: str) -> tuple[Spent, ...]:
        """What was spent on this day: one entry for each model."""

    def add(self, day: str, spent: Spent) -> None:
        """More was spent on this day by this model."""

    def rest(self, model: str, until: float) -> None:
        """This model is asked nothing until then, in seconds since 1970."""

    def rests_until(self, model: str) -> float:
        """Until when this model is asked nothing; 0 if it never had to rest."""


class MemoryLedger:
    """See `Ledger`. Forgets when the process ends."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._days: dict[str, dict[str, Spent]] = {}
        self._rests: dict[str, float] = {}

    def load(self, day: str) -> tuple[Spent, ...]:
        with self._lock:
            return tuple(self._days.get(day, {}).values())

    def add(self, day: str, spent: Spent) -> None:
        with self._lock:
            models = self._days.setdefault(day, {})
            models[spent.model] = models.get(spent.model, Spent(model=spent.model)) + spent

    def rest(self, model: str, until: float) -> None:
        self._rests[model] = until

    def rests_until(self, model: str) -> float:
        return self._rests.get(model, 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a day may take; 0 is no limit."""

    tokens: int = 0
    dollars: float = 0.0


def price_of(model: str, prices: Mapping[str, Price]) -> Price | None:
    """The price under the model's own name, its name without the date, or its family; None if none is known.

    A name may begin with whose it is, as in anthropic/claude-sonnet-5-5.
    """
    short = DATED.sub("", model.rpartition("/")[2])
    family = FAMILY.match(short)
    return prices.get(model) or prices.get(short) or (prices.get(family[1]) if family else None)


def estimate(prompt: Prompt, model: str, prices: Mapping[str, Price]) -> Spent:
    """The most that the answer to this prompt may take, about."""
    read = tokens_in(prompt.system) + tokens_in(prompt.text) + tokens_in(str(prompt.schema or ""))
    return counted(model, read, prompt.max_tokens, prices)


def counted(
    model: str, read: int, written: int, prices: Mapping[str, Price], cost: float | None = None
) -> Spent:
    """One call in tokens and dollars; what the service itself says it cost counts first."""
    price = price_of(model, prices)
    if cost is None and price is not None:
        cost = (read * price.tokens_in + written * price.tokens_out) / MILLION
    return Spent(
        model=model,
        calls=1,
        tokens_in=read,
        tokens_out=written,
        dollars=cost or 0.0,
        unpriced=read + written if cost is None else 0,
    )


@dataclass(slots=True, kw_only=True)
class Budget:
    """The limits of a day against what was spent in it, also by others who write the same ledger.

    Calls that are under way count with their estimate, so that many at once do not exceed the limits.
    """

    limits: Limits
    ledger: Ledger
    clock: Callable[[], float]
    prices: Mapping[str, Price] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _under_way: list[Spent] = field(default_factory=list)
    _told: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.prices = {**PRICES, **self.prices}

    @contextmanager
    def allowing(self, prompt: Prompt, model: str) -> Iterator[Spent]:
        """Keep enough aside for the prompt while the block asks it; OverBudget if there is not enough."""
        needed = estimate(prompt, model, self.prices)
        with self._lock:
            self._allow(needed)
            self._under_way.append(needed)
        try:
            yield needed
        finally:
            with self._lock:
                self._under_way.remove(needed)

    def spend(self, reply: Reply, needed: Spent) -> Reply:
        """Write down what an answer took; the reply with its cost. Where nobody counted, we guess."""
        read, written = reply.tokens_in, reply.tokens_out
        if not read and not written:
            read, written = needed.tokens_in, tokens_in(reply.text)
        spent = counted(reply.model, read, written, self.prices, reply.cost)
        self._add(spent)
        return replace(
            reply, tokens_in=read, tokens_out=written, cost=None if spent.unpriced else spent.dollars
        )

    def lose(self, needed: Spent) -> None:
        """Write down a question whose answer was lost: what was sent will have to be paid for."""
        self._add(counted(needed.model, needed.tokens_in, 0, self.prices))

    def stop(self, model: str, why: Limited) -> OverBudget:
        """Ask this model nothing more today; the error that says so."""
        tomorrow = self._tomorrow()
        self.ledger.rest(model, tomorrow.timestamp())
        message = f"a limit was reached: {why}; {model} is asked again at {_minute(tomorrow)}"
        logger.warning("%s", message)
        return OverBudget(message, resumes=tomorrow.timestamp())

    def spent_today(self) -> tuple[Spent, ...]:
        """What this day has taken so far, for each model."""
        return self.ledger.load(self._day())

    def _add(self, spent: Spent) -> None:
        if spent.unpriced and self.limits.dollars and spent.model not in self._told:
            self._told.add(spent.model)
            hint = "set its price in [llm.prices], or a limit in daily_tokens"
            logger.warning("no price is known for %s, so it counts as free; %s", spent.model, hint)
        self.ledger.add(self._day(), spent)

    def _allow(self, needed: Spent) -> None:
        until = self.ledger.rests_until(needed.model)
        if self.clock() < until <= self._tomorrow().timestamp():  # later ones were set by a wrong clock
            again = _minute(datetime.fromtimestamp(until, UTC))
            message = f"a limit was reached before; {needed.model} is asked again at {again}"
            raise OverBudget(message, resumes=until)
        if not self.limits.tokens and not self.limits.dollars:
            return
        spent = Spent(model="")
        for each in (*self.ledger.load(self._day()), *self._under_way):
            spent += each
        if 0 < self.limits.tokens < spent.tokens + needed.tokens:
            raise self._over(
                "daily_tokens", "{:,.0f} tokens", self.limits.tokens, spent.tokens, needed.tokens
            )
        if 0 < self.limits.dollars < spent.dollars + needed.dollars:
            raise self._over("daily_dollars", "${:,.4f}", self.limits.dollars, spent.dollars, needed.dollars)

    def _over(self, name: str, unit: str, limit: float, took: float, more: float) -> OverBudget:
        budget, so_far, question = (unit.format(amount) for amount in (limit, took, more))
        if more > limit:
            message = f"one question may take {question}, but a whole day only {budget}; raise {name}"
            return OverBudget(message, resumes=None)
        tomorrow = self._tomorrow()
        message = (
            f"the day's budget is {budget} ({name}): {so_far} are spent or under way, and this question "
            f"may take {question}; it goes on at {_minute(tomorrow)}"
        )
        return OverBudget(message, resumes=tomorrow.timestamp())

    def _day(self) -> str:
        return datetime.fromtimestamp(self.clock(), UTC).date().isoformat()

    def _tomorrow(self) -> datetime:
        today = datetime.fromtimestamp(self.clock(), UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        return today + timedelta(days=1)


def _minute(when: datetime) -> str:
    return f"{when:%Y-%m-%d %H:%M} UTC"
