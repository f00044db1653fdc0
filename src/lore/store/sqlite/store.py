"""SqliteStore: the embedded store. One file holds rows, words, vectors and the journal."""

import json
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import apsw

from lore.errors import Invalid, LoreError, Unavailable
from lore.filelock import acquired
from lore.health import BackupReport, Finding, Scrubbed, StoreReport
from lore.inspection import Purged
from lore.model import TURN, VERBATIM, Cause
from lore.ranking.decay import ACTIVATION_FADE_PER_DAY
from lore.store import DEFAULT_TENANT, Reader, Snapshot, Store, Writer
from lore.store.columns import Parameters, Row
from lore.store.index import BUILTIN, index_class
from lore.store.sqlite import backups, checks, opening, purge, scrub, sql
from lore.store.sqlite.checks import rows_of
from lore.store.sqlite.compact import compact_vectors
from lore.store.sqlite.connections import Connections, plainly
from lore.store.sqlite.index_files import Progress, describe, open_files, remove_files
from lore.store.sqlite.nearest import Nearest
from lore.store.sqlite.reader import SqliteReader
from lore.store.sqlite.vector_rows import VectorRows
from lore.store.sqlite.writer import SqliteWriter, keep_vectors
from lore.store.values import Backlog, Part, Passage, Use
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
ALL_TENANTS = "SELECT number FROM tenant ORDER BY number"
NEW_TENANT = "INSERT INTO tenant (name) VALUES (:name) ON CONFLICT DO NOTHING"
NAMESPACES = "SELECT DISTINCT tenant, namespace FROM embedding"
NAMED_NAMESPACES = f"""
    SELECT t.name, n.namespace FROM ({NAMESPACES}) n JOIN tenant t ON t.number = n.tenant
        WHERE :name IS NULL OR t.name = :name ORDER BY 1, 2
"""
OWN_NAMESPACES = "SELECT DISTINCT namespace FROM memory WHERE tenant = :tenant ORDER BY namespace"
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

    def __init__(self, path: Path, vector_store: str = BUILTIN) -> None:
        index_class(vector_store)  # an unknown one is refused at once
        path = path.absolute()  # the process may change its folder later
        opening.refuse_lost_file(path)
        self._connections = Connections(path)
        try:
            if self._connections.encrypted and vector_store != BUILTIN:
                raise Invalid(
                    f"vector_store is {vector_store}, which writes in clear; encryption needs {BUILTIN}"
                )
            opening.migrate(self._connections)
            opening.notice_loss(self._connections)
            compact_vectors(self._connections)
        except LoreError:
            self._connections.close()
            raise
        self._vector_store = vector_store
        self._tenants: dict[str, int] = {DEFAULT_TENANT: 1}
        self._indexes: dict[int, Nearest] = {}
        self._opening_index = threading.Lock()

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
                rows = VectorRows(self._read, tenant, self._birth)
                on_disk = None if self._connections.encrypted else self._connections.path
                files = open_files(self._vector_store, rows, on_disk)
                self._indexes[tenant] = Nearest(rows, files)
            return self._indexes[tenant]

    def _birth(self) -> str:
        with self._connections.reading() as connection:
            return self._connections.birth(connection)

    def _forget_indexes(self) -> None:
        for index in list(self._indexes.values()):
            index.forget()

    def reader(self, namespace: str, tenant: str = DEFAULT_TENANT, teams: Sequence[str] = ()) -> Reader:
        number = self._tenant(tenant)
        return SqliteReader(self._read, number, namespace, self._nearest(number), teams)

    @contextmanager
    def transaction(
        self,
        namespace: str,
        cause: Cause,
        now: float,
        tenant: str = DEFAULT_TENANT,
        teams: Sequence[str] = (),
    ) -> Iterator[Writer]:
        with self._connections.writing() as connection:
            _refuse_upgraded(connection)
            rows = rows_of(connection)
            if not (number := self._tenant(tenant)):
                rows(NEW_TENANT, {"name": tenant})
                ((number,),) = rows(TENANTS, {"name": tenant})
            writer = SqliteWriter(rows, number, namespace, self._nearest(number), teams)
            writer.begin(cause, now)
            try:
                yield writer
            finally:
                writer.expire()

    @contextmanager
    def snapshot(self, tenant: str = DEFAULT_TENANT) -> Iterator[Snapshot]:
        number, trouble = self._tenant(tenant), None
        with self._connections.aside() as connection:
            connection.execute("BEGIN")
            try:
                yield self._snapshot(connection, number)
            except OSError as error:  # of the caller's own file, not of the store
                trouble = error
            finally:
                connection.execute("ROLLBACK")
        if trouble is not None:
            raise trouble

    def _snapshot(self, connection: apsw.Connection, tenant: int) -> Snapshot:
        """Readers that share a connection, and so the moment of its first query."""
        rows, nearest = rows_of(connection), self._nearest(tenant)
        names = [str(name) for (name,) in rows(OWN_NAMESPACES, {"tenant": tenant})]

        def ids(part: Part) -> Iterator[str]:
            found = connection.execute(sql.in_part("m.id", part), sql.of_part(part, tenant))
            return (str(id) for (id,) in found)

        def count(part: Part) -> int:
            ((found,),) = rows(sql.in_part("count(*)", part), sql.of_part(part, tenant))
            return int(found)

        readers = {name: SqliteReader(rows, tenant, name, nearest, names) for name in names}
        return Snapshot(readers, ids, count)

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

    def namespaces(self, tenant: str | None = None) -> list[tuple[str, str]]:
        rows = self._read(NAMED_NAMESPACES, {"name": tenant})
        return [(str(name), str(namespace)) for name, namespace in rows]

    def unembedded(self, model: str, limit: int, claim_seconds: float = 0.0) -> Backlog:
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
        for name in {passage.tenant for passage in vectors}:
            self._nearest(self._tenant(name)).refresh(model, len(next(iter(vectors.values()))))
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

    def epoch(self) -> str:
        return str(self._read(opening.EPOCH, {})[0][0])

    # --- care
    def report(self) -> StoreReport:
        path = self._connections.path
        size = sum(file.stat().st_size for file in (path, self._connections.log) if file.exists())
        warnings = tuple(finding for finding in checks.quick(self._connections) if not finding.passed)
        index = describe(self._vector_store, path)
        return StoreReport(location=str(path), size_bytes=size, warnings=warnings, index=index)

    def check(self, repair: bool = False) -> list[Finding]:
        if repair:
            self._forget_indexes()
            remove_files(self._connections.path)
            checks.rebuild(self._connections)
        return [*checks.check(self._connections), self._check_indexes()]

    def _check_indexes(self) -> Finding:
        """The indexes of all tenants on disk."""
        numbers = [int(number) for (number,) in self._read(ALL_TENANTS, {})]
        wrong = [text for number in numbers if (text := self._nearest(number).check())]
        detail = f"the {self._vector_store} index on disk: {'; '.join(wrong)}"
        good = f"the {self._vector_store} index on disk agrees with the vectors"
        return Finding("vector index", not wrong, detail if wrong else good, repairable=True)

    def scrub(self, dry_run: bool, progress: Callable[[str, int, int], None]) -> Scrubbed:
        scrubbed = scrub.scrub(self._connections, dry_run=dry_run, progress=progress)
        self._forget_indexes()
        if not dry_run:
            remove_files(self._connections.path)
        return scrubbed

    def purge(self, ids: Iterable[str], cause: Cause, now: float, tenant: str = DEFAULT_TENANT) -> Purged:
        with self._connections.writing() as connection:
            _refuse_upgraded(connection)
            erased, rows = purge.erase(ids, self._tenant(tenant), cause, now, rows_of(connection))
        if erased:
            scrub.rewrite(self._connections, _no_progress)
            self._forget_indexes()
            remove_files(self._connections.path)
        copies = scrub.backups(self._connections.path) if erased else ()
        return Purged(ids=tuple(erased), rows=dict(rows), backups=tuple(map(str, copies)))

    def build_index(self, model: str, dimension: int, progress: Progress) -> int:
        """See `IndexedStore`. The indexes of other vector stores are deleted."""
        numbers = [int(number) for (number,) in self._read(ALL_TENANTS, {})]
        built = sum(self._nearest(number).build(model, dimension, progress) for number in numbers)
        remove_files(self._connections.path, keep=self._vector_store)
        return built

    def backup(self, target: Path) -> BackupReport:
        """See `FileStore`."""
        return backups.back_up(self._connections, target)

    def release(self) -> None:
        self._forget_indexes()
        self._connections.fold_log()
        self._connections.release()

    def close(self) -> None:
        self._forget_indexes()
        self._connections.close()


def _no_progress(part: str, done: int, total: int) -> None:
    """For work that shows no progress."""


def _refuse_upgraded(connection: apsw.Connection) -> None:
    """Sessions live for days: a newer Lore may have changed the schema of the file since."""
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    if version != len(opening.MIGRATIONS):
        raise Unavailable("a newer Lore has upgraded this store; restart this one to go on writing")
