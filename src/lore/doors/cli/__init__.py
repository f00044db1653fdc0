"""cli: the `lore` command. A table of commands, each loaded only when it is the one that was asked for."""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import click
from click.shell_completion import CompletionItem

from lore.doors.cli.flags import JSON, Flags
from lore.doors.cli.terminal import visible
from lore.errors import LoreError
from lore.version import VERSION

INTERRUPTED = 130

COMMANDS = {  # name -> where the command is, and its help in one line
    "search": ("lore.doors.cli.search:search", "Find memories by meaning and words."),
    "read": ("lore.doors.cli.read:read", "Read one memory with its place and its ties."),
    "remember": ("lore.doors.cli.remember:remember", "Keep a memory."),
    "roots": ("lore.doors.cli.roots:roots", "List the tops of the trees, the most relevant first."),
    "explore": ("lore.doors.cli.explore:explore", "Draw what hangs below a memory."),
    "forget": ("lore.doors.cli.forget:forget", "Hide memories from every answer."),
    "restore": ("lore.doors.cli.forget:restore", "Bring forgotten memories back."),
    "status": ("lore.doors.cli.status:status", "Say where the data is and how much there is."),
    "doctor": ("lore.doors.cli.doctor:doctor", "Check the store, and repair what can be repaired."),
    "mcp": ("lore.doors.cli.mcp:mcp", "Serve an agent over MCP, on stdin and stdout."),
    "completion": ("lore.doors.cli.completion:completion", "Print the completion script for a shell."),
}


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
    """Lists its commands from the table and catches what Lore raises."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        commands = [
            CompletionItem(name, help=line)
            for name, (_, line) in COMMANDS.items()
            if name.startswith(incomplete)
        ]
        return commands + click.Command.shell_complete(self, ctx, incomplete)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except LoreError as error:
            raise Failure(error, as_json=ctx.meta.get(JSON, False)) from error


class Presence(click.Option):
    """A flag that its environment variable sets whatever it says, as NO_COLOR wants it."""

    def value_from_envvar(self, ctx: click.Context) -> Any:
        return True if self.resolve_envvar_value(ctx) else None


PATH = click.Path(path_type=Path)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--db", "db_path", type=PATH, help="The database file (default: memory.db in the data folder).")
@click.option("--data-dir", type=PATH, help="The folder for data and settings (default: ~/.lore).")
@click.option("--namespace", metavar="NAME", help="Whose memories: these and the shared ones.")
@click.option(
    "--no-color", cls=Presence, is_flag=True, envvar="NO_COLOR", help="No colours; so does NO_COLOR."
)
@click.version_option(VERSION, message="lore %(version)s")
@click.pass_context
def cli(
    ctx: click.Context, db_path: Path | None, data_dir: Path | None, namespace: str | None, no_color: bool
) -> None:
    """Lore: long-term memory for AI agents.

    An ID may be shortened to any beginning that only one memory has.
    """
    ctx.obj = Flags(db_path=db_path, data_dir=data_dir, namespace=namespace)
    ctx.color = False if no_color else None


def main() -> None:
    """Run the command that the shell gave, and end with its exit code."""
    try:
        sys.exit(cli.main(prog_name="lore", standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(INTERRUPTED)
