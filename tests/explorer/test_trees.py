"""Trees: opened by keyboard level by level, searched, and shown alone."""

from playwright.sync_api import expect

from tests.explorer.explorer import Explorer


def test_the_keyboard_opens_a_tree_and_goes_down_to_a_memory(explorer: Explorer) -> None:
    page = explorer.open("trees")
    tree = page.get_by_role("tree")
    tree.get_by_role("treeitem", name="Frontend").click()
    page.keyboard.press("ArrowRight")
    child = tree.get_by_role("treeitem", name="No component library")
    expect(child).to_have_attribute("aria-level", "2")
    page.keyboard.press("ArrowRight")
    page.keyboard.type("No comp")
    expect(child).to_be_focused()
    side = page.get_by_role("complementary", name="The chosen memory")
    expect(side).to_contain_text("We draw our own components")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(tree.get_by_role("treeitem", name="Frontend")).to_have_attribute("aria-expanded", "false")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Frontend")


def test_a_search_shows_the_way_down_to_each_hit(explorer: Explorer) -> None:
    page = explorer.open("trees")
    page.get_by_label("Search in all trees").fill("second person approves refunds")
    tree = page.get_by_role("tree")
    expect(tree.get_by_role("treeitem", name="Refunds above 500 euro")).to_have_attribute("aria-level", "2")
    expect(tree.get_by_role("treeitem", name="Payments").first).to_have_attribute("aria-expanded", "true")
    expect(tree.get_by_role("treeitem", name="Frontend")).to_have_count(0)


def test_a_tree_alone_grows_when_an_agent_adds_to_it(explorer: Explorer) -> None:
    top = explorer.remember("What the garden needs.", title="Garden", kind="fragment")
    explorer.remember("Water the roses on Fridays.", parent=top, kind="fragment")
    page = explorer.open(f"trees?at={top}")
    page.get_by_role("link", name="Show alone").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Garden")
    tree = page.get_by_role("tree")
    expect(tree.get_by_role("treeitem")).to_have_count(2)
    explorer.remember("Cut the hedge in June.", parent=top, kind="fragment")
    expect(tree.get_by_role("treeitem", name="Cut the hedge")).to_be_visible()
