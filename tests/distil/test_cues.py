"""What kind of statement a sentence is, and what is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.distil.base import Role, Type
from lore.distil.cues import asks, correction_of, cue_of, points_elsewhere


@pytest.mark.parametrize(
    ("role", "type", "sentence"),
    [
        ("user", "decision", "We decided to keep Postgres for the events."),
        ("user", "decision", "Let's go with procrastinate over celery"),
        ("user", "decision", "We'll use exponential backoff for Stripe"),
        ("user", "decision", "Pricing module it is."),
        ("user", "decision", "Then emit UTC only, outlook chokes on the rest"),
        ("user", "decision", "The timeout should be 15 minutes"),
        ("user", "decision", "Wir haben uns für Redis entschieden"),
        ("user", "decision", "On a décidé de tout stocker en UTC"),
        ("user", "preference", "I prefer short sentences in the docs"),
        ("user", "preference", "Always use uv in this repo"),
        ("user", "preference", "We always need two reviews"),
        ("user", "preference", "We never mock the database here"),
        ("user", "preference", "don't edit the main workspace"),
        ("user", "preference", "no, never link a preview version globally"),
        ("user", "preference", "Make sure to run the linter before each commit"),
        ("user", "preference", "You should not be editing files in the main checkout"),
        ("user", "preference", "Next time, tell me if the ticket exists already"),
        ("user", "preference", "Use openpyxl instead of pandas"),
        ("user", "preference", "We use bun, not node"),
        ("user", "preference", "The title must start with the ticket number"),
        ("user", "correction", "You changed the notes in the main checkout, not in the branch"),
        ("user", "decision", "We don't need backward compatibility here"),
        ("user", "preference", "Please don't add comments to tests"),
        ("user", "preference", "No default exports in new files please"),
        ("user", "preference", "Snapshot tests are forbidden by the way"),
        ("user", "preference", "I hate seaborn plots, matplotlib only"),
        ("user", "preference", "Schreib Kommentare immer auf Englisch"),
        ("user", "preference", "Je préfère des phrases courtes"),
        ("user", "goal", "We need to support Windows as well"),
        ("user", "goal", "Next step is a runbook for failed migrations"),
        ("assistant", "goal", "TODO: the feed has no tests for leap days."),
        ("assistant", "outcome", "The root cause is a missing index."),
        ("assistant", "outcome", "It turned out that the lock was never freed."),
        ("assistant", "outcome", "The build took `-j8` and went from 90 s to 20 s."),
        ("assistant", "decision", "Never edit the generated files by hand."),
        ("assistant", "decision", "All releases must be signed by the bot."),
        ("assistant", "outcome", "Die Ursache war ein altes Zertifikat."),
        ("assistant", "fact", "The worker polls the queue every 500 ms."),
        ("assistant", "fact", "Config lives in deploy/base/app.yaml."),
        ("user", "fact", "The staging cluster is called eu-stage-1"),
        ("user", "fact", "Migrations run before the rollout, as a Helm hook"),
        ("user", "fact", "Note that deployments happen on Tuesdays"),
        ("user", "fact", "My dentist is Dr Weber in Graz"),
        ("user", "preference", "Please never send me files right away"),
        ("user", "event", "The cluster was migrated on 2026-03-04"),
    ],
)
def test_statements_are_told_by_their_words_and_their_speaker(role: Role, type: Type, sentence: str) -> None:
    cue = cue_of(sentence, role)
    assert cue is not None
    assert cue.type == type


@pytest.mark.parametrize(
    ("role", "sentence"),
    [
        ("user", "What is the port of the service?"),
        ("user", "how many retries do we have by default"),
        ("user", "Can you use uv instead of pip"),
        ("user", "Run the tests again"),
        ("user", "Don't commit it yet, wait for me"),
        ("user", "Leave that one for now"),
        ("user", "Use the second file here this time"),
        ("user", "Maybe we'll use Redis for that"),
        ("user", "Keep only the two old files for now"),
        ("user", "Rename the module to billing jobs please"),
        ("user", "Add a command that exports the invoices as CSV"),
        ("user", "No, do not clean it up"),
        ("user", "Make sure you never do this again"),
        ("user", "You're editing the main checkout"),
        ("user", "I just looked and the list is still empty"),
        ("user", "Our office is nice and everybody likes it there"),
        ("user", "The second draft from Anna is really great"),
        ("user", "There are 3 more of them somewhere"),
        ("user", "Stop asking me for the numbers"),
        ("user", "Don't tell me about the weather in Rome"),
        ("user", "Don't feel much pain in the left knee"),
        ("user", "We need to finish this before we leave"),
        ("user", "I need the list of hotels in Rome immediately"),
        ("user", "Evaluate the offers from Rome and Oslo if the price is below 90"),
        ("user", "Summon the guards of Castle Rock"),
        ("user", "Please tailor the letter to Acme, which has 40 shops"),
        ("user", "I need you to call the hotel in Rome"),
        ("user", "That must have been a hard week in Oslo"),
        ("user", "I never knew that whales sleep upright"),
        ("user", "No stress, just send the invoice later"),
        ("user", "You always know what to say"),
        ("assistant", "Here is the outline we agreed on."),
        ("assistant", "Don't hesitate to take a break between the sets."),
        ("assistant", "All 14 tests pass now."),
        ("assistant", "It could be that port 8080 is taken."),
        ("assistant", "If you want, I can compare Celery and RQ."),
        ("assistant", "You might use Redis 7 for that."),
        ("assistant", "Should I swap `ack` and `commit`?"),
        ("assistant", "The file app/worker.py has been updated."),
        ("assistant", "All tests pass."),
        ("assistant", "Version 0.9.4 is deployed to staging."),
        ("assistant", "I always prefer Rust, never Go."),
        ("assistant", "I opened pull request 911 in acme/shop."),
        ("assistant", "That sounds like a plan to me."),
        ("assistant", "I moved `ack()` below the commit in worker.py."),
        ("assistant", "The login in `auth.py` works now on both hosts."),
        ("assistant", "Updated `src/cli.ts` to use the new option."),
        ("assistant", "Supports options like `--all` and `--amend`."),
        ("assistant", "We need to mock `mkdir` from `fs/promises`."),
        ("assistant", "The `delete` test is failing because it expects an array."),
        ("assistant", "Task #14 adds the `--quiet` option to the CLI."),
        ("assistant", "The issue is in the `clone` method of src/git.ts."),
    ],
)
def test_questions_guesses_offers_and_orders_of_the_moment_are_no_knowledge(
    role: Role, sentence: str
) -> None:
    cue = cue_of(sentence, role)
    assert cue is None, cue


def test_importance_follows_the_type() -> None:
    told = {
        "We decided to keep Postgres for the events.": "high",
        "The root cause is a missing index.": "high",
        "The login in `auth.py` works now on both hosts.": "medium",
        "The staging cluster is called eu-stage-1": "medium",
        "The cluster was migrated on 2026-03-04": "low",
    }
    cues = {sentence: cue_of(sentence, "user") for sentence in told}
    assert {sentence: cue.importance for sentence, cue in cues.items() if cue} == told


def test_words_that_only_lead_to_a_statement_are_taken_off() -> None:
    cue = cue_of("Please note that deployments happen on Tuesdays", "user")
    assert cue is not None
    assert cue.said == "Deployments happen on Tuesdays"


def test_more_details_make_a_surer_fact() -> None:
    plain, detailed = (
        cue_of("The worker runs on port 8080.", "assistant"),
        cue_of("The worker `w1` runs on port 8080 in deploy/app.yaml.", "assistant"),
    )
    assert plain is not None
    assert detailed is not None
    assert plain.strength < detailed.strength


@pytest.mark.parametrize(
    ("sentence", "holds"),
    [
        ("no, the service listens on 8443", "The service listens on 8443"),
        ("no the export is in microseconds", "The export is in microseconds"),
        ("Actually secrets come from Vault", "Secrets come from Vault"),
        ("That's wrong, the host is eu-1", "The host is eu-1"),
        ("Nein, die Datei ist nicht Latin-1, sondern UTF-8", "Die Datei ist nicht Latin-1, sondern UTF-8"),
        ("It is not Redis but Valkey", "It is not Redis but Valkey"),
        ("no, run it again please now", ""),
        ("no", ""),
        ("No protocols, they make the code hard to follow", ""),
        ("actually, can you show me the logs?", ""),
        ("the service listens on 8443", ""),
    ],
)
def test_a_correction_is_what_holds_instead(sentence: str, holds: str) -> None:
    assert correction_of(sentence) == holds


@pytest.mark.parametrize(
    "sentence", ["It is slow.", "This means two copies.", "They run at night.", "Das ist neu."]
)
def test_a_sentence_may_point_at_what_was_said_before(sentence: str) -> None:
    assert points_elsewhere(sentence)


@pytest.mark.parametrize(
    "sentence",
    ["It turned out that the lock leaks.", "There are two hosts.", "This project uses uv.", "Italy is far."],
)
def test_a_sentence_that_only_begins_so_points_nowhere(sentence: str) -> None:
    assert not points_elsewhere(sentence)


@given(st.text(max_size=200), st.sampled_from(["user", "assistant", "summary", "tool"]))
def test_any_sentence_can_be_asked_for_its_kind(sentence: str, role: Role) -> None:
    cue = cue_of(sentence, role)
    assert cue is None or (0 < cue.strength <= 1 and not asks(cue.said))
