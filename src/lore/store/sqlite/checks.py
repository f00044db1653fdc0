"""Checks: is the file whole, does derived state agree with the rows, and how is it computed again?"""

import os
import stat
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from lore.errors import Invalid, Unavailable
from lore.health import Finding
from lore.model import LORE_CALL
from lore.names import subjects
from lore.store.columns import Parameters, Row, Rows
from lore.store.rows import unpacked_text
from lore.store.sqlite import opening, text_index
from lore.store.sqlite.connections import LARGE_LOG_BYTES, Connections
from lore.store.sqlite.file_state import obstacle
from lore.vectors import unpacked

NETWORK_FILESYSTEMS = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "virtiofs", "fuse.sshfs"})
WRITABLE_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH
SAMPLE = 2_000
MUCH_FREE = 5
"""A file of which one page in MUCH_FREE is free is worth to be written again."""
UNIT_TOLERANCE = 0.01
"""How far the length of a whole vector may be from 1: 16 bits per number move it by less than 0.001."""

TRUE_DEPTHS = """
    WITH RECURSIVE tree (node, depth) AS (
        SELECT alias, 0 FROM memory WHERE alias NOT IN (
            SELECT target FROM link WHERE kind = 'hierarchical' AND active = 1)
        UNION
        SELECT l.target, tree.depth + 1 FROM tree CROSS JOIN link l ON l.source = tree.node
            WHERE l.kind = 'hierarchical' AND l.active = 1
    )
"""
WRONG_DEPTHS = f"""
    {TRUE_DEPTHS} SELECT count(*) FROM memory LEFT JOIN tree ON node = alias
        WHERE memory.depth IS NOT tree.depth
"""
LOST_EMBEDDINGS = f"""
    SELECT count(*) FROM memory m LEFT JOIN embedding e ON e.memory = m.alias LEFT JOIN short_vector v
        ON v.memory = m.alias WHERE (e.memory IS NULL AND m.kind != '{LORE_CALL}')
        OR (e.tenant, e.namespace) != (m.tenant, m.namespace)
        OR (e.model != '') != (v.data IS NOT NULL) OR e.model != coalesce(v.model, '')
"""
LOST_USAGE = "SELECT count(*) FROM memory WHERE alias NOT IN (SELECT memory FROM usage)"
UNJOURNALED = """
    SELECT count(*) FROM memory WHERE (tenant, id) NOT IN
        (SELECT tenant, id FROM journal WHERE noun = 'memory')
"""
NEWEST_TEXTS = f"{text_index.ALL_TEXTS} ORDER BY alias DESC LIMIT {SAMPLE}"
GRAMS = f"SELECT {', '.join(text_index.FIELDS)} FROM grams WHERE rowid = ?"
SUBJECTS = "SELECT tenant, name FROM subject WHERE memory = ?"
NEWEST_VECTORS = f"SELECT data FROM short_vector ORDER BY memory DESC LIMIT {SAMPLE}"

ODD_VALUES = (AttributeError, TypeError, ValueError)
"""Raised by values of a damaged page that no Lore has written, such as a text that is NULL."""
FULL_TEXTS = f"SELECT characters, data FROM full_text ORDER BY memory DESC LIMIT {SAMPLE}"


def check(connections: Connections) -> list[Finding]:
    """All findings, good and bad; a broken file still yields findings instead of an exception."""
    findings = [_permissions(connections.path), _filesystem(connections.path), *quick(connections)]
    with connections.alone() as connection:
        findings += [_guarded(name, look, connection) for name, look in CHECKS.items()]
    return findings


def quick(connections: Connections) -> list[Finding]:
    """The findings that cost next to nothing."""
    return [_writing(connections), _log(connections), _acknowledged(connections)]


def _writing(connections: Connections) -> Finding:
    if why := connections.obstacle or obstacle(connections.path, ""):
        return Finding("writing", False, f"{why}; memories can be searched and read")
    return Finding("writing", True, "the store can be written")


def _log(connections: Connections) -> Finding:
    size = connections.log_bytes()
    megabytes = f"{connections.log}: {size / 1e6:,.0f} MB"
    if size < LARGE_LOG_BYTES or connections.fold_log():
        return Finding("log", True, "the write-ahead log is small")
    return Finding(
        "log", False, f"{megabytes}, kept by a program that reads the database without an end; end it"
    )


def _acknowledged(connections: Connections) -> Finding:
    try:
        lost = opening.loss(connections)
    except Unavailable as error:
        return Finding("changes", False, f"could not be checked: {error}")
    if lost is not None:
        return Finding("changes", False, opening.loss_text(lost, connections))
    return Finding("changes", True, "every acknowledged change is there")


def _guarded(name: str, look: Callable[[apsw.Connection], Finding], connection: apsw.Connection) -> Finding:
    try:
        return look(connection)
    except (apsw.Error, *ODD_VALUES) as error:
        return Finding(name, False, f"could not be checked: {error}")


def _permissions(path: Path) -> Finding:
    open_to_others = [
        str(place)
        for place in (path, path.with_name(path.name + "-wal"))
        if place.exists() and stat.S_IMODE(place.stat().st_mode) & 0o077 and sys.platform != "win32"
    ]
    if open_to_others:
        return Finding("permissions", False, f"others may read {', '.join(open_to_others)}", repairable=True)
    if (folder := _open_folder(path)) is not None:
        ours = folder == path.resolve().parent
        detail = f"others may write to {folder}, so they can put another file in the place of the store"
        mend = "" if ours else f"; close it: chmod go-w {folder}"
        return Finding("permissions", False, detail + mend, repairable=ours)
    return Finding("permissions", True, "only you can read the files")


def _open_folder(path: Path) -> Path | None:
    """The nearest folder above a file in which others may replace what it holds."""
    if sys.platform == "win32":
        return None
    return next((folder for folder in path.resolve().parents if _is_open(folder.stat())), None)


def _is_open(folder: os.stat_result) -> bool:
    """A group with the number of its user is that user's own, by custom."""
    others = stat.S_IWOTH if folder.st_gid == folder.st_uid else WRITABLE_BY_OTHERS
    return bool(folder.st_mode & others) and not folder.st_mode & stat.S_ISVTX


def _filesystem(path: Path) -> Finding:
    kind = _filesystem_of(path)
    if kind in NETWORK_FILESYSTEMS:
        return Finding("filesystem", False, f"{kind} is a network file system: SQLite can lose data there")
    return Finding("filesystem", True, f"local ({kind})" if kind else "not determined on this system")


def _filesystem_of(path: Path) -> str:
    mounts = Path("/proc/self/mountinfo")
    if not mounts.exists():
        return ""
    best, kind = "", ""
    for line in mounts.read_text(errors="replace").splitlines():
        mounted, _, rest = line.partition(" - ")
        point = mounted.split()[4]
        if path.resolve().is_relative_to(point) and len(point) >= len(best):
            best, kind = point, rest.split()[0]
    return kind


def _integrity(connection: apsw.Connection) -> Finding:
    for index in ("words", "grams"):  # a stale idea of an index looks broken
        connection.execute(f"SELECT rowid FROM {index} LIMIT 1").fetchall()
    rows = [str(line) for (line,) in connection.execute("PRAGMA integrity_check(5)").fetchall()]
    only_indexes = all("FTS5 table main." in line for line in rows)
    return Finding("integrity", rows == ["ok"], "; ".join(rows), repairable=only_indexes)


def _references(connection: apsw.Connection) -> Finding:
    broken = len(connection.execute("PRAGMA foreign_key_check").fetchall())
    return Finding(
        "references", not broken, f"{broken} rows point nowhere" if broken else "all rows have their ends"
    )


def _words(connection: apsw.Connection) -> Finding:
    try:
        connection.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
    except apsw.CorruptError:
        return Finding("words", False, "the text index disagrees with the memories", repairable=True)
    except apsw.ReadOnlyError:
        return Finding("words", False, "the text index can only be checked where the store can be written")
    ((count,),) = connection.execute("SELECT count(*) FROM memory").fetchall()
    return Finding("words", True, f"the text index agrees with {count} memories")


def _grams(connection: apsw.Connection) -> Finding:
    wrong = 0
    for alias, _, texts in text_index.texts(rows_of(connection), NEWEST_TEXTS):
        expected = text_index.grams_of(texts)
        stored = connection.execute(GRAMS, (alias,)).fetchall()
        wrong += stored != ([tuple(expected)] if any(expected) else [])
    detail = f"{wrong} memories disagree with their grams" if wrong else "grams agree with their memories"
    return Finding("grams", not wrong, detail, repairable=True)


def _names(connection: apsw.Connection) -> Finding:
    wrong = 0
    for alias, tenant, texts in text_index.texts(rows_of(connection), NEWEST_TEXTS):
        expected = {(tenant, name) for name in subjects(texts["title"], texts["content"])}
        wrong += set(connection.execute(SUBJECTS, (alias,)).fetchall()) != expected
    detail = (
        f"{wrong} memories are filed under wrong names" if wrong else "memories are filed under their names"
    )
    return Finding("names", not wrong, detail, repairable=True)


def _vectors(connection: apsw.Connection) -> Finding:
    lost = _number(connection, LOST_EMBEDDINGS)
    wrong = sum(not _is_unit(data) for (data,) in connection.execute(NEWEST_VECTORS))
    if lost or wrong:
        return Finding("vectors", False, f"{lost} incomplete, {wrong} damaged", repairable=True)
    count = _number(connection, "SELECT count(*) FROM short_vector")
    return Finding("vectors", True, f"{count} vectors, each complete and of length 1")


def _is_unit(data: Any) -> bool:
    """Whether these are the bytes of a vector of length 1, as every model gives."""
    try:
        return abs(float(np.linalg.norm(unpacked(data))) - 1.0) < UNIT_TOLERANCE
    except Invalid:
        return False


def _full_texts(connection: apsw.Connection) -> Finding:
    rows = connection.execute(FULL_TEXTS)
    wrong = sum(unpacked_text(characters, data) is None for characters, data in rows)
    count = _number(connection, "SELECT count(*) FROM full_text")
    detail = (
        f"{wrong} are damaged; `lore ingest --again` reads them anew" if wrong else f"{count} whole texts"
    )
    return Finding("full texts", not wrong, detail)


def _use(connection: apsw.Connection) -> Finding:
    lost = _number(connection, LOST_USAGE)
    return Finding(
        "use",
        not lost,
        f"{lost} memories without counters" if lost else "every memory has its counters",
        True,
    )


def _trees(connection: apsw.Connection) -> Finding:
    wrong = _number(connection, WRONG_DEPTHS)
    detail = f"{wrong} depths disagree with the links" if wrong else "every depth agrees with the links"
    return Finding("trees", not wrong, detail, repairable=True)


def _journal(connection: apsw.Connection) -> Finding:
    missing = _number(connection, UNJOURNALED)
    detail = f"{missing} memories without an entry" if missing else "every memory has its entry"
    return Finding("journal", not missing, detail)


def _number(connection: apsw.Connection, statement: str, **parameters: int) -> int:
    ((number,),) = connection.execute(statement, parameters).fetchall()
    return int(str(number))


CHECKS: dict[str, Callable[[apsw.Connection], Finding]] = {
    "integrity": _integrity,
    "references": _references,
    "words": _words,
    "grams": _grams,
    "names": _names,
    "vectors": _vectors,
    "full texts": _full_texts,
    "use": _use,
    "trees": _trees,
    "journal": _journal,
}


def rebuild(connections: Connections) -> None:
    """Words, names, depths and counters from the rows; damaged vectors are dropped, to be embedded again.

    A file with much free room is written again without it.
    """
    _close_to_others(connections.path)
    with connections.writing() as connection:
        text_index.index_again(rows_of(connection))
        connection.execute(
            f"{TRUE_DEPTHS} UPDATE memory SET depth = tree.depth FROM tree"
            " WHERE alias = tree.node AND memory.depth != tree.depth"
        )
        connection.execute(
            "INSERT OR IGNORE INTO usage SELECT alias, 0, 0, NULL, NULL, 0.0, NULL FROM memory"
        )
        connection.execute(
            "INSERT INTO embedding SELECT alias, tenant, namespace, '', 0, 0, NULL FROM memory"
            f" WHERE kind != '{LORE_CALL}' ON CONFLICT (memory) DO UPDATE"
            " SET tenant = excluded.tenant, namespace = excluded.namespace"
        )
        for alias in _damaged_vectors(connection):
            connection.execute(text_index.UNEMBED, (alias,))
            connection.execute(text_index.DROP_VECTOR, (alias,))

    _give_back_room(connections)


def _give_back_room(connections: Connections) -> None:
    """Unless another process reads all the time."""
    with connections.aside() as connection:
        pages, free = (_number(connection, f"PRAGMA {name}") for name in ("page_count", "freelist_count"))
        if free * MUCH_FREE > pages:
            with suppress(apsw.BusyError, apsw.LockedError):
                connections.allow_temporary_files(connection)
                connection.execute("VACUUM")


def rows_of(connection: apsw.Connection) -> Rows:
    """Runs statements on a connection."""

    def run(statement: str, parameters: Parameters | Sequence[Any]) -> list[Row]:
        return connection.execute(statement, parameters).fetchall()

    return run


def _damaged_vectors(connection: apsw.Connection) -> list[int]:
    rows = connection.execute(
        "SELECT e.memory, e.model, v.data FROM embedding e LEFT JOIN short_vector v ON v.memory = e.memory"
        " WHERE e.model != '' OR v.data IS NOT NULL"
    )
    return [alias for alias, model, data in rows if not model or not data or not _is_unit(data)]


def _close_to_others(path: Path) -> None:
    if sys.platform == "win32":
        return
    for file in (path, path.with_name(path.name + "-wal"), path.with_name(path.name + "-shm")):
        if file.exists():
            os.chmod(file, 0o600)
    folder = path.resolve().parent
    if _is_open(folder.stat()) and folder.stat().st_uid == os.getuid():
        os.chmod(folder, stat.S_IMODE(folder.stat().st_mode) & ~WRITABLE_BY_OTHERS)
