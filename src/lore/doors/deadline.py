"""deadline: work in a thread that is waited for only so long; the thread goes on, the client is answered."""

import math
from collections.abc import Callable
from typing import TypeVar

import anyio
import anyio.to_thread

T = TypeVar("T")


class Late(Exception):
    """The work did not end in time. begun: whether it had its turn at all."""

    def __init__(self, begun: bool) -> None:
        super().__init__("late")
        self.begun = begun


async def within(seconds: float, turns: anyio.CapacityLimiter, work: Callable[[], T]) -> T:
    """The result of `work`, once it has its turn; Late after `seconds`, of which 0 means no limit.

    Work that has begun is not cut short by anything else: a client that goes does not undo its request.
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
