"""endpoint: the files of a store's daemon, and how to connect to it. Every client begins here."""

import _socket  # the C half: the module around it takes as long to load as all the rest of a client
import os
from importlib import import_module

from lore.doors import handshake
from lore.doors.handshake import END, LONGEST

HOME = "~/.lore"
LONGEST_SOCKET_NAME = 100
"""In bytes; what the systems allow is 104 to 108. Where it does not fit, a port takes its place."""

PATIENCE_SECONDS = 30.0
"""Longest time for a daemon to answer a handshake."""
GLANCE_SECONDS = 2.0
"""After which whoever waits for a daemon looks whether its process was stopped, again and again."""
STOPPED = "T"
"""The state of a process that a signal has stopped, as `ps` and /proc name it."""
RESTART = "`lore daemon restart` puts another in its place"
LOOPBACK = "127.0.0.1"
LARGEST_PORT = 65_535

Connection = _socket.socket
MSG_PEEK = _socket.MSG_PEEK


class Hung(ConnectionError):
    """The daemon is there, and does not answer."""


class Endpoint:
    """The folder of a daemon: the data folder, or one beside a database that was named by itself.

    flags: how a command is told to use this place. data_dir: the data folder, in any case.
    """

    def __init__(
        self, variables: dict[str, str], data_dir: str | None = None, db_path: str | None = None
    ) -> None:
        folder = _absolute(data_dir or variables.get("LORE_DATA_DIR") or HOME)
        self.flags = ["--data-dir", folder]
        self.data_dir = self.home = folder
        if database := db_path or variables.get("LORE_DB_PATH"):
            self.flags += ["--db", _absolute(database)]
            self.home = _absolute(database) + ".daemon"
        self.socket = os.path.join(self.home, "daemon.sock")
        self.port = os.path.join(self.home, "daemon.port")
        self.pid = os.path.join(self.home, "daemon.pid")
        self.lock = os.path.join(self.home, "daemon.lock")
        self.starting = os.path.join(self.home, "daemon.starting")
        self.log = os.path.join(self.home, "daemon.log")
        self.status = os.path.join(self.home, "daemon.status")

    @property
    def unix(self) -> bool:
        """Whether a Unix socket can be used here."""
        return hasattr(_socket, "AF_UNIX") and len(os.fsencode(self.socket)) <= LONGEST_SOCKET_NAME

    def clear(self) -> None:
        """Away with all that tells of a daemon once it has ended: the process may be anybody's by then.

        The process's own file goes last: where it is gone, the rest is.
        """
        for path in (self.socket, self.port, self.status, self.pid):
            try:
                os.unlink(path)
            except FileNotFoundError:
                continue

    def dial(self, want: str, fields: dict[str, str]) -> tuple[Connection, str, dict[str, str]]:
        """The line to the daemon, and the word and fields of its answer; OSError if none answers."""
        line, token = self._line()
        try:
            line.sendall(handshake.encode(want, fields | token))
            word, told = handshake.decode(self._answer(line))
            line.settimeout(None)
        except ValueError as error:
            line.close()
            raise ConnectionError(str(error)) from error
        except TimeoutError as error:
            line.close()
            raise Hung(f"Lore's daemon does not answer; {RESTART}") from error
        except OSError:
            line.close()
            raise
        return line, word, told

    def hung(self) -> str:
        """The reason why the daemon cannot answer, if its process was stopped; empty otherwise."""
        try:
            with open(self.pid) as file:
                pid = int(file.read())
            if _state_of(pid) != STOPPED:
                return ""
        except (OSError, ValueError):
            return ""
        return f"Lore's daemon (PID {pid}) was stopped by a signal; {RESTART}"

    def _answer(self, line: Connection) -> bytes:
        """One message: the daemon says no more than that before it is asked. TimeoutError, or Hung."""
        message = b""
        line.settimeout(GLANCE_SECONDS)
        glances = 0
        while not message.endswith(END):
            try:
                chunk = line.recv(LONGEST)
            except TimeoutError:
                glances += 1
                if why := self.hung():
                    raise Hung(why) from None
                if glances * GLANCE_SECONDS >= PATIENCE_SECONDS:
                    raise
                continue
            if not chunk or len(message) > LONGEST:
                raise ConnectionError("the daemon hung up")
            message += chunk
        return message

    def _line(self) -> tuple[Connection, dict[str, str]]:
        """Connected, and what proves that we may: the socket opens, or the port's file can be read."""
        address: str | tuple[str, int]
        if self.unix:
            line, address, token = Connection(_socket.AF_UNIX), self.socket, {}
        else:
            port, secret = self.door()
            line, address, token = Connection(_socket.AF_INET), (LOOPBACK, port), {"token": secret}
        line.settimeout(PATIENCE_SECONDS)
        try:
            line.connect(address)
        except OSError as error:
            line.close()
            if why := self.hung():  # so many wait for it already that nobody else can
                raise Hung(why) from error
            raise
        return line, token

    def token(self) -> str:
        """The token that a client must send; none where file permissions protect the socket."""
        return "" if self.unix else self.door()[1]

    def door(self) -> tuple[int, str]:
        """The port, and what a client must know."""
        with open(self.port) as file:
            port, _, secret = file.read().strip().partition(" ")
        if not port.isdecimal() or int(port) > LARGEST_PORT:
            raise ConnectionError(f"{self.port} names no port")
        return int(port), secret


def socket_pair() -> tuple[Connection, Connection]:
    """Two connected sockets; the bare C module has them everywhere but on Windows."""
    if hasattr(_socket, "socketpair"):
        return _socket.socketpair()
    pair: tuple[Connection, Connection] = import_module("socket").socketpair()
    return pair


def _state_of(pid: int) -> str:
    """The letter of a process's state."""
    if os.path.isdir("/proc/self"):
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2][:1].decode()
    if os.name != "posix":
        return ""
    subprocess = import_module("subprocess")
    told = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True)
    return str(told.stdout).strip()[:1]


def _absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))
