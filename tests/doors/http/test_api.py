"""The API on a real socket: what curl would see, limits of size and time, and clients that behave badly."""

import gzip
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import apsw
import httpx2
import pytest

from lore.doors.http import body, connection
from lore.model import Cause
from tests.doors.http.serving import Server, serving
from tests.doors.resident import SECONDS, until

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BODY_BYTES = 10_000
JSON = {"Content-Type": "application/json"}
HEAD = b"POST /api/v1/count HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("served"), body_bytes=BODY_BYTES) as server:
        yield server


def head(server: Server) -> bytes:
    """The beginning of the head of a call by somebody who may make it."""
    return HEAD + f"Authorization: Bearer {server.token}\r\n".encode()


def refusal(answer: httpx2.Response) -> tuple[int, str, str]:
    error = answer.json()["error"]
    return answer.status_code, error["kind"], error["message"]


def test_a_memory_is_kept_found_read_and_forgotten(server: Server) -> None:
    kept = server.call("remember", {"draft": {"content": "Steep sencha at 70 °C.", "type": "fact"}}).json()
    [hit] = server.call("search", {"query": "sencha"}).json()["hits"]
    assert (hit["memory"]["id"], hit["memory"]["type"]) == (kept["id"], "fact")
    assert server.call("count", {"where": {"types": ["fact"]}}).json() == 1
    assert server.call("forget", {"ids": [kept["id"]], "reason": "cold"}).json() == [kept["id"]]
    history = server.call("history", {"id": kept["id"]}).json()
    assert [(entry["cause"]["surface"], entry["cause"]["verb"]) for entry in history] == [
        ("api", "remember"),
        ("api", "forget"),
    ]
    status, kind, message = refusal(server.call("read", {"id": kept["id"]}))
    assert (status, kind) == (404, "NotFound")
    assert f"memory {kept['id']} was forgotten" in message


def test_the_address_says_where_a_call_acts(server: Server) -> None:
    kept = server.call("remember", {"draft": "The kettle is blue."}, project="kettle").json()
    assert (kept["namespace"], kept["project"]) == ("shared", "kettle")
    assert refusal(server.call("status", None, namespce="web")) == (
        400,
        "Invalid",
        "unknown parameter 'namespce' in the address; known: namespace, project, session."
        " Arguments of a verb are sent in the body",
    )
    twice = server.client.post("/api/v1/status?project=a&project=b")
    assert refusal(twice) == (400, "Invalid", "the parameter 'project' may be given once")


def test_wrong_requests_are_refused_in_json(server: Server) -> None:
    client = server.client
    assert refusal(client.post("/api/v1/nonsense"))[:2] == (404, "NotFound")
    assert refusal(client.get("/api/v1/search"))[:2] == (405, "MethodNotAllowed")
    assert refusal(client.post("/api/v1/search", content=b'{"query": "x"}'))[:2] == (415, "Unsupported")
    assert refusal(client.post("/api/v1/search", content=b"\0", headers=JSON))[:2] == (400, "Invalid")
    assert client.post("/api/v1/status").status_code == 200


# --- the size of bodies
def parts() -> Iterator[bytes]:
    """A body that is sent without a length."""
    yield b'{"where": {}'
    yield from (b" " * 1000 for _ in range(BODY_BYTES // 1000))


@pytest.mark.parametrize("content", [b" " * (BODY_BYTES + 1), parts()], ids=["with a length", "without"])
def test_a_body_that_is_too_large_is_refused(server: Server, content: bytes | Iterator[bytes]) -> None:
    answer = server.client.post("/api/v1/count", content=content, headers=JSON)
    assert refusal(answer) == (
        413,
        "TooLarge",
        "a body has at most 10,000 bytes, also when it is decompressed",
    )


@pytest.mark.parametrize(("encoding", "compress"), [("gzip", gzip.compress), ("zstd", zstd.compress)])
def test_a_compressed_body_is_read_within_the_same_limit(
    server: Server, encoding: str, compress: object
) -> None:
    assert callable(compress)

    def sent(content: bytes, encoding: str = encoding) -> httpx2.Response:
        headers = JSON | {"Content-Encoding": encoding}
        return server.client.post("/api/v1/count", content=content, headers=headers)

    arguments = b'{"where": {"titles": ["nobody"]}}'
    assert sent(compress(arguments)).json() == 0
    assert refusal(sent(compress(bytes(10_000_000))))[:2] == (413, "TooLarge")
    assert refusal(sent(compress(arguments)[:-3]))[2] == f"the body is not {encoding}: it ends too early"
    assert refusal(sent(b"plain"))[2].startswith(f"the body is not {encoding}: ")
    assert refusal(sent(arguments, "br")) == (
        415,
        "Unsupported",
        "unknown Content-Encoding 'br'; known: gzip, zstd",
    )


# --- time
def test_a_call_that_is_not_done_in_time_says_that_it_was_begun(tmp_path: Path) -> None:
    with serving(tmp_path, request_seconds=0.5) as server:
        kept = server.call("remember", {"draft": "tea"})
        with closing(apsw.Connection(str(tmp_path / "memory.db"))) as other:
            other.set_busy_timeout(int(SECONDS * 1000))
            other.execute("BEGIN IMMEDIATE")
            assert refusal(server.call("remember", {"draft": "coffee"})) == (
                504,
                "Overdue",
                "remember has not ended after 0.5 seconds. It may still be done: look for the result before"
                " you try again.",
            )
            assert server.call("read", {"id": kept.json()["id"], "use": False}).status_code == 200
        until(lambda: server.call("count", {"where": {}}).json() == 2)


# --- clients that behave badly
@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\0\xff garbage \r\n\r\n",
        HEAD,
        HEAD + b"Content-Length: 100\r\n\r\n{",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{",
        HEAD + b"Content-Length: -5\r\n\r\n{}",
        b"GET " + b"/x" * 100_000,
    ],
    ids=["nothing", "garbage", "half a head", "half a body", "half a chunk", "wrong length", "endless line"],
)
def test_a_client_that_stops_in_the_middle_harms_nobody(server: Server, sent: bytes) -> None:
    with server.connect() as rude:
        rude.sendall(sent)
        assert server.call("status").status_code == 200
    assert server.call("status").status_code == 200


@pytest.mark.parametrize("sent", [b"", HEAD], ids=["nothing", "half a head"])
def test_a_client_that_sends_no_request_is_cut_off(
    server: Server, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.1)
    with server.connect() as silent:
        silent.sendall(sent)
        assert silent.recv(1) == b""


def test_a_client_that_goes_on_to_send_a_refused_body_is_cut_off(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "HEAD_SECONDS", 0.1)
    with server.connect() as slow:
        slow.sendall(HEAD + b"Authorization: Bearer x\r\nContent-Length: 100\r\n\r\n{")
        slow.settimeout(20)  # shorter than an unused connection stays open
        assert slow.recv(12) == b"HTTP/1.1 401"
        while slow.recv(1000):
            pass


def test_a_request_for_another_protocol_is_answered_and_fills_no_log(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket"}
    assert server.client.get("/healthz", headers=upgrade).status_code == 200
    assert not caplog.messages


def test_a_body_that_does_not_come_is_given_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "BODY_SECONDS", 0.1)
    with server.connect() as slow:
        slow.sendall(head(server) + b"Content-Length: 100\r\n\r\n{")
        assert slow.recv(1000).startswith(b"HTTP/1.1 408 ")


def test_a_body_that_drips_is_given_up(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "BODY_SECONDS", 0.5)
    with server.connect() as slow:
        slow.sendall(head(server) + b"Content-Length: 10000\r\n\r\n{")
        slow.settimeout(0.05)
        for _ in range(200):  # each part comes well before the time between two parts is over
            with suppress(TimeoutError):
                assert slow.recv(1000).startswith(b"HTTP/1.1 408 ")
                return
            slow.sendall(b" ")
    pytest.fail("it goes on for ever")


def test_a_client_that_leaves_does_not_interrupt_what_has_begun(server: Server) -> None:
    draft = b'{"draft": "Written for somebody who has left."}'
    lore = server.served.lore

    def begun() -> float:
        [line] = re.findall(
            r'lore_verb_calls_total{verb="remember"} (\S+)', server.client.get("/metrics").text
        )
        return float(line)

    server.call("remember", {"draft": "Written by somebody who stays."})
    before = begun()
    with lore.store.transaction(lore.namespace, Cause(verb="test"), lore.clock()), server.connect() as gone:
        called = head(server).replace(b"/count", b"/remember")
        gone.sendall(called + b"Content-Length: %d\r\n\r\n" % len(draft) + draft)
        until(lambda: begun() > before)
        gone.shutdown(socket.SHUT_RDWR)
    until(lambda: server.call("search", {"query": "somebody who has left"}).json()["hits"])
