"""Tokens, namespaces and sources for the page of settings, within what the caller may see."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.http.guarded import ELSEWHERE, Guarded, bearer, guarded

TOKENS = "/api/v1/tokens"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Guarded]:
    with guarded(tmp_path) as server:
        yield server


def test_the_user_of_the_machine_makes_lists_and_revokes_tokens(server: Guarded) -> None:
    browser, proof = server.browser()
    wanted = {"name": "ci", "namespaces": ["web"], "rights": ["read"]}
    made = browser.post(TOKENS, json=wanted, headers=proof)
    assert (made.status_code, made.json()["state"]) == (201, "active")
    token = made.json()["token"]
    use = server.client(ELSEWHERE).get("/status", headers=bearer(token))
    assert (use.status_code, use.json()["namespace"]) == (200, "web")
    listed = browser.get(TOKENS, headers=proof)
    assert [one["name"] for one in listed.json()["tokens"]] == ["ci"]
    assert token.rpartition("_")[2] not in listed.text
    assert "digest" not in listed.text
    assert browser.post(TOKENS, json=wanted, headers=proof).status_code == 400
    revoked = browser.delete(f"{TOKENS}/{made.json()['id']}", headers=proof)
    assert (revoked.status_code, revoked.json()["state"]) == (200, "revoked")
    assert server.client(ELSEWHERE).get("/status", headers=bearer(token)).status_code == 401
    assert browser.delete(f"{TOKENS}/nothing", headers=proof).status_code == 404


@pytest.mark.parametrize(
    "wrong",
    [
        {}, {"name": ""}, {"name": 3}, {"name": "a", "rights": ["all"]}, {"name": "a", "expires_at": 1.0},
        {"name": "a", "namespaces": "web"}, {"name": "a", "secret": "x"},
    ],
)  # fmt: skip
def test_a_wrong_token_is_refused(server: Guarded, wrong: dict[str, object]) -> None:
    assert server.owner().post(TOKENS, json=wrong).status_code == 400
    assert server.owner().get(TOKENS).json()["tokens"] == []


def test_no_token_makes_another_and_each_sees_only_those_within_its_own(server: Guarded) -> None:
    tokens = {
        "web": server.token("web", namespaces=("web",), rights=("admin",)),
        "all": server.token("all", namespaces=("*",), rights=("admin",)),
        "finance": server.token("finance", namespaces=("finance",)),
        "elsewhere": server.token("elsewhere", tenant="other", namespaces=("*",), rights=("admin",)),
    }
    client = server.client(ELSEWHERE)
    seen = {
        name: [one["name"] for one in client.get(TOKENS, headers=bearer(token)).json()["tokens"]]
        for name, token in tokens.items()
        if name != "finance"
    }
    assert seen == {"web": ["web"], "all": ["web", "all", "finance"], "elsewhere": ["elsewhere"]}
    for name in ("web", "all"):
        holder = bearer(tokens[name])
        assert client.post(TOKENS, json={"name": "more"}, headers=holder).status_code == 403
        session, proof = server.browser(tokens[name], ELSEWHERE)
        assert session.post(TOKENS, json={"name": "more"}, headers=proof).status_code == 403
    ids = {one["name"]: one["id"] for one in server.owner().get(TOKENS).json()["tokens"]}
    web = bearer(tokens["web"])
    assert client.delete(f"{TOKENS}/{ids['finance']}", headers=web).status_code == 404
    assert client.delete(f"{TOKENS}/{ids['web']}", headers=web).status_code == 200
    assert client.get(TOKENS, headers=web).status_code == 401


def test_namespaces_are_those_that_the_caller_may_act_in_with_their_own_memories(server: Guarded) -> None:
    for namespace, count in (("shared", 1), ("web", 2), ("finance", 3)):
        for number in range(count):
            body = {"draft": f"Number {number} of {namespace}."}
            server.owner().post(f"/api/v1/remember?namespace={namespace}", json=body)
    everything = server.owner().get("/api/v1/namespaces").json()
    counts = {one["name"]: one["memories"] for one in everything["namespaces"]}
    assert (counts, everything["current"]) == ({"finance": 3, "shared": 1, "web": 2}, "shared")
    holder = bearer(server.token("web", namespaces=("web",)))
    own = server.client(ELSEWHERE).get("/api/v1/namespaces", headers=holder).json()
    assert ([one["name"] for one in own["namespaces"]], own["current"]) == (["shared", "web"], "web")


def test_sources_say_where_conversations_are_and_how_many_were_read(
    server: Guarded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    folder = tmp_path / ".claude/projects/x"
    folder.mkdir(parents=True)
    (folder / "one.jsonl").write_text("{}\n")
    found = server.owner().get("/api/v1/sources").json()
    [claude] = [one for one in found["sources"] if one["name"] == "claude-code"]
    assert (found["paused"], claude["found"], claude["chosen"]) == (False, True, True)
    assert (claude["files"], claude["files_read"], claude["problems"]) == (1, 0, {})
    assert claude["folder"] == str(tmp_path / ".claude/projects")
