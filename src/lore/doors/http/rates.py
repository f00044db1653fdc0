"""rates: how many requests each caller may send: a bucket of tokens per key, filled at a steady rate."""

import time
from collections import OrderedDict
from collections.abc import Callable

from lore.doors.http.callers import TooMany

MOST_KEYS = 10_000
"""Buckets that are kept; the one used longest ago is dropped, so its caller starts with a full one."""
FULL_SECONDS = 60.0
"""A full bucket holds the requests of this time."""


class Rates:
    """per_minute: requests of one key; 0: no limit."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_minute / 60
        self._size = self._per_second * FULL_SECONDS
        self._clock = clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """Key -> the requests that were left at a time."""

    def take(self, key: str) -> None:
        """Count one request; TooMany if none is left."""
        if not self._per_second:
            return
        now = self._clock()
        left, at = self._buckets.pop(key, (self._size, now))
        left = min(self._size, left + (now - at) * self._per_second)
        allowed = left >= 1
        self._buckets[key] = (left - 1 if allowed else left, now)
        if len(self._buckets) > MOST_KEYS:
            self._buckets.popitem(last=False)
        if not allowed:
            raise TooMany((1 - left) / self._per_second)
