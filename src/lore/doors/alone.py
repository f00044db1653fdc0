"""alone: one agent served by a process of its own, where no daemon can run because nothing can be written.

The process speaks with its relay as a daemon does, over a pair of sockets, and ends with the conversation.
"""

import os
import subprocess
import sys
from contextlib import suppress

from typing_extensions import override

from lore.doors.endpoint import Connection, Endpoint, socket_pair
from lore.environment import folder

PROBE_BYTES = 1 << 16
"""What a daemon needs at least for its files and for the index of the store."""


def is_needed(endpoint: Endpoint) -> bool:
    """Whether the folder of the daemon cannot be written: a full disk, a read-only file system."""
    probe = os.path.join(endpoint.home, f"daemon.probe.{os.getpid()}")
    try:
        os.makedirs(endpoint.home, mode=0o700, exist_ok=True)
        file = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            return os.write(file, bytes(PROBE_BYTES)) < PROBE_BYTES
        finally:
            os.close(file)
    except OSError:
        return os.name == "posix"
    finally:
        with suppress(OSError):
            os.unlink(probe)


class Alone(Endpoint):
    """The place of a server that nobody else finds; each line is to a new one."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.__dict__.update(endpoint.__dict__)

    @override
    def _line(self) -> tuple[Connection, dict[str, str]]:
        ours, theirs = socket_pair()
        try:
            command = [sys.executable, "-P", "-m", "lore.doors.cli", *self.flags, "daemon", "run"]
            subprocess.Popen(
                [*command, "--alone", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                cwd=folder() or None,
                start_new_session=True,
            )
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        return ours, {}
