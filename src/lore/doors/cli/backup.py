"""backup: a consistent copy of the store in one file, made while others go on writing."""

import shlex
import time
from pathlib import Path

import click

from lore.doors.cli.document import show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.opening import directly, missing_store, settings
from lore.doors.cli.status import size_of
from lore.doors.cli.terminal import note, visible
from lore.errors import Invalid, NotFound

FOLDER = "backups"


@click.command()
@click.argument("file", required=False, type=click.Path(path_type=Path))
@click.option("--force", is_flag=True, help="Overwrite FILE if it exists.")
@json_option
@click.pass_obj
def backup(flags: Flags, file: Path | None, force: bool, as_json: bool) -> None:
    """Copy the store to a file, while it is in use.

    Without a FILE, to the folder `backups` beside the store, under a name with the time. The copy is complete
    and can be opened as it is: lore --db FILE search TEXT
    """
    if unmade := missing_store(flags):
        raise NotFound(f"there is nothing to back up: {unmade.database} does not exist yet")
    store = settings(flags).database
    target = _target(file, store)
    _refuse(target, force)
    with directly(flags) as lore:
        lore.backup(target)
    size_bytes = target.stat().st_size
    if as_json:
        show_document({"file": str(target), "size_bytes": size_bytes, "store": str(store)})
        return
    click.echo(visible(f"Copied the store to {target} ({size_of(size_bytes)})."))
    note("To restore it, end your agents, then:", broken_to_fit=False)
    for command in _restoring(target, store, flags):
        note(f"  {command}", broken_to_fit=False)


def _restoring(copy: Path, store: Path, flags: Flags) -> list[str]:
    """The shell commands that put a copy in the place of the store."""
    log = [f"{store}-wal", f"{store}-shm"]
    given = {"--data-dir": flags.data_dir, "--db": flags.db_path}
    where = [part for name, path in given.items() if path for part in (name, str(path))]
    commands = ["lore", *where, "stop"], ["rm", "-f", *log], ["cp", str(copy), str(store)]
    return [shlex.join(command) for command in commands]


def _target(file: Path | None, store: Path) -> Path:
    """The file to write: the given one, or one with a name of its own in the given folder."""
    name = f"{store.stem}-{time.strftime('%Y%m%d-%H%M%S')}.db"
    if file is None:
        folder = store.parent / FOLDER
        folder.mkdir(exist_ok=True, mode=0o700)
        return folder / name
    target = file.expanduser().absolute()
    return target / name if target.is_dir() else target


def _refuse(target: Path, force: bool) -> None:
    if not target.parent.is_dir():
        raise NotFound(f"there is no folder {target.parent} for the copy")
    if target.exists() and not force:
        raise Invalid(f"{target} exists; --force overwrites it")
    if target.with_name(f"{target.name}-wal").exists():
        raise Invalid(f"{target} is in use as a store; give another FILE")
