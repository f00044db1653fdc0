"""shared_schedule: the consolidations of a store that many processes share, one namespace at a time.

Each process claims the namespace whose upkeep is due for longest, and looks whether to consolidate it. The
record of that job says when the next look is due; a process that is killed delays it by one lease.
"""

from dataclasses import replace

from typing_extensions import override

from lore.engine import Lore
from lore.engine.background import Sweep
from lore.engine.consolidate.backlog import to_embed
from lore.engine.consolidation_run import LEASE_SECONDS, REGULAR_JOB, RUNNING_JOB
from lore.engine.jobs import Jobs, is_due
from lore.engine.read import last_change
from lore.engine.schedule import RETRY_SECONDS, Schedule, waiting
from lore.store import SharedStore
from lore.store.records import UPKEEP_JOB, Job, SyncMark

SOON_SECONDS = 60.0
"""Seconds until the next look at a namespace that waits for its vectors or is consolidated elsewhere."""
LONGEST_SECONDS = 7 * 86400.0
"""The longest time between two runs of a namespace that nobody changes."""


class ClaimedSchedule(Schedule):
    """The schedule of a namespace that this process has claimed. Only its own memories must be embedded."""

    def __init__(self, lore: Lore) -> None:
        super().__init__(lore, started_at=0.0)
        self._reader = lore.store.reader(lore.namespace, lore.tenant)
        self._jobs = Jobs(lore.store, lore.namespace, lore.tenant)
        self._is_copy = False

    @override
    def _pending(self) -> int:
        return to_embed(self._lore).pending()

    @override
    def due(self) -> bool:
        """Whether to `run` now: not while another process does, and never for a copy of a server's."""
        self._is_copy = bool(self._reader.records(SyncMark, direction="pull"))
        alone = is_due(self._job(RUNNING_JOB), self._lore.clock(), LEASE_SECONDS)
        return alone and not self._is_copy and super().due()

    def sweep(self) -> None:
        """Suggest links, if that is due."""
        one = Sweep(self._jobs, self._lore.embeddings, self._lore.tuning)
        one.finish(self._lore.clock, lambda: self._ended)

    def plan_next(self) -> None:
        """Record when the next look is due."""
        now = self._lore.clock()
        self._jobs.schedule(UPKEEP_JOB, now, now + self._wait(now))

    def _wait(self, now: float) -> float:
        """Seconds until the next look. A change moves it ahead."""
        if self.trouble or self._is_copy:
            return LONGEST_SECONDS if self._is_copy else RETRY_SECONDS
        regular = self._job(REGULAR_JOB)
        left = max(regular.due_at, regular.claimed_until) - now
        if left <= 0 or self._ended:
            return SOON_SECONDS
        sessions = len(waiting(self._with_sessions(self._state, now), now))
        if 0 < self._state.enough_sessions <= sessions:
            return min(left, max(SOON_SECONDS, self._lore.tuning.idle_threshold))
        changed = last_change(self._reader)
        if changed is None or changed.at >= regular.done_at:
            return left
        return max(left, min(LONGEST_SECONDS, now - changed.at))

    def _job(self, name: str) -> Job:
        return next(iter(self._reader.records(Job, name=name)), Job(name=name))


class SharedSchedules:
    """See `Schedules`, for a store that many processes share. trouble: why the last run failed."""

    def __init__(self, lore: Lore, store: SharedStore) -> None:
        self._lore = lore
        self._store = store
        self._claimed: ClaimedSchedule | None = None
        self._ended = False
        self.trouble = ""

    @property
    def enabled(self) -> bool:
        """Whether consolidation happens without a request at all."""
        return self._lore.tuning.consolidation_interval > 0

    @property
    def running(self) -> bool:
        return self._claimed is not None and self._claimed.running

    def due(self) -> bool:
        """Claim namespaces until one is to `run` now; False: none is."""
        while not self._ended:
            now = self._lore.clock()
            place = self._store.claim_due(UPKEEP_JOB, now, now + LEASE_SECONDS)
            if place is None:
                return False
            tenant, namespace = place
            self._claimed = ClaimedSchedule(replace(self._lore, tenant=tenant, namespace=namespace))
            if self._claimed.due():
                return True
            self._claimed.plan_next()
        return False

    def needed_before_exit(self) -> bool:
        """Whether this process must not end yet: never, the others go on."""
        return False

    def run(self) -> None:
        """Consolidate the namespace that was claimed, and log the result. Returns whatever goes wrong."""
        claimed = self._claimed
        if claimed is None:
            return
        claimed.run()
        self.trouble = claimed.trouble
        claimed.sweep()
        claimed.plan_next()

    def end(self) -> None:
        """Finish the current step of a run; the rest is for the next time."""
        self._ended = True
        if self._claimed is not None:
            self._claimed.end()
