"""The page of a memory: its text and origin, edit and undo, links, forget, restore and purge."""

from playwright.sync_api import expect

from tests.explorer.explorer import Explorer


def test_a_learnt_memory_leads_to_the_message_it_came_from(explorer: Explorer) -> None:
    hits = explorer.call(
        "search",
        {
            "query": {
                "text": "one mail a day failed builds",
                "where": {"other_kinds": ["turn", "session", "account"]},
            }
        },
    )
    page = explorer.open(f"memory/{hits['hits'][0]['memory']['id']}")
    origin = page.get_by_role("region", name="Where it comes from")
    expect(origin).to_contain_text("Lore learnt it by itself")
    expect(origin.locator("blockquote")).to_contain_text("I prefer to get one mail a day")
    origin.get_by_role("link", name="Open the conversation").click()
    expect(page).to_have_title("Sessions · Lore")


def test_an_edit_shows_its_difference_and_can_be_undone_from_the_history(explorer: Explorer) -> None:
    id = explorer.remember("The build takes nine minutes.", title="Build time")
    page = explorer.open(f"memory/{id}")
    page.keyboard.press("e")
    page.get_by_label("Text").fill("The build takes four minutes.")
    page.get_by_label("Why?").fill("a faster runner")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".memory-text")).to_have_text("The build takes four minutes.")
    history = page.get_by_role("region", name="History")
    expect(history.locator("del")).to_have_text("nine")
    expect(history.locator("ins")).to_have_text("four")
    expect(history).to_contain_text("a faster runner")
    history.get_by_role("button", name="Undo").click()
    expect(page.locator(".memory-text")).to_have_text("The build takes nine minutes.")
    explorer.toast("Taken back").get_by_role("button", name="Undo").click()
    expect(page.locator(".memory-text")).to_have_text("The build takes four minutes.")


def test_a_forgotten_memory_comes_back_by_undo_and_by_its_page(explorer: Explorer) -> None:
    id = explorer.remember("The old printer is on the second floor.")
    page = explorer.open(f"memory/{id}")
    for way in ("toast", "page"):
        page.get_by_role("button", name="More actions").click()
        page.get_by_role("button", name="Forget…").click()
        page.get_by_label("Why?").fill("sold")
        page.get_by_role("button", name="Forget", exact=True).click()
        expect(page.get_by_text("This memory is forgotten")).to_contain_text("sold")
        if way == "toast":
            page.keyboard.press("z")
        else:
            page.get_by_role("button", name="Bring back").click()
        expect(page.get_by_text("This memory is forgotten")).to_have_count(0)
        expect(page.get_by_role("button", name="Edit")).to_be_visible()


def test_a_purge_wants_a_typed_word_and_leaves_nothing(explorer: Explorer) -> None:
    id = explorer.remember("A secret plan that must go for good.")
    explorer.call("forget", {"ids": [id]})
    page = explorer.open(f"memory/{id}")
    page.get_by_role("button", name="Erase for good…").click()
    erase = page.get_by_role("button", name="Erase for good", exact=True)
    expect(erase).to_be_disabled()
    page.get_by_label("Type “erase” to go on").fill("erase")
    erase.click()
    expect(explorer.toast("Erased for good")).to_be_visible()
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    where = {"ids": [id], "forgotten": True}
    assert explorer.call("browse", {"where": where})["memories"] == []


def test_two_memories_are_linked_and_the_link_is_ended_and_brought_back(explorer: Explorer) -> None:
    one = explorer.remember("The invoice numbers skip after a restart.", title="Invoice gaps")
    explorer.remember("Sequences in the database are cached per connection.", title="Cached sequences")
    page = explorer.open(f"memory/{one}")
    page.get_by_role("button", name="Link", exact=True).click()
    page.get_by_label("Which one?").fill("sequences cached per connection")
    page.get_by_role("option", name="Cached sequences").click()
    page.get_by_label("Why do they belong together?").fill("the cause")
    page.get_by_role("dialog").get_by_role("button", name="Link").click()
    links = page.get_by_role("region", name="Linked to")
    expect(links).to_contain_text("the cause")
    links.get_by_role("button", name="End the link to Cached sequences").click()
    expect(links).to_contain_text("Nothing yet")
    explorer.toast("Link ended").get_by_role("button", name="Undo").click()
    expect(links).to_contain_text("Cached sequences")


def test_a_newer_memory_replaces_an_older_one_until_the_reader_objects(explorer: Explorer) -> None:
    old = explorer.remember("The office closes at 18:00.", title="Closing time")
    page = explorer.open(f"memory/{old}")
    page.get_by_role("button", name="More actions").click()
    page.get_by_role("button", name="Replace by a newer one…").click()
    page.get_by_label("What should be remembered?").fill("The office closes at 20:00.")
    page.get_by_role("button", name="Replace", exact=True).click()
    expect(page.locator(".memory-text")).to_have_text("The office closes at 20:00.")
    explorer.open(f"memory/{old}")
    expect(page.get_by_text("A newer memory has replaced this one")).to_be_visible()
    page.get_by_role("button", name="This one is right").click()
    expect(page.get_by_text("A newer memory has replaced this one")).to_have_count(0)


def test_an_unknown_id_and_a_lost_server_are_explained(explorer: Explorer) -> None:
    page = explorer.open("memory/no-such-id")
    expect(page.get_by_role("alert")).to_contain_text("no-such-id")
    page.route("**/api/v1/read", lambda route: route.abort())
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("alert")).to_contain_text("Lore does not answer")
