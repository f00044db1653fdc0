"""Projects: which of them a command looks at. Those that were named; else the one it is run in; else all."""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lore.doors.cli.completing import projects as complete_projects
from lore.environment import folder
from lore.errors import Invalid
from lore.text import preview
from lore.transcripts.project import name_of, project_of, repository_of

if TYPE_CHECKING:
    from lore.engine import Lore

LISTED = 20
LIKE_A_PATH = (".", "~", "/", os.sep)
Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Scope:
    """keys: of the projects; none stands for all. assumed: nobody named it, it is where the command runs."""

    keys: frozenset[str] = frozenset()
    assumed: bool = False

    @property
    def document(self) -> list[str] | None:
        """For JSON: the keys, or nothing for everything."""
        return sorted(self.keys) or None

    def told(self, verb: str, more: int) -> str:
        """The projects that were looked at, and how much --everywhere would add from the others."""
        names = ", ".join(sorted(map(name_of, self.keys)))
        rest = f"{more:,} more in other projects: --everywhere" if more > 0 else f"--everywhere {verb} all"
        return f"in project {names}; {rest}"


def project_options(command: Command) -> Command:
    """What to look at, on the command line."""
    of = "Only of this project: its name, its key or a folder of it; may be repeated."
    named = click.option(
        "--project", "projects", metavar="NAME", multiple=True, shell_complete=complete_projects, help=of
    )
    every = click.option("--everywhere", is_flag=True, help="Of all projects, wherever this is run.")
    return named(every(command))


def scope(lore: "Lore", named: Sequence[str], everywhere: bool, assume: bool = True) -> Scope:
    """assume: whether the project of the current folder is meant where nothing is said."""
    if named and everywhere:
        raise Invalid("--project and --everywhere cannot both be meant")
    if named:
        return Scope(frozenset(key_of(lore, one) for one in named))
    here = _here(lore) if assume and not everywhere else ""
    return Scope(frozenset({here}), assumed=True) if here else Scope()


def key_of(lore: "Lore", named: str) -> str:
    """The project that somebody calls so: by its key, by a folder, or by the last part of its key."""
    known = lore.projects()
    if named in known:
        return named
    if named.startswith(LIKE_A_PATH):
        return _key_of_folder(named, known)
    alike = [key for key in known if key.endswith(f"/{named}")]
    if not alike and os.path.isdir(named):
        return _key_of_folder(named, known)
    if not alike:
        raise Invalid(f"--project: unknown project {preview(named, 80)!r}; {_listed(known)}")
    if len(alike) > 1:
        raise Invalid(f"--project: {named!r} may be any of {', '.join(alike[:LISTED])}; say more of it")
    return alike[0]


def _here(lore: "Lore") -> str:
    """The key of the repository we are in, or of this very folder if it is known as a project."""
    if repository := repository_of(folder()):
        return repository.key
    project = project_of(folder())
    return project.key if project and project.key in lore.projects() else ""


def _key_of_folder(named: str, known: Iterable[str]) -> str:
    path = os.path.realpath(os.path.expanduser(named))
    project = project_of(path) if os.path.isdir(path) else None
    if project is None:
        raise Invalid(f"--project: there is no folder {preview(named, 80)!r}; {_listed(known)}")
    return project.key


def _listed(known: Iterable[str]) -> str:
    keys = list(known)
    more = f" and {len(keys) - LISTED:,} more" if len(keys) > LISTED else ""
    return f"known: {', '.join(keys[:LISTED])}{more}" if keys else "no project is known yet"
