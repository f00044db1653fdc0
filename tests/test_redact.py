"""redact: secrets go, their kind stays, and prose is left alone. All secrets here are made up."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.redact import RULES, redact

LETTERS = (string.ascii_letters + string.digits) * 2
SECRETS = {
    "private key": "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nb3Bl\nbnNz\n-----END OPENSSH PRIVATE KEY-----",
    "aws key": "AKIA" + "Q7" * 8,
    "github token": "ghp_" + LETTERS[:36],
    "gitlab token": "glpat-" + LETTERS[:20],
    "slack token": "xoxb-" + "1234567890-abcdef",
    "anthropic key": "sk-ant-" + LETTERS[:30],
    "openai key": "sk-proj-" + LETTERS[:30],
    "stripe key": "sk_live_" + LETTERS[:24],
    "google key": "AIza" + LETTERS[:35],
    "npm token": "npm_" + LETTERS[:36],
    "pypi token": "pypi-" + LETTERS[:60],
    "hugging face token": "hf_" + LETTERS[:34],
    "json web token": "eyJ" + LETTERS[:12] + ".eyJ" + LETTERS[:20] + "." + LETTERS[:20],
    "password in an address": "ada:tr0ub4dor",
    "bearer token": LETTERS[:30],
    "password": "correct-horse-battery",
}
AROUND = {
    "password in an address": "postgres://{}@db.example.org/ferry",
    "bearer token": 'curl -H "Authorization: Bearer {}" https://example.org',
    "password": 'client_secret = "{}" # of the ferry',
}


def test_every_rule_has_an_example() -> None:
    assert SECRETS.keys() == RULES.keys()


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_gone_and_counted(kind: str) -> None:
    said = AROUND.get(kind, "The harbour master wrote {} on the wall.").format(SECRETS[kind])
    redacted = redact(said)
    assert SECRETS[kind] not in redacted.text
    assert f"[redacted: {kind}]" in redacted.text
    assert redacted.found == {kind: 1}
    assert redact(redacted.text).text == redacted.text


def test_what_stands_around_a_secret_stays() -> None:
    said = f"before {SECRETS['aws key']} between {SECRETS['aws key']} after"
    assert redact(said).text == "before [redacted: aws key] between [redacted: aws key] after"
    assert redact(said).found == {"aws key": 2}


def test_a_key_that_was_cut_off_is_a_key() -> None:
    assert "b3Bl" not in redact("-----BEGIN RSA " + "PRIVATE KEY-----\nb3Bl").text


@pytest.mark.parametrize(
    "said",
    [
        "The password is in the vault, ask Ada.",
        "password: $FERRY_PASSWORD",
        "api_key=(from the environment)",
        "Use a token budget of 1,024 tokens; the secret of good tests is patience.",
        "https://example.org:8080/path@v2",
        "skip-this-one and sk-short",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    ],
)
def test_prose_and_code_are_left_alone(said: str) -> None:
    assert redact(said).text == said


@pytest.mark.parametrize(
    "said",
    [
        "PASSWORD: correct-horse-battery",
        "paſſword = correct-horse-battery",
        "Apı_Key=correct-horse-battery",
        "APİ-KEY: correct-horse-battery",
        "acceſſ\u212aey=correct-horse-battery",
        "AUTHTOKEN=correct-horse-battery",
        "BEARER " + LETTERS[:30],
        "Basic " + LETTERS[:30],
        "ftp://ada:tr0ub4dor@a https://bob:tr0ub4dor@b",
    ],
)
def test_a_secret_is_found_however_its_name_is_spelled(said: str) -> None:
    redacted = redact(said).text
    assert not any(secret in redacted for secret in ("correct-horse", LETTERS[:30], "tr0ub4dor"))


PIECES = [*SECRETS.values(), *AROUND.values(), *(word for rule in RULES.values() for word in rule.hints)]


@given(st.lists(st.sampled_from([*PIECES, *map(str.upper, PIECES), " ", "=", ": ", "@"]), max_size=6))
def test_what_a_pattern_finds_is_never_passed_over(pieces: list[str]) -> None:
    said = "".join(pieces)
    found = [kind for kind, rule in RULES.items() if rule.pattern.search(said)]
    if found:
        assert redact(said).found


@given(st.text())
def test_anything_can_be_redacted_once(said: str) -> None:
    once = redact(said)
    assert redact(once.text).text == once.text


def test_a_long_text_of_the_beginnings_of_tokens_stays_and_is_read_in_one_go() -> None:
    """None of them is followed to the end of the text: that would take minutes."""
    begun = "eyJ-" * 200_000
    assert redact(begun).text == begun
