"""Requests of web pages are told from those of agents, and no answer may be read or shown by a page."""

from collections.abc import Iterator

import pytest

from tests.doors.http.guarded import Guarded, bearer, guarded


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    settings = {"allowed_hosts": "lore.example", "allowed_origins": "https://tools.example"}
    with guarded(tmp_path_factory.mktemp("guard"), **settings) as server:
        yield server


@pytest.fixture(scope="module")
def token(server: Guarded) -> dict[str, str]:
    return bearer(server.token("of a page"))


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200), ("LOCALHOST:8080", 200), ("127.0.0.1:8080", 200), ("[::1]:8080", 200),
        ("192.0.2.7:8080", 200), ("lore.example", 200), ("Lore.Example:443", 200),
        ("evil.example", 421), ("evillore.example", 421), ("localhost.evil.example", 421),
        ("lore.example.evil.example", 421),
        ("127.0.0.1.evil.example:8080", 421), ("evil.example:127.0.0.1", 421), ("", 421),
    ],
)  # fmt: skip
def test_a_name_that_is_not_the_servers_is_refused_on_every_route(
    server: Guarded, token: dict[str, str], host: str, status: int
) -> None:
    for path in ("/healthz", "/status"):
        assert server.client().get(path, headers=token | {"Host": host}).status_code == status


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://localhost"}, 200),
        ({"Origin": "https://tools.example"}, 200),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://localhost:3000"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://["}, 403),
        ({"Origin": "file://localhost"}, 403),
        ({"Origin": ""}, 403),
        ({"Origin": "http://localhost", "Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "https://tools.example", "Sec-Fetch-Site": "cross-site"}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "no-cors"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200),
    ],
)
def test_a_page_of_another_origin_is_refused(
    server: Guarded, token: dict[str, str], headers: dict[str, str], status: int
) -> None:
    assert server.client().get("/status", headers=headers | token).status_code == status


def test_a_token_is_never_sent_on_to_another_address(server: Guarded) -> None:
    for path in ("/mcp/", "/messages", "/status/"):
        assert server.client().get(path, follow_redirects=False).status_code == 404


def test_no_answer_may_be_read_or_shown_by_a_page(server: Guarded, token: dict[str, str]) -> None:
    client = server.client()
    preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    refused = client.options("/status", headers={"Origin": "https://evil.example", **preflight})
    allowed = client.options("/status", headers={"Origin": "https://tools.example", **preflight})
    answer = client.get("/status", headers={"Origin": "https://tools.example"} | token)
    assert (refused.status_code, allowed.status_code, answer.status_code) == (403, 405, 200)
    for one in (refused, allowed, answer, client.get("/nowhere")):
        assert not [name for name in one.headers if name.startswith("access-control")]
        assert one.headers["x-content-type-options"] == "nosniff"
        assert one.headers["cache-control"] == "no-store"
        assert one.headers["content-security-policy"] == "frame-ancestors 'none'"
