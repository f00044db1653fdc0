"""gathering: what agents write down is read on as soon as they do, for as long as the daemon is awake."""

import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import anyio
import watchfiles

from lore.engine import Lore
from lore.engine.ingest import Ingested
from lore.errors import LoreError
from lore.transcripts.ignoring import ignoring
from lore.transcripts.sources import Source

SETTLE_MILLISECONDS = 300
"""How long a file has to be quiet before it is looked at, so that a burst of lines is read at once."""
TICK_MILLISECONDS = 1000
"""After so long without a word another look is taken: what was before the watch began, it does not tell."""

logger = logging.getLogger(__name__)


class Gathering:
    """The transcripts of some clients. To look at what has not changed since costs next to nothing."""

    def __init__(
        self,
        lore: Lore,
        sources: Sequence[Source],
        home: Path,
        variables: Mapping[str, str],
        ignore_list: Path,
    ) -> None:
        """ignore_list: the file that says what shall not be remembered."""
        self._lore = lore
        self._ignore_list = ignore_list
        self._sources = sources
        self._home = home
        self._variables = variables
        self._seen: dict[Path, tuple[int, int, int]] = {}
        self._ended = anyio.Event()

    def changed(self) -> list[tuple[Path, Source]]:
        """The files that are new, or not as they were when they were read last."""
        return [
            (path, source)
            for source in self._sources
            for path in source.files(self._home, self._variables)
            if self._seen.get(path) != _look_of(path)
        ]

    def read(self, files: Sequence[tuple[Path, Source]]) -> Ingested:
        """Read them on. One that cannot be read is told about, and tried again when it has changed."""
        total = Ingested()
        ignored = ignoring(self._ignore_list, self._home)
        for path, source in files:
            look = _look_of(path)
            try:
                for done in self._lore.ingest(path, source, ignored):
                    total += done
                    if self._ended.is_set():
                        return total
            except LoreError as trouble:
                logger.warning("%s", trouble)
            self._seen[path] = look
        return total

    def end(self) -> None:
        """Finish the batch at hand; the rest is for the next time."""
        self._ended.set()

    async def changes(self, every_seconds: float) -> AsyncIterator[None]:
        """At first, whenever something happens in the clients' folders, and now and then in any case."""
        while not self._ended.is_set():
            yield
            try:
                async for quiet in self._watched(self._folders()):
                    if quiet <= 1 or quiet * TICK_MILLISECONDS % (every_seconds * 1000) < TICK_MILLISECONDS:
                        yield
            except OSError as trouble:  # a folder has gone, or the system watches no more files
                logger.warning("transcripts are only looked at every %g s: %s", every_seconds, trouble)
            await anyio.sleep(every_seconds)

    async def _watched(self, folders: Sequence[Path]) -> AsyncIterator[int]:
        """For how many ticks nothing has happened, at each; until there are other folders to watch."""
        quiet = 0
        while folders and not self._ended.is_set():
            async for changes in watchfiles.awatch(
                *folders,
                debounce=SETTLE_MILLISECONDS,
                stop_event=self._ended,
                rust_timeout=TICK_MILLISECONDS,
                yield_on_timeout=True,
            ):
                quiet = 0 if changes else quiet + 1
                yield quiet
                if self._folders() != folders:
                    folders, quiet = self._folders(), 0
                    break

    def _folders(self) -> list[Path]:
        """Where they write, as far as it is there yet."""
        places = [source.place(self._home, self._variables) for source in self._sources]
        return [place for place in places if place.is_dir()]


def _look_of(path: Path) -> tuple[int, int, int]:
    """What tells, from outside, whether a file has changed."""
    try:
        status = path.stat()
    except OSError:
        return 0, 0, 0
    return status.st_ino, status.st_size, status.st_mtime_ns
