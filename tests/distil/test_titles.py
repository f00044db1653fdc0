"""What to call a stretch of a conversation, and what to say of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.distil.base import Finding, Spoken
from lore.distil.titles import LONGEST, overview_of, title_of


def asked(*texts: str) -> list[Spoken]:
    return [Spoken(number=number, role="user", text=text) for number, text in enumerate(texts, start=1)]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Hey, can you please add an export button to the page? thanks!", "Export button to the page"),
        ("Please write the docs for the reporting service.", "Docs for the reporting service"),
        (
            "the import of invoices fails since monday, can you look?",
            "Import of invoices fails since monday",
        ),
        ("different topic: which library parses natural dates?", "library, parses, natural, dates"),
        ("Fix this test:\n```\nassert broken_code(1)\n```\nin the billing module", "Billing module"),
        ("start working on task 014", "Task 014"),
        ("The weekly backup job is broken and I don't know why", "Weekly backup job"),
        ("Shorten the second chapter about whales", "Second chapter about whales"),
        ("Update the login command to take an id, and then look it up", "Login command to take an id"),
        ("Kannst du mal den Import der Kunden reparieren?", "Den Import der Kunden reparieren"),
        (
            "Write the deployment docs for the reporting service, you will find all the files in deploy/base",
            "Deployment docs for the reporting service",
        ),
    ],
)
def test_a_title_is_the_subject_of_the_request(text: str, title: str) -> None:
    assert title_of(asked(text)) == title


def test_a_greeting_is_no_request() -> None:
    assert title_of(asked("hi!", "how are you?", "Split the models module by subject")) == (
        "Models module by subject"
    )


def test_the_first_turn_counts_more_than_what_is_asked_in_passing() -> None:
    turns = asked("We have no background jobs in billing", "How does that behave when a worker dies early?")
    assert title_of(turns) == "background, jobs, billing"


@pytest.mark.parametrize(
    "said",
    [
        "What tasks are there?",
        "you did that in the main checkout",
        "commit/push it all",
        "I'm still waiting for the second quote",
        "We already talked about my garden plans",
    ],
)
def test_a_prompt_without_a_subject_is_no_title(said: str) -> None:
    finding = Finding(text="x", type="fact", importance="medium", turns=(1,), entities=("moka", "gateway"))
    assert title_of(asked(said), [finding]) == "moka, gateway"


def test_without_a_request_the_names_are_the_title() -> None:
    finding = Finding(text="x", type="fact", importance="medium", turns=(1,), entities=("moka", "gateway"))
    assert title_of([Spoken(number=1, role="tool", text="x")], [finding]) == "moka, gateway"


def test_an_overview_tells_what_was_asked_and_what_came_of_it() -> None:
    findings = [
        Finding(text="The port of the host is 8080.", type="fact", importance="medium", turns=(2,)),
        Finding(text="The root cause is a leaking lock.", type="outcome", importance="high", turns=(3,)),
        Finding(text="To build: `make`.", type="command", importance="low", turns=(4,)),
    ]
    assert overview_of(asked("please find the memory leak today"), findings) == (
        "Memory leak today. The root cause is a leaking lock. The port of the host is 8080."
    )


@given(st.lists(st.text(max_size=300), max_size=4))
def test_a_title_is_one_short_line(texts: list[str]) -> None:
    title = title_of(asked(*texts))
    assert len(title) <= LONGEST
    assert len(title.splitlines()) <= 1


def test_a_conversation_without_names_is_called_after_its_first_noun_phrase() -> None:
    rule = "Never push to the release branch before noon."
    finding = Finding(type="preference", text=rule, importance="high", turns=(1,))
    assert title_of(asked(rule), [finding]) == "Release branch"
