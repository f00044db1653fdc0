"""tray_commands: the commands that the tray runs for its menu, each in a process of its own."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import IO

from lore import lazy
from lore.doors import starting
from lore.doors.daemon_status import read_status
from lore.doors.endpoint import Endpoint
from lore.durable import write_whole
from lore.errors import LoreError, NotFound, Unavailable

WORDS = {
    "start": ("start", "--stay", "--json"),
    "stop": ("stop",),
    "ingest": ("ingest",),
    "consolidate": ("consolidate",),
    "sync": ("sync",),
    "explorer": ("explorer",),
}
"""The words behind `lore` that do an action of the menu."""
INTERRUPT = signal.SIGINT if os.name == "posix" else signal.SIGTERM
"""Ends a command; consolidation finishes the current step."""
OPENERS = {"darwin": "open", "win32": "explorer"}
"""The program of a platform that opens a file as its user likes; xdg-open on all others."""


@dataclass(frozen=True, slots=True)
class Failed:
    """An action whose command has failed, with the last line that it wrote."""

    action: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class _Running:
    action: str
    process: "subprocess.Popen[bytes]"
    output: IO[bytes]
    error: IO[bytes]


class Commands:
    """Runs the actions of the menu on one endpoint, and keeps a note of the daemon that it has started."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._running: list[_Running] = []
        self._note_file = os.path.join(endpoint.home, "tray.daemon")
        """Holds the pid of the daemon that this tray has started, or one before it that was killed."""
        self._explorer_starts = False
        """Whether the explorer had to start a daemon, which is this tray's own then."""

    @property
    def running(self) -> Collection[str]:
        """The actions that have not ended."""
        return {one.action for one in self._running}

    def run(self, action: str) -> None:
        """Begin an action that does not go on yet; Unavailable or NotFound if it cannot begin."""
        if action == "logs":  # a reader may go on for hours, and another one be wanted
            self._begin(action, self._open_log())
        elif action not in self.running:
            if action == "explorer":
                self._explorer_starts = not self._pid()
            self._begin(action, self._lore(action))

    def finish(self) -> list[Failed]:
        """Take notice of the actions that have ended; those that have failed."""
        ended = [one for one in self._running if one.process.poll() is not None]
        return [failed for one in ended if (failed := self._end(one)) is not None]

    def end(self) -> None:
        """End the actions that go on, and stop the daemon if this tray has started it."""
        for one in self._running:
            if one.action == "start":
                one.process.wait()
            elif one.action not in ("stop", "logs"):
                one.process.send_signal(INTERRUPT)
                self._note(one.action)
        self.finish()
        if self._pid() and self._pid() == self._own_pid():
            starting.stop(self._endpoint)
        self._own(0)

    def _pid(self) -> int:
        """Pid of the daemon that runs; 0 if there is none."""
        return int(read_status(self._endpoint)["pid"] or 0)

    def _own_pid(self) -> int:
        """Pid of the daemon that this tray has started; 0 if there is none."""
        try:
            with open(self._note_file) as file:
                return int(file.read())
        except (OSError, ValueError):
            return 0

    def _own(self, pid: int) -> None:
        """Note the daemon that this tray has started."""
        with suppress(OSError):
            if pid:
                write_whole(self._note_file, str(pid))
            else:
                os.unlink(self._note_file)

    def _lore(self, action: str) -> list[str]:
        more = self._pull() if action == "sync" else []
        program = [sys.executable, "-P", "-m", "lore.doors.cli", *self._endpoint.flags]
        return [*program, *WORDS[action], *more]

    def _pull(self) -> list[str]:
        """--pull, if the settings name namespaces that are kept equal; wrong settings are the command's."""
        with suppress(LoreError):
            if lazy.config.load(data_dir=self._endpoint.data_dir).remote_namespaces.strip():
                return ["--pull"]
        return []

    def _open_log(self) -> list[str]:
        log, opener = self._endpoint.log, OPENERS.get(sys.platform, "xdg-open")
        if not os.path.exists(log):
            raise NotFound(f"there is no log at {log}: no daemon has run there yet")
        if shutil.which(opener) is None:
            raise Unavailable(f"there is no {opener} here; the log is {log}")
        return [opener, log]

    def _begin(self, action: str, words: Sequence[str]) -> None:
        with ExitStack() as stack:
            output, error = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(2))
            process = subprocess.Popen(
                words, stdin=subprocess.DEVNULL, stdout=output, stderr=error, start_new_session=True
            )
            stack.pop_all()
        self._running.append(_Running(action, process, output, error))

    def _end(self, one: _Running) -> Failed | None:
        self._running.remove(one)
        with one.output, one.error:
            output, error = (_content(file) for file in (one.output, one.error))
        if one.process.returncode:
            return Failed(one.action, _reason(error or output) or f"exit code {one.process.returncode}")
        self._note(one.action, output)
        return None

    def _note(self, action: str, output: str = "") -> None:
        """Note which daemon is this tray's own after an action."""
        if action == "start":
            document = json.loads(output)
            self._own(document["pid"] if document["started"] else 0)
        elif action == "stop":
            self._own(0)
        elif action == "explorer" and self._explorer_starts:
            self._own(self._pid())


def _reason(output: str) -> str:
    """The reason of a failure: the last line that a command wrote, or the error in it under --json."""
    last = "".join(output.strip().splitlines()[-1:])
    try:
        return str(json.loads(last)["error"])
    except (ValueError, TypeError, KeyError):
        return last.removeprefix("lore: ")


def _content(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")
