"""schedule: when to consolidate: at intervals, at a backlog of sessions, and before a daemon exits.

`due` is pure: the state of the schedule and the time give the decision. `Schedule` reads that state from a
Lore and runs what is due. `Schedules` does so for every namespace of a store; a daemon only calls it.
"""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from lore.engine import Lore
from lore.engine.consolidate.backlog import recent_turns, worth_trying
from lore.engine.consolidation_run import REGULAR_JOB, ConsolidationRun, Ended
from lore.engine.jobs import Jobs
from lore.engine.read import last_change
from lore.errors import LoreError
from lore.health import Staged
from lore.store.records import SyncMark
from lore.supervision import failure_of

FIRST_SECONDS = 60.0
"""Seconds after the start of a process before its first regular run: clients are served first."""
RETRY_SECONDS = 900.0
"""Seconds after which a run that failed is tried again."""
BACKLOG = 32
"""With more memories than this waiting to be embedded, embedding comes first."""

logger = logging.getLogger(__name__)

Attempted = frozenset[tuple[str, int]]
"""Sessions with their number of turns, as the last run left them."""


class Due(Enum):
    """NO: not now. IF_CLAIMED: if this process can claim the regular job of the store. NOW: without a
    claim."""

    NO = "no"
    IF_CLAIMED = "if claimed"
    NOW = "now"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleState:
    """Everything on which the decision depends; times are seconds since 1970.

    interval: seconds between two regular runs; 0: only on request. enough_sessions: number of quiet sessions
    that do not wait for the interval to pass; 0: they always do. started_at: start of this process. written:
    whether the store has ever been written to. pending: memories that wait to be embedded. staged: sessions
    with turns to digest. recent_turns: turns of each session within the idle threshold. attempted: sessions
    that the last run left undigested. exiting: the process exits once nothing is ready.
    """

    interval: float
    enough_sessions: int
    started_at: float
    written: bool = True
    pending: int = 0
    staged: Sequence[Staged] = ()
    recent_turns: Mapping[str, int]
    attempted: Attempted = frozenset()
    exiting: bool = False


def due(state: ScheduleState, now: float) -> Due:
    """Whether to consolidate now."""
    if state.interval <= 0 or not state.written or state.pending > BACKLOG:
        return Due.NO
    quiet = len(ready(state, now))
    if state.exiting and quiet:
        return Due.NOW
    if 0 <= now - state.started_at < min(FIRST_SECONDS, state.interval):
        return Due.NO
    return Due.NOW if 0 < state.enough_sessions <= quiet else Due.IF_CLAIMED


def waiting(state: ScheduleState, now: float) -> list[Staged]:
    """Sessions to digest, without those that rest after a failure or that the last run left."""
    return [one for one in state.staged if worth_trying(one, now) and _key(one) not in state.attempted]


def ready(state: ScheduleState, now: float) -> list[Staged]:
    """The waiting sessions that have been quiet for long enough."""
    return [one for one in waiting(state, now) if not state.recent_turns.get(one.session.id)]


class Schedule:
    """The consolidations of one namespace in this process. trouble: the reason why the last run failed; empty
    if it did not."""

    def __init__(self, lore: Lore, started_at: float | None = None) -> None:
        """started_at: of this process; now if None."""
        settings = lore.tuning
        self._lore = lore
        self._state = ScheduleState(
            interval=settings.consolidation_interval,
            enough_sessions=settings.idle_sessions,
            started_at=lore.clock() if started_at is None else started_at,
            recent_turns={},
        )
        self._run: ConsolidationRun | None = None
        self._ended = False
        self.trouble = ""

    @property
    def enabled(self) -> bool:
        """Whether consolidation happens without a request at all."""
        return self._state.interval > 0

    @property
    def running(self) -> bool:
        return self._run is not None

    def due(self) -> bool:
        """Whether to `run` now. True is returned once for each claim of the regular job."""
        if self._ended:
            return False
        lore, now = self._lore, self._lore.clock()
        state = replace(
            self._state,
            written=last_change(lore.store.reader(lore.namespace, lore.tenant)) is not None,
            pending=0 if lore.embeddings.trouble else self._pending(),
        )
        if state.exiting or due(state, now) is not Due.NO:
            state = self._with_sessions(state, now)
        decision = due(state, now)
        if decision is Due.IF_CLAIMED:
            longest = max(RETRY_SECONDS, self._state.interval)
            jobs = Jobs(lore.store, lore.namespace, lore.tenant)
            return jobs.claim(REGULAR_JOB, now, now + RETRY_SECONDS, longest) is not None
        return decision is Due.NOW

    def needed_before_exit(self) -> bool:
        """Whether sessions are left to digest; from now on they do not wait for more of them."""
        self._state = replace(self._state, exiting=True)
        now = self._lore.clock()
        return self.enabled and (self.running or bool(waiting(self._with_sessions(self._state, now), now)))

    def run(self) -> None:
        """Consolidate and log the result. Returns whatever goes wrong."""
        began_at = self._lore.clock()
        self._run = run = ConsolidationRun(self._lore)
        if self._ended:
            run.end()
        error = failure_of(lambda: _log_report(run))
        self._run = None
        self.trouble = "" if error is None or isinstance(error, Ended) else str(error) or repr(error)
        if isinstance(error, Ended):
            logger.info("consolidation ended %s", error)
        elif isinstance(error, LoreError):
            logger.warning("consolidation will be tried again: %s", error)
        elif error is not None:
            logger.error("consolidation failed", exc_info=error)
        self._state = replace(self._state, exiting=False, attempted=frozenset())
        left = ready(self._with_sessions(self._state, began_at), began_at)
        self._state = replace(self._state, attempted=frozenset(map(_key, left)))

    def end(self) -> None:
        """Finish the current step of a run; the rest is for the next time."""
        self._ended = True
        if (run := self._run) is not None:
            run.end()

    def _pending(self) -> int:
        """Memories that must be embedded before a run."""
        return self._lore.pending()

    def _with_sessions(self, state: ScheduleState, now: float) -> ScheduleState:
        """The state with the sessions of the store; reading them takes longer than all the rest."""
        staged = self._lore.staged()
        recent = recent_turns(now, self._lore.tuning.idle_threshold)
        ids = [one.session.id for one in staged]
        turns = self._lore.count_below(ids, recent) if ids else {}
        return replace(state, staged=staged, recent_turns=turns)


class Schedules:
    """A schedule for each namespace of each tenant; one run at a time. They begin with the Lore's own.

    A namespace that is the copy of a server's has none: the server consolidates it.
    """

    def __init__(self, lore: Lore) -> None:
        self._lore = lore
        self._due = Schedule(lore)
        self._schedules = {(lore.tenant, lore.namespace): self._due}
        self._ended = False

    @property
    def enabled(self) -> bool:
        """Whether consolidation happens without a request at all."""
        return self._due.enabled

    @property
    def running(self) -> bool:
        return self._due.running

    @property
    def trouble(self) -> str:
        """The reason why the last run of a namespace failed; empty if none did."""
        return next((one.trouble for one in list(self._schedules.values()) if one.trouble), "")

    def due(self) -> bool:
        """Whether to `run` now."""
        if self._ended:
            return False
        store = self._lore.store
        for tenant, namespace in store.namespaces():
            if (tenant, namespace) in self._schedules:
                continue
            if not store.reader(namespace, tenant).records(SyncMark, direction="pull"):
                lore = replace(self._lore, tenant=tenant, namespace=namespace)
                self._schedules[tenant, namespace] = Schedule(lore)
        found = next((one for one in self._schedules.values() if one.due()), None)
        self._due = found or self._due
        return found is not None

    def needed_before_exit(self) -> bool:
        """Whether sessions are left to digest; from now on they do not wait for more of them."""
        return any([one.needed_before_exit() for one in list(self._schedules.values())])

    def run(self) -> None:
        """Consolidate the namespace that was due, and log the result. Returns whatever goes wrong."""
        self._due.run()

    def end(self) -> None:
        """Finish the current step of a run; the rest is for the next time."""
        self._ended = True
        for one in list(self._schedules.values()):
            one.end()


def _log_report(run: ConsolidationRun) -> None:
    report = run.run()
    counts = ", ".join(f"{name} {count}" for name, count in report.counts.items()) or "nothing new"
    logger.info("consolidated in %.1f s: %s", report.seconds, counts)
    for remark in report.remarks:
        logger.warning("%s", remark)


def _key(one: Staged) -> tuple[str, int]:
    return one.session.id, one.turns
