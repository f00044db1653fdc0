"""The store's contract: every method is one promise, and `tests/store/test_contract.py` holds each."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import Any, Literal

from lore.health import Counts, Finding, Scrubbed
from lore.model import Cause, Entry, Filter, Link, Memory, Order, Trace
from lore.vectors import Vector


@dataclass(frozen=True, slots=True)
class Passage:
    """What there is to embed of one memory; `version` tells whether the text has changed since."""

    id: str
    text: str
    version: int


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two memories that were shown side by side: how often, and when last."""

    one: str
    other: str
    count: int
    last_at: float


SuggestionStatus = Literal["pending", "accepted", "rejected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A link that a sweep proposes and somebody should judge; the pair (source < target) is unique."""

    id: str
    source: str
    target: str
    score: float
    signals: Mapping[str, float]
    created_at: float
    updated_at: float
    type: str = ""
    status: SuggestionStatus = "pending"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmark:
    """How far a transcript was read. device, inode: the file, whatever it is called.

    first, last: prints of its first line and of what was read last. state: what its reader has to remember.
    """

    path: str
    source: str
    device: int
    inode: int
    offset: int
    lines: int
    first: str
    last: str
    state: Mapping[str, Any]
    read_at: float


class Reader(ABC):
    """What one namespace sees: its own memories, the shared ones, and the links among them.

    Nothing of another namespace appears in any answer. Unknown ids are simply absent.
    """

    # --- memories
    @abstractmethod
    def get(self, ids: Iterable[str], forgotten: bool = False) -> dict[str, Memory]:
        """The known ones of `ids`; the forgotten ones among them only on request."""

    @abstractmethod
    def ids_like(self, part: str, limit: int) -> list[str]:
        """Ids that begin with `part`, or end with it if it has at least ID_TAIL characters; in order.

        Forgotten memories are included.
        """

    @abstractmethod
    def ids_of(self, noun: Literal["memory", "link"], aliases: Iterable[int]) -> dict[int, str]:
        """alias -> id, for those in sight; forgotten memories and ended links included."""

    @abstractmethod
    def select(self, where: Filter, limit: int, order: Order = "newest") -> list[Memory]:
        """The memories that pass: newest first, or most important, or most used; then newest first.

        newest below: by the newest child that is not forgotten; by its own time, if a memory has none.
        """

    @abstractmethod
    def ids(self, where: Filter) -> list[str]:
        """The ids of all memories that pass, newest first."""

    @abstractmethod
    def count(self, where: Filter) -> int:
        """How many memories pass."""

    @abstractmethod
    def count_below(self, ids: Iterable[str], where: Filter) -> dict[str, int]:
        """How many that pass hang anywhere below each of `ids`; an entry for each."""

    @abstractmethod
    def counts(self) -> Counts:
        """The totals for a status page."""

    @abstractmethod
    def projects(self) -> dict[str, int]:
        """The projects that current memories belong to, by name, and how many of them there are."""

    @abstractmethod
    def full_texts(self, ids: Iterable[str]) -> dict[str, str]:
        """The whole text of each of `ids` whose content is an excerpt; forgotten memories have none.

        No search looks into it. A damaged one is left out; `check` finds it.
        """

    # --- finding: id -> strength, the best `limit` that pass, best first
    @abstractmethod
    def matching(self, terms: Sequence[str], limit: int, where: Filter) -> dict[str, float]:
        """By words: any term counts, rare ones more (BM25, above 0). Terms are plain text, never syntax."""

    @abstractmethod
    def information(self, terms: Sequence[str]) -> dict[str, float]:
        """term -> how much it tells, above 0: the rarer in the store, the more."""

    @abstractmethod
    def containing(self, text: str, where: Filter) -> list[str]:
        """Whose title, type or content has `text` in it, whatever the case; all that pass, oldest first."""

    @abstractmethod
    def about(self, names: Iterable[str], where: Filter, most: int) -> dict[str, list[str]]:
        """name -> the memories that it introduces (see `names`) and that pass, oldest first.

        A name of more than `most` memories tells nothing, and is left out.
        """

    @abstractmethod
    def near(self, vector: Vector, model: str, limit: int, where: Filter) -> dict[str, float]:
        """By meaning: cosine to `vector`, exact, among the vectors of the same model only."""

    @abstractmethod
    def cosines(self, vector: Vector, model: str, ids: Iterable[str]) -> dict[str, float]:
        """The cosine of each of `ids` that has a vector of that model."""

    @abstractmethod
    def vectors(self, model: str, ids: Iterable[str]) -> dict[str, Vector]:
        """The vector of each of `ids` that has one of that model."""

    @abstractmethod
    def meetings(self, ids: Iterable[str]) -> list[Meeting]:
        """Which two of `ids` have been shown together."""

    # --- trees and links: forgotten and superseded memories take no part
    @abstractmethod
    def roots(self, where: Filter) -> list[Trace]:
        """The memories without a parent."""

    @abstractmethod
    def parents(self, ids: Iterable[str]) -> dict[str, str]:
        """child -> parent, for those that have one."""

    @abstractmethod
    def children(self, ids: Iterable[str]) -> dict[str, list[str]]:
        """parent -> children, oldest first; an entry for each of `ids`."""

    @abstractmethod
    def ancestors(self, ids: Iterable[str]) -> dict[str, list[str]]:
        """The way from the root down to the parent; empty for a root. Superseded ancestors count."""

    @abstractmethod
    def links(self, ids: Iterable[str], kinds: Sequence[str] = ()) -> list[Link]:
        """The active links that touch any of `ids`, oldest first; `kinds` empty: all kinds."""

    @abstractmethod
    def following(self, ids: Iterable[str]) -> list[tuple[str, str]]:
        """Which of `ids` follow one another by an active temporal link: (earlier, later)."""

    @abstractmethod
    def get_links(self, ids: Iterable[str]) -> dict[str, Link]:
        """Links by their own ids, ended ones and those of forgotten memories included."""

    @abstractmethod
    def all_links(self, id: str) -> list[Link]:
        """Every link from or to this memory, ended ones and those to forgotten memories included."""

    # --- suggested links, as far as both ends are in sight
    @abstractmethod
    def get_suggestions(self, ids: Iterable[str]) -> dict[str, Suggestion]:
        """Suggestions by their own ids, whatever became of them."""

    @abstractmethod
    def suggestions_about(self, ids: Iterable[str]) -> list[Suggestion]:
        """All that touch any of these memories, whatever became of them."""

    @abstractmethod
    def pending_suggestions(self, limit: int, min_score: float) -> list[Suggestion]:
        """Those still to be judged, best first: both ends current, and not linked meanwhile."""

    @abstractmethod
    def count_pending_suggestions(self) -> int:
        """How many are still to be judged."""

    # --- transcripts
    @abstractmethod
    def bookmarks(self) -> list[Bookmark]:
        """How far each transcript was read, by path."""

    # --- what Lore has to remember of its own work
    @abstractmethod
    def noted(self, beginning: str) -> dict[str, Mapping[str, Any]]:
        """What this very namespace has noted under names that begin so, by name."""

    # --- the past
    @abstractmethod
    def history(self, id: str) -> list[Entry]:
        """What the journal says about one memory or link, oldest first."""


class Writer(Reader):
    """A reader that may also write, inside one transaction; memories and links with a journal entry."""

    @abstractmethod
    def put(self, memories: Iterable[Memory]) -> list[Memory]:
        """Insert or replace by id; returned as stored (alias and depth given).

        Text index and vectors follow the text. Use (access counts, activation) is only taken over from
        new memories, depth never: it follows from the links. An id outside this namespace: NotFound.
        """

    @abstractmethod
    def put_full_texts(self, texts: Mapping[str, str]) -> None:
        """Keep whole texts beside memories, every character, by id; an empty one: no more.

        They are neither searched nor embedded, and the journal does not copy them. Unknown id: NotFound.
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
    def put_suggestions(self, suggestions: Iterable[Suggestion]) -> None:
        """Insert or replace by pair; ends that are unknown are left out. The journal does not copy them."""

    @abstractmethod
    def expire_suggestions(self, before: float) -> int:
        """Drop those that nobody has judged since; judged ones stay, so that a no remains a no."""

    @abstractmethod
    def put_bookmark(self, bookmark: Bookmark) -> None:
        """Insert or replace by path. The journal does not copy it."""

    @abstractmethod
    def note(self, name: str, value: Mapping[str, Any] | None) -> None:
        """Insert or replace by name; None: no more. The journal does not copy it."""


class Store(ABC):
    """The parts of a store that belong to no single reader."""

    @property
    @abstractmethod
    def location(self) -> str:
        """Where the data is, for a person."""

    @abstractmethod
    def reader(self, namespace: str) -> Reader:
        """The store as `namespace` sees it."""

    @abstractmethod
    def transaction(self, namespace: str, cause: Cause, now: float) -> AbstractContextManager[Writer]:
        """All or nothing: durable when the block ends, gone when it raises; isolated from the others."""

    # --- derived state: may be lost in a power cut, because it can be recomputed or hardly matters
    @abstractmethod
    def touch(
        self, used: Iterable[str], lent: Mapping[str, float], now: float, together: bool = False
    ) -> None:
        """Count one use of each of `used`, and add activation to each of `lent`. Nothing else changes.

        together: they were shown side by side, so each pair of them has met once more.
        """

    @abstractmethod
    def unembedded(self, model: str, limit: int) -> list[Passage]:
        """Some memories that have no vector of this model yet, newest first."""

    @abstractmethod
    def embed(self, model: str, vectors: Mapping[Passage, Vector]) -> int:
        """Keep vectors for passages that have not changed meanwhile; how many were kept."""

    @abstractmethod
    def embedded(self, model: str) -> int:
        """How many memories have a vector of this model."""

    @abstractmethod
    def pending(self, model: str) -> int:
        """How many have none yet; quick when there are few."""

    @abstractmethod
    def exclusive(self, work: str) -> AbstractContextManager[bool]:
        """Whether the caller alone does this work until the block ends; False: somebody else does it now.

        It holds among all threads and processes. A process that is killed gives it up at once.
        """

    @abstractmethod
    def claim(self, errand: str, now: float, until: float, longest: float = inf) -> float | None:
        """Take on a regular errand if it is due: the start of its last complete run (0.0: none), else None.

        Nobody else is given it before `until`; so one that fails is tried again then. longest: the most
        seconds between two runs. A due time beyond that was set by a clock that was ahead, and counts as due;
        a last run in the future counts as none.
        """

    @abstractmethod
    def schedule(self, errand: str, done_at: float, due_at: float) -> None:
        """Note the start of the last complete run, and when the next one is due."""

    # --- care
    @abstractmethod
    def last_write_at(self) -> float | None:
        """When the journal last grew."""

    @abstractmethod
    def size_bytes(self) -> int:
        """What the store takes on disk."""

    @abstractmethod
    def warnings(self) -> list[str]:
        """What its owner should know at once, as sentences: it can only be read, it has lost something."""

    @abstractmethod
    def fold_log(self) -> None:
        """Give back disk space of a log that has grown large, if nobody needs it; costs next to nothing."""

    @abstractmethod
    def check(self) -> list[Finding]:
        """Look at everything that could be wrong; change nothing."""

    @abstractmethod
    def rebuild(self) -> None:
        """Make all derived state anew from the canonical rows."""

    @abstractmethod
    def scrub(self, dry_run: bool, progress: Callable[[str, int, int], None]) -> Scrubbed:
        """Take out, for good, the secrets that were stored before a rule knew them; the history too.

        progress: called with what is at hand, how much of it is done, and how much there is.
        """

    @abstractmethod
    def backup(self, target: Path) -> None:
        """A complete, consistent copy while others go on writing."""

    @abstractmethod
    def release(self) -> None:
        """Give back memory that can be filled again: indexes and caches. Nothing else changes."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything; a second call does nothing."""
