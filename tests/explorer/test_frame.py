"""The frame of the explorer: navigation, palette, shortcuts, themes, the sign-in page."""

from playwright.sync_api import Browser, Page, expect

from tests.doors.http.serving import Server
from tests.explorer.explorer import Explorer


def test_a_shortcut_goes_to_a_page_and_the_browser_goes_back(explorer: Explorer) -> None:
    page = explorer.open()
    page.keyboard.press("g")
    page.keyboard.press("r")
    expect(page.get_by_role("heading", level=1)).to_have_text("Review")
    page.go_back()
    expect(page).to_have_title("Home · Lore")


def open_palette(page: Page) -> None:
    """Open it, and wait until it takes what is typed."""
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()


def test_the_palette_finds_pages_and_memories_by_keyboard(explorer: Explorer) -> None:
    page = explorer.open()
    open_palette(page)
    page.keyboard.type("webhooks arrive twice")
    option = page.get_by_role("option", name="Webhooks may arrive twice")
    expect(option).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Webhooks may arrive twice")
    open_palette(page)
    page.keyboard.type("timel")
    expect(page.get_by_role("option").first).to_contain_text("Timeline")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Timeline")


def test_the_palette_keeps_a_new_memory_that_undo_forgets(explorer: Explorer) -> None:
    page = explorer.open()
    open_palette(page)
    page.keyboard.type("The printer in Porto jams on Mondays")
    page.get_by_role("option", name="Remember “The printer").click()
    page.get_by_role("button", name="Remember").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("The printer in Porto")
    explorer.toast("Remembered").get_by_role("button", name="Undo").click()
    expect(page.get_by_text("This memory is forgotten")).to_be_visible()


def test_shortcuts_are_listed_and_can_be_turned_off(explorer: Explorer) -> None:
    page = explorer.open()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.get_by_label("Shortcuts of a single key").uncheck()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()


def test_the_chosen_colours_stay_after_a_reload(explorer: Explorer) -> None:
    page = explorer.open()
    page.keyboard.press("t")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    explorer.open("search")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_a_browser_without_a_session_sees_the_sign_in_page_alone(browser: Browser, server: Server) -> None:
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{server.port}/explorer/search?q=webhooks")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in to Lore")
    page.get_by_label("Token").fill("lore_wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_text("not valid")).to_be_visible()
    page.close()
