"""dial: connect a relay to the daemon, starting one if needed, in a thread beside the relay."""

import _thread
import sys

from lore import lazy
from lore.doors.endpoint import Connection, Endpoint, Hung, Reply, socket_pair
from lore.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

TRIES = 5
"""Number of daemons that may end before one has answered."""


class NoDaemon(Exception):
    """There is no connection to the daemon; the message says why."""


class Dialer:
    """Connects one client. fields: of its handshake. repeatable: names of the tools that may be called
    twice."""

    def __init__(self, endpoint: Endpoint, fields: dict[str, str]) -> None:
        self._endpoint = endpoint
        self._fields = fields
        self.repeatable = ""

    def connect(self) -> Connection:
        """A connection to a daemon of this version or a newer one; NoDaemon if there is none."""
        connection, word, reply = self._dial()
        if word == "welcome" and reply["version"] != VERSION and lazy.starting.is_older(reply["version"]):
            connection.close()
            self._prepare(lazy.starting.renew)
            connection, word, reply = self._dial()
        if word != "welcome":
            connection.close()
            raise NoDaemon(reply.get("error", word))
        self.repeatable = reply["repeatable"]
        for warning in reply.get("warnings", "").splitlines():
            sys.stderr.write(f"lore-mcp: {warning}\n")
        return connection

    def _dial(self) -> Reply:
        """The reply of the daemon that runs, or of one that is started; again if that one ends before."""
        for _ in range(TRIES):
            try:
                return self._endpoint.dial("mcp", self._fields)
            except Hung as error:
                raise NoDaemon(str(error)) from error
            except OSError:
                if (reply := self._serve_alone()) is not None:
                    return reply
                self._prepare(lazy.starting.start)
        raise NoDaemon("the daemon ends as soon as it has begun; see `lore daemon logs`")

    def _serve_alone(self) -> Reply | None:
        """The reply of a server of our own where no daemon can run because nothing can be written; else
        None."""
        if lazy.starting.is_writable(self._endpoint):
            return None
        try:
            return lazy.starting.serve_alone(self._endpoint, "mcp", self._fields)
        except OSError:
            return None

    def _prepare(self, step: "Callable[[Endpoint], object]") -> None:
        try:
            step(self._endpoint)
        except (lazy.errors.LoreError, OSError) as error:
            raise NoDaemon(str(error)) from error


class Attempt:
    """One run of `Dialer.connect` in a second thread, so that the relay can listen to its agent.

    ended: a socket that becomes readable when the run has ended. connection: its result, if there is one.
    trouble: otherwise the reason.
    """

    def __init__(self, dialer: Dialer) -> None:
        self.ended, self._running = socket_pair()
        self.connection: Connection | None = None
        self.trouble = "connecting to the daemon failed unexpectedly; stderr has the details"
        _thread.start_new_thread(self._run, (dialer,))

    def _run(self, dialer: Dialer) -> None:
        try:
            self.connection = dialer.connect()
        except NoDaemon as error:
            self.trouble = str(error)
        finally:
            self._running.close()
