"""relay: `lore-mcp`, which carries the lines between an agent on stdio and the daemon.

It lives as long as a conversation and there may be many, so it loads next to nothing: what is only needed
when something goes wrong is loaded by name.
"""

import os
import select
import sys
from importlib import import_module

from lore.doors.arguments import USAGE, VALUED, options_of
from lore.doors.attempt import Attempt, Trouble
from lore.doors.endpoint import GLANCE_SECONDS, Connection, Endpoint, Hung
from lore.doors.framing import LONGEST_LINE, Lines
from lore.doors.handshake import OPENING
from lore.environment import folder, session, variables
from lore.version import VERSION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lore.doors.conversation import Conversation
    from lore.doors.early import Early

WRONG_USAGE = 2
INTERRUPTED = 130

CHUNK = 1 << 16
SURE = 4096
"""How much a pipe takes at least that is said to take something."""
SHUT_WRITING = 1
CAN_WAIT_FOR_PIPES = os.name != "nt"
QUIET_SECONDS = 0.05
"""After so long without traffic the lines are looked at; before, they are only carried."""
UNREAD_BYTES = 1 << 18
"""What may wait to be looked at."""
TRIES = 5
"""How many daemons may end before one has answered."""
LOOK_EVERY_SECONDS = 1.0
"""How often a daemon is looked for that somebody else may have started."""
PROMPT_SECONDS = 0.1
"""A daemon that answers later is slow; an agent that is silent for so long has no more to ask for now."""


class Relay:
    """One conversation. stdin, stdout: of the agent. It outlives any daemon that serves it."""

    def __init__(
        self, endpoint: Endpoint, fields: dict[str, str], stdin: int | Connection = 0, stdout: int = 1
    ) -> None:
        self._endpoint = endpoint
        self._fields = fields
        self._stdin = stdin
        self._stdout = stdout
        self._split = Lines(LONGEST_LINE)  # of the agent
        self._to_agent = bytearray()
        self._to_daemon = bytearray()
        self._unread: list[tuple[bool, bytes]] = []  # whole lines: the agent's (True) and the daemon's
        self._remembered: Conversation | None = None
        self._early: Early | None = None  # until the first daemon has answered
        self._agent_gone = False
        self._repeatable = ""

    def run(self) -> None:
        """Until the agent goes."""
        self._stdin = _waitable(self._stdin)
        line = self._first_line()
        while line is not None:
            self._carry(line)
            line.close()
            if self._agent_gone:
                return
            self._conversation().interrupted(self._repeatable)
            line = self._connected()
        self._flush()

    # --- carrying
    def _carry(self, line: Connection) -> None:
        """Both ways, whole lines only, until the daemon hangs up.

        Neither side is waited for: an agent may ask a great deal before it reads the first answer.
        """
        line.setblocking(False)
        split, listens = Lines(), self._sent(line)  # the agent may have gone while there was no line
        while True:
            reading: list[int | Connection] = (
                [line, self._stdin] if listens and not self._agent_gone else [line]
            )
            writing = [self._stdout] if self._to_agent else []
            ready, free, _ = select.select(
                reading, writing + ([line] if self._to_daemon else []), [], self._pause()
            )
            if not (ready or free) and self._given_up():
                break
            if self._stdin in ready:
                self._to_daemon += self._from_agent()
            if free and self._stdout in free:
                self._pass_on()
            if listens and (line in free or self._stdin in ready):
                listens = self._sent(line)
            if line in ready:
                data = _received(line)
                if not data:
                    break
                self._tell(split.feed(data)[0])
        self._to_daemon.clear()
        line.setblocking(True)
        self._flush()

    def _pause(self) -> float | None:
        """Seconds until something is to be done although nobody says anything."""
        if self._unread:
            return QUIET_SECONDS
        return GLANCE_SECONDS if self._remembered is not None and self._remembered.waiting else None

    def _given_up(self) -> bool:
        """Whether the daemon was stopped while the agent waits for it; then the agent is told."""
        if self._unread:
            self._conversation()
        elif why := self._endpoint.hung():
            _failed(why, 1)
            self._conversation().give_up(why, self._repeatable)
            self._say(self._conversation().news())
            return True
        return False

    def _from_agent(self) -> bytes:
        """The whole lines that have come; at the end also one that was not ended. Longer ones are refused."""
        data = self._stdin.recv(CHUNK) if isinstance(self._stdin, Connection) else os.read(self._stdin, CHUNK)
        self._agent_gone = not data
        lines, cut = self._split.feed(data or (b"\n" if self._split.pending else b""))
        for line in cut:
            self._say(import_module("lore.doors.envelope").refusal(line))
        if lines:
            self._note(True, lines)
        return lines

    def _sent(self, line: Connection) -> bool:
        """As much as the daemon takes now; whether it still listens."""
        try:
            if self._to_daemon:
                del self._to_daemon[: line.send(self._to_daemon)]
            if self._agent_gone and not self._to_daemon:
                line.shutdown(SHUT_WRITING)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True

    def _tell(self, lines: bytes) -> None:
        """The agent: all but what the daemon says to us alone."""
        if lines:
            self._note(False, lines)
        if OPENING in lines:
            kept = [line for line in lines.splitlines(keepends=True) if not line.startswith(OPENING)]
            lines = b"".join(kept)
        self._say(lines)

    def _say(self, lines: bytes) -> None:
        """To the agent, as soon as it takes them."""
        self._to_agent += lines
        if not CAN_WAIT_FOR_PIPES:
            self._flush()

    def _pass_on(self) -> None:
        """As much as a pipe surely takes that takes anything."""
        del self._to_agent[: os.write(self._stdout, self._to_agent[:SURE])]

    def _flush(self) -> None:
        while self._to_agent:
            self._pass_on()

    def _note(self, from_agent: bool, lines: bytes) -> None:
        self._unread.append((from_agent, lines))
        if sum(len(lines) for _, lines in self._unread) > UNREAD_BYTES:
            self._conversation()

    def _conversation(self) -> "Conversation":
        """What was said so far, understood."""
        if self._remembered is None:
            self._remembered = import_module("lore.doors.conversation").Conversation()
        unread, self._unread = self._unread, []
        for from_agent, lines in unread:
            self._remembered.follow(from_agent, lines)
        return self._remembered

    # --- connecting
    def _first_line(self) -> Connection | None:
        """The line to the first daemon; while that is slow, answer for it. None if the agent goes first.

        The start of a daemon takes all of a processor, so the agent's first requests are answered before it.
        """
        attempt = Attempt(self._dialled) if os.path.exists(self._endpoint.pid) else None
        if attempt is not None:
            select.select([attempt.ended], [], [], PROMPT_SECONDS)
            if attempt.line is not None:
                return attempt.line
        self._early = import_module("lore.doors.early").Early(self._endpoint.data_dir, self._fields)
        while attempt is None and not self._settled() and self._heard(timeout=PROMPT_SECONDS):
            continue
        return self._connected(attempt or Attempt(self._dialled))

    def _settled(self) -> bool:
        """Whether the agent waits for a daemon, or has gone."""
        return self._agent_gone or self._conversation().waiting

    def _dialled(self) -> Connection:
        """A line to a daemon of our version or a newer one; it is started if there is none."""
        line, word, told = self._answered()
        if word == "welcome" and told["version"] != VERSION:
            starting = import_module("lore.doors.starting")
            if starting.is_older(told["version"]):
                line.close()
                self._helped(starting.renew)
                line, word, told = self._answered()
        if word != "welcome":
            line.close()
            raise Trouble(told.get("error", word))
        self._repeatable = told["repeatable"]
        for warning in told.get("warnings", "").splitlines():
            sys.stderr.write(f"lore-mcp: {warning}\n")
        return line

    def _answered(self) -> tuple[Connection, str, dict[str, str]]:
        """Of the daemon that runs, or of one that is started; again, if that one ends before it answers."""
        for _ in range(TRIES):
            try:
                return self._endpoint.dial("mcp", self._fields)
            except Hung as error:
                raise Trouble(str(error)) from error
            except OSError:
                if (served := self._alone()) is not None:
                    return served
                self._helped(import_module("lore.doors.starting").start)
        raise Trouble("the daemon ends as soon as it has begun; see `lore daemon logs`")

    def _alone(self) -> tuple[Connection, str, dict[str, str]] | None:
        """Of a server of our own, where no daemon can run because nothing can be written; else None."""
        alone = import_module("lore.doors.alone")
        if not alone.is_needed(self._endpoint):
            return None
        try:
            answer: tuple[Connection, str, dict[str, str]] = alone.Alone(self._endpoint).dial(
                "mcp", self._fields
            )
        except OSError:
            return None
        return answer

    def _helped(self, help: object) -> None:
        trouble = import_module("lore.errors").LoreError
        try:
            help(self._endpoint)  # type: ignore[operator]
        except (trouble, OSError) as error:
            raise Trouble(str(error)) from error

    def _connected(self, attempt: Attempt | None = None) -> Connection | None:
        """A line on which the conversation goes on as before; None if the agent goes first.

        attempt: one that was begun already.
        """
        conversation = self._conversation()
        while attempt is not None or self._roused():
            line = self._awaited(attempt or Attempt(self._dialled))
            attempt = None
            if line is None:
                continue
            if conversation.restored(line):
                self._early = None
                self._say(conversation.news())
                return line
            line.close()
            conversation.interrupted(self._repeatable)
        return None

    def _awaited(self, attempt: Attempt) -> Connection | None:
        """The line of an attempt; None if the agent goes and waits for nothing, or if the attempt fails.

        Then all who wait are told the reason.
        """
        heard: list[int | Connection] = []
        while attempt.ended not in heard:
            if self._agent_gone and not self._conversation().waiting:
                return None
            heard = self._heard(attempt.ended)
        if attempt.line is None:
            _failed(attempt.trouble, 1)
            if self._early is not None:
                self._early.trouble = attempt.trouble
            self._conversation().give_up(attempt.trouble)
        return attempt.line

    def _roused(self) -> bool:
        """Wait for a reason to connect; False if the agent goes.

        That is a request that only a daemon can answer; or, for an agent that listens, a daemon that somebody
        has started.
        """
        conversation = self._conversation()
        while True:
            self._say(conversation.news())
            if conversation.waiting or self._agent_gone:
                return conversation.waiting
            listening = conversation.listening
            heard = self._heard(timeout=LOOK_EVERY_SECONDS if listening else None)
            if listening and not heard and os.path.exists(self._endpoint.pid):
                return True

    def _heard(self, *others: Connection, timeout: float | None = None) -> list[int | Connection]:
        """Wait without a daemon for the agent or one of `others`; those that are ready, none after `timeout`.

        Requests of the agent that need no daemon are answered, as long as none has been reached.
        """
        reading: list[int | Connection] = [*others] if self._agent_gone else [*others, self._stdin]
        writing = [self._stdout] if self._to_agent else []
        ready, free, _ = select.select(reading, writing, [], timeout)
        if free:
            self._pass_on()
        if self._stdin in ready and self._from_agent():
            conversation = self._conversation()
            conversation.refuse()
            if self._early is not None:
                conversation.answer_early(self._early)
            self._say(conversation.news())
        return [*ready, *free]


def _received(line: Connection) -> bytes:
    try:
        return line.recv(CHUNK)
    except OSError:
        return b""


def main() -> int:
    """`lore-mcp`."""
    try:
        options = options_of(sys.argv[1:])
    except Trouble as trouble:
        return _failed(f"{trouble}; see lore-mcp --help", WRONG_USAGE)
    if "--help" in options or "-h" in options:
        sys.stdout.write(USAGE)
        return 0
    if "--version" in options:
        sys.stdout.write(f"lore-mcp {VERSION}\n")
        return 0
    if "--standalone" in options:
        return _stand_alone(options)
    try:
        Relay(_endpoint(options), _fields(options)).run()
    except (KeyboardInterrupt, BrokenPipeError):
        return INTERRUPTED
    return 0


def _endpoint(options: dict[str, str]) -> Endpoint:
    return Endpoint(variables(), options.get("--data-dir"), options.get("--db"))


def _fields(options: dict[str, str]) -> dict[str, str]:
    """Who we are, and the settings that are ours alone."""
    flags = {"LORE_SURFACES": options.get("--surfaces"), "LORE_NAMESPACE": options.get("--namespace")}
    told = {name: value for name, value in flags.items() if value is not None}
    us = {"version": VERSION, "folder": folder(), "session": session(), "pid": str(os.getpid())}
    return us | variables() | told


def _stand_alone(options: dict[str, str]) -> int:
    before = [part for name in VALUED[1:] if name in options for part in (name, options[name])]
    after = ["--surfaces", options["--surfaces"]] if "--surfaces" in options else []
    sys.argv = ["lore", *before, "mcp", *after]
    import_module("lore.doors.cli").main()
    return 0


def _waitable(stdin: int | Connection) -> int | Connection:
    """Where a pipe cannot be waited for together with a socket, a socket stands in for it."""
    if CAN_WAIT_FOR_PIPES or isinstance(stdin, Connection):
        return stdin
    stand_in: Connection = import_module("lore.doors.stdin_socket").as_socket(stdin)
    return stand_in


def _failed(why: str, code: int) -> int:
    sys.stderr.write(f"lore-mcp: {why}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
