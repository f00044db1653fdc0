"""The user's own words, and what only stands in a turn of the user."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.distil.own import LONG_TURN, own_sentences

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


@given(st.text(alphabet=st.characters() | st.sampled_from('<>/`"“”:\n .'), max_size=300))
def test_any_text_has_own_sentences(text: str) -> None:
    assert all(sentence.strip() for sentence in own_sentences(text))
