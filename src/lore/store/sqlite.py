"""SQLite: the embedded store. One file holds rows, words, vectors and the journal."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import Any

import apsw

from lore.errors import LoreError, Unavailable
from lore.filelock import acquired
from lore.health import Finding, Scrubbed
from lore.model import TURN, VERBATIM, Cause
from lore.ranking.decay import ACTIVATION_FADE_PER_DAY
from lore.store import care, opening, scrub, sql, suggesting
from lore.store.base import Passage, Reader, Store, Writer
from lore.store.connections import Connections, plainly
from lore.store.meaning import Meaning
from lore.store.migrations import MIGRATIONS
from lore.store.reading import SqlReader
from lore.store.writing import SqlWriter, keep_vectors
from lore.text import passage_of
from lore.vectors import Vector

COUNT_USE = f"""
    UPDATE trace SET
        access_count = access_count + 1,
        access_days = access_days + (coalesce(CAST(last_accessed_at / 86400 AS INTEGER), -1)
                                     != CAST(:now / 86400 AS INTEGER)),
        last_accessed_at = :now,
        last_reinforced_at = :now
    WHERE memory IN (SELECT alias FROM memory WHERE id IN ({sql.IDS}))
"""
LEND = """
    UPDATE trace SET
        activation = min(1.0, g.gain + activation
            * exp(-:fade * max(0.0, :now - coalesce(activated_at, :now)) / 86400.0)),
        activated_at = :now
    FROM (SELECT m.alias, gain.value AS gain FROM json_each(:lent) gain JOIN memory m ON m.id = gain.key) g
    WHERE trace.memory = g.alias
"""
MEET = f"""
    INSERT INTO meeting (one, other, count, last_at)
        SELECT a.alias, b.alias, 1, :now FROM memory a JOIN memory b ON a.alias < b.alias
        WHERE a.id IN ({sql.IDS}) AND b.id IN ({sql.IDS})
    ON CONFLICT DO UPDATE SET count = count + 1, last_at = :now
"""
WAITING = """
    SELECT e.memory FROM embedding e INDEXED BY embedding_model
    WHERE e.model {comparison} :model ORDER BY e.memory DESC LIMIT :limit
"""
KNOWLEDGE_WAITING = f"""
    SELECT m.alias FROM memory m INDEXED BY memory_kind CROSS JOIN embedding e ON e.memory = m.alias
    WHERE m.kind NOT IN ({", ".join(f"'{kind}'" for kind in sorted(VERBATIM))}) AND e.model != :model
    ORDER BY m.alias DESC LIMIT :limit
"""
TOOL_CHARACTERS = 600
"""How much of a tool's output is embedded: the call and its first lines. By words all of it is found."""
PASSAGES = f"""
    SELECT m.id, e.version, m.title, m.summary,
        iif(m.kind = '{TURN}' AND m.type = 'tool', substr(m.content, 1, {TOOL_CHARACTERS}), m.content),
        m.context
    FROM json_each(:aliases) j CROSS JOIN embedding e ON e.memory = j.value
    CROSS JOIN memory m ON m.alias = e.memory ORDER BY j.key
"""
UNCHANGED = """
    SELECT e.memory, m.id FROM embedding e JOIN memory m ON m.alias = e.memory
    JOIN json_each(:versions) v ON v.key = m.id AND v.value = e.version
"""
NOT_OF_MODEL = ("<", ">")
"""Two range scans find what one inequality would have to search for in all rows."""


class SqliteStore(Store):
    """One file, one process-wide set of connections; safe for many threads and many processes."""

    def __init__(self, path: Path, vector_store: str = "builtin") -> None:
        opening.refuse_lost_file(path)
        self._connections = Connections(path)
        try:
            opening.migrate(self._connections)
            opening.notice_loss(self._connections)
        except LoreError:
            self._connections.close()
            raise
        self._meaning = Meaning(self._read, vector_store)

    def _read(self, statement: str, parameters: sql.Parameters | Sequence[Any]) -> list[sql.Row]:
        with self._connections.reading() as connection:
            return connection.execute(statement, parameters).fetchall()

    @property
    def location(self) -> str:
        return str(self._connections.path)

    def reader(self, namespace: str) -> Reader:
        return SqlReader(self._read, namespace, self._meaning)

    @contextmanager
    def transaction(self, namespace: str, cause: Cause, now: float) -> Iterator[Writer]:
        with self._connections.writing() as connection:
            _refuse_upgraded(connection)
            writer = SqlWriter(_runner(connection), namespace, self._meaning, cause, now)
            try:
                yield writer
            finally:
                writer.expire()

    # --- derived state
    def touch(
        self, used: Iterable[str], lent: Mapping[str, float], now: float, together: bool = False
    ) -> None:
        shown = {"ids": sql.listed_ids(used), "now": now}
        with self._connections.deriving() as connection:
            run = _runner(connection)
            run(COUNT_USE, shown)
            if together:
                run(MEET, shown)
            if lent:
                run(LEND, {"lent": json.dumps(dict(lent)), "now": now, "fade": ACTIVATION_FADE_PER_DAY})

    def unembedded(self, model: str, limit: int) -> list[Passage]:
        asked = {"model": model, "limit": limit}
        found = [self._read(WAITING.format(comparison=comparison), asked) for comparison in NOT_OF_MODEL]
        newest = sorted((row for rows in found for row in rows), reverse=True)
        first = self._read(KNOWLEDGE_WAITING, asked) if len(newest) >= limit else []
        aliases = [alias for (alias,) in dict.fromkeys([*first, *newest])][:limit]
        rows = self._read(PASSAGES, {"aliases": json.dumps(aliases)}) if aliases else []
        return [Passage(id, passage_of(*parts), version) for id, version, *parts in rows]

    def embed(self, model: str, vectors: Mapping[Passage, Vector]) -> int:
        by_id = {passage.id: vector for passage, vector in vectors.items()}
        versions = json.dumps({passage.id: passage.version for passage in vectors})
        with self._connections.deriving() as connection:
            _refuse_upgraded(connection)
            run = _runner(connection)
            unchanged = run(UNCHANGED, {"versions": versions})
            keep_vectors(run, model, {alias: by_id[id] for alias, id in unchanged})
            return len(unchanged)

    def embedded(self, model: str) -> int:
        return self._count_embedded("=", model)

    def pending(self, model: str) -> int:
        return sum(self._count_embedded(comparison, model) for comparison in NOT_OF_MODEL)

    def _count_embedded(self, comparison: str, model: str) -> int:
        rows = self._read(f"SELECT count(*) FROM embedding WHERE model {comparison} :model", {"model": model})
        return int(rows[0][0])

    @contextmanager
    def exclusive(self, work: str) -> Iterator[bool]:
        path = self._connections.path.resolve()
        with plainly(path):
            file = os.open(path.with_name(f"{path.name}.{work}"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            yield acquired(file)
        finally:
            os.close(file)

    def claim(self, errand: str, now: float, until: float, longest: float = inf) -> float | None:
        asked = {"name": errand, "now": now, "latest": now + longest + suggesting.SKEW_SECONDS}
        if self._read(suggesting.DUE, asked):
            return None
        with self._connections.deriving() as connection:
            run = _runner(connection)
            if run(suggesting.DUE, asked):
                return None
            known = run(suggesting.KNOWN, {"name": errand})
            done_at = float(known[0][0]) if known else 0.0
            run(suggesting.SCHEDULE, {"name": errand, "due_at": until, "done_at": done_at})
            return done_at if done_at <= now + suggesting.SKEW_SECONDS else 0.0

    def schedule(self, errand: str, done_at: float, due_at: float) -> None:
        with self._connections.deriving() as connection:
            _runner(connection)(suggesting.SCHEDULE, {"name": errand, "due_at": due_at, "done_at": done_at})

    # --- care
    def last_write_at(self) -> float | None:
        rows = self._read("SELECT at FROM journal ORDER BY seq DESC LIMIT 1", {})
        return float(rows[0][0]) if rows else None

    def size_bytes(self) -> int:
        path = self._connections.path
        files = (path, path.with_name(path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def warnings(self) -> list[str]:
        return [finding.detail for finding in care.quick(self._connections) if not finding.passed]

    def fold_log(self) -> None:
        self._connections.fold_log()

    def check(self) -> list[Finding]:
        return care.check(self._connections)

    def rebuild(self) -> None:
        care.rebuild(self._connections)
        self._meaning.forget()

    def scrub(self, dry_run: bool, progress: Callable[[str, int, int], None]) -> Scrubbed:
        scrubbed = scrub.scrub(self._connections, dry_run=dry_run, progress=progress)
        self._meaning.forget()
        return scrubbed

    def backup(self, target: Path) -> None:
        opening.copy(self._connections, target)

    def release(self) -> None:
        self._meaning.forget()
        self._connections.release()

    def close(self) -> None:
        self._connections.close()


def _runner(connection: apsw.Connection) -> sql.Rows:
    def run(statement: str, parameters: sql.Parameters | Sequence[Any]) -> list[sql.Row]:
        return connection.execute(statement, parameters).fetchall()

    return run


def _refuse_upgraded(connection: apsw.Connection) -> None:
    """Sessions live for days: a newer Lore may have changed the shape of the file meanwhile."""
    ((version,),) = connection.execute("PRAGMA user_version").fetchall()
    if version != len(MIGRATIONS):
        raise Unavailable("a newer Lore has upgraded this store; restart this one to go on writing")
