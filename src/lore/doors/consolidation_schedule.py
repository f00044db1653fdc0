"""consolidation_schedule: when a daemon consolidates: at intervals, at a backlog, and before it idles."""

import logging
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from lore.doors.consolidation_run import ConsolidationRun, Ended, regular
from lore.engine import Lore
from lore.engine.consolidation_backlog import lately, worth_trying
from lore.errors import LoreError
from lore.health import Staged

FIRST_SECONDS = 60.0
"""A daemon that has just begun has others to serve."""
RETRY_SECONDS = 900.0
"""After how long one that failed is tried again."""
BACKLOG = 32
"""With more memories waiting to be embedded than this, those come first."""

logger = logging.getLogger(__name__)


class ConsolidationSchedule:
    """The consolidations of one daemon: is one due, and what came of it."""

    def __init__(self, lore: Lore) -> None:
        self._lore = lore
        self._interval = lore.tuning.consolidation_interval
        self._begun_at = lore.clock()
        self._hurried = False
        self._night: ConsolidationRun | None = None
        self._ended = threading.Event()
        self._left: frozenset[tuple[str, int]] = frozenset()
        self.trouble = ""
        """The reason why the last run failed; empty if it did not."""

    @property
    def wanted(self) -> bool:
        """Whether it is to happen unasked at all."""
        return self._interval > 0

    @property
    def at_work(self) -> bool:
        return self._night is not None

    def due(self) -> bool:
        """Whether it is time, and there is time. True is not said twice of the same occasion."""
        store, now = self._lore.store, self._lore.clock()
        if self._ended.is_set() or self._laden() or store.last_write_at() is None:
            return False
        if self._hurried and self._ready(now):
            return True
        if 0 <= now - self._begun_at < min(FIRST_SECONDS, self._interval):
            return False
        longest = max(RETRY_SECONDS, self._interval)
        if store.claim(regular(self._lore), now, now + RETRY_SECONDS, longest) is not None:
            return True
        return 0 < self._lore.tuning.idle_sessions <= len(self._ready(now))

    def keeps_awake(self) -> bool:
        """Whether there is something to digest before dozing; from now on that does not wait for others."""
        self._hurried = True
        return self.wanted and (self.at_work or bool(self._waiting(self._lore.clock())))

    def sleep(self) -> None:
        """Consolidate, and say in the log what came of it; whatever goes wrong, it returns."""
        self._hurried = False
        began_at = self._lore.clock()
        self._night = night = ConsolidationRun(self._lore)
        if self._ended.is_set():
            night.end()
        with ThreadPoolExecutor(1, thread_name_prefix="lore-night") as thread:
            running = thread.submit(night.run)
            trouble = running.exception()
        self._night = None
        self.trouble = "" if trouble is None or isinstance(trouble, Ended) else str(trouble) or repr(trouble)
        if trouble is None:
            report = running.result()
            amount = ", ".join(f"{name} {count}" for name, count in report.counts.items()) or "nothing new"
            logger.info("consolidated in %.1f s: %s", report.seconds, amount)
            _warn(report.remarks)
        elif isinstance(trouble, Ended):
            logger.info("consolidation ended %s", trouble)
        elif isinstance(trouble, LoreError):
            logger.warning("consolidation will be tried again: %s", trouble)
        else:
            logger.error("consolidation failed", exc_info=trouble)
        self._left = frozenset()
        self._left = frozenset(map(_state, self._ready(began_at)))

    def end(self) -> None:
        """Finish the step at hand; the rest is for the next time."""
        self._ended.set()
        if (night := self._night) is not None:
            night.end()

    def _laden(self) -> bool:
        sense = self._lore.sense
        return not sense.trouble and self._lore.store.pending(sense.model) > BACKLOG

    def _ready(self, now: float) -> list[Staged]:
        """Those of the waiting that have been quiet for long enough."""
        waiting = self._waiting(now)
        recent_turns = lately(now, self._lore.tuning.idle_threshold)
        busy = self._lore.count_below([one.session.id for one in waiting], recent_turns)
        return [one for one in waiting if not busy[one.session.id]]

    def _waiting(self, now: float) -> list[Staged]:
        """The conversations to digest; not those that failed and rest, nor what the last run has left."""
        return [
            one for one in self._lore.staged() if worth_trying(one, now) and _state(one) not in self._left
        ]


def _state(one: Staged) -> tuple[str, int]:
    return one.session.id, one.turns


def _warn(remarks: Iterable[str]) -> None:
    for remark in remarks:
        logger.warning("%s", remark)
