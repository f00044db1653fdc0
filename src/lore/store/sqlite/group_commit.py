"""group_commit: writers of one process take turns; those that queue up share one commit."""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

import apsw

from lore.errors import Unavailable

LONGEST_SECONDS = 0.02
"""How long a group stays open for those who are in line, beyond the block at hand."""


@dataclass(frozen=True, slots=True)
class _Group:
    """One transaction of several members; `outcome` is there when it was committed, or could not be."""

    connection: apsw.Connection
    begun_at: float = field(default_factory=time.monotonic)
    outcome: "Future[None]" = field(default_factory=Future)


class GroupCommit:
    """One block at a time. A shared block is a savepoint in the transaction of its group.

    Whoever ends a block leaves the commit to the next in line, if there is one and the group is young. A
    member returns when the group is committed, and raises if it could not be; a block that raises takes back
    its own work only. A member that waits too long commits itself, so nobody depends on who comes next.
    """

    def __init__(
        self,
        longest_seconds: float = LONGEST_SECONDS,
        committed: Callable[[apsw.Connection], None] = lambda connection: None,
        failed: Callable[[], None] = lambda: None,
    ) -> None:
        """committed: is called after each commit of a group, before its members return.

        failed: is called in the turn in which the connection failed, after all of its group was taken back.
        """
        self._longest_seconds = longest_seconds
        self._committed = committed
        self._failed = failed
        self._turn = threading.RLock()
        self._counting = threading.Lock()
        self._in_line = 0
        self._taken = False
        self._group: _Group | None = None

    @contextmanager
    def shared(self, opened: Callable[[], apsw.Connection]) -> Iterator[apsw.Connection]:
        """A block of a durable transaction, on the connection that `opened` gives or refuses."""
        group: _Group | None = None
        try:
            with self._queued():
                try:
                    connection = opened()
                    group = self._group = self._group or _begun(connection)
                    with self._part(group):
                        yield connection
                finally:
                    if not self._worth_waiting():
                        self._commit()
        finally:
            if group is not None:
                self._await(group)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """A turn that shares nothing: what others have begun is committed first."""
        with self._turn, self._taking():
            self._commit()
            yield

    @contextmanager
    def last(self) -> Iterator[None]:
        """The same for the end of all turns, which may come in the middle of one."""
        with self._turn:
            if not self._taken:
                self._commit()
            yield

    @contextmanager
    def _queued(self) -> Iterator[None]:
        self._count(1)
        try:
            self._turn.acquire()
        finally:
            self._count(-1)
        try:
            with self._taking():
                yield
        finally:
            self._turn.release()

    @contextmanager
    def _taking(self) -> Iterator[None]:
        if self._taken:
            raise Unavailable("this thread is in a transaction already; it cannot begin another one inside")
        self._taken = True
        try:
            yield
        finally:
            self._taken = False

    def _count(self, change: int) -> None:
        with self._counting:
            self._in_line += change

    def _worth_waiting(self) -> bool:
        """Whether somebody is in line who may take part, and will commit."""
        group = self._group
        if group is None or not self._in_line or not group.connection.in_transaction:
            return False
        return time.monotonic() - group.begun_at < self._longest_seconds

    def _commit(self) -> None:
        """In a turn: end the group, if there is one, and tell its members."""
        group, self._group = self._group, None
        if group is None or group.outcome.done():
            return
        try:
            group.connection.execute("COMMIT")
        except apsw.Error as error:
            with suppress(apsw.Error):
                group.connection.execute("ROLLBACK")
            group.outcome.set_exception(error)
            self._failed()
        else:
            with suppress(apsw.Error):  # it is committed, whatever comes of this
                self._committed(group.connection)
            group.outcome.set_result(None)

    def _await(self, group: _Group) -> None:
        while True:
            with suppress(TimeoutError):
                return group.outcome.result(self._longest_seconds)
            with self._turn:
                if self._group is group and not self._taken:
                    self._commit()

    @contextmanager
    def _part(self, group: _Group) -> Iterator[None]:
        """A block that can be taken back alone; where everything is taken back, all members are told.

        After an error of the disk everything is: SQLite's text index keeps an outdated idea of itself in a
        connection whose statement failed half-way, and the next write with that would damage the index.
        """
        connection, kept, failed = group.connection, False, False
        failure: Exception = Unavailable(
            "a write of the same moment could not be taken back; nothing was saved"
        )
        connection.execute("SAVEPOINT part")
        try:
            yield
            connection.execute("RELEASE part")
            kept = True
        except apsw.Error as error:
            failure, failed = error, not isinstance(error, apsw.ConstraintError)
            raise
        finally:
            if not kept and not _taken_back(connection, failed):
                group.outcome.set_exception(failure)
                self._failed()


def _begun(connection: apsw.Connection) -> _Group:
    connection.execute("BEGIN IMMEDIATE")
    return _Group(connection)


def _taken_back(connection: apsw.Connection, failed: bool) -> bool:
    """Whether it was this part alone; otherwise (SQLite may do so itself) it was everything."""
    if not failed:
        with suppress(apsw.Error):
            connection.execute("ROLLBACK TO part")
            connection.execute("RELEASE part")
            return True
    with suppress(apsw.Error):
        connection.execute("ROLLBACK")
    return False
