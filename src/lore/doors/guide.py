"""guide: what to do next, for somebody who has just started Lore for the first time."""

import json
import shlex
import shutil
import sys
import textwrap
from pathlib import Path

from lore.config import Config
from lore.health import Status

GUIDE = """\
Lore {version} is ready.

  Your data   {location}
              {memories} memories. Nothing leaves this machine.

  Claude Code
    {claude}

  Other MCP clients
{snippet}

  Try it in a terminal
    {lore} search "what is worth remembering"
    {lore} roots
    {lore} --help

This process now waits for a client on stdin. Press Ctrl-C to stop it; your data stays.
Clients need not wait for it: lore-mcp starts what it needs in the background and shares it."""


def guide(status: Status) -> str:
    """The next steps, with this installation's own paths."""
    place = _place(status.location)
    lore = [*_command("lore", "lore.doors.cli"), *place]
    relay = [*_command("lore-mcp", "lore.doors.relay"), *place]
    server = {"command": relay[0], "args": relay[1:]}
    snippet = json.dumps({"mcpServers": {"lore": server}}, ensure_ascii=False, indent=2)
    typed = ["lore", *lore[1:]] if shutil.which("lore") == lore[0] else lore
    return GUIDE.format(
        version=status.version,
        location=status.location,
        memories=status.counts.memories,
        claude=shlex.join(["claude", "mcp", "add", "--scope", "user", "lore", "--", *relay]),
        snippet=textwrap.indent(snippet, "    "),
        lore=shlex.join(typed),
    )


def _command(name: str, module: str) -> list[str]:
    """How a command of this very Lore is called from anywhere."""
    started = Path(sys.argv[0]).absolute()
    beside = started.with_name(name + started.suffix)
    if started.stem == "lore" and beside.is_file():
        return [str(beside)]
    if installed := shutil.which(name):
        return [installed]
    return [sys.executable, "-m", module]


def _place(location: str) -> list[str]:
    """A store that is not where Lore looks by itself has to be named."""
    return [] if Path(location) == Config().database.expanduser() else ["--db", location]
