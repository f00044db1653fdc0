"""daemon: the commands for the resident process: start, stop, restart, status, logs, install, uninstall."""

import os
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import count
from typing import Any, BinaryIO

import click

from lore import lazy
from lore.doors import starting
from lore.doors.cli.connect import endpoint_of, settings
from lore.doors.cli.group import Flags, LazyGroup, command, count_option, http_option
from lore.doors.cli.render import note, plural, show_document, show_rows, visible, warn
from lore.doors.cli.status import models_text
from lore.doors.cli.times import duration, embedding_left, with_age
from lore.doors.daemon_status import BUSY, HTTP_SERVICE, HUNG, query_status, read_status
from lore.doors.endpoint import Endpoint
from lore.errors import NotFound
from lore.version import VERSION

COMMANDS = {  # name -> module:attribute in this package, and the help line
    "start": ("daemon:start", "Start the daemon in the background."),
    "stop": ("daemon:stop", "Stop the daemon after it has finished its current work."),
    "restart": ("daemon:restart", "Stop the daemon if it runs, and start it again."),
    "status": ("daemon:status", "Show whether the daemon runs and what it does."),
    "logs": ("daemon:logs", "Show the log of the daemon."),
    "run": ("serve:run", "Run the daemon in the foreground."),
    "install": ("daemon:install", "Start the daemon at every login."),
    "uninstall": ("daemon:uninstall", "No longer start the daemon at login."),
}
NOT_RUNNING = 3
"""Exit code of `lore daemon status`, as systemctl has it."""
SHOWN = 20
"""Clients that the status lists."""
POLL_SECONDS = 0.2
HTTP_SECONDS = 30.0
"""Longest time in which a daemon that was started loads the parts that serve HTTP."""


@click.group(cls=LazyGroup, table=COMMANDS)
def daemon() -> None:
    """Start, stop and inspect the background process.

    Agents start it when they need it. All agents with the same data folder share it.
    """


# --- start, stop, restart
@command()
@http_option
@click.option("--stay", is_flag=True, help="Keep it running when nobody uses it.")
def start(flags: Flags, http_port: int | None, stay: bool, as_json: bool) -> None:
    """Start the daemon in the background."""
    endpoint = endpoint_of(flags)
    if not read_status(endpoint)["running"]:
        check_settings(flags)
    started = starting.start(endpoint, *_http(http_port), *(["--stay"] if stay else []))
    identity = _identity(endpoint)
    if as_json:
        show_document({"started": started, **identity, **_http_address(endpoint, http_port, started)})
        return
    click.echo(visible(f"Lore: {'started' if started else 'running already'} (PID: {identity['pid']})"))
    _show_http(_http_address(endpoint, http_port, started))
    if starting.is_older(str(identity["version"])):
        note(f"It is version {identity['version']}; lore daemon restart replaces it by {VERSION}.")


@command()
def stop(flags: Flags, as_json: bool) -> None:
    """Stop the daemon after it has finished its current work."""
    endpoint = endpoint_of(flags)
    pid = read_status(endpoint)["pid"]
    stopped = starting.stop(endpoint)
    if as_json:
        show_document({"stopped": stopped, "pid": pid})
    else:
        click.echo("Lore: stopped" if stopped else "Lore: not running")


@command()
@http_option
def restart(flags: Flags, http_port: int | None, as_json: bool) -> None:
    """Stop the daemon if it runs, and start it again."""
    endpoint = endpoint_of(flags)
    check_settings(flags)
    stopped = starting.restart(endpoint, *_http(http_port))
    identity = _identity(endpoint)
    if as_json:
        show_document({"stopped": stopped, "started": True, **identity, **_http_address(endpoint, http_port)})
    else:
        click.echo(f"Lore: {'restarted' if stopped else 'started'} (PID: {identity['pid']})")
        _show_http(_http_address(endpoint, http_port))


def check_settings(flags: Flags) -> None:
    """Refuse settings with which a daemon could not start, before a running one is stopped."""
    warn(settings(flags).warnings)


def _http(port: int | None) -> list[str]:
    return [] if port is None else ["--http", str(port)]


def _http_address(endpoint: Endpoint, port: int | None, started: bool = True) -> dict[str, str | None]:
    """Where the daemon serves HTTP, if that was asked for. started: by this command, so it may still load."""
    if port is None:
        return {}
    end = time.monotonic() + (HTTP_SECONDS if started else 0.0)
    while True:
        report = query_status(endpoint)
        decided = report["http"] or HTTP_SERVICE in (report["troubles"] or ())
        if decided or time.monotonic() >= end:
            return {"http": report["http"]}
        time.sleep(POLL_SECONDS)


def _show_http(found: Mapping[str, str | None]) -> None:
    for address in found.values():
        if address is None:
            note("It does not serve HTTP: see lore daemon status; lore daemon restart --http tries again.")
        else:
            click.echo(f"HTTP: {address}")


def _identity(endpoint: Endpoint) -> dict[str, int | str]:
    """Pid and version of the daemon that answers now."""
    reply = starting.ping(endpoint) or {"pid": "0", "version": VERSION}
    return {"pid": int(reply["pid"]), "version": reply["version"]}


# --- status
@command()
def status(flags: Flags, as_json: bool) -> int:
    """Show whether the daemon runs and what it does.

    The exit code is 0 if it runs and 3 if it does not, as with systemctl.
    """
    report = query_status(endpoint_of(flags))
    if as_json:
        show_document(report)
    elif report["running"]:
        _show_status(report)
    else:
        click.echo("Lore: not running")
    return 0 if report["running"] else NOT_RUNNING


def _show_status(report: Mapping[str, Any]) -> None:
    facts = {"PID": report["pid"], "state": report["state"], "mode": report["mode"]}
    shown = ", ".join(f"{name}: {value}" for name, value in facts.items() if value is not None)
    click.secho(visible(f"Lore: running ({shown})"), bold=True)
    if report["clients"] is None:
        if report["state"] == HUNG:
            note("It was stopped by a signal or hangs; lore daemon restart replaces it.")
        else:
            note(f"It does not answer: it is starting, ending or {BUSY}. See lore daemon logs.")
        return
    now = time.time()
    show_rows(_rows(report, now))
    for service_name, error in (report["troubles"] or {}).items():
        click.secho(visible(f"trouble: {service_name}: {error}"), fg="yellow")
    for client in report["clients"][:SHOWN]:
        click.echo(f"  {visible(_client(client, now))}")
    if (more := len(report["clients"]) - SHOWN) > 0:
        note(f"  and {more:,} more; --json lists all")


def _rows(report: Mapping[str, Any], now: float) -> dict[str, str]:
    pending = f" ({report['pending']:,} waiting to be embedded)" if report["pending"] else ""
    other = f" (this is {VERSION}; lore daemon restart)" if report["version"] != VERSION else ""
    consolidated = report["last_consolidation_at"]
    return {
        "version": f"{report['version']}{other}",
        "uptime": duration(report["uptime_seconds"]),
        "store": report["store"],
        "memories": f"{report['memories']:,}{pending}",
        "embedding": embedding_left(report["embedding"]),
        "staged turns": f"{report['staged_turns']:,}",
        "last consolidation": "never" if consolidated is None else with_age(consolidated, now),
        "socket": report["socket"],
        "http": report["http"] or "",
        "embedding model": report["model"],
        "language model": models_text(report["language_model"]),
        "clients": f"{len(report['clients'])}" if report["clients"] else "none",
    }


def _client(client: Mapping[str, Any], now: float) -> str:
    """Its protocol and surfaces, its folder and namespace, and how busy it is."""
    protocol = " ".join(filter(None, (client["speaks"], client["surfaces"])))
    parts = [protocol, client["folder"], f"namespace {client['namespace']}"]
    parts += [f"since {with_age(client['since'], now)}", plural(client["messages"], "message")]
    return ", ".join(filter(None, parts))


# --- logs
@click.command()
@count_option("-n", "--lines", default=50, least=0, help="Show the last N lines.")
@click.option("-f", "--follow", is_flag=True, help="Keep printing new lines.")
@click.pass_obj
def logs(flags: Flags, lines: int, follow: bool) -> None:
    """Show the log of the daemon."""
    path = endpoint_of(flags).log
    try:
        log = open(path, "rb")  # noqa: SIM115 (the file changes while it is followed)
    except FileNotFoundError:
        raise NotFound(f"there is no log at {path}: no daemon has run there yet") from None
    with log:
        _print_log(_last(log.read(), path, lines))
        for part in _new_parts(log, path) if follow else ():
            _print_log(part)


def _last(written: bytes, path: str, lines: int) -> bytes:
    """The last lines of a log, continued into older files where this one is too short."""
    for number in count(1):
        if written.count(b"\n") >= lines or not os.path.exists(f"{path}.{number}"):
            break
        with open(f"{path}.{number}", "rb") as older:
            written = older.read() + written
    return b"".join(written.splitlines(keepends=True)[-lines:]) if lines else b""


def _new_parts(log: BinaryIO, path: str) -> Iterator[bytes]:
    """Everything written from now on, also to the file that takes the place of this one."""
    while True:
        replaced = _is_replaced(log, path)  # checked first: after that, nothing is added to the old file
        yield log.read()
        if replaced:
            log.close()
            log = open(path, "rb")  # noqa: SIM115
        else:
            time.sleep(POLL_SECONDS)


def _is_replaced(log: BinaryIO, path: str) -> bool:
    try:
        return not os.path.samestat(os.stat(path), os.fstat(log.fileno()))
    except FileNotFoundError:
        return False


def _print_log(written: bytes) -> None:
    if written:
        click.echo(visible(written.decode("utf-8", "replace")), nl=False)


# --- install, uninstall
@command()
@click.option("--print", "only_print", is_flag=True, help="Print the service unit and change nothing.")
@click.option("--no-start", is_flag=True, help="Start at the next login, not now.")
def install(flags: Flags, only_print: bool, no_start: bool, as_json: bool) -> None:
    """Start the daemon at every login.

    Uses systemd on Linux and launchd on macOS. A running daemon is stopped first, so that the service takes
    its place.
    """
    check_settings(flags)
    endpoint = endpoint_of(flags)
    manager = lazy.service.manager_of(sys.platform, endpoint)
    if only_print:
        click.echo(manager.unit, nl=False)
        return
    done = lazy.service.install(manager, endpoint, start=not no_start)
    if as_json:
        show_document(asdict(done))
        return
    click.echo(visible(f"{'Wrote' if done.changed else 'Unchanged:'} {done.unit}"))
    if done.left:
        click.echo(visible(f"The service could not be started from here: {done.why}. Run:"))
        for command in done.left:
            click.echo(visible(f"  {command}"))
    elif done.pid is not None:
        click.echo(f"Lore: {'started' if done.started else 'running already'} as a service (PID: {done.pid})")
    else:
        click.echo("Lore: starts at the next login")
    if manager.hint:
        note(manager.hint)


@command()
def uninstall(flags: Flags, as_json: bool) -> None:
    """No longer start the daemon at login.

    Stops the service and removes its unit; memories, settings and the log stay.
    """
    endpoint = endpoint_of(flags)
    manager = lazy.service.manager_of(sys.platform, endpoint)
    removed = lazy.service.uninstall(manager)
    running = read_status(endpoint)["running"]
    if as_json:
        show_document({"unit": manager.path, "removed": removed, "running": running})
        return
    click.echo(visible(f"Removed {manager.path}" if removed else f"Nothing to remove at {manager.path}"))
    if running:
        note("A daemon still runs without a service; lore daemon stop ends it.")
