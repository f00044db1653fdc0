"""Rewriting: tables are written again without their old rows, by a role that is allowed to do so."""

from collections.abc import Callable, Iterable

from psycopg import errors

from lore.errors import Unavailable
from lore.store.postgres.connections import Connections
from lore.store.postgres.tables import EVERY_TENANT
from lore.text import listed

SAMPLES = "pg_statistic"
"""The planner's samples of all columns, texts included."""
NUMBERS_ONLY = frozenset({"usage", "cooccurrence"})
"""Tables without a text or a vector: nothing in their old rows is worth a rewrite."""
MAINTAINED_SINCE = 170000
"""The first version with the right MAINTAIN."""
FORBIDDEN = f"""
    SELECT c.relname, current_user, current_setting('server_version_num')::integer
        FROM pg_class c JOIN pg_database d ON d.datname = current_database()
        WHERE c.oid = ANY(%(tables)s::regclass[])
        AND NOT pg_has_role(c.relowner, 'USAGE') AND NOT pg_has_role(d.datdba, 'USAGE')
        AND NOT CASE WHEN current_setting('server_version_num')::integer >= {MAINTAINED_SINCE}
            THEN has_table_privilege(c.oid, 'MAINTAIN') ELSE false END
        ORDER BY c.relname
"""
"""Tables that VACUUM would pass over with no more than a warning."""
PATIENCE = "SET lock_timeout = '30s'"
"""Longer than most statements take; all others wait meanwhile."""
Progress = Callable[[str, int, int], None]


def _no_progress(part: str, done: int, total: int) -> None:
    """For work that shows no progress."""


def refuse_unless_allowed(connections: Connections, tables: Iterable[str]) -> None:
    """Raise Unavailable, before anything is erased, if this role cannot write one of these tables again."""
    found = connections.read(EVERY_TENANT, FORBIDDEN, {"tables": [*tables, SAMPLES]})
    if not found:
        return
    (_, role, version), names = found[0], [str(name) for name, *_ in found]
    grant = (
        f", or let an administrator run GRANT MAINTAIN ON ALL TABLES IN SCHEMA public TO {role} and"
        f" GRANT MAINTAIN ON pg_catalog.{SAMPLES} TO {role}"
    )
    raise Unavailable(
        f"no memory was erased: the role {role} may not rewrite {listed(names)}, so the texts would stay"
        " in the files of the server. Use the role that owns the database (lore_owner of `lore postgres"
        " plan`)"
        f"{grant if version >= MAINTAINED_SINCE else ''}"
    )


def rewrite(connections: Connections, tables: Iterable[str], progress: Progress = _no_progress) -> None:
    """Write these tables again without old rows, and take samples for the planner that hold none of them.

    Who still reads in a transaction that began before the rows went keeps them: then another VACUUM FULL has
    to follow when it is over.
    """
    wanted = [table for table in tables if table not in NUMBERS_ONLY]
    if not wanted:
        return
    wanted.append(SAMPLES)
    with connections.aside() as connection:
        connection.execute(PATIENCE)
        for at, table in enumerate(wanted):
            progress(table, at, len(wanted))
            try:
                connection.execute(f"VACUUM (FULL, ANALYZE) {table}")
            except errors.LockNotAvailable as error:
                raise Unavailable(
                    "the rows are erased, but others kept a table locked for 30 seconds, so old rows are"
                    f" still in the files of the server; run VACUUM FULL there on {listed(wanted[at:])}"
                ) from error
