"""The map: drawn, lit by a search, walked by mouse and keyboard, filtered, and as a list."""

import re

from playwright.sync_api import Page, expect

from tests.explorer.explorer import Explorer


def open_map(explorer: Explorer, path: str = "map") -> Page:
    """The map when it has come to rest."""
    page = explorer.open(path)
    expect(page.locator("[data-state=still]")).to_be_visible()
    return page


def test_a_click_on_a_dot_opens_the_memory_and_its_neighbours_lead_on(explorer: Explorer) -> None:
    alone = explorer.remember("The lighthouse has a red door.", title="Lighthouse", project="lighthouse")
    other = explorer.remember("Its keeper is called Bo.", title="Keeper of the lighthouse")
    explorer.call("link", {"ties": [{"source": alone, "target": other}]})
    page = open_map(explorer, "map?project=lighthouse&by=project")
    page.get_by_role("group", name="What the colours mean").get_by_role("button", name="lighthouse").click()
    box = page.get_by_role("application").bounding_box()
    assert box
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    side = page.get_by_role("complementary", name="The chosen memory")
    expect(side.get_by_role("heading", level=2)).to_have_text("Lighthouse")

    neighbour = side.get_by_role("button", name="Keeper of the lighthouse")
    neighbour.focus()
    page.keyboard.press("Enter")
    heading = side.get_by_role("heading", level=2)
    expect(heading).to_have_text("Keeper of the lighthouse")
    expect(heading).to_be_focused()
    page.keyboard.press("Escape")
    expect(side).to_have_count(0)


def test_a_search_lights_its_hits_and_dims_the_rest(explorer: Explorer) -> None:
    page = open_map(explorer)
    dots = page.locator("canvas.sigma-nodes")
    expect(dots).not_to_have_css("opacity", "0.18")
    page.keyboard.press("f")
    page.keyboard.type("webhooks")
    expect(page.get_by_role("status").filter(has_text=re.compile(r"\d+ hits?, lit"))).to_be_visible()
    expect(dots).to_have_css("opacity", "0.18")
    page.keyboard.press("Escape")
    expect(dots).to_have_css("opacity", "1")


def test_filters_and_trees_narrow_the_map_and_its_list(explorer: Explorer) -> None:
    page = open_map(explorer)
    page.get_by_role("button", name="Trees only").click()
    page.keyboard.press("v")
    rows = page.locator(".map-rows")
    expect(rows.get_by_role("button", name="Webhooks may arrive twice")).to_be_visible()
    expect(page.get_by_role("button", name="Move the job queue")).to_have_count(0)
    page.get_by_role("button", name="Trees only").click()
    page.get_by_role("button", name="Kind: Any").click()
    page.get_by_role("checkbox", name="Notes in trees").check()
    page.keyboard.press("Escape")
    expect(rows.get_by_role("button", name="Payments", exact=False).first).to_be_visible()
    expect(page.get_by_text("Wrote the search service")).to_have_count(0)


def test_a_new_memory_of_an_agent_appears_on_the_map(explorer: Explorer) -> None:
    page = explorer.open("map?view=list")
    fresh = page.get_by_role("button", name="The ferry leaves at noon")
    expect(fresh).to_have_count(0)
    explorer.remember("The ferry leaves at noon.", project="ferry")
    expect(fresh).to_be_visible()
