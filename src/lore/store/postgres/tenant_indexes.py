"""TenantIndexes: indexes that tenants earn by their size, each for the rows of one tenant in one table.

An index proposes the candidates of a search; while it is missing, being built or invalid, the search reads
the tenant's rows. Indexes are built and dropped without blocking anyone (CONCURRENTLY), by one process at a
time.
"""

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import psycopg

from lore.health import Finding
from lore.store.columns import Row
from lore.store.postgres.connections import Connections
from lore.store.postgres.tables import DISTRIBUTED, EVERY_TENANT
from lore.supervision import failure_of
from lore.text import listed

LOOK_SECONDS = 300.0
"""How long a process relies on what it knows of the indexes; others build and drop them, too."""
KEPT_SHARE = 0.5
"""Share of the size that earns an index below which it is dropped again."""
MOST_INDEXES = 100
"""Indexes of one kind in one database: the planner looks at each for every statement."""
LEAST_MB, MOST_MB = 64, 1_024
"""Memory for a build."""
LOOKING = "lore-look"
"""The name of the thread that looks."""

logger = logging.getLogger(__name__)

EXISTING = """
    SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indrelid = to_regclass('{table}') AND starts_with(c.relname, '{prefix}') AND {usable}
        ORDER BY 1
"""
MAY_BUILD = """
    SELECT pg_has_role(c.relowner, 'USAGE') AND {usable} AND NOT ({distributed})
        FROM pg_class c WHERE c.oid = to_regclass('{table}')
"""
"""Citus would make the index of one tenant on every shard."""
LARGE = "SELECT s.tenant FROM tenant_state s WHERE s.memories >= %(least)s"
"""A tenant has at most as many memories as its last one has a number."""
NAMES = "SELECT name FROM tenant WHERE number = ANY(%(tenants)s)"
BUILD_SETTINGS = """
    SELECT set_config('maintenance_work_mem', %(memory)s, false), set_config('statement_timeout', '0', false),
        set_config('lock_timeout', '0', false), set_config('max_parallel_maintenance_workers', '0', false)
"""
"""A build takes one core of the server and no shared memory: containers have little of it."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The properties of all indexes of one kind.

    prefix: of their names, before the number of the tenant. title: of the finding. method: of the index.
    without: what a search does without one. usable: a condition in SQL on the server and its extensions.
    """

    table: str
    prefix: str
    title: str
    method: str
    without: str
    usable: str = "true"


class TenantIndex(Protocol):
    """One index of a tenant, or one that it may earn. size: the number of its rows."""

    @property
    def tenant(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def size(self) -> int: ...


Index = TypeVar("Index", bound=TenantIndex)


class TenantIndexes(ABC, Generic[Index]):
    """The indexes of one kind in one database, as one process knows them."""

    kind: Kind

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._look_at = 0.0
        self._building: psycopg.Connection[Row] | None = None

    @abstractmethod
    def earned_at(self) -> int:
        """The size from which an index is built."""

    @abstractmethod
    def counted(self, tenants: Sequence[int]) -> list[Index]:
        """The indexes that these tenants may earn."""

    @abstractmethod
    def build(self, index: Index) -> None:
        """Build one."""

    @abstractmethod
    def look(self) -> None:
        """Learn which indexes are complete."""

    def look_now(self) -> None:
        """Look; the next look is due after LOOK_SECONDS."""
        self._look_at = time.monotonic() + LOOK_SECONDS
        self.look()

    def look_at_times(self) -> None:
        """Look in a thread, the first time and whenever LOOK_SECONDS have passed; callers do not wait."""
        if (now := time.monotonic()) >= self._look_at:
            self._look_at = now + LOOK_SECONDS
            threading.Thread(target=failure_of, args=(self.look,), name=LOOKING, daemon=True).start()

    def tend(self) -> None:
        """Build the indexes that tenants have earned, and drop those that are incomplete or not earned.

        Only one process at a time may. A role that does not own the tables cannot: then nothing happens.
        """
        ((may_build,),) = self.rows(self._stated(MAY_BUILD))
        if not may_build:
            return
        counted = self._counted()
        kept = {one.name for one in counted if one.size >= KEPT_SHARE * self.earned_at()}
        existing = self.existing()
        left = {name for name, complete in existing.items() if complete and name in kept}
        for name in existing.keys() - left:
            self.run(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            logger.info("dropped the index %s", name)
        earned = [one for one in counted if one.size >= self.earned_at() and one.name not in left]
        for one in sorted(earned, key=lambda x: -x.size)[: max(0, MOST_INDEXES - len(left))]:
            logger.info("building the index %s of %s rows", one.name, f"{one.size:,}")
            self.build(one)
            logger.info("built the index %s", one.name)

    def described(self) -> str:
        """The kind and the tenants with a complete index, in a few words; empty if none has one."""
        prefix = self.kind.prefix
        found = {int(name.removeprefix(prefix).partition("_")[0]) for name in self.complete()}
        return f"{self.kind.method} for {self._tenants(found)}" if found else ""

    def finding(self) -> Finding:
        """The tenants with an index, and those that have earned one and wait for it."""
        complete = self.complete()
        earned = [one for one in self._counted() if one.size >= self.earned_at()]
        waiting = {one.tenant for one in earned if one.name not in complete}
        waits = f"; not built yet: {self._tenants(waiting)} ({self.kind.without})" if waiting else ""
        detail = f"{self.described() or f'{self.kind.method} for no tenant'}{waits}"
        return Finding(self.kind.title, True, detail, repairable=True)

    def close(self) -> None:
        """Give up an index that is being built; the next upkeep builds it again."""
        if (building := self._building) is not None:
            building.cancel()

    # --- for the kinds
    def existing(self) -> dict[str, bool]:
        """The names of all indexes, and whether each is complete."""
        return {str(name): bool(valid) for name, valid in self.rows(self._stated(EXISTING))}

    def complete(self) -> set[str]:
        """The names of the indexes that PostgreSQL calls valid."""
        return {name for name, valid in self.existing().items() if valid}

    def run(self, statement: str | psycopg.sql.Composed, megabytes: int = LEAST_MB) -> None:
        """Run a statement that may take long. megabytes: that it may use."""
        with self._connections.aside() as connection:
            self._building = connection
            try:
                connection.execute(BUILD_SETTINGS, {"memory": f"{megabytes}MB"})
                connection.execute(statement)
            finally:
                self._building = None

    def rows(self, statement: str, **parameters: object) -> list[Row]:
        """The rows of a statement that sees every tenant."""
        return self._connections.read(EVERY_TENANT, statement, parameters)

    def _counted(self) -> list[Index]:
        large = self.rows(LARGE, least=int(KEPT_SHARE * self.earned_at()))
        return self.counted([int(tenant) for (tenant,) in large]) if large else []

    def _tenants(self, numbers: Iterable[int]) -> str:
        names = [str(name) for (name,) in self.rows(NAMES, tenants=list(numbers))]
        return listed(name or "the default tenant" for name in names)

    def _stated(self, statement: str) -> str:
        kind = self.kind
        values = {"table": kind.table, "prefix": kind.prefix, "usable": f"({kind.usable})"}
        return statement.format(**values, distributed=DISTRIBUTED)
