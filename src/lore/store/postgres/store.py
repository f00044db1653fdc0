"""PostgresStore: the store of many tenants. One database holds the rows, words and vectors of all."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby

from psycopg import Connection

from lore.errors import LoreError
from lore.health import Finding, Scrubbed, StoreReport
from lore.inspection import Purged
from lore.model import SHARED, TURN, Cause
from lore.ranking.decay import ACTIVATION_FADE_PER_DAY
from lore.store import DEFAULT_TENANT, Reader, Snapshot, Store, Writer
from lore.store.columns import Row
from lore.store.postgres import checks, opening, purge, rewriting, scrub, sql, upkeep
from lore.store.postgres.connections import Connections, rows_of
from lore.store.postgres.graph_reader import Source
from lore.store.postgres.matching import Matching
from lore.store.postgres.nearest import Nearest
from lore.store.postgres.notices import Notices
from lore.store.postgres.reader import PostgresReader
from lore.store.postgres.tables import EVERY_TENANT
from lore.store.postgres.vector_indexes import VectorIndexes
from lore.store.postgres.word_indexes import WordIndexes
from lore.store.postgres.writer import PostgresWriter, half_of
from lore.store.values import Backlog, Part, Passage, Use
from lore.text import passage_of
from lore.vectors import Vector

SHOWN = sql.ends("ids")
COUNT_USE = f"""
    WITH shown AS MATERIALIZED (
        SELECT u.memory FROM usage u WHERE u.tenant = %(tenant)s AND u.memory = ANY(ARRAY({SHOWN}))
        ORDER BY u.memory FOR UPDATE)
    UPDATE usage u SET
        access_count = u.access_count + 1,
        access_days = u.access_days
            + CASE WHEN floor(u.last_accessed_at / 86400) = floor(%(now)s / 86400) THEN 0 ELSE 1 END,
        last_accessed_at = %(now)s,
        last_reinforced_at = %(now)s
    WHERE u.tenant = %(tenant)s AND u.memory = ANY(ARRAY(SELECT memory FROM shown))
"""
"""Rows are locked in one order, so that two callers never wait for each other in a circle. Arrays keep the
planner from a join: it has no statistics of single tenants, and would read all rows of the tenant."""
ACTIVATE = f"""
    WITH gains AS MATERIALIZED (
        SELECT u.memory, g.gain FROM unnest(%(ids)s::text[], %(gains)s::float8[]) AS g (id, gain)
        JOIN memory m ON m.tenant = %(tenant)s AND m.id = g.id
        JOIN usage u ON u.tenant = m.tenant AND u.memory = m.alias ORDER BY u.memory FOR UPDATE OF u)
    UPDATE usage u SET
        activation = least(1.0, gains.gain + u.activation
            * exp(-{ACTIVATION_FADE_PER_DAY}
                * greatest(0.0, %(now)s - coalesce(u.activated_at, %(now)s)) / 86400.0)),
        activated_at = %(now)s
    FROM gains WHERE u.tenant = %(tenant)s AND u.memory = gains.memory
"""
COUNT_PAIRS = f"""
    INSERT INTO cooccurrence AS c (tenant, one, other, count, last_at)
        SELECT %(tenant)s, a.alias, b.alias, 1, %(now)s FROM ({SHOWN}) a JOIN ({SHOWN}) b ON a.alias < b.alias
        ORDER BY a.alias, b.alias
    ON CONFLICT (tenant, one, other) DO UPDATE SET count = c.count + 1, last_at = %(now)s
"""
TENANT = "SELECT number FROM tenant WHERE name = %(name)s"
NEW_TENANT = "INSERT INTO tenant (name) VALUES (%(name)s) ON CONFLICT DO NOTHING"
NEW_STATE = """
    INSERT INTO tenant_state (tenant) SELECT number FROM tenant WHERE name = %(name)s ON CONFLICT DO NOTHING
"""
NAMESPACES = """
    WITH RECURSIVE every (tenant, namespace) AS (
        (SELECT e.tenant, e.namespace FROM embedding e WHERE e.tenant >= coalesce(%(tenant)s::int, 0)
            ORDER BY e.tenant, e.namespace LIMIT 1)
        UNION ALL
        SELECT n.tenant, n.namespace FROM every, LATERAL (
            SELECT e.tenant, e.namespace FROM embedding e
            WHERE (e.tenant, e.namespace) > (every.tenant, every.namespace)
            ORDER BY e.tenant, e.namespace LIMIT 1) n
        WHERE n.tenant = coalesce(%(tenant)s::int, n.tenant)
    )
    SELECT t.name, every.namespace FROM every JOIN tenant t ON t.number = every.tenant
        WHERE every.tenant = coalesce(%(tenant)s::int, every.tenant)
"""
"""From one namespace to the next in the index, however many memories each has."""
OWN_NAMESPACES = "SELECT DISTINCT m.namespace FROM memory m WHERE m.tenant = %(tenant)s ORDER BY m.namespace"
MODELS = """
    WITH RECURSIVE every (model) AS (
        (SELECT min(e.model) FROM embedding e)
        UNION ALL
        SELECT (SELECT min(e.model) FROM embedding e WHERE e.model > every.model) FROM every
        WHERE every.model IS NOT NULL
    ) SELECT every.model FROM every WHERE every.model <> %(model)s
"""
"""The models of all vectors but one; empty: of what has no vector."""
COUNTED = 100_000
"""Up to this number waiting memories are counted."""
COUNT_WAITING = f"""
    WITH others AS MATERIALIZED ({MODELS})
    SELECT count(*) FROM (SELECT 1 FROM others CROSS JOIN LATERAL (
        SELECT 1 FROM embedding e WHERE e.model = others.model LIMIT {COUNTED}) e LIMIT {COUNTED}) e
"""
TOOL_CHARACTERS = 600
"""Characters of a tool's output that are embedded: the call and its first lines. By words all is found."""
EPOCH = """
    SELECT concat_ws('-', e.id, d.oid, c.timeline_id) FROM epoch e, pg_database d, pg_control_checkpoint() c
        WHERE d.datname = current_database()
"""
"""A database that was restored from a dump or to an earlier time has another oid or another timeline."""
FIRST = "e.verbatim, e.added_at DESC, e.memory DESC"
NOW = "extract(epoch FROM clock_timestamp())"
WAITING = f"""
    WITH others AS MATERIALIZED ({MODELS}), first AS MATERIALIZED (
        SELECT e.* FROM others CROSS JOIN LATERAL (
            SELECT e.tenant, e.memory, e.version, e.verbatim, e.added_at FROM embedding e
            WHERE e.model = others.model {{unclaimed}} ORDER BY {FIRST} LIMIT %(limit)s {{locked}}
        ) e ORDER BY {FIRST} LIMIT %(limit)s){{claimed}}
    SELECT m.id, e.version, t.name, m.title, m.summary,
        CASE WHEN m.kind = '{TURN}' AND m.type = 'tool' THEN left(m.content, {TOOL_CHARACTERS})
            ELSE m.content END,
        m.context
    FROM {{source}} e CROSS JOIN LATERAL (
        SELECT m.* FROM memory m WHERE m.tenant = e.tenant AND m.alias = e.memory OFFSET 0) m
        JOIN tenant t ON t.number = e.tenant
    ORDER BY {FIRST}
"""
"""Statements first, then the newest."""
LOOK = WAITING.format(unclaimed="", locked="", claimed="", source="first")
CLAIM = WAITING.format(
    unclaimed=f"AND e.claimed_until < {NOW}",
    locked="FOR UPDATE SKIP LOCKED",
    claimed=f""", claimed AS (
        UPDATE embedding e SET claimed_until = {NOW} + %(seconds)s FROM first
        WHERE e.tenant = first.tenant AND e.memory = first.memory
        RETURNING e.tenant, e.memory, e.version, e.verbatim, e.added_at)""",
    source="claimed",
)
"""The same of what nobody has claimed; several servers that ask at once get different memories."""
KEEP_UNCHANGED = """
    WITH same AS MATERIALIZED (
        SELECT e.memory, v.vector FROM unnest(%(ids)s::text[], %(versions)s::int[], %(vectors)s::halfvec[])
            AS v (id, version, vector)
        JOIN memory m ON m.tenant = %(tenant)s AND m.id = v.id
        JOIN embedding e ON e.tenant = m.tenant AND e.memory = m.alias AND e.version = v.version
        FOR UPDATE OF e SKIP LOCKED)
    UPDATE embedding e SET model = %(model)s, vector = same.vector FROM same
        WHERE e.tenant = %(tenant)s AND e.memory = same.memory RETURNING e.memory
"""
"""What another transaction changes at the moment is left to the next batch: nobody waits."""
INDEX = "pgvector, in the database"
TENDING = "vector indexes"
LET_GO = "SET LOCAL lock_timeout = 0"
"""Ends the snapshot of the last query. An open transaction would keep it: the server could remove no old row,
and complete no index."""
EXCLUSIVE = "SELECT pg_try_advisory_xact_lock(hashtextextended('lore ' || current_schema() || %(work)s, 0))"


class PostgresStore(Store):
    """One database; safe for many threads, processes and machines.

    The write lock of a tenant is its row in `tenant_state`; writers of different tenants never wait for each
    other.
    """

    embeds_together = True

    def __init__(self, location: str, vector_store: str = "builtin") -> None:
        """vector_store: of no effect here, pgvector is the only one."""
        self._connections = Connections(location)
        try:
            opening.migrate(self._connections)
            self._connections.open_pool()
            text_index = (
                checks.words_are_quick(self._connections),
                checks.is_distributed(self._connections),
            )
        except LoreError:
            self._connections.close()
            raise
        self._tenants: dict[str, int] = {}
        self._writable: set[str] = set()
        vectors, words = VectorIndexes(self._connections), WordIndexes(self._connections)
        self._indexes = (vectors, words)
        self._nearest, self._matching = Nearest(vectors), Matching(*text_index, words)
        self._matching_inside = Matching(*text_index)
        self._notices = Notices(self._connections)

    # --- tenants
    def _tenant(self, name: str) -> int:
        """The number of a tenant; -1, which no row has, if it is unknown."""
        if name not in self._tenants:
            rows = self._connections.read(EVERY_TENANT, TENANT, {"name": name})
            if not rows:
                return -1
            self._tenants[name] = int(rows[0][0])
        return self._tenants[name]

    def _existing_tenant(self, name: str) -> int:
        """The number of a tenant that can be written; it gets one if it has none."""
        if name not in self._writable:
            with self._connections.writing(EVERY_TENANT) as rows:
                rows(NEW_TENANT, {"name": name})
                rows(NEW_STATE, {"name": name})
            self._writable.add(name)
        return self._tenant(name)

    def _source(self, tenant: int) -> Source:
        return Source(self._connections.reader_of(tenant), tenant, self._nearest, self._matching)

    def reader(self, namespace: str, tenant: str = DEFAULT_TENANT, teams: Sequence[str] = ()) -> Reader:
        return PostgresReader(self._source(self._tenant(tenant)), namespace, teams)

    @contextmanager
    def transaction(
        self,
        namespace: str,
        cause: Cause,
        now: float,
        tenant: str = DEFAULT_TENANT,
        teams: Sequence[str] = (),
    ) -> Iterator[Writer]:
        number = self._existing_tenant(tenant)
        with self._connections.turn(number), self._connections.writing(number) as rows:
            source = Source(rows, number, Nearest(), self._matching_inside)
            writer = PostgresWriter(source, namespace, teams)
            writer.begin(cause, now)
            try:
                yield writer
                changed = writer.end()
            finally:
                writer.expire()
        if changed:
            self._notices.send(number)

    @contextmanager
    def snapshot(self, tenant: str = DEFAULT_TENANT) -> Iterator[Snapshot]:
        begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        with self._connections.keeping(begin) as connection:
            yield self._snapshot(connection, self._tenant(tenant))

    def _snapshot(self, connection: Connection[Row], tenant: int) -> Snapshot:
        """Readers that share a transaction, and so the moment of its first query."""
        rows = rows_of(connection)
        source = Source(rows, tenant, Nearest(), self._matching_inside)
        names = [str(name) for (name,) in rows(OWN_NAMESPACES, {"tenant": tenant})]

        def ids(part: Part) -> Iterator[str]:
            statement = f"{sql.in_part('m.id', part)} ORDER BY m.alias"
            with connection.cursor(name=f"part_{id(part)}") as cursor:
                for (found,) in cursor.execute(statement, sql.of_part(part, tenant)):
                    yield str(found)

        def count(part: Part) -> int:
            ((found,),) = rows(sql.in_part("count(*)", part), sql.of_part(part, tenant))
            return int(found)

        readers = {name: PostgresReader(source, name, names) for name in names}
        return Snapshot(readers, ids, count)

    # --- derived state
    def touch(self, use: Use, now: float, tenant: str = DEFAULT_TENANT) -> None:
        number = self._tenant(tenant)
        shown = {"tenant": number, "ids": sql.usable(use.ids), "now": float(now)}
        with self._connections.deriving(number) as rows:
            rows(COUNT_USE, shown)
            if use.together:
                rows(COUNT_PAIRS, shown)
            if use.activation:
                gains = {id: float(use.activation[id]) for id in sql.usable(use.activation)}
                rows(ACTIVATE, shown | {"ids": list(gains), "gains": list(gains.values())})

    def namespaces(self, tenant: str | None = None) -> list[tuple[str, str]]:
        number = None if tenant is None else self._tenant(tenant)
        scope = EVERY_TENANT if number is None else number
        rows = self._connections.read(scope, NAMESPACES, {"tenant": number})
        return sorted((str(name), str(namespace)) for name, namespace in rows)

    def epoch(self) -> str:
        return str(self._connections.read(EVERY_TENANT, EPOCH, {})[0][0])

    def unembedded(self, model: str, limit: int, claim_seconds: float = 0.0) -> Backlog:
        given = {"model": model, "limit": limit, "seconds": claim_seconds}
        ((total,),) = self._connections.read(EVERY_TENANT, COUNT_WAITING, given)
        if not total or not limit:
            return Backlog(passages=[], total=total)
        if claim_seconds:
            with self._connections.deriving(EVERY_TENANT) as write:
                rows = write(CLAIM, given)
        else:
            rows = self._connections.read(EVERY_TENANT, LOOK, given)
        passages = [Passage(id, passage_of(*parts), version, name) for id, version, name, *parts in rows]
        return Backlog(passages=passages, total=total)

    def embed(self, model: str, vectors: Mapping[Passage, Vector]) -> int:
        kept = 0
        for name, group in groupby(sorted(vectors, key=lambda one: one.tenant), key=lambda one: one.tenant):
            passages = [passage for passage in group if sql.usable([passage.id])]
            number = self._tenant(name)
            with self._connections.deriving(number) as rows:
                given = {
                    "tenant": number,
                    "model": model,
                    "ids": [passage.id for passage in passages],
                    "versions": [passage.version for passage in passages],
                    "vectors": [half_of(vectors[passage]) for passage in passages],
                }
                kept += len(rows(KEEP_UNCHANGED, given))
        return kept

    @contextmanager
    def exclusive(self, work: str) -> Iterator[bool]:
        with self._connections.keeping() as connection:
            ((alone,),) = connection.execute(EXCLUSIVE, {"work": work}).fetchall()
            connection.execute(LET_GO)
            yield bool(alone)

    def follow(self, changed: Callable[[str], None], stopped: Callable[[], bool]) -> None:
        """See `SharedStore`."""
        self._notices.follow(changed, stopped)

    def claim_due(self, job: str, now: float, until: float) -> tuple[str, str] | None:
        """See `SharedStore`."""
        with self._connections.deriving(EVERY_TENANT) as rows:
            found = rows(upkeep.CLAIM, {"job": job, "now": now, "until": until})
        return (str(found[0][0]), str(found[0][1])) if found else None

    def tend(self) -> None:
        """See `TendedStore`."""
        with self.exclusive(TENDING) as alone:
            for indexes in self._indexes if alone else ():
                indexes.tend()
        for indexes in self._indexes:
            indexes.look_now()

    # --- care
    def report(self) -> StoreReport:
        size = checks.size_of(self._connections)
        warnings = tuple(finding for finding in checks.quick(self._connections) if not finding.passed)
        described = filter(None, (indexes.described() for indexes in self._indexes))
        index = "; ".join((INDEX, *described))
        location = self._connections.location
        return StoreReport(location=location, size_bytes=size, warnings=warnings, index=index)

    def check(self, repair: bool = False) -> list[Finding]:
        if repair:
            checks.rebuild(self._connections)
            self.tend()
        return [*checks.check(self._connections), *(indexes.finding() for indexes in self._indexes)]

    def scrub(self, dry_run: bool, progress: Callable[[str, int, int], None]) -> Scrubbed:
        return scrub.scrub(self._connections, dry_run=dry_run, progress=progress)

    def purge(self, ids: Iterable[str], cause: Cause, now: float, tenant: str = DEFAULT_TENANT) -> Purged:
        """See `Store`. The write-ahead log and copies of the database are out of reach."""
        number = self._tenant(tenant)
        if number < 0:
            return Purged(ids=(), rows={})
        number = self._existing_tenant(tenant)
        rewriting.refuse_unless_allowed(self._connections, purge.TOUCHED)
        with self._connections.turn(number), self._connections.writing(number) as rows:
            eraser = purge.Eraser(Source(rows, number, Nearest(), self._matching_inside), SHARED)
            eraser.begin(cause, now)
            erased, counts = eraser.erase(ids)
            eraser.end()
        rewriting.rewrite(self._connections, counts)
        return Purged(ids=tuple(erased), rows=dict(counts))

    def release(self) -> None:
        self._connections.release()

    def close(self) -> None:
        for indexes in self._indexes:
            indexes.close()
        self._connections.close()
