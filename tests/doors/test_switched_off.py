"""`lore-mcp` in a client that Lore itself started: it offers nothing and starts no daemon."""

import os

from tests.doors.resident import Agent, an_endpoint, short_folder


def test_a_relay_offers_nothing_starts_no_daemon_and_ends_with_its_agent() -> None:
    with short_folder() as folder, an_endpoint(folder) as endpoint:
        with Agent(endpoint, LORE_DISABLE="1") as agent:
            assert agent.ask("initialize", {"protocolVersion": "2025-06-18"})["result"]["capabilities"] == {}
            agent.say({"method": "notifications/initialized"})
            assert agent.ask("tools/list")["result"] == {"tools": []}
            assert "LORE_DISABLE" in agent.ask("tools/call", {"name": "search"})["error"]["message"]
            assert agent.close() == 0
        assert os.listdir(folder) == []
