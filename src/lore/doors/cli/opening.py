"""Opening: flags → a Lore for one command: that of the daemon if one runs, else the store itself."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import asdict, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lore.doors.cli.flags import Flags
from lore.doors.cli.placing import endpoint_of
from lore.doors.cli.terminal import warn
from lore.doors.embedding_progress import Embeds
from lore.doors.endpoint import Connection, Endpoint, Hung
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
def opened(flags: Flags, *, create: bool = False) -> Iterator["Lore"]:
    """A Lore that waits for its model: a person asks once and wants the best answer.

    create: see `directly`.
    """
    line = _line(flags)
    if line is None:
        with directly(flags, create=create) as lore:
            yield lore
    else:
        with closing(
            Remote(line, partial(directly, flags, create=create), endpoint_of(flags).hung)
        ) as remote:
            yield cast("Lore", remote)


@contextmanager
def directly(flags: Flags, *, create: bool = False) -> Iterator["Lore"]:
    """The store itself, whether a daemon runs or not.

    create: make the store if there is none. Otherwise an empty one in a temporary folder stands for it, so
    that a command which only reads leaves nothing behind.
    """
    config = settings(flags)
    warn(config.warnings)
    with ExitStack() as stack:
        if not create and _missing(config):
            folder_of_empty = stack.enter_context(tempfile.TemporaryDirectory(prefix="lore-"))
            config = replace(config, db_path=Path(folder_of_empty, "empty.db"), embedding_model="hash")
        lore: Lore = import_module("lore.connecting").wire(config, patient=True)
        stack.callback(lore.close)
        lore = replace(lore, conversation=session())
        yield lore.for_namespace(config.namespace, surface="cli").in_folder(folder())


def missing_store(flags: Flags) -> "Config | None":
    """The settings, if the store that they name does not exist yet; else None."""
    config = settings(flags)
    return config if _missing(config) else None


def _missing(config: "Config") -> bool:
    """Whether no store was ever here. One that was lost is an error, which opening it tells."""
    if config.database.exists():
        return False
    return not import_module("lore.store.opening").marker_of(config.database).exists()


@contextmanager
def embedding(flags: Flags, lore: "Lore") -> Iterator[Embeds]:
    """Whoever embeds for the store of `lore`: its daemon if one runs, else `lore` itself."""
    line = _line(flags)
    if line is None:
        yield lore
    else:
        with closing(Remote(line, lambda: nullcontext(lore), endpoint_of(flags).hung)) as remote:
            yield cast(Embeds, remote)


def _line(flags: Flags) -> Connection | None:
    """To a daemon of this version that lets us in. None: there is none, or the store says better why not."""
    if flags.namespace == "":  # as a variable it would say nothing
        return None
    endpoint = endpoint_of(flags)
    line, version = _dialled(endpoint, flags)
    if line is None or version == VERSION:
        return line
    line.close()
    starting = import_module("lore.doors.starting")
    if not starting.is_older(version):
        return None
    try:
        starting.renew(endpoint)
    except (LoreError, OSError):
        return None
    return _dialled(endpoint, flags)[0]


def _dialled(endpoint: Endpoint, flags: Flags) -> tuple[Connection | None, str]:
    """The line and the version of the daemon at its other end."""
    asked = {"LORE_NAMESPACE": flags.namespace} if flags.namespace else {}
    try:
        us = {"version": VERSION, "folder": folder(), "session": session(), "pid": str(os.getpid())}
        line, word, told = endpoint.dial("verbs", us | variables() | asked)
    except Hung as error:
        warn([f"{error}. The store is opened without it"])
        return None, ""
    except OSError:
        return None, ""
    if word == "welcome":
        warn(told.get("warnings", "").splitlines())
        return line, told["version"]
    line.close()
    return None, ""
