"""spending: what language models took, day by day, in the store: all processes share one budget."""

from collections.abc import Callable
from dataclasses import asdict

from lore.llm.budget import Spent
from lore.model import SHARED, Cause
from lore.store import Store

SPENT = "spent/"


class StoreLedger:
    """See `lore.llm.budget.Ledger`."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock

    def load(self, day: str) -> tuple[Spent, ...]:
        """One entry for each model."""
        noted = self._store.reader(SHARED).noted(f"{SPENT}{day}/")
        return tuple(Spent(**spent) for spent in noted.values())

    def add(self, day: str, spent: Spent) -> None:
        """On top of what others have added meanwhile."""
        name = f"{SPENT}{day}/{spent.model}"
        with self._store.transaction(SHARED, Cause(verb="spend"), self._clock()) as writer:
            before = writer.noted(name).get(name)
            writer.note(name, asdict(Spent(**before) + spent if before else spent))
