"""Placing: flags → where the daemon is that they mean."""

from lore.doors.cli.flags import Flags
from lore.doors.endpoint import Endpoint
from lore.environment import variables


def endpoint_of(flags: Flags) -> Endpoint:
    """The place of the daemon for these flags and this environment."""
    folder, database = (None if path is None else str(path) for path in (flags.data_dir, flags.db_path))
    return Endpoint(variables(), folder, database)
