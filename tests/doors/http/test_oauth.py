"""Tokens of an external issuer, which runs as a process of its own on loopback."""

import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import jwt
import pytest
from mcp.shared.auth import ProtectedResourceMetadata

from lore.config import load
from lore.doors.http.callers import Caller, Unauthenticated
from lore.doors.http.oauth import RETRY_SECONDS, Issuer, discovery
from lore.errors import Unavailable
from tests.doors.http.guarded import ELSEWHERE, Guarded, bearer, guarded
from tests.doors.http.issuer import (
    ASTRAY,
    BROKEN,
    GOOD,
    IMPOSTOR,
    KEYCLOAK,
    MOVED,
    SILENT,
    IssuerProcess,
    running_issuer,
)

HERE = "https://lore.example"
METADATA = f"{HERE}/.well-known/oauth-protected-resource"


@pytest.fixture(scope="module")
def issuer() -> Iterator[IssuerProcess]:
    with running_issuer() as issuer:
        yield issuer


@pytest.fixture(scope="module")
def server(issuer: IssuerProcess, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    settings = {"oauth_issuer": issuer.address, "oauth_audience": HERE}
    with guarded(tmp_path_factory.mktemp("oauth"), **settings) as server:
        yield server


class Checks:
    """The check of tokens without a server around it, at a time that the test sets."""

    def __init__(self, issuer: str, **settings: Any) -> None:
        self.now = 1000.0
        config = load({}, data_dir=Path("unused"), oauth_issuer=issuer, oauth_audience=HERE, **settings)
        self._issuer = Issuer(config, lambda: self.now)

    def caller(self, token: str) -> Caller:
        return anyio.run(self._issuer.caller, token)


# --- what a token allows
def test_scopes_are_rights_and_the_user_has_a_namespace_of_their_own(issuer: IssuerProcess) -> None:
    checks = Checks(issuer.address)
    assert checks.caller(issuer.token(aud=HERE, scope="openid lore:read lore:write")) == Caller(
        name="ines", id="oauth:ines", namespaces=("ines",), rights=frozenset({"read", "write"})
    )


def test_claims_name_namespaces_and_tenant(issuer: IssuerProcess) -> None:
    claims: dict[str, Any] = {
        "lore_namespaces": ["web", "ops"],
        "lore_tenant": "acme",
        "scp": ["lore:admin"],
        "login": "Ines R",
    }
    caller = Checks(issuer.address, oauth_user_claim="login").caller(
        issuer.token(aud=[f"{HERE}/", "x"], **claims)
    )
    assert (caller.name, caller.id, caller.tenant) == ("Ines R", "oauth:ines", "acme")
    assert (caller.namespaces, caller.rights) == (("web", "ops"), frozenset({"admin"}))


def test_a_user_of_the_issuer_calls_the_server_as_far_as_the_scopes_go(
    server: Guarded, issuer: IssuerProcess
) -> None:
    client = server.client(ELSEWHERE)
    reader, nobody = (issuer.token(aud=HERE, scope=scope) for scope in ("lore:read", "openid"))
    assert client.get("/status", headers=bearer(reader)).status_code == 200
    assert client.get("/status?namespace=finance", headers=bearer(reader)).status_code == 403
    refused = client.get("/status", headers=bearer(nobody))
    assert refused.status_code == 403
    assert refused.headers["www-authenticate"] == (
        f'Bearer error="insufficient_scope", scope="lore:read", resource_metadata="{METADATA}"'
    )
    assert server.audit()[0]["token"] == "oauth:ines"


def test_a_session_does_not_lend_its_rights_to_a_lesser_token_of_the_same_user(
    server: Guarded, issuer: IssuerProcess
) -> None:
    client = server.client(ELSEWHERE)
    opened, lesser = (
        bearer(issuer.token(aud=HERE, scope="lore:read lore:write", lore_namespaces=namespaces))
        for namespaces in (["ines", "web"], ["ines"])
    )
    accept = {"Accept": "application/json, text/event-stream"}
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        },
    }
    session = client.post("/mcp", json=hello, headers=opened | accept).headers["mcp-session-id"]
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    answers = [
        client.post("/mcp", json=ping, headers=token | accept | {"Mcp-Session-Id": session}).status_code
        for token in (opened, lesser)
    ]
    assert answers == [200, 404]


# --- which tokens are refused
def wrong_tokens(issuer: IssuerProcess) -> dict[str, str]:
    sign = partial(issuer.token, scope="lore:admin")
    good = sign(aud=HERE)
    header, payload, signature = good.split(".")
    none, nothing = (
        urlsafe_b64encode(text).rstrip(b"=").decode() for text in (b'{"alg":"none"}', b'{"typ":"JWT"}')
    )
    secret = {"iss": issuer.address, "aud": HERE, "sub": "ines", "exp": time.time() + 600}
    id = jwt.get_unverified_header(good)["kid"]
    return {
        "for another server": sign(aud="https://other.example"),
        "for no server": sign(),
        "of another issuer": sign(aud=HERE, iss="https://issuer.example"),
        "expired": sign(aud=HERE, exp=time.time() - 3600),
        "without an end": sign(aud=HERE, exp=None),
        "not valid yet": sign(aud=HERE, nbf=time.time() + 3600),
        "without a user": sign(aud=HERE, sub=None),
        "of a user called *": sign(aud=HERE, sub="*"),
        "with an empty namespace": sign(aud=HERE, lore_namespaces=[""]),
        "with a number as tenant": sign(aud=HERE, lore_tenant=7),
        "unsigned": f"{none}.{payload}.",
        "without an algorithm": f"{nothing}.{payload}.{signature}",
        "of a changed signature": f"{header}.{payload}.{'A' * len(signature)}",
        "signed with a shared secret": jwt.encode(secret, "s" * 64, "HS256", {"kid": id}),
        "of an unknown key": sign(aud=HERE, header={"kid": "unknown"}),
        "no token": "eyJ",
        "of odd bytes": "a.b.c",
    }


def test_a_token_that_is_not_for_this_server_now_is_refused(server: Guarded, issuer: IssuerProcess) -> None:
    client = server.client(ELSEWHERE)
    for kind, token in wrong_tokens(issuer).items():
        answer = client.get("/status", headers=bearer(token))
        assert answer.status_code == 401, kind
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]
        assert f'resource_metadata="{METADATA}"' in answer.headers["www-authenticate"]


# --- the keys of the issuer
def test_a_changed_key_is_fetched_but_not_more_often_than_every_few_seconds(issuer: IssuerProcess) -> None:
    checks = Checks(f"{issuer.address}{KEYCLOAK}")
    old = issuer.token(KEYCLOAK, aud=HERE)
    checks.caller(old)
    issuer.change_keys()
    new = issuer.token(KEYCLOAK, aud=HERE)
    with pytest.raises(Unauthenticated):
        checks.caller(new)
    checks.caller(old)
    checks.now += RETRY_SECONDS + 1
    checks.caller(new)
    with pytest.raises(Unauthenticated):
        checks.caller(old)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (MOVED, "status 404"),
        (IMPOSTOR, "names another issuer"),
        (ASTRAY, "not an https address"),
        (BROKEN, "not an https address"),
        (SILENT, "status 404"),
    ],
)
def test_an_issuer_that_does_not_describe_itself_is_not_believed(
    issuer: IssuerProcess, path: str, reason: str
) -> None:
    with pytest.raises(Unavailable, match=reason):
        Checks(f"{issuer.address}{path}").caller(issuer.token(path, aud=HERE))


def test_without_its_issuer_a_server_still_accepts_its_own_tokens_and_keys_it_knows(tmp_path: Path) -> None:
    with running_issuer() as issuer:
        token, settings = issuer.token(aud=HERE, scope="lore:read"), {"oauth_issuer": issuer.address}
        checks = Checks(issuer.address)
        checks.caller(token)
        issuer.stop()
    checks.now += 100_000
    assert checks.caller(token).name == "ines"
    with guarded(tmp_path, oauth_audience=HERE, **settings) as server:
        client = server.client(ELSEWHERE)
        answers = [client.get("/status", headers=bearer(one)) for one in (token, token, server.token("own"))]
        assert [answer.status_code for answer in answers] == [503, 503, 200]


# --- what clients learn
def test_a_client_without_a_token_learns_where_to_get_one(server: Guarded, issuer: IssuerProcess) -> None:
    client = server.client(ELSEWHERE)
    refused = client.get("/status")
    assert refused.headers["www-authenticate"] == (
        f'Bearer scope="lore:read lore:write", resource_metadata="{METADATA}"'
    )
    for path in ("", "/mcp"):
        document = client.get(f"/.well-known/oauth-protected-resource{path}").json()
        metadata = ProtectedResourceMetadata.model_validate(document)
        assert str(metadata.resource).rstrip("/") == HERE
        assert [str(one).rstrip("/") for one in metadata.authorization_servers] == [issuer.address]
        assert metadata.scopes_supported == ["lore:read", "lore:write", "lore:admin"]


def test_an_issuer_is_looked_for_where_the_specification_says() -> None:
    assert discovery("https://a.example/realms/team") == [
        "https://a.example/.well-known/oauth-authorization-server/realms/team",
        "https://a.example/.well-known/openid-configuration/realms/team",
        "https://a.example/realms/team/.well-known/openid-configuration",
    ]
    assert discovery(f"https://a.example{GOOD}") == [
        "https://a.example/.well-known/oauth-authorization-server",
        "https://a.example/.well-known/openid-configuration",
    ]
