"""cli: the `lore` command. A table of commands; each is loaded only when it is called."""

import sys
from pathlib import Path
from typing import Any

import click

from lore.doors.cli.group import Flags, LazyGroup
from lore.version import VERSION

INTERRUPTED = 130

COMMANDS = {  # name -> module:attribute in this package, and the help line
    "search": ("search:search", "Find memories by meaning and words."),
    "brief": ("brief:brief", "Show what an agent should know at the start of a conversation."),
    "read": ("read:read", "Show one memory with its place in the tree and its links."),
    "remember": ("remember:remember", "Store a memory."),
    "roots": ("trees:roots", "List the memories at the top of trees, most relevant first."),
    "explore": ("trees:explore", "Draw the tree below a memory."),
    "forget": ("remember:forget", "Hide memories from all results."),
    "restore": ("remember:restore", "Bring forgotten memories back."),
    "history": ("history:history", "Show the changes of one memory, oldest first."),
    "undo": ("undo:undo", "Take a change back; without an argument, the last one."),
    "purge": ("undo:purge", "Erase forgotten memories for good."),
    "status": ("status:status", "Show where the data is and how much there is."),
    "verify": ("verify:verify", "List memories whose cited files have changed since then."),
    "doctor": ("maintenance:doctor", "Check the store and repair its indexes."),
    "migrate": ("migrate:migrate", "Copy a whole store to another database."),
    "migrate-index": ("migrate_index:migrate_index", "Move the vector index to another vector store."),
    "backup": ("backup:backup", "Copy the store to a file while it is in use."),
    "restore-backup": ("backup:restore_backup", "Put a backup in the place of the store."),
    "encryption": ("encryption:encryption", "Encrypt the store on disk, or decrypt it."),
    "scrub": ("maintenance:scrub", "Remove secrets that an older version stored, for good."),
    "ingest": ("ingest:ingest", "Read the conversations that your agents recorded."),
    "import": ("transfer:import_files", "Import memories and conversations of many systems."),
    "export": ("transfer:export", "Write all memories to a file, as JSON lines."),
    "sessions": ("sessions:sessions", "List recorded conversations, latest first."),
    "session": ("sessions:session", "Show one conversation, turn by turn."),
    "staged": ("sessions:staged", "Show which conversations still wait to be digested."),
    "consolidate": ("consolidate:consolidate", "Digest conversations and tidy up memories."),
    "sync": ("sync:sync", "Push the conversations of this machine to a server."),
    "setup": ("install:setup", "Install Lore in all clients, and ask for a language model."),
    "install": ("install:install", "Install Lore in clients, or list them."),
    "uninstall": ("install:uninstall", "Remove Lore from the settings of clients."),
    "daemon": ("daemon:daemon", "Start, stop and inspect the background process."),
    "start": ("daemon:start", "Start the daemon in the background."),
    "stop": ("daemon:stop", "Stop the daemon after it has finished its current work."),
    "logs": ("daemon:logs", "Show the log of the daemon."),
    "explorer": ("explorer:explorer", "Open Lore's pages in a browser."),
    "token": ("token:token", "Make, list and revoke the tokens of a server."),
    "worker": ("worker:worker", "Embed and consolidate what servers leave to workers."),
    "postgres": ("postgres:postgres", "Prepare a PostgreSQL database for Lore."),
    "mcp": ("serve:mcp", "Serve an agent over MCP, on stdin and stdout."),
    "completion": ("complete:completion", "Print the completion script for a shell."),
}
ALIASES = {"query": "search", "daemonize": "start"}
"""Names of these commands in the system whose trees Lore takes over."""


class Presence(click.Option):
    """A flag that its environment variable sets whatever its value, as NO_COLOR demands."""

    def value_from_envvar(self, ctx: click.Context) -> Any:
        return True if self.resolve_envvar_value(ctx) else None


PATH = click.Path(path_type=Path)


@click.group(
    cls=LazyGroup, table=COMMANDS, aliases=ALIASES, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option("--db", "db_path", type=PATH, help="The database file (default: memory.db in the data folder).")
@click.option("--data-dir", type=PATH, help="The folder for data and settings (default: ~/.lore).")
@click.option("--namespace", metavar="NAME", help="Use the memories of this namespace and the shared ones.")
@click.option(
    "--no-color", cls=Presence, is_flag=True, envvar="NO_COLOR", help="Print no colours, as with NO_COLOR."
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
    """Run the command line of this process and exit with its code."""
    try:
        sys.exit(cli.main(prog_name="lore", standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        sys.exit(INTERRUPTED)
