"""remote_http: the server of `[remote]`: its checked address, the access token, and an HTTP client for it."""

import os
import socket
import stat
from dataclasses import dataclass, field, replace
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2

from lore.config import Config
from lore.environment import of_clients
from lore.errors import Invalid
from lore.llm.http import LOOPBACK, checked_url
from lore.text import listed

TOKEN_FILE = "remote.token"
"""In the data folder: the access token, in a file that nobody but its owner can read."""
LONGEST_CLIENT_ID = 100
CONNECT_SECONDS = 10.0
ANSWER_SECONDS = 60.0
EXAMPLE = "https://lore.example.org"


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteServer:
    """A server as this machine calls it. url: without a slash at its end. client_id: this machine's name."""

    url: str
    client_id: str
    token: str = field(default="", repr=False)

    @property
    def loopback(self) -> bool:
        """Whether the server is on this machine."""
        return urlsplit(self.url).hostname in LOOPBACK


def remote_server(config: Config, url: str = "") -> RemoteServer:
    """The server of the settings. url: another one in its place. Invalid says which setting is wrong."""
    if not (address := url or config.remote_url):
        raise Invalid(f'there is no server: set url = "{EXAMPLE}" under [remote] in config.toml')
    address = checked_url(address, "the address of the server", EXAMPLE)
    _refuse_unsafe(address)
    token = access_token(config.remote_token_env, config.data_dir)
    return with_token(RemoteServer(url=address, client_id=_client_id(config)), token)


def with_token(server: RemoteServer, token: str) -> RemoteServer:
    """The server with an access token, which is sent over https or to this machine only."""
    if token and not server.loopback and not server.url.startswith("https://"):
        raise Invalid(f"the access token is sent over https only, and {server.url} is not; use https://")
    return replace(server, token=token)


def namespaces_of(config: Config) -> list[str]:
    """The namespaces that this store and the server keep equal."""
    names = [name.strip() for name in config.remote_namespaces.split(",")]
    return list(dict.fromkeys(name for name in names if name))


def access_token(variable: str, data_dir: Path) -> str:
    """The token in the variable, or in the token file; empty without either.

    Invalid if others than its owner may read the file: the token would be known.
    """
    if token := of_clients((variable,)).get(variable, "").strip():
        return checked_token(token, f"the variable {variable}")
    path = data_dir / TOKEN_FILE
    try:
        with path.open("rb") as file:
            rights = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            text = file.read(10_000).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise Invalid(f"{path}, the file of the access token, cannot be read: {error.strerror}") from error
    if os.name == "posix" and rights & 0o077:
        raise Invalid(f"others can read the access token in {path}; run: chmod 600 {path}")
    return checked_token(text, str(path))


def options_of(server: RemoteServer, seconds: float = ANSWER_SECONDS) -> dict[str, Any]:
    """The options of an `httpx2.Client` or `AsyncClient` for this server; paths are below its address.

    Redirects are not followed, so that nobody else gets the token. A proxy is no way to this machine itself.
    """
    return {
        "base_url": server.url,
        "headers": {"authorization": f"Bearer {server.token}"} if server.token else {},
        "timeout": httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds)),
        "follow_redirects": False,
        "trust_env": not server.loopback,
    }


def connect(server: RemoteServer, seconds: float = ANSWER_SECONDS) -> httpx2.Client:
    """A client for this server. seconds: limit of a single wait."""
    return httpx2.Client(**options_of(server, seconds))


def _refuse_unsafe(address: str) -> None:
    parts = urlsplit(address)
    wrong = {
        "a user or password": parts.username is not None or parts.password is not None,
        "a query": bool(parts.query),
        "a fragment": bool(parts.fragment),
    }
    if found := [name for name, present in wrong.items() if present]:
        raise Invalid(f"the address of the server must not have {listed(found)}; give it like {EXAMPLE}")
    try:
        link_local = ip_address(parts.hostname or "").is_link_local
    except ValueError:
        return
    if link_local:
        raise Invalid(f"the address of the server must not be link-local: {parts.hostname}")


def _client_id(config: Config) -> str:
    name = (config.remote_client_id or socket.gethostname()).strip()
    if not name or len(name) > LONGEST_CLIENT_ID or not name.isprintable() or ":" in name:
        raise Invalid(
            f"client_id must be 1 to {LONGEST_CLIENT_ID} printable characters without a colon, not {name!r}"
        )
    return name


def checked_token(token: str, place: str) -> str:
    """The token, if it can be one. place: where it comes from, for the error."""
    if not token.isascii() or not token.isprintable() or " " in token:
        raise Invalid(f"{place} does not hold an access token: it must be one word of ASCII characters")
    return token
