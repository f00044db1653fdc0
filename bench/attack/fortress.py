"""fortress: a `lore-server` with memories that its attackers must not see or change."""

import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx2

from bench.clients.scene import Scene
from bench.server.serving import Server, quiet
from lore.config import load
from lore.connecting import wire
from lore.doors.http.routes import Route
from lore.doors.http.served import Served
from lore.doors.http.server import routes
from lore.doors.http.tokens import Grant, create, find, revoke
from lore.engine import Lore
from lore.engine.entity_view import Subject
from lore.store.values import EVERY, JournalFilter

MARK = "zanzibar"
"""A word of every hidden memory: an answer that holds it is a leak."""
ENTITY = "lore"
"""The entity that the examples of the API name; each place has one of its own."""
PLACES = (("", "web"), ("", "finance"), ("acme", "web"), ("acme", "shared"), ("globex", "web"))
"""Tenant and namespace of the hidden memories."""
ANSWER_SECONDS = 60.0


@dataclass
class Fortress:
    """A running server. hidden: place -> id of its memory. tokens: what callers hold, by name."""

    data: Path
    port: int
    routes: list[Route]
    hidden: dict[tuple[str, str], str]
    tokens: dict[str, str]
    journals: dict[tuple[str, str], int] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self) -> httpx2.Client:
        return httpx2.Client(base_url=self.address, timeout=ANSWER_SECONDS)

    def bearer(self, place: tuple[str, str]) -> dict[str, str]:
        """Return the header of the caller who has all rights in a place, and none elsewhere."""
        return {"Authorization": f"Bearer {self.tokens[_name(place)]}"}

    def changed(self) -> list[tuple[str, str]]:
        """Return the places whose journal is not as it was when the server started."""
        with closing(wire(load(data_dir=self.data))) as lore:
            return [place for place in PLACES if _entries(lore, place) != self.journals[place]]

    def harmed(self) -> list[tuple[str, str]]:
        """Return the places whose hidden memory is gone or has another text."""
        with closing(wire(load(data_dir=self.data))) as lore:
            return [
                place
                for place, id in self.hidden.items()
                if (found := lore.store.reader(place[1], place[0]).get([id]).get(id)) is None
                or found.forgotten_at is not None
                or MARK not in found.content
            ]


@contextmanager
def fortress(**settings: str) -> Iterator[Fortress]:
    """Start a server with hidden memories in every place. settings: variables of its process."""
    quiet()
    os.environ |= settings
    with Scene("hash") as scene:
        hidden, tokens, journals, table = _prepare(scene.data)
        with Server(scene) as server:
            yield Fortress(scene.data, server.port, table, hidden, tokens, journals)


def _prepare(
    data: Path,
) -> tuple[dict[tuple[str, str], str], dict[str, str], dict[tuple[str, str], int], list[Route]]:
    config = load(data_dir=data)
    with closing(wire(config)) as lore:
        hidden = {}
        for tenant, namespace in PLACES:
            inside = replace(lore.for_namespace(namespace), tenant=tenant)
            where = f"{MARK} {tenant or 'default'}-{namespace}"
            hidden[tenant, namespace] = inside.remember(f"Steep green tea from {where} at 75 °C").id
            inside.introduce([Subject(name=ENTITY, type="project", observations=(f"It is in {where}",))])
        now = time.time()
        grants = [
            Grant(
                name=_name((tenant, namespace)),
                tenant=tenant,
                namespaces=(namespace,),
                rights=("admin",),
            )
            for tenant, namespace in PLACES
        ] + [Grant(name="revoked", rights=("admin",)), Grant(name="reader", rights=("read",))]
        tokens = {grant.name: create(lore.store, grant, now)[0] for grant in grants}
        tokens["expired"] = create(lore.store, Grant(name="expired", rights=("admin",), expires_at=2.0), 1.0)[
            0
        ]
        revoke(lore.store, find(lore.store, "revoked", now).id, now)
        journals = {place: _entries(lore, place) for place in PLACES}
        table = routes(Served(lore=lore, config=config))
    return hidden, tokens, journals, table


def _name(place: tuple[str, str]) -> str:
    return f"{place[0] or 'default'}-{place[1]}"


def _entries(lore: Lore, place: tuple[str, str]) -> int:
    tenant, namespace = place
    return len(lore.store.reader(namespace, tenant).journal(JournalFilter(), EVERY))
