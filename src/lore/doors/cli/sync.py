"""sync: exchange conversations and memories with a server, now."""

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lore import lazy
from lore.clients import toml
from lore.doors.cli.connect import announced, open_embedder, open_store, settings
from lore.doors.cli.group import Flags, command
from lore.doors.cli.ingest import read_transcripts
from lore.doors.cli.progress import embed_pending, progress
from lore.doors.cli.render import note, plain, plural, show_document, size_text
from lore.durable import make_folder, write_durably
from lore.errors import Invalid

if TYPE_CHECKING:
    from lore.config import Config
    from lore.doors.remote_http import RemoteServer
    from lore.doors.sync import Exchanged, Pushed
    from lore.engine import Lore

ATTEMPTS = 4
"""How often a request is tried while the server cannot be reached."""
SHOWN = 5
"""Refused items that are shown with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Task:
    """What this call exchanges with which server. namespaces: to keep equal; none: turns only."""

    server: "RemoteServer"
    namespaces: Sequence[str]
    keep_turns: bool
    ignored: Callable[[str], bool]


@command()
@click.argument("url", required=False)
@click.option("--client-id", metavar="ID", help="The name of this machine there (default: its host name).")
@click.option("--token-env", metavar="NAME", help="The variable that holds the access token.")
@click.option(
    "--pull", is_flag=True, help="Also keep namespaces equal: send changes, and take over those there."
)
@click.option(
    "--namespace",
    "namespaces",
    metavar="NAME",
    multiple=True,
    help="A namespace for --pull (default: those of [remote]); may be repeated.",
)
@click.option("--again", is_flag=True, help="From the beginning, for a server that has lost data.")
@click.option("--save", is_flag=True, help="Remember the server and the token for the daemon.")
@click.option("-n", "--dry-run", is_flag=True, help="Show what would be sent, and send nothing.")  # fmt: skip
def sync(flags: Flags, /, *, url: str | None, as_json: bool, **options: Any) -> int:
    """Push the conversations of this machine to a server.

    New lines of their transcripts are read first. URL is the server, such as
    https://lore.example.org (default: url under [remote] in config.toml). What it
    has is not sent again, and nothing is stored twice. The access token is read from the variable LORE_TOKEN,
    or from the file remote.token in the data folder. The exit code is 1 if the server refused anything.
    """
    config = settings(flags, remote_client_id=options["client_id"], remote_token_env=options["token_env"])
    server = _server(config, url or "", ask=options["save"] and not as_json)
    task = _Task(
        server=server,
        namespaces=_namespaces(config, options),
        keep_turns=config.remote_keep_turns,
        ignored=lazy.ignore_rules.load(config.data_dir / lazy.config.IGNORE_LIST, Path.home()),
    )
    with open_store(flags, create=not options["dry_run"]) as lore:
        if options["again"]:
            _begin_again(lore, task, options["dry_run"])
        if options["dry_run"]:
            return _show_waiting(lore, task, as_json)
        with announced(flags, "syncing"):
            _, unreadable = read_transcripts(lore, task.ignored)
            pushed, exchanged = _sync(lore, task)
        if exchanged:
            with open_embedder(flags, lore) as embeds:
                embed_pending(embeds)
    if options["save"]:
        _save(config, server, options["namespaces"])
    _show(task, pushed, exchanged, as_json)
    for path, why in unreadable.items():
        note(f"not read: {path}: {why}")
    refused = [pushed.refused, *(one.refused for one in exchanged.values())]
    return 1 if any(refused) else 0


def _server(config: "Config", url: str, *, ask: bool) -> "RemoteServer":
    server = lazy.remote_http.remote_server(config, url)
    if server.token or not ask or server.loopback or not sys.stdin.isatty():
        return server
    token = click.prompt(f"Access token for {server.url}", hide_input=True, err=True)
    return lazy.remote_http.with_token(server, lazy.remote_http.checked_token(token.strip(), "your answer"))


def _namespaces(config: "Config", options: Mapping[str, Any]) -> list[str]:
    """The namespaces to keep equal."""
    if not options["pull"]:
        if options["namespaces"]:
            raise Invalid("--namespace names what --pull keeps equal; give --pull as well")
        return []
    names = options["namespaces"] or lazy.remote_http.namespaces_of(config)
    if not names:
        raise Invalid("--pull needs --namespace NAME, or namespaces under [remote] in config.toml")
    return list(dict.fromkeys(names))


def _begin_again(lore: "Lore", task: _Task, dry_run: bool) -> None:
    if dry_run:
        raise Invalid("--again moves the mark of what was sent; leave out --dry-run")
    marks = [(lore, "push")]
    marks += [(lore.for_namespace(name), way) for name in task.namespaces for way in ("send", "pull")]
    for where, direction in marks:
        where.move_sync_mark(replace(where.sync_mark(task.server.url, direction), cursor=""))


def _sync(lore: "Lore", task: _Task) -> tuple["Pushed", dict[str, "Exchanged"]]:
    turns = lore.count(lazy.sync.TURNS)
    with lazy.remote_http.connect(task.server) as client, progress() as report:
        connection = lazy.sync_requests.Connection(task.server, client, ATTEMPTS)

        def show(part: str, done: int) -> None:
            report(part, done, max(done, turns) if part == "turns" else done)

        pushed = lazy.sync.push(lore, connection, task.ignored, keep_turns=task.keep_turns, report=show)
        exchanged = {name: lazy.sync.exchange(lore, connection, name, show) for name in task.namespaces}
    return pushed, exchanged


def _save(config: "Config", server: "RemoteServer", namespaces: Sequence[str]) -> None:
    """Write the server into the settings file, and the token beside it, for its owner only."""
    make_folder(config.data_dir)
    file = config.data_dir / lazy.config.FILE_NAME
    text = file.read_text(encoding="utf-8") if file.exists() else ""
    for key, value in (
        ("url", server.url),
        ("client_id", server.client_id),
        ("namespaces", ",".join(namespaces)),
    ):
        text = toml.put(text, ("remote", key), value) if value else text
    write_durably(file, text)
    if server.token:
        write_durably(config.data_dir / lazy.remote_http.TOKEN_FILE, server.token + "\n")
    note(f"saved in {config.data_dir}; `lore daemon restart` has the daemon push from now on")


def _show_waiting(lore: "Lore", task: _Task, as_json: bool) -> int:
    waiting = list(lazy.sync.waiting(lore, task.server.url, task.ignored))
    sessions = {one.entry.session for one in waiting}
    changes = {name: lazy.sync.unsent(lore, task.server.url, name) for name in task.namespaces}
    if as_json:
        document = {"url": task.server.url, "client_id": task.server.client_id, "dry_run": True}
        show_document({**document, "turns": len(waiting), "sessions": len(sessions), "changes": changes})
        return 0
    conversations = plural(len(sessions), "conversation")
    click.echo(f"Would push {plural(len(waiting), 'turn')} of {conversations} to {task.server.url}.")
    for name, count in changes.items():
        click.echo(f"Would send {plural(count, 'change')} of namespace {name}.")
    return 0


def _show(task: _Task, pushed: "Pushed", exchanged: Mapping[str, "Exchanged"], as_json: bool) -> None:
    if as_json:
        document = {"url": task.server.url, "client_id": task.server.client_id, "pushed": plain(pushed)}
        show_document(document | {"namespaces": {name: plain(one) for name, one in exchanged.items()}})
        return
    if pushed.turns:
        sessions = plural(pushed.sessions, "conversation")
        size = f"{size_text(pushed.bytes)} in {plural(pushed.requests, 'request')}"
        click.echo(f"Pushed {plural(pushed.turns, 'turn')} of {sessions} to {task.server.url} ({size}).")
    else:
        click.echo(f"{task.server.url} has every turn.")
    for name, one in exchanged.items():
        news = f"{one.received:,} received, {one.changed:,} of them news"
        click.echo(f"Namespace {name}: {plural(one.sent, 'change')} sent, {news}.")
    refused = dict(pushed.refused)
    for one in exchanged.values():
        refused |= one.refused
    for id, why in list(refused.items())[:SHOWN]:
        note(f"refused: {id}: {why}")
    if len(refused) > SHOWN:
        note(f"refused: {len(refused) - SHOWN:,} more; --json has them all")
