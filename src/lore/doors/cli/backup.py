"""backup, restore-backup: a verified copy of the store, and a copy put in its place."""

import os
import re
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import click

from lore import lazy
from lore.doors.cli.connect import endpoint_of, open_store, refuse_database, require_file, settings
from lore.doors.cli.group import Flags, command
from lore.doors.cli.render import note, plain, plural, show_document, size_text, visible, warn
from lore.doors.endpoint import Endpoint
from lore.doors.residence import SERVING
from lore.errors import Invalid, NotFound
from lore.filelock import Held, holding

BACKUPS = "backups"
"""The folder for copies, beside the store."""


# --- backup
@command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
@click.option(
    "--keep", metavar="N", type=click.IntRange(min=1), help="Then delete all but the newest N here."
)
def backup(flags: Flags, file: Path | None, force: bool, keep: int | None, as_json: bool) -> None:
    """Copy the store to a file while it is in use.

    Without a FILE, the copy goes to the folder `backups` beside the store, with the time in its name; so it
    does in a folder FILE. The copy is verified and has a manifest beside it with its checksum. It can be
    opened directly, to read: lore --db FILE search TEXT
    """
    store = require_file(flags, "back up")
    target = _target(file, store)
    if not target.parent.is_dir():
        raise NotFound(f"there is no folder {target.parent} for the copy")
    if keep is not None and file is not None and not file.expanduser().is_dir():
        raise Invalid("--keep deletes older copies with the time in their names; give a folder, or no FILE")
    if target.exists() and not force:
        raise Invalid(f"{target} exists; --force overwrites it")
    if target.with_name(f"{target.name}-wal").exists():
        raise Invalid(f"{target} is in use as a store; give another FILE")
    with open_store(flags) as lore:
        report = lore.backup(target)
    removed = [] if keep is None else _rotate(target.parent, store.stem, keep)
    if as_json:
        paths = {"file": str(target), "store": str(store), "manifest": str(_manifest(target))}
        show_document({**plain(report), **paths, "removed": [str(path) for path in removed]})
        return
    memories = plural(report.counts["memory"], "memory", "memories")
    click.echo(
        visible(f"Copied the store to {target} ({memories}, {size_text(report.size_bytes)}), verified.")
    )
    if removed:
        note(f"Deleted {plural(len(removed), 'older copy', 'older copies')}.")
    note("To restore it, end your agents, then run:", whole=True)
    note(f"  {shlex.join(_command(flags, 'restore-backup', str(target)))}", whole=True)


def _target(file: Path | None, store: Path) -> Path:
    """The file to write: FILE, or a new one in the folder FILE or in the folder for backups."""
    name = f"{store.stem}-{time.strftime('%Y%m%d-%H%M%S')}.db"
    if file is None:
        folder = store.parent / BACKUPS
        folder.mkdir(exist_ok=True, mode=0o700)
        return folder / name
    target = file.expanduser().absolute()
    return target / name if target.is_dir() else target


def _rotate(folder: Path, stem: str, keep: int) -> list[Path]:
    """Delete the oldest copies that this command named; returns them."""
    named = re.compile(re.escape(stem) + r"-\d{8}-\d{6}\.db")
    copies = sorted(path for path in folder.iterdir() if named.fullmatch(path.name))
    removed = copies[:-keep]
    for path in removed:
        for part in (path, _manifest(path)):
            with suppress(FileNotFoundError):
                part.unlink()
    return removed


def _manifest(backup: Path) -> Path:
    return lazy.store_backups.manifest_of(backup)


def _command(flags: Flags, *arguments: str) -> list[str]:
    paths = {"--data-dir": flags.data_dir, "--db": flags.db_path}
    where = [part for name, path in paths.items() if path for part in (name, str(path))]
    return ["lore", *where, *arguments]


# --- restore-backup
@command("restore-backup")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--force", is_flag=True, help="Restore it although it is damaged or was altered.")
def restore_backup(flags: Flags, file: Path, yes: bool, force: bool, as_json: bool) -> None:
    """Put a backup in the place of the store.

    The backup is verified first: its pages, its version, and that it holds as much as its manifest says. The
    present store is kept beside the backups. This is refused while a daemon, a server or an agent uses the
    store.
    """
    backups, source = lazy.store_backups, file.expanduser().absolute()
    refuse_database(settings(flags), "restore")
    store = settings(flags).database
    with alone(endpoint_of(flags), store):
        report, warnings = backups.verify(source, force)
        warn(warnings)
        memories = plural(report.counts["memory"], "memory", "memories")
        if not yes:
            _confirm(f"Replace {store} by {source} ({memories})?", as_json)
        aside = backups.restore(source, store)
    with open_store(flags) as lore:
        counts = lore.status().counts
    if as_json:
        document = {"store": str(store), "backup": str(source), "aside": aside and str(aside)}
        show_document({**document, "rows": plain(report.counts), "counts": plain(counts)})
        return
    click.echo(visible(f"Restored {source} ({memories}) as {store}."))
    if aside is not None:
        note(f"The store as it was before is {aside}. To get it back:", whole=True)
        note(f"  {shlex.join(_command(flags, 'restore-backup', str(aside)))}", whole=True)


def _confirm(question: str, as_json: bool) -> None:
    if as_json or not sys.stdin.isatty():
        raise Invalid("this replaces the store; give --yes to confirm it")
    click.confirm(visible(question), abort=True, err=True)


@contextmanager
def alone(endpoint: Endpoint, store: Path) -> Iterator[None]:
    """Keep every daemon and server from this store until the block ends; Invalid if one runs."""
    locks = [f"{os.path.realpath(store)}{SERVING}"]
    if os.path.isdir(endpoint.home):
        locks.append(endpoint.lock)
    with ExitStack() as stack:
        try:
            for lock in locks:
                stack.enter_context(holding(lock, 0.0))
        except Held:
            raise Invalid(
                f"a daemon or server uses {store}; end your agents and run `lore stop`, then try again"
            ) from None
        yield
