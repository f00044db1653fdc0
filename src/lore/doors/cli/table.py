"""Table: a group of commands, each loaded only when it is the one that was asked for."""

import errno
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from importlib import import_module
from typing import IO, Any

import click
from click.shell_completion import CompletionItem

from lore.doors.cli.flags import JSON
from lore.doors.cli.terminal import complain
from lore.errors import LoreError


class Failure(click.ClickException):
    """An error that is shown as one line, or under --json as one JSON document; both on stderr."""

    def __init__(self, message: str, kind: str, *, as_json: bool) -> None:
        super().__init__(message)
        self._kind = kind
        self._as_json = as_json

    def show(self, file: IO[Any] | None = None) -> None:
        if self._as_json:
            document = {"error": self.message, "kind": self._kind}
            click.echo(json.dumps(document, ensure_ascii=False), file=file, err=True)
        else:
            complain(self.message)


class Misuse(Failure):
    """A command line that cannot be understood, as JSON."""

    exit_code = click.UsageError.exit_code

    def __init__(self, message: str) -> None:
        super().__init__(message, "Usage", as_json=True)


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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        known = name in self._table or name in self._aliases or name.startswith("-")
        if known or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        near = get_close_matches(name, self._table, n=1)
        meant = f" Did you mean '{near[0]}'?" if near else ""
        raise click.UsageError(f"No such command '{name}'.{meant}", ctx)

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

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        as_json = _wants_json(args)
        with _usage_errors(as_json):
            ctx = super().make_context(info_name, args, parent, **extra)
        ctx.meta[JSON] = as_json
        return ctx

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _usage_errors(ctx.meta[JSON]):
                return super().invoke(ctx)
        except LoreError as error:
            raise Failure(str(error), type(error).__name__, as_json=ctx.meta[JSON]) from error
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # whoever reads the output has gone
            where = f"{error.filename}: " if error.filename else "the answer could not be written: "
            why = f"{where}{error.strerror or error}"
            raise Failure(why, "Unavailable", as_json=ctx.meta[JSON]) from error


def _wants_json(args: Sequence[str]) -> bool:
    """Whether a command line asks for JSON, also where it cannot be parsed. After `--` there is only text."""
    return "--json" in args[: args.index("--") if "--" in args else None]


@contextmanager
def _usage_errors(as_json: bool) -> Iterator[None]:
    """Show a wrong command line as JSON if that was asked for, and say where a misplaced option belongs."""
    try:
        yield
    except click.UsageError as error:
        belongs = _belongs(error) if isinstance(error, click.NoSuchOption) else ""
        message = f"{error.message} {belongs}" if belongs else error.format_message()
        if as_json:
            raise Misuse(message) from error
        if belongs:
            raise click.UsageError(message, error.ctx) from error
        raise


def _belongs(error: click.NoSuchOption) -> str:
    """Where an option belongs that another level of the command line has."""
    if error.ctx is None:
        return ""
    root = error.ctx.find_root()
    if error.ctx is root:
        return "It belongs behind the command: lore status --json" if error.option_name == "--json" else ""
    everywhere = {name for param in root.command.params for name in param.opts}
    belongs = error.option_name in everywhere and error.option_name not in ("--help", "--version")
    return f"It belongs before the command: lore {error.option_name} ..." if belongs else ""
