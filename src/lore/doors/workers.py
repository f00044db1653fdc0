"""workers: the threads in which a process does the work of its clients, each piece with a time limit."""

from collections.abc import Callable
from typing import TypeVar

import anyio

from lore.doors.streams import Late, within

READING, WRITING = 2, 2
"""Calls of all clients that run at a time: more would only compete for the interpreter."""

UNFINISHED = "{what} took longer than {seconds:g} seconds and was given up. Ask for less, or try again later."
UNKNOWN = (
    "{what} has not ended after {seconds:g} seconds. It may still be done: look for the result before you try"
    " again."
)
NOT_BEGUN = (
    "{what} was not begun within {seconds:g} seconds: Lore is busy with other requests. Nothing was done; try"
    " again later."
)

T = TypeVar("T")


class Workers:
    """The threads that all clients of a process share. Reading calls do not wait for writing ones."""

    def __init__(self) -> None:
        self._reading = anyio.CapacityLimiter(READING)
        self._writing = anyio.CapacityLimiter(WRITING)

    async def run(self, work: Callable[[], T], seconds: float, *, reading: bool) -> T:
        """The result of `work` in a thread; Late after `seconds` (0: no limit)."""
        return await within(seconds, self._reading if reading else self._writing, work)


def late_text(late: Late, what: str, seconds: float, *, reading: bool) -> str:
    """What a caller is told of a call that did not end in time: whether it may have been done."""
    text = (UNFINISHED if reading else UNKNOWN) if late.begun else NOT_BEGUN
    return text.format(what=what, seconds=seconds)
