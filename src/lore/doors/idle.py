"""idle: a daemon that nobody has asked for a while, begun anew as a process that only keeps its place.

It holds the locks and the socket, says what it was, ends on request, and wakes for whoever wants more: the
process becomes a daemon again and serves the clients that wait. It takes a tenth of the memory.
"""

import json
import os
import select
import signal
import sys
import time

from lore.doors import handshake
from lore.doors.endpoint import MSG_PEEK, Connection, Endpoint
from lore.doors.handshake import END, LONGEST
from lore.version import VERSION

HELLO_SECONDS = 2.0
LOOK_EVERY_SECONDS = 1.0
"""How often the files of the daemon are looked for."""
GLANCE_SECONDS = 0.05
"""How often a client is listened to whose hello is not whole yet."""
LONG = 1 << 16
"""Bytes of a hello after which the daemon is woken to read the rest."""
MOST_WAITING = 200
WAKE = ("mcp", "verbs")
ANSWERED = ("ping", "stop", "status")


def go_idle(endpoint: Endpoint, locks: tuple[int, int], listener: int, about: str) -> None:
    """Become that process. about: what it is to say of itself. This does not return.

    It goes through a pipe: arguments are for everybody to see, and limited.
    """
    command = [part for part in sys.orig_argv if not part.startswith("--handed=")]
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    os.write(writing, about.encode())
    os.close(writing)
    files = (*locks, listener, reading)
    for file in files:
        os.set_inheritable(file, True)
    arguments = [json.dumps(endpoint.flags), ",".join(map(str, files)), *command[1:]]
    os.execv(sys.executable, [sys.executable, "-P", "-m", "lore.doors.idle", *arguments])


class Caller:
    """A client whose hello is awaited until `deadline`; `heard_of`: a part of it has come."""

    def __init__(self, line: Connection) -> None:
        self.line = line
        self.deadline = time.monotonic() + HELLO_SECONDS
        self.heard_of = False

    def peeked(self) -> bytes | None:
        """Bytes received so far, left unread for the daemon; None if the client has gone."""
        try:
            data = self.line.recv(LONGEST, MSG_PEEK)
        except BlockingIOError:
            return b""
        except OSError:
            return None
        self.heard_of = bool(data)
        return data or None


class IdleDaemon:
    """Until somebody comes who wants more than a word. command: how the daemon is called."""

    def __init__(
        self, endpoint: Endpoint, locks: tuple[int, int], listener: int, about: str, command: list[str]
    ) -> None:
        self._endpoint = endpoint
        self._locks = locks
        self._listener = Connection(fileno=listener)
        self._about = about
        self._command = command
        self._callers: list[Caller] = []
        self._files = self._identities()

    def run(self) -> None:
        """Returns when it is told to stop. Silent clients keep nobody waiting."""
        self._listener.setblocking(False)
        while True:
            self._wait()
            if self._identities() != self._files:
                self._wake()  # somebody has removed or replaced them; the daemon knows how to go on
            self._accept()
            for caller in list(self._callers):
                want = self._wanted(caller)
                if want == "stop":
                    return
                if want in WAKE:
                    self._wake()
                if want or time.monotonic() > caller.deadline:
                    self._callers.remove(caller)
                    caller.line.close()

    def _wait(self) -> None:
        """For a client, a word of one, or the next look."""
        silent = [caller.line for caller in self._callers if not caller.heard_of]
        room = [self._listener] if len(self._callers) < MOST_WAITING else []
        unfinished = len(silent) < len(self._callers)
        select.select([*room, *silent], [], [], GLANCE_SECONDS if unfinished else LOOK_EVERY_SECONDS)

    def _accept(self) -> None:
        while len(self._callers) < MOST_WAITING:
            try:
                file, _ = self._listener._accept()  # type: ignore[attr-defined]  # what `socket` is built on
            except OSError:
                return
            line = Connection(fileno=file)
            line.setblocking(False)
            self._callers.append(Caller(line))

    def _wanted(self, caller: Caller) -> str:
        """A client's request, answered if one message is enough; empty until its handshake is complete."""
        data = caller.peeked()
        if data is None:
            return "nothing"
        if END not in data:
            return WAKE[0] if len(data) >= LONG else ""
        try:
            want, fields = handshake.decode(data[: data.index(END) + len(END)])
            if fields.get("token", "") != self._endpoint.token():
                return "nothing"  # the daemon would refuse it; it is not worth waking
            if want in ANSWERED:
                caller.line.recv(LONGEST)
                caller.line.sendall(handshake.encode("welcome", self._self(want)))
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

    def _identities(self) -> list[int]:
        """Which files are at our paths; 0 where none is."""
        door = self._endpoint.socket if self._endpoint.unix else self._endpoint.port
        return [_inode(path) for path in (self._endpoint.lock, self._endpoint.pid, door)]

    def _wake(self) -> None:
        """Become the daemon again, with all clients that wait; none of their words has been taken away."""
        lines = [caller.line.fileno() for caller in self._callers]
        handed = [*self._locks, self._listener.fileno(), *lines]
        for file in handed:
            os.set_inheritable(file, True)
        os.execv(sys.executable, [sys.executable, *self._command, f"--handed={','.join(map(str, handed))}"])


def _inode(path: str) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def main() -> None:
    """The arguments are those of `go_idle`."""
    flags, files, *command = sys.argv[1:]
    lock, serving, listener, about = map(int, files.split(","))
    endpoint = Endpoint({}, *json.loads(flags)[1::2])
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, lambda *_: sys.exit())
    with open(about, "rb") as pipe:
        text = pipe.read().decode()
    try:
        IdleDaemon(endpoint, (lock, serving), listener, text, command).run()
    finally:
        if _inode(endpoint.lock) == os.fstat(lock).st_ino:
            endpoint.clear()


if __name__ == "__main__":
    main()
