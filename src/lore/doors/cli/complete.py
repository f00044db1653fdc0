"""Complete: `lore completion`, and the values that a shell suggests. On any problem it suggests nothing."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import click
from click.shell_completion import BashComplete, CompletionItem, FishComplete, ShellComplete, ZshComplete

from lore import lazy
from lore.doors.cli.connect import settings
from lore.doors.cli.group import Flags
from lore.doors.cli.render import visible
from lore.errors import Invalid, LoreError
from lore.model import ID_TAIL, Filter

MOST = 50
"""Suggestions at once."""
MOST_PROJECTS = 1_000
"""Projects among which names must be unique."""
SHELLS: dict[str, tuple[type[ShellComplete], str]] = {  # shell -> its script, and how to install that
    "bash": (BashComplete, 'add this line to ~/.bashrc:  eval "$(lore completion bash)"'),
    "zsh": (ZshComplete, 'add this line to ~/.zshrc, after compinit:  eval "$(lore completion zsh)"'),
    "fish": (FishComplete, "lore completion fish > ~/.config/fish/completions/lore.fish"),
}

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


@click.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    The last line of the script says how to install it.
    """
    complete, install = SHELLS[shell]
    script = complete(ctx.find_root().command, {}, "lore", "_LORE_COMPLETE").source()
    click.echo(f"{script.rstrip()}\n\n# To install: {install}")


def complete_keys(table: Callable[[], Iterable[str]]) -> Complete:
    """Complete the keys of a table, which is loaded only when needed."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        return [CompletionItem(key) for key in table() if key.startswith(incomplete)]

    return complete


complete_clients = complete_keys(lambda: lazy.sources.SOURCES)
complete_sources = complete_keys(lambda: [*lazy.sources.SOURCES, *lazy.import_formats.SOURCES])
complete_phases = complete_keys(lambda: lazy.consolidate.PHASES)
complete_policies = complete_keys(lambda: lazy.policy.POLICIES)


def complete_ids(*, kinds: Sequence[str] = (), forgotten: bool = False) -> Complete:
    """Complete ids by the eight characters that lists show, newest first, with the title as explanation.

    kinds: only memories of these. forgotten: forgotten memories instead of current ones.
    """

    where = Filter(kinds=frozenset(kinds), forgotten=forgotten)

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, part = incomplete.rpartition(",")
        part = part.lower()
        with suppress(LoreError, OSError):
            path, namespaces = _store(ctx)
            peek = lazy.store_peek
            found = peek.memories(path, namespaces, part, where, MOST)
            titles = {id: " ".join(visible(title).split()) for id, title in found}
            tails = {id: id[-ID_TAIL:] if id[-ID_TAIL:].startswith(part) else id for id in titles}
            return [CompletionItem(before + comma + tails[id], help=title) for id, title in titles.items()]
        return []

    return complete


def complete_projects(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete projects by the last part of their key, or by the whole key if two share that part."""
    with suppress(LoreError, OSError):
        path, namespaces = _store(ctx)
        keys = lazy.store_peek.projects(path, namespaces, limit=MOST_PROJECTS)
        names = [key.rstrip("/").rpartition("/")[2] for key in keys]
        pairs = zip(keys, names, strict=True)
        unique = [name if name and names.count(name) == 1 else key for key, name in pairs]
        return [CompletionItem(name) for name in unique if name.startswith(incomplete)][:MOST]
    return []


def _store(ctx: click.Context) -> tuple[Path, tuple[str, ...]]:
    """The database and the namespaces in sight of a command line that was parsed but not run."""
    params = ctx.find_root().params
    config = settings(Flags(**{name: params.get(name) for name in ("db_path", "data_dir", "namespace")}))
    if config.database_url:
        raise Invalid("a store in a database server completes nothing: to ask it would take too long")
    return config.database, (config.namespace, *config.seen)
