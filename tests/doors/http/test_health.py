"""/status, /healthz, /readyz and /metrics: what administrators, load balancers and Prometheus see."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.requests import Request
from starlette.testclient import TestClient

from lore.config import Config
from lore.connecting import wire
from lore.doors.http import health
from lore.doors.http.app import application
from lore.doors.http.callers import Caller, Unauthenticated
from lore.doors.http.served import Served
from lore.embed.hashing import HashEmbedder
from tests.doors.http.guarded import ELSEWHERE, Guarded, bearer, guarded
from tests.doors.http.serving import serving
from tests.doors.http.test_mcp import ACCEPT, INITIALIZE

CALL = {
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/call",
    "params": {"name": "search", "arguments": {"query": "tea"}},
}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Guarded]:
    with guarded(tmp_path) as server:
        yield server


def test_the_status_has_the_fields_of_the_reference_server_and_more(server: Guarded) -> None:
    status = server.owner().get("/status").json()
    seed = {name: status.pop(name) for name in ("status", "staged_sessions", "staged_turns")}
    assert seed == {"status": "ok", "staged_sessions": 0, "staged_turns": 0}
    assert (status["memories"], status["namespace"]) == (0, "shared")


def test_figures_need_the_right_to_read_and_health_needs_none(server: Guarded) -> None:
    client = server.client(ELSEWHERE, "127.0.0.1")
    assert [client.get(path).status_code for path in ("/healthz", "/status", "/metrics")] == [200, 401, 401]
    token = bearer(server.token("ops", rights=("read",)))
    assert [client.get(path, headers=token).status_code for path in ("/status", "/metrics")] == [200, 200]


class Loading(HashEmbedder):
    """A model that is not loaded yet."""

    ready = False


async def nobody(request: Request) -> Caller:
    raise Unauthenticated("nobody may call")


def test_a_server_is_ready_once_its_model_is_loaded_and_while_its_store_can_be_read(config: Config) -> None:
    embedder = Loading()
    with closing(wire(config, embedder=embedder, patient=False)) as lore:
        served = Served(lore=lore, config=config)
        client = TestClient(application(served, health.routes(served), nobody))

        def trouble() -> str:
            answer = client.get("/readyz")
            assert answer.status_code == 503
            return str(answer.json()["error"]["message"])

        assert trouble() == "the embedding model is still loading"
        embedder.ready = True
        assert client.get("/readyz").json() == {"status": "ok"}
        lore.store.close()
        assert trouble() == "the store cannot be read; the log of the server says why"
        assert client.get("/healthz").json() == {"status": "ok"}


def test_metrics_count_requests_calls_and_memories(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        server.call("remember", {"draft": "tea"})
        server.call("search", {"query": 7})
        server.client.get("/nonsense")
        server.client.request("BREW", "/nonsense")
        opened = server.client.post("/mcp", json=INITIALIZE, headers=ACCEPT)
        session = {"Mcp-Session-Id": opened.headers["Mcp-Session-Id"]}
        server.client.post("/mcp", json=CALL, headers=ACCEPT | session).raise_for_status()
        text = server.client.get("/metrics").text
    samples = {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert samples["lore_http_requests_total", "POST", "/api/v1/remember", "200"] == 1
    assert samples["lore_http_requests_total", "POST", "/api/v1/search", "400"] == 1
    assert samples["lore_http_requests_total", "GET", "none", "404"] == 1
    assert samples["lore_http_requests_total", "other", "none", "404"] == 1
    assert samples["lore_http_request_seconds_count", "POST", "/api/v1/remember"] == 1
    assert samples["lore_verb_calls_total", "remember"] == 1
    assert samples["lore_tool_calls_total", "search"] == 1
    assert samples["lore_http_requests_total", "POST", "/mcp", "200"] == 2
    assert samples["lore_memories",] == 1
    assert samples["lore_store_bytes",] > 0
    assert samples["process_resident_memory_bytes",] > 0
