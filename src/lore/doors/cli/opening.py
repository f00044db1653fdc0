"""Opening: flags → a Lore for one command: that of the daemon if one runs, else the store itself."""

import os
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from dataclasses import asdict, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lore.doors.cli.flags import Flags
from lore.doors.cli.placing import place_of
from lore.doors.cli.terminal import warn
from lore.doors.place import Line, Place
from lore.doors.settling import Embeds
from lore.doors.verbs import Remote
from lore.environment import folder, session, variables
from lore.errors import LoreError
from lore.version import VERSION

if TYPE_CHECKING:
    from lore.config import Config
    from lore.engine import Lore


def settings(flags: Flags, **more: str | None) -> "Config":
    """The settings in force, the flags having the last word."""
    config: Config = import_module("lore.config").load(**(asdict(flags) | more))
    return replace(
        config, data_dir=_absolute(config.data_dir), db_path=config.db_path and _absolute(config.db_path)
    )


def _absolute(path: Path) -> Path:
    """As the daemon of this place is told, wherever it runs."""
    return Path(os.path.abspath(path))


@contextmanager
def opened(flags: Flags) -> Iterator["Lore"]:
    """A Lore that waits for its model: a person asks once and wants the best answer."""
    line = _line(flags)
    if line is None:
        with directly(flags) as lore:
            yield lore
    else:
        with closing(Remote(line, partial(directly, flags))) as remote:
            yield cast("Lore", remote)


@contextmanager
def directly(flags: Flags) -> Iterator["Lore"]:
    """The store itself, whether a daemon runs or not."""
    config = settings(flags)
    warn(config.warnings)
    lore: Lore = import_module("lore.connecting").wire(config, patient=True)
    try:
        lore = replace(lore, conversation=session())
        yield lore.within(config.namespace, surface="cli").at_work_in(folder())
    finally:
        lore.close()


@contextmanager
def embedding(flags: Flags, lore: "Lore") -> Iterator[Embeds]:
    """Whoever embeds for the store of `lore`: its daemon if one runs, else `lore` itself."""
    line = _line(flags)
    if line is None:
        yield lore
    else:
        with closing(Remote(line, lambda: nullcontext(lore))) as remote:
            yield cast(Embeds, remote)


def _line(flags: Flags) -> Line | None:
    """To a daemon of this version that lets us in. None: there is none, or the store says better why not."""
    if flags.namespace == "":  # as a variable it would say nothing
        return None
    place = place_of(flags)
    line, version = _dialled(place, flags)
    if line is None or version == VERSION:
        return line
    line.close()
    starting = import_module("lore.doors.starting")
    if not starting.is_older(version):
        return None
    try:
        starting.renew(place)
    except (LoreError, OSError):
        return None
    return _dialled(place, flags)[0]


def _dialled(place: Place, flags: Flags) -> tuple[Line | None, str]:
    """The line and the version of the daemon at its other end."""
    asked = {"LORE_NAMESPACE": flags.namespace} if flags.namespace else {}
    try:
        us = {"version": VERSION, "folder": folder(), "session": session(), "pid": str(os.getpid())}
        line, word, told = place.dial("verbs", us | variables() | asked)
    except OSError:
        return None, ""
    if word == "welcome":
        warn(told.get("warnings", "").splitlines())
        return line, told["version"]
    line.close()
    return None, ""
