"""attempt: connect to the daemon in a second thread, so that the relay can listen to its agent meanwhile."""

import _thread

from lore.doors.endpoint import Connection, socket_pair

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


class Trouble(Exception):
    """There is no connection to the daemon; the message says why."""


class Attempt:
    """One run of `dial`.

    ended: a socket that becomes readable when `dial` has returned. line: the connection, if there is one by
    then. trouble: otherwise the reason.
    """

    def __init__(self, dial: "Callable[[], Connection]") -> None:
        self.ended, self._running = socket_pair()
        self.line: Connection | None = None
        self.trouble = "connecting to the daemon failed unexpectedly; stderr has the details"
        _thread.start_new_thread(self._run, (dial,))

    def _run(self, dial: "Callable[[], Connection]") -> None:
        try:
            self.line = dial()
        except Trouble as trouble:
            self.trouble = str(trouble)
        finally:
            self._running.close()
