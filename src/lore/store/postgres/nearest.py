"""Nearest: the exact cosine of every vector that passes.

For a tenant with a vector index, the index proposes the candidates of a wide search.
"""

from dataclasses import dataclass

from pgvector import HalfVector

from lore.model import PENDING_COUNTED
from lore.store.columns import Parameters, Row, Rows
from lore.store.postgres.sql import looked_up, sight
from lore.store.postgres.vector_indexes import MOST_CANDIDATES, VectorIndexes
from lore.store.values import Neighbours
from lore.vectors import Vector

PENDING = f"""
    SELECT count(*) FROM (
        SELECT 1 FROM embedding e WHERE {sight("e")} AND e.model < %(model)s
        UNION ALL SELECT 1 FROM embedding e WHERE {sight("e")} AND e.model > %(model)s LIMIT {PENDING_COUNTED}
    ) e
"""
"""Two range scans find what one inequality would have to search for in all rows."""
DISTANCE = "coalesce(nullif(e.vector <=> %(vector)s, 'NaN'), 1) AS distance"
"""A vector of zeros is as far from everything as what is unrelated."""
WIDE = f"""
    WITH near AS MATERIALIZED (
        SELECT e.memory, {DISTANCE} FROM embedding e WHERE {sight("e")} AND e.model = %(model)s
    ), best AS MATERIALIZED (SELECT near.* FROM near ORDER BY distance, memory LIMIT %(candidates)s)
    SELECT m.id, best.distance FROM best {looked_up("m.id", "best.memory", "{passing}")}
    UNION ALL SELECT '', ({PENDING})
    UNION ALL SELECT NULL, (SELECT count(*) FROM best)
"""
"""For a filter that many pass: the nearest of all in sight, and those of them that pass. At last the number
of memories in sight without a vector, and the number of candidates. The distance is computed before anything
is sorted, so no index takes part."""
INDEXED = f"""
    WITH near AS MATERIALIZED (
        SELECT e.memory, {DISTANCE} FROM embedding e
        WHERE e.tenant = %(tenant)s AND e.model = %(model)s
        ORDER BY e.vector::halfvec({{dimension}}) <=> %(vector)s::halfvec({{dimension}}) LIMIT %(candidates)s
    )
    SELECT m.id, near.distance FROM near {looked_up("m.id", "near.memory", "{passing}")}
    UNION ALL SELECT '', ({PENDING})
"""
"""The same with the nearest that a vector index proposes. Nothing between the order and the limit may look at
a namespace: the index would then be read to its end."""
NARROW = f"""
    WITH passing AS MATERIALIZED (SELECT m.alias, m.id FROM memory m WHERE {{passing}}),
    near AS MATERIALIZED (
        SELECT p.id, p.alias, {DISTANCE} FROM passing p CROSS JOIN LATERAL (
            SELECT e.vector FROM embedding e
            WHERE e.tenant = %(tenant)s AND e.memory = p.alias AND e.model = %(model)s OFFSET 0) e
    )
    (SELECT near.id, near.distance FROM near ORDER BY near.distance, near.alias LIMIT %(limit)s)
    UNION ALL SELECT '', ({PENDING})
"""
"""For any filter: first what passes, then the distance of each."""
OVERSAMPLING = 4
FEWEST_CANDIDATES = 64


@dataclass(frozen=True, slots=True)
class Scope:
    """The rows that one query may see, and how to read. condition: on a row `m` of memory.

    wide: many are likely to pass.
    """

    rows: Rows
    condition: str
    parameters: Parameters
    wide: bool


class Nearest:
    """The search by meaning. indexes: None inside a transaction, whose own changes an answer must contain."""

    def __init__(self, indexes: VectorIndexes | None = None) -> None:
        self._indexes = indexes

    def nearest(self, vector: Vector, model: str, limit: int, scope: Scope) -> Neighbours:
        """The best `limit` of the scope."""
        given = {"vector": HalfVector(vector), "model": model, "limit": limit}
        if scope.wide and vector.any() and (found := self._by_index(given, limit, scope)) is not None:
            return found
        if scope.wide and (found := self._among_candidates(given, limit, scope)) is not None:
            return found
        rows = scope.rows(NARROW.format(passing=scope.condition), scope.parameters | given)
        *near, (_, pending) = sorted(rows, key=lambda row: row[0] == "")
        return _neighbours(near, limit, int(pending))

    def _by_index(self, given: Parameters, limit: int, scope: Scope) -> Neighbours | None:
        """None: no index covers the scope, or too few of the nearest pass."""
        candidates = max(FEWEST_CANDIDATES, OVERSAMPLING * limit)
        parameters = scope.parameters | given | {"candidates": candidates}
        sight = parameters["tenant"], str(parameters["model"]), parameters["seen"]
        if self._indexes is None or candidates > MOST_CANDIDATES or not self._indexes.covers(*sight):
            return None
        statement = INDEXED.format(passing=scope.condition, dimension=len(given["vector"].to_list()))
        rows = self._indexes.ask(statement, parameters, candidates)
        *near, (_, pending) = sorted(rows, key=lambda row: row[0] == "")
        return _neighbours(near, limit, int(pending)) if len(near) >= limit else None

    def _among_candidates(self, given: Parameters, limit: int, scope: Scope) -> Neighbours | None:
        """None: too few of the nearest pass, and others may."""
        candidates = max(FEWEST_CANDIDATES, OVERSAMPLING * limit)
        statement = WIDE.format(passing=scope.condition)
        rows = scope.rows(statement, scope.parameters | given | {"candidates": candidates})
        numbers = {id: int(number) for id, number in rows if not id}
        near = [row for row in rows if row[0]]
        if len(near) < limit and numbers[None] == candidates:
            return None
        return _neighbours(near, limit, numbers[""])


def _neighbours(rows: list[Row], limit: int, pending: int) -> Neighbours:
    best = sorted(rows, key=lambda row: row[1])[:limit]
    return Neighbours({id: 1.0 - distance for id, distance in best}, pending)
