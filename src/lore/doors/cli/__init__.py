"""cli: the `lore` command. A table of commands, each loaded only when it is the one that was asked for."""

import sys
from pathlib import Path
from typing import Any

import click

from lore.doors.cli.flags import Flags
from lore.doors.cli.table import LazyGroup
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
    "backup": ("lore.doors.cli.backup:backup", "Copy the store to a file, while it is in use."),
    "scrub": ("lore.doors.cli.scrub:scrub", "Remove secrets that an older Lore has stored, for good."),
    "ingest": ("lore.doors.cli.ingest:ingest", "Read what agents wrote down of their conversations."),
    "import": ("lore.doors.cli.importing:importing", "Keep the conversations in exports and other files."),
    "sessions": ("lore.doors.cli.sessions:sessions", "List the conversations that were read, latest first."),
    "session": ("lore.doors.cli.session:session", "Read one conversation, turn by turn."),
    "staged": ("lore.doors.cli.staged:staged", "Say how much of what was read is still to be digested."),
    "consolidate": ("lore.doors.cli.consolidate:consolidate", "Digest conversations, tidy what is known."),
    "daemon": ("lore.doors.cli.daemon:daemon", "Start, stop and look at the process that keeps Lore warm."),
    "start": ("lore.doors.cli.starting:start", "Start the daemon, in the background."),
    "stop": ("lore.doors.cli.starting:stop", "Stop the daemon, after what it has begun."),
    "logs": ("lore.doors.cli.logs:logs", "Show what the daemon wrote down."),
    "mcp": ("lore.doors.cli.mcp:mcp", "Serve an agent over MCP, on stdin and stdout."),
    "completion": ("lore.doors.cli.completion:completion", "Print the completion script for a shell."),
}
ALIASES = {"query": "search", "daemonize": "start"}
"""What the commands are called in the system whose trees Lore takes over."""


class Presence(click.Option):
    """A flag that its environment variable sets whatever it says, as NO_COLOR wants it."""

    def value_from_envvar(self, ctx: click.Context) -> Any:
        return True if self.resolve_envvar_value(ctx) else None


PATH = click.Path(path_type=Path)


@click.group(
    cls=LazyGroup,
    table=COMMANDS,
    aliases=ALIASES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
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

    An ID may be shortened to its last eight characters, as lists show it, or to any beginning that only one
    memory has.
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
