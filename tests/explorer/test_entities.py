"""People and things: found, corrected, walked along, split, and rid of repetitions."""

from playwright.sync_api import Page, expect

from tests.explorer.explorer import Explorer


def introduce(explorer: Explorer, name: str, observations: list[str]) -> str:
    """The id of a new entity."""
    subject = {"name": name, "type": "service", "observations": observations}
    return str(explorer.call("introduce", {"subjects": [subject]})[0]["entity"]["id"])


def texts(page: Page) -> list[str]:
    """What is known now, as the page lists it."""
    return (
        page.get_by_role("region", name="What is known").locator(".entity-row p:not(.soft)").all_inner_texts()
    )


def test_a_search_finds_a_person_and_relations_lead_to_the_next(explorer: Explorer) -> None:
    page = explorer.open("entities")
    page.get_by_label("Search entities").fill("desk in Porto")
    page.get_by_role("listitem").get_by_role("link", name="Ines Person").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ines")
    relations = page.get_by_role("region", name="Relations")
    expect(relations).to_contain_text("owns payments-service")
    relations.get_by_role("link", name="payments-service").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("payments-service")
    expect(page.get_by_role("region", name="Relations")).to_contain_text("Ines owns payments-service")


def test_an_observation_is_added_replaced_retracted_and_brought_back(explorer: Explorer) -> None:
    page = explorer.open(f"entities/{introduce(explorer, 'printer', ['Stands in the hall'])}")
    page.get_by_label("Something new about printer").fill("Prints in colour")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("Prints in colour")).to_be_visible()

    page.get_by_role("button", name="More about “Stands in the hall”").click()
    page.get_by_role("button", name="Replace").click()
    page.get_by_label("What is true instead").fill("Stands in the kitchen")
    page.get_by_role("button", name="Replace", exact=True).click()
    expect(page.get_by_text("Stands in the kitchen")).to_be_visible()
    page.get_by_text("What was known before (1)").click()
    expect(page.locator(".entity-past")).to_contain_text("Stands in the hall")

    page.get_by_role("button", name="More about “Prints in colour”").click()
    page.get_by_role("button", name="Retract").click()
    page.get_by_role("dialog").get_by_role("button", name="Retract").click()
    expect(page.get_by_text("What was known before (2)")).to_be_visible()
    assert texts(page) == ["Stands in the kitchen"]
    explorer.toast("Retracted").get_by_role("button", name="Undo").click()
    expect(page.get_by_text("What was known before (1)")).to_be_visible()
    assert sorted(texts(page)) == ["Prints in colour", "Stands in the kitchen"]


def test_a_large_entity_is_split_after_a_preview(explorer: Explorer) -> None:
    topics = {"billing": "invoice payment refund card", "parcels": "courier label address truck"}
    many = [
        f"{topic} {word} {topic} {word} number {step}"
        for step in range(3)
        for topic, words in topics.items()
        for word in words.split()
    ]
    id = introduce(explorer, "warehouse", many)
    page = explorer.open("entities?show=care")
    page.get_by_role("region", name="Too large").get_by_role("link", name="warehouse").click()
    page.get_by_role("button", name="Preview a split").click()
    dialog = page.get_by_role("dialog", name="Split warehouse")
    dialog.get_by_label("Name").first.fill("warehouse money")
    dialog.get_by_role("button", name="Move").click()
    expect(explorer.toast("moved into")).to_be_visible()
    expect(
        page.get_by_role("region", name="Relations").get_by_role("link", name="warehouse money").first
    ).to_be_visible()
    assert len(explorer.call("explore", {"id": id, "depth": 1})["children"]) < len(many)


def test_one_of_two_observations_that_say_the_same_can_go(explorer: Explorer) -> None:
    page = explorer.open(
        f"entities/{introduce(explorer, 'router', ['Runs on version 3', 'It runs on version 3'])}"
    )
    twice = page.get_by_role("region", name="Says the same twice?")
    twice.get_by_role("button", name="Retract “It runs on version 3”").click()
    page.get_by_role("dialog").get_by_role("button", name="Retract").click()
    expect(twice).to_have_count(0)
    assert texts(page) == ["Runs on version 3"]
