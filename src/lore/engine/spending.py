"""spending: what language models took, day by day, in the store: all processes share one budget."""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import UTC, datetime

from lore.llm.budget import Spent
from lore.model import SHARED, Cause
from lore.settings import LlmSettings
from lore.store import Store
from lore.store.records import Job, Spending

ASK = "ask "
"""How the name of the job begins that waits until a model may be asked again."""


class StoreLedger:
    """See `lore.llm.budget.Ledger`."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock

    def load(self, day: str) -> tuple[Spent, ...]:
        """One entry for each model."""
        return tuple(map(_spent, self._store.reader(SHARED).records(Spending, day=day)))

    def add(self, day: str, spent: Spent) -> None:
        """On top of what others have added meanwhile."""
        with self._store.transaction(SHARED, Cause(verb="spend"), self._clock()) as writer:
            for before in writer.records(Spending, day=day, model=spent.model):
                spent = _spent(before) + spent
            writer.put_records([Spending(day=day, **asdict(spent))])

    def rest(self, model: str, until: float) -> None:
        """For all processes: the question to this model is a job that is due then."""
        with self._store.transaction(SHARED, Cause(verb="spend"), self._clock()) as writer:
            writer.put_records([Job(name=f"{ASK}{model}", due_at=until)])

    def rests_until(self, model: str) -> float:
        """0 if it never had to rest."""
        jobs = self._store.reader(SHARED).records(Job, name=f"{ASK}{model}")
        return next((job.due_at for job in jobs), 0.0)


def of_today(ledger: StoreLedger, now: float, settings: LlmSettings, models: Iterable[str]) -> dict[str, str]:
    """`today`: what all models took, of the day's limits; `limit`: which of these rests, and until when.

    Either is left out if there is nothing to say.
    """
    spent = ledger.load(datetime.fromtimestamp(now, UTC).date().isoformat())
    calls, tokens = sum(one.calls for one in spent), sum(one.tokens for one in spent)
    dollars = sum(one.dollars for one in spent)
    most_tokens = f" of {settings.daily_tokens:,}" if settings.daily_tokens else ""
    most_dollars = f" of ${settings.daily_dollars:,.2f}" if settings.daily_dollars else ""
    rests = {name: ledger.rests_until(name) for name in dict.fromkeys(models)}
    limits = [
        f"{name} reached a limit, and is asked again at "
        f"{datetime.fromtimestamp(until, UTC):%Y-%m-%d %H:%M} UTC"
        for name, until in rests.items()
        if now < until
    ]
    words = {"limit": "; ".join(limits)}
    if calls:
        questions = "1 question" if calls == 1 else f"{calls:,} questions"
        words["today"] = f"{questions}, {tokens:,}{most_tokens} tokens, ${dollars:,.3f}{most_dollars}"
    return {name: text for name, text in words.items() if text}


def _spent(spending: Spending) -> Spent:
    fields = asdict(spending)
    del fields["day"]
    return Spent(**fields)
