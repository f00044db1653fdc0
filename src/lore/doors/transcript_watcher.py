"""transcript_watcher: reads new lines of transcripts as soon as agents write them."""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import anyio
import watchfiles
from watchfiles._rust_notify import WatchfilesRustInternalError

from lore.engine import Lore
from lore.engine.ingest import Ingested
from lore.errors import LoreError
from lore.supervision import failure_of, pause_after, reason
from lore.transcripts import ignore_rules
from lore.transcripts.turns import Signature, Source
from lore.transcripts.untrusted_files import printable

SETTLE_MILLISECONDS = 300
"""Milliseconds for which a file must be quiet before it is read, so that a burst of lines is read at once."""
TICK_MILLISECONDS = 500
"""Milliseconds between two looks for folders: one that a client creates later is watched within a second.
The first tick without a change is a look, too: a watch does not report changes before it began."""
REST = 2
"""Wait this multiple of the last reading's duration: reading a database always costs something."""
LONGEST_REST_SECONDS = 10.0
RETRY_SECONDS = 30.0
"""Seconds after which an unchanged file that could not be read is tried again; doubled with each failure. Not
at once, because an attempt may itself look like a change."""
LONGEST_RETRY_SECONDS = 600.0

logger = logging.getLogger(__name__)


class Quarantined(NamedTuple):
    """A file that could not be read: failures in a row, and the time of the next attempt.

    unexpected: the reason is an error of Lore, so a change of the file does not shorten the pause.
    """

    failures: int
    until: float
    unexpected: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcripts:
    """Which transcripts to watch.

    home: the user's home folder. variables: environment variables that move the clients' folders.
    ignore_list: the file of folders whose sessions are not read. since: transcripts that were last written
    before are left out.
    """

    sources: Sequence[Source]
    home: Path
    variables: Mapping[str, str]
    ignore_list: Path
    since: float = 0.0


class TranscriptWatcher:
    """Reads the transcripts of clients. A look at unchanged transcripts costs next to nothing.

    failed: files that could not be read, with the reasons. unseen: files and folders that cannot be looked
    at.
    """

    def __init__(self, lore: Lore, transcripts: Transcripts) -> None:
        self._lore = lore
        self._transcripts = transcripts
        self._seen: dict[Path, Signature] = {}
        self._quarantine: dict[Path, Quarantined] = {}
        self._ended = anyio.Event()
        self.failed: dict[str, str] = {}
        self.unseen: dict[str, str] = {}

    @property
    def files(self) -> int:
        """Number of files that were read."""
        return len(self._seen)

    def changed(self) -> list[tuple[Path, Source]]:
        """Files that are new, have changed since they were read, or are to be tried again."""
        unseen: dict[str, str] = {}
        found = {
            path: source
            for source in self._transcripts.sources
            for path in source.files(self._transcripts.home, self._transcripts.variables, unseen)
        }
        for name in unseen.keys() - self.unseen.keys():
            logger.warning("%s %s", name, unseen[name])
        self.unseen = unseen
        for path in self._quarantine.keys() - found.keys():  # the file is gone
            del self._quarantine[path]
            self.failed.pop(printable(path), None)
        return [
            (path, source)
            for path, source in found.items()
            if self._to_read(path, source.signature(path))
            and source.written_at(path) >= self._transcripts.since
        ]

    def named(self, path: Path) -> list[tuple[Path, Source]]:
        """The file at this path, if it is a transcript of a watched client, wherever it lies."""
        owners = [
            source
            for source in self._transcripts.sources
            if source.owns(path) and any(map(path.match, source.file_names))
        ]
        return [(path, source) for source in owners[:1] if any(source.signature(path)[0])]

    def _to_read(self, path: Path, look: Signature) -> bool:
        """Whether the file has changed, or its quarantine is over."""
        changed = self._seen.get(path) != look
        held = self._quarantine.get(path)
        if held is None:
            return changed
        over = not 0 < held.until - self._lore.clock() <= LONGEST_RETRY_SECONDS
        return over or (changed and not held.unexpected)

    def read(self, files: Sequence[tuple[Path, Source]]) -> Ingested:
        """Read new lines of the files. One that cannot be read or stored goes into quarantine."""
        done: list[Ingested] = []
        ignored = ignore_rules.load(self._transcripts.ignore_list, self._transcripts.home)
        for path, source in files:
            look = source.signature(path)
            error = failure_of(lambda: self._read_one(path, source, ignored, done))  # noqa: B023 (runs now)
            if error is not None:
                self._set_aside(path, error)
            elif self._ended.is_set():
                break
            else:
                self._quarantine.pop(path, None)
                self.failed.pop(printable(path), None)
            self._seen[path] = look
        return sum(done, Ingested())

    def _read_one(
        self, path: Path, source: Source, ignored: ignore_rules.IgnoreRules, done: list[Ingested]
    ) -> None:
        for batch in self._lore.ingest(path, source, ignored):
            done.append(batch)
            if self._ended.is_set():
                return

    def _set_aside(self, path: Path, error: Exception) -> None:
        """Put a file into quarantine, and log the reason once."""
        name, why = printable(path), reason(error)
        unexpected = not isinstance(error, LoreError)
        if self.failed.get(name) != why:
            message = why if name in why else f"{name}: {why}"
            logger.warning("%s", message, exc_info=error if unexpected else None)
        self.failed[name] = why
        failures = self._quarantine[path].failures + 1 if path in self._quarantine else 1
        pause = pause_after(failures, RETRY_SECONDS, LONGEST_RETRY_SECONDS)
        self._quarantine[path] = Quarantined(failures, self._lore.clock() + pause, unexpected)

    def end(self) -> None:
        """Finish the current batch; the rest is for the next time."""
        self._ended.set()

    async def changes(self, every_seconds: float) -> AsyncIterator[None]:
        """Yield at the start, after each change in the clients' folders, and every `every_seconds`."""
        while not self._ended.is_set():
            yield
            try:
                async for quiet in self._watched(self._watchable()):
                    if quiet <= 1 or quiet * TICK_MILLISECONDS % (every_seconds * 1000) < TICK_MILLISECONDS:
                        began = anyio.current_time()
                        yield
                        await self._rested(REST * (anyio.current_time() - began))
            except (
                OSError,
                WatchfilesRustInternalError,
            ) as trouble:  # a folder is gone, or the system has no watches left
                logger.warning("transcripts are only looked at every %g s: %s", every_seconds, trouble)
            await self._rested(every_seconds, every_seconds)

    async def _rested(self, seconds: float, longest: float = LONGEST_REST_SECONDS) -> None:
        with anyio.move_on_after(min(seconds, longest)):
            await self._ended.wait()

    async def _watched(self, watchable: Mapping[Path, int]) -> AsyncIterator[int]:
        """Yield the number of ticks without a change, at each tick; watch new folders as they appear."""
        quiet = 0
        while not self._ended.is_set():
            async for changes in self._ticks(watchable):
                now = self._watchable()
                quiet = 0 if changes or now != watchable else quiet + 1
                yield quiet
                if now != watchable:
                    watchable = now
                    break

    async def _ticks(self, watchable: Mapping[Path, int]) -> AsyncIterator[bool]:
        """Yield whether something has changed, at each change and after each tick without one."""
        if watchable:
            async for changes in watchfiles.awatch(
                *watchable,
                debounce=SETTLE_MILLISECONDS,
                stop_event=self._ended,
                rust_timeout=TICK_MILLISECONDS,
                yield_on_timeout=True,
            ):
                yield bool(changes)
            return
        while not self._ended.is_set():
            await self._rested(TICK_MILLISECONDS / 1000)
            yield False

    def _watchable(self) -> dict[Path, int]:
        """The existing files and folders that change when clients write, with their inodes."""
        where = self._transcripts
        paths = [path for source in where.sources for path in source.watched(where.home, where.variables)]
        return {path: inode for path in paths if (inode := _inode(path))}


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except OSError:
        return 0
