"""Scrub: today's rules for secrets on what was stored before; then no table keeps an old row.

Rows are admitted again in small transactions, the history of each and all that waits in bookmarks included.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from lore.health import Scrubbed
from lore.redact import redact
from lore.store.columns import Row
from lore.store.postgres import rewriting, text_index
from lore.store.postgres.connections import Connections
from lore.store.postgres.tables import EVERY_TENANT
from lore.store.rows import packed_text, unpacked_text
from lore.store.scrubbing import SCRUBBED, ScrubbedTable, count_kinds

BATCH = 200
"""Rows in one transaction: a fraction of a second, in which other writers wait."""
KEYS = {
    "memory": ("tenant", "alias"),
    "link": ("tenant", "alias"),
    "journal": ("tenant", "seq"),
    "full_text": ("tenant", "memory"),
}
"""Tables whose keys are not those of SCRUBBED."""
FULL_TEXT = "SELECT characters, data FROM full_text WHERE tenant = %s AND memory = %s"
Progress = Callable[[str, int, int], None]


def scrub(connections: Connections, *, dry_run: bool, progress: Progress) -> Scrubbed:
    """Take the secrets out of every row; dry_run: only count the rows.

    The write-ahead log and copies of the database are its keeper's.
    """
    if not dry_run:
        every = [table.name for table in SCRUBBED]
        rewriting.refuse_unless_allowed(connections, _rewritten([*every, "full_text"]))
    rows: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    for table in SCRUBBED:
        rows[table.name] = _scrub_table(connections, table, dry_run, kinds, progress)
    rows["full_text"] = _scrub_full_texts(connections, dry_run, kinds, progress)
    if not dry_run:
        rewriting.rewrite(connections, _rewritten(+rows), progress)
    return Scrubbed(rows=dict(+rows), kinds=dict(+kinds), dry_run=dry_run)


def _rewritten(changed: Iterable[str]) -> list[str]:
    """The tables in which old rows of these, or words of theirs, would stay."""
    tables = list(changed)
    return [*tables, *(["words"] if "memory" in tables else [])]


def _scrub_table(
    connections: Connections, table: ScrubbedTable, dry_run: bool, kinds: Counter[str], progress: Progress
) -> int:
    changed = 0
    keys = KEYS.get(table.name, table.keys)
    for batch in _batches(connections, table.name, keys, progress):
        changes = list(_changes(connections, table, keys, batch, kinds))
        changed += len(changes)
        if changes and not dry_run:
            with connections.writing(EVERY_TENANT) as write:
                for key, old, new in changes:
                    _update(write, table, keys, (key, old, new))
    return changed


def _batches(
    connections: Connections, table: str, keys: tuple[str, ...], progress: Progress
) -> Iterator[list[Row]]:
    every = connections.read(EVERY_TENANT, f"SELECT {', '.join(keys)} FROM {table}", ())
    for start in range(0, len(every), BATCH):
        progress(table, start, len(every))
        yield every[start : start + BATCH]


def _changes(
    connections: Connections,
    table: ScrubbedTable,
    keys: tuple[str, ...],
    batch: list[Row],
    kinds: Counter[str],
) -> Iterator[tuple[Row, Row, list[Any]]]:
    """Rows that hold a secret: their keys, their texts, and these without it."""
    select = f"SELECT {', '.join(table.texts)} FROM {table.name} WHERE {_is(keys)}"
    for key in batch:
        for row in connections.read(EVERY_TENANT, select, key):
            clean = [cleaned(value) for cleaned, value in zip(table.texts.values(), row, strict=True)]
            if clean != list(row):
                count_kinds(row, clean, kinds)
                yield key, row, clean


def _update(
    write: Any, table: ScrubbedTable, keys: tuple[str, ...], change: tuple[Row, Row, list[Any]]
) -> None:
    """One row, unless somebody has changed it since it was read: that write was admitted."""
    key, old, new = change
    sets = ", ".join(f"{name} = %s" for name in table.texts)
    same = " AND ".join(f"{name} IS NOT DISTINCT FROM %s" for name in table.texts)
    statement = f"UPDATE {table.name} SET {sets} WHERE {_is(keys)} AND {same} RETURNING tenant"
    if not write(statement, (*new, *key, *old)) or table.name != "memory":
        return
    before, after = (dict(zip(table.texts, values, strict=True)) for values in (old, new))
    if any(before[name] != after[name] for name in text_index.FIELDS):
        text_index.change(key[0], key[1], after, write)


def _is(keys: tuple[str, ...]) -> str:
    return " AND ".join(f"{name} = %s" for name in keys)


def _scrub_full_texts(
    connections: Connections, dry_run: bool, kinds: Counter[str], progress: Progress
) -> int:
    changed = 0
    for batch in _batches(connections, "full_text", KEYS["full_text"], progress):
        for key in batch:
            found = connections.read(EVERY_TENANT, FULL_TEXT, key)
            redacted = redact((unpacked_text(*found[0]) if found else None) or "")
            if not redacted.found:
                continue
            changed += 1
            kinds.update(redacted.found)
            if not dry_run:
                with connections.writing(EVERY_TENANT) as write:
                    write(text_index.PUT_FULL_TEXT, (*key, *packed_text(redacted.text)))
    return changed
