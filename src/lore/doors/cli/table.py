"""Table: a group of commands, each loaded only when it is the one that was asked for."""

import json
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import IO, Any

import click
from click.shell_completion import CompletionItem

from lore.doors.cli.flags import JSON
from lore.doors.cli.terminal import visible
from lore.errors import LoreError


class Failure(click.ClickException):
    """What Lore refused, in the form that was asked for."""

    def __init__(self, error: LoreError, as_json: bool) -> None:
        super().__init__(str(error))
        self._kind = type(error).__name__
        self._as_json = as_json

    def show(self, file: IO[Any] | None = None) -> None:
        document = json.dumps({"error": self.message, "kind": self._kind}, ensure_ascii=False)
        line = document if self._as_json else f"lore: {visible(self.message)}"
        click.echo(line, file=file or sys.stderr)


class LazyGroup(click.Group):
    """Lists its commands from a table and catches what Lore raises.

    table: name -> where the command is, and its help in one line. aliases: other names that
    are not listed.
    """

    def __init__(
        self,
        *args: Any,
        table: Mapping[str, tuple[str, str]],
        aliases: Mapping[str, str] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._table = table
        self._aliases = aliases or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        name = self._aliases.get(cmd_name, cmd_name)
        if name not in self._table:
            return None
        module, _, attribute = self._table[name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self._table.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        commands = [
            CompletionItem(name, help=line)
            for name, (_, line) in self._table.items()
            if name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except LoreError as error:
            raise Failure(error, as_json=ctx.meta.get(JSON, False)) from error
