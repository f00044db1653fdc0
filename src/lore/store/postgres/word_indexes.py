"""WordIndexes: a BM25 index for each tenant that has earned one by the number of its memories.

It says how rare a word is, and proposes the candidates of a wide search (see `Matching`); without it, a
search counts and reads all occurrences. Indexes need pg_textsearch, an extension that a server may lack.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import psycopg

from lore.errors import LoreError
from lore.health import Finding
from lore.store.columns import Parameters, Row
from lore.store.postgres.connections import Connections
from lore.store.postgres.tenant_indexes import Kind, TenantIndexes

EARNED_AT = 20_000
"""Memories of one tenant from which an index is built. Below, counting words is nearly as quick."""
SATURATION, LENGTH = 1.2, 0.75
"""k1 and b of BM25: how soon more occurrences count no more, and how much the length of a text counts."""
CREATED = "to_regprocedure('to_bm25query(text, text)') IS NOT NULL"
LOADED = "current_setting('pg_textsearch.default_limit', true) IS NOT NULL"
"""A setting of the library: it exists in every connection if the server has preloaded it."""
KIND = Kind(
    table="words",
    prefix="words_bm25_",
    title="word indexes",
    method="BM25",
    without="searches count words",
    usable=f"{CREATED} AND {LOADED}",
)
EXTENSION = f"SELECT {CREATED}, {LOADED}"
ABSENT = "pg_textsearch is not there; searches count words (see `lore postgres plan`)"
NOT_LOADED = "pg_textsearch is not in shared_preload_libraries and not used; searches count words"

COUNTED = "SELECT w.tenant, count(*) FROM words w WHERE w.tenant = ANY(%(tenants)s) GROUP BY 1"
TEXT = "words_text"
"""The function that writes words as text, each as often as it occurs."""
MISSING_TEXT = f"SELECT to_regprocedure('{TEXT}(tsvector)') IS NULL"
CREATE_TEXT = f"""
    CREATE FUNCTION {TEXT}(words tsvector) RETURNS text LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
        RETURN (SELECT string_agg(repeat(w.lexeme || ' ', cardinality(w.positions)), '') FROM unnest(words) w)
"""
BUILD = f"""
    CREATE INDEX CONCURRENTLY {{name}} ON words USING bm25 (({TEXT}(words)))
        WITH (text_config = 'simple', k1 = {SATURATION}, b = {LENGTH}) WHERE tenant = {{tenant}}
"""
"""The words are stemmed already; the configuration `simple` leaves them as they are."""
ASK_SETTINGS = {"enable_sort": "off"}
"""The planner knows nothing of single tenants and would read and sort all rows."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WordIndex:
    """The words of one tenant. size: the number of its memories."""

    tenant: int
    size: int = 0

    @property
    def name(self) -> str:
        """The name of the index."""
        return f"{KIND.prefix}{self.tenant}"


class WordIndexes(TenantIndexes[WordIndex]):
    """The word indexes of one database, as one process knows them."""

    kind = KIND

    def __init__(self, connections: Connections) -> None:
        super().__init__(connections)
        self._complete: set[str] = set()

    # --- searching
    def covers(self, tenant: int) -> bool:
        """Whether a tenant has an index. At times this has a thread look."""
        self.look_at_times()
        return WordIndex(tenant).name in self._complete

    def ask(self, statement: str, parameters: Parameters) -> list[Row] | None:
        """The rows of a statement that an index answers, with its name as a parameter.

        None: the server refuses the statement, so the search must do without. The index is not used until
        this process looks again.
        """
        name = WordIndex(parameters["tenant"]).name
        try:
            return self._connections.read(
                parameters["tenant"], statement, parameters | {"index": name}, ASK_SETTINGS
            )
        except LoreError as error:
            cause = error.__cause__
            if not (isinstance(cause, psycopg.Error) and cause.sqlstate):
                raise
            self._complete.discard(name)
            logger.warning("the index %s cannot be used: %s", name, error)
            return None

    # --- upkeep
    def look(self) -> None:
        """Learn which indexes are complete."""
        self._complete = self.complete()

    def earned_at(self) -> int:
        return EARNED_AT

    def counted(self, tenants: Sequence[int]) -> list[WordIndex]:
        """The memories of each tenant."""
        return [WordIndex(tenant, count) for tenant, count in self.rows(COUNTED, tenants=tenants)]

    def build(self, index: WordIndex) -> None:
        if self.rows(MISSING_TEXT) == [(True,)]:
            self.run(CREATE_TEXT)
        self.run(BUILD.format(name=index.name, tenant=index.tenant))

    def finding(self) -> Finding:
        """Also why there are none."""
        ((created, loaded),) = self.rows(EXTENSION)
        if created and loaded:
            return super().finding()
        return Finding(self.kind.title, True, NOT_LOADED if created else ABSENT)
