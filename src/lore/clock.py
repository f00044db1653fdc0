"""A clock that only moves when told to: for stories that span months and tests that must not wait."""

from datetime import UTC, datetime


class Clock:
    """Callable like time.time; `sleep` is how its time passes."""

    def __init__(self, start: str = "2026-01-01T00:00:00") -> None:
        self._now = datetime.fromisoformat(start).replace(tzinfo=UTC).timestamp()

    def __call__(self) -> float:
        return self._now

    def sleep(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> None:
        """Let time pass; a negative amount turns the clock back."""
        self._now += ((days * 24 + hours) * 60 + minutes) * 60 + seconds
