"""figures: the calls that a process answers, for the page that shows them: how many, how fast, how well
searches find. They are kept in memory, by hour."""

import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Literal

from lore.model import Answer

HOUR_SECONDS = 3600
HOURS = 48
"""Hours that are kept."""
LAST = 1_000
"""Durations that are kept of each verb and tool, and of each hour."""
PERCENTILES = (50, 95, 99)

Kind = Literal["verb", "tool"]


@dataclass
class Calls:
    """Calls of one verb or tool, or of one hour. durations: of the last ones, in seconds."""

    count: int = 0
    errors: int = 0
    durations: deque[float] = field(default_factory=lambda: deque(maxlen=LAST))

    def add(self, seconds: float, failed: bool) -> None:
        self.count += 1
        self.errors += failed
        self.durations.append(seconds)

    def view(self) -> dict[str, Any]:
        return {"calls": self.count, "errors": self.errors, **percentiles(self.durations)}


@dataclass
class Searches:
    """Searches, those with hits, and the sum of the best scores."""

    count: int = 0
    with_hits: int = 0
    best: float = 0.0

    def add(self, answer: Answer) -> None:
        self.count += 1
        if answer.hits:
            self.with_hits += 1
            self.best += answer.hits[0].score

    def view(self) -> dict[str, Any]:
        return {
            "searches": self.count,
            "with_hits": self.with_hits,
            "without_hits": self.count - self.with_hits,
            "mean_best_score": round(self.best / self.with_hits, 4) if self.with_hits else None,
        }


class Figures:
    """The figures of one process. Safe to share by threads."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = Lock()
        self._since = clock()
        self._calls: dict[tuple[Kind, str], Calls] = {}
        self._hours: dict[int, tuple[Calls, Searches, Counter[str]]] = {}
        self._searches = Searches()

    def called(self, kind: Kind, name: str, seconds: float, *, failed: bool) -> None:
        """Count a call that was answered."""
        with self._lock:
            self._calls.setdefault((kind, name), Calls()).add(seconds, failed)
            calls, _, names = self._hour()
            calls.add(seconds, failed)
            names[name] += 1

    @contextmanager
    def calling(self, kind: Kind, name: str) -> Iterator[None]:
        """Count what happens in the block as a call; it failed if that raises an error."""
        began, failed = time.perf_counter(), True
        try:
            yield
            failed = False
        finally:
            self.called(kind, name, time.perf_counter() - began, failed=failed)

    def searched(self, answer: Answer) -> None:
        """Count a search."""
        with self._lock:
            self._searches.add(answer)
            self._hour()[1].add(answer)

    def view(self) -> dict[str, Any]:
        """All figures as plain values; calls by number, hours oldest first."""
        with self._lock:
            calls = sorted(self._calls.items(), key=lambda item: -item[1].count)
            return {
                "since": self._since,
                "calls": [{"kind": kind, "name": name, **one.view()} for (kind, name), one in calls],
                "search": self._searches.view(),
                "hours": [
                    {"at": hour * HOUR_SECONDS, **calls.view(), **searches.view(), "names": dict(names)}
                    for hour, (calls, searches, names) in sorted(self._hours.items())
                ],
            }

    def _hour(self) -> tuple[Calls, Searches, Counter[str]]:
        hour = int(self._clock() // HOUR_SECONDS)
        if hour not in self._hours:
            self._hours = {old: one for old, one in self._hours.items() if hour - HOURS < old <= hour}
            self._hours[hour] = (Calls(), Searches(), Counter())
        return self._hours[hour]


def percentiles(seconds: Iterable[float]) -> dict[str, float | None]:
    """p50_ms, p95_ms and p99_ms: the times within which these shares of calls were answered."""
    ordered = sorted(seconds)
    return {
        f"p{share}_ms": round(ordered[math.ceil(share / 100 * len(ordered)) - 1] * 1000, 2)
        if ordered
        else None
        for share in PERCENTILES
    }
