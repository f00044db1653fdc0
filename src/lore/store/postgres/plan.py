"""Plan: what an administrator runs once, in SQL: roles, the extension, and tables distributed by Citus."""

from dataclasses import dataclass

from lore.store.postgres.tables import every_table

SHARDS = 256
"""Of a distributed table: a node can be added for each of them later on."""
OWNER, SERVER = "lore_owner", "lore_server"


@dataclass(frozen=True, slots=True)
class Part:
    """Some statements and the reason for them."""

    title: str
    reason: str
    statements: tuple[str, ...]


def plan(citus: bool) -> list[Part]:
    """The statements in their order. citus: also those that distribute the tables."""
    return [*SETUP, *(_distribution() if citus else ())]


SETUP = (
    Part(
        "roles",
        "One role owns and upgrades the tables, another one serves. Neither bypasses row-level security.",
        (
            f"CREATE ROLE {OWNER} LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD '...';",
            f"CREATE ROLE {SERVER} LOGIN NOSUPERUSER NOBYPASSRLS PASSWORD '...';",
            f"CREATE DATABASE lore OWNER {OWNER} ENCODING 'UTF8' TEMPLATE template0;",
        ),
    ),
    Part(
        "extension",
        "In the database `lore`, as its administrator: the extension needs a superuser.",
        ("CREATE EXTENSION vector;",),
    ),
    Part(
        "words",
        "Row-level security keeps the index of words from being used, unless the operator behind it counts as"
        " leakproof. Without this, a search by words reads all words of one tenant.",
        ("ALTER FUNCTION pg_catalog.ts_match_vq(tsvector, tsquery) LEAKPROOF;",),
    ),
    Part(
        "ranked words (optional)",
        "With pg_textsearch (PostgreSQL 17 or 18) in shared_preload_libraries, large tenants get a BM25 index"
        " of their words. Without it, searches find the same by counting words. Before the library goes, run"
        " DROP EXTENSION pg_textsearch CASCADE: without it no table with such an index can be read.",
        ("CREATE EXTENSION IF NOT EXISTS pg_textsearch;",),
    ),
    Part(
        "rights",
        f"After the first start as {OWNER}, which makes the tables: {SERVER} may read and write all of them.",
        (
            f"GRANT USAGE ON SCHEMA public TO {SERVER};",
            f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {SERVER};",
            f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {SERVER};",
            f"ALTER DEFAULT PRIVILEGES FOR ROLE {OWNER} IN SCHEMA public"
            f" GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {SERVER};",
        ),
    ),
    Part(
        "erasing (PostgreSQL 17 and later)",
        "`lore purge` and `lore scrub` write tables and the planner's samples again, without old rows."
        f" Without these rights {SERVER} is refused: run them as {OWNER} then.",
        (
            f"GRANT MAINTAIN ON ALL TABLES IN SCHEMA public TO {SERVER};",
            f"GRANT MAINTAIN ON pg_catalog.pg_statistic TO {SERVER};",
            f"ALTER DEFAULT PRIVILEGES FOR ROLE {OWNER} IN SCHEMA public"
            f" GRANT MAINTAIN ON TABLES TO {SERVER};",
        ),
    ),
)


def _distribution() -> list[Part]:
    """All tables of a tenant lie on one node: each key begins with the tenant."""
    tables = sorted(every_table(), key=lambda name: (name != "tenant_state", name != "memory"))
    first, *others = tables
    distributed = [
        f"SELECT create_distributed_table('{name}', 'tenant', colocate_with => '{first}');" for name in others
    ]
    return [
        Part(
            "distribution",
            f"On the coordinator of Citus, with empty tables. {SHARDS} shards, a tenant in one of them.",
            (
                f"SET citus.shard_count = {SHARDS};",
                "SELECT create_reference_table('tenant');",
                f"SELECT create_distributed_table('{first}', 'tenant');",
                *distributed,
            ),
        ),
        Part(
            "protection",
            "Citus does not forward the tenant of a transaction to its nodes, so this second lock would hide"
            " every row there. The first lock stays: each statement of Lore names its tenant.",
            tuple(f"ALTER TABLE {name} DISABLE ROW LEVEL SECURITY;" for name in tables),
        ),
    ]
