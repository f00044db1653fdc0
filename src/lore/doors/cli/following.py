"""Following: what agents write down, read while they do, by this process and until it is told to end."""

import signal
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import anyio

from lore.config import IGNORE_LIST
from lore.doors.cli.flags import Flags
from lore.doors.cli.opening import directly, settings
from lore.doors.cli.terminal import note, plural
from lore.doors.transcript_watcher import TranscriptWatcher
from lore.engine.ingest import Ingested
from lore.environment import of_clients
from lore.transcripts.sources import VARIABLES, Source


def follow(flags: Flags, sources: Sequence[Source], since: float) -> tuple[int, Ingested, dict[str, str]]:
    """Until Ctrl-C: how many transcripts were read, what came of it, and which could not be read."""
    config = settings(flags)
    with directly(flags, create=True) as lore:
        ignore_list = config.data_dir / IGNORE_LIST
        gathering = TranscriptWatcher(
            lore, sources, Path.home(), of_clients(VARIABLES), ignore_list, since=since
        )
        total = anyio.run(_gathered, gathering, config.ingest_poll_seconds)
        unseen = gathering.unseen
        return gathering.files + len(unseen), total, unseen | gathering.failed


async def _gathered(gathering: TranscriptWatcher, every_seconds: float) -> Ingested:
    total = Ingested()
    note("reading what agents write down; Ctrl-C ends it")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_on_signal, gathering)
        async for _ in gathering.changes(every_seconds):
            if changed := await anyio.to_thread.run_sync(gathering.changed):
                done = await anyio.to_thread.run_sync(gathering.read, changed)
                total += done
                _tell(done)
        tasks.cancel_scope.cancel()
    return total


async def _end_on_signal(gathering: TranscriptWatcher) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            gathering.end()


def _tell(done: Ingested) -> None:
    if done.turns or done.changed:
        changed = f", {done.changed:,} changed" if done.changed else ""
        note(f"{datetime.now():%H:%M:%S}  {plural(done.turns, 'new turn')}{changed}")
