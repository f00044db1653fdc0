"""starting: exactly one daemon, however many ask for it at once; and its end, on request."""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

from lore.doors.endpoint import Endpoint, Hung
from lore.doors.locking import held, holding
from lore.environment import for_resident, variables
from lore.errors import Unavailable
from lore.version import VERSION

START_SECONDS = 60.0
STOP_SECONDS = 30.0
KILL_SECONDS = 5.0
LOOK_EVERY_SECONDS = 0.02
TOLD_LINES = 5
"""How much of the log a failure to start quotes."""
LEVELS = ("INFO", "WARNING", "ERROR", "CRITICAL")
KILLED = 9
GO_ON = (signal.SIGCONT,) if hasattr(signal, "SIGCONT") else ()
"""Has a stopped process go on, so that it can end."""
CHILDREN: "list[subprocess.Popen[bytes]]" = []
"""The daemons that this process has started: when one has died, its parent has to take notice."""
RESIDENT = (
    *("LORE_EMBEDDING_MODEL", "LORE_VECTOR_STORE", "LORE_IDLE_MINUTES"),
    *("LORE_INGEST_SOURCES", "LORE_INGEST_PAUSED", "LORE_INGEST_POLL_SECONDS"),
    *("LORE_CONSOLIDATION_INTERVAL", "LORE_IDLE_SESSIONS", "LORE_IDLE_THRESHOLD"),
    *("LORE_MAX_TURNS_PER_EXTRACTION", "LORE_MAX_CHARS_PER_EXTRACTION"),
    *("LORE_MERGE_THRESHOLD", "LORE_SIMILARITY_THRESHOLD"),
    *("LORE_EDGE_DECAY_DAYS", "LORE_PRUNE", "LORE_PRUNE_AGE_DAYS", "LORE_MIN_RELEVANCE_PRUNE"),
    *("LORE_LLM_BACKEND", "LORE_LLM_BASE_URL", "LORE_API_KEY_ENV", "LORE_LLM_COMMAND"),
    *("LORE_EXTRACTION_MODEL", "LORE_COMPRESSION_MODEL", "LORE_LLM_TIMEOUT_SECS"),
    *("LORE_LLM_MAX_CONCURRENCY", "LORE_LLM_DAILY_TOKENS", "LORE_LLM_DAILY_DOLLARS"),
)
"""The variables that are a daemon's own; all others belong to a client and come with its hello."""


def start(endpoint: Endpoint) -> bool:
    """See to it that a daemon answers; whether it was us who started it. Unavailable says why it cannot."""
    with holding(endpoint.starting, START_SECONDS):
        return _started(endpoint)


def renew(endpoint: Endpoint) -> None:
    """Put a daemon of this version in the place of an older one, which finishes what it has begun."""
    with holding(endpoint.starting, START_SECONDS + STOP_SECONDS):
        told = asked(endpoint)
        if told is not None and is_older(told["version"]):
            stop(endpoint)
        _started(endpoint)


def restart(endpoint: Endpoint) -> bool:
    """Put another daemon in the place of the one that runs, if one does; whether one did."""
    with holding(endpoint.starting, START_SECONDS + STOP_SECONDS):
        stopped = stop(endpoint)
        _started(endpoint)
    return stopped


def stop(endpoint: Endpoint) -> bool:
    """Ask the daemon to finish what it has begun and end, and wait for that; whether there was one.

    One that has not ended after STOP_SECONDS hangs, and is killed: what it has acknowledged is on disk.
    """
    if not held(endpoint.lock):
        return False
    until = time.monotonic() + STOP_SECONDS
    told = _told_to_stop(endpoint)
    killed = False
    while held(endpoint.lock):
        if told is not None and _written_pid(endpoint) not in (told, None):
            break  # that is another one, begun meanwhile by somebody who needs it
        if time.monotonic() > until and told is not None and not killed:
            killed, until = _killed(told), until + KILL_SECONDS
        if time.monotonic() > until:
            raise Unavailable(f"the daemon did not end within {STOP_SECONDS:.0f} s; see {endpoint.log}")
        time.sleep(LOOK_EVERY_SECONDS)
        told = told or _told_to_stop(endpoint)
    return True


def await_answer(endpoint: Endpoint) -> dict[str, str]:
    """What a daemon says of itself that somebody else has just started."""
    until = time.monotonic() + START_SECONDS
    while (told := asked(endpoint)) is None:
        if time.monotonic() > until:
            raise Unavailable(f"the daemon did not answer within {START_SECONDS:.0f} s; see {endpoint.log}")
        time.sleep(LOOK_EVERY_SECONDS)
    return told


def asked(endpoint: Endpoint, want: str = "ping") -> dict[str, str] | None:
    """What the daemon says of itself (version, pid); None if there is none. Unavailable if it hangs."""
    try:
        line, _, told = endpoint.dial(want, {"version": VERSION})
    except Hung as error:
        raise Unavailable(str(error)) from error
    except OSError:
        return None
    line.close()
    return told


def is_older(version: str) -> bool:
    """Than this Lore."""
    return _numbers(version) < _numbers(VERSION)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


def _told_to_stop(endpoint: Endpoint) -> int | None:
    """Its pid. None: it cannot be told yet, because it only begins."""
    try:
        if (told := asked(endpoint, "stop")) is not None:
            return int(told["pid"])
    except Unavailable:
        return _signalled(endpoint, GO_ON)
    return _signalled(endpoint, ())


def _killed(pid: int) -> bool:
    with suppress(OSError):
        os.kill(pid, KILLED)
    return True


def _signalled(endpoint: Endpoint, more: "tuple[int, ...]") -> int | None:
    """The pid of the process that holds the place, having told it by signals to end."""
    pid = _written_pid(endpoint)
    try:
        if pid is not None:
            for signum in (signal.SIGTERM, *more):  # it runs, but is too busy to listen, or was stopped
                os.kill(pid, signum)
    except OSError:
        return None
    return pid


def _written_pid(endpoint: Endpoint) -> int | None:
    """Of the daemon that holds the place; None while it begins or ends."""
    try:
        with open(endpoint.pid) as file:
            return int(file.read())
    except (OSError, ValueError):
        return None


def _started(endpoint: Endpoint) -> bool:
    if asked(endpoint) is not None:
        return False
    said_before = os.path.getsize(endpoint.log) if os.path.exists(endpoint.log) else 0
    process = spawned(endpoint)
    until = time.monotonic() + START_SECONDS
    while (told := asked(endpoint)) is None:
        if _ended_by_others(process):  # while it began, but it is still wanted
            process = spawned(endpoint)
        elif process.poll() is not None:
            raise Unavailable(f"the daemon did not start: {last_words(endpoint, said_before)}")
        if time.monotonic() > until:
            raise Unavailable(f"the daemon did not answer within {START_SECONDS:.0f} s; see {endpoint.log}")
        time.sleep(LOOK_EVERY_SECONDS)
    if os.name != "nt" and told["pid"] != str(process.pid):  # somebody was faster: ours still waits its turn
        process.terminate()
        return False
    return True


def _ended_by_others(process: "subprocess.Popen[bytes]") -> bool:
    """Told to stop, or killed."""
    code = process.poll()
    return code == 0 or code in (-signal.SIGTERM, -KILLED)


def spawned(endpoint: Endpoint) -> "subprocess.Popen[bytes]":
    """A daemon that outlives this process and its terminal; what it says goes to its log."""
    CHILDREN[:] = [child for child in CHILDREN if child.poll() is None]
    os.makedirs(endpoint.home, mode=0o700, exist_ok=True)
    log = os.open(endpoint.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "lore.doors.cli", *endpoint.flags, "daemon", "run", "--quietly"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=endpoint.home,
            env=for_resident((*RESIDENT, *_keys())),
            start_new_session=True,
        )
    finally:
        os.close(log)
    CHILDREN.append(process)
    return process


def _keys() -> list[str]:
    """The variables that hold somebody's key, should it be called as if it were a setting."""
    return [name for name in variables() if name.endswith("_KEY")]


def last_words(endpoint: Endpoint, since: int) -> str:
    """The end of the log, of what was said after its first `since` bytes; a new log is shorter."""
    with open(endpoint.log, "rb") as log:
        log.seek(since if since <= os.path.getsize(endpoint.log) else 0)
        lines = log.read().decode("utf-8", "replace").splitlines()
    told = [_message(line) for line in lines if line.strip()]
    return " / ".join(told[-TOLD_LINES:]) or "it said nothing"


def _message(line: str) -> str:
    """A line of the log without its time and level."""
    _, _, rest = line.partition(" ")
    level, _, message = rest.partition(" ")
    return message if level in LEVELS else line.strip()
