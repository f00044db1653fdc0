"""tokens: make, list, revoke and check the tokens of a server, which are records of its store.

A token is `lore_<id>_<secret>`. The id finds its record; of the secret, 32 random bytes, only the SHA-256
digest is kept. Every check reads the record, so a revoked token is refused from the next request on.
"""

import hashlib
import hmac
import logging
import re
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from lore.config import NAMESPACE_LIMIT
from lore.doors.http.callers import Caller, Unauthenticated
from lore.errors import Invalid, NotFound
from lore.model import SHARED, Cause
from lore.store import DEFAULT_TENANT, Store
from lore.store.records import AccessToken
from lore.supervision import Service, failure_of
from lore.verbs import Right

PREFIX = "lore_"
ID_BYTES, SECRET_BYTES = 6, 32
FORM = re.compile(r"lore_([0-9a-f]{12})_([A-Za-z0-9_-]{43})")
USE_SECONDS = 60.0
"""Shortest time between two notes of a token's last use."""
NOT_VALID = "this token is not valid: it is unknown, expired or revoked"
NOBODY = hashlib.sha256(b"").hexdigest()
"""Digest that the secret of an unknown id is compared with, so that it takes the same time."""

logger = logging.getLogger(__name__)

State = Literal["active", "expired", "revoked"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a token is to allow."""

    name: str
    tenant: str = DEFAULT_TENANT
    namespaces: tuple[str, ...] = (SHARED,)
    rights: tuple[Right, ...] = ("read", "write")
    expires_at: float | None = None


def create(store: Store, grant: Grant, now: float) -> tuple[str, AccessToken]:
    """Keep a record for a token; the token itself, which nobody can read again, and the record.

    Invalid if a token of this name is active, or if a part of the grant cannot be.
    """
    for what, text in (("name", grant.name), *(("namespace", name) for name in grant.namespaces)):
        _check(what, text)
    if grant.tenant:
        _check("tenant", grant.tenant)
    if grant.expires_at is not None and grant.expires_at <= now:
        raise Invalid("a token must expire in the future")
    id, secret = secrets.token_hex(ID_BYTES), secrets.token_urlsafe(SECRET_BYTES)
    record = AccessToken(
        id=id,
        name=grant.name,
        digest=_digest(secret),
        of_tenant=grant.tenant,
        namespaces=tuple(dict.fromkeys(grant.namespaces)),
        rights=tuple(dict.fromkeys(grant.rights)),
        created_at=now,
        expires_at=grant.expires_at,
    )
    with store.transaction(SHARED, Cause(verb="create_token"), now) as writer:
        same = [one for one in writer.records(AccessToken, name=grant.name) if state(one, now) == "active"]
        if same:
            raise Invalid(f"a token {grant.name!r} is active already; take another name, or revoke that one")
        writer.put_records([record])
    return f"{PREFIX}{id}_{secret}", record


def tokens(store: Store) -> list[AccessToken]:
    """All tokens that were ever made, oldest first."""
    return sorted(store.reader(SHARED).records(AccessToken), key=lambda one: (one.created_at, one.id))


def find(store: Store, reference: str, now: float) -> AccessToken:
    """The token of this id, or the active one of this name; else the last one of this name."""
    named = [one for one in tokens(store) if reference in (one.id, one.name)]
    if not named:
        raise NotFound(f"there is no token {reference!r}; lore token list shows them")
    return max(named, key=lambda one: (one.id == reference, state(one, now) == "active", one.created_at))


def revoke(store: Store, id: str, now: float) -> bool:
    """Refuse this token from now on; False if it was revoked before."""
    with store.transaction(SHARED, Cause(verb="revoke_token"), now) as writer:
        [record] = writer.records(AccessToken, id=id)
        if record.revoked_at is None:
            writer.put_records([replace(record, revoked_at=now)])
    return record.revoked_at is None


def state(token: AccessToken, now: float) -> State:
    """Whether a token is accepted."""
    if token.revoked_at is not None:
        return "revoked"
    return "expired" if token.expires_at is not None and token.expires_at <= now else "active"


class Tokens:
    """The check of tokens in a server, which notes when each was last used. Close it when done."""

    def __init__(self, store: Store, clock: Callable[[], float]) -> None:
        self._store = store
        self._clock = clock
        self._noted: dict[str, float] = {}
        self._notes = ThreadPoolExecutor(1, "last use of tokens")
        self._service = Service("noting the last use of tokens")

    def caller(self, token: str) -> Caller:
        """The caller with this token; Unauthenticated if it is not valid."""
        form = FORM.fullmatch(token)
        if form is None:
            raise Unauthenticated(NOT_VALID, invalid=True, why="not the form of a token")
        id, secret = form.groups()
        found = self._store.reader(SHARED).records(AccessToken, id=id)
        equal = hmac.compare_digest(found[0].digest if found else NOBODY, _digest(secret))
        if not (found and equal):
            why = f"wrong secret for the token {id}" if found else f"unknown token {id}"
            raise Unauthenticated(NOT_VALID, invalid=True, why=why)
        [record] = found
        now = self._clock()
        if (refused := state(record, now)) != "active":
            raise Unauthenticated(NOT_VALID, invalid=True, why=f"{refused} token {id} ({record.name})")
        self._note_use(id, now)
        return Caller(
            name=record.name,
            id=id,
            tenant=record.of_tenant,
            namespaces=record.namespaces,
            rights=frozenset(right for right in RIGHTS if right in record.rights),
        )

    def close(self) -> None:
        """Finish the notes."""
        self._notes.shutdown()

    def _note_use(self, id: str, now: float) -> None:
        """Note the use in another thread, so that no request waits for the disk."""
        if now - self._noted.get(id, 0.0) >= USE_SECONDS:
            self._noted[id] = now
            self._notes.submit(self._write_use, id, now)

    def _write_use(self, id: str, now: float) -> None:
        if (error := failure_of(partial(_write_use, self._store, id, now))) is not None:
            self._service.failed(error)
        else:
            self._service.works()


RIGHTS: tuple[Right, ...] = ("read", "write", "admin")


def _write_use(store: Store, id: str, now: float) -> None:
    with store.transaction(SHARED, Cause(verb="use_token"), now) as writer:
        writer.put_records([replace(one, last_used_at=now) for one in writer.records(AccessToken, id=id)])


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _check(what: str, text: str) -> None:
    if not text.strip() or len(text) > NAMESPACE_LIMIT or not text.isprintable():
        raise Invalid(f"a {what} must be 1 to {NAMESPACE_LIMIT} printable characters, not {text[:200]!r}")
