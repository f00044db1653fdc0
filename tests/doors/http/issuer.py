"""An issuer of OAuth tokens for tests, as a process of its own: real keys, discovery, and keys that change.

`python -m tests.doors.http.issuer` prints its address. It is several issuers at once, one per path; some of
them are broken.
"""

import os
import signal
import socket
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qsl

import httpx2
import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import rsa
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

SECRET = "same-for-every-client"
GOOD, KEYCLOAK = "", "/realms/team"
MOVED, IMPOSTOR, ASTRAY, BROKEN, SILENT = "/moved", "/impostor", "/astray", "/broken", "/silent"
"""Issuers whose metadata redirect, name another issuer, name keys on another machine or nowhere, or are no
JSON."""
OPENID = "/.well-known/openid-configuration"
OAUTH = "/.well-known/oauth-authorization-server"


# --- the process
class Keys:
    """The keys of the issuer; the last one signs."""

    def __init__(self) -> None:
        self.all: dict[str, rsa.RSAPrivateKey] = {}
        self.change()

    def change(self) -> None:
        self.all = {f"key-{len(self.all)}-{time.time_ns()}": rsa.generate_private_key(65537, 2048)}

    def sign(self, claims: dict[str, Any], header: dict[str, Any]) -> str:
        [(id, key)] = self.all.items()
        return jwt.encode(claims, key, "RS256", {"kid": id, "typ": "at+jwt"} | header)

    def published(self) -> list[dict[str, Any]]:
        return [
            jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key(), as_dict=True) | {"kid": id, "use": "sig"}
            for id, key in self.all.items()
        ]


def application(address: str) -> Starlette:
    keys = Keys()

    def described(path: str, **changes: str) -> Response:
        issuer = f"{address}{path}"
        document = {
            "issuer": issuer,
            "jwks_uri": f"{address}/jwks",
            "token_endpoint": f"{address}/token",
            "authorization_endpoint": f"{address}/unused",
            "response_types_supported": ["code"],
            "grant_types_supported": ["client_credentials"],
        }
        return JSONResponse(document | changes)

    async def metadata(request: Request) -> Response:
        if request.url.path == f"{OAUTH}{MOVED}":
            return RedirectResponse(f"{address}/elsewhere")
        answers = {
            f"{OAUTH}{GOOD}": described(GOOD),
            f"{KEYCLOAK}{OPENID}": described(KEYCLOAK),
            "/elsewhere": described(MOVED),
            f"{OAUTH}{IMPOSTOR}": described(GOOD),
            f"{OAUTH}{ASTRAY}": described(ASTRAY, jwks_uri="http://203.0.113.9/jwks"),
            f"{OAUTH}{BROKEN}": described(BROKEN, jwks_uri="https://["),
            f"{OAUTH}{SILENT}": Response("<html>"),
        }
        return answers.get(request.url.path, Response(status_code=404))

    async def jwks(request: Request) -> Response:
        return JSONResponse({"keys": keys.published()})

    async def sign(request: Request) -> Response:
        """A token with any claims, for tests."""
        asked = await request.json()
        return JSONResponse({"access_token": keys.sign(asked["claims"], asked.get("header", {}))})

    async def token(request: Request) -> Response:
        """A token for the client and the resource that it names (RFC 6749, section 4.4, and RFC 8707)."""
        scheme, _, credentials = request.headers["authorization"].partition(" ")
        client, _, secret = b64decode(credentials).decode().partition(":")
        form = dict(parse_qsl((await request.body()).decode()))
        if (scheme, secret, form["grant_type"]) != ("Basic", SECRET, "client_credentials"):
            return JSONResponse({"error": "invalid_client"}, 401)
        claims = {"iss": address, "sub": client, "aud": form["resource"], "scope": form.get("scope", "")}
        signed = keys.sign(claims | {"exp": time.time() + 600}, {})
        return JSONResponse({"access_token": signed, "token_type": "Bearer", "expires_in": 600})

    async def change(request: Request) -> Response:
        keys.change()
        return Response(status_code=204)

    return Starlette(
        routes=[
            Route("/jwks", jwks),
            Route("/sign", sign, methods=["POST"]),
            Route("/token", token, methods=["POST"]),
            Route("/change", change, methods=["POST"]),
            Route("/{path:path}", metadata),
        ]
    )


def main() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}"
        print(address, flush=True)  # callers may connect at once: they wait until it serves
        uvicorn.Server(uvicorn.Config(application(address), log_config=None, ws="none")).run([listener])


# --- its user
class IssuerProcess:
    """The running issuer."""

    def __init__(self, process: subprocess.Popen[str], address: str) -> None:
        self._process = process
        self.address = address

    def token(self, path: str = GOOD, *, header: dict[str, Any] | None = None, **claims: Any) -> str:
        """A token of the issuer at this path; claims that are None are left out."""
        usual = {"iss": f"{self.address}{path}", "sub": "ines", "exp": time.time() + 600}
        wanted = {name: value for name, value in (usual | claims).items() if value is not None}
        body = {"claims": wanted, "header": header or {}}
        token: str = httpx2.post(f"{self.address}/sign", json=body).json()["access_token"]
        return token

    def change_keys(self) -> None:
        httpx2.post(f"{self.address}/change").raise_for_status()

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(60)


@contextmanager
def running_issuer() -> Iterator[IssuerProcess]:
    command = [sys.executable, "-m", __name__]
    folder = os.path.abspath(os.path.join(os.path.dirname(__file__), *[os.pardir] * 3))
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder) as process:
        assert process.stdout
        try:
            yield IssuerProcess(process, process.stdout.readline().strip())
        finally:
            process.send_signal(signal.SIGTERM)


if __name__ == "__main__":
    main()
