"""Abilities that only some stores have: a copy of their file, an index beside their rows, other servers, and
indexes of large tenants."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol, runtime_checkable

from lore.health import BackupReport


@runtime_checkable
class FileStore(Protocol):
    """What only a store in one file offers."""

    def backup(self, target: Path) -> BackupReport:
        """A complete, consistent and verified copy while others go on writing, with a manifest beside it."""


@runtime_checkable
class IndexedStore(Protocol):
    """What only a store with vector indexes beside its rows offers."""

    def build_index(self, model: str, dimension: int, progress: Callable[[int, int], None]) -> int:
        """Build the vector index of every tenant again, from the rows; returns the number of vectors.

        progress: called with the number of vectors done, and of all. Unavailable if another process uses the
        index.
        """


@runtime_checkable
class SharedStore(Protocol):
    """What only a store offers that many servers share."""

    def follow(self, changed: Callable[[str], None], stopped: Callable[[], bool]) -> None:
        """Call `changed` with the name of each tenant that another process has changed, until `stopped`."""

    def claim_due(self, job: str, now: float, until: float) -> tuple[str, str] | None:
        """Take on the job of this name that is due for longest: its tenant and namespace; None if none is.

        Nobody else gets it before `until`; whoever has done it puts its record with the next time. A change
        of a namespace makes the job UPKEEP_JOB of that namespace due UPKEEP_SECONDS later, if not earlier.
        """


@runtime_checkable
class TendedStore(Protocol):
    """A store that builds an index for each tenant that is large enough."""

    def tend(self) -> None:
        """Build the indexes that tenants have earned, unless another process does, and drop useless ones.

        It may take minutes. Readers and writers do not wait, and no answer depends on it.
        """
