"""`lore-server` as a process: it consolidates, shares its store and ends without losing work. The same door
inside a daemon."""

import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import httpx2
import pytest

from lore.doors.endpoint import Endpoint
from lore.doors.http.server import listen
from lore.doors.starting import start, stop
from lore.errors import Unavailable
from tests.doors.http.serving import serving
from tests.doors.http.test_server_process import SERVER, environment
from tests.doors.http.tokens import bearer, token_in
from tests.doors.resident import SECONDS, status, until


@contextmanager
def nobody_can_write(folder: Path) -> Iterator[None]:
    with closing(apsw.Connection(str(folder / "memory.db"))) as other:
        other.set_busy_timeout(int(SECONDS * 1000))
        other.execute("BEGIN IMMEDIATE")
        yield


def calls_of(client: httpx2.Client, verb: str) -> float:
    """How often a verb was called, by the metrics."""
    line = f'lore_verb_calls_total{{verb="{verb}"}} '
    text = client.get("/metrics").text
    return next(float(one.removeprefix(line)) for one in text.splitlines() if one.startswith(line))


def refuses_connections(address: str) -> bool:
    try:
        httpx2.get(f"{address}/healthz", timeout=SECONDS)
    except httpx2.ConnectError:
        return True
    return False


def test_a_connection_sends_a_small_answer_at_once() -> None:
    with (
        closing(listen("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()),
        closing(listener.accept()[0]) as connection,
    ):
        assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_a_server_consolidates_shares_its_store_and_finishes_what_has_begun(tmp_path: Path) -> None:
    answers: list[httpx2.Response] = []
    holder = bearer(token_in(tmp_path))
    env = environment(tmp_path) | {"LORE_CONSOLIDATION_INTERVAL": "1"}
    with subprocess.Popen(
        SERVER, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stderr
        address = process.stdout.readline().split(" at ")[1].split(";")[0]
        with (
            httpx2.Client(base_url=address, timeout=SECONDS, headers=holder) as client,
            serving(tmp_path) as other,
        ):
            kept = client.post("/api/v1/remember", json={"draft": "The kettle is blue."}).json()
            [hit] = other.call("search", {"query": "kettle"}).json()["hits"]
            assert hit["memory"]["id"] == kept["id"]
            until(lambda: client.post("/api/v1/status").json()["last_run"])
            with nobody_can_write(tmp_path):
                call = threading.Thread(
                    target=lambda: answers.append(client.post("/api/v1/remember", json={"draft": "last"}))
                )
                call.start()
                until(lambda: calls_of(client, "remember") == 2)
                process.send_signal(signal.SIGTERM)
                until(lambda: refuses_connections(address))
            call.join()
            assert process.wait(SECONDS) == 0
            assert other.call("read", {"id": answers[0].json()["id"]}).json()["memory"]["content"] == "last"
        assert process.stderr.read().splitlines()[-1].endswith("ended")


def test_an_address_that_cannot_be_had_is_an_error_that_names_it() -> None:
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(Unavailable, match=f"127.0.0.1 port {port} cannot be used: Address already"):
            listen("127.0.0.1", port)


def test_a_daemon_serves_http_as_soon_as_its_port_is_free_until_it_is_stopped(fresh: Endpoint) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        start(fresh, "--http", str(port))
        why = until(lambda: status(fresh)["troubles"].get("serving HTTP"))
        assert "Address already in use" in why
        assert status(fresh)["http"] is None
    address = until(lambda: status(fresh)["http"])
    assert address == f"http://127.0.0.1:{port}"
    call, body = f"{address}/api/v1/remember", {"draft": "Daemons stay."}
    assert httpx2.post(call, json=body, timeout=SECONDS).status_code == 401
    holder = bearer(token_in(Path(fresh.home)))
    kept = httpx2.post(call, json=body, headers=holder, timeout=SECONDS)
    assert kept.json()["content"] == "Daemons stay."
    assert status(fresh)["memories"] == 1
    assert stop(fresh)
    assert refuses_connections(address)
