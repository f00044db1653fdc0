"""Health: how much there is and whether all is well, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from lore.model import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How much one reader sees."""

    memories: int
    roots: int
    links: int
    forgotten: int
    superseded: int
    kinds: Mapping[str, int] = field(default_factory=dict)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """What a person asks first: where the data is, how much there is, whether all is well.

    staged_turns: how many are still to be digested. last_run: the statistics of the last consolidation.
    warnings: what is wrong with the store, as sentences.
    """

    version: str
    location: str
    namespace: str
    counts: Counts
    model: str
    meaning: Literal["ready", "warming", "missing"]
    trouble: str
    embedded: int
    pending: int
    size_bytes: int
    last_write_at: float | None
    staged_turns: int = 0
    last_run: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A conversation of which `turns` turns are still to be digested; noted: how far that is."""

    session: Memory
    turns: int
    noted: Mapping[str, Any] = field(default_factory=dict)

    @property
    def attempts(self) -> int:
        """How often it was tried in vain."""
        return int(self.noted.get("attempts", 0))

    @property
    def trouble(self) -> str:
        """Why it could not be digested the last time."""
        return str(self.noted.get("trouble", ""))


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
