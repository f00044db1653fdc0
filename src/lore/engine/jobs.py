"""jobs: recurring work for one process at a time. A claim ends by itself: a dead process blocks none."""

from dataclasses import dataclass, replace
from math import inf

from lore.model import Cause
from lore.store import DEFAULT_TENANT, Reader, Store
from lore.store.records import Job

SKEW_SECONDS = 300.0
"""By how much a clock may be set back before a job that another process has claimed counts as due."""
CAUSE = Cause(verb="schedule")


def is_due(job: Job, now: float, longest: float = inf) -> bool:
    """Whether nobody is at work on the job and its time has come.

    longest: the most seconds between two runs. A time beyond that was set by a clock that was ahead, and
    counts as due.
    """
    return not now < max(job.due_at, job.claimed_until) <= now + longest + SKEW_SECONDS


@dataclass(frozen=True, slots=True)
class Jobs:
    """The jobs of one namespace of a tenant."""

    store: Store
    namespace: str
    tenant: str = DEFAULT_TENANT

    def claim(self, name: str, now: float, until: float, longest: float = inf) -> float | None:
        """Take on a job if it is due: the start of its last complete run (0.0: none), else None.

        Nobody else gets it before `until`; so one that fails is tried again then. A last run in the future
        counts as none.
        """
        if not is_due(_job(name, self.store.reader(self.namespace, self.tenant)), now, longest):
            return None
        with self.store.transaction(self.namespace, CAUSE, now, self.tenant) as writer:
            job = _job(name, writer)
            if not is_due(job, now, longest):
                return None
            writer.put_records([replace(job, due_at=0.0, claimed_until=until)])
        return job.done_at if job.done_at <= now + SKEW_SECONDS else 0.0

    def schedule(self, name: str, done_at: float, due_at: float) -> None:
        """Record the start of the last complete run, and when the next one is due."""
        with self.store.transaction(self.namespace, CAUSE, done_at, self.tenant) as writer:
            writer.put_records([Job(name=name, due_at=due_at, done_at=done_at)])


def _job(name: str, reader: Reader) -> Job:
    return next(iter(reader.records(Job, name=name)), Job(name=name))
