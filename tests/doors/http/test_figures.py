"""Figures of calls and searches: by verb and tool, by hour, with the times and what searches found."""

from pathlib import Path

from lore.doors.figures import HOURS, Figures, percentiles
from lore.doors.http.tokens import Grant, create
from tests.doors.http.guarded import bearer
from tests.doors.http.serving import serving


def test_calls_of_verbs_and_tools_and_the_quality_of_searches_are_counted(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        server.call("remember", {"draft": "Deploys happen on Mondays."})
        for text in ("deploys", "mondays"):
            server.call("search", {"query": text})
        server.call("search", {"query": {"text": "deploys", "where": {"kinds": ["entity"]}}})
        server.call("search", {"wrong": 1})
        token = create(server.served.lore.store, Grant(name="agent"), 1.0)[0]
        message = {
            "jsonrpc": "2.0",
            "id": 1,
            "method": "tools/call",
            "params": {
                "name": "search",
                "arguments": {"query": "deploys"},
                "_meta": {
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
                    "io.modelcontextprotocol/clientCapabilities": {},
                },
            },
        }
        headers = bearer(token) | {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2026-07-28",
            "Mcp-Method": "tools/call",
            "Mcp-Name": "search",
        }
        assert server.client.post("/mcp", json=message, headers=headers).status_code == 200
        figures = server.client.get("/api/v1/metrics").json()
    calls = {(one["kind"], one["name"]): one for one in figures["calls"]}
    assert (calls["verb", "search"]["calls"], calls["verb", "search"]["errors"]) == (4, 1)
    assert calls["verb", "remember"]["calls"] == 1
    assert calls["tool", "search"]["calls"] == 1
    assert 0 < calls["verb", "search"]["p50_ms"] <= calls["verb", "search"]["p99_ms"]
    search = figures["search"]
    assert (search["searches"], search["with_hits"], search["without_hits"]) == (4, 3, 1)
    assert 0 < search["mean_best_score"] <= 1
    [hour] = figures["hours"]
    assert (hour["calls"], hour["searches"], hour["names"]["search"]) == (6, 4, 5)


def test_hours_are_kept_for_two_days() -> None:
    now = 1e9
    figures = Figures(lambda: now)
    for _ in range(HOURS + 5):
        figures.called("verb", "read", 0.01, failed=False)
        now += 3600
    hours = figures.view()["hours"]
    assert len(hours) == HOURS
    assert hours[0]["at"] < hours[-1]["at"] <= now


def test_percentiles_are_times_that_were_measured() -> None:
    assert percentiles([]) == {"p50_ms": None, "p95_ms": None, "p99_ms": None}
    assert percentiles([one / 1000 for one in range(100, 0, -1)]) == {
        "p50_ms": 50.0,
        "p95_ms": 95.0,
        "p99_ms": 99.0,
    }
