"""Metrics: the calls of agents appear with their times, and searches with what they found."""

from playwright.sync_api import expect

from tests.explorer.explorer import Explorer


def test_calls_failures_and_searches_are_counted(explorer: Explorer) -> None:
    page = explorer.open("metrics")
    assert explorer.server.call("read", {"id": "no-such-id"}).status_code == 404
    explorer.call("search", {"query": {"text": "webhooks arrive twice"}})
    view = explorer.server.served.figures.view()
    failures = next(one["errors"] for one in view["calls"] if one["name"] == "read")
    page.get_by_role("button", name="Refresh").click()
    row = page.get_by_role("row").filter(has=page.get_by_text("read", exact=True))
    expect(row.locator(".metrics-failed")).to_have_text(str(failures))
    searches = page.get_by_role("region", name="Searches by hour")
    expect(searches).to_contain_text(f"{view['search']['with_hits']} found something")
    expect(searches.get_by_role("img")).to_be_visible()


def test_an_agents_tools_stand_apart_from_verbs(explorer: Explorer) -> None:
    explorer.call("status")
    page = explorer.open("metrics")
    table = page.get_by_role("region", name="Calls by name").first
    expect(table.get_by_role("cell", name="status", exact=True)).to_be_visible()
    explorer.server.served.tool_called("lore_search", 0.25, False)
    page.get_by_role("button", name="Refresh").click()
    table.get_by_role("button", name="Tools").click()
    expect(table.get_by_role("row").filter(has_text="lore_search")).to_contain_text("250 ms")
    expect(table.get_by_role("cell", name="status", exact=True)).to_have_count(0)
