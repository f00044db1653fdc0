"""dozing: a daemon that nobody has asked for a while, begun anew as a process that only keeps its place.

It holds the lock and the socket, says what it was, ends on request, and wakes for whoever wants more: the
process becomes a daemon again and serves the client that it was woken by. It takes a tenth of the memory.
"""

import json
import os
import signal
import sys
import time

from lore.doors.hello import LONGEST, heard, said
from lore.doors.place import MSG_PEEK, Line, Place
from lore.version import VERSION

HELLO_SECONDS = 2.0


def doze(place: Place, lock: int, listener: int, about: str) -> None:
    """Become that process. about: what it is to say of itself. This does not return."""
    command = [part for part in sys.orig_argv if not part.startswith("--handed=")]
    arguments = [json.dumps(place.flags), str(lock), str(listener), about, *command[1:]]
    for file in (lock, listener):
        os.set_inheritable(file, True)
    os.execv(sys.executable, [sys.executable, "-P", "-m", "lore.doors.dozing", *arguments])


class Dozing:
    """Until somebody comes who wants more than a word. command: how the daemon is called."""

    def __init__(self, place: Place, lock: int, listener: int, about: str, command: list[str]) -> None:
        self._place = place
        self._lock = lock
        self._listener = Line(fileno=listener)
        self._about = about
        self._command = command

    def run(self) -> None:
        """Returns when it is told to stop."""
        self._listener.setblocking(True)
        while True:
            file, _ = self._listener._accept()  # type: ignore[attr-defined]  # what `socket` is built on
            line = Line(fileno=file)
            want = self._greeted(line)
            if want == "stop":
                return
            if want in ("mcp", "verbs"):
                self._wake(file)
            line.close()

    def _greeted(self, line: Line) -> str:
        """What a client wants, having answered it if a word is enough; its hello is left for the daemon."""
        line.settimeout(HELLO_SECONDS)
        try:
            want, fields = heard(line.recv(LONGEST, MSG_PEEK))
            if fields.get("token", "") != self._place.token():
                return "nothing"  # the daemon would refuse it; it is not worth waking
            if want in ("ping", "stop", "status"):
                line.recv(LONGEST)
                line.sendall(said("welcome", self._self(want)))
        except (OSError, ValueError):
            return "nothing"
        return want

    def _self(self, want: str) -> dict[str, str]:
        told = {"version": VERSION, "pid": str(os.getpid())}
        if want == "status":
            known = json.loads(self._about)
            uptime = time.time() - known["started_at"]
            now = {"uptime_seconds": uptime, "model": "released", "clients": []}
            told["status"] = json.dumps(known | now)
        return told

    def _wake(self, client: int) -> None:
        handed = (self._lock, self._listener.fileno(), client)
        for file in handed:
            os.set_inheritable(file, True)
        os.execv(sys.executable, [sys.executable, *self._command, f"--handed={','.join(map(str, handed))}"])


def main() -> None:
    """The arguments are those of `doze`."""
    flags, lock, listener, about, *command = sys.argv[1:]
    place = Place({}, *json.loads(flags)[1::2])
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: sys.exit())
    try:
        Dozing(place, int(lock), int(listener), about, command).run()
    finally:
        place.clear()


if __name__ == "__main__":
    main()
