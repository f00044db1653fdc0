"""VectorIndexes: an HNSW index for each tenant that has earned one by the number of its vectors.

An index covers the vectors of one tenant and one model. It proposes the candidates of a wide search (see
`Nearest`); while it is missing, being built or invalid, a search compares all vectors. Indexes are built and
dropped without blocking anyone (CONCURRENTLY), by one process at a time.
"""

import hashlib
import logging
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import psycopg

from lore.health import Finding
from lore.store.columns import Parameters, Row
from lore.store.postgres.connections import Connections
from lore.store.postgres.tables import EVERY_TENANT
from lore.supervision import failure_of
from lore.text import listed

EARNED_AT = 50_000
"""Vectors of one tenant and model from which an index is built. Below, comparing all is as quick."""
LOOK_SECONDS = 300.0
"""How long a process relies on what it knows of the indexes; others build and drop them, too."""
KEPT_SHARE = 0.5
"""Share of EARNED_AT below which an index is dropped again."""
MOST_INDEXES = 100
"""Indexes in one database: the planner looks at each for every statement."""
COVERED_SHARE = 0.5
"""Share of an index's vectors that a reader must see to use it; for fewer, comparing all loses none."""
NEIGHBOURS, BUILD_CANDIDATES = 32, 128
"""m and ef_construction of the index."""
SEARCH_CANDIDATES, MOST_CANDIDATES = 400, 1_000
"""ef_search: at least, and the limit of pgvector."""
LINK_BYTES = 700
"""Memory of one vector's links while an index is built."""
LEAST_MB, MOST_MB = 64, 1_024
"""Memory for a build."""
PREFIX = "embedding_near_"
LOOKING = "lore-look"
"""The name of the thread that looks."""

logger = logging.getLogger(__name__)

EXISTING = f"""
    SELECT c.relname, i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE i.indrelid = to_regclass('embedding') AND starts_with(c.relname, '{PREFIX}') ORDER BY 1
"""
MAY_BUILD = """
    SELECT pg_has_role(c.relowner, 'USAGE')
            AND NOT EXISTS (SELECT 1 FROM pg_extension x WHERE x.extname = 'citus')
        FROM pg_class c WHERE c.oid = to_regclass('embedding')
"""
"""Citus would make the index of one tenant on every shard."""
LARGE = "SELECT s.tenant FROM tenant_state s WHERE s.memories >= %(least)s"
"""A tenant has at most as many vectors as its last memory has a number."""
COUNTED = """
    SELECT e.tenant, e.model, e.namespace, count(*) FROM embedding e
        WHERE e.tenant = ANY(%(tenants)s) AND e.model > '' GROUP BY 1, 2, 3
"""
DIMENSION = """
    SELECT vector_dims(e.vector) FROM embedding e
        WHERE e.tenant = %(tenant)s AND e.model = %(model)s AND e.vector IS NOT NULL LIMIT 1
"""
NAMES = "SELECT name FROM tenant WHERE number = ANY(%(tenants)s)"
BUILD = """
    CREATE INDEX CONCURRENTLY {name} ON embedding
        USING hnsw ((vector::halfvec({dimension})) halfvec_cosine_ops)
        WITH (m = {m}, ef_construction = {ef}) WHERE tenant = {tenant} AND model = {model}
"""
BUILD_SETTINGS = """
    SELECT set_config('maintenance_work_mem', %(memory)s, false), set_config('statement_timeout', '0', false),
        set_config('lock_timeout', '0', false), set_config('max_parallel_maintenance_workers', '0', false)
"""
"""A build takes one core of the server, and no shared memory, of which a container has little."""
ASK_SETTINGS = {"enable_sort": "off", "hnsw.iterative_scan": "off"}
"""The planner knows nothing of single tenants (see `protection`) and would take another index and a sort."""


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """The vectors of one tenant and one model. namespaces: their number in each."""

    tenant: int
    model: str
    namespaces: Mapping[str, int] = field(default_factory=dict)

    @property
    def vectors(self) -> int:
        """The number of all of them."""
        return sum(self.namespaces.values())

    @property
    def name(self) -> str:
        """The name of the index; that of a model may have any characters."""
        return f"{PREFIX}{self.tenant}_{hashlib.sha256(self.model.encode()).hexdigest()[:16]}"

    def seen_by(self, namespaces: Iterable[str]) -> int:
        """The number of vectors in these namespaces."""
        return sum(self.namespaces.get(name, 0) for name in namespaces)


class VectorIndexes:
    """The vector indexes of one database, as one process knows them."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._complete: Mapping[tuple[int, str], VectorIndex] = {}
        self._look_at = 0.0
        self._building: psycopg.Connection[Row] | None = None

    # --- searching
    def covers(self, tenant: int, model: str, namespaces: Sequence[str]) -> bool:
        """Whether there is an index that finds most of what a reader of these namespaces sees.

        At times this has a thread look; until it has, a search compares all vectors.
        """
        if (now := time.monotonic()) >= self._look_at:
            self._look_at = now + LOOK_SECONDS
            threading.Thread(target=failure_of, args=(self.look,), name=LOOKING, daemon=True).start()
        index = self._complete.get((tenant, model))
        return index is not None and index.seen_by(namespaces) >= COVERED_SHARE * index.vectors

    def ask(self, statement: str, parameters: Parameters, candidates: int) -> list[Row]:
        """The rows of a statement that an index answers."""
        settings = ASK_SETTINGS | {"hnsw.ef_search": str(max(candidates, SEARCH_CANDIDATES))}
        return self._connections.read(parameters["tenant"], statement, parameters, settings)

    # --- upkeep
    def look(self) -> None:
        """Learn which indexes are complete, and how many vectors each has."""
        valid = {str(name) for name, complete in self._rows(EXISTING) if complete}
        counted = self._counted() if valid else []
        self._complete = {(one.tenant, one.model): one for one in counted if one.name in valid}

    def tend(self) -> None:
        """Build the indexes that tenants have earned, and drop those that are incomplete or not earned.

        Only one process at a time may. A role that does not own the tables cannot: then nothing happens.
        """
        ((may_build,),) = self._rows(MAY_BUILD)
        existing = {str(name): bool(valid) for name, valid in self._rows(EXISTING)}
        counted = self._counted() if may_build else []
        earned = {one.name: one for one in counted if one.vectors >= EARNED_AT}
        kept = {one.name for one in counted if one.vectors >= KEPT_SHARE * EARNED_AT}
        for name, complete in existing.items() if may_build else ():
            if not complete or name not in kept:
                self._run(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
                logger.info("dropped the vector index %s", name)
        left = {name for name, complete in existing.items() if complete and name in kept}
        largest = sorted((one for one in earned.values() if one.name not in left), key=lambda x: -x.vectors)
        for one in largest[: max(0, MOST_INDEXES - len(left))]:
            self._build(one)

    def described(self) -> str:
        """The tenants with a complete index, in a few words; empty if none has one."""
        names = [str(name) for name, complete in self._rows(EXISTING) if complete]
        return self._tenants({int(name.removeprefix(PREFIX).partition("_")[0]) for name in names})

    def finding(self) -> Finding:
        """The tenants with an index, and those that have earned one and wait for it."""
        complete = {str(name) for name, valid in self._rows(EXISTING) if valid}
        earned = [one for one in self._counted() if one.vectors >= EARNED_AT]
        waiting = {one.tenant for one in earned if one.name not in complete}
        waits = f"; not built yet: {self._tenants(waiting)} (searches compare all vectors)" if waiting else ""
        detail = f"HNSW for {self.described() or 'no tenant'}{waits}"
        return Finding("vector indexes", True, detail, repairable=True)

    def _tenants(self, numbers: Iterable[int]) -> str:
        names = [str(name) for (name,) in self._rows(NAMES, tenants=list(numbers))]
        return listed(name or "the default tenant" for name in names)

    def close(self) -> None:
        """Give up an index that is being built; the next upkeep builds it again."""
        if (building := self._building) is not None:
            building.cancel()

    def _counted(self) -> list[VectorIndex]:
        """The vectors of each model of every tenant that may have many."""
        tenants = [tenant for (tenant,) in self._rows(LARGE, least=int(KEPT_SHARE * EARNED_AT))]
        found: dict[tuple[int, str], dict[str, int]] = {}
        for tenant, model, namespace, count in self._rows(COUNTED, tenants=tenants) if tenants else ():
            found.setdefault((tenant, model), {})[namespace] = count
        return [VectorIndex(tenant, model, namespaces) for (tenant, model), namespaces in found.items()]

    def _build(self, index: VectorIndex) -> None:
        ((dimension,),) = self._rows(DIMENSION, tenant=index.tenant, model=index.model)
        logger.info("building the vector index %s of %s vectors", index.name, f"{index.vectors:,}")
        model = psycopg.sql.Literal(index.model)
        numbers = {"dimension": dimension, "m": NEIGHBOURS, "ef": BUILD_CANDIDATES, "tenant": index.tenant}
        values = {name: psycopg.sql.Literal(value) for name, value in numbers.items()}
        statement = psycopg.sql.SQL(BUILD).format(
            name=psycopg.sql.Identifier(index.name), model=model, **values
        )
        needed = index.vectors * (2 * int(dimension) + LINK_BYTES) >> 20
        self._run(statement, f"{min(MOST_MB, max(LEAST_MB, needed))}MB")
        logger.info("built the vector index %s", index.name)

    def _run(self, statement: str | psycopg.sql.Composed, memory: str = f"{LEAST_MB}MB") -> None:
        with self._connections.aside() as connection:
            self._building = connection
            try:
                connection.execute(BUILD_SETTINGS, {"memory": memory})
                connection.execute(statement)
            finally:
                self._building = None

    def _rows(self, statement: str, **parameters: object) -> list[Row]:
        return self._connections.read(EVERY_TENANT, statement, parameters)
