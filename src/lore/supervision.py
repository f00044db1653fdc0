"""supervision: work that may fail in any way and is tried again, after a pause that grows with each failure.

This is one of the two places that catch every exception: a process with many clients survives all errors.
"""

import logging
from collections.abc import Awaitable, Callable

from lore.errors import LoreError

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0

logger = logging.getLogger(__name__)


def failure_of(work: Callable[[], object]) -> Exception | None:
    """Run the work; the exception that it raised, None if it raised none."""
    try:
        work()
    except Exception as error:
        return error
    return None


async def async_failure_of(work: Callable[[], Awaitable[object]]) -> Exception | None:
    """Like `failure_of`, for a coroutine function."""
    try:
        await work()
    except Exception as error:
        return error
    return None


def reason(error: Exception) -> str:
    """One line for people: the message of an error, with its type if Lore did not raise it on purpose."""
    message = " ".join(str(error).split())
    return message if isinstance(error, LoreError) else f"{type(error).__name__}: {message}"


class Service:
    """Work that goes on as long as its process.

    trouble: reason of the last failure; empty after a success. failures: number of failures in a row.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.trouble = ""
        self.failures = 0

    def works(self) -> None:
        """Note a success."""
        if self.failures:
            logger.info("%s works again", self.name)
        self.trouble, self.failures = "", 0

    def failed(self, error: Exception) -> float:
        """Note a failure, and log it if the reason is new; the seconds to wait before the next attempt."""
        why = reason(error)
        if why != self.trouble:
            unexpected = not isinstance(error, LoreError | OSError)
            message = "%s failed and is tried again: %s"
            logger.warning(message, self.name, why, exc_info=error if unexpected else None)
        self.trouble = why
        self.failures += 1
        return pause_after(self.failures, FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS)


def pause_after(failures: int, first: float, longest: float) -> float:
    """Seconds: `first` after one failure, twice as long after each further one, at most `longest`."""
    return min(longest, first * 2.0 ** min(failures - 1, 32))
