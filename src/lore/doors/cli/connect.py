"""Connect: flags → a Lore for one command: through the daemon if one runs, else on the store itself."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lore import lazy
from lore.doors.cli.group import Flags
from lore.doors.cli.render import warn
from lore.doors.daemon_status import State
from lore.doors.endpoint import Connection, Endpoint, Hung
from lore.doors.rpc import Remote
from lore.environment import folder, session, variables
from lore.errors import Invalid, LoreError, NotFound
from lore.health import Embeds
from lore.keys import use_key_of
from lore.text import without_password
from lore.version import VERSION

if TYPE_CHECKING:
    from lore.config import Config
    from lore.engine import Lore


def endpoint_of(flags: Flags) -> Endpoint:
    """The endpoint of the daemon for these flags and this environment."""
    data_dir, database = (None if path is None else str(path) for path in (flags.data_dir, flags.db_path))
    return Endpoint(variables(), data_dir, database)


def settings(flags: Flags, **more: str | None) -> "Config":
    """The settings with the flags applied; paths are absolute, as the daemon's are."""
    config = lazy.config.load(**(asdict(flags) | more))
    database = config.db_path and Path(os.path.abspath(config.db_path))
    use_key_of(config.key_source)
    return replace(config, data_dir=Path(os.path.abspath(config.data_dir)), db_path=database)


@contextmanager
def open_lore(flags: Flags, *, create: bool = False) -> Iterator["Lore"]:
    """A Lore whose searches wait for the embedding model. create: see `open_store`."""
    connection = _connect(flags)
    directly = partial(open_store, flags, create=create)
    if connection is None:
        with directly() as lore:
            yield lore
    else:
        with closing(Remote(connection, directly, endpoint_of(flags).hung)) as remote:
            yield cast("Lore", remote)


@contextmanager
def open_store(flags: Flags, *, create: bool = False) -> Iterator["Lore"]:
    """A Lore on the store itself, whether a daemon runs or not.

    create: make the store if it does not exist. Otherwise an empty store in a temporary folder takes its
    place, so that a command which only reads creates nothing.
    """
    config = settings(flags)
    warn(config.warnings)
    with ExitStack() as stack:
        if not create and _missing(config):
            empty = stack.enter_context(tempfile.TemporaryDirectory(prefix="lore-"))
            config = replace(config, db_path=Path(empty, "empty.db"), embedding_model="hash")
        lore = lazy.connecting.wire(config, patient=True)
        stack.callback(lore.close)
        lore = replace(lore, conversation=session())
        yield lore.for_namespace(config.namespace, surface="cli").in_folder(folder())


@contextmanager
def open_embedder(flags: Flags, lore: "Lore") -> Iterator[Embeds]:
    """The process that embeds for the store of `lore`: its daemon if one runs, else `lore` itself."""
    connection = _connect(flags)
    if connection is None:
        yield lore
    else:
        with closing(Remote(connection, lambda: nullcontext(lore), endpoint_of(flags).hung)) as remote:
            yield cast(Embeds, remote)


@contextmanager
def announced(flags: Flags, state: State) -> Iterator[None]:
    """Have the daemon, if one runs, show this state while the block runs."""
    with ExitStack() as stack:
        fields = {"version": VERSION, "folder": folder(), "pid": str(os.getpid()), "state": state}
        with suppress(OSError):
            connection, _, _ = endpoint_of(flags).dial("activity", fields | variables())
            stack.callback(connection.close)
        yield


def missing_store(flags: Flags) -> "Config | None":
    """The settings, if the store that they name does not exist yet; else None."""
    config = settings(flags)
    return config if _missing(config) else None


def require_store(flags: Flags, action: str) -> str:
    """Where the store is. NotFound if there is none yet; action: what was to be done with it."""
    config = settings(flags)
    if _missing(config):
        raise NotFound(f"there is nothing to {action}: {config.database} does not exist yet")
    return without_password(str(config.location))


def require_file(flags: Flags, action: str) -> Path:
    """The database file. Invalid if the store is no file, NotFound if it does not exist yet."""
    config = settings(flags)
    refuse_database(config, action)
    require_store(flags, action)
    return config.database


def refuse_database(config: "Config", action: str) -> None:
    """Invalid if the store is no file."""
    if config.database_url:
        raise Invalid(
            f"the store is {without_password(config.database_url)}, not a file; {action} it with the tools of"
            " its database, such as pg_dump and pg_restore (docs/postgres.md)"
        )


def _missing(config: "Config") -> bool:
    """Whether no store was ever here. A store that was lost is an error, which opening it reports."""
    if config.database_url:
        return False
    return not config.database.exists() and not lazy.store_opening.marker_of(config.database).exists()


def _connect(flags: Flags) -> Connection | None:
    """A connection to a daemon of this version. None: there is none, or it refuses and the store says why."""
    if flags.namespace == "":  # an empty variable would be ignored; the store refuses it
        return None
    endpoint = endpoint_of(flags)
    connection, version = _dial(endpoint, flags)
    if connection is None or version == VERSION:
        return connection
    connection.close()
    starting = lazy.starting
    if not starting.is_older(version):
        return None
    try:
        starting.renew(endpoint)
    except (LoreError, OSError):
        return None
    return _dial(endpoint, flags)[0]


def _dial(endpoint: Endpoint, flags: Flags) -> tuple[Connection | None, str]:
    """A connection and the version of the daemon at its other end."""
    client = {"version": VERSION, "folder": folder(), "session": session(), "pid": str(os.getpid())}
    namespace = {"LORE_NAMESPACE": flags.namespace} if flags.namespace else {}
    try:
        connection, word, reply = endpoint.dial("verbs", client | variables() | namespace)
    except Hung as error:
        warn([f"{error}. The store is opened without it"])
        return None, ""
    except OSError:
        return None, ""
    if word == "welcome":
        warn(reply.get("warnings", "").splitlines())
        return connection, reply["version"]
    connection.close()
    return None, ""
