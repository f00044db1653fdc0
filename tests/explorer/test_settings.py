"""Settings: change, validation, weights, undo; and the tokens."""

import httpx2
from playwright.sync_api import expect

from tests.explorer.explorer import Explorer


def saved(explorer: Explorer, name: str) -> object:
    """The value of a setting in the file and its environment."""
    settings = explorer.server.client.get("/api/v1/settings").json()["settings"]
    return next(one["value"] for one in settings if one["name"] == name)


def test_a_change_is_saved_needs_a_restart_and_can_be_undone(explorer: Explorer) -> None:
    page = explorer.open("settings")
    page.get_by_label("Search limit").fill("25")
    page.get_by_role("link", name="Trees").click()
    expect(page).to_have_title("Trees · Lore")
    page.get_by_role("link", name="Settings").click()
    bar = page.get_by_role("region", name="Unsaved changes")
    expect(bar).to_contain_text("1 unsaved change")
    bar.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Restart Lore to use 1 new value")).to_be_visible()
    expect(page.get_by_label("Search limit")).to_have_value("25")
    assert saved(explorer, "search_limit") == 25
    explorer.toast("Saved").get_by_role("button", name="Undo").click()
    expect(page.get_by_label("Search limit")).to_have_value("10")
    assert saved(explorer, "search_limit") == 10


def test_what_is_wrong_is_said_beside_the_field(explorer: Explorer) -> None:
    page = explorer.open("settings")
    field = page.get_by_label("Search limit")
    field.fill("many")
    expect(page.get_by_text("This must be a whole number.")).to_be_visible()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    field.fill("-4")
    page.get_by_label("Answer tokens").fill("5000")
    page.keyboard.press("Control+s")
    expect(field).to_have_accessible_description("search_limit must be a whole number of 0 or more, not -4")
    assert saved(explorer, "answer_tokens") == 4000
    page.get_by_role("button", name="Discard").click()
    expect(field).to_have_value("10")


def test_weights_that_do_not_sum_to_1_warn_and_are_evened_out(explorer: Explorer) -> None:
    page = explorer.open("settings?show=Weights+of+scored+notes")
    expect(page.get_by_text("They sum to 1.")).to_be_visible()
    meaning = page.get_by_role("slider", name="Weight of the meaning")
    meaning.fill("0.95")
    expect(page.get_by_text("They sum to 1.50")).to_be_visible()
    page.get_by_role("button", name="Make them sum to 1").click()
    expect(page.get_by_text("They sum to 1.")).to_be_visible()
    expect(meaning).to_have_attribute("aria-valuetext", "0.63")
    page.get_by_role("button", name="Discard").click()


def test_settings_are_found_by_a_word_in_their_help(explorer: Explorer) -> None:
    page = explorer.open("settings")
    page.get_by_label("Find a setting").fill("faded memories may be")
    names = page.locator(".setting-text label")
    expect(names).to_have_text(["Forget what has faded", "Age of what is forgotten"])
    page.get_by_role("link", name="Namespaces").click()
    expect(page.get_by_label("Find a setting")).to_have_value("")
    expect(page.get_by_role("region", name="Namespaces")).to_contain_text("shared")


def test_a_token_is_shown_once_works_and_is_revoked(explorer: Explorer) -> None:
    page = explorer.open("settings?show=Tokens")
    page.get_by_role("button", name="New token").click()
    page.get_by_label("Name", exact=True).fill("laptop")
    page.get_by_label("What it may do").select_option("Read only")
    page.get_by_role("button", name="Make the token").click()
    token = page.get_by_label("Token of “laptop”").input_value()
    page.get_by_role("button", name="I have kept it").click()
    row = page.get_by_role("listitem").filter(has_text="laptop")
    expect(row).to_contain_text("Active")
    expect(page.get_by_text(token)).to_have_count(0)
    headers = {"Authorization": f"Bearer {token}"}
    address = f"http://127.0.0.1:{explorer.server.port}/api/v1/status"
    assert httpx2.post(address, headers=headers).status_code == 200
    row.get_by_role("button", name="Revoke laptop").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(row).to_contain_text("Revoked")
    assert httpx2.post(address, headers=headers).status_code == 401
