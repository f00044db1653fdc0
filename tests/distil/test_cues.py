"""Which sentences of a user last, what kind each is, and what is left to the turns."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.distil.base import Spoken, Type
from lore.distil.cues import MOST_WORDS, asks, cue_of, statements_of


@pytest.mark.parametrize(
    ("type", "sentence"),
    [
        ("preference", "Always use uv in this repo"),
        ("preference", "We never mock the database here"),
        ("preference", "no, never link a preview version globally"),
        ("preference", "Commit messages should always start with the ticket number"),
        ("preference", "You must never commit secrets to the repository"),
        ("preference", "You should not be editing files in the main checkout"),
        ("preference", "Next time, tell me if the ticket exists already"),
        ("preference", "From now on answer in German"),
        ("preference", "As a rule, we deploy on Mondays"),
        ("preference", "Run the linter before every commit"),
        ("preference", "Whenever you change the schema, bump the version"),
        ("preference", "Don't commit anything unless I ask for it"),
        ("preference", "Analytics must not load before consent, legal was very clear about it"),
        ("preference", "Schreib Kommentare immer auf Englisch"),
        ("preference", "Ab jetzt schreibst du Commits auf Englisch"),
        ("preference", "Ne modifie jamais les fichiers générés"),
        ("preference", "Nunca subas cambios a main"),
        ("preference", "Non usare mai pandas in questo progetto"),
        ("preference", "I prefer short sentences in the docs"),
        ("preference", "I'd rather keep Postgres than move to Mongo"),
        ("preference", "I hate seaborn plots, matplotlib only"),
        ("preference", "I don't like long emails"),
        ("preference", "We don't do inline styles in the shop"),
        ("preference", "Je préfère des phrases courtes"),
        ("preference", "Use `openpyxl` instead of pandas"),
        ("decision", "We decided to keep Postgres for the events."),
        ("decision", "We're going with Valkey for the cache"),
        ("decision", "Wir haben uns für Redis entschieden"),
        ("decision", "On a décidé de tout stocker en UTC"),
        ("correction", "The deadline is May 12, not May 20"),
        ("correction", "no, the service listens on 8443"),
        ("correction", "Nein, die Datei ist nicht Latin-1, sondern Windows-1252"),
        ("fact", "We use pnpm in the monorepo"),
        ("fact", "We are on Python 3.12 and Postgres 16"),
        ("fact", "I'm using Windows 11 with WSL"),
        ("fact", "Fetch the prices, we're using the Free Tier, keep that in mind"),
        ("fact", "I usually work from home on Fridays"),
        ("fact", "Every Thursday we have a demo with the client"),
        ("fact", "My name is Ingrid Solberg"),
        ("fact", "My daughter is allergic to nuts"),
        ("fact", "I'm a nurse at a clinic in Berlin"),
        ("fact", "I live in Lisbon with two cats"),
        ("fact", "Our app is for dog owners in big cities"),
        ("fact", "I want to build a small app for bird watchers"),
        ("fact", "The shop is a small service, written in Go"),
        ("fact", "Tech stack: Elixir, Phoenix and Postgres"),
        ("fact", "I have 12 years of experience with COBOL"),
    ],
)
def test_rules_preferences_decisions_and_personal_facts_last(type: Type, sentence: str) -> None:
    cue = cue_of(sentence)
    assert cue is not None
    assert cue.type == type


@pytest.mark.parametrize(
    "sentence",
    [
        # questions and guesses
        "What is the port of the service?",
        "how many retries do we have by default",
        "Why do you always ignore my instructions?",
        "Maybe we should always use UTC",
        "Let's decide whether we use Redis or Valkey",
        # requests of the moment
        "Run the tests again",
        "don't touch the header and the footer",
        "The timeout should be 15 minutes",
        "We need to support Windows as well",
        "I'd like to add a button to the header",
        "Show a popup every time the user logs in",
        "The user should see a banner whenever a sync fails",
        "For now always take the second file",
        # an order to write something down
        "Update the rule so that you never do this",
        "Make sure you never do this again",
        # the past, and others
        "Your plan was always flawed.",
        "You always know what to say",
        "I never knew that whales sleep upright",
        "We never got an answer from the vendor",
        "The page never loads when I click save",
        "She is always late for the meeting on Monday",
        "Whenever I click the button, the page reloads",
        "Note that you made the rule in the main workspace",
        # nothing named
        "It always crashes on startup",
        "I like this version better",
        "We use it for the login page",
        "Don't commit it unless I say so",
        "This must not happen to our customers",
        "I like option 2 with the blue header",
        # a thing that an earlier sentence names
        "We don't want to use that directory format in the shop, ever",
        "You should always run that linter with the strict profile",
        "Never assume they want meat or dairy",
        # what code does, and what is possible or needless for the moment
        "The flag is defined on the watch command but never read in RunE",
        "The cache is cold and always misses the first request",
        "We can always revert the migration later",
        "We don't need any integration points",
        "Merge functions that do not need to be separate, unless they are called separately",
        "Each time you've started a server the port grew, so the last is 3006",
        "Fresh kimchi helps whenever we need to add vegetables to a meal",
        # praise, anger, moods, states
        "I love it, really good work",
        "I always feel tired after lunch",
        "I'm a bit confused about the layout",
        "I'm running the tests with the new flag now",
        "The count should be 12, not 11",
        "No, run it again with 12 workers please",
        "As a customer, I can see my orders",
        "Always " + "very " * MOST_WORDS + "carefully check the numbers",
    ],
)
def test_what_holds_for_the_moment_or_names_nothing_is_left_to_the_turns(sentence: str) -> None:
    cue = cue_of(sentence)
    assert cue is None, cue


def test_a_statement_inside_a_quotation_is_not_the_users() -> None:
    def kept(text: str) -> list[str]:
        return [one.text for one in statements_of([Spoken(number=1, role="user", text=text)])]

    assert kept('The page says "we always deploy on Mondays" somewhere') == []
    asking = 'From now on, never ask me questions like "Would you like to go on?" before a commit.'
    assert kept(asking) == [asking]


def test_a_value_is_a_correction_only_after_a_contradiction() -> None:
    assert cue_of("The service listens on 8443 and 8080") is None
    assert cue_of("Actually the service listens on 8443 and 8080") is not None


@pytest.mark.parametrize(
    ("sentence", "text"),
    [
        ("Please remember that deployments happen on Tuesdays", "Deployments happen on Tuesdays"),
        ("no, never link a preview version globally", "Never link a preview version globally"),
    ],
)
def test_words_that_only_lead_to_a_statement_are_taken_off(sentence: str, text: str) -> None:
    cue = cue_of(sentence)
    assert cue is not None
    assert cue.text == text


@given(st.text(max_size=200))
def test_any_sentence_can_be_asked_for_its_kind(sentence: str) -> None:
    cue = cue_of(sentence)
    assert cue is None or (cue.text and not asks(cue.text))
