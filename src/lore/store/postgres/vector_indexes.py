"""VectorIndexes: an HNSW index for each tenant that has earned one by the number of its vectors.

An index covers the vectors of one tenant and one model. It proposes the candidates of a wide search (see
`Nearest`); without it, a search compares all vectors.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import psycopg

from lore.store.columns import Parameters, Row
from lore.store.postgres.connections import Connections
from lore.store.postgres.tenant_indexes import LEAST_MB, MOST_MB, Kind, TenantIndexes

EARNED_AT = 50_000
"""Vectors of one tenant and model from which an index is built. Below, comparing all is as quick."""
COVERED_SHARE = 0.5
"""Share of an index's vectors that a reader must see to use it; for fewer, comparing all loses none."""
NEIGHBOURS, BUILD_CANDIDATES = 32, 128
"""m and ef_construction of the index."""
SEARCH_CANDIDATES, MOST_CANDIDATES = 400, 1_000
"""ef_search: at least, and the limit of pgvector."""
LINK_BYTES = 700
"""Memory of one vector's links while an index is built."""
KIND = Kind("embedding", "embedding_near_", "vector indexes", "HNSW", "searches compare all vectors")

COUNTED = """
    SELECT e.tenant, e.model, e.namespace, count(*) FROM embedding e
        WHERE e.tenant = ANY(%(tenants)s) AND e.model > '' GROUP BY 1, 2, 3
"""
DIMENSION = """
    SELECT vector_dims(e.vector) FROM embedding e
        WHERE e.tenant = %(tenant)s AND e.model = %(model)s AND e.vector IS NOT NULL LIMIT 1
"""
BUILD = """
    CREATE INDEX CONCURRENTLY {name} ON embedding
        USING hnsw ((vector::halfvec({dimension})) halfvec_cosine_ops)
        WITH (m = {m}, ef_construction = {ef}) WHERE tenant = {tenant} AND model = {model}
"""
ASK_SETTINGS = {"enable_sort": "off", "hnsw.iterative_scan": "off"}
"""The planner knows nothing of single tenants (see `protection`) and would take another index and a sort."""


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """The vectors of one tenant and one model. namespaces: their number in each."""

    tenant: int
    model: str
    namespaces: Mapping[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """The number of all of them."""
        return sum(self.namespaces.values())

    @property
    def name(self) -> str:
        """The name of the index; that of a model may have any characters."""
        return f"{KIND.prefix}{self.tenant}_{hashlib.sha256(self.model.encode()).hexdigest()[:16]}"

    def seen_by(self, namespaces: Iterable[str]) -> int:
        """The number of vectors in these namespaces."""
        return sum(self.namespaces.get(name, 0) for name in namespaces)


class VectorIndexes(TenantIndexes[VectorIndex]):
    """The vector indexes of one database, as one process knows them."""

    kind = KIND

    def __init__(self, connections: Connections) -> None:
        super().__init__(connections)
        self._complete: Mapping[tuple[int, str], VectorIndex] = {}

    # --- searching
    def covers(self, tenant: int, model: str, namespaces: Sequence[str]) -> bool:
        """Whether there is an index that finds most of what a reader of these namespaces sees.

        At times this has a thread look; until it has, a search compares all vectors.
        """
        self.look_at_times()
        index = self._complete.get((tenant, model))
        return index is not None and index.seen_by(namespaces) >= COVERED_SHARE * index.size

    def ask(self, statement: str, parameters: Parameters, candidates: int) -> list[Row]:
        """The rows of a statement that an index answers."""
        settings = ASK_SETTINGS | {"hnsw.ef_search": str(max(candidates, SEARCH_CANDIDATES))}
        return self._connections.read(parameters["tenant"], statement, parameters, settings)

    # --- upkeep
    def look(self) -> None:
        """Learn which indexes are complete, and how many vectors each has."""
        complete = self.complete()
        counted = self._counted() if complete else []
        self._complete = {(one.tenant, one.model): one for one in counted if one.name in complete}

    def earned_at(self) -> int:
        return EARNED_AT

    def counted(self, tenants: Sequence[int]) -> list[VectorIndex]:
        """The vectors of each model."""
        found: dict[tuple[int, str], dict[str, int]] = {}
        for tenant, model, namespace, count in self.rows(COUNTED, tenants=tenants):
            found.setdefault((tenant, model), {})[namespace] = count
        return [VectorIndex(tenant, model, namespaces) for (tenant, model), namespaces in found.items()]

    def build(self, index: VectorIndex) -> None:
        ((dimension,),) = self.rows(DIMENSION, tenant=index.tenant, model=index.model)
        numbers = {"dimension": dimension, "m": NEIGHBOURS, "ef": BUILD_CANDIDATES, "tenant": index.tenant}
        values = {name: psycopg.sql.Literal(value) for name, value in numbers.items()}
        statement = psycopg.sql.SQL(BUILD).format(
            name=psycopg.sql.Identifier(index.name), model=psycopg.sql.Literal(index.model), **values
        )
        needed = index.size * (2 * int(dimension) + LINK_BYTES) >> 20
        self.run(statement, min(MOST_MB, max(LEAST_MB, needed)))
