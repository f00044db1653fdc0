"""Moving: the tables that a copy of a whole store holds, and how databases give and take their rows.

TABLES lists them once, for every database. A row in its neutral form is the name of its tenant and the
columns of its table; a vector is in the form of `lore.vectors.packed`. The module `moving` of each database
lists its other tables and columns, which are computed again.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from lore.errors import Invalid, Unavailable
from lore.lazy import load
from lore.store import EXTRAS, STORES
from lore.store.columns import KNOWLEDGE, LINK, RECORDS, USE, Row
from lore.text import listed, without_password

Series = Literal["memories", "links", "entries"]
"""What is numbered: memories and links by their aliases, entries of the journal by `seq`."""
INCOMPLETE = "incomplete copy"
"""The step in the table `migration` of a store whose copy is not complete. Every Lore, also an older one,
refuses to open a store with a step that it does not know."""


@dataclass(frozen=True, slots=True)
class MovedTable:
    """A table whose rows a copy holds.

    columns: without the tenant. key: the columns that tell the rows of a tenant apart. numbers: columns that
    hold numbers, and of which series.
    """

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...]
    numbers: Mapping[str, Series] = field(default_factory=dict)


RECORD_NUMBERS: dict[str, Mapping[str, Series]] = {
    "digest_progress": {"until": "memories"},
    "field_stamps": {"seq": "entries"},
}
"""Cursors of the journal (`sync_mark`, `phase_mark`) keep their numbers: one that is behind reads again."""
TABLES = (
    MovedTable("memory", ("alias", "id", "depth", *KNOWLEDGE), ("alias",), {"alias": "memories"}),
    MovedTable("usage", ("memory", *USE), ("memory",), {"memory": "memories"}),
    MovedTable("full_text", ("memory", "characters", "data"), ("memory",), {"memory": "memories"}),
    MovedTable(
        "embedding",
        ("memory", "namespace", "model", "version", "vector"),
        ("memory",),
        {"memory": "memories"},
    ),
    MovedTable(
        "cooccurrence",
        ("one", "other", "count", "last_at"),
        ("one", "other"),
        {"one": "memories", "other": "memories"},
    ),
    MovedTable(
        "link",
        ("alias", "id", "source", "target", *LINK),
        ("alias",),
        {"alias": "links", "source": "memories", "target": "memories"},
    ),
    MovedTable(
        "suggestion",
        ("id", "source", "target", "score", "signals", "type", "status", "created_at", "updated_at"),
        ("id",),
        {"source": "memories", "target": "memories"},
    ),
    MovedTable(
        "journal",
        (
            "seq", "namespace", "at", "batch", "verb", "surface", "actor", "reason", "noun", "id", "before",
            "after",
        ),
        ("seq",),
        {"seq": "entries"},
    ),
    *(
        MovedTable(
            one.name,
            ("namespace", *one.columns),
            ("namespace", *one.keys),
            RECORD_NUMBERS.get(one.name, {}),
        )
        for one in RECORDS.values()
    ),
)  # fmt: skip
"""In the order in which they are copied: the rows that others refer to come first."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The last numbers that a tenant has given."""

    memories: int = 0
    links: int = 0
    entries: int = 0


@dataclass(frozen=True, slots=True)
class CopyState:
    """How far the copy in a target is. source: where it comes from. checksums: of the tables of the source.

    rows: the copied rows of each table.
    """

    source: str
    checksums: Mapping[str, str]
    rows: Mapping[str, int] = field(default_factory=dict)


def state_text(state: CopyState) -> str:
    """A state as a target keeps it: equal states are equal texts."""
    return json.dumps(asdict(state), sort_keys=True)


def state_of(text: str) -> CopyState:
    """The state in a text."""
    return CopyState(**json.loads(text))


def texts_of(table: MovedTable, rows: Iterable[Row]) -> dict[int, dict[str, str]]:
    """The columns of memories by name, by alias, from rows without their tenant."""
    return {row[0]: dict(zip(table.columns, row, strict=True)) for row in rows}


class Tables(ABC):
    """The tables of a store, whole: all tenants and namespaces. location: where it is, without a password."""

    location: str

    @abstractmethod
    def count(self, table: MovedTable) -> int:
        """The number of rows of a table."""

    @abstractmethod
    def rows(self, table: MovedTable, skip: int = 0) -> Iterator[Row]:
        """The rows in their neutral form, ordered by key, without the first `skip`.

        The same rows always come in the same order.
        """


class Source(Tables):
    """A store at one moment: later changes are not seen. Nothing in it changes."""

    @abstractmethod
    def last_numbers(self) -> dict[str, Numbers]:
        """The last numbers of each tenant, by the tenant's name; numbers that are too high do no harm."""

    @abstractmethod
    def repeats_numbers(self) -> bool:
        """Whether two tenants have given the same number."""


class Target(Tables):
    """A store that takes a copy. Until `finish` it is refused by all who want to use it.

    shares_numbers: all tenants share each series of numbers.
    """

    shares_numbers: bool

    @abstractmethod
    def state(self) -> CopyState | None:
        """How far the copy is; None: none has begun."""

    @abstractmethod
    def begin(self, state: CopyState) -> None:
        """Take all rows away, and mark the store as an incomplete copy."""

    @abstractmethod
    def put(self, table: MovedTable, rows: Sequence[Row], before: CopyState, after: CopyState) -> None:
        """Add rows and everything that is derived from them, and keep the state, in one transaction.

        before: the state that this continues; Unavailable if another process has changed it.
        """

    @abstractmethod
    def finish(self, numbers: Mapping[str, Numbers]) -> None:
        """Set the last numbers of each tenant, and let the store be used."""


def incomplete(location: object) -> Unavailable:
    """The error for a store that a copy has not completed."""
    return Unavailable(
        f"{location} is an incomplete copy of another store; the same `lore migrate` command completes it"
        " (docs/postgres.md)"
    )


@dataclass(frozen=True, slots=True)
class Database:
    """A database: its scheme, and a file or an address."""

    scheme: str
    location: str | Path

    def __str__(self) -> str:
        return without_password(str(self.location))

    def source(self) -> AbstractContextManager[Source]:
        """The store here, to be read."""
        return self._open("source")

    def target(self) -> AbstractContextManager[Target]:
        """The store here, to be filled; it is made if there is none."""
        return self._open("target")

    def _open(self, side: str) -> AbstractContextManager[Any]:
        package = STORES[self.scheme].rpartition(".")[0]
        try:
            opened: AbstractContextManager[Any] = load(f"{package}.moving:{side}")(self.location)
        except ImportError as error:
            wanted = f"pip install 'agent-lore[{EXTRAS.get(self.scheme, self.scheme)}]'"
            raise Unavailable(
                f"the database {self.scheme} needs more packages ({error}); {wanted}"
            ) from error
        return opened


def database_of(text: str) -> Database:
    """The database that a text names: `sqlite:PATH`, `sqlite://PATH`, `postgresql://…` or a path."""
    scheme, colon, rest = text.partition(":")
    if not colon or len(scheme) < 2 or not scheme.isalnum():  # a letter alone is a drive of Windows
        return Database("sqlite", Path(text).expanduser().resolve())
    if scheme == "postgres":
        scheme, text = "postgresql", f"postgresql:{rest}"
    if scheme not in STORES:
        raise Invalid(f"unknown database {scheme!r}; known: {listed(STORES)}, or the path of a file")
    if scheme == "sqlite":
        path = rest.removeprefix("//")
        if not path:
            raise Invalid("sqlite: needs the path of a file, as in sqlite:/home/me/memory.db")
        return Database(scheme, Path(path).expanduser().resolve())
    return Database(scheme, text)
