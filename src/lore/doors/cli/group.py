"""Group: command groups that load a command only when it is called, their errors, and shared options."""

import errno
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import update_wrapper
from importlib import import_module
from pathlib import Path
from typing import IO, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from lore.doors.cli.render import complain
from lore.doors.endpoint import HTTP_PORT
from lore.errors import LoreError

Command = TypeVar("Command", bound=Callable[..., Any])
JSON = "lore.json"
"""Key in `ctx.meta`: whether the command line asks for JSON."""


# --- options
@dataclass(frozen=True, slots=True, kw_only=True)
class Flags:
    """Options before the command, named like the settings; None: not given."""

    db_path: Path | None = None
    data_dir: Path | None = None
    namespace: str | None = None


def command(name: str | None = None) -> Callable[[Callable[..., int | None]], click.Command]:
    """Make a function a command with --json: it gets flags and options, and may return an exit code."""

    def decorate(function: Callable[..., int | None]) -> click.Command:
        @click.pass_context
        def run(ctx: click.Context, /, **options: Any) -> None:
            ctx.exit(function(ctx.obj, **options) or 0)

        built = click.command(name or function.__name__)(update_wrapper(run, function))
        help = "Print one JSON document, also for errors."
        built.params.append(click.Option(["--json", "as_json"], is_flag=True, help=help))
        return built

    return decorate


def count_option(*names: str, default: int, help: str, least: int = 1) -> Callable[[Command], Command]:
    """An option for a number N of lines or results."""
    range = click.IntRange(min=least)
    return click.option(*names, metavar="N", type=range, default=default, show_default=True, help=help)


def http_option(function: Command) -> Command:
    """--http, for commands that start a daemon."""
    help = f"Serve HTTP as well, on this machine only (default port: {HTTP_PORT})."
    port = click.IntRange(1, 65535)
    option = click.option(
        "--http", "http_port", metavar="[PORT]", type=port, is_flag=False, flag_value=HTTP_PORT, help=help
    )
    return option(function)


def limit_option(default: int) -> Callable[[Command], Command]:
    """--limit, for commands that list memories."""
    return count_option("-l", "--limit", default=default, help="Show at most N.")


# --- errors
class Failure(click.ClickException):
    """An error, shown on stderr as one line or, under --json, as one JSON document."""

    def __init__(self, message: str, kind: str, *, as_json: bool) -> None:
        super().__init__(message)
        self._kind, self._as_json = kind, as_json

    def show(self, file: IO[Any] | None = None) -> None:
        if self._as_json:
            document = {"error": self.message, "kind": self._kind}
            click.echo(json.dumps(document, ensure_ascii=False), file=file, err=True)
        else:
            complain(self.message)


class Misuse(Failure):
    """A wrong command line, under --json."""

    exit_code = click.UsageError.exit_code


class LazyGroup(click.Group):
    """Lists its commands from a table, imports the one that is called, and reports its errors.

    table: name -> module:attribute of the command in this package, and its help line. aliases: other names
    for commands, not listed.
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
        command: click.Command = getattr(import_module(f"lore.doors.cli.{module}"), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        exists = name in self._table or name in self._aliases
        if exists or name.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        similar = get_close_matches(name, self._table, n=1)
        hint = f" Did you mean '{similar[0]}'?" if similar else ""
        raise click.UsageError(f"No such command '{name}'.{hint}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self._table.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        named = {name: line for name, (_, line) in self._table.items() if name.startswith(incomplete)}
        commands = [CompletionItem(name, help=line) for name, line in named.items()]
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
        as_json = ctx.meta[JSON]
        try:
            with _usage_errors(as_json):
                return super().invoke(ctx)
        except LoreError as error:
            raise Failure(str(error), type(error).__name__, as_json=as_json) from error
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise  # the reader of the output has gone
            where = f"{error.filename}: " if error.filename else "the output could not be written: "
            raise Failure(f"{where}{error.strerror or error}", "Unavailable", as_json=as_json) from error


def _wants_json(args: Sequence[str]) -> bool:
    """Whether a command line has --json, even one that cannot be parsed. After `--` there is only text."""
    return "--json" in args[: args.index("--") if "--" in args else None]


@contextmanager
def _usage_errors(as_json: bool) -> Iterator[None]:
    """Report a wrong command line as JSON if --json is given, and say where a misplaced option belongs."""
    try:
        yield
    except click.UsageError as error:
        hint = _right_place(error) if isinstance(error, click.NoSuchOption) else ""
        message = f"{error.message} {hint}" if hint else error.format_message()
        if as_json:
            raise Misuse(message, "Usage", as_json=True) from error
        if hint:
            raise click.UsageError(message, error.ctx) from error
        raise


def _right_place(error: click.NoSuchOption) -> str:
    """Where an unknown option belongs, if another level of the command line has it."""
    if error.ctx is None:
        return ""
    root = error.ctx.find_root()
    if error.ctx is root:
        return "It belongs behind the command: lore status --json" if error.option_name == "--json" else ""
    options = {name for param in root.command.params for name in param.opts} - {"--help", "--version"}
    name = error.option_name
    return f"It belongs before the command: lore {name} ..." if name in options else ""
