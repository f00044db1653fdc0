"""export, import: a store as a file of JSON lines, and files of many systems as memories and turns."""

import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from lore import lazy
from lore.doors.cli.complete import complete_projects
from lore.doors.cli.connect import open_embedder, open_store, require_store
from lore.doors.cli.group import Flags, command
from lore.doors.cli.ingest import ReadFiles, read_all, show_read, who_embeds
from lore.doors.cli.progress import embed_pending, progress
from lore.doors.cli.projects import key_of
from lore.doors.cli.render import complain, note, plain, plural, show_document, size_text, visible
from lore.engine.export import ExportScope
from lore.engine.import_memories import Imported, Importing
from lore.engine.undo_import import UndoneImport
from lore.errors import Invalid, LoreError, NotFound
from lore.model import SHARED, new_id
from lore.transcripts.import_formats import FORMATS as CONVERSATIONS
from lore.transfer.items import FORMATS as MEMORIES
from lore.transfer.items import MemoryFormat

if TYPE_CHECKING:
    from lore.engine import Lore
    from lore.transfer.streams import Compression

STANDARD = "-"
"""Standard input or output in the place of a FILE."""
MANY_PENDING = 2_000
"""Imported memories that are not embedded before the command ends: it would take minutes."""
PASSED = {  # words for one and for several parts of a file that are never imported
    "history entry": ("history entry", "history entries"),
    "link to a missing note": ("link to a missing note", "links to missing notes"),
}


# --- export
@command()
@click.argument("file", required=False, default=STANDARD, metavar="[FILE]")
@click.option("--namespace", "namespaces", metavar="NAME", multiple=True, help="Only this one; repeatable.")
@click.option(
    "--project", "projects", metavar="NAME", multiple=True, shell_complete=complete_projects,
    help="Only this project: its name, its key or a folder in it; repeatable.",
)  # fmt: skip
@click.option("--kind", "kinds", metavar="KIND", multiple=True, help="Only this kind, like note; repeatable.")
@click.option("--history", is_flag=True, help="Also the journal of all changes.")
@click.option("--tenant", metavar="NAME", default="", help="Of this tenant of a server (default: its own).")
@click.option("--gzip", "compress", is_flag=True, help="Compress it; .gz and .zst in FILE do so too.")
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
def export(flags: Flags, /, *, file: str, compress: bool, as_json: bool, **options: Any) -> None:
    """Write all memories to a file, as JSON lines.

    FILE is - for standard output, the default. The file holds the memories of all namespaces with their whole
    texts, links, judgements of suggested links and the progress of digestion, as they were at one moment.
    Secrets are redacted. `lore import FILE` reads it, here or elsewhere.
    """
    store = require_store(flags, "export")
    if file == STANDARD and as_json:
        raise Invalid("--json prints a summary to standard output; give a FILE for the export")
    target = None if file == STANDARD else _target(Path(file), options["force"])
    compression: Compression = "gzip" if compress else ""
    if target is not None:
        compression = lazy.transfer_streams.SUFFIXES.get(target.suffix, compression)
    with open_store(flags) as opened, progress() as report, _sink(target, compression) as sink:
        lore = replace(opened, tenant=options["tenant"])
        summary = lore.export(sink, _scope(lore, flags, options), report)
    if target is None:
        return
    size_bytes = target.stat().st_size
    if as_json:
        show_document({"file": str(target), "size_bytes": size_bytes, "store": store, **plain(summary)})
        return
    memories, links = summary.counts.get("memory", 0), summary.counts.get("link", 0)
    parts = f"{plural(memories, 'memory', 'memories')} and {plural(links, 'link')}"
    click.echo(visible(f"Exported {parts} to {target} ({size_text(size_bytes)})."))


def _target(file: Path, force: bool) -> Path:
    target = file.expanduser().absolute()
    if target.is_dir() or not target.parent.is_dir():
        raise NotFound(
            f"there is no folder {target.parent}" if not target.is_dir() else f"{target} is a folder"
        )
    if target.exists() and not force:
        raise Invalid(f"{target} exists; --force overwrites it")
    return target


@contextmanager
def _sink(target: Path | None, compression: "Compression") -> Iterator[Any]:
    streams = lazy.transfer_streams
    if target is not None:
        with streams.writing(target, compression) as file:
            yield file
        return
    with streams.compressed(sys.stdout.buffer, compression) as file:
        yield file
    sys.stdout.flush()


def _scope(lore: "Lore", flags: Flags, options: Mapping[str, Any]) -> ExportScope:
    """The options before the command count too: a namespace means its memories and the shared ones."""
    before = (flags.namespace, SHARED) if flags.namespace else ()
    return ExportScope(
        namespaces=frozenset(options["namespaces"] or before),
        kinds=frozenset(options["kinds"]),
        projects=frozenset(key_of(lore, name) for name in options["projects"]),
        history=options["history"],
    )


# --- import
@command("import")
@click.argument("paths", metavar="FILE...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--format", type=click.Choice((*CONVERSATIONS, *MEMORIES)), help="Of the files (default: detected)."
)
@click.option("--session", metavar="NAME", default="", help="Session of text files (default: file name).")
@click.option("--namespace", metavar="NAME", default="", help="Put everything into this namespace.")
@click.option("--tenant", metavar="NAME", default="", help="Into this tenant of a server (default: its own).")
@click.option("--preview", is_flag=True, help="Show what would come, with duplicates; change nothing.")
@click.option("--replace", is_flag=True, help="Memories that exist and differ take the values of the file.")
@click.option("--strict", is_flag=True, help="Import nothing of a FILE that has unreadable parts.")
@click.option("--damaged", is_flag=True, help="Import what is left of a cut or altered export.")
@click.option("--undo", metavar="ID", default="", help="Take this import back instead.")
def import_files(flags: Flags, /, *, paths: Sequence[Path], undo: str, as_json: bool, **options: Any) -> int:
    """Import memories and conversations of many systems.

    A FILE is an export of Lore, the JSON lines of the official memory server, an export or the database of
    Lorekeeper, a reference Lore memory.db, a folder of basic-memory, JSON of mem0, the database of
    claude-mem, or conversations: an export of Claude.ai or ChatGPT, zipped or not, Markdown, plain text or
    JSON lines. - reads standard input. Importing it again adds only what is new in it. The files are not
    changed. The exit code is 1 if a FILE or a part of it cannot be read.
    """
    if undo:
        return _undo(flags, undo, paths, options["tenant"], as_json)
    if not paths:
        raise click.UsageError("Missing argument 'FILE...'.")
    if options["strict"] and options["damaged"]:
        raise Invalid("give --strict or --damaged, not both")
    id, preview = new_id(time.time()), options["preview"]
    how = Importing(
        id=id,
        namespace=options["namespace"] or flags.namespace or "",
        replace=options["replace"],
        preview=preview,
    )
    create = not preview and any(path.exists() or str(path) == STANDARD for path in paths)
    with _readable(paths) as files, open_store(flags, create=create) as lore:
        lore = replace(lore, tenant=options["tenant"])
        lore = lore.for_namespace(how.namespace, surface="cli") if how.namespace else lore
        run = _Run(lore, how, options)
        run.read(files)
        if not as_json:
            run.show()
        if not preview:
            _embed(flags, lore)
    if as_json:
        show_document(run.document())
    return 1 if run.failed or run.memories.unreadable else 0


def _embed(flags: Flags, lore: "Lore") -> None:
    if (pending := lore.pending()) > MANY_PENDING:
        note(f"{pending:,} memories wait to be embedded: {who_embeds(flags)}")
        return
    with open_embedder(flags, lore) as embeds:
        embed_pending(embeds)


@contextmanager
def _readable(paths: Sequence[Path]) -> Iterator[list[Path]]:
    """The files; standard input is kept in one, because an export is read twice."""
    if Path(STANDARD) not in paths:
        yield list(paths)
        return
    with tempfile.TemporaryDirectory(prefix="lore-import-") as folder:
        kept = Path(folder, "standard input")
        with kept.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield [kept if path == Path(STANDARD) else path for path in paths]


class _Run:
    """One call of the command: what it read of each file."""

    def __init__(self, lore: "Lore", how: Importing, options: Mapping[str, Any]) -> None:
        self._lore, self._how, self._options = lore, how, options
        self.failed: dict[str, str] = {}
        self.memories = Imported()
        self._conversations: list[Path] = []
        self._graphs: dict[str, Any] = {}
        self._turns: ReadFiles | None = None
        self._sources: list[str] = []

    def read(self, paths: Sequence[Path]) -> None:
        """Import all files; one that cannot be read does not stop the others."""
        for path in paths:
            try:
                self._read(path)
            except LoreError as error:
                self.failed[str(path)] = str(error)
        if self._conversations:
            files = self._conversations
            given = self._options["format"]
            total, failed = read_all(
                [(p, self._lore.import_file(p, given, self._options["session"], self._how)) for p in files]
            )
            self.failed |= failed
            read = len(files) - len(failed)
            self._turns = ReadFiles(files=len(files), read=read, total=total, failed=failed)

    def _read(self, path: Path) -> None:
        given = self._options["format"]
        if given in CONVERSATIONS or (given is None and not path.exists()):
            self._conversations.append(path)
            return
        format = cast("MemoryFormat | None", given) or lazy.memory_formats.format_of(path)
        if format is None:
            self._conversations.append(path)
        elif format == "graph":
            self._read_graph(path)
        else:
            self._read_memories(path, format)

    def _read_graph(self, path: Path) -> None:
        if self._options["strict"]:
            found = self._lore.import_graph(path, how=replace(self._how, preview=True))
            if bad := found.skipped + found.refused:
                raise Invalid(f"{path} has {plural(bad, 'unreadable line')}, so nothing was imported")
        self._graphs[str(path)] = self._lore.import_graph(path, how=self._how)

    def _read_memories(self, path: Path, format: MemoryFormat) -> None:
        formats = lazy.memory_formats
        if self._options["strict"]:
            formats.check_all(path, format)
        self._sources.append(f"{path.name} ({format})")
        with formats.opened(path, format, self._options["damaged"]) as source, progress() as report:
            done = 0
            for part in self._lore.import_memories(source.items, self._how):
                self.memories += part
                done += part.items
                report("imported" if not self._how.preview else "compared", done, max(done, source.total))

    @property
    def changed(self) -> bool:
        """Whether anything was imported that can be taken back."""
        turns = self._turns is not None and (self._turns.total.turns or self._turns.total.changed)
        graphs = any(graph.new_memories or graph.new_links for graph in self._graphs.values())
        memories = self.memories
        return bool(turns or graphs or memories.new or memories.replaced or memories.links)

    def document(self) -> dict[str, Any]:
        """The counts of all files."""
        turns = self._turns.total if self._turns is not None else lazy.ingest.Ingested()
        files = len(self._conversations) + len(self._sources) + len(self._graphs)
        failed = [path for path in self.failed if Path(path) not in self._conversations]
        return {
            "import": self._how.id if self.changed and not self._how.preview else None,
            "preview": self._how.preview,
            "files": files + len([path for path in failed if path not in self._graphs]),
            "failed": self.failed,
            **plain(turns),
            "memories": plain(self.memories),
            "graphs": plain(self._graphs),
        }

    def show(self) -> None:
        """Print what was imported, what was not, and how to take it back."""
        if self._turns is not None:
            show_read(self._turns, "file")
        for path, graph in self._graphs.items():
            memories, links = (
                plural(graph.new_memories, "memory", "memories"),
                plural(graph.new_links, "link"),
            )
            click.echo(visible(f"{self._done} {memories} and {links} from {Path(path).name} (graph)."))
            if bad := graph.skipped + graph.refused:
                note(f"{plural(bad, 'line')} could not be imported: unknown, empty, or without its ends")
        if self._sources:
            _show_memories(self.memories, self._sources, self._how, self._done)
        shown = self._turns.failed if self._turns is not None else {}
        for path, error in self.failed.items():
            if path not in shown:
                complain(error if path in error else f"{path}: {error}")
        if self.changed and not self._how.preview:
            note(f"Undo: lore import --undo {self._how.id}", whole=True)

    @property
    def _done(self) -> str:
        return "Would import" if self._how.preview else "Imported"


def _show_memories(memories: Imported, sources: Sequence[str], how: Importing, done: str) -> None:
    new = memories.new + memories.replaced
    counts = f"{plural(new, 'memory', 'memories')} and {plural(memories.links, 'link')}"
    click.echo(visible(f"{done} {counts} from {', '.join(sources)}."))
    _show_examples("new", memories)
    if memories.same:
        note(f"{plural(memories.same, 'memory is', 'memories are')} here already.")
    if memories.different:
        stay = "would be replaced" if how.replace else "stay as they are; --replace takes those of the file"
        note(f"{plural(memories.different, 'memory differs', 'memories differ')}: they {stay}.")
        _show_examples("different", memories)
    if memories.duplicates:
        repeats = plural(memories.duplicates, "new memory repeats", "new memories repeat")
        note(f"{repeats} the text of another one:")
        _show_examples("duplicates", memories)
    if memories.links_left_out:
        note(f"{plural(memories.links_left_out, 'link')} left out: an end is missing, or its place is taken.")
    for noun, count in memories.passed.items():
        note(f"not imported: {plural(count, *PASSED.get(noun, (noun,)))}")
    if memories.unreadable:
        complain(f"{plural(memories.unreadable, 'part')} could not be read; nothing of it is stored")
        for problem in memories.problems:
            note(f"  {problem}")


def _show_examples(name: str, memories: Imported) -> None:
    for label in memories.examples.get(name, ()):
        note(f"  {label}")


def _undo(flags: Flags, id: str, paths: Sequence[Path], tenant: str, as_json: bool) -> int:
    if paths:
        raise Invalid("--undo takes an import back; give no FILE with it")
    require_store(flags, "take back")
    with open_store(flags) as lore:
        undone = sum(replace(lore, tenant=tenant).undo_import(id), UndoneImport())
    if as_json:
        show_document({"import": id, **plain(undone)})
        return 0
    forgotten, links = plural(undone.forgotten, "memory", "memories"), plural(undone.links, "link")
    click.echo(f"Took the import back: {forgotten} forgotten, {links} ended, {undone.reverted:,} reverted.")
    note("Importing the same file again brings them back.")
    return 0
