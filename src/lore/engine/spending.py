"""spending: what language models took, day by day, in the store: all processes share one budget."""

from collections.abc import Callable
from dataclasses import asdict

from lore.llm.budget import Spent
from lore.model import SHARED, Cause
from lore.store import Store
from lore.store.records import Spending


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


def _spent(spending: Spending) -> Spent:
    fields = asdict(spending)
    del fields["day"]
    return Spent(**fields)
