"""starting: start exactly one daemon, however many clients need it at once, and stop it on request."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

from lore.doors.endpoint import Endpoint, Hung, Reply, socket_pair
from lore.environment import child_environment, folder, variables
from lore.errors import Unavailable
from lore.filelock import holding, is_held
from lore.version import VERSION

START_SECONDS = 60.0
STOP_SECONDS = 30.0
KILL_SECONDS = 5.0
POLL_SECONDS = 0.02
QUOTED_LINES = 5
"""Lines of the log that a failure to start quotes."""
LEVELS = ("INFO", "WARNING", "ERROR", "CRITICAL")
KILLED = 9
GO_ON = (signal.SIGCONT,) if hasattr(signal, "SIGCONT") else ()
"""Has a stopped process go on, so that it can end."""
CHILDREN: "list[subprocess.Popen[bytes]]" = []
"""The daemons that this process has started: a parent has to notice the end of its children."""
PROBE_BYTES = 1 << 16
"""Bytes that a daemon needs at least for its files and for the index of the store."""


def start(endpoint: Endpoint, *options: str) -> bool:
    """Have a daemon answer; whether this call started it. Unavailable says why it cannot start.

    options: of `lore daemon run`, for a daemon that this call starts.
    """
    with holding(endpoint.starting, START_SECONDS):
        return _start(endpoint, *options)


def start_soon(endpoint: Endpoint) -> None:
    """Have a process of its own call `start`; this one does not wait. Nothing happens while another process
    starts a daemon, or where none can run."""
    if is_held(endpoint.starting) or not is_writable(endpoint):
        return
    subprocess.Popen(
        [sys.executable, "-P", "-m", __name__],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def renew(endpoint: Endpoint) -> None:
    """Replace a daemon of an older version, which finishes the requests that have begun."""
    with holding(endpoint.starting, START_SECONDS + STOP_SECONDS):
        reply = ping(endpoint)
        if reply is not None and is_older(reply["version"]):
            stop(endpoint)
        _start(endpoint)


def restart(endpoint: Endpoint, *options: str) -> bool:
    """Replace the daemon; whether one was running. options: see `start`."""
    with holding(endpoint.starting, START_SECONDS + STOP_SECONDS):
        stopped = stop(endpoint)
        _start(endpoint, *options)
    return stopped


def stop(endpoint: Endpoint) -> bool:
    """Have the daemon finish what has begun and end, and wait for that; whether one was running.

    One that has not ended after STOP_SECONDS hangs, and is killed: what it has acknowledged is on disk.
    """
    if not is_held(endpoint.lock):
        return False
    until = time.monotonic() + STOP_SECONDS
    pid = _request_stop(endpoint)
    killed = False
    while is_held(endpoint.lock):
        if pid is not None and _written_pid(endpoint) not in (pid, None):
            break  # that is another daemon, which somebody started because they need it
        if time.monotonic() > until and pid is not None and not killed:
            with suppress(OSError):
                os.kill(pid, KILLED)
            killed, until = True, until + KILL_SECONDS
        if time.monotonic() > until:
            raise Unavailable(f"the daemon did not end within {STOP_SECONDS:.0f} s; see {endpoint.log}")
        time.sleep(POLL_SECONDS)
        pid = pid or _request_stop(endpoint)
    return True


def await_answer(endpoint: Endpoint) -> dict[str, str]:
    """The reply (version, pid) of a daemon that another program has just started."""
    until = time.monotonic() + START_SECONDS
    while (reply := ping(endpoint)) is None:
        if time.monotonic() > until:
            raise Unavailable(f"the daemon did not answer within {START_SECONDS:.0f} s; see {endpoint.log}")
        time.sleep(POLL_SECONDS)
    return reply


def ping(endpoint: Endpoint, request: str = "ping") -> dict[str, str] | None:
    """The reply (version, pid) of the daemon; None if there is none. Unavailable if it hangs."""
    try:
        connection, _, reply = endpoint.dial(request, {"version": VERSION})
    except Hung as error:
        raise Unavailable(str(error)) from error
    except OSError:
        return None
    connection.close()
    return reply


def is_older(version: str) -> bool:
    """Whether this version is older than this Lore."""
    return _numbers(version) < _numbers(VERSION)


def command(endpoint: Endpoint) -> list[str]:
    """The command that is a daemon of this endpoint, in the foreground."""
    return [sys.executable, "-P", "-m", "lore.doors.cli", *endpoint.flags, "daemon", "run"]


def spawn(endpoint: Endpoint, *options: str) -> "subprocess.Popen[bytes]":
    """Start a daemon that outlives this process and its terminal, and writes to its log only."""
    CHILDREN[:] = [child for child in CHILDREN if child.poll() is None]
    os.makedirs(endpoint.home, mode=0o700, exist_ok=True)
    log = os.open(endpoint.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        process = subprocess.Popen(
            [*command(endpoint), "--quietly", "--on-demand", *options],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=endpoint.home,
            env=child_environment(settings=True),
            start_new_session=True,
        )
    finally:
        os.close(log)
    CHILDREN.append(process)
    return process


# --- without a daemon
def is_writable(endpoint: Endpoint) -> bool:
    """Whether a daemon can write its files: the disk is neither full nor read-only."""
    probe = os.path.join(endpoint.home, f"daemon.probe.{os.getpid()}")
    try:
        os.makedirs(endpoint.home, mode=0o700, exist_ok=True)
        file = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            return os.write(file, bytes(PROBE_BYTES)) == PROBE_BYTES
        finally:
            os.close(file)
    except OSError:
        return os.name != "posix"
    finally:
        with suppress(OSError):
            os.unlink(probe)


def serve_alone(endpoint: Endpoint, request: str, fields: dict[str, str]) -> Reply:
    """Connect to a new server that has this client only, uses no file of a daemon and ends with the
    connection."""
    ours, theirs = socket_pair()
    try:
        subprocess.Popen(
            [*command(endpoint), "--alone", str(theirs.fileno())],
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
    return endpoint.greet(ours, request, fields)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def _request_stop(endpoint: Endpoint) -> int | None:
    """Ask the daemon to stop, by a signal if it does not listen; its pid. None: it has only just begun."""
    more: tuple[int, ...] = ()
    try:
        if (reply := ping(endpoint, "stop")) is not None:
            return int(reply["pid"])
    except Unavailable:
        more = GO_ON
    pid = _written_pid(endpoint)
    try:
        if pid is not None:
            for signum in (signal.SIGTERM, *more):
                os.kill(pid, signum)
    except OSError:
        return None
    return pid


def _written_pid(endpoint: Endpoint) -> int | None:
    """The pid in the daemon's file; None while a daemon starts or ends."""
    try:
        with open(endpoint.pid) as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def _start(endpoint: Endpoint, *options: str) -> bool:
    if ping(endpoint) is not None:
        return False
    log_bytes = os.path.getsize(endpoint.log) if os.path.exists(endpoint.log) else 0
    process = spawn(endpoint, *options)
    until = time.monotonic() + START_SECONDS
    while (reply := ping(endpoint)) is None:
        if process.poll() in (0, -signal.SIGTERM, -KILLED):  # others ended it, but it is still needed
            process = spawn(endpoint, *options)
        elif process.poll() is not None:
            raise Unavailable(f"the daemon did not start: {_end_of_log(endpoint, log_bytes)}")
        if time.monotonic() > until:
            raise Unavailable(f"the daemon did not answer within {START_SECONDS:.0f} s; see {endpoint.log}")
        time.sleep(POLL_SECONDS)
    if os.name != "nt" and reply["pid"] != str(
        process.pid
    ):  # another one was faster: ours waits for the lock
        process.terminate()
        return False
    return True


def _end_of_log(endpoint: Endpoint, since: int) -> str:
    """The last messages of the log behind its first `since` bytes; a log that was begun again is shorter."""
    with open(endpoint.log, "rb") as log:
        log.seek(since if since <= os.path.getsize(endpoint.log) else 0)
        lines = log.read().decode("utf-8", "replace").splitlines()
    messages = [_message(line) for line in lines if line.strip()]
    return " / ".join(messages[-QUOTED_LINES:]) or "it said nothing"


def _message(line: str) -> str:
    """A line of the log without its time and level."""
    _, _, rest = line.partition(" ")
    level, _, message = rest.partition(" ")
    return message if level in LEVELS else line.strip()


if __name__ == "__main__":
    start(Endpoint(variables()))
