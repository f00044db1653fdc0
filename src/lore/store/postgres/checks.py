"""Checks: does derived state agree with the rows, are tenants kept apart, and how is it computed again?"""

from collections.abc import Callable, Iterator

import psycopg
from psycopg import Connection

from lore.health import Finding
from lore.model import LORE_CALL, VERBATIM
from lore.names import subjects
from lore.store.columns import Row
from lore.store.postgres import text_index
from lore.store.postgres.connections import Connections, rows_of
from lore.store.postgres.tables import DISTRIBUTED, EVERY_TENANT, every_table
from lore.store.rows import unpacked_text

SAMPLE = 2_000

SIZE = """
    SELECT coalesce(sum(pg_total_relation_size(to_regclass(name))), 0)
        FROM unnest(%(tables)s::text[]) AS t (name)
"""
ROLE = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
LEAKPROOF = """
    SELECT p.proleakproof OR r.rolsuper OR r.rolbypassrls FROM pg_roles r, pg_proc p
        WHERE r.rolname = current_user AND p.oid = 'ts_match_vq(tsvector, tsquery)'::regprocedure
"""
UNPROTECTED = """
    SELECT c.relname FROM pg_class c
        WHERE c.oid IN (SELECT to_regclass(name) FROM unnest(%(tables)s::text[]) AS t (name))
        AND NOT (c.relrowsecurity AND c.relforcerowsecurity) ORDER BY 1
"""
TRUE_DEPTHS = """
    WITH RECURSIVE tree (tenant, node, depth) AS (
        SELECT m.tenant, m.alias, 0 FROM memory m WHERE NOT EXISTS (SELECT 1 FROM link l
            WHERE l.tenant = m.tenant AND l.target = m.alias AND l.kind = 'hierarchical' AND l.active = 1)
        UNION
        SELECT l.tenant, l.target, tree.depth + 1 FROM tree JOIN link l
            ON l.tenant = tree.tenant AND l.source = tree.node
            WHERE l.kind = 'hierarchical' AND l.active = 1
    )
"""
WRONG_DEPTHS = f"""
    {TRUE_DEPTHS} SELECT count(*) FROM memory m
        LEFT JOIN tree ON tree.tenant = m.tenant AND tree.node = m.alias
        WHERE m.depth IS DISTINCT FROM tree.depth
"""
SET_DEPTHS = f"""
    {TRUE_DEPTHS} UPDATE memory m SET depth = tree.depth FROM tree
        WHERE m.tenant = tree.tenant AND m.alias = tree.node AND m.depth <> tree.depth
"""
WRONG_VECTOR = "(e.model <> '') <> (e.vector IS NOT NULL)"
LOST_EMBEDDINGS = f"""
    SELECT count(*) FROM memory m LEFT JOIN embedding e ON e.tenant = m.tenant AND e.memory = m.alias
        WHERE (e.memory IS NULL AND m.kind <> '{LORE_CALL}') OR e.namespace <> m.namespace OR {WRONG_VECTOR}
"""
VERBATIM_KINDS = ", ".join(f"'{kind}'" for kind in sorted(VERBATIM))
ADD_EMBEDDINGS = f"""
    INSERT INTO embedding (tenant, memory, namespace, model, version, verbatim, added_at)
        SELECT m.tenant, m.alias, m.namespace, '', 0, m.kind IN ({VERBATIM_KINDS}), m.created_at FROM memory m
        WHERE m.kind <> '{LORE_CALL}'
    ON CONFLICT (tenant, memory) DO UPDATE SET namespace = excluded.namespace
        WHERE embedding.namespace <> excluded.namespace
"""
DROP_VECTORS = f"UPDATE embedding e SET model = '', vector = NULL, version = version + 1 WHERE {WRONG_VECTOR}"
LOST_USAGE = """
    SELECT count(*) FROM memory m WHERE NOT EXISTS
        (SELECT 1 FROM usage u WHERE u.tenant = m.tenant AND u.memory = m.alias)
"""
ADD_USAGE = """
    INSERT INTO usage SELECT tenant, alias, 0, 0, NULL, NULL, 0.0, NULL FROM memory ON CONFLICT DO NOTHING
"""
UNJOURNALED = """
    SELECT count(*) FROM memory m WHERE NOT EXISTS (SELECT 1 FROM journal j
        WHERE j.tenant = m.tenant AND j.id = m.id AND j.noun = 'memory')
"""
NUMBERS = """
    SELECT count(*) FROM tenant_state s
        WHERE s.memories < (SELECT coalesce(max(m.alias), 0) FROM memory m WHERE m.tenant = s.tenant)
        OR s.links < (SELECT coalesce(max(l.alias), 0) FROM link l WHERE l.tenant = s.tenant)
        OR s.entries < (SELECT coalesce(max(j.seq), 0) FROM journal j WHERE j.tenant = s.tenant)
"""
SET_NUMBERS = """
    UPDATE tenant_state s SET
        memories = greatest(memories, (SELECT max(m.alias) FROM memory m WHERE m.tenant = s.tenant)),
        links = greatest(links, (SELECT max(l.alias) FROM link l WHERE l.tenant = s.tenant)),
        entries = greatest(entries, (SELECT max(j.seq) FROM journal j WHERE j.tenant = s.tenant))
"""
TEXTS = f"SELECT m.tenant, m.alias, {', '.join(f'm.{name}' for name in text_index.FIELDS)} FROM memory m"
NEWEST_TEXTS = f"{TEXTS} ORDER BY m.created_at DESC LIMIT {SAMPLE}"
NEXT_TEXTS = f"""
    {TEXTS} WHERE (m.tenant, m.alias) > (%(tenant)s, %(alias)s) ORDER BY m.tenant, m.alias LIMIT {SAMPLE}
"""
WRONG_WORDS = f"""
    SELECT count(*) FROM (
        SELECT {text_index.VECTORS} AS words, v.tenant, v.memory FROM unnest(%(tenants)s::int[],
            %(aliases)s::int[], {", ".join(f"%({name})s::text[]" for name in text_index.FIELDS)})
            AS v (tenant, memory, {", ".join(text_index.FIELDS)})
    ) v LEFT JOIN words w ON w.tenant = v.tenant AND w.memory = v.memory
    WHERE w.words IS DISTINCT FROM v.words
"""
SUBJECTS = """
    SELECT s.tenant, s.memory, s.name FROM subject s JOIN unnest(%(tenants)s::int[], %(aliases)s::int[])
        AS v (tenant, memory) ON s.tenant = v.tenant AND s.memory = v.memory
"""
FULL_TEXTS = f"SELECT characters, data FROM full_text ORDER BY tenant, memory DESC LIMIT {SAMPLE}"


def size_of(connections: Connections) -> int:
    """The bytes of all tables and their indexes."""
    tables = ["tenant", *every_table()]
    ((size,),) = connections.read(EVERY_TENANT, SIZE, {"tables": tables})
    return int(size)


def words_are_quick(connections: Connections) -> bool:
    """Whether the index of words may be used under row-level security (see docs/postgres.md)."""
    ((quick,),) = connections.read(EVERY_TENANT, LEAKPROOF, {})
    return bool(quick)


def is_distributed(connections: Connections) -> bool:
    """Whether Citus keeps the tables on several nodes."""
    ((distributed,),) = connections.read(EVERY_TENANT, DISTRIBUTED, {})
    return bool(distributed)


def quick(connections: Connections) -> list[Finding]:
    """The findings that cost next to nothing."""
    return [_protection(connections)]


def _protection(connections: Connections) -> Finding:
    ((bypasses,),) = connections.read(EVERY_TENANT, ROLE, {})
    unprotected = [
        name for (name,) in connections.read(EVERY_TENANT, UNPROTECTED, {"tables": list(every_table())})
    ]
    if bypasses:
        detail = "this role bypasses row-level security; connect as one without SUPERUSER and BYPASSRLS"
        return Finding("tenants", False, detail)
    if unprotected:
        return Finding("tenants", False, f"row-level security is off for {', '.join(unprotected)}")
    return Finding("tenants", True, "row-level security keeps tenants apart")


def check(connections: Connections) -> list[Finding]:
    """All findings, good and bad; what cannot be checked is a finding instead of an exception."""
    findings = quick(connections)
    with connections.keeping() as connection:
        for name, look in CHECKS.items():
            findings.append(_guarded(name, look, connection))
    return findings


def _guarded(name: str, look: Callable[[Connection[Row]], Finding], connection: Connection[Row]) -> Finding:
    try:
        with connection.transaction():
            return look(connection)
    except psycopg.Error as error:
        if connection.broken:
            raise
        return Finding(name, False, f"could not be checked: {error}")


def _texts(rows: list[Row]) -> Iterator[tuple[int, int, text_index.Texts]]:
    """tenant, alias and indexed texts of memories."""
    for tenant, alias, *texts in rows:
        yield tenant, alias, dict(zip(text_index.FIELDS, texts, strict=True))


def _words(connection: Connection[Row]) -> Finding:
    found = list(_texts(connection.execute(NEWEST_TEXTS).fetchall()))
    given = {
        name: [text_index.document(texts[name], text_index.letters_of(tenant)) for tenant, _, texts in found]
        for name in text_index.FIELDS
    }
    numbers = {"tenants": [tenant for tenant, _, _ in found], "aliases": [alias for _, alias, _ in found]}
    ((wrong,),) = connection.execute(WRONG_WORDS, numbers | given).fetchall()
    detail = f"{wrong} memories disagree with the text index" if wrong else "the text index agrees"
    return Finding("words", not wrong, detail, repairable=True)


def _names(connection: Connection[Row]) -> Finding:
    found = list(_texts(connection.execute(NEWEST_TEXTS).fetchall()))
    numbers = {"tenants": [tenant for tenant, _, _ in found], "aliases": [alias for _, alias, _ in found]}
    stored = set(connection.execute(SUBJECTS, numbers).fetchall())
    expected = {
        (tenant, alias, name)
        for tenant, alias, texts in found
        for name in subjects(texts["title"], texts["content"])
        if len(name) <= text_index.LONGEST_NAME
    }
    wrong = len({row[:2] for row in stored ^ expected})
    detail = (
        f"{wrong} memories are filed under wrong names" if wrong else "memories are filed under their names"
    )
    return Finding("names", not wrong, detail, repairable=True)


def _number(connection: Connection[Row], statement: str) -> int:
    ((number,),) = connection.execute(statement).fetchall()
    return int(number)


def _counting(
    name: str, statement: str, wrong: str, right: str, repairable: bool = True
) -> Callable[[Connection[Row]], Finding]:
    """A check that counts the rows which are wrong."""

    def look(connection: Connection[Row]) -> Finding:
        count = _number(connection, statement)
        return Finding(name, not count, f"{count} {wrong}" if count else right, repairable)

    return look


def _full_texts(connection: Connection[Row]) -> Finding:
    rows = connection.execute(FULL_TEXTS).fetchall()
    wrong = sum(unpacked_text(characters, data) is None for characters, data in rows)
    detail = (
        f"{wrong} are damaged; `lore ingest --again` reads them anew" if wrong else "whole texts are whole"
    )
    return Finding("full texts", not wrong, detail)


CHECKS: dict[str, Callable[[Connection[Row]], Finding]] = {
    "words": _words,
    "names": _names,
    "vectors": _counting(
        "vectors", LOST_EMBEDDINGS, "memories without a place for their vector", "every vector is complete"
    ),
    "full texts": _full_texts,
    "use": _counting("use", LOST_USAGE, "memories without counters", "every memory has its counters"),
    "trees": _counting(
        "trees", WRONG_DEPTHS, "depths disagree with the links", "every depth agrees with the links"
    ),
    "numbers": _counting("numbers", NUMBERS, "tenants would give a number twice", "numbers are given once"),
    "journal": _counting(
        "journal", UNJOURNALED, "memories without an entry", "every memory has its entry", repairable=False
    ),
}


def rebuild(connections: Connections) -> None:
    """Words, names, depths and counters from the rows; damaged vectors are dropped, to be embedded again."""
    with connections.keeping() as connection:
        connection.execute("LOCK TABLE tenant_state IN EXCLUSIVE MODE")  # writers wait
        connection.execute("DELETE FROM words")
        connection.execute("DELETE FROM subject")
        last = {"tenant": -1, "alias": 0}
        while rows := connection.execute(NEXT_TEXTS, last).fetchall():
            by_tenant: dict[int, dict[int, text_index.Texts]] = {}
            for tenant, alias, texts in _texts(rows):
                by_tenant.setdefault(tenant, {})[alias] = texts
            for tenant, found in by_tenant.items():
                text_index.add(tenant, found, rows_of(connection))
            last = {"tenant": rows[-1][0], "alias": rows[-1][1]}
        for statement in (SET_DEPTHS, ADD_USAGE, ADD_EMBEDDINGS, DROP_VECTORS, SET_NUMBERS):
            connection.execute(statement)
