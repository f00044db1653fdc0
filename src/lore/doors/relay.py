"""relay: `lore-mcp`, which carries lines between an agent on stdin and stdout and the daemon.

It runs as long as a conversation and there may be many, so it imports next to nothing: `lazy` loads the
modules that are needed only when something goes wrong.
"""

import _thread
import os
import select
import sys

from lore import lazy
from lore.doors.dial import Attempt, Dialer
from lore.doors.endpoint import POLL_SECONDS, Connection, Endpoint, socket_pair
from lore.doors.protocol import LONGEST_LINE, OPENING, Lines
from lore.environment import disabled, folder, session, variables
from lore.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lore.doors.conversation import Conversation
    from lore.doors.early import Early

USAGE = """\
Usage: lore-mcp [OPTIONS]

  Serve an agent over MCP, on stdin and stdout, through Lore's daemon, which is
  started if none runs.

Options:
  --surfaces NAMES   The dialects to offer, comma-separated, or all.
  --namespace NAME   Whose memories: these and the shared ones.
  --db PATH          The database file (default: memory.db in the data folder).
  --data-dir PATH    The folder for data and settings (default: ~/.lore).
  --remote URL       Be served by the Lore server there; while it cannot be
                     reached, by the copy on this machine.
  --standalone       No daemon: serve in this process.
  --version          Print the version.
  -h, --help         Print this.
"""
VALUED = ("--surfaces", "--namespace", "--db", "--data-dir", "--remote")
PLAIN = ("--standalone", "--version", "--help", "-h")
WRONG_USAGE = 2
INTERRUPTED = 130

CHUNK = 1 << 16
PIPE_BYTES = 4096
"""Bytes that a writable pipe accepts without blocking (PIPE_BUF)."""
SHUT_WRITING = 1
CAN_POLL_PIPES = os.name != "nt"
QUIET_SECONDS = 0.05
"""Seconds without traffic after which the lines are parsed; before, they are only carried."""
UNPARSED_BYTES = 1 << 18
"""Bytes of lines that may wait to be parsed."""
LOOK_EVERY_SECONDS = 1.0
"""Seconds between two looks for a daemon that somebody else may have started."""
PROMPT_SECONDS = 0.1
"""A daemon that answers later is slow; an agent that is silent for as long has no more to ask for now."""


class Relay:
    """One conversation of an agent; it outlives any daemon that serves it."""

    def __init__(
        self, endpoint: Endpoint, fields: dict[str, str], stdin: int | Connection = 0, stdout: int = 1
    ) -> None:
        """fields: of the handshake. stdin, stdout: of the agent."""
        self._endpoint = endpoint
        self._fields = fields
        self._dialer = Dialer(endpoint, fields)
        self._stdin = stdin
        self._stdout = stdout
        self._agent_lines = Lines(LONGEST_LINE)
        self._to_agent = bytearray()
        self._to_daemon = bytearray()
        self._unparsed: list[tuple[bool, bytes]] = []  # whole lines: the agent's (True) and the daemon's
        self._parsed: Conversation | None = None
        self._early: Early | None = None  # until the first daemon has answered
        self._agent_gone = False

    def run(self) -> None:
        """Carry until the agent goes."""
        self._stdin = _pollable(self._stdin)
        daemon = self._first_connection()
        while daemon is not None:
            self._carry(daemon)
            daemon.close()
            if self._agent_gone:
                return
            self._conversation().interrupted(self._dialer.repeatable)
            daemon = self._reconnect()
        self._flush()

    # --- carrying
    def _carry(self, daemon: Connection) -> None:
        """Carry whole lines both ways until the daemon hangs up.

        Neither side is waited for: an agent may send many requests before it reads the first answer.
        """
        daemon.setblocking(False)
        split, listens = Lines(), self._send(daemon)  # the agent may have gone while there was no daemon
        while True:
            reading: list[int | Connection] = (
                [daemon, self._stdin] if listens and not self._agent_gone else [daemon]
            )
            writing = [self._stdout] if self._to_agent else []
            ready, free, _ = select.select(
                reading, writing + ([daemon] if self._to_daemon else []), [], self._pause()
            )
            if not (ready or free) and self._gave_up():
                break
            if self._stdin in ready:
                self._to_daemon += self._read_agent()
            if free and self._stdout in free:
                self._write_agent()
            if listens and (daemon in free or self._stdin in ready):
                listens = self._send(daemon)
            if daemon in ready:
                data = _received(daemon)
                if not data:
                    break
                self._pass_on(split.feed(data)[0])
        self._to_daemon.clear()
        daemon.setblocking(True)
        self._flush()

    def _pause(self) -> float | None:
        """Seconds until there is something to do although neither side sends anything."""
        if self._unparsed:
            return QUIET_SECONDS
        return POLL_SECONDS if self._parsed is not None and self._parsed.waiting else None

    def _gave_up(self) -> bool:
        """Whether the daemon was stopped while the agent waits for it; the agent is told the reason."""
        if self._unparsed:
            self._conversation()
        elif why := self._endpoint.hung():
            _fail(why, 1)
            self._conversation().give_up(why, self._dialer.repeatable)
            self._say(self._conversation().outgoing())
            return True
        return False

    def _read_agent(self) -> bytes:
        """The whole lines that have come; at the end also one without an end. Longer ones are refused."""
        data = self._stdin.recv(CHUNK) if isinstance(self._stdin, Connection) else os.read(self._stdin, CHUNK)
        self._agent_gone = not data
        lines, cut = self._agent_lines.feed(data or (b"\n" if self._agent_lines.pending else b""))
        for line in cut:
            self._say(lazy.envelope.refusal(line))
        if lines:
            self._note(True, lines)
        return lines

    def _send(self, daemon: Connection) -> bool:
        """Send as much as the daemon takes now; whether it still listens."""
        try:
            if self._to_daemon:
                del self._to_daemon[: daemon.send(self._to_daemon)]
            if self._agent_gone and not self._to_daemon:
                daemon.shutdown(SHUT_WRITING)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True

    def _pass_on(self, lines: bytes) -> None:
        """Lines of the daemon to the agent, without the messages that are for the relay."""
        if lines:
            self._note(False, lines)
        if OPENING in lines:
            kept = [line for line in lines.splitlines(keepends=True) if not line.startswith(OPENING)]
            lines = b"".join(kept)
        self._say(lines)

    def _say(self, lines: bytes) -> None:
        """Queue lines for the agent."""
        self._to_agent += lines
        if not CAN_POLL_PIPES:
            self._flush()

    def _write_agent(self) -> None:
        del self._to_agent[: os.write(self._stdout, self._to_agent[:PIPE_BYTES])]

    def _flush(self) -> None:
        while self._to_agent:
            self._write_agent()

    def _note(self, from_agent: bool, lines: bytes) -> None:
        self._unparsed.append((from_agent, lines))
        if sum(len(lines) for _, lines in self._unparsed) > UNPARSED_BYTES:
            self._conversation()

    def _conversation(self) -> "Conversation":
        """The conversation so far, with all lines parsed."""
        if self._parsed is None:
            self._parsed = lazy.conversation.Conversation()
        unparsed, self._unparsed = self._unparsed, []
        for from_agent, lines in unparsed:
            self._parsed.follow(from_agent, lines)
        return self._parsed

    # --- connecting
    def _first_connection(self) -> Connection | None:
        """The connection to the first daemon; while that is slow, answer for it. None if the agent goes
        first.

        A daemon that starts takes a whole processor, so the agent's first requests are answered before.
        """
        attempt = Attempt(self._dialer) if os.path.exists(self._endpoint.pid) else None
        if attempt is not None:
            select.select([attempt.ended], [], [], PROMPT_SECONDS)
            if attempt.connection is not None:
                return attempt.connection
        self._early = lazy.early.Early(self._endpoint.data_dir, self._fields)
        while attempt is None and not self._needs_daemon() and self._listen(timeout=PROMPT_SECONDS):
            continue
        return self._reconnect(attempt or Attempt(self._dialer))

    def _needs_daemon(self) -> bool:
        """Whether the agent waits for a daemon, or has gone."""
        return self._agent_gone or self._conversation().waiting

    def _reconnect(self, attempt: Attempt | None = None) -> Connection | None:
        """A connection on which the conversation goes on as before; None if the agent goes first.

        attempt: one that has begun already.
        """
        conversation = self._conversation()
        while attempt is not None or self._wait_for_reason():
            daemon = self._await(attempt or Attempt(self._dialer))
            attempt = None
            if daemon is None:
                continue
            if conversation.restore(daemon):
                self._early = None
                self._say(conversation.outgoing())
                return daemon
            daemon.close()
            conversation.interrupted(self._dialer.repeatable)
        return None

    def _await(self, attempt: Attempt) -> Connection | None:
        """The connection of an attempt; None if the agent goes and waits for nothing, or if the attempt
        fails.

        If it fails, all waiting requests are answered with the reason.
        """
        ready: list[int | Connection] = []
        while attempt.ended not in ready:
            if self._agent_gone and not self._conversation().waiting:
                return None
            ready = self._listen(attempt.ended)
        if attempt.connection is None:
            _fail(attempt.trouble, 1)
            if self._early is not None:
                self._early.trouble = attempt.trouble
            self._conversation().give_up(attempt.trouble)
        return attempt.connection

    def _wait_for_reason(self) -> bool:
        """Wait for a reason to connect; False if the agent goes.

        A reason is a request that only a daemon can answer; or, for an agent that listens for changes, a
        daemon that somebody else has started.
        """
        conversation = self._conversation()
        while True:
            self._say(conversation.outgoing())
            if conversation.waiting or self._agent_gone:
                return conversation.waiting
            listening = conversation.listening
            ready = self._listen(timeout=LOOK_EVERY_SECONDS if listening else None)
            if listening and not ready and os.path.exists(self._endpoint.pid):
                return True

    def _listen(self, *others: Connection, timeout: float | None = None) -> list[int | Connection]:
        """Wait without a daemon for the agent or one of `others`; those that are ready, none after `timeout`
        s.

        Requests of the agent that need no daemon are answered, as long as none has been reached.
        """
        reading: list[int | Connection] = [*others] if self._agent_gone else [*others, self._stdin]
        writing = [self._stdout] if self._to_agent else []
        ready, free, _ = select.select(reading, writing, [], timeout)
        if free:
            self._write_agent()
        if self._stdin in ready and self._read_agent():
            conversation = self._conversation()
            conversation.refuse()
            if self._early is not None:
                conversation.answer_early(self._early)
            self._say(conversation.outgoing())
        return [*ready, *free]


def main() -> int:
    """`lore-mcp`."""
    try:
        options = options_of(sys.argv[1:])
    except ValueError as error:
        return _fail(f"{error}; see lore-mcp --help", WRONG_USAGE)
    if "--help" in options or "-h" in options:
        sys.stdout.write(USAGE)
        return 0
    if "--version" in options:
        sys.stdout.write(f"lore-mcp {VERSION}\n")
        return 0
    if disabled():
        lazy.switched_off.serve()
        return 0
    if "--standalone" in options and "--remote" in options:
        return _fail("--remote needs the daemon; leave --standalone away", WRONG_USAGE)
    if "--standalone" in options:
        before = [part for name in VALUED[1:] if name in options for part in (name, options[name])]
        after = ["--surfaces", options["--surfaces"]] if "--surfaces" in options else []
        sys.argv = ["lore", *before, "mcp", *after]
        lazy.cli.main()
        return 0
    try:
        endpoint = Endpoint(variables(), options.get("--data-dir"), options.get("--db"))
        Relay(endpoint, _fields(options)).run()
    except (KeyboardInterrupt, BrokenPipeError):
        return INTERRUPTED
    return 0


def options_of(arguments: list[str]) -> dict[str, str]:
    """Options by name, read without a library, which would take longer to load; ValueError names a wrong
    one."""
    options: dict[str, str] = {}
    rest = list(arguments)
    while rest:
        name, equals, value = rest.pop(0).partition("=")
        if name in VALUED and not (equals or rest):
            raise ValueError(f"{name} needs a value")
        if name not in (VALUED if equals else VALUED + PLAIN):
            raise ValueError(f"unknown option {name}")
        options[name] = value if equals or name in PLAIN else rest.pop(0)
    return options


def _fields(options: dict[str, str]) -> dict[str, str]:
    """The handshake: who this client is, and its own settings."""
    flags = {
        "LORE_SURFACES": options.get("--surfaces"),
        "LORE_NAMESPACE": options.get("--namespace"),
        "LORE_REMOTE_URL": options.get("--remote"),
    }
    chosen = {name: value for name, value in flags.items() if value is not None}
    us = {"version": VERSION, "folder": folder(), "session": session(), "pid": str(os.getpid())}
    return us | variables() | chosen


def _pollable(stdin: int | Connection) -> int | Connection:
    """A socket that carries all data of stdin, where a pipe cannot be polled together with sockets."""
    if CAN_POLL_PIPES or isinstance(stdin, Connection):
        return stdin
    near, far = socket_pair()
    _thread.start_new_thread(_copy, (stdin, far))
    return near


def _copy(pipe: int, far: Connection) -> None:
    while data := os.read(pipe, CHUNK):
        far.sendall(data)
    far.close()


def _received(daemon: Connection) -> bytes:
    try:
        return daemon.recv(CHUNK)
    except OSError:
        return b""


def _fail(why: str, code: int) -> int:
    sys.stderr.write(f"lore-mcp: {why}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
