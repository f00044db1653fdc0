"""Health: how much there is and whether all is well, as frozen values."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from lore.model import Memory

EMBED_POLL_SECONDS = 0.5
"""Seconds between two looks at the progress of another process that embeds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much one reader sees. suggestions: links that wait for judgement.

    projects: current memories by project. embedded, pending: memories with and without a vector.
    """

    memories: int
    roots: int
    links: int
    forgotten: int
    superseded: int
    kinds: Mapping[str, int] = field(default_factory=dict)
    projects: Mapping[str, int] = field(default_factory=dict)
    suggestions: int = 0
    embedded: int = 0
    pending: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Embedding:
    """Work on a backlog: memories embedded so far, memories left, and the seconds since it began.

    elsewhere: another process does it.
    """

    done: int
    left: int
    seconds: float
    elsewhere: bool = False

    @property
    def seconds_left(self) -> float | None:
        """The estimate, at the speed so far; None before the first memory is done."""
        return self.left * self.seconds / self.done if self.done else None


class Embeds(Protocol):
    """A Lore, or the client of a daemon that has one."""

    def pending(self) -> int: ...

    def embed_batch(self) -> int | None: ...


def embed_progress(lore: Embeds) -> Iterator[Embedding]:
    """Embed until nothing waits or there is no model; while another process embeds, wait for it.

    Yields the progress at the start, and after each batch or each look at the other process.
    """
    began, total, elsewhere = time.monotonic(), 0, False
    while left := lore.pending():
        total = max(total, left)
        seconds = time.monotonic() - began
        yield Embedding(done=total - left, left=left, seconds=seconds, elsewhere=elsewhere)
        embedded = lore.embed_batch()
        if embedded == 0:
            return
        if elsewhere := embedded is None:
            time.sleep(EMBED_POLL_SECONDS)
    if total:
        yield Embedding(done=total, left=0, seconds=time.monotonic() - began, elsewhere=elsewhere)


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What a person asks first: where the data is, how much there is, whether all is well.

    staged_turns: how many are still to be digested. last_run: the statistics of the last consolidation.
    warnings: what is wrong with the store, as sentences. index: the vector index in a few words.
    agent_notes: client -> current memories from the notes of its agents.
    """

    version: str
    location: str
    namespace: str
    counts: Counts
    model: str
    embedding_state: Literal["ready", "warming", "missing"]
    error: str
    embedded: int
    pending: int
    size_bytes: int
    last_write_at: float | None
    staged_turns: int = 0
    last_run: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    index: str = ""
    agent_notes: Mapping[str, int] = field(default_factory=dict)

    def of_namespace(self) -> "Status":
        """The same without what is about the whole store: where it is, how large, and what is wrong."""
        return replace(self, location="", size_bytes=0, error="", warnings=(), index="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A conversation with turns that are still to be digested.

    attempts: failures since the last success. retry_at: when it is tried again. trouble: the last failure.
    """

    session: Memory
    turns: int
    attempts: int = 0
    retry_at: float = 0.0
    trouble: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scrubbed:
    """What a scrub took out, or would take out: changed rows by table, secrets by kind.

    backups: copies of the store that still hold it.
    """

    rows: Mapping[str, int]
    kinds: Mapping[str, int]
    dry_run: bool = False
    backups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Finding:
    """What a self-check saw: a check by name, whether it holds, and what was seen."""

    check: str
    passed: bool
    detail: str
    repairable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreReport:
    """location: where the data is, for a person. warnings: problems that its owner should know at once.

    index: the vector index in a few words.
    """

    location: str
    size_bytes: int
    warnings: tuple[Finding, ...] = ()
    index: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupReport:
    """A verified copy of a store. file: its name. counts: rows by table. schema: the steps that it has had.

    lore: the version that made it. at: when, in seconds.
    """

    file: str
    at: float
    lore: str
    size_bytes: int
    sha256: str
    schema: tuple[str, ...]
    counts: Mapping[str, int]
