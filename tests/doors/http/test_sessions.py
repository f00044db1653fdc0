"""A browser needs a session on every route, and a proof for every change; programs go on with tokens."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from starlette.testclient import TestClient

from lore.doors.http.sessions import (
    CODE_SECONDS,
    CSRF_HEADER,
    IDLE_SECONDS,
    MOST_CODES,
    MOST_SESSIONS,
    SAFE,
    Sessions,
)
from lore.doors.http.tokens import find, revoke
from tests.doors.http.guarded import ELSEWHERE, SAME_ORIGIN, Guarded, bearer, guarded
from tests.doors.http.test_every_route import LACKING, address, protected

FROM_ELSEWHERE = ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"})


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded(tmp_path_factory.mktemp("sessions"), rate_limit=0) as server:
        yield server


class Case(NamedTuple):
    """A browser that no route lets in. headers: that it sends besides the proof of its session."""

    client: TestClient
    headers: dict[str, str]
    status: int


def cases(server: Guarded) -> dict[str, Case]:
    token = server.token("browser", rights=("admin",))
    revoked = server.browser(server.token("browser of a revoked token", rights=("admin",)))
    revoke(server.store, find(server.store, "browser of a revoked token", 0).id, 1.0)
    made_up, ended = server.client(), server.browser()
    made_up.cookies = {name: "A" * 43 for name in ended[0].cookies}
    kept = dict(ended[0].cookies)
    ended[0].post("/explorer/sign-out", headers=ended[1])
    ended[0].cookies = kept
    [name], away = kept, server.client(ELSEWHERE)
    away.cookies = {name: server.served.sessions.begin()}
    return {
        "no cookie": Case(server.client(), SAME_ORIGIN, 401),
        "a cookie that nobody was given": Case(made_up, SAME_ORIGIN, 401),
        "a session that was ended": Case(*ended, 401),
        "a token that was revoked": Case(*revoked, 401),
        "the link of another machine": Case(away, SAME_ORIGIN, 401),
        "a proxy in between": Case(*server.browser(), 401),
        **{
            f"a page from elsewhere {foreign}": Case(client, sent | foreign, 403)
            for foreign in FROM_ELSEWHERE
            for client, sent in (server.browser(), server.browser(token))
        },
    }


def test_every_route_refuses_a_browser_without_a_session_of_its_own(server: Guarded) -> None:
    for kind, (client, headers, status) in cases(server).items():
        headers |= {"X-Forwarded-For": ELSEWHERE} if "proxy" in kind else {}
        if "another machine" in kind:
            session = server.served.sessions.find(next(iter(client.cookies.values())))
            headers = headers | {CSRF_HEADER: session.csrf if session else ""}
        for route, _ in protected(server):
            answer = client.request(route.method, address(route), headers=headers)
            assert answer.status_code == status, (kind, route)


def test_every_change_from_a_browser_needs_the_proof_of_its_own_session(server: Guarded) -> None:
    changes = [route for route, _ in protected(server) if route.method not in SAFE]
    assert changes
    for token in ("", server.token("proof", rights=("admin",))):
        client, _ = server.browser(token)
        _, foreign = server.browser(token)
        for headers in (SAME_ORIGIN, SAME_ORIGIN | {CSRF_HEADER: ""}, foreign, {}):
            for route in changes:
                answer = client.request(route.method, address(route), headers=headers)
                assert (answer.status_code, CSRF_HEADER in answer.text) == (403, True), (headers, route)


def test_every_route_refuses_a_session_whose_token_lacks_its_right_or_namespace(server: Guarded) -> None:
    def signed_in(name: str, **grant: Any) -> tuple[TestClient, dict[str, str]]:
        token = server.token(name, **grant)
        client = server.client()
        [cookie] = server.browser()[0].cookies
        client.cookies = {cookie: (secret := server.served.sessions.begin(token))}
        session = server.served.sessions.find(secret)
        assert session is not None
        return client, SAME_ORIGIN | {CSRF_HEADER: session.csrf}

    lacking = {right: signed_in(f"lacks {right}", rights=rights) for right, rights in LACKING.items()}
    client, headers = signed_in("of the web", namespaces=("web",), rights=("admin",))
    for route, right in protected(server):
        limited, sent = lacking[right]
        answer = limited.request(route.method, address(route), headers=sent)
        assert (answer.status_code, f"lore:{right}" in answer.headers["www-authenticate"]) == (403, True), (
            route
        )
        answer = client.request(route.method, f"{address(route)}?namespace=finance", headers=headers)
        assert (answer.status_code, "not yours" in answer.text) == (403, True), route


def test_a_link_gives_one_session_within_two_minutes(server: Guarded) -> None:
    code, late = server.served.sessions.code(), server.served.sessions.code()
    client = server.client()
    head = client.head(f"/explorer/enter?code={code}", follow_redirects=False)
    entered = client.get(f"/explorer/enter?code={code}", follow_redirects=False)
    assert (entered.status_code, entered.headers["location"]) == (303, "/explorer/")
    assert "set-cookie" not in head.headers

    def is_refused(wrong: str) -> bool:
        answer = server.client().get("/explorer/enter", params={"code": wrong}, follow_redirects=False)
        old = answer.headers["location"] == "/explorer/sign-in?link=old"
        return old and "set-cookie" not in answer.headers

    assert all(map(is_refused, (code, "", "x", late[:-1], "é")))
    server.session_seconds += CODE_SECONDS
    assert is_refused(late)


@pytest.mark.parametrize(("scheme", "name"), [("http", "lore_session_"), ("https", "__Host-lore_session_")])
def test_the_cookie_is_hidden_from_scripts_and_other_sites_and_kept_by_port(
    server: Guarded, scheme: str, name: str
) -> None:
    def cookie(port: int) -> str:
        url = f"{scheme}://localhost:{port}/explorer/enter?code={server.served.sessions.code()}"
        return server.client().get(url, follow_redirects=False).headers["set-cookie"]

    parts = [part.strip().lower() for part in cookie(8443).split(";")]
    assert parts[0].startswith(f"{name}8443=".lower())
    assert {"httponly", "samesite=strict", "path=/"} <= set(parts)
    assert ("secure" in parts) == (scheme == "https")
    assert not [part for part in parts if part.startswith(("domain", "max-age", "expires"))]
    assert cookie(8080).startswith(f"{name}8080=")


def test_a_session_of_a_link_is_the_user_of_this_machine(server: Guarded) -> None:
    client, headers = server.browser()
    who = client.get("/api/v1/session", headers=SAME_ORIGIN).json()
    assert (who["name"], who["rights"], who["every_namespace"]) == ("", ["admin", "read", "write"], True)
    kept = client.post("/api/v1/remember", json={"draft": "The harbour opens at six."}, headers=headers)
    assert kept.status_code == 200


def test_a_token_gives_a_session_with_its_rights_until_it_is_revoked(server: Guarded) -> None:
    token = server.token("reader", namespaces=("web",), rights=("read",))
    client, headers = server.browser(token, ELSEWHERE)
    who = client.get("/api/v1/session", headers=headers).json()
    assert (who["name"], who["namespaces"], who["rights"]) == ("reader", ["web"], ["read"])
    assert client.post("/api/v1/status", headers=headers).status_code == 200
    assert client.post("/api/v1/remember", json={"draft": "x"}, headers=headers).status_code == 403
    revoke(server.store, find(server.store, "reader", 0).id, 2.0)
    assert client.post("/api/v1/status", headers=headers).status_code == 401


def test_a_session_ends_after_twelve_hours_without_a_request(server: Guarded) -> None:
    client, headers = server.browser()
    for _ in range(3):
        server.session_seconds += IDLE_SECONDS
        assert client.post("/api/v1/status", headers=headers).status_code == 200
    server.session_seconds += IDLE_SECONDS
    listens = SAME_ORIGIN | {"Accept": "text/event-stream"}
    assert client.head("/api/v1/events", headers=listens).status_code == 200
    server.session_seconds += 1
    assert client.post("/api/v1/status", headers=headers).status_code == 401


def test_signing_out_ends_the_session_and_needs_its_proof(server: Guarded) -> None:
    client, headers = server.browser()
    for refused in (SAME_ORIGIN, {}, headers | {"Origin": "https://evil.example"}):
        assert client.post("/explorer/sign-out", headers=refused).status_code == 403
    assert client.get("/status", headers=SAME_ORIGIN).status_code == 200
    answer = client.post("/explorer/sign-out", headers=headers)
    assert (answer.status_code, dict(client.cookies)) == (204, {})
    assert client.post("/explorer/sign-out", headers=headers).status_code == 204


def test_a_wrong_token_gives_no_session(server: Guarded) -> None:
    for headers in (bearer("lore_0123456789ab_" + "A" * 43), {"Authorization": "Basic eDp5"}, {}):
        answer = server.client().post("/explorer/sign-in", headers=SAME_ORIGIN | headers)
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers


def test_programs_without_a_browsers_headers_need_no_session_and_no_proof(server: Guarded) -> None:
    token = bearer(server.token("script"))
    assert server.client().post("/api/v1/status").status_code == 401
    assert server.client().post("/api/v1/status", headers=token).status_code == 200
    assert server.client().post("/api/v1/status", headers=token | SAME_ORIGIN).status_code == 200
    browser, _ = server.browser()
    assert browser.post("/api/v1/status", headers=token | SAME_ORIGIN).status_code == 200


def test_the_audit_says_that_a_session_was_missing_and_no_secret(server: Guarded) -> None:
    code = server.served.sessions.code()
    server.client().get("/status", headers=SAME_ORIGIN)
    assert server.audit()[-1]["reason"] == "no session"
    client = server.client()
    client.get(f"/explorer/enter?code={code}", follow_redirects=False)
    client.get("/status", headers=SAME_ORIGIN)
    [secret] = client.cookies.values()
    lines = (server.folder / "audit.log").read_text()
    assert code not in lines
    assert secret not in lines


def test_links_and_sessions_are_limited_in_number() -> None:
    now = 0.0
    sessions = Sessions(lambda: now)
    first_code, first = sessions.code(), sessions.begin()
    second_code, second = sessions.code(), sessions.begin()
    now = 1.0
    assert sessions.find(first) is not None
    for _ in range(MOST_CODES - 1):
        sessions.code()
    for _ in range(MOST_SESSIONS - 1):
        sessions.begin()
    assert (sessions.redeem(first_code), sessions.redeem(second_code)) == (False, True)
    assert sessions.find(second) is None
    assert sessions.find(first) is not None
