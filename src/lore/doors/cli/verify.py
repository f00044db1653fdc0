"""verify: compare the files that memories cite with those of the repository."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from lore.doors.cli.complete import complete_ids, complete_projects
from lore.doors.cli.connect import open_store
from lore.doors.cli.group import Flags, command
from lore.doors.cli.ids import label, look_up, names, resolve_all
from lore.doors.cli.progress import progress
from lore.doors.cli.projects import key_of
from lore.doors.cli.render import note, plural, show_document, visible
from lore.errors import NotFound
from lore.model import SESSION, Filter
from lore.transcripts.project import name_of, repository_of

if TYPE_CHECKING:
    from lore.engine import Lore

COLOURS: Mapping[str, str] = {"fresh": "green", "changed": "yellow", "gone": "red"}
SESSIONS_SEARCHED = 100
"""Latest conversations of a project in which its folder is looked for."""
LISTED = 1_000
"""Memories that are listed."""


@command()
@click.argument("paths", metavar="[PATH]...", nargs=-1)
@click.option(
    "--project",
    metavar="NAME",
    shell_complete=complete_projects,
    help="Another project: its name, its key or a folder in it.",
)
@click.option(
    "--accept",
    metavar="ID",
    multiple=True,
    shell_complete=complete_ids(),
    help="This memory is still true: cite its files as they are now. May be repeated.",
)
@click.option("--strict", is_flag=True, help="The exit code is 1 if a cited file has changed or is gone.")
def verify(flags: Flags, /, *, paths: Sequence[str], as_json: bool, **options: Any) -> None:
    """List memories whose cited files have changed since then.

    A memory that names files of its repository keeps a hash of them. This lists the memories of the
    repository around the current folder whose files have changed or are gone. PATH: only memories that cite
    this file, or a file in this folder.
    """
    with open_store(flags) as lore:
        if options["project"] is not None:
            lore = lore.in_folder(_folder_of(lore, options["project"]))
        if options["accept"]:
            _accept(lore, resolve_all(lore, options["accept"], "--accept"), as_json)
            return
        with progress() as report:
            states = lore.verify(paths, report)
        stale = {id: one for id, one in states.items() if set(one.values()) != {"fresh"}}
        counts: Counter[str] = Counter(state for one in states.values() for state in one.values())
        if as_json:
            _show_document(lore, stale, counts)
        else:
            _show(lore, stale, counts, len(states))
    if options["strict"] and stale:
        raise click.exceptions.Exit(1)


def described(label: str, state: str) -> str:
    """A citation and its state, on one line."""
    return f"{visible(label)} {click.style(state, fg=COLOURS[state])}"


def _folder_of(lore: "Lore", name: str) -> str:
    """A folder of the project: the one given, or that of a conversation in it."""
    key = key_of(lore, name)
    where = Filter(kinds=frozenset({SESSION}), projects=frozenset({key}))
    sessions = lore.select(where, SESSIONS_SEARCHED)
    folders = [os.path.abspath(name), key, *(str(one.metadata.get("folder", "")) for one in sessions)]
    for folder in folders:
        found = repository_of(folder)
        if found is not None and found.key == key:
            return folder
    raise NotFound(f"no folder of {name_of(key)} is known; give --project a folder in it")


def _accept(lore: "Lore", ids: Sequence[str], as_json: bool) -> None:
    accepted = lore.cite(ids)
    if as_json:
        show_document({"accepted": accepted})
        return
    for one in names(lore, accepted, len("Accepted ")).values():
        click.echo(f"Accepted {one}")


def _show(
    lore: "Lore", stale: Mapping[str, Mapping[str, str]], counts: Mapping[str, int], citing: int
) -> None:
    for id, line in names(lore, list(stale)[:LISTED], 2).items():
        click.echo(line)
        for cited in stale[id].items():
            click.echo(f"    {described(*cited)}")
    if len(stale) > LISTED:
        note(f"and {len(stale) - LISTED:,} more; give a PATH")
    summary = ", ".join(f"{counts.get(state, 0):,} {state}" for state in COLOURS)
    files = plural(sum(counts.values()), "citation")
    note(f"{plural(citing, 'memory', 'memories')} with {files}: {summary}")


def _show_document(lore: "Lore", stale: Mapping[str, Mapping[str, str]], counts: Mapping[str, int]) -> None:
    shown = list(stale)[:LISTED]
    titles = {id: label(memory) for id, memory in look_up(lore, shown).items()}
    memories = [{"id": id, "title": titles.get(id, ""), "citations": stale[id]} for id in shown]
    show_document({"memories": memories} | {state: counts.get(state, 0) for state in COLOURS})
