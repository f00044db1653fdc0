"""Connections to one PostgreSQL database: a pool, transactions of one tenant, and errors in plain words."""

import logging
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, TypeVar
from weakref import WeakValueDictionary

import psycopg
from pgvector.psycopg import register_vector
from psycopg import Connection, errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from lore.errors import Invalid, LoreError, Unavailable
from lore.store.columns import Parameters, Row, Rows
from lore.store.postgres.tables import EVERY_TENANT
from lore.text import without_password

Answer = TypeVar("Answer")

POOL_SIZE = 16
"""Connections of one process at most; half of them may be in a transaction that writes."""
WAIT_SECONDS = 10.0
"""How long a caller waits for a connection, also to a server that is away."""
IDLE_SECONDS = 300.0
CONNECT_SECONDS = 5
KEEP_ALIVE = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
"""A server learns within a minute that this machine is gone, and gives up its locks."""

LIMITS = {
    "statement_timeout": "60s",
    "lock_timeout": "30s",
    "idle_in_transaction_session_timeout": "60s",
    "jit": "off",
}
"""Settings of each transaction: none of them outlives it, so a pooler may share connections among clients."""
BEGIN = "SELECT set_config('lore.tenant', %(tenant)s, true)" + "".join(
    f", set_config('{name}', '{value}', true)" for name, value in LIMITS.items()
)
NO_SETTINGS: Mapping[str, str] = {}
DERIVED = f"{BEGIN}, set_config('synchronous_commit', 'off', true)"
UNLIMITED = (
    "SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true),"
    " set_config('idle_in_transaction_session_timeout', '0', true)"
)
LOST = (
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.IdleInTransactionSessionTimeout,
)

logging.getLogger("psycopg.pool").setLevel(logging.ERROR)  # what it warns of is an error of the caller's


class Connections:
    """Hands out connections, and says in plain words what went wrong.

    Nothing is prepared on the server: a plan then fits the tenant at hand, and a pooler may stand between.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.location = without_password(url)
        self._conninfo = _conninfo(url)
        self._writers = threading.BoundedSemaphore(POOL_SIZE // 2)
        self._turns: WeakValueDictionary[int, _Turn] = WeakValueDictionary()
        self._turning = threading.Lock()
        self._closed = False
        self._pool: ConnectionPool[Connection[Row]] | None = None

    def open_pool(self) -> None:
        """Begin to keep connections; the database has its extension by then."""
        self._pool = ConnectionPool(
            self._conninfo,
            connection_class=Connection[Row],
            min_size=0,
            max_size=POOL_SIZE,
            timeout=WAIT_SECONDS,
            max_idle=IDLE_SECONDS,
            reconnect_timeout=1.0,
            configure=register_vector,
            kwargs={"autocommit": True, "prepare_threshold": None},
            name="lore",
            open=True,
        )

    @contextmanager
    def aside(self) -> Iterator[Connection[Row]]:
        """A connection of its own, for what takes long; nobody waits for it."""
        self._refuse_if_closed()
        with self.plainly(), psycopg.connect(self._conninfo, autocommit=True, prepare_threshold=None) as one:
            yield one

    # --- reading
    def read(
        self,
        tenant: int,
        statement: str,
        parameters: Parameters | Sequence[Any],
        settings: Mapping[str, str] = NO_SETTINGS,
    ) -> list[Row]:
        """The rows of one statement, as this tenant. settings: for the planner, for this statement only."""
        more = "".join(f", set_config('{name}', '{value}', true)" for name, value in settings.items())

        def run(connection: Connection[Row]) -> list[Row]:
            with connection.pipeline():
                connection.execute(BEGIN + more, {"tenant": str(tenant)})
                return connection.execute(statement, parameters).fetchall()

        return self._with_connection(run)

    def reader_of(self, tenant: int) -> Rows:
        """Runs statements as this tenant."""
        return lambda statement, parameters: self.read(tenant, statement, parameters)

    def _with_connection(self, work: Callable[[Connection[Row]], Answer]) -> Answer:
        """Work that may be done again: after a restart of the server every pooled connection is broken."""
        with self.plainly():
            for _ in range(POOL_SIZE):
                with self._connection() as connection:
                    try:
                        return work(connection)
                    except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                        if not connection.broken or isinstance(error, PoolTimeout):
                            raise
            with self._connection() as connection:
                return work(connection)

    @contextmanager
    def _connection(self) -> Iterator[Connection[Row]]:
        self._refuse_if_closed()
        assert self._pool is not None
        connection = self._pool.getconn()
        try:
            yield connection
        finally:
            self._pool.putconn(connection)

    # --- writing
    @contextmanager
    def writing(self, tenant: int, begin: str = BEGIN) -> Iterator[Rows]:
        """One durable transaction: committed when this returns, taken back when the block raises.

        Statements without an answer are sent with the next one that has one.
        """
        with self.plainly(), self._writers, self._begun(tenant, begin) as connection:
            try:
                with connection.pipeline():
                    yield rows_of(connection)
                    connection.execute("COMMIT")
            finally:
                _take_back(connection)

    @contextmanager
    def turn(self, tenant: int) -> Iterator[None]:
        """One writer of a tenant at a time: others of this process wait here, without a connection."""
        with self._turning:
            turn = self._turns.setdefault(tenant, _Turn())
        with turn.lock:
            yield

    def deriving(self, tenant: int) -> AbstractContextManager[Rows]:
        """One transaction of derived state: a crash of the server may lose it."""
        return self.writing(tenant, DERIVED)

    @contextmanager
    def _begun(self, tenant: int, begin: str) -> Iterator[Connection[Row]]:
        def run(connection: Connection[Row]) -> None:
            with connection.pipeline():
                connection.execute("BEGIN")
                connection.execute(begin, {"tenant": str(tenant)})

        for attempt in range(POOL_SIZE + 1):
            with self._connection() as connection:
                try:
                    run(connection)
                except (psycopg.OperationalError, psycopg.InterfaceError):
                    if not connection.broken or attempt == POOL_SIZE:
                        raise
                    continue
                yield connection
                return

    @contextmanager
    def keeping(self, begin: str = "BEGIN") -> Iterator[Connection[Row]]:
        """A transaction on a connection of its own that sees every tenant and has no time limit."""
        with self.aside() as connection:
            connection.execute(begin)
            connection.execute(BEGIN, {"tenant": str(EVERY_TENANT)})
            connection.execute(UNLIMITED)
            register_vector(connection)
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                _take_back(connection)

    # --- the end
    def release(self) -> None:
        """Close idle connections; the next use opens one again."""
        self._refuse_if_closed()
        if self._pool is not None:
            self._pool.drain()

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise Unavailable("this store is closed")

    def close(self) -> None:
        """Close all connections."""
        if not self._closed:
            self._closed = True
            if self._pool is not None:
                self._pool.close()

    @contextmanager
    def plainly(self) -> Iterator[None]:
        """Turn what PostgreSQL says into an error that a person can act on."""
        try:
            yield
        except LoreError:
            raise
        except PoolClosed:
            raise Unavailable("this store is closed") from None
        except (psycopg.DataError, UnicodeEncodeError) as error:
            raise Invalid(f"this cannot be stored: {_said(error)}") from error
        except psycopg.Error as error:
            raise Unavailable(f"{self.location}: {self._explained(error)}") from error

    def _explained(self, error: psycopg.Error) -> str:
        for kinds, explanation in EXPLANATIONS.items():
            if isinstance(error, kinds):
                return explanation
        if isinstance(error, PoolTimeout):
            return f"no connection within {WAIT_SECONDS:.0f} seconds; {self._why()}"
        return self._hidden(_said(error))

    def _why(self) -> str:
        """The reason why nobody can connect at the moment."""
        try:
            psycopg.connect(self._conninfo).close()
        except psycopg.Error as error:
            return self._hidden(_said(error))
        return f"all {POOL_SIZE} are in use"

    def _hidden(self, text: str) -> str:
        """A text without the password."""
        password = str(conninfo_to_dict(self._conninfo).get("password") or "")
        return text.replace(password, "…") if password else text


class _Turn:
    """A lock that disappears with its last user."""

    def __init__(self) -> None:
        self.lock = threading.Lock()


EXPLANATIONS: dict[type[psycopg.Error] | tuple[type[psycopg.Error], ...], str] = {
    errors.DiskFull: "the disk of the server is full; nothing was saved",
    errors.ReadOnlySqlTransaction: "the server is a standby, which cannot be written; use the primary",
    errors.LockNotAvailable: "another writer kept it locked for 30 seconds; nothing was saved",
    errors.QueryCanceled: "the server gave up after 60 seconds; nothing was saved",
    errors.DeadlockDetected: "another writer came between; nothing was saved. Try again",
    LOST: "the server ended the connection; what had not been answered is not saved. Try again",
}


def rows_of(connection: Connection[Row]) -> Rows:
    """Runs statements on a connection; those that give no rows are not waited for."""

    def run(statement: str, parameters: Parameters | Sequence[Any]) -> list[Row]:
        cursor = connection.execute(statement, parameters)
        return cursor.fetchall() if _ANSWERS.search(statement) else []

    return run


_ANSWERS = re.compile(r"^\s*(SELECT\b|WITH\b(?!.*\b(INSERT|UPDATE|DELETE)\b))|\bRETURNING\b", re.DOTALL)


def _take_back(connection: Connection[Row]) -> None:
    """End a transaction that is still open. A broken connection has none."""
    if not connection.closed and connection.info.transaction_status != TransactionStatus.IDLE:
        try:
            connection.execute("ROLLBACK")
        except psycopg.Error:
            connection.close()


def _conninfo(url: str) -> str:
    try:
        given = conninfo_to_dict(url)
        return make_conninfo(
            url, **{**_DEFAULTS, **{name: given[name] for name in _DEFAULTS if name in given}}
        )
    except psycopg.ProgrammingError as error:
        wanted = "write it as postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
        raise Invalid(f"the address of the database cannot be read; {wanted}") from error


_DEFAULTS: dict[str, Any] = {
    "application_name": "lore",
    "connect_timeout": CONNECT_SECONDS,
    "client_encoding": "UTF8",
    **KEEP_ALIVE,
}


def _said(error: Exception) -> str:
    """The first line of an error, without what libpq adds to it."""
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return first.removeprefix("connection failed: ")
