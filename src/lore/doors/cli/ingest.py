"""ingest: transcripts of agents become turns."""

import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import click

from lore import lazy
from lore.doors.cli.complete import complete_clients
from lore.doors.cli.connect import announced, endpoint_of, open_store, settings
from lore.doors.cli.group import Flags, command
from lore.doors.cli.progress import progress
from lore.doors.cli.render import complain, note, plain, plural, show_document
from lore.doors.cli.times import moment
from lore.doors.daemon_status import read_status
from lore.environment import of_clients
from lore.errors import Invalid, LoreError, NotFound

if TYPE_CHECKING:
    from lore.doors.agent_notes import AgentNotes
    from lore.doors.transcript_watcher import Transcripts, TranscriptWatcher
    from lore.engine import Lore
    from lore.engine.agent_files import NotesRead
    from lore.engine.ingest import Ingested
    from lore.transcripts.turns import Source

MANY = 200
"""Pending memories that are worth a note."""
MANY_BYTES = 2_000_000
"""Size of the files from which on reading them shows progress."""


# --- ingest
@command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--source",
    "names",
    metavar="NAME",
    multiple=True,
    shell_complete=complete_clients,
    help="Only this client; may be repeated.",
)
@click.option(
    "--since", metavar="WHEN", help="Only transcripts written since 2026-01-31, or 30m, 3h, 7d, 2w ago."
)
@click.option("--once/--follow", default=True, help="Read once (default), or as agents write, until Ctrl-C.")
@click.option(
    "--again",
    is_flag=True,
    help="Read from the beginning: turns that older versions cut or redacted too much become whole.",
)
def ingest(flags: Flags, /, *, since: str | None, as_json: bool, **options: Any) -> int:
    """Read the conversations that your agents recorded.

    Without a PATH, this reads all transcripts of all known clients, and the files in which their agents keep
    notes. A folder means the transcripts in it. What was read before is skipped, except with --again, and
    nothing is stored twice. A running daemon reads what is new on its own. The exit code is 1 if a folder, a
    file or a line cannot be read.
    """
    after = 0.0 if since is None else moment(since, time.time(), "--since")
    clients = [lazy.sources.source_named(name) for name in options["names"]]
    read = _read_once if options["once"] else _follow
    result = read(flags, clients, after, options)
    if as_json:
        counts = {"files": result.files, "left_out": result.left_out, "failed": result.failed}
        noted = {"agent_notes": plain(result.notes)} if result.notes else {}
        show_document({**counts, **plain(result.total), **noted})
    else:
        show_read(result, "transcript")
        if result.notes:
            _show_notes(result.notes)
        if result.left_out:
            note(f"left out: {plural(result.left_out, 'transcript')} not written since {since}")
        if result.pending >= MANY:
            note(f"{result.pending:,} memories wait to be embedded: {who_embeds(flags)}")
    unread = result.failed or (result.notes and result.notes.failed)
    return 1 if unread or result.total.passed_over else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadFiles:
    """Files that were read as conversations: how many there were, how many could be read, path -> error.

    left_out: files that are too old. pending: memories that wait to be embedded. notes: what became of files
    in which agents keep notes.
    """

    files: int
    read: int
    total: "Ingested"
    failed: Mapping[str, str]
    left_out: int = 0
    pending: int = 0
    notes: "NotesRead | None" = None


def _read_once(
    flags: Flags, clients: Sequence["Source"], after: float, options: Mapping[str, Any]
) -> ReadFiles:
    unreadable: dict[str, str] = {}
    paths = options["paths"]
    found = _in_paths(paths, clients, unreadable) if paths else _of_clients(clients, unreadable)
    # a file that does not exist has the time 0: reading it gives the error
    files = [(path, source) for path, source in found if not 0 < source.written_at(path) < after]
    where = _where(flags, clients, after)
    ignored = lazy.ignore_rules.load(where.ignore_list, where.home)
    noting = settings(flags).ingest_agent_files and not paths
    create = bool(files) or (noting and bool(lazy.agent_notes.found(where)))
    with announced(flags, "ingesting"), open_store(flags, create=create) as lore:
        notes = lazy.agent_notes.AgentNotes(lore, where).read(options["again"]) if noting else None
        reads = [(path, lore.ingest(path, source, ignored, options["again"])) for path, source in files]
        total, failed = read_all(reads)
        pending = lore.pending()
    return ReadFiles(
        files=len(files),
        read=len(files) - len(failed),
        total=total,
        failed=failed | unreadable,
        left_out=len(found) - len(files),
        pending=pending,
        notes=notes,
    )


def _where(flags: Flags, clients: Sequence["Source"], after: float) -> "Transcripts":
    """What these clients, or all, have written since then."""
    return lazy.transcript_watcher.Transcripts(
        sources=clients or list(lazy.sources.SOURCES.values()),
        home=Path.home(),
        variables=of_clients(lazy.sources.VARIABLES),
        ignore_list=settings(flags).data_dir / lazy.config.IGNORE_LIST,
        since=after,
    )


def read_transcripts(lore: "Lore", ignored: Callable[[str], bool]) -> tuple["Ingested", dict[str, str]]:
    """Read what all clients have recorded since the last time: the counts, and the errors by path."""
    unreadable: dict[str, str] = {}
    found = _of_clients((), unreadable)
    total, failed = read_all([(path, lore.ingest(path, source, ignored)) for path, source in found])
    return total, failed | unreadable


def who_embeds(flags: Flags) -> str:
    """Who embeds pending memories, and how they are found until then."""
    running = read_status(endpoint_of(flags))["running"]
    who = "the daemon does that" if running else "`lore start` has a daemon do that"
    return f"{who}; until then they are found by their words"


def _of_clients(clients: Sequence["Source"], unreadable: dict[str, str]) -> list[tuple[Path, "Source"]]:
    """The transcripts of these clients, or of all. unreadable: collects paths that cannot be read."""
    sources = lazy.sources
    variables = of_clients(sources.VARIABLES)
    wanted = clients or sources.SOURCES.values()
    return [(path, source) for source in wanted for path in source.files(Path.home(), variables, unreadable)]


def _in_paths(
    paths: Sequence[Path], clients: Sequence["Source"], unreadable: dict[str, str]
) -> list[tuple[Path, "Source"]]:
    """The transcripts in these files and folders. Their client is the given one, or follows from the path."""
    if len(clients) > 1:
        raise Invalid("a PATH belongs to one client; give --source only once")
    find_files = lazy.untrusted_files.find_files
    patterns = {name for source in clients or lazy.sources.SOURCES.values() for name in source.file_names}
    files: list[Path] = []
    for path in paths:
        inside = (file for name in patterns for file in find_files(path, f"**/{name}", unreadable))
        files += sorted(inside) if path.is_dir() else [path]
    return [(file, clients[0] if clients else _client_of(file)) for file in files]


def _client_of(file: Path) -> "Source":
    """The client whose transcript this is, by its name or its folder."""
    try:
        return lazy.sources.source_of(file)
    except Invalid:
        if not file.exists():
            raise NotFound(f"there is no file or folder {file}") from None
        raise


# --- ingest --follow
def _follow(flags: Flags, clients: Sequence["Source"], after: float, options: Mapping[str, Any]) -> ReadFiles:
    """Read transcripts as they grow, until Ctrl-C."""
    if options["paths"] or options["again"]:
        wrong = "PATH" if options["paths"] else "--again"
        raise Invalid(f"--follow reads all transcripts as they grow; leave out {wrong}")
    config, where = settings(flags), _where(flags, clients, after)
    with open_store(flags, create=True) as lore:
        watcher = lazy.transcript_watcher.TranscriptWatcher(lore, where)
        notes = lazy.agent_notes.AgentNotes(lore, where) if config.ingest_agent_files else None
        total = anyio.run(_watch, watcher, notes, config.ingest_poll_seconds)
        failed = watcher.unseen | watcher.failed | (notes.failed if notes else {})
        files = watcher.files + len(watcher.unseen)
        read = files - len(watcher.unseen | watcher.failed)
        return ReadFiles(files=files, read=read, total=total, failed=failed)


async def _watch(watcher: "TranscriptWatcher", notes: "AgentNotes | None", poll_seconds: float) -> "Ingested":
    total = lazy.ingest.Ingested()
    note("reading what agents write; Ctrl-C ends it")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_on_signal, watcher)
        async for _ in watcher.changes(poll_seconds):
            if changed := await anyio.to_thread.run_sync(watcher.changed):
                done = await anyio.to_thread.run_sync(watcher.read, changed)
                total += done
                if done.turns or done.changed:
                    more = f", {done.changed:,} changed" if done.changed else ""
                    note(f"{datetime.now():%H:%M:%S}  {plural(done.turns, 'new turn')}{more}")
            if notes and (text := _notes_text(await anyio.to_thread.run_sync(notes.read))):
                note(f"{datetime.now():%H:%M:%S}  {text}")
        tasks.cancel_scope.cancel()
    return total


async def _end_on_signal(watcher: "TranscriptWatcher") -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        async for _ in signals:
            watcher.end()


# --- reading files
def read_all(reads: Sequence[tuple[Path, Iterator["Ingested"]]]) -> tuple["Ingested", dict[str, str]]:
    """The sum of all reads, and the errors by path: a file that cannot be read does not stop the others."""
    total = lazy.ingest.Ingested()
    failed: dict[str, str] = {}
    size = sum(path.stat().st_size for path, _ in reads if path.is_file())
    with progress() as report:
        for path, read in reads:
            try:
                for done in read:
                    total += done
                    if size >= MANY_BYTES:
                        report("bytes read", total.bytes, size)
            except LoreError as error:
                failed[str(path)] = str(error)
    return total, failed


def _show_notes(notes: "NotesRead") -> None:
    """Print what became of agents' notes, and what could not be read."""
    if text := _notes_text(notes):
        click.echo(f"{text}.")
    for path, error in notes.failed.items():
        complain(f"{path}: {error}")


def _notes_text(notes: "NotesRead") -> str:
    """What became of agents' notes, in words; empty if nothing did."""
    counts = {"new": notes.new, "changed": notes.changed, "back": notes.restored, "gone": notes.forgotten}
    some = ", ".join(f"{count:,} {word}" for word, count in counts.items() if count)
    return f"Notes of agents: {some}" if some else ""


def show_read(result: ReadFiles, noun: str) -> None:
    """Print what was read, and what could not be."""
    total = result.total
    if result.read or not result.failed:
        turns, sessions = plural(total.turns, "new turn"), plural(total.sessions, "new session")
        click.echo(f"Read {plural(result.read, noun)}: {turns}, {sessions}.")
    if total.changed:
        click.echo(f"{plural(total.changed, 'turn')} had changed.")
    if total.passed_over:
        complain(f"{plural(total.passed_over, 'line')} could not be read; nothing of it is stored")
    for kind, count in sorted(total.redacted.items()):
        note(f"not stored: {plural(count, kind)}")
    for path, error in result.failed.items():
        complain(error if path in error else f"{path}: {error}")
