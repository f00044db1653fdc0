"""Tables: rows of another program's SQLite database as dictionaries, whichever columns its version has."""

from collections.abc import Iterator, Mapping
from typing import Any

import apsw

Fields = Mapping[str, Any]


def tables_of(db: apsw.Connection) -> frozenset[str]:
    """The names of the tables."""
    rows = db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    return frozenset(str(name) for (name,) in rows)


def rows_of(db: apsw.Connection, table: str) -> Iterator[Fields]:
    """The rows of a table, oldest first; none if there is no such table."""
    if table not in tables_of(db):
        return
    cursor = db.execute(f'SELECT * FROM "{table}" ORDER BY rowid')
    names: tuple[str, ...] = ()
    for row in cursor:
        names = names or tuple(column[0] for column in cursor.get_description())
        yield dict(zip(names, row, strict=True))


def count_of(db: apsw.Connection, *tables: str) -> int:
    """The number of rows in all of these tables that exist."""
    existing = tables_of(db).intersection(tables)
    return sum(int(str(db.execute(f'SELECT count(*) FROM "{name}"').fetchall()[0][0])) for name in existing)
