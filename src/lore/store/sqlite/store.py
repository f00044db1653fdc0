"""SqliteStore: the embedded store. One file holds rows, words, vectors and the journal."""

import json
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import apsw

from lore.errors import LoreError, Unavailable
from lore.filelock import acquired
from lore.health import Finding, Scrubbed, StoreReport
from lore.model import TURN, VERBATIM, Cause
from lore.ranking.decay import ACTIVATION_FADE_PER_DAY
from lore.store import DEFAULT_TENANT, Reader, Store, Writer
from lore.store.columns import Parameters, Row
from lore.store.sqlite import checks, opening, scrub, sql
from lore.store.sqlite.checks import rows_of
from lore.store.sqlite.connections import Connections, plainly
from lore.store.sqlite.nearest import Nearest
from lore.store.sqlite.reader import SqliteReader
from lore.store.sqlite.writer import SqliteWriter, keep_vectors
from lore.store.values import Backlog, Passage, Use
from lore.text import passage_of
from lore.vectors import Vector

COUNT_USE = f"""
    UPDATE usage SET
        access_count = access_count + 1,
        access_days = access_days + (coalesce(CAST(last_accessed_at / 86400 AS INTEGER), -1)
                                     != CAST(:now / 86400 AS INTEGER)),
        last_accessed_at = :now,
        last_reinforced_at = :now
    WHERE memory IN ({sql.ENDS})
"""
ACTIVATE = """
    UPDATE usage SET
        activation = min(1.0, g.gain + activation
            * exp(-:fade * max(0.0, :now - coalesce(activated_at, :now)) / 86400.0)),
        activated_at = :now
    FROM (
        SELECT m.alias, gain.value AS gain FROM json_each(:activation) gain
            JOIN memory m ON m.tenant = :tenant AND m.id = gain.key
    ) g
    WHERE usage.memory = g.alias
"""
COUNT_PAIRS = f"""
    INSERT INTO cooccurrence (one, other, count, last_at)
        SELECT a.alias, b.alias, 1, :now FROM memory a JOIN memory b ON a.alias < b.alias
        WHERE a.alias IN ({sql.ENDS}) AND b.alias IN ({sql.ENDS})
    ON CONFLICT DO UPDATE SET count = count + 1, last_at = :now
"""
TENANTS = "SELECT number FROM tenant WHERE name = :name"
NEW_TENANT = "INSERT INTO tenant (name) VALUES (:name) ON CONFLICT DO NOTHING"
NAMESPACES = "SELECT DISTINCT tenant, namespace FROM embedding"
WAITING = """
    SELECT e.memory FROM embedding e INDEXED BY embedding_model
    WHERE e.tenant = :tenant AND e.namespace = :namespace AND e.model {sign} :model
    ORDER BY e.memory DESC LIMIT :limit
"""
COUNT_WAITING = """
    SELECT count(*) FROM embedding e INDEXED BY embedding_model
    WHERE e.tenant = :tenant AND e.namespace = :namespace AND e.model {sign} :model
"""
STATEMENTS_WAITING = f"""
    SELECT m.alias FROM memory m INDEXED BY memory_kind CROSS JOIN embedding e ON e.memory = m.alias
    WHERE m.tenant = :tenant AND m.namespace = :namespace
    AND m.kind NOT IN ({", ".join(f"'{kind}'" for kind in sorted(VERBATIM))}) AND e.model != :model
    ORDER BY m.alias DESC LIMIT :limit
"""
TOOL_CHARACTERS = 600
"""Characters of a tool's output that are embedded: the call and its first lines. By words all is found."""
PASSAGES = f"""
    SELECT m.id, e.version, n.name, m.title, m.summary,
        iif(m.kind = '{TURN}' AND m.type = 'tool', substr(m.content, 1, {TOOL_CHARACTERS}), m.content),
        m.context
    FROM json_each(:aliases) j CROSS JOIN embedding e ON e.memory = j.value
    CROSS JOIN memory m ON m.alias = e.memory CROSS JOIN tenant n ON n.number = m.tenant ORDER BY j.key
"""
UNCHANGED = """
    SELECT e.memory, m.id FROM json_each(:versions) v
    CROSS JOIN memory m ON m.tenant = :tenant AND m.id = v.key
    CROSS JOIN embedding e ON e.memory = m.alias AND e.version = v.value
"""
NOT_OF_MODEL = ("<", ">")
"""Two range scans find what one inequality would have to search for in all rows."""


class SqliteStore(Store):
    """One file, one process-wide set of connections; safe for many threads and many processes.

    SQLite has one write lock for the whole file, so it is also the write lock of every tenant.
    """

    def __init__(self, path: Path, vector_store: str = "builtin") -> None:
        opening.refuse_lost_file(path)
        self._connections = Connections(path)
        try:
            opening.migrate(self._connections)
            opening.notice_loss(self._connections)
        except LoreError:
            self._connections.close()
            raise
        self._vector_store = vector_store
        self._tenants: dict[str, int] = {DEFAULT_TENANT: 1}
        self._indexes: dict[int, Nearest] = {}
        self._opening_index = threading.Lock()
        self._nearest(1)  # an unknown vector store is refused at once

    def _read(self, statement: str, parameters: Parameters | Sequence[Any]) -> list[Row]:
        with self._connections.reading() as connection:
            return connection.execute(statement, parameters).fetchall()

    def _tenant(self, name: str) -> int:
        """The number of a tenant; 0, which no row has, if it is unknown."""
        if name not in self._tenants:
            rows = self._read(TENANTS, {"name": name})
            if not rows:
                return 0
            self._tenants[name] = int(rows[0][0])
        return self._tenants[name]

    def _nearest(self, tenant: int) -> Nearest:
        with self._opening_index:
            if tenant not in self._indexes:
                self._indexes[tenant] = Nearest(self._read, tenant, self._vector_store)
            return self._indexes[tenant]

    def _forget_indexes(self) -> None:
        for index in list(self._indexes.values()):
            index.forget()

    def reader(self, namespace: str, tenant: str = DEFAULT_TENANT) -> Reader:
        number = self._tenant(tenant)
        return SqliteReader(self._read, number, namespace, self._nearest(number))

    @contextmanager
    def transaction(
        self, namespace: str, cause: Cause, now: float, tenant: str = DEFAULT_TENANT
    ) -> Iterator[Writer]:
        with self._connections.writing() as connection:
            _refuse_upgraded(connection)
            rows = rows_of(connection)
            if not (number := self._tenant(tenant)):
                rows(NEW_TENANT, {"name": tenant})
                ((number,),) = rows(TENANTS, {"name": tenant})
            writer = SqliteWriter(rows, number, namespace, self._nearest(number))
            writer.begin(cause, now)
            try:
                yield writer
            finally:
                writer.expire()

    # --- derived state
    def touch(self, use: Use, now: float, tenant: str = DEFAULT_TENANT) -> None:
        shown = {"tenant": self._tenant(tenant), "ids": sql.listed_ids(use.ids), "now": now}
        with self._connections.deriving() as connection:
            rows = rows_of(connection)
            rows(COUNT_USE, shown)
            if use.together:
                rows(COUNT_PAIRS, shown)
            if use.activation:
                gains = json.dumps(dict(use.activation))
                fade = {"activation": gains, "fade": ACTIVATION_FADE_PER_DAY}
                rows(ACTIVATE, {"tenant": shown["tenant"], "now": now, **fade})
        self._connections.fold_log()

    def unembedded(self, model: str, limit: int) -> Backlog:
        readers = [
            {"tenant": tenant, "namespace": namespace, "model": model, "limit": limit}
            for tenant, namespace in self._read(NAMESPACES, {})
        ]

        def gathered(statement: str) -> list[int]:
            rows = [row for reader in readers for row in self._read(statement, reader)]
            return sorted((number for (number,) in rows), reverse=True)

        total = sum(number for sign in NOT_OF_MODEL for number in gathered(COUNT_WAITING.format(sign=sign)))
        if not total or not limit:
            return Backlog(passages=[], total=total)
        first = gathered(STATEMENTS_WAITING) if total > limit else []
        newest = [alias for sign in NOT_OF_MODEL for alias in gathered(WAITING.format(sign=sign))]
        aliases = list(dict.fromkeys([*first, *sorted(newest, reverse=True)]))[:limit]
        rows = self._read(PASSAGES, {"aliases": json.dumps(aliases)})
        passages = [Passage(id, passage_of(*parts), version, name) for id, version, name, *parts in rows]
        return Backlog(passages=passages, total=total)

    def embed(self, model: str, vectors: Mapping[Passage, Vector]) -> int:
        kept = 0
        by_tenant = groupby(sorted(vectors, key=lambda one: one.tenant), key=lambda one: one.tenant)
        with self._connections.deriving() as connection:
            _refuse_upgraded(connection)
            for name, group in by_tenant:
                passages = {passage.id: passage for passage in group}
                versions = json.dumps({id: passage.version for id, passage in passages.items()})
                tenant, rows = self._tenant(name), rows_of(connection)
                unchanged = rows(UNCHANGED, {"tenant": tenant, "versions": versions})
                new = {alias: vectors[passages[id]] for alias, id in unchanged}
                keep_vectors(rows, tenant, model, new)
                kept += len(new)
        self._connections.fold_log()
        return kept

    @contextmanager
    def exclusive(self, work: str) -> Iterator[bool]:
        path = self._connections.path.resolve()
        with plainly(path):
            file = os.open(path.with_name(f"{path.name}.{work}"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            yield acquired(file)
        finally:
            os.close(file)

    # --- care
    def report(self) -> StoreReport:
        path = self._connections.path
        size = sum(file.stat().st_size for file in (path, self._connections.log) if file.exists())
        warnings = tuple(finding for finding in checks.quick(self._connections) if not finding.passed)
        return StoreReport(location=str(path), size_bytes=size, warnings=warnings)

    def check(self, repair: bool = False) -> list[Finding]:
        if repair:
            checks.rebuild(self._connections)
            self._forget_indexes()
        return checks.check(self._connections)

    def scrub(self, dry_run: bool, progress: Callable[[str, int, int], None]) -> Scrubbed:
        scrubbed = scrub.scrub(self._connections, dry_run=dry_run, progress=progress)
        self._forget_indexes()
        return scrubbed

    def backup(self, target: Path) -> None:
        """See `FileStore`."""
        opening.copy(self._connections, target)

    def release(self) -> None:
        self._forget_indexes()
        self._connections.fold_log()
        self._connections.release()

    def close(self) -> None:
        self._connections.close()


def _refuse_upgraded(connection: apsw.Connection) -> None:
    """Sessions live for days: a newer Lore may have changed the schema of the file since."""
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    if version != len(opening.MIGRATIONS):
        raise Unavailable("a newer Lore has upgraded this store; restart this one to go on writing")
