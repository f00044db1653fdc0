"""guide: the next steps for somebody who has just started Lore for the first time."""

import shlex
import shutil
import sys
from pathlib import Path

from lore.config import SCHEMES, Config
from lore.health import Status

GUIDE = """\
Lore {version} is ready.

{data}
{install}
  Connect your agents
    {setup}
    docs/clients.md says what that does, and how to do it by hand.

  Look at it in a browser
    {pages}

  Try it in a terminal
    {lore} search "what is worth remembering"
    {lore} roots
    {lore} --help

This process waits for a client on stdin. Ctrl-C stops it; your data stays.
Clients do not need it: lore-mcp starts what it needs in the background."""
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
INSTALL = """
  Put `lore` and `lore-mcp` on your path, from this folder
    {command}
"""
PAGES = """\
{link}
    That works once, within two minutes; another comes from
    {command}"""
INSTALLERS = {"uv": "uv tool install .", "pipx": "pipx install ."}
"""Program -> its command that installs Lore for one user; the first installed program is proposed."""


def guide(status: Status) -> str:
    """The next steps for a user's own store, with this installation's own paths."""
    return _guide(status, status.location, OWN, _place(status.location))


def sample_guide(status: Status, own: str, flags: list[str], link: str = "") -> str:
    """The next steps where the sample is served. own: the user's own store. flags: name the sample's. link:
    to the explorer of this process."""
    return _guide(status, own, SAMPLE, flags, link)


def _guide(status: Status, own: str, data: str, flags: list[str], link: str = "") -> str:
    """flags: of the commands to try in a terminal. Clients always get the user's own store."""
    lore = own_command("lore", "lore.doors.cli")
    typed = ["lore", *lore[1:]] if shutil.which("lore") == lore[0] else lore
    command = shlex.join([*typed, *flags, "explorer"])
    return GUIDE.format(
        version=status.version,
        data=data.format(location=status.location, memories=status.counts.memories, own=own),
        install="" if shutil.which("lore") else INSTALL.format(command=_installer()),
        setup=shlex.join([*typed, *_place(own), "setup"]),
        pages=PAGES.format(link=link, command=command) if link else command,
        lore=shlex.join([*typed, *flags]),
    )


def _installer() -> str:
    """The command that puts Lore on the path with an installed program; else the addresses of such
    programs."""
    installed = [command for program, command in INSTALLERS.items() if shutil.which(program)]
    either = " or ".join(INSTALLERS.values())
    return installed[0] if installed else f"{either}   (https://docs.astral.sh/uv, https://pipx.pypa.io)"


def own_command(name: str, module: str) -> list[str]:
    """The command line of a program of this installation, valid in any folder."""
    started = Path(sys.argv[0]).absolute()
    beside = started.with_name(name + started.suffix)
    if started.stem == "lore" and beside.is_file():
        return [str(beside)]
    if installed := shutil.which(name):
        return [installed]
    return [sys.executable, "-m", module]


def _place(location: str) -> list[str]:
    """The flags that name a store outside the default location."""
    if location.startswith(SCHEMES) or Path(location) == Config().database.expanduser():
        return []  # an address is in the settings
    return ["--db", location]
