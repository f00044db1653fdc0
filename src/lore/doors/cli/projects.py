"""Projects: the ones that a command covers: those named, else that of the current folder, else all."""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from lore.doors.cli.complete import complete_projects
from lore.doors.cli.group import Command
from lore.environment import folder
from lore.errors import Invalid
from lore.text import preview
from lore.transcripts.project import name_of, project_of, repository_of

if TYPE_CHECKING:
    from lore.engine import Lore

LISTED = 20
"""Projects that an error lists."""
LIKE_A_PATH = (".", "~", "/", os.sep)


@dataclass(frozen=True, slots=True)
class Scope:
    """keys: of the projects, empty for all. assumed: they follow from the current folder alone."""

    keys: frozenset[str] = frozenset()
    assumed: bool = False

    @property
    def document(self) -> list[str] | None:
        """For JSON: the keys; None for all projects."""
        return sorted(self.keys) or None

    def description(self, verb: str, more: int) -> str:
        """The projects covered, and the number of results that --everywhere would add."""
        names = ", ".join(sorted(map(name_of, self.keys)))
        rest = f"{more:,} more in other projects: --everywhere" if more > 0 else f"--everywhere {verb} all"
        return f"in project {names}; {rest}"


def project_options(command: Command) -> Command:
    """Add --project and --everywhere to a command that covers projects."""
    help = "Only this project: its name, its key or a folder in it; may be repeated."
    everywhere = click.option("--everywhere", is_flag=True, help="All projects, whatever the current folder.")
    project = click.option(
        "--project", "projects", metavar="NAME", multiple=True, shell_complete=complete_projects, help=help
    )
    return project(everywhere(command))


def scope(lore: "Lore", projects: Sequence[str], everywhere: bool, assume: bool = True) -> Scope:
    """The projects of these options. assume: without options, take the project of the current folder."""
    if projects and everywhere:
        raise Invalid("give --project or --everywhere, not both")
    if projects:
        return Scope(frozenset(key_of(lore, project) for project in projects))
    current = _current(lore) if assume and not everywhere else ""
    return Scope(frozenset({current}), assumed=True) if current else Scope()


def key_of(lore: "Lore", name: str) -> str:
    """The key of the project with this key, this folder, or this last part of its key."""
    keys = lore.projects()
    if name in keys:
        return name
    alike = [key for key in keys if key.endswith(f"/{name}")]
    if name.startswith(LIKE_A_PATH) or (not alike and os.path.isdir(name)):
        path = os.path.realpath(os.path.expanduser(name))
        if os.path.isdir(path) and (project := project_of(path)):
            return project.key
        raise Invalid(f"--project: there is no folder {preview(name, 80)!r}; {_listed(keys)}")
    if not alike:
        raise Invalid(f"--project: unknown project {preview(name, 80)!r}; {_listed(keys)}")
    if len(alike) > 1:
        raise Invalid(f"--project: {name!r} matches {', '.join(alike[:LISTED])}; give more of its key")
    return alike[0]


def _current(lore: "Lore") -> str:
    """The key of the repository around the current folder, or of the folder if it is a known project."""
    if repository := repository_of(folder()):
        return repository.key
    project = project_of(folder())
    return project.key if project and project.key in lore.projects() else ""


def _listed(keys: Iterable[str]) -> str:
    keys = list(keys)
    more = f" and {len(keys) - LISTED:,} more" if len(keys) > LISTED else ""
    return f"known: {', '.join(keys[:LISTED])}{more}" if keys else "no project is known yet"
