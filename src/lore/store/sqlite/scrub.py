"""Scrub: today's rules for secrets on what was stored before; what they take out is gone from every page.

Rows are admitted again in small transactions, the history of each and all that waits in bookmarks included.
Then the text index is made anew, the file is written anew without its free pages, and the log is emptied.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw

from lore.errors import Unavailable
from lore.health import Scrubbed
from lore.redact import redact
from lore.store.columns import Row
from lore.store.rows import unpacked_text
from lore.store.scrubbing import SCRUBBED, ScrubbedTable, count_kinds
from lore.store.sqlite import text_index
from lore.store.sqlite.checks import rows_of
from lore.store.sqlite.connections import Connections
from lore.store.sqlite.opening import backups_of

BATCH = 200
"""Rows in one transaction: a fraction of a second, in which other writers wait."""
Progress = Callable[[str, int, int], None]


def scrub(connections: Connections, *, dry_run: bool, progress: Progress) -> Scrubbed:
    """Take the secrets out of every row and every page; dry_run: only count the rows.

    Unavailable if another process reads the old pages all the time: the rows are clean then, the log is not.
    """
    rows: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for table in SCRUBBED:
        rows[table.name] = _scrub_table(connections, table, dry_run, kinds, progress)
    rows["full_text"] = _scrub_full_texts(connections, dry_run, kinds, progress)
    if not dry_run:
        rewrite(connections, progress)
    return Scrubbed(
        rows=dict(+rows),
        kinds=dict(+kinds),
        dry_run=dry_run,
        backups=tuple(map(str, backups(connections.path))),
    )


def backups(path: Path) -> list[Path]:
    """Copies of the store that Lore has made beside it."""
    folder = backups_of(path)
    return sorted(file for file in folder.glob(f"{path.stem}*.db") if file.is_file())


def _scrub_table(
    connections: Connections, table: ScrubbedTable, dry_run: bool, kinds: Counter[str], progress: Progress
) -> int:
    changed = 0
    for keys in _batches(connections, table, progress):
        changes = list(_changes(connections, table, keys, kinds))
        changed += len(changes)
        if changes and not dry_run:
            with connections.writing() as writer:
                for key, old, new in changes:
                    _update(writer, table, key, old, new)
    return changed


def _batches(connections: Connections, table: ScrubbedTable, progress: Progress) -> Iterator[list[Row]]:
    with connections.reading() as reader:
        every = reader.execute(f"SELECT {', '.join(table.keys)} FROM {table.name}").fetchall()
    for start in range(0, len(every), BATCH):
        progress(table.name, start, len(every))
        yield every[start : start + BATCH]


def _changes(
    connections: Connections, table: ScrubbedTable, keys: list[Row], kinds: Counter[str]
) -> Iterator[tuple[Row, Row, list[Any]]]:
    """Rows that hold a secret: their keys, their texts, and these without it."""
    select = f"SELECT {', '.join(table.texts)} FROM {table.name} WHERE {_is(table.keys)}"
    for key in keys:
        with connections.reading() as reader:
            found = reader.execute(select, key).fetchall()
        for row in found:
            clean = [cleaned(value) for cleaned, value in zip(table.texts.values(), row, strict=True)]
            if clean != list(row):
                count_kinds(row, clean, kinds)
                yield key, row, clean


def _update(writer: apsw.Connection, table: ScrubbedTable, key: Row, old: Row, new: list[Any]) -> None:
    """One row, unless somebody has changed it since it was read: that write was admitted."""
    sets = ", ".join(f"{name} = ?" for name in table.texts)
    same = " AND ".join(f"{name} IS ?" for name in table.texts)
    returning = " RETURNING tenant" if table.name == "memory" else ""
    updated = writer.execute(
        f"UPDATE {table.name} SET {sets} WHERE {_is(table.keys)} AND {same}{returning}", (*new, *key, *old)
    ).fetchall()
    for (tenant,) in updated:
        before, after = (dict(zip(table.texts, values, strict=True)) for values in (old, new))
        if any(before[name] != after[name] for name in text_index.FIELDS):
            text_index.change(int(str(tenant)), key[0], before, after, rows_of(writer))


def _is(keys: tuple[str, ...]) -> str:
    return " AND ".join(f"{name} = ?" for name in keys)


def _scrub_full_texts(
    connections: Connections, dry_run: bool, kinds: Counter[str], progress: Progress
) -> int:
    changed = 0
    for keys in _batches(connections, ScrubbedTable("full_text", ("memory",), {}), progress):
        for (alias,) in keys:
            with connections.reading() as reader:
                rows = reader.execute("SELECT characters, data FROM full_text WHERE memory = ?", (alias,))
                found: list[Row] = rows.fetchall()
            text = unpacked_text(*found[0]) if found else None
            redacted = redact(text or "")
            if not redacted.found:
                continue
            changed += 1
            kinds.update(redacted.found)
            if not dry_run:
                with connections.writing() as writer:
                    writer.execute(text_index.PUT_FULL_TEXT, text_index.packed(alias, redacted.text))
    return changed


def rewrite(connections: Connections, progress: Progress) -> None:
    """Leave no old page behind: neither in the text indexes, nor free in the file, nor in the log."""
    with connections.writing() as writer:
        progress("text index", 0, 1)
        for index in (text_index.WORDS, text_index.GRAMS):
            writer.execute(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")
    with connections.aside() as writer:
        progress("file", 0, 1)
        connections.allow_temporary_files(writer)
        writer.execute("VACUUM")
        ((busy, _, _),) = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    if busy:
        raise Unavailable(
            f"{connections.path}-wal still holds what was removed, because another process reads it; "
            "end your agents (lore stop), then run `lore scrub` again"
        )
