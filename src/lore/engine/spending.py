"""spending: what language models took, day by day, in the store: all processes share one budget."""

from collections.abc import Callable
from dataclasses import asdict

from lore.llm.budget import Spent
from lore.model import SHARED, Cause
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


def _spent(spending: Spending) -> Spent:
    fields = asdict(spending)
    del fields["day"]
    return Spent(**fields)
