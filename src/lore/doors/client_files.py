"""client_files: plan the changes to a client's files that install or remove Lore, and write them."""

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from lore.clients.edit import Hooks, Module, Part, Programs, Servers, format_of, is_on
from lore.clients.table import CLIENTS, VARIABLES, Client, location
from lore.durable import OWNER_FILE, make_folder, sync_folder, write_durably
from lore.environment import of_clients
from lore.errors import Invalid, LoreError, Unavailable

BACKUP = ".lore-backup"
"""Suffix of the copy of a file as it was before Lore came."""
PACKAGE = Path(__file__).parent.parent
PLUGINS = (PACKAGE / "plugin", PACKAGE.parent.parent / "plugin")
"""The plugin folder: inside the installed package, or beside `src` in a checkout."""
Edit: TypeAlias = Callable[[Part, str, Path], str]


@dataclass(frozen=True, slots=True)
class Change:
    """A file before and after; None: there is no file. is_original: Lore is not in it before."""

    path: Path
    before: str | None
    after: str | None
    is_original: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """The changes for one client. plugin: it has Lore's plugin. problem: why there can be none."""

    client: Client
    changes: list[Change] = field(default_factory=list)
    plugin: bool = False
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Machine:
    """Where clients keep their files. project: the folder whose own files are meant instead."""

    home: Path
    variables: Mapping[str, str]
    platform: str
    project: Path | None = None

    def path(self, *files: str) -> Path:
        """The first of a client's files that exists, or else the first."""
        paths = [location(file, self.home, self.variables, self.platform) for file in files]
        return next((path for path in paths if os.path.exists(path)), paths[0])

    def parts(self, client: Client) -> list[tuple[Path, Part]]:
        """The parts of a client's settings that Lore is in, with their files."""
        if self.project is not None:
            if not client.project:
                having = [other.name for other in CLIENTS.values() if other.project]
                raise Invalid(f"{client.title} has no file in a project; these have: {', '.join(having)}")
            path = self.project / client.project
            return [(path, Servers(client, format_of(path)))]
        path = self.path(*client.servers)
        parts: list[tuple[Path, Part]] = [(path, Servers(client, format_of(path)))]
        if client.hooks:
            path = self.path(client.hooks)
            parts.append((path, Hooks(client, format_of(path))))
        file, name = client.module
        if file and (source := _shipped(name)):
            parts.append((self.path(file), Module(source)))
        return parts

    def detected(self, client: Client) -> bool:
        """Whether the client seems to be installed: its folder or its command is there."""
        folder = self.path(client.hooks or client.servers[0]).parent
        return os.path.isdir(folder) or any(shutil.which(program) for program in client.programs)

    def has_plugin(self, client: Client) -> bool:
        """Whether the client has Lore's plugin, which brings server and hooks."""
        file, keys = client.plugin
        if not file or self.project is not None:
            return False
        path = self.path(file)
        text = _read(path) or ""
        with _naming(path):
            return is_on(text, path, keys)


def this_machine(project: Path | None = None) -> Machine:
    """The machine and user of this process."""
    return Machine(Path.home(), of_clients(VARIABLES), sys.platform, project)


# --- planning
def plan_install(client: Client, machine: Machine, programs: Programs) -> Plan:
    """What would change so that the client runs Lore."""

    def add(part: Part, text: str, path: Path) -> str:
        return part.add(text, programs)

    def plan() -> Plan:
        if machine.has_plugin(client):
            return Plan(client, plugin=True)
        return Plan(client, _changes(client, machine, add))

    return _or_problem(client, plan)


def plan_uninstall(client: Client, machine: Machine) -> Plan:
    """What would change so that nothing of Lore is left."""

    def remove(part: Part, text: str, path: Path) -> str:
        return part.remove(text, _read(_backup(path)) or "")

    def plan() -> Plan:
        changes = [
            Change(change.path, change.before, None) if _is_leftover(change) else change
            for change in _changes(client, machine, remove)
        ]
        return Plan(client, changes, plugin=machine.has_plugin(client))

    return _or_problem(client, plan)


def state(client: Client, machine: Machine) -> str:
    """installed, plugin, partly, no, or unreadable."""
    try:
        if machine.has_plugin(client):
            return "plugin"
        found = [part.present(_read(path) or "") for path, part in machine.parts(client)]
    except (LoreError, OSError):
        return "unreadable"
    return "installed" if all(found) else "partly" if any(found) else "no"


def _or_problem(client: Client, plan: Callable[[], Plan]) -> Plan:
    try:
        return plan()
    except LoreError as error:
        return Plan(client, problem=str(error))
    except OSError as error:
        return Plan(client, problem=f"{error.filename}: {error.strerror}")


def _changes(client: Client, machine: Machine, edit: Edit) -> list[Change]:
    """The files of a client that an edit changes."""
    before: dict[Path, str | None] = {}
    after: dict[Path, str] = {}
    foreign: dict[Path, bool] = {}
    for path, part in machine.parts(client):
        text = before.setdefault(path, _read(path)) or ""
        with _naming(path):
            foreign[path] = foreign.get(path, True) and not part.own(text)
            after[path] = edit(part, after.get(path, text), path)
    return [
        Change(path, before[path], text, foreign[path])
        for path, text in after.items()
        if text != (before[path] or "")
    ]


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Errors name the file."""
    try:
        yield
    except LoreError as error:
        raise Invalid(f"{path}: {error}; the file was left alone") from error


def _is_leftover(change: Change) -> bool:
    """Whether a file has nothing left that was not Lore's: Lore created it."""
    if change.after is None or _backup(change.path).exists():
        return False
    return not format_of(change.path).parse(change.after)


# --- writing
def write(change: Change) -> None:
    """Write a change, after a copy of a file that Lore was not in. A link stays a link, the mode the same;
    no folder is removed: it may be the user's own."""
    if _read(change.path) != change.before:
        raise Unavailable(f"{change.path} was changed meanwhile; nothing was written, run this again")
    backup = _backup(change.path)
    mode = _mode(change.path)
    if change.after is None:
        change.path.unlink()
        sync_folder(change.path.parent)
        return
    if change.before is not None and change.is_original:
        write_durably(backup, change.before, mode=mode)
    target = Path(os.path.realpath(change.path))
    make_folder(target.parent)
    write_durably(target, change.after, mode=mode)
    if change.after == _read(backup):
        backup.unlink()
        sync_folder(backup.parent)


def _shipped(name: str) -> str | None:
    """The text of a file in the plugin folder; None if there is none."""
    return _read(plugin_folder() / name)


def plugin_folder() -> Path:
    """The folder that clients add as a marketplace."""
    return next((place for place in PLUGINS if (place / ".claude-plugin").is_dir()), PLUGINS[0])


def _backup(path: Path) -> Path:
    return path.with_name(path.name + BACKUP)


def _mode(path: Path) -> int:
    with suppress(FileNotFoundError):
        return stat.S_IMODE(path.stat().st_mode)
    return OWNER_FILE


def _read(path: Path) -> str | None:
    """The text of a file, with its line ends; None if there is none."""
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not UTF-8 (byte {error.start}); the file was left alone") from error
