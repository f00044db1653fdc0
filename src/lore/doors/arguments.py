"""arguments: the command line of `lore-mcp`, read without a library: it has to start within milliseconds."""

from lore.doors.attempt import Trouble

USAGE = """\
Usage: lore-mcp [OPTIONS]

  Serve an agent over MCP, on stdin and stdout, through Lore's daemon, which is
  started if none runs.

Options:
  --surfaces NAMES   The dialects to offer, comma-separated, or all.
  --namespace NAME   Whose memories: these and the shared ones.
  --db PATH          The database file (default: memory.db in the data folder).
  --data-dir PATH    The folder for data and settings (default: ~/.lore).
  --standalone       No daemon: serve in this process.
  --version          Print the version.
  -h, --help         Print this.
"""
VALUED = ("--surfaces", "--namespace", "--db", "--data-dir")
PLAIN = ("--standalone", "--version", "--help", "-h")


def options_of(arguments: list[str]) -> dict[str, str]:
    """Options by name; Trouble names the one that is wrong."""
    options: dict[str, str] = {}
    left = list(arguments)
    while left:
        name, given, value = left.pop(0).partition("=")
        if name in VALUED and not (given or left):
            raise Trouble(f"{name} needs a value")
        if name not in (VALUED if given else VALUED + PLAIN):
            raise Trouble(f"unknown option {name}")
        options[name] = value if given or name in PLAIN else left.pop(0)
    return options
