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

{data}

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
OWN = """\
  Your data   {location}
              {memories} memories. Nothing leaves this machine,
              unless you choose a language model."""
SAMPLE = """\
  Sample      {location}
              {memories} memories to try Lore with; this process serves them.
  Your data   {own}
              is kept apart: the sample never mixes with it. The commands
              for clients use your data. Nothing leaves this machine,
              unless you choose a language model."""


def guide(status: Status) -> str:
    """The next steps for a user's own store, with this installation's own paths."""
    return _guide(status, status.location, OWN, _place(status.location))


def sample_guide(status: Status, own: str, flags: list[str]) -> str:
    """The next steps where the sample is served. own: the user's own store. flags: name the sample's."""
    return _guide(status, own, SAMPLE, flags)


def _guide(status: Status, own: str, data: str, flags: list[str]) -> str:
    """flags: of the commands to try in a terminal. Clients always get the user's own store."""
    lore = [*_command("lore", "lore.doors.cli"), *flags]
    relay = [*_command("lore-mcp", "lore.doors.relay"), *_place(own)]
    server = {"command": relay[0], "args": relay[1:]}
    snippet = json.dumps({"mcpServers": {"lore": server}}, ensure_ascii=False, indent=2)
    typed = ["lore", *lore[1:]] if shutil.which("lore") == lore[0] else lore
    return GUIDE.format(
        version=status.version,
        data=data.format(location=status.location, memories=status.counts.memories, own=own),
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
