"""service: have systemd or launchd run the daemon: the unit file, and the commands of the manager."""

import os
import plistlib
import re
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from shutil import which

from lore.config import of_daemon
from lore.doors.daemon_status import read_status
from lore.doors.endpoint import Endpoint
from lore.doors.starting import await_answer, command, stop
from lore.durable import write_whole
from lore.environment import FRUGAL, config_home, variables
from lore.errors import Unavailable

UNIT = "lore.service"
LABEL = "com.lore.daemon"
PATIENCE_SECONDS = 60.0

Command = Sequence[str]

SYSTEMD = """\
# Written by `lore daemon install`; `lore daemon uninstall` removes it.
[Unit]
Description=Lore, long-term memory for AI agents
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=simple
ExecStart=:{command}
{environment}
Restart=on-failure
RestartSec=5
TimeoutStopSec=30
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
"""
"""The colon before the command: systemd replaces no variables in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manager:
    """A program that runs services for a user, and its commands.

    unit: content of the file `path`. probe: succeeds if the manager answers, and makes it read the unit.
    running: succeeds if it runs the service. enable: from the next login on. start: now; `before_start` comes
    first where the service runs. end: stop and disable. by_hand: commands for a person to type. links: files
    that the manager itself puts beside the unit.
    """

    path: str
    unit: bytes
    probe: Command
    running: Command
    enable: Command
    start: Command
    end: Command
    before_start: Sequence[Command] = ()
    by_hand: Sequence[Command]
    links: Sequence[str] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """The result of `install`. left: commands that a person has to type, because of `why`."""

    unit: str
    changed: bool
    enabled: bool = True
    started: bool = False
    pid: int | None = None
    left: Sequence[str] = ()
    why: str = ""


def manager_of(system: str, endpoint: Endpoint) -> Manager:
    """The manager of a system, by its name in `sys.platform`."""
    if system not in MANAGERS:
        raise Unavailable(
            f"there are services for {' and '.join(MANAGERS)}, not for {system};"
            " have your system run `lore daemon start` when you log in"
        )
    return MANAGERS[system](endpoint)


def install(manager: Manager, endpoint: Endpoint, *, start: bool) -> Installed:
    """Write the unit and, if the manager answers, have the daemon run from it."""
    changed = _write_unit(manager)
    if (trouble := _failure(manager.probe)) is not None:
        left = [shlex.join(words) for words in manager.by_hand]
        if read_status(endpoint)["running"]:
            left = [shlex.join(["lore", *endpoint.flags, "daemon", "stop"]), *left]
        return Installed(unit=manager.path, changed=changed, enabled=False, left=left, why=trouble)
    ours = start and _failure(manager.running) is None
    pid = read_status(endpoint)["pid"] if ours and not changed else None
    if pid or not start:
        _run(manager.enable)
        return Installed(unit=manager.path, changed=changed, pid=pid)
    stop(endpoint)
    _run(*(manager.before_start if ours else ()), manager.enable, manager.start)
    return Installed(unit=manager.path, changed=changed, started=True, pid=int(await_answer(endpoint)["pid"]))


def uninstall(manager: Manager) -> bool:
    """Stop the service and remove the unit; whether there was one."""
    if not os.path.exists(manager.path):
        return False
    answers = _failure(manager.probe) is None
    if answers and _failure(manager.running) is None:
        _run(manager.end)
    for path in (manager.path, *filter(os.path.lexists, manager.links)):
        try:
            os.unlink(path)
        except OSError as error:
            raise Unavailable(f"{path} cannot be removed: {error.strerror}") from error
    if answers:
        _run(manager.probe)
    return True


# --- the managers
def systemd(endpoint: Endpoint) -> Manager:
    """The manager of a user on Linux, from the first login to the last logout."""
    folder = os.path.join(config_home(), "systemd", "user")
    user = ["systemctl", "--user"]
    environment = [f"Environment={_quoted(f'{name}={value}')}" for name, value in _environment().items()]
    unit = SYSTEMD.format(
        command=" ".join(map(_quoted, command(endpoint))), environment="\n".join(environment)
    )
    return Manager(
        path=os.path.join(folder, UNIT),
        unit=unit.encode(),
        probe=[*user, "daemon-reload"],
        running=[*user, "is-active", "--quiet", UNIT],
        enable=[*user, "enable", "--quiet", UNIT],
        start=[*user, "restart", UNIT],
        end=[*user, "disable", "--quiet", "--now", UNIT],
        by_hand=[[*user, "daemon-reload"], [*user, "enable", "--now", UNIT]],
        links=[os.path.join(folder, "default.target.wants", UNIT)],
        hint="It ends when you log out, unless `loginctl enable-linger` lets it go on.",
    )


def launchd(endpoint: Endpoint) -> Manager:
    """The manager of a user on macOS. It keeps no journal, so the daemon writes to its log only."""
    domain = f"gui/{os.getuid()}"
    path = os.path.expanduser(f"~/Library/LaunchAgents/{LABEL}.plist")
    unit = {
        "Label": LABEL,
        "ProgramArguments": [*command(endpoint), "--quietly"],
        "EnvironmentVariables": _environment(),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 5,
        "ProcessType": "Background",
        "Umask": 0o077,
    }
    enable, end = [["launchctl", action, f"{domain}/{LABEL}"] for action in ("enable", "bootout")]
    start = ["launchctl", "bootstrap", domain, path]
    return Manager(
        path=path,
        unit=plistlib.dumps(unit),
        probe=["launchctl", "print", domain],
        running=["launchctl", "print", f"{domain}/{LABEL}"],
        enable=enable,
        start=start,
        end=end,
        before_start=[end],
        by_hand=[enable, start],
    )


MANAGERS: dict[str, Callable[[Endpoint], Manager]] = {"linux": systemd, "darwin": launchd}


def _environment() -> Mapping[str, str]:
    return FRUGAL | of_daemon(variables())


def _quoted(word: str) -> str:
    """One word of a unit, with the escapes of systemd."""
    word = word.replace("%", "%%")
    if re.fullmatch(r"[\w%+,./:=@-]+", word, re.ASCII):
        return word
    escaped = re.sub(r'[\\"]', r"\\\g<0>", word)
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\x{ord(found[0]):02x}", escaped) + '"'


def _write_unit(manager: Manager) -> bool:
    """Write the unit; whether the file had another content."""
    try:
        if os.path.exists(manager.path):
            with open(manager.path, "rb") as file:
                if file.read() == manager.unit:
                    return False
        os.makedirs(os.path.dirname(manager.path), exist_ok=True)
        write_whole(manager.path, manager.unit.decode())
    except OSError as error:
        raise Unavailable(f"{manager.path} cannot be written: {error.strerror}") from error
    return True


def _run(*commands: Command) -> None:
    for words in commands:
        if (trouble := _failure(words)) is not None:
            raise Unavailable(f"`{shlex.join(words)}` failed: {trouble}")


def _failure(words: Command) -> str | None:
    """Run a command; the reason why it failed, None if it did not."""
    if which(words[0]) is None:
        return f"there is no {words[0]} here"
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {PATIENCE_SECONDS:.0f} s"
    return None if done.returncode == 0 else " ".join(done.stderr.split()) or f"exit code {done.returncode}"
