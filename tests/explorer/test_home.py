"""Home: figures, what was learnt and what happened; changes of an agent appear without a reload."""

from playwright.sync_api import expect

from tests.explorer.explorer import Explorer


def test_home_tells_how_much_is_known_and_what_happened(explorer: Explorer) -> None:
    page = explorer.open()
    expect(page.get_by_role("link", name="Health")).to_contain_text("All well")
    expect(page.get_by_role("img", name="Memories by day")).to_be_visible()
    expect(page.get_by_role("img", name="Memories by presence")).to_be_visible()
    id = explorer.remember("The lift is out of order until Friday.")
    explorer.call("forget", {"ids": [id], "reason": "repaired"})
    page = explorer.open()
    happened = page.get_by_role("region", name="What happened")
    expect(happened.get_by_role("listitem").first).to_contain_text("Forgotten")
    happened.get_by_role("link", name="The lift is out of order").first.click()
    expect(page.get_by_text("This memory is forgotten")).to_be_visible()


def test_what_an_agent_learns_appears_without_a_reload(explorer: Explorer) -> None:
    page = explorer.open()
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    explorer.remember("The coffee machine takes oat milk now.")
    learnt = page.get_by_role("region", name="Learnt")
    expect(learnt).to_contain_text("The coffee machine takes oat milk now.")


def test_an_open_memory_and_an_open_search_follow_the_changes_of_an_agent(explorer: Explorer) -> None:
    id = explorer.remember("The meeting room Faro seats six.", title="Faro")
    page = explorer.open(f"memory/{id}")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    explorer.call("revise", {"revision": {"id": id, "content": "The meeting room Faro seats eight."}})
    expect(page.locator(".memory-text")).to_have_text("The meeting room Faro seats eight.")
    explorer.open("search?q=meeting+room+Tavira+seats")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    explorer.remember("The meeting room Tavira seats four.", title="Tavira")
    expect(page.locator(".hit-link", has_text="Tavira")).to_be_visible()
