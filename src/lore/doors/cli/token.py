"""token: the commands for the tokens with which callers reach a server: create, list, revoke."""

import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import click

from lore.doors.cli.connect import open_store, settings
from lore.doors.cli.group import Flags, LazyGroup, command
from lore.doors.cli.render import note, plain, show_document, show_table, visible
from lore.doors.cli.times import UNIT_SECONDS, day, with_age
from lore.doors.http.tokens import RIGHTS, Grant, create, find, revoke, state, tokens
from lore.errors import Invalid
from lore.store import DEFAULT_TENANT
from lore.store.records import AccessToken

COMMANDS = {  # name -> module:attribute in this package, and the help line
    "create": ("token:create_token", "Make a token and print it once."),
    "list": ("token:list_tokens", "List all tokens with their rights and last use."),
    "revoke": ("token:revoke_token", "Refuse a token from now on."),
}
DEFAULT_RIGHTS = ("read", "write")
DURATION = re.compile(r"(\d{1,6})([mhdw])")
ONCE = "Keep it in a safe place: it cannot be shown again."


@click.group(cls=LazyGroup, table=COMMANDS)
def token() -> None:
    """Make, list and revoke the tokens of a server.

    A token lets a caller reach `lore-server` from another machine. These commands change the store itself,
    and a running server follows at once.
    """


@command("create")
@click.argument("name")
@click.option(
    "--namespace",
    "namespaces",
    metavar="NAME",
    multiple=True,
    help="A namespace that it sees, besides shared; * for all. It acts in the first. May be repeated.",
)
@click.option(
    "--tenant", default=DEFAULT_TENANT, help="The tenant that it belongs to, if the store has several."
)
@click.option(
    "--right",
    "rights",
    type=click.Choice(RIGHTS),
    multiple=True,
    default=DEFAULT_RIGHTS,
    show_default=True,
    help="What its holder may do; admin includes the others. May be repeated.",
)
@click.option("--expires", metavar="AGE", help="How long it is valid: 12h, 90d, 52w (default: for ever).")
def create_token(flags: Flags, /, *, name: str, expires: str | None, as_json: bool, **grant: Any) -> None:
    """Make a token and print it once.

    NAME says who or what holds it; memories that come with it show it as their author.
    """
    now = time.time()
    namespaces = grant.pop("namespaces") or (settings(flags).namespace,)
    expires_at = None if expires is None else now + _seconds(expires)
    wanted = Grant(name=name, namespaces=tuple(namespaces), expires_at=expires_at, **grant)
    with open_store(flags, create=True) as lore:
        text, record = create(lore.store, wanted, now)
    if as_json:
        show_document({"token": text, **_document(record, now)})
        return
    click.echo(text)
    note(ONCE)
    note("Lore on another machine reads it from the variable LORE_TOKEN; any other client sends the header:")
    note(f"Authorization: Bearer {text}", whole=True)


@command("list")
def list_tokens(flags: Flags, as_json: bool) -> None:
    """List all tokens with their rights and last use."""
    now = time.time()
    with open_store(flags) as lore:
        found = tokens(lore.store)
    if as_json:
        show_document({"tokens": [_document(one, now) for one in found]})
        return
    if not found:
        note("There is no token yet; lore token create NAME makes one.")
        return
    tenants = any(one.of_tenant for one in found)
    head = ("name", "id", "state", "rights", *(["tenant"] if tenants else []), "namespaces")
    dates = [f"  {', '.join(_dates(one, now))}" for one in found]
    show_table(head, [_row(one, now, tenants) for one in found], below=dates)


@command("revoke")
@click.argument("reference", metavar="NAME|ID")
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
def revoke_token(flags: Flags, reference: str, yes: bool, as_json: bool) -> None:
    """Refuse a token from now on.

    A running server refuses it from its next request on. A token cannot be brought back: make another one.
    """
    now = time.time()
    with open_store(flags) as lore:
        record = find(lore.store, reference, now)
        question = f"Revoke the token {visible(record.name)} ({record.id})?"
        if not (yes or as_json) and sys.stdin.isatty() and not click.confirm(question, err=True):
            raise click.Abort
        revoked = revoke(lore.store, record.id, now)
    if as_json:
        show_document({"revoked": revoked, "id": record.id, "name": record.name})
        return
    click.echo(visible(f"{'Revoked' if revoked else 'Was revoked before:'} {record.name} ({record.id})"))


def _document(token: AccessToken, now: float) -> dict[str, Any]:
    """Everything but the digest."""
    fields = {name: value for name, value in asdict(token).items() if name != "digest"}
    document: dict[str, Any] = plain(
        {"tenant": fields.pop("of_tenant"), **fields, "state": state(token, now)}
    )
    return document


def _row(token: AccessToken, now: float, tenants: bool) -> Sequence[str]:
    tenant = [visible(token.of_tenant)] if tenants else []
    return (
        visible(token.name),
        token.id,
        state(token, now),
        ",".join(token.rights),
        *tenant,
        visible(",".join(token.namespaces)),
    )


def _dates(token: AccessToken, now: float) -> Iterator[str]:
    yield f"created {day(token.created_at)}"
    if token.expires_at is not None:
        yield f"{'expires' if token.expires_at > now else 'expired'} {day(token.expires_at)}"
    if token.revoked_at is not None:
        yield f"revoked {day(token.revoked_at)}"
    yield "never used" if token.last_used_at is None else f"last used {with_age(token.last_used_at, now)}"


def _seconds(text: str) -> float:
    if (length := DURATION.fullmatch(text.strip())) is None:
        raise Invalid(f"--expires: cannot read {text!r} as a time span; give one like 12h, 90d or 52w")
    return int(length[1]) * UNIT_SECONDS[length[2]]
