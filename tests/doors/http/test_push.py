"""/push and /changes: what is sent is kept once, and what is wrong is refused without any change."""

import gzip
import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from backports import zstd

from lore import Draft, Filter, Lore
from lore.config import Config
from lore.doors.sync_format import MOST_ITEMS
from lore.model import SESSION, TURN, Memory
from tests.doors.http.loopback import serving
from tests.doors.http.tokens import bearer, token_of

SEED = {
    "client_id": "laptop",
    "turns": [
        {"session": "/home/me/a.jsonl", "role": "user", "text": "yes"},
        {"session": "/home/me/a.jsonl", "role": "assistant", "text": "The harbour is in the north."},
    ],
}


@pytest.fixture
def http(lore: Lore, config: Config) -> Iterator[httpx2.Client]:
    with (
        serving(lore, config) as port,
        httpx2.Client(
            base_url=f"http://127.0.0.1:{port}", headers=bearer(token_of(lore)), trust_env=False
        ) as client,
    ):
        yield client


def stored(lore: Lore, kind: str = TURN) -> list[Memory]:
    return lore.select(Filter(kinds=frozenset({kind})), 100, "newest")[::-1]


def full_turn(**fields: Any) -> dict[str, Any]:
    return {"id": "1", "session": "s", "role": "user", "text": "Where is the harbour?", **fields}


def test_the_body_of_the_seed_is_kept_once_however_often_it_comes(http: httpx2.Client, lore: Lore) -> None:
    answers = [http.post("/push", json=SEED).json() for _ in range(3)]
    assert [(answer["status"], answer["staged"]) for answer in answers] == [("ok", 2)] * 3
    assert answers[0]["acknowledged"] == answers[2]["acknowledged"]
    assert {turn.session for turn in stored(lore)} == {"laptop:/home/me/a.jsonl"}
    again = {"session": "b", "role": "user", "text": "yes"}
    another = {"client_id": "laptop", "turns": [again, again]}
    http.post("/push", json=another)
    assert sorted(turn.content for turn in stored(lore)) == ["The harbour is in the north.", *["yes"] * 3]


def test_project_title_and_neighbours_do_not_depend_on_the_disk_of_the_server(
    http: httpx2.Client, lore: Lore, checkout: Any
) -> None:
    """The folder is a repository here, but another one there."""
    heading = {"session": "s", "title": "The harbour", "source": "codex"}
    first = full_turn(folder=str(checkout / "src"), source="codex", at=1_700_000_000, tool="", failed=False)
    second = {
        **first,
        "id": "2",
        "text": "And the key?",
        "remote": "git@example.org:me/ferry.git",
        "at": 1_700_000_001,
    }
    for turn in (first, second):
        body = {"batch_id": "b", "client_id": "laptop", "sessions": [heading], "turns": [turn]}
        assert http.post("/push", json=body).json()["batch_id"] == "b"
    (session,) = stored(lore, SESSION)
    one, two = stored(lore)
    assert (session.title, session.source, one.source) == ("The harbour", "codex", "codex")
    assert (one.project, two.project) == (str(checkout / "src"), "example.org/me/ferry")
    assert [link.target for link in lore.links([one.id], ["temporal"])] == [two.id]
    assert one.created_at == 1_700_000_000


def test_bad_turns_are_refused_one_by_one_with_the_reason(http: httpx2.Client, lore: Lore) -> None:
    bad = {
        "role": full_turn(id="role", role="robot"),
        "text": full_turn(id="text", text="  "),
        "at": full_turn(id="at", at="noon"),
        "session": full_turn(id="session", session=""),
        "folder": full_turn(id="folder", folder="a\0b"),
    }
    body = {"client_id": "laptop", "turns": [*bad.values(), 7, full_turn(id="good", unknown=1)]}
    answer = http.post("/push", json=body).json()
    assert answer["acknowledged"] == ["good"]
    assert [one["why"].partition(":")[0] for one in answer["refused"]] == [*bad, "session"]
    assert [turn.content for turn in stored(lore)] == ["Where is the harbour?"]


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"{", 400, "not JSON"),
        (b"[]", 400, "JSON object"),
        (b"[" * 100_000, 400, "not JSON"),
        (b'{"client_id": "a"}', 400, "a push is an object"),
        (b'{"client_id": "a:b", "turns": []}', 400, "client_id"),
        (b'{"client_id": "a", "turns": {}}', 400, "turns must be a list"),
        (json.dumps({"client_id": "a", "turns": [1] * (MOST_ITEMS + 1)}).encode(), 413, "at most"),
    ],
)
def test_a_malformed_push_changes_nothing(
    http: httpx2.Client, lore: Lore, body: bytes, status: int, said: str
) -> None:
    answer = http.post("/push", content=body)
    assert answer.status_code == status
    assert said in answer.json()["error"]["message"]
    assert lore.count(Filter()) == 0


@pytest.mark.parametrize(("name", "compress"), [("gzip", gzip.compress), ("zstd", zstd.compress)])
def test_a_push_may_be_compressed_but_not_without_end(http: httpx2.Client, name: str, compress: Any) -> None:
    headers = {"content-encoding": name}
    good, bomb = compress(json.dumps(SEED).encode()), compress(b" " * (8 << 20))
    assert http.post("/push", content=good, headers=headers).json()["staged"] == 2
    assert http.post("/push", content=bomb, headers=headers).status_code == 413


def test_secrets_are_redacted_again(http: httpx2.Client, lore: Lore) -> None:
    token = "ghp_" + "a1B2" * 9
    body = {
        "client_id": "laptop",
        "turns": [full_turn(text=f"use {token}", full=f"use {token} now, " * 9000)],
    }
    assert http.post("/push", json=body).json()["staged"] == 1
    (turn,) = stored(lore)
    assert token not in turn.content
    assert token not in lore.full_texts([turn.id])[turn.id]


def test_changes_come_page_by_page_and_bad_ones_are_refused(http: httpx2.Client, lore: Lore) -> None:
    ids = [lore.remember(Draft(content=text)).id for text in ("one", "two", "three")]
    first = http.get("/changes", params={"limit": 2}).json()
    second = http.get("/changes", params={"limit": 2, "after": first["cursor"]}).json()
    assert [one["id"] for page in (first, second) for one in page["changes"]] == ids
    assert (first["more"], second["more"]) == (True, False)
    good = {**first["changes"][0], "id": "0" * 16}
    wrong: list[dict[str, Any]] = [{"kind": "turn"}, {"score": "x"}, {"created_at": 1e300}]
    bad = [{**good, "id": str(at), "fields": good["fields"] | one} for at, one in enumerate(wrong)]
    body = {"client_id": "laptop", "changes": [good, *bad, {}]}
    answer = http.post("/changes", json=body).json()
    assert (answer["acknowledged"], answer["merged"], len(answer["refused"])) == (["0" * 16], 1, 4)
    assert http.get("/changes", params={"limit": "many"}).status_code == 400
    assert http.get("/changes", params={"after": "nowhere"}).status_code == 400


HALF = "\ud83d"
"""Half of a character, as a text that was cut has at its end."""


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/push", {"turns": [full_turn(), full_turn(id=HALF)]}),
        ("/push", {"turns": [full_turn()], "batch_id": HALF}),
        ("/push", {"turns": [full_turn()], "sessions": [{"session": HALF}]}),
        ("/changes", {"changes": [{"noun": "memory", "id": HALF}]}),
    ],
)
def test_half_a_character_in_an_id_is_refused_with_that_item_alone(
    path: str, body: dict[str, Any], http: httpx2.Client, lore: Lore
) -> None:
    answer = http.post(path, content=json.dumps({"client_id": "laptop", **body}))
    assert answer.status_code == 200, answer.text
    assert [one["id"] for one in answer.json()["refused"]] == ([] if "batch_id" in body else [HALF])
    assert len(stored(lore)) == (path == "/push")


@pytest.mark.parametrize("limit", ["0", "1001", "000000001999", "-1", "1e3", "x", ""])
def test_a_page_of_changes_has_a_limit(limit: str, http: httpx2.Client) -> None:
    answer = http.get("/changes", params={"limit": limit})
    assert answer.status_code == 400
    assert "limit must be a whole number from 1 to 1,000" in answer.json()["error"]["message"]
