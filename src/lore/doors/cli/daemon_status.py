"""status: whether the daemon runs, what it does, and who is connected to it."""

import time
from collections.abc import Mapping
from typing import Any

import click

from lore.doors.cli.document import plain, show_document
from lore.doors.cli.flags import json_option
from lore.doors.cli.placing import endpoint_of
from lore.doors.cli.report_text import models_named
from lore.doors.cli.terminal import note, plural, show_rows, visible
from lore.doors.cli.times import embedding_left, iso, span, told
from lore.doors.daemon_status import BUSY, HUNG, query_status
from lore.version import VERSION

NOT_RUNNING = 3
SHOWN = 20


@click.command()
@json_option
@click.pass_context
def status(ctx: click.Context, as_json: bool) -> None:
    """Say whether the daemon runs, and what it does.

    The exit code is 0 if it runs and 3 if it does not, as systemctl has it.
    """
    seen = query_status(endpoint_of(ctx.obj))
    if as_json:
        show_document(_document(seen))
    elif seen["running"]:
        _show(seen)
    else:
        click.echo("Lore: not running")
    ctx.exit(0 if seen["running"] else NOT_RUNNING)


def _document(seen: Mapping[str, Any]) -> dict[str, Any]:
    clients = seen["clients"]
    if clients is not None:
        clients = [client | {"since": iso(client["since"])} for client in clients]
    return {**plain(seen), "clients": clients}


def _show(seen: Mapping[str, Any]) -> None:
    known = {"PID": seen["pid"], "state": seen["state"], "mode": seen["mode"]}
    facts = ", ".join(f"{name}: {value}" for name, value in known.items() if value is not None)
    click.secho(visible(f"Lore: running ({facts})"), bold=True)
    if seen["clients"] is None:
        if seen["state"] == HUNG:
            note("It was stopped by a signal or hangs; lore daemon restart puts another in its place.")
        else:
            note(f"It does not answer: it begins, ends, or is {BUSY}. lore daemon logs may tell more.")
        return
    now = time.time()
    show_rows({name: visible(value) for name, value in _rows(seen, now).items()})
    for what, why in (seen["troubles"] or {}).items():
        click.secho(visible(f"trouble: {what}: {why}"), fg="yellow")
    for client in seen["clients"][:SHOWN]:
        click.echo(f"  {visible(_client(client, now))}")
    if (more := len(seen["clients"]) - SHOWN) > 0:
        note(f"  and {more:,} more; --json lists all")


def _rows(seen: Mapping[str, Any], now: float) -> dict[str, str]:
    waiting = f" ({seen['pending']:,} waiting to be embedded)" if seen["pending"] else ""
    left = embedding_left(seen["embedding"]).removeprefix(": ")
    other = f" (this is {VERSION}; lore daemon restart)" if seen["version"] != VERSION else ""
    consolidated = seen["last_consolidation_at"]
    return {
        "version": f"{seen['version']}{other}",
        "uptime": span(seen["uptime_seconds"]),
        "store": seen["store"],
        "memories": f"{seen['memories']:,}{waiting}",
        "embedding": left,
        "staged turns": f"{seen['staged_turns']:,}",
        "last consolidation": "never" if consolidated is None else told(consolidated, now),
        "socket": seen["socket"],
        "http": seen["http"] or "",
        "model": seen["model"],
        "language model": models_named(seen["language_model"]),
        "clients": f"{len(seen['clients'])}" if seen["clients"] else "none",
    }


def _client(client: Mapping[str, Any], now: float) -> str:
    """What it speaks, where it is, what it was given, and how busy it is."""
    spoken = " ".join(filter(None, (client["speaks"], client["surfaces"])))
    parts = [spoken, client["folder"], f"namespace {client['namespace']}"]
    parts += [f"since {told(client['since'], now)}", plural(client["messages"], "message")]
    return ", ".join(filter(None, parts))
