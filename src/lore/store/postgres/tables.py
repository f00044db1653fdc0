"""Tables: those of records, made from their classes; and row-level security on every table of a tenant."""

import json
from collections.abc import Iterable
from dataclasses import MISSING, Field, fields
from typing import Any, Literal, get_origin

from lore.store.columns import RECORDS, RecordTable
from lore.store.postgres import upkeep

TYPES = {"str": 'text COLLATE "C"', "int": "bigint", "float": "double precision", "bool": "boolean"}
TENANT_TABLES = (
    "tenant_state", "memory", "usage", "cooccurrence", "link", "suggestion", "full_text", "journal", "words",
    "subject", "embedding",
)  # fmt: skip
"""The tables of the first schema whose rows belong to one tenant, besides those of records."""
ADDED_TABLES = ("vector_rest",)
"""Those of later steps."""
INDEXES = {"job": upkeep.INDEX}
"""Further indexes of tables of records."""

EVERY_TENANT = 0
"""The setting `lore.tenant` with which care-taking sees the rows of all tenants."""
DISTRIBUTED = "SELECT EXISTS (SELECT 1 FROM pg_extension x WHERE x.extname = 'citus')"
"""Whether Citus keeps the tables on several nodes."""
SETTING = "nullif(current_setting('lore.tenant', true), '')::integer"
POLICY = f"(tenant = (SELECT {SETTING}) OR (SELECT {SETTING}) = {EVERY_TENANT})"


def record_tables() -> dict[str, RecordTable]:
    """The tables of records, by name."""
    return {table.name: table for table in RECORDS.values()}


def every_table() -> tuple[str, ...]:
    """The tables whose rows belong to one tenant."""
    return (*TENANT_TABLES, *ADDED_TABLES, *record_tables())


def record_statements(existing: Iterable[tuple[str, str]]) -> list[str]:
    """What makes the missing tables and columns of records. existing: (table, column) of the database."""
    known = set(existing)
    found: list[str] = []
    for kind, table in RECORDS.items():
        columns = {one.name: _column(one, table) for one in fields(kind)}
        if (table.name, "tenant") not in known:
            keys = ", ".join(("tenant", "namespace", *table.keys))
            listed = "".join(f", {column}" for column in columns.values())
            found.append(
                f"CREATE TABLE {table.name} (tenant integer NOT NULL,"
                f' namespace text COLLATE "C" NOT NULL{listed}, PRIMARY KEY ({keys}))'
            )
            found += protection(table.name)
            found += [INDEXES[table.name]] if table.name in INDEXES else []
        else:
            missing = [name for name in columns if (table.name, name) not in known]
            found += [f"ALTER TABLE {table.name} ADD COLUMN {columns[name]}" for name in missing]
    return found


def protection(table: str) -> list[str]:
    """Row-level security: a transaction sees and writes the rows of the tenant that it has set.

    The planner knows nothing of single tenants: plans are then the same for a new tenant and an old one.
    """
    return [
        f"ALTER TABLE {table} ALTER COLUMN tenant SET STATISTICS 0",
        f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY",
        f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY",
        f"CREATE POLICY tenant_only ON {table} USING {POLICY} WITH CHECK {POLICY}",
    ]


def numbers_of(kind: Any) -> frozenset[str]:
    """The fields of a record that are numbers in the database."""
    table = RECORDS[kind]
    texts = table.as_json | table.as_text
    return frozenset(
        one.name for one in fields(kind) if one.name not in texts and _plain(one) in ("int", "float")
    )


def _plain(field: Field[Any]) -> str:
    """The name of a field's type, without None. The values of a Literal are texts."""
    if get_origin(field.type) is Literal:
        return "str"
    return str(getattr(field.type, "__name__", field.type)).replace(" | None", "")


def _column(field: Field[Any], table: RecordTable) -> str:
    """Name, type and default of a field; a new column of an old table needs one."""
    as_text = field.name in table.as_json | table.as_text
    sql_type = TYPES["str" if as_text else _plain(field)]
    required = "" if "None" in str(field.type) else " NOT NULL"
    return f'"{field.name}" {sql_type}{required}{_default(field, table)}'


def _default(field: Field[Any], table: RecordTable) -> str:
    if field.default is not MISSING:
        value = field.default
    elif field.default_factory is not MISSING:
        value = field.default_factory()
    else:
        return ""
    if value is None:
        return ""
    encoded = json.dumps(value) if field.name in table.as_json else str(value)
    return f" DEFAULT '{encoded}'"
