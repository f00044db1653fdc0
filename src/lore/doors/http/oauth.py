"""oauth: tokens of an external issuer: which keys sign them, what they allow, and where clients get them.

The server is a resource server of OAuth 2.1 as the MCP specification asks: it publishes metadata (RFC 9728)
that name the issuer, and accepts its JSON Web Tokens if their signature, issuer, audience and times are
right.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard
from urllib.parse import urlsplit

import anyio
import httpx2
import jwt
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lore.config import NAMESPACE_LIMIT, Config
from lore.doors.http.callers import EVERY_NAMESPACE, SCOPE, Caller, Unauthenticated
from lore.doors.http.guard import is_loopback
from lore.doors.http.routes import Route
from lore.doors.http.served import Served
from lore.doors.http.tokens import RIGHTS
from lore.errors import Invalid, Unavailable
from lore.store import DEFAULT_TENANT

ALGORITHMS = frozenset(
    ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
)
"""Signatures with a public key; never `none` or one with a shared secret."""
REQUIRED = ("exp", "iss", "aud", "sub")
LEEWAY_SECONDS = 30.0
"""Difference between the clocks of issuer and server that does no harm."""
FETCH_SECONDS = 5.0
LARGEST_DOCUMENT = 1 << 20
KEYS_SECONDS = 3600.0
"""Age from which the keys of the issuer are fetched again, if it can be reached."""
RETRY_SECONDS = 10.0
"""Shortest time between two visits at the issuer, whatever tokens callers send."""
NAMESPACES_CLAIM, TENANT_CLAIM = "lore_namespaces", "lore_tenant"
WELL_KNOWN = "/.well-known/oauth-protected-resource"
NOT_VALID = "this token of the issuer is not valid"


class Issuer:
    """The external issuer of the settings, and the keys that it publishes."""

    def __init__(self, config: Config, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._issuer = config.oauth_issuer
        audience = config.oauth_audience.rstrip("/")
        self._audiences = (audience, f"{audience}/")
        """Libraries of clients differ in the slash at the end of an address without a path."""
        self._user_claim = config.oauth_user_claim
        self._keys: dict[str, Mapping[str, Any]] = {}
        self._fetched_at = self._tried_at = float("-inf")
        self._one_fetch = anyio.Lock()

    async def caller(self, token: str) -> Caller:
        """The caller with this token.

        Unauthenticated if it is not valid; Unavailable if the issuer cannot be asked for its keys.
        """
        try:
            header = jwt.get_unverified_header(token)
            algorithm = header.get("alg")
            if algorithm not in ALGORITHMS:
                raise jwt.InvalidAlgorithmError(f"signed with {algorithm!r:.40}")
            key = await self._key(str(header.get("kid", "")))
            if key.get("alg", algorithm) != algorithm:
                raise jwt.InvalidAlgorithmError(f"signed with {algorithm}, not with {key['alg']!r:.40}")
            claims = jwt.decode(
                token,
                jwt.PyJWK(dict(key), algorithm),
                [algorithm],
                audience=self._audiences,
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": list(REQUIRED)},
            )
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise Unauthenticated(NOT_VALID, invalid=True, why=f"token of the issuer: {error}") from error
        return _caller(claims, self._user_claim)

    async def _key(self, id: str) -> Mapping[str, Any]:
        """The key of this id, fetched if it is unknown; without an id, the only key."""
        stale = self._clock() - self._fetched_at > KEYS_SECONDS
        if self._held_key(id) is None or (stale and not self._one_fetch.locked()):
            async with self._one_fetch:
                if stale or self._held_key(id) is None:
                    await self._visit()
        if self._fetched_at == float("-inf"):
            raise Unavailable(f"the issuer {self._issuer} could not be asked for its keys; try again later")
        if (key := self._held_key(id)) is None:
            raise Unauthenticated(NOT_VALID, invalid=True, why=f"token of the issuer: unknown key {id!r:.80}")
        return key

    def _held_key(self, id: str) -> Mapping[str, Any] | None:
        return self._keys.get(id) or (
            next(iter(self._keys.values())) if not id and len(self._keys) == 1 else None
        )

    async def _visit(self) -> None:
        """Fetch the keys, unless that was tried a moment ago."""
        now = self._clock()
        if now - self._tried_at > RETRY_SECONDS:
            self._tried_at = now
            await self._fetch()

    async def _fetch(self) -> None:
        """Fetch the keys; where the issuer cannot be reached, those that were fetched before stay."""
        try:
            away = not is_loopback(urlsplit(self._issuer).hostname or "")
            async with httpx2.AsyncClient(timeout=FETCH_SECONDS, trust_env=away) as client:
                with anyio.fail_after(2 * FETCH_SECONDS):
                    metadata = await self._metadata(client)
                    keys = await _document(client, self._trusted(metadata.get("jwks_uri")))
        except (httpx2.HTTPError, httpx2.InvalidURL, TimeoutError, Unavailable) as error:
            if self._keys:
                return
            raise Unavailable(f"the issuer {self._issuer} cannot be asked for its keys: {error}") from error
        listed = keys.get("keys")
        found = [key for key in listed if isinstance(key, dict)] if isinstance(listed, list) else []
        self._keys = {str(key.get("kid", "")): key for key in found if key.get("use", "sig") == "sig"}
        self._fetched_at = self._clock()

    async def _metadata(self, client: httpx2.AsyncClient) -> Mapping[str, Any]:
        """What the issuer says of itself, by RFC 8414 or by OpenID Connect Discovery."""
        reason = ""
        for address in discovery(self._issuer):
            try:
                metadata = await _document(client, address)
            except Unavailable as error:
                reason = str(error)
                continue
            if metadata.get("issuer") != self._issuer:
                raise Unavailable(f"{address} names another issuer, {metadata.get('issuer')!r:.200}")
            return metadata
        raise Unavailable(reason)

    def _trusted(self, address: object) -> str:
        """The address of the keys: over https, or on this machine if the issuer is there too."""
        local = is_loopback(urlsplit(self._issuer).hostname or "")
        if isinstance(address, str) and _is_safe(address, local=local):
            return address
        raise Unavailable(f"its keys are at {address!r:.200}, which is not an https address")


def issuer_of(config: Config) -> Issuer | None:
    """The issuer of the settings, if they name one; Invalid if it or the audience cannot be right."""
    if not config.oauth_issuer:
        return None
    if not config.oauth_audience:
        raise Invalid("oauth_audience is missing: give the public address of this server, as tokens name it")
    for name, address in (("oauth_issuer", config.oauth_issuer), ("oauth_audience", config.oauth_audience)):
        if not _is_safe(address, local=True) or "?" in address or "#" in address:
            raise Invalid(f"{name} must be an https address (http on loopback), not {address!r}")
    return Issuer(config)


def _is_safe(address: str, *, local: bool) -> bool:
    """Whether this is an address over https. local: http is as good on this machine."""
    try:
        place = urlsplit(address)
        host = place.hostname or ""
    except ValueError:
        return False
    return bool(host) and (
        place.scheme == "https" or (local and place.scheme == "http" and is_loopback(host))
    )


def discovery(issuer: str) -> Sequence[str]:
    """The addresses where an issuer describes itself, in the order of the MCP specification."""
    place = urlsplit(issuer)
    origin, path = f"{place.scheme}://{place.netloc}", place.path.rstrip("/")
    inserted = [
        f"{origin}/.well-known/{name}{path}"
        for name in ("oauth-authorization-server", "openid-configuration")
    ]
    return [*inserted, f"{origin}{path}/.well-known/openid-configuration"] if path else inserted


def resource_metadata(config: Config) -> str:
    """The address where clients learn of the issuer; empty without one."""
    if not config.oauth_issuer:
        return ""
    place = urlsplit(config.oauth_audience)
    return f"{place.scheme}://{place.netloc}{WELL_KNOWN}{place.path.rstrip('/')}"


def routes(served: Served) -> list[Route]:
    """The metadata of this server for clients that have no token yet, if there is an issuer."""
    config = served.config
    document = {
        "resource": config.oauth_audience,
        "authorization_servers": [config.oauth_issuer],
        "scopes_supported": [f"{SCOPE}{right}" for right in RIGHTS],
        "bearer_methods_supported": ["header"],
        "resource_name": "Lore",
    }

    async def answer(request: Request, caller: Caller) -> Response:
        return JSONResponse(document)

    paths = (WELL_KNOWN, f"{WELL_KNOWN}/{{path:path}}")
    return [Route("GET", path, None, answer) for path in paths] if config.oauth_issuer else []


def _caller(claims: Mapping[str, Any], user_claim: str) -> Caller:
    """The user of a valid token. Without a claim for namespaces it has one, of its own name."""
    user = claims.get(user_claim)
    if not _is_name(user) or user == EVERY_NAMESPACE:
        raise Unauthenticated(NOT_VALID, invalid=True, why=f"the claim {user_claim} is {user!r:.80}")
    scopes = set(_words(claims.get("scope", claims.get("scp", ()))))
    namespaces: list[str] = _words(claims.get(NAMESPACES_CLAIM, [user]))
    tenant = claims.get(TENANT_CLAIM, DEFAULT_TENANT)
    if not namespaces or not all(map(_is_name, namespaces)) or (tenant and not _is_name(tenant)):
        why = f"the claim {NAMESPACES_CLAIM} or {TENANT_CLAIM} has no names"
        raise Unauthenticated(NOT_VALID, invalid=True, why=why)
    return Caller(
        name=user,
        id=f"oauth:{claims['sub']}",
        tenant=tenant,
        namespaces=tuple(namespaces),
        rights=frozenset(right for right in RIGHTS if f"{SCOPE}{right}" in scopes),
    )


def _words(value: object) -> list[Any]:
    """A claim with several values: a list, or a text with spaces between them."""
    if isinstance(value, str):
        return value.split()
    return list(value) if isinstance(value, list | tuple) else [value]


def _is_name(value: object) -> TypeGuard[str]:
    return isinstance(value, str) and 0 < len(value.strip()) <= NAMESPACE_LIMIT and value.isprintable()


async def _document(client: httpx2.AsyncClient, address: str) -> Mapping[str, Any]:
    """A JSON object from the issuer; Unavailable if it sends anything else."""
    async with client.stream("GET", address, headers={"Accept": "application/json"}) as response:
        if response.status_code != 200:
            raise Unavailable(f"{address} answers with the status {response.status_code}")
        content = b""
        async for part in response.aiter_bytes():
            content += part
            if len(content) > LARGEST_DOCUMENT:
                raise Unavailable(f"{address} sends more than {LARGEST_DOCUMENT:,} bytes")
    try:
        document = json.loads(content)
    except ValueError as error:
        raise Unavailable(f"{address} sends no JSON: {error}") from error
    if not isinstance(document, dict):
        raise Unavailable(f"{address} sends no JSON object")
    return document
