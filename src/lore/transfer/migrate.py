"""migrate: all rows of one database → another one, batch by batch → both sides compared."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import islice

from lore.errors import Invalid, Unavailable
from lore.store.columns import Row
from lore.store.moving import TABLES, CopyState, Database, MovedTable, Numbers, Source, Tables, Target
from lore.text import listed

BATCH = 2_000
"""Rows of one transaction."""
DIGEST_BYTES = 16
Progress = Callable[[str, int, int], None]
"""Called with the part of the work, the number of rows done, and the number of all."""


@dataclass(frozen=True, slots=True)
class Migrated:
    """A complete copy. rows, checksums: of each table, equal on both sides.

    resumed: the number of rows that an earlier attempt had copied. restarted: the rows of an earlier attempt
    were dropped, because the source had changed since. renumbered: tenants whose memories have new numbers.
    """

    source: str
    target: str
    rows: Mapping[str, int]
    checksums: Mapping[str, str]
    resumed: int
    restarted: bool
    renumbered: tuple[str, ...]


def count(source: Database) -> dict[str, int]:
    """The number of rows of each table that a copy would hold."""
    with source.source() as tables:
        return _counts(tables)


def migrate(source: Database, target: Database, progress: Progress, batch: int = BATCH) -> Migrated:
    """Copy a store to an empty database, or complete a copy of it that was interrupted.

    The source is read as it is now. Both sides are compared at the end; Unavailable if they differ.
    """
    if source == target:
        raise Invalid(f"source and target are the same: {source}")
    with source.source() as whole, target.target() as copy:
        earlier = copy.state()
        _refuse_used(copy, earlier, whole.location)
        tables = _Renumbered(whole, _shifts(whole, copy))
        rows = _counts(whole)
        total = sum(rows.values())
        checksums = _checksums(tables, _Meter("read", total, progress))
        begun = CopyState(whole.location, checksums)
        resumes = earlier is not None and earlier.checksums == checksums
        if earlier is None or not resumes:
            copy.begin(begun)
        state = earlier if earlier is not None and resumes else begun
        resumed = sum(state.rows.values())
        _copy(tables, copy, state, batch, _Meter("copy", total, progress, resumed))
        _compare(rows, checksums, copy, _Meter("compare", total, progress))
        copy.finish(tables.last_numbers())
    return Migrated(
        source=whole.location,
        target=copy.location,
        rows=rows,
        checksums=checksums,
        resumed=resumed,
        restarted=earlier is not None and not resumes,
        renumbered=tables.renumbered,
    )


class _Meter:
    """Counts rows and reports them."""

    def __init__(self, part: str, total: int, progress: Progress, done: int = 0) -> None:
        self._part, self._total, self._progress, self._done = part, total, progress, done

    def add(self, rows: int) -> None:
        if rows:
            self._done += rows
            self._progress(self._part, self._done, self._total)


def _counts(tables: Tables) -> dict[str, int]:
    return {table.name: tables.count(table) for table in TABLES}


def _refuse_used(copy: Target, state: CopyState | None, source: str) -> None:
    """Invalid if the target holds anything but a copy of this source."""
    if state is None:
        if used := [f"{name} ({rows:,} rows)" for name, rows in _counts(copy).items() if rows]:
            raise Invalid(f"{copy.location} is not empty; it has {listed(used)}. Give an empty database")
    elif state.source != source:
        raise Invalid(
            f"{copy.location} is an incomplete copy of {state.source}, not of {source}; complete that copy,"
            " or give an empty database"
        )


# --- numbers
class _Renumbered:
    """The rows of a source with the numbers that they get in a target.

    A database that shares its numbers among tenants cannot keep those of every tenant where two have given
    the same: then each tenant's numbers begin behind those of the one before, in the order of their names.
    """

    def __init__(self, source: Source, shifts: Mapping[str, Numbers]) -> None:
        self._source, self._shifts = source, shifts
        self.renumbered = tuple(name for name, shift in shifts.items() if shift != Numbers())

    def rows(self, table: MovedTable, skip: int = 0) -> Iterator[Row]:
        rows = self._source.rows(table, skip)
        return (self._shifted(row, table) for row in rows) if self.renumbered and table.numbers else rows

    def _shifted(self, row: Row, table: MovedTable) -> Row:
        tenant, *values = row
        for column, series in table.numbers.items():
            values[table.columns.index(column)] += getattr(self._shifts[tenant], series)
        return tenant, *values

    def last_numbers(self) -> dict[str, Numbers]:
        last = self._source.last_numbers()
        return {name: _sum(numbers, self._shifts.get(name, Numbers())) for name, numbers in last.items()}


def _shifts(source: Source, copy: Target) -> dict[str, Numbers]:
    """What is added to the numbers of each tenant; empty: nothing."""
    if not copy.shares_numbers or not source.repeats_numbers():
        return {}
    shifts, total = dict[str, Numbers](), Numbers()
    for name, last in sorted(source.last_numbers().items()):
        shifts[name] = total
        total = _sum(total, last)
    return shifts


def _sum(one: Numbers, other: Numbers) -> Numbers:
    return Numbers(one.memories + other.memories, one.links + other.links, one.entries + other.entries)


# --- rows
def _copy(tables: _Renumbered, copy: Target, state: CopyState, batch: int, meter: _Meter) -> None:
    """Continue behind the last complete batch."""
    for table in TABLES:
        done = state.rows.get(table.name, 0)
        rows = tables.rows(table, skip=done)
        while part := list(islice(rows, batch)):
            done += len(part)
            after = replace(state, rows={**state.rows, table.name: done})
            copy.put(table, part, state, after)
            state = after
            meter.add(len(part))


def _compare(rows: Mapping[str, int], checksums: Mapping[str, str], copy: Target, meter: _Meter) -> None:
    """Unavailable if a table of the copy has other rows; the next attempt then begins again."""
    counts, copied = _counts(copy), _checksums(copy, meter)
    if counts == rows and copied == checksums:
        return
    state = copy.state()
    if state is not None:
        copy.begin(replace(state, rows={}))
    wrong = [
        f"{name} ({counts[name]:,} of {number:,} rows)"
        for name, number in rows.items()
        if counts[name] != number or copied[name] != checksums[name]
    ]
    raise Unavailable(
        f"the copy in {copy.location} differs from its source in {listed(wrong)}; it was emptied. Was anybody"
        " writing to it? Run the command again"
    )


def _checksums(tables: "Tables | _Renumbered", meter: _Meter) -> dict[str, str]:
    return {table.name: checksum(_metered(tables.rows(table), meter)) for table in TABLES}


def _metered(rows: Iterable[Row], meter: _Meter) -> Iterator[Row]:
    number = 0
    for number, row in enumerate(rows, 1):
        yield row
        if number % BATCH == 0:
            meter.add(BATCH)
    meter.add(number % BATCH)


def checksum(rows: Iterable[Row]) -> str:
    """A checksum that does not depend on the order of the rows: the sum of the hashes of all."""
    total = 0
    for row in rows:
        text = repr(tuple(row))
        if "-0.0" in text:  # a database may keep it as 0.0
            text = repr(tuple(value + 0.0 if isinstance(value, float) else value for value in row))
        total += int.from_bytes(blake2b(text.encode(), digest_size=DIGEST_BYTES).digest(), "big")
    return f"{total % (1 << 8 * DIGEST_BYTES):0{2 * DIGEST_BYTES}x}"
