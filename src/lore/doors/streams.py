"""streams: lines of a stream, and work with a time limit; without the MCP library, which takes a second to
load."""

import math
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

import anyio
import anyio.to_thread
from anyio.abc import ByteStream

from lore.doors.protocol import LONGEST_LINE, Lines

FINISH_SECONDS = 10.0
"""Longest time for requests that have begun when the stream ends."""
GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)

T = TypeVar("T")


class Late(Exception):
    """Work did not end in time. begun: whether it had begun."""

    def __init__(self, begun: bool) -> None:
        super().__init__("late")
        self.begun = begun


async def within(seconds: float, turns: anyio.CapacityLimiter, work: Callable[[], T]) -> T:
    """The result of `work` in a thread, once `turns` lets it begin; Late after `seconds` (0: no limit).

    The thread goes on after that, and a client that goes does not interrupt work that has begun.
    """
    end = anyio.current_time() + seconds if seconds else math.inf
    with anyio.CancelScope(deadline=end) as waiting:
        async with turns:
            waiting.deadline = math.inf
            with anyio.CancelScope(shield=True, deadline=end):
                return await anyio.to_thread.run_sync(
                    work, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1)
                )
            raise Late(begun=True)
    raise Late(begun=False)


async def lines(stream: ByteStream, data: bytes = b"") -> AsyncIterator[bytes]:
    """The lines of a stream until it ends; a line that is too long comes as a `Cut`.

    data: bytes that were received before. Empty lines are left out, and a last one without an end.
    """
    split = Lines(LONGEST_LINE)
    while True:
        whole, cut = split.feed(data)
        for line in [*cut, *whole.split(b"\n")]:
            if line.strip():
                yield line
        try:
            data = await stream.receive()
        except GONE:
            return


async def cancel_when(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()
