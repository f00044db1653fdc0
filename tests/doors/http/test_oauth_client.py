"""The official MCP client finds the issuer of a server by itself, gets a token there, and calls a tool."""

import socket
from pathlib import Path

import anyio
from mcp import Client
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from tests.doors.command import Command
from tests.doors.http.issuer import SECRET, running_issuer
from tests.doors.http.test_server_process import audit, running
from tests.doors.resident import SECONDS


class Kept:
    """The tokens of a client, in memory."""

    token: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.token

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.token = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


async def remember(address: str, issuer: str) -> None:
    url = f"{address}/mcp?surfaces=official"
    login = ClientCredentialsOAuthProvider(url, Kept(), "agent-7", SECRET, issuer=issuer)
    entity = {"name": "ferry", "entityType": "project", "observations": ["sails on Mondays"]}
    with anyio.fail_after(SECONDS):
        async with (
            create_mcp_http_client(auth=login) as http,
            Client(streamable_http_client(url, http_client=http)) as client,
        ):
            result = await client.call_tool("create_entities", {"entities": [entity]})
            assert not result.is_error, result


def test_a_client_without_a_token_gets_one_from_the_issuer_and_writes(tmp_path: Path) -> None:
    with running_issuer() as issuer:
        port = free_port()
        address = f"http://127.0.0.1:{port}"
        options = ("--oauth-issuer", issuer.address, "--oauth-audience", address)
        with running(tmp_path, "--port", str(port), *options):
            anyio.run(remember, address, issuer.address)
    lines = audit(tmp_path)
    assert (lines[0]["status"], lines[0]["reason"]) == (401, "no token")
    assert {(line["caller"], line["namespace"]) for line in lines[1:]} == {("agent-7", "agent-7")}
    [found] = Command(tmp_path).document("--namespace", "agent-7", "search", "ferry")["hits"][:1]
    assert "ferry" in str(found)
