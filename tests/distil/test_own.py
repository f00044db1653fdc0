"""The user's own words, and what only stands in a turn of the user."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.distil.own import LONG_TURN, own_sentences, own_statements

RULE = "Always store dates in UTC."


@pytest.mark.parametrize(
    "text",
    [
        f"[Request interrupted by user] {RULE}",
        f"<local-command-caveat>Caveat: {RULE}</local-command-caveat>",
        f"<user_query>\n{RULE}\n</user_query>",
        f"```\n{RULE}\n```",
        f"> {RULE}",
        f'The slide says "Never stop. {RULE}"',
        f"You are a senior editor.\n\n{RULE}",
        f"Act as a coach for managers. {RULE}",
        f"I have a cat and I love spicy food.\nNow, output:\n1/ a profile. {RULE}",
        f"Anna: {RULE}\nTom: Never, I prefer local time.",
        f"app.ts:12 Error: failed. {RULE}",
        f"Read this.\n\n{'Some words of a long report. ' * (LONG_TURN // 25)}{RULE}\n\nThanks a lot.",
    ],
    ids=lambda text: text[:24],
)
def test_words_of_others_are_not_the_users(text: str) -> None:
    assert not any("UTC" in sentence for sentence in own_sentences(text))


@pytest.mark.parametrize(
    "text",
    [
        f"Thanks. {RULE} Then go on.",
        f"Important: {RULE}",
        f"Fix this:\n```\nraise Broken\n```\n{RULE}",
        f"Put it under services/<name>/sql.\n{RULE}",
        f"{RULE}\n\n{'Some words of a long report. ' * (LONG_TURN // 25)}\n\nThanks a lot.",
    ],
    ids=lambda text: text[:24],
)
def test_a_statement_beside_pasted_text_is_the_users(text: str) -> None:
    assert any("UTC" in sentence for sentence in own_sentences(text))


@pytest.mark.parametrize(
    "text",
    [
        f"Fix these:\n\n## Findings\n\n{RULE}",
        f"Look at this.\n1. **High** The zone is lost. {RULE}",
        f"- [P2] Zone — pkg/time.go:12\n  The zone is lost.\n- {RULE}",
        f"In `src/time.go` line 20 the zone is lost. {RULE}",
        f"**Severity**: High\n{RULE}",
        f"Severity: high\n{RULE}",
        f"Comment from CodeRabbit:\n\n{RULE}",
        f"My colleague wrote:\n{RULE}",
        f"diff --git a/x b/x\n@@ -1 +1 @@\n{RULE}",
        f"● I looked at the dates. {RULE}\n  ⎿ done",
        f"What about dates? {RULE} → no",
    ],
    ids=lambda text: text[:24],
)
def test_a_pasted_review_document_or_screen_states_nothing_of_the_users(text: str) -> None:
    assert not any("UTC" in sentence for sentence in own_statements(text))


@pytest.mark.parametrize(
    "text",
    [
        f"{RULE}\n\n## Findings\n\nThe zone is lost.",
        f"Some suggestions in addition to yours:\n\n- {RULE}\n- Use Go.",
        f"1. {RULE}\n2. Low memory use is fine.",
        f"What about dates? → {RULE}",
    ],
    ids=lambda text: text[:24],
)
def test_a_statement_before_a_document_or_in_a_list_is_the_users(text: str) -> None:
    assert any("UTC" in sentence for sentence in own_statements(text))


@given(st.text(alphabet=st.characters() | st.sampled_from('<>/`"“”:\n .'), max_size=300))
def test_any_text_has_own_sentences(text: str) -> None:
    assert all(sentence.strip() for sentence in own_sentences(text))
