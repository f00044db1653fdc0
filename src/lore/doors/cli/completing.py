"""Completing: values for shell completion. Whatever goes wrong, a shell gets no suggestions and no error."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from lore.doors.cli.flags import Flags
from lore.doors.cli.terminal import visible
from lore.errors import LoreError
from lore.model import ID_TAIL

MOST = 50
"""Suggestions at once."""

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def from_table(*tables: str) -> Complete:
    """Complete the names in these tables, each given as `module:NAME` and loaded only when needed."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        names = [name for table in tables for name in _names(table)]
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]

    return complete


sources = from_table("lore.transcripts.sources:SOURCES", "lore.transcripts.imports:SOURCES")


def ids(*, kinds: Sequence[str] = (), forgotten: bool = False) -> Complete:
    """Complete ids by the eight characters that lists show, newest first, with the title as explanation.

    kinds: only memories of these. forgotten: forgotten memories instead of current ones.
    """

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, part = incomplete.rpartition(",")
        part = part.lower()
        with suppress(LoreError, OSError):
            peek, path, namespace = _store(ctx)
            found = peek.memories(path, namespace, part, kinds=kinds, forgotten=forgotten, limit=MOST)
            return [CompletionItem(f"{before}{comma}{_short(id, part)}", help=_line(t)) for id, t in found]
        return []

    return complete


def projects(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the projects of the store: the last part of each key, or the whole key if two share it."""
    with suppress(LoreError, OSError):
        peek, path, namespace = _store(ctx)
        keys = peek.projects(path, namespace, limit=1_000)
        names = [key.rstrip("/").rpartition("/")[2] for key in keys]
        unique = [
            name if name and names.count(name) == 1 else key for key, name in zip(keys, names, strict=True)
        ]
        return [CompletionItem(name) for name in unique if name.startswith(incomplete)][:MOST]
    return []


def _names(table: str) -> Iterable[str]:
    module, _, attribute = table.partition(":")
    return list(getattr(import_module(module), attribute))


def _store(ctx: click.Context) -> tuple[Any, Path, str]:
    """`lore.store.peek`, the database and the namespace of this command line, which was only parsed."""
    given = ctx.find_root().params
    flags = Flags(**{name: given.get(name) for name in ("db_path", "data_dir", "namespace")})
    config = import_module("lore.doors.cli.opening").settings(flags)
    return import_module("lore.store.peek"), config.database, config.namespace


def _short(id: str, part: str) -> str:
    """The end of an id, or all of it if its beginning was typed."""
    tail = id[-ID_TAIL:]
    return tail if tail.startswith(part) else id


def _line(title: str) -> str:
    return " ".join(visible(title).split())
