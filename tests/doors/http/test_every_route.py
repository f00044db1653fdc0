"""Every route of the server refuses callers who may not call it; the few public ones are named here."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from lore.doors.http.routes import Route
from lore.doors.http.tokens import find, revoke
from lore.verbs import Right
from tests.doors.http.guarded import ELSEWHERE, LOOPBACK, Guarded, bearer, guarded

PUBLIC = {
    ("GET", "/healthz"),
    ("GET", "/readyz"),
    ("GET", "/api/v1"),
    ("GET", "/api/v1/openapi.json"),
    ("GET", "/.well-known/oauth-protected-resource"),
    ("GET", "/.well-known/oauth-protected-resource/{path:path}"),
    ("GET", "/"),
    ("GET", "/explorer"),
    ("GET", "/explorer/static/{version}/{path:path}"),
    ("GET", "/explorer/{page:path}"),
    ("GET", "/explorer/enter"),
    ("POST", "/explorer/sign-out"),
}
"""The routes that need no token. A route that is to be public must be added here."""
LACKING: dict[Right, tuple[Right, ...]] = {"read": ("write",), "write": ("read",), "admin": ("read", "write")}
"""A route's right -> those of a token that must not reach it."""
MEANINGLESS = "lore_0123456789ab_" + "A" * 43


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    settings = {"oauth_issuer": "https://issuer.example", "oauth_audience": "https://lore.example"}
    with guarded(tmp_path_factory.mktemp("routes"), **settings) as server:
        yield server


@pytest.fixture(scope="module")
def credentials(server: Guarded) -> dict[str, str]:
    """Kind of a token -> one that no route may accept."""
    valid, revoked = server.token("valid", rights=("admin",)), server.token("revoked", rights=("admin",))
    revoke(server.store, find(server.store, "revoked", 0).id, 1.0)
    return {
        "missing": "",
        "wrong": f"Bearer {MEANINGLESS}",
        "wrong secret": f"Bearer {valid[:-43]}{'A' * 43}",
        "expired": f"Bearer {server.token('expired', rights=('admin',), now=1.0, expires_at=2.0)}",
        "revoked": f"Bearer {revoked}",
        "of nobody's form": "Bearer eyJhbGciOiJub25lIn0.e30.",
        "of another scheme": f"Basic {valid}",
    }


def address(route: Route) -> str:
    return re.sub(r"\{[^}]*\}", "x", route.path)


def protected(server: Guarded) -> Iterator[tuple[Route, Right]]:
    found = [(route, route.right) for route in server.routes if route.right is not None]
    assert found
    yield from found


def test_the_public_routes_are_those_named_here(server: Guarded) -> None:
    assert {(route.method, route.path) for route in server.routes if route.right is None} == PUBLIC


def test_every_other_route_refuses_missing_wrong_expired_and_revoked_tokens(
    server: Guarded, credentials: dict[str, str]
) -> None:
    answers = {
        (route.method, route.path, kind, place): server.client(place).request(
            route.method, address(route), headers={"Authorization": sent} if sent else {}
        )
        for place in (LOOPBACK, ELSEWHERE)
        for route, _ in protected(server)
        for kind, sent in credentials.items()
    }
    assert {place: answer.status_code for place, answer in answers.items() if answer.status_code != 401} == {}
    assert all("www-authenticate" in answer.headers for answer in answers.values())


def test_every_other_route_refuses_a_foreign_namespace(server: Guarded) -> None:
    holder = bearer(server.token("holder", namespaces=("web",), rights=("admin",)))
    for route, _ in protected(server):
        answer = server.client(ELSEWHERE).request(
            route.method, f"{address(route)}?namespace=finance", headers=holder
        )
        assert (answer.status_code, answer.json()["error"]["kind"]) == (403, "Forbidden"), route


def test_every_other_route_refuses_what_names_no_namespace(server: Guarded) -> None:
    holder = bearer(server.token("of all", namespaces=("*",), rights=("admin",)))
    for route, _ in protected(server):
        for query in ("namespace=*", "namespce=web", "namespace=web&namespace=shared"):
            answer = server.client(ELSEWHERE).request(
                route.method, f"{address(route)}?{query}", headers=holder
            )
            assert (answer.status_code, answer.json()["error"]["kind"]) == (400, "Invalid"), (route, query)


def test_every_other_route_refuses_a_token_without_its_right(server: Guarded) -> None:
    tokens = {right: bearer(server.token(f"no {right}", rights=rights)) for right, rights in LACKING.items()}
    for route, right in protected(server):
        answer = server.client(ELSEWHERE).request(route.method, address(route), headers=tokens[right])
        assert answer.status_code == 403, route
        assert f'scope="lore:{right}"' in answer.headers["www-authenticate"]


def test_every_other_route_refuses_a_token_in_its_address(server: Guarded) -> None:
    token = server.token("in the address", rights=("admin",))
    for route, _ in protected(server):
        client = server.client()
        assert client.request(route.method, f"{address(route)}?access_token={token}").status_code == 400, (
            route
        )


def test_a_valid_token_is_let_in(server: Guarded, tmp_path: Path) -> None:
    holder = bearer(server.token("let in", rights=("read",)))
    assert server.client(ELSEWHERE).get("/status", headers=holder).status_code == 200
