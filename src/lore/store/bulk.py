"""Bulk: many rows into a table by few statements; to run one costs as much as many rows in it do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lore.store import sql

MOST_ROWS = 64
"""In one statement. Each makes the text index write down what it has gathered so far."""


@dataclass(frozen=True, slots=True)
class Table:
    """Where rows go, the columns that each of them gives, and those that it is given there."""

    name: str
    columns: tuple[str, ...]
    returning: tuple[str, ...] = ()


def insert(table: Table, values: Sequence[Sequence[Any]], rows: sql.Rows) -> list[sql.Row]:
    """All of `values`, in their order; of each row what it is given, in any order."""
    returned: list[sql.Row] = []
    start = 0
    for size in _sizes(len(values)):
        part = values[start : start + size]
        returned += rows(_statement(table, size), [value for row in part for value in row])
        start += size
    return returned


def _sizes(count: int) -> Iterator[int]:
    """Powers of two that add up to `count`, so that few statements are ever prepared."""
    while count:
        size = min(MOST_ROWS, 1 << (count.bit_length() - 1))
        yield size
        count -= size


@lru_cache
def _statement(table: Table, size: int) -> str:
    row = f"({', '.join('?' * len(table.columns))})"
    returning = f" RETURNING {', '.join(table.returning)}" if table.returning else ""
    return (
        f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES {', '.join([row] * size)}{returning}"
    )
