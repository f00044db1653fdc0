"""guide: what to do next, for somebody who has just started Lore for the first time."""

import json
import shlex
import shutil
import sys
import textwrap
from pathlib import Path

from lore.config import Config
from lore.model import Status

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

This process now waits for a client on stdin. Press Ctrl-C to stop it; your data stays."""


def guide(status: Status) -> str:
    """The next steps, with this installation's own paths."""
    lore = [*_command(), *_place(status.location)]
    server = {"command": lore[0], "args": [*lore[1:], "mcp"]}
    snippet = json.dumps({"mcpServers": {"lore": server}}, ensure_ascii=False, indent=2)
    typed = ["lore", *lore[1:]] if shutil.which("lore") == lore[0] else lore
    return GUIDE.format(
        version=status.version,
        location=status.location,
        memories=status.counts.memories,
        claude=shlex.join(["claude", "mcp", "add", "--scope", "user", "lore", "--", *lore, "mcp"]),
        snippet=textwrap.indent(snippet, "    "),
        lore=shlex.join(typed),
    )


def _command() -> list[str]:
    """How this very Lore is called from anywhere."""
    started = Path(sys.argv[0])
    if started.stem == "lore" and started.is_file():
        return [str(started.absolute())]
    if installed := shutil.which("lore"):
        return [installed]
    return [sys.executable, "-m", "lore.doors.cli"]


def _place(location: str) -> list[str]:
    """A store that is not where Lore looks by itself has to be named."""
    return [] if Path(location) == Config().database.expanduser() else ["--db", location]
