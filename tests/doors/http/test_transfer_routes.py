"""Export and import over HTTP: a round trip with preview and undo, within the caller's namespaces."""

import gzip
import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from lore.doors.http.transfer import UPLOAD_BYTES
from tests.doors.http.guarded import ELSEWHERE, Guarded, bearer, guarded
from tests.doors.http.serving import serving

IMPORT, EXPORT, UNDO = "/api/v1/import", "/api/v1/export", "/api/v1/import/undo"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Guarded]:
    with guarded(tmp_path / "one") as server:
        yield server


def remember(server: Guarded, content: str, namespace: str = "shared") -> None:
    server.owner().post(f"/api/v1/remember?namespace={namespace}", json={"draft": content})


def contents(export: bytes) -> set[str]:
    lines = [json.loads(line) for line in export.splitlines()]
    return {line["memory"]["content"] for line in lines if "memory" in line}


def memories(server: Guarded, namespace: str = "shared") -> int:
    status = server.owner().post(f"/api/v1/status?namespace={namespace}").json()
    return int(status["counts"]["memories"])


def test_a_store_moves_to_another_with_a_preview_and_back(server: Guarded, tmp_path: Path) -> None:
    remember(server, "Deploys happen on Mondays.")
    remember(server, "Tea is at four.", "web")
    answer = server.owner().get(EXPORT)
    assert answer.headers["content-disposition"].startswith('attachment; filename="lore-')
    assert len(contents(answer.content)) == 2
    packed = server.owner().get(f"{EXPORT}?compressed=1").content
    assert contents(gzip.decompress(packed)) == contents(answer.content)
    with guarded(tmp_path / "two") as other:
        client = other.owner()
        shown = client.post(f"{IMPORT}?preview=1&name=lore.jsonl.gz", content=packed).json()
        assert (shown["preview"], shown["format"], shown["memories"]["new"]) == (True, "lore", 2)
        assert (shown["id"], memories(other)) == ("", 0)
        done = client.post(IMPORT, content=packed).json()
        assert (done["memories"]["new"], memories(other), memories(other, "web")) == (2, 1, 2)
        again = client.post(IMPORT, content=answer.content).json()
        assert (again["memories"]["new"], again["memories"]["same"]) == (0, 2)
        undone = client.post(UNDO, json={"id": done["id"]}).json()
        assert (undone["forgotten"], memories(other, "web")) == (2, 0)


@pytest.mark.parametrize(
    ("name", "content", "part", "counts"),
    [
        ("notes.md", b"# Chat\n\nUser: We deploy on Mondays.\n\nAssistant: Noted.\n", "conversations", {}),
        ("m.json", b'{"type":"entity","name":"Ada","entityType":"person","observations":["likes tea"]}\n',
         "graph", {"entities": 1, "new_memories": 2}),
        ("mem0.json", b'[{"id": "1", "memory": "Prefers tea", "user_id": "u"}]', "memories", {"new": 1}),
    ],
)  # fmt: skip
def test_files_of_other_systems_are_recognised(
    server: Guarded, name: str, content: bytes, part: str, counts: dict[str, int]
) -> None:
    for preview in ("1", ""):
        answer = server.owner().post(f"{IMPORT}?name={name}&preview={preview}", content=content)
        assert answer.status_code == 200, answer.text
        assert counts.items() <= answer.json()[part].items()
        assert (memories(server) > 0) == (not preview)


@pytest.mark.parametrize(
    ("query", "content", "status"),
    [
        ("", b"", 400),
        ("?format=no-such", b"x", 400),
        ("?preview=1", b"SQLite format 3\0" + bytes(200), 503),
        ("?name=x.jsonl", b'{"lore": "export"', 400),
        ("?nme=x", b"x", 400),
    ],
)
def test_what_cannot_be_imported_is_refused(server: Guarded, query: str, content: bytes, status: int) -> None:
    answer = server.owner().post(f"{IMPORT}{query}", content=content)
    assert answer.status_code in (status, 400), answer.text
    assert memories(server) == 0
    for wrong in ({}, {"id": 3}, {"id": "x"}):
        assert server.owner().post(UNDO, json=wrong).status_code == 400


def test_the_name_of_an_upload_is_only_a_name(server: Guarded, tmp_path: Path) -> None:
    text = b"User: We deploy on Mondays.\n\nAssistant: Noted.\n"
    for name in ("../../escaped.md", "/etc/passwd.md", "a\0b.md", "x" * 5000 + ".md", "..", "."):
        answer = server.owner().post(IMPORT, params={"name": name, "format": "text"}, content=text)
        assert answer.status_code == 200, (name, answer.text)
    assert not list(tmp_path.rglob("escaped.md"))


def test_a_team_exports_and_imports_only_its_own_namespace(server: Guarded) -> None:
    for namespace in ("shared", "web", "finance"):
        remember(server, f"Of {namespace}.", namespace)
    everything = server.owner().get(EXPORT).content
    holder = bearer(server.token("web", namespaces=("web",), rights=("admin",)))
    client = server.client(ELSEWHERE)
    assert contents(client.get(EXPORT, headers=holder).content) == {"Of shared.", "Of web."}
    assert client.get(f"{EXPORT}?history=1", headers=holder).status_code == 403
    before = memories(server, "finance")
    made = client.post(IMPORT, content=everything, headers=holder).json()
    assert memories(server, "finance") == before
    finance = bearer(server.token("finance", namespaces=("finance",), rights=("admin",)))
    assert client.post(UNDO, json={"id": made["id"]}, headers=finance).status_code == 403
    assert client.post(UNDO, json={"id": made["id"]}, headers=holder).status_code in (200, 404)


def test_a_client_that_reads_its_export_slowly_keeps_nobody_else_waiting(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        for number in range(250):
            server.served.lore.remember(f"{number} " + "harbour " * 6_000)
        with server.connect() as slow:
            slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            head = f"GET {EXPORT} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\n\r\n"
            slow.sendall(head.encode())
            assert slow.recv(100).startswith(b"HTTP/1.1 200 ")
            whole = [server.client.get(EXPORT) for _ in range(2)]
            assert {len(contents(one.content)) for one in whole} == {250}
            assert len(whole[0].content) > 10_000_000, "more than the buffers between server and client hold"
        assert server.call("status").status_code == 200


def test_a_large_upload_is_received_and_one_that_is_too_large_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path, body_bytes=1000) as server:
        text = b"User: We deploy on Mondays.\n\nAssistant: Noted.\n" * 1000
        assert server.client.post(f"{IMPORT}?preview=1&format=text", content=text).status_code == 200
        with server.connect() as connection:
            head = f"POST {IMPORT} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {UPLOAD_BYTES + 1}\r\n"
            head += f"Authorization: Bearer {server.token}\r\n\r\n"
            connection.sendall(head.encode())
            assert connection.recv(100).startswith(b"HTTP/1.1 413 ")
