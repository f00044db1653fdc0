"""Scrub: today's rules for secrets on what was stored before; what they take out is gone from every page.

Rows are admitted again in small transactions, the history of each and all that waits in bookmarks included.
Then the text index is made anew, the file is written anew without its free pages, and the log is emptied.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from lore.admit import admit
from lore.errors import Unavailable
from lore.health import Scrubbed
from lore.redact import redact
from lore.store import columns
from lore.store.columns import Row
from lore.store.sqlite import text_index
from lore.store.sqlite.checks import rows_of
from lore.store.sqlite.connections import Connections
from lore.store.sqlite.opening import backups_of

BATCH = 200
"""Rows in one transaction: a fraction of a second, in which other writers wait."""
Clean = Callable[[Any], Any]
Progress = Callable[[str, int, int], None]


def _text(value: Any) -> Any:
    return admit(value) if isinstance(value, str) else value


def _document(value: Any) -> Any:
    """Text that holds JSON; what cannot be read as such is cleaned as text."""
    if not isinstance(value, str):
        return value
    try:
        document = json.loads(value)
    except ValueError:
        return admit(value)
    clean = admit(document)
    return value if clean is document else json.dumps(clean, ensure_ascii=False, sort_keys=True)


def _columns(value: Any) -> Any:
    """The columns of a journal entry as JSON, some of which hold JSON themselves."""
    if not isinstance(value, str):
        return value
    fields = json.loads(value)
    clean = columns.admitted(fields)
    return value if clean == fields else json.dumps(clean, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Table:
    """A table whose rows may hold secrets: by which columns a row is known, and how each text is cleaned."""

    name: str
    keys: tuple[str, ...]
    texts: Mapping[str, Clean] = field(default_factory=dict)


MEMORY = {name: _document if name in ("flags", "metadata") else _text for name in columns.TEXTS}
TABLES = (
    Table("memory", ("alias",), MEMORY),
    Table("link", ("alias",), {"type": _text, "reason": _text}),
    Table("journal", ("seq",), {"actor": _text, "reason": _text, "before": _columns, "after": _columns}),
    Table("suggestion", ("tenant", "id"), {"type": _text}),
    Table("bookmark", ("tenant", "namespace", "path"), {"state": _document}),
    Table("digest_progress", ("tenant", "namespace", "session"), {"error": _text}),
    Table("session_answers", ("tenant", "namespace", "session"), {"answers": _document}),
    Table("phase_mark", ("tenant", "namespace", "phase"), {"settings": _text, "seen": _document}),
    Table("consolidation_run", ("tenant", "namespace", "began_at"), {"remarks": _document}),
)


def scrub(connections: Connections, *, dry_run: bool, progress: Progress) -> Scrubbed:
    """Take the secrets out of every row and every page; dry_run: only count the rows.

    Unavailable if another process reads the old pages all the time: the rows are clean then, the log is not.
    """
    rows: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for table in TABLES:
        rows[table.name] = _scrub_table(connections, table, dry_run, kinds, progress)
    rows["full_text"] = _scrub_full_texts(connections, dry_run, kinds, progress)
    if not dry_run:
        _rewrite(connections, progress)
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
    connections: Connections, table: Table, dry_run: bool, kinds: Counter[str], progress: Progress
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


def _batches(connections: Connections, table: Table, progress: Progress) -> Iterator[list[Row]]:
    with connections.reading() as reader:
        every = reader.execute(f"SELECT {', '.join(table.keys)} FROM {table.name}").fetchall()
    for start in range(0, len(every), BATCH):
        progress(table.name, start, len(every))
        yield every[start : start + BATCH]


def _changes(
    connections: Connections, table: Table, keys: list[Row], kinds: Counter[str]
) -> Iterator[tuple[Row, Row, list[Any]]]:
    """Rows that hold a secret: their keys, their texts, and these without it."""
    select = f"SELECT {', '.join(table.texts)} FROM {table.name} WHERE {_is(table.keys)}"
    for key in keys:
        with connections.reading() as reader:
            found = reader.execute(select, key).fetchall()
        for row in found:
            clean = [cleaned(value) for cleaned, value in zip(table.texts.values(), row, strict=True)]
            if clean != list(row):
                _count(row, clean, kinds)
                yield key, row, clean


def _count(row: Row, clean: list[Any], kinds: Counter[str]) -> None:
    """By their kinds, as the marks tell that are new."""
    for before, after in zip(row, clean, strict=True):
        if before != after:
            kinds.update(_kinds(str(after)))
            kinds.subtract(_kinds(str(before)))


def _kinds(text: str) -> list[str]:
    return [part.partition("]")[0] for part in text.split("[redacted: ")[1:]]


def _update(writer: apsw.Connection, table: Table, key: Row, old: Row, new: list[Any]) -> None:
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
    for keys in _batches(connections, Table("full_text", ("memory",)), progress):
        for (alias,) in keys:
            with connections.reading() as reader:
                rows = reader.execute("SELECT characters, data FROM full_text WHERE memory = ?", (alias,))
                found: list[Row] = rows.fetchall()
            text = text_index.unpacked(*found[0]) if found else None
            redacted = redact(text or "")
            if not redacted.found:
                continue
            changed += 1
            kinds.update(redacted.found)
            if not dry_run:
                with connections.writing() as writer:
                    writer.execute(text_index.PUT_FULL_TEXT, text_index.packed(alias, redacted.text))
    return changed


def _rewrite(connections: Connections, progress: Progress) -> None:
    """Leave no old page behind: neither in the text index, nor free in the file, nor in the log."""
    with connections.writing() as writer:
        progress("text index", 0, 1)
        writer.execute("INSERT INTO words (words) VALUES ('rebuild')")
    with connections.aside() as writer:
        progress("file", 0, 1)
        writer.execute("PRAGMA temp_store = FILE")  # the copy may be larger than the memory
        writer.execute("VACUUM")
        ((busy, _, _),) = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    if busy:
        raise Unavailable(
            f"{connections.path}-wal still holds what was removed, because another process reads it; "
            "end your agents (lore stop), then run `lore scrub` again"
        )
