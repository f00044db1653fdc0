"""Search: results with reasons, filters, refining, drilling, and the keyboard."""

from playwright.sync_api import Page, expect

from tests.explorer.explorer import Explorer
from tests.explorer.story import API


def titles(page: Page) -> list[str]:
    return page.locator(".hit-link").all_inner_texts()


def test_a_question_shows_the_passage_and_plain_reasons(explorer: Explorer) -> None:
    page = explorer.open("search")
    page.get_by_label("What are you looking for?").fill("webhooks arrive twice")
    first = page.locator(".hit").first
    expect(first).to_contain_text("Webhooks may arrive twice")
    expect(first.locator("mark").first).to_be_visible()
    reasons = page.get_by_role("complementary", name="About the chosen result")
    expect(reasons).to_contain_text("The words match")
    expect(page).to_have_url(f"{explorer.address}search?q=webhooks+arrive+twice")


def test_filters_leave_only_what_fits_and_stay_in_the_address(explorer: Explorer) -> None:
    page = explorer.open("search?q=refunds+approve+person")
    page.get_by_role("button", name="Type: Any").click()
    page.get_by_label("Decision").check()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Kind: Any").click()
    page.get_by_label("Notes in trees").check()
    page.keyboard.press("Escape")
    expect(page.locator(".hit").first).to_contain_text("Decision")
    chips = page.locator(".hit .chip").all_inner_texts()
    assert set(chips) == {"Decision"}
    assert "type=decision" in page.url
    assert "kind=fragment" in page.url
    page.get_by_role("button", name="Clear all").click()
    expect(
        page.locator(".hit .chip", has_text="Message").or_(page.locator(".hit .chip", has_text="Fact")).first
    ).to_be_visible()


def test_without_a_question_the_filters_browse_everything_of_a_project(explorer: Explorer) -> None:
    page = explorer.open(f"search?project={API}&kind=note&type=goal")
    expect(page.locator(".hit-link")).to_have_text(["Move the job queue to Postgres"])
    explorer.call("forget", {"ids": [explorer.remember("The lift in Porto is out of order.")]})
    page.goto(f"{explorer.address}search?state=forgotten&days=30&kind=note")
    forgotten = page.locator(".hit", has_text="The lift in Porto")
    expect(forgotten.get_by_text("Forgotten")).to_be_visible()


def test_a_second_question_searches_within_the_results_of_the_first(explorer: Explorer) -> None:
    page = explorer.open("search?q=release")
    expect(page.locator(".hit").first).to_be_visible()
    within = titles(page)
    page.get_by_role("button", name="Search within these").click()
    page.get_by_label("What are you looking for?").fill("tuesday mornings")
    expect(page.locator(".hit-link").first).to_have_text("Releases go out on Tuesdays")
    expect(page.get_by_text("Within “release”")).to_be_visible()
    assert set(titles(page)) <= set(within)
    page.get_by_role("button", name="No longer within “release”").click()
    expect(page.get_by_text("Within “release”")).to_have_count(0)


def test_arrow_keys_choose_drill_into_a_tree_and_open_a_memory(explorer: Explorer) -> None:
    page = explorer.open("search?q=Payments+taking+money+provider")
    expect(page.locator(".hit-link").first).to_have_text("Payments")
    expect(page.get_by_role("button", name="below it").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator(".hit-link").first).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_text("Below “Payments”")).to_be_visible()
    expect(page.locator(".hit-link").first).not_to_have_text("Payments")
    page.keyboard.press("/")
    expect(page.get_by_label("What are you looking for?")).to_be_focused()
    page.keyboard.type("refunds")
    expect(page.locator(".hit-link").first).to_contain_text("Refunds above 500 euro")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Refunds above 500 euro")


def test_no_result_offers_a_way_on(explorer: Explorer) -> None:
    page = explorer.open("search?q=zzzqqq&type=goal")
    expect(page.get_by_text("Nothing fits")).to_be_visible()
    page.get_by_role("button", name="Remember this instead").click()
    expect(page.get_by_label("What should be remembered?")).to_have_value("zzzqqq")
