"""The timeline: memories as they were on a day, what has become of them, and what happened then."""

from datetime import date, timedelta

from playwright.sync_api import expect

from tests.explorer.explorer import Explorer


def days_ago(days: int) -> str:
    """A day as the page's address names it."""
    return (date.today() - timedelta(days=days)).isoformat()


def test_a_memory_that_was_replaced_or_forgotten_since_is_marked(explorer: Explorer) -> None:
    page = explorer.open(f"timeline?day={days_ago(4)}&q=Python")
    then = page.get_by_role("region", name="What was known then")
    expect(then).to_contain_text("The API runs on Python 3.11.")
    expect(then).not_to_contain_text("Python 3.13")
    expect(then.locator(".chip")).to_contain_text("Replaced")
    then.get_by_role("link", name="See what replaced it").click()
    expect(page.get_by_text("The API runs on Python 3.13.").first).to_be_visible()

    page = explorer.open(f"timeline?day={days_ago(4)}&q=wifi")
    expect(page.get_by_role("listitem").filter(has_text="wifi password").locator(".chip")).to_contain_text(
        "Forgotten"
    )


def test_an_edited_memory_shows_its_old_text_and_the_change(explorer: Explorer) -> None:
    [memory] = explorer.call("search", {"query": {"text": "staging copies production", "limit": 1}})["hits"]
    id, old = memory["memory"]["id"], memory["memory"]["content"]
    changed = old.replace("02:00", "05:00")
    explorer.call("revise", {"revision": {"id": id, "content": changed}})
    page = explorer.open(f"timeline?day={days_ago(10)}&q=staging")
    row = page.get_by_role("listitem").filter(has_text="Staging copies production")
    expect(row).to_contain_text("02:00")
    expect(row.locator(".chip")).to_contain_text("Edited")
    row.get_by_text("What changed").click()
    expect(row.locator("ins")).to_contain_text("05:00")


def test_the_slider_moves_the_day_and_shows_what_happened_on_it(explorer: Explorer) -> None:
    page = explorer.open(f"timeline?day={days_ago(5)}")
    heading = page.get_by_role("region", name="The day").get_by_role("heading")
    before = heading.inner_text()
    page.get_by_role("slider", name="Day").focus()
    page.keyboard.press("ArrowRight")
    expect(heading).not_to_have_text(before)
    page.keyboard.press("ArrowRight")
    happened = page.get_by_role("region", name="What happened that day")
    expect(happened).to_contain_text("Python version")
    expect(page.get_by_label("Day", exact=True).first).to_have_value(days_ago(3))
