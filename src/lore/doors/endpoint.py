"""endpoint: the files of a store's daemon, and how to connect to it. Every client begins here."""

import _socket  # the C half: the module around it takes as long to load as all the rest of a client
import os
from importlib import import_module

from lore.doors import protocol
from lore.doors.protocol import END, LONGEST_MESSAGE

HOME = "~/.lore"
LONGEST_SOCKET_NAME = 100
"""Bytes of a socket's path; systems allow 104 to 108. A longer one is replaced by a port."""

PATIENCE_SECONDS = 30.0
"""Longest time for a daemon to answer a handshake."""
POLL_SECONDS = 2.0
"""Seconds between two checks whether the process of a daemon that does not answer was stopped."""
STOPPED = "T"
"""The state of a process that a signal has stopped, as `ps` and /proc name it."""
RESTART = "`lore daemon restart` puts another in its place"
LOOPBACK = "127.0.0.1"
HTTP_PORT = 8080
"""The usual port of a daemon that serves HTTP."""
LARGEST_PORT = 65_535

Connection = _socket.socket
Reply = tuple[Connection, str, dict[str, str]]
"""A connection, and the word and the fields with which the daemon answered the handshake."""


class Hung(ConnectionError):
    """The daemon runs and does not answer."""


class Endpoint:
    """The folder of a daemon: the data folder, or a folder beside a database that was named explicitly.

    flags: the arguments that make a command use this endpoint. data_dir: the data folder, in any case.
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
        """Remove all files of a daemon that has ended; its pid may belong to another process by then.

        The pid file goes last: where it is gone, the others are.
        """
        for path in (self.socket, self.port, self.status, self.pid):
            try:
                os.unlink(path)
            except FileNotFoundError:
                continue

    def dial(self, request: str, fields: dict[str, str]) -> Reply:
        """Connect to the daemon and send the handshake; OSError if none answers."""
        connection, token = self._connect()
        return self.greet(connection, request, fields | token)

    def greet(self, connection: Connection, request: str, fields: dict[str, str]) -> Reply:
        """Send the handshake and wait for the reply; OSError if none comes, with the connection closed."""
        try:
            connection.sendall(protocol.encode(request, fields))
            word, reply = protocol.decode(self._receive(connection))
            connection.settimeout(None)
        except ValueError as error:
            connection.close()
            raise ConnectionError(str(error)) from error
        except TimeoutError as error:
            connection.close()
            raise Hung(f"Lore's daemon does not answer; {RESTART}") from error
        except OSError:
            connection.close()
            raise
        return connection, word, reply

    def hung(self) -> str:
        """The reason why the daemon cannot answer, if its process was stopped; empty otherwise."""
        try:
            with open(self.pid) as file:
                pid = int(file.read())
            if _process_state(pid) != STOPPED:
                return ""
        except (OSError, ValueError):
            return ""
        return f"Lore's daemon (PID {pid}) was stopped by a signal; {RESTART}"

    def _receive(self, connection: Connection) -> bytes:
        """One message; the daemon sends no more before it gets a request. TimeoutError, or Hung."""
        message = b""
        connection.settimeout(POLL_SECONDS)
        polls = 0
        while not message.endswith(END):
            try:
                chunk = connection.recv(LONGEST_MESSAGE)
            except TimeoutError:
                polls += 1
                if why := self.hung():
                    raise Hung(why) from None
                if polls * POLL_SECONDS >= PATIENCE_SECONDS:
                    raise
                continue
            if not chunk or len(message) > LONGEST_MESSAGE:
                raise ConnectionError("the daemon hung up")
            message += chunk
        return message

    def _connect(self) -> tuple[Connection, dict[str, str]]:
        """A connection, and the token that proves that this user may use a port."""
        address: str | tuple[str, int]
        if self.unix:
            connection, address, token = Connection(_socket.AF_UNIX), self.socket, {}
        else:
            port, secret = self.port_and_token()
            connection, address, token = Connection(_socket.AF_INET), (LOOPBACK, port), {"token": secret}
        connection.settimeout(PATIENCE_SECONDS)
        try:
            connection.connect(address)
        except OSError as error:
            connection.close()
            if why := self.hung():  # its queue of clients is full
                raise Hung(why) from error
            raise
        return connection, token

    def port_and_token(self) -> tuple[int, str]:
        """The port, and the token that a client must send."""
        with open(self.port) as file:
            port, _, secret = file.read().strip().partition(" ")
        if not port.isdecimal() or int(port) > LARGEST_PORT:
            raise ConnectionError(f"{self.port} names no port")
        return int(port), secret


def socket_pair() -> tuple[Connection, Connection]:
    """Two connected sockets; the C module has the function everywhere but on Windows."""
    if hasattr(_socket, "socketpair"):
        return _socket.socketpair()
    pair: tuple[Connection, Connection] = import_module("socket").socketpair()
    return pair


def _process_state(pid: int) -> str:
    """The letter of a process's state."""
    if os.path.isdir("/proc/self"):
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b") ")[2][:1].decode()
    if os.name != "posix":
        return ""
    subprocess = import_module("subprocess")
    done = subprocess.run(["ps", "-o", "state=", "-p", str(pid)], capture_output=True, text=True)
    return str(done.stdout).strip()[:1]


def _absolute(path: str) -> str:
    return os.path.abspath(os.path.expanduser(path))
