"""service: the unit from which systemd or launchd keeps a daemon running, and how they are told of it."""

import os
import plistlib
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from shutil import which

from lore.doors.daemon_status import read_status
from lore.doors.endpoint import Endpoint
from lore.doors.starting import RESIDENT, await_answer, stop
from lore.doors.state import write_whole
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
"""The colon before the command: it holds no variables to replace, whatever a path looks like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manager:
    """A program that runs services for a user, and what to say to it.

    unit: belongs into the file `path`. probe: succeeds if the manager answers, and knows the unit then.
    running: succeeds if it runs the service; known: if it can be told to `end` it, which stops and disables.
    enable: from the next login on. begin: now, too. by_hand: the same for a person to type. renew: before
    `begin`, where the service runs. links: what the manager itself has put beside the unit.
    """

    path: str
    unit: bytes
    probe: Command
    running: Command
    known: Command
    enable: Sequence[Command]
    begin: Sequence[Command]
    by_hand: Sequence[Command]
    renew: Sequence[Command]
    end: Sequence[Command]
    links: Sequence[str] = ()
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What became of it. left: the commands that are left to a person, and why."""

    unit: str
    changed: bool
    enabled: bool
    started: bool
    pid: int | None = None
    left: Sequence[str] = ()
    why: str = ""


def manager_of(system: str, endpoint: Endpoint) -> Manager:
    """The one of a system, as `sys.platform` calls it."""
    if system not in MANAGERS:
        raise Unavailable(
            f"there are services for {' and '.join(MANAGERS)}, not for {system};"
            " have your system run `lore daemon start` when you log in"
        )
    return MANAGERS[system](endpoint)


def install(manager: Manager, endpoint: Endpoint, *, start: bool) -> Installed:
    """Put the unit in its place and, if the manager answers, have the daemon run from it."""
    changed = _written(manager)
    trouble = _trouble(manager.probe)
    if trouble is not None:
        running = (
            [shlex.join(["lore", *endpoint.flags, "daemon", "stop"])]
            if read_status(endpoint)["running"]
            else []
        )
        left = [*running, *map(shlex.join, manager.by_hand)]
        return Installed(
            unit=manager.path, changed=changed, enabled=False, started=False, left=left, why=trouble
        )
    if not start:
        _run(manager.enable)
        return Installed(unit=manager.path, changed=changed, enabled=True, started=False)
    ours = _trouble(manager.running) is None
    pid = read_status(endpoint)["pid"]
    if ours and pid and not changed:
        _run(manager.enable)
        return Installed(unit=manager.path, changed=False, enabled=True, started=False, pid=pid)
    stop(endpoint)
    if ours:
        _run(manager.renew)
    _run(manager.begin)
    pid = int(await_answer(endpoint)["pid"])
    return Installed(unit=manager.path, changed=changed, enabled=True, started=True, pid=pid)


def uninstall(manager: Manager) -> bool:
    """Stop the service and remove the unit; whether there was one."""
    if not os.path.exists(manager.path):
        return False
    answers = _trouble(manager.probe) is None
    if answers and _trouble(manager.known) is None:
        _run(manager.end)
    for path in (manager.path, *filter(os.path.lexists, manager.links)):
        _remove(path)
    if answers:
        _run([manager.probe])
    return True


# --- the units
def systemd(endpoint: Endpoint) -> Manager:
    """Of a user: it lives from the first login to the last logout."""
    folder = os.path.join(config_home(), "systemd", "user")
    user = ["systemctl", "--user"]
    environment = [f"Environment={_quoted(f'{name}={value}')}" for name, value in _environment().items()]
    unit = SYSTEMD.format(
        command=" ".join(map(_quoted, _command(endpoint))), environment="\n".join(environment)
    )
    return Manager(
        path=os.path.join(folder, UNIT),
        unit=unit.encode(),
        probe=[*user, "daemon-reload"],
        running=[*user, "is-active", "--quiet", UNIT],
        known=[*user, "cat", UNIT],
        enable=[[*user, "enable", "--quiet", UNIT]],
        begin=[[*user, "enable", "--quiet", UNIT], [*user, "restart", UNIT]],
        by_hand=[[*user, "daemon-reload"], [*user, "enable", "--now", UNIT]],
        renew=[],
        end=[[*user, "disable", "--quiet", "--now", UNIT]],
        links=[os.path.join(folder, "default.target.wants", UNIT)],
        hint="It ends when you log out, unless `loginctl enable-linger` lets it go on.",
    )


def launchd(endpoint: Endpoint) -> Manager:
    """An agent of a user. It has no journal: what it says goes to the log."""
    domain = f"gui/{os.getuid()}"
    path = os.path.expanduser(f"~/Library/LaunchAgents/{LABEL}.plist")
    unit = {
        "Label": LABEL,
        "ProgramArguments": [*_command(endpoint), "--quietly"],
        "EnvironmentVariables": _environment(),
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        "ThrottleInterval": 5,
        "ProcessType": "Background",
        "Umask": 0o077,
    }
    enable = ["launchctl", "enable", f"{domain}/{LABEL}"]
    bootstrap = ["launchctl", "bootstrap", domain, path]
    return Manager(
        path=path,
        unit=plistlib.dumps(unit),
        probe=["launchctl", "print", domain],
        running=["launchctl", "print", f"{domain}/{LABEL}"],
        known=["launchctl", "print", f"{domain}/{LABEL}"],
        enable=[enable],
        begin=[enable, bootstrap],
        by_hand=[enable, bootstrap],
        renew=[["launchctl", "bootout", f"{domain}/{LABEL}"]],
        end=[["launchctl", "bootout", f"{domain}/{LABEL}"]],
    )


MANAGERS: dict[str, Callable[[Endpoint], Manager]] = {"linux": systemd, "darwin": launchd}


def _command(endpoint: Endpoint) -> list[str]:
    return [sys.executable, "-P", "-m", "lore.doors.cli", *endpoint.flags, "daemon", "run"]


def _environment() -> Mapping[str, str]:
    return FRUGAL | {name: value for name, value in variables().items() if name in RESIDENT}


def _quoted(word: str) -> str:
    """One word of a unit, whatever is in it."""
    word = word.replace("%", "%%")
    if re.fullmatch(r"[\w%+,./:=@-]+", word, re.ASCII):
        return word
    escaped = re.sub(r'[\\"]', r"\\\g<0>", word)
    return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda found: f"\\x{ord(found[0]):02x}", escaped) + '"'


# --- the manager
def _written(manager: Manager) -> bool:
    """The unit is in its place; whether it had to be put there."""
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


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError as error:
        raise Unavailable(f"{path} cannot be removed: {error.strerror}") from error


def _run(commands: Sequence[Command]) -> None:
    for command in commands:
        if (trouble := _trouble(command)) is not None:
            raise Unavailable(f"`{shlex.join(command)}` failed: {trouble}")


def _trouble(command: Command) -> str | None:
    """Run a command; what went wrong, None if nothing did."""
    if which(command[0]) is None:
        return f"there is no {command[0]} here"
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {PATIENCE_SECONDS:.0f} s"
    return None if done.returncode == 0 else " ".join(done.stderr.split()) or f"exit code {done.returncode}"
