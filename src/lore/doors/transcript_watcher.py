"""transcript_watcher: reads new lines of transcripts as soon as agents write them."""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import anyio
import watchfiles
from watchfiles._rust_notify import WatchfilesRustInternalError

from lore.engine import Lore
from lore.engine.ingest import Ingested
from lore.errors import LoreError
from lore.supervision import failure_of, pause_after, reason
from lore.transcripts.finding import printable
from lore.transcripts.ignoring import Ignoring, ignoring
from lore.transcripts.sources import Look, Source

SETTLE_MILLISECONDS = 300
"""How long a file has to be quiet before it is looked at, so that a burst of lines is read at once."""
TICK_MILLISECONDS = 500
"""How often the folders are looked for: one that a client makes later is watched and read within a second.
After one tick without a change another look is taken: a watch does not tell what was before it began."""
REST = 2
"""So many times as long as a reading took passes before the next, for a database is never read for free."""
LONGEST_REST_SECONDS = 10.0
RETRY_SECONDS = 30.0
"""After which a file that could not be read is tried again although it is as it was: not at once, for to
try may itself be seen as a change. It doubles with each further failure."""
LONGEST_RETRY_SECONDS = 600.0

logger = logging.getLogger(__name__)


class Quarantined(NamedTuple):
    """A file that could not be read so many times in a row, and when it is tried again.

    unexpected: the reason was none that Lore knows, so a change of the file does not shorten the pause.
    """

    failures: int
    until: float
    unexpected: bool


class TranscriptWatcher:
    """The transcripts of some clients. To look at what has not changed since costs next to nothing.

    failed: those that could not be read, and why. unseen: files and folders that could not be looked at.
    """

    def __init__(
        self,
        lore: Lore,
        sources: Sequence[Source],
        home: Path,
        variables: Mapping[str, str],
        ignore_list: Path,
        *,
        since: float = 0.0,
    ) -> None:
        """ignore_list: the file that says what shall not be remembered. since: older transcripts wait."""
        self._lore = lore
        self._ignore_list = ignore_list
        self._sources = sources
        self._home = home
        self._variables = variables
        self._since = since
        self._seen: dict[Path, Look] = {}
        self._quarantine: dict[Path, Quarantined] = {}
        self._ended = anyio.Event()
        self.failed: dict[str, str] = {}
        self.unseen: dict[str, str] = {}

    @property
    def files(self) -> int:
        """How many were read."""
        return len(self._seen)

    def changed(self) -> list[tuple[Path, Source]]:
        """The files that are new, not as they were when they were read last, or to be tried again."""
        unseen: dict[str, str] = {}
        found = {
            path: source
            for source in self._sources
            for path in source.files(self._home, self._variables, unseen)
        }
        for name in unseen.keys() - self.unseen.keys():
            logger.warning("%s %s", name, unseen[name])
        self.unseen = unseen
        for path in self._quarantine.keys() - found.keys():  # it is gone, and with it the trouble
            del self._quarantine[path]
            self.failed.pop(printable(path), None)
        return [
            (path, source)
            for path, source in found.items()
            if self._to_read(path, source.look_at(path)) and source.written_at(path) >= self._since
        ]

    def _to_read(self, path: Path, look: Look) -> bool:
        """Whether it has changed since, or its time in quarantine is over."""
        changed = self._seen.get(path) != look
        held = self._quarantine.get(path)
        if held is None:
            return changed
        over = not 0 < held.until - self._lore.clock() <= LONGEST_RETRY_SECONDS
        return over or (changed and not held.unexpected)

    def read(self, files: Sequence[tuple[Path, Source]]) -> Ingested:
        """Read them on. One that cannot be read or kept, whatever the reason, ends up in quarantine."""
        done: list[Ingested] = []
        ignored = ignoring(self._ignore_list, self._home)
        for path, source in files:
            look = source.look_at(path)
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

    def _read_one(self, path: Path, source: Source, ignored: Ignoring, done: list[Ingested]) -> None:
        for batch in self._lore.ingest(path, source, ignored):
            done.append(batch)
            if self._ended.is_set():
                return

    def _set_aside(self, path: Path, error: Exception) -> None:
        """Into quarantine: the log says why, once, and it is tried again later."""
        name, why = printable(path), reason(error)
        unexpected = not isinstance(error, LoreError)
        if self.failed.get(name) != why:
            told = why if name in why else f"{name}: {why}"
            logger.warning("%s", told, exc_info=error if unexpected else None)
        self.failed[name] = why
        failures = self._quarantine[path].failures + 1 if path in self._quarantine else 1
        pause = pause_after(failures, RETRY_SECONDS, LONGEST_RETRY_SECONDS)
        self._quarantine[path] = Quarantined(failures, self._lore.clock() + pause, unexpected)

    def end(self) -> None:
        """Finish the batch at hand; the rest is for the next time."""
        self._ended.set()

    async def changes(self, every_seconds: float) -> AsyncIterator[None]:
        """At first, whenever something happens in the clients' folders, and now and then in any case."""
        while not self._ended.is_set():
            yield
            try:
                async for quiet in self._watched(self._watchable()):
                    if quiet <= 1 or quiet * TICK_MILLISECONDS % (every_seconds * 1000) < TICK_MILLISECONDS:
                        began = anyio.current_time()
                        yield
                        await self._rested(REST * (anyio.current_time() - began))
            except (OSError, WatchfilesRustInternalError) as trouble:  # gone, or the system watches no more
                logger.warning("transcripts are only looked at every %g s: %s", every_seconds, trouble)
            await self._rested(every_seconds, every_seconds)

    async def _rested(self, seconds: float, longest: float = LONGEST_REST_SECONDS) -> None:
        with anyio.move_on_after(min(seconds, longest)):
            await self._ended.wait()

    async def _watched(self, watchable: Mapping[Path, int]) -> AsyncIterator[int]:
        """For how many ticks nothing has happened, at each; until there is something else to watch."""
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
        """At each change, and after each tick without one: whether something has changed."""
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
        """What changes when they write, as far as it is there yet, and which file that is at present."""
        places = [place for source in self._sources for place in source.watched(self._home, self._variables)]
        return {place: number for place in places if (number := _number(place))}


def _number(place: Path) -> int:
    try:
        return place.stat().st_ino
    except OSError:
        return 0
