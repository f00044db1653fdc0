"""Stores: where memories live. The contract: every method is one promise, and `tests/store/test_contract.py`
tests each. STORES lists the databases that keep it.

A store holds many tenants. Nothing that is read or written for one tenant ever touches another one. Within
a tenant a reader sees its own namespace, the namespaces of its teams, and the namespace `shared`.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lore.errors import Invalid, Unavailable
from lore.health import BackupReport, Counts, Finding, Scrubbed, StoreReport
from lore.inspection import Purged
from lore.lazy import load
from lore.model import Cause, Entry, Filter, Link, Memory, Trace
from lore.store.abilities import FileStore, IndexedStore, SharedStore, TendedStore
from lore.store.records import AnyRecord, Record
from lore.store.values import (
    EVERY,
    Backlog,
    Cooccurrence,
    DayCount,
    JournalFilter,
    Listing,
    Neighbours,
    Page,
    Part,
    Passage,
    Place,
    Suggestion,
    SuggestionFilter,
    TextMatches,
    Use,
)
from lore.text import listed
from lore.vectors import Vector

__all__ = [
    "DEFAULT_TENANT", "STORES", "FileStore", "IndexedStore", "Listing", "Page", "Passage", "Reader",
    "SharedStore", "Snapshot", "Store", "Suggestion", "TendedStore", "Writer", "back_up", "open_store",
]  # fmt: skip

DEFAULT_TENANT = ""
"""The one tenant of an embedded store."""


class Reader(ABC):
    """The store as one namespace of one tenant sees it: its own memories, those of its teams, the shared
    ones, and their links.

    Nothing of another tenant or namespace appears in any answer. Unknown ids are simply absent. A reader
    sees everything that was committed before the call. teams: namespaces, without its own and `shared`.
    """

    namespace: str
    teams: tuple[str, ...]

    # --- memories
    @abstractmethod
    def get(self, ids: Iterable[str], forgotten: bool = False) -> dict[str, Memory]:
        """The known memories among `ids`; forgotten ones only on request."""

    @abstractmethod
    def resolve(
        self, references: Iterable[str | int], limit: int, noun: Literal["memory", "link"] = "memory"
    ) -> dict[str | int, list[str]]:
        """The ids that each reference can mean, in order, at most `limit`; an entry for each reference.

        A number is an alias. A text is the beginning of an id, or its end if it has at least ID_TAIL
        characters (memories only). Forgotten memories and ended links are included.
        """

    @abstractmethod
    def select(self, where: Filter, page: Page) -> Listing[Memory]:
        """The memories that pass, page by page: newest first, or most important, or most used; then newest.

        newest below: by the newest child that is not forgotten; by its own time, if a memory has none.
        shuffled: by the ends of their ids, which are random, so that the first ones are a fair sample.
        A memory that is there all the time is listed once, whatever is written between two pages.
        """

    @abstractmethod
    def traces(self, where: Filter, page: Page = EVERY) -> Listing[Trace]:
        """The same without texts: ids and the numbers that relevance is computed from."""

    @abstractmethod
    def count_below(self, ids: Iterable[str], where: Filter) -> dict[str, int]:
        """The number of memories that pass anywhere below each of `ids`; an entry for each."""

    @abstractmethod
    def counts(self, model: str = "") -> Counts:
        """The totals for a status page, of what this reader sees. model: whose vectors are counted."""

    @abstractmethod
    def full_texts(self, ids: Iterable[str]) -> dict[str, str]:
        """The whole text of each of `ids` whose content is an excerpt; forgotten memories have none.

        No search looks into it. A damaged one is left out; `check` finds it.
        """

    # --- search: id -> strength, the best `limit` that pass, best first
    @abstractmethod
    def matching(self, terms: Sequence[str], limit: int, where: Filter) -> TextMatches:
        """By words: any term counts, a rare one more than a common one, and most in a title.

        Strengths are above 0 and comparable within one answer only; the caller normalises them. Endings, case
        and accents do not matter; runs of characters in scripts without spaces are found inside a text. Terms
        are plain text, never syntax. The information of a term is above 0, and the rarer the higher; it may
        count all texts of the database. limit 0: information only.
        """

    @abstractmethod
    def containing(self, text: str, where: Filter) -> list[str]:
        """Memories with `text` in their title, type or content, whatever the case; oldest first."""

    @abstractmethod
    def about(self, names: Iterable[str], where: Filter, most: int) -> dict[str, list[str]]:
        """name -> the memories that it introduces (see `names`) and that pass, oldest first.

        Names that introduce more than `most` memories are left out.
        """

    @abstractmethod
    def near(self, vector: Vector, model: str, limit: int, where: Filter) -> Neighbours:
        """By meaning: the exact cosine to `vector`, among the vectors of the same model only.

        It also counts, up to PENDING_COUNTED, the memories without one, whatever the filter.
        """

    @abstractmethod
    def vectors(self, model: str, ids: Iterable[str]) -> dict[str, Vector]:
        """The vector of each of `ids` that has one of that model."""

    # --- trees and links: forgotten and superseded memories take no part
    @abstractmethod
    def children(self, ids: Iterable[str]) -> dict[str, list[str]]:
        """parent -> children, oldest first; an entry for each of `ids`."""

    @abstractmethod
    def ancestors(self, ids: Iterable[str]) -> dict[str, list[str]]:
        """The way from the root down to the parent; empty for a root. Superseded ancestors count."""

    @abstractmethod
    def places(self, ids: Iterable[str]) -> dict[str, Place]:
        """The ancestors of each of `ids` with their labels, and its successor; an entry for each.

        The successor is the memory that superseded it, else the one that updated it last: by an active link
        of the kind `supersedes`, or of the type `supersedes` or `updates`, between current memories.
        A successor that was forgotten has no label.
        """

    @abstractmethod
    def links(
        self,
        touching: Iterable[str] | None = None,
        kinds: Sequence[str] = (),
        ended: bool = False,
        between: Iterable[str] | None = None,
        ids: Iterable[str] | None = None,
    ) -> list[Link]:
        """Active links among current memories, oldest first; they pass every condition that is given.

        touching: one end is among these memories. between: both ends are. ids: of the links themselves.
        kinds empty: all kinds. ended: also links that have ended, and links of forgotten or superseded
        memories.
        """

    @abstractmethod
    def cooccurrences(self, ids: Iterable[str]) -> list[Cooccurrence]:
        """The pairs among `ids` that have been shown together."""

    @abstractmethod
    def suggestions(self, where: SuggestionFilter, limit: int = EVERY.limit) -> list[Suggestion]:
        """The suggested links that pass, best first; both ends are in sight."""

    # --- records and the past
    @abstractmethod
    def records(self, kind: type[AnyRecord], **fields: Any) -> list[AnyRecord]:
        """The records of this very namespace with these fields, by key. Bookmarks: all that are in sight."""

    @abstractmethod
    def journal(self, where: JournalFilter, page: Page) -> Listing[Entry]:
        """The changes in sight, page by page. Read oldest first, this is the change feed of the tenant.

        Entries are in the order of their commits. A caller that reads on from the cursor of its last page, at
        any later time, gets every entry once, however commits overlap.
        """

    @abstractmethod
    def purged(self, ids: Iterable[str]) -> dict[str, float]:
        """Of `ids`, the memories of this very namespace that were erased for good, and when; also those of
        which another store has told (`put_tombstones`)."""

    @abstractmethod
    def days(self, since: float, offset: float = 0.0) -> list[DayCount]:
        """The changes of memories in the journal since then, counted by day, kind of memory, and event.

        learnt: stored for the first time. forgotten, replaced: no longer current because of this change.
        restored: neither forgotten nor replaced any more. changed: any other field. Days begin at midnight
        `offset` seconds ahead of UTC. Memories that are gone for good do not count.
        """


class Writer(Reader):
    """A reader that may also write, inside one transaction; memories and links with a journal entry."""

    cause: Cause
    now: float

    @abstractmethod
    def put(self, memories: Iterable[Memory], full_texts: Mapping[str, str] | None = None) -> list[Memory]:
        """Insert or replace by id; returned as stored (with alias and depth).

        Text index and vectors follow the text. Use (access counts, activation) is only taken over from
        new memories, depth never: it follows from the links. A new memory without an author gets that of
        the cause, and so does one whose content changes; other changes keep it. An id or a namespace out of
        sight: NotFound.

        full_texts: whole texts to keep beside memories, by id; an empty one removes it. They are neither
        searched nor embedded, and the journal does not copy them. Unknown id: NotFound.
        """

    @abstractmethod
    def put_links(self, links: Iterable[Link]) -> list[Link]:
        """Insert or replace by (source, target, kind, type); returned as stored. Depths follow.

        An end that is unknown or out of sight: NotFound. A second active parent: Invalid.
        """

    @abstractmethod
    def put_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Vectors for memories as they stand in this transaction."""

    @abstractmethod
    def put_suggestions(self, suggestions: Iterable[Suggestion], expire_before: float | None = None) -> int:
        """Insert or replace by pair; unknown ends are left out. The journal does not copy them.

        expire_before: remove pending ones of this tenant that were last updated earlier; returns their
        number. Judged ones stay, so that a rejected pair is not proposed again.
        """

    @abstractmethod
    def put_tombstones(self, ids: Iterable[str]) -> None:
        """Keep in the journal that memories of this namespace were erased for good, which are not here."""

    @abstractmethod
    def put_records(self, records: Iterable[Record], removed: Iterable[Record] = ()) -> None:
        """Insert or replace by key; `removed` are deleted by key. The journal does not copy them."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One tenant at one moment: a reader of each namespace, which sees the others too, and the ids of a part.

    ids: in the order in which the memories were first stored, forgotten and superseded ones included.
    """

    readers: Mapping[str, Reader]
    ids: Callable[[Part], Iterator[str]]
    count: Callable[[Part], int]


class Store(ABC):
    """The parts of a store that belong to no single reader.

    embeds_together: several processes embed at the same time, each what it has claimed; otherwise one does.
    """

    embeds_together: bool = False

    @abstractmethod
    def reader(self, namespace: str, tenant: str = DEFAULT_TENANT, teams: Sequence[str] = ()) -> Reader:
        """The store as `namespace` of `tenant` sees it. teams: further namespaces that it sees."""

    @abstractmethod
    def transaction(
        self,
        namespace: str,
        cause: Cause,
        now: float,
        tenant: str = DEFAULT_TENANT,
        teams: Sequence[str] = (),
    ) -> AbstractContextManager[Writer]:
        """All or nothing: durable when the block ends, gone when it raises; isolated from the others.

        It sees what the reader of the same namespace and teams sees, and may change all of it.

        The block holds the write lock of its tenant from the beginning: two writers of a tenant never
        interleave, and what a block reads is the latest committed state plus its own changes. So a decision
        that is made inside needs no retry. A thread has at most one transaction at a time.
        """

    @abstractmethod
    def snapshot(self, tenant: str = DEFAULT_TENANT) -> AbstractContextManager["Snapshot"]:
        """A tenant as it is when the block begins; what others write meanwhile is not seen in it."""

    # --- derived state: a crash of the machine may lose it, because it can be recomputed or hardly matters
    @abstractmethod
    def touch(self, use: Use, now: float, tenant: str = DEFAULT_TENANT) -> None:
        """Count one use of each memory shown, and add activation. Nothing else changes."""

    @abstractmethod
    def namespaces(self, tenant: str | None = None) -> list[tuple[str, str]]:
        """Tenant and namespace of all memories, or of those of one tenant, in order."""

    @abstractmethod
    def unembedded(self, model: str, limit: int, claim_seconds: float = 0.0) -> Backlog:
        """Memories of all tenants without a vector of this model: statements first, then newest first.

        claim_seconds: if the store `embeds_together`, nobody else who claims gets these meanwhile, and those
        that others have claimed are left out. Otherwise it is of no effect. The total may stop at 100,000.
        """

    @abstractmethod
    def embed(self, model: str, vectors: Mapping[Passage, Vector]) -> int:
        """Keep vectors for passages that have not changed since; returns the number kept."""

    @abstractmethod
    def exclusive(self, work: str) -> AbstractContextManager[bool]:
        """Whether the caller alone does this work until the block ends; False: somebody else does it now.

        It holds among all threads and processes. A process that is killed gives it up at once.
        """

    @abstractmethod
    def epoch(self) -> str:
        """Which history this store has: another id after it went back to an older state or was filled anew.
        Cursors of the journal hold within one epoch."""

    # --- care
    @abstractmethod
    def report(self) -> StoreReport:
        """Where the store is, its size, and what is wrong as far as that is cheap to see."""

    @abstractmethod
    def check(self, repair: bool = False) -> list[Finding]:
        """Look at everything that could be wrong. repair: first compute all derived state again."""

    @abstractmethod
    def scrub(self, dry_run: bool, progress: Callable[[str, int, int], None]) -> Scrubbed:
        """Remove, for good, secrets that were stored before a rule recognised them; also from the journal.

        progress: called with the table at hand, the number of rows done, and the number of all.
        """

    @abstractmethod
    def purge(self, ids: Iterable[str], cause: Cause, now: float, tenant: str = DEFAULT_TENANT) -> Purged:
        """Erase the forgotten memories among `ids` for good, whatever their namespace; others stay.

        Gone are their rows, whole texts, vectors, links, suggestions and records, and their words in every
        index. Their journal entries, and those of their links, lose fields and reasons; those of their
        parents lose contexts. One new entry for each memory says that it was erased: `before` is empty,
        `after` None. Depths follow. When this returns, no byte of the database holds their texts. backups:
        copies beside the store that still do.
        """

    @abstractmethod
    def release(self) -> None:
        """Give back memory that can be filled again: indexes and caches. Nothing else changes."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything; a second call does nothing."""


STORES = {
    "sqlite": "lore.store.sqlite.store:SqliteStore",
    "postgresql": "lore.store.postgres.store:PostgresStore",
}
"""Scheme of a location -> the class of its database, imported when opened. A location without a scheme is the
file of an SQLite database."""


EXTRAS = {"postgresql": "postgres"}
"""Scheme of a location -> the extra of the package that its database needs."""


def open_store(location: str | Path, **options: Any) -> Store:
    """Open the database at a location: a path, or `scheme://…`."""
    scheme, separator, _ = str(location).partition("://")
    if not separator:
        scheme, location = "sqlite", Path(location)
    if scheme not in STORES:
        raise Invalid(f"unknown database {scheme!r}; known: {listed(STORES)}")
    try:
        store: Store = load(STORES[scheme])(location, **options)
    except ImportError as error:
        wanted = f"pip install 'agent-lore[{EXTRAS.get(scheme, scheme)}]'"
        raise Unavailable(f"the database {scheme} needs more packages ({error}); {wanted}") from error
    return store


def back_up(store: Store, target: Path) -> BackupReport:
    """Write a complete, verified copy of a store that is a file."""
    if not isinstance(store, FileStore):
        raise Invalid("this store is no file; back it up with the tools of its database")
    return store.backup(target)
