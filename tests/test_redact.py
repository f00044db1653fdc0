"""redact: secrets go, their kind stays, and prose and code are left alone. All secrets here are made up."""

import random
import re
import string
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import secrets
from bench.secrets import precision
from lore.patterns import Uncompiled
from lore.redact import names, redact, small_of, syntax, tokens

LETTERS = "".join(random.Random(7).sample((string.ascii_letters + string.digits) * 2, 124))
HEX = "0123456789abcdef" * 4
SLACK = "hooks.slack.com/services"

SECRETS = [
    "PASSWORD={hunter2}",
    "GITHUB_TOKEN={" + HEX[:40] + "}",
    "redis://:{s3cret}@cache:6379",
    "curl -u ada:{tr0ub4dor} https://example.org",
    "Cookie: sessionid={" + HEX[:32] + "}",
    "https://{" + SLACK + "/T" + "0A1B2C3D4/B0A1B2C3D4/" + LETTERS[:24] + "}",
    "{SG." + LETTERS[:22] + "." + LETTERS[:43] + "}",
    "{SK" + HEX[:32] + "}",
    "AccountKey={" + LETTERS[:62] + "/+==};",
    "{dop_v1_" + HEX + "}",
    "{AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MU" * 2 + "}",
    "{123456789:AA" + LETTERS[:33] + "}",
    "{MTA" + LETTERS[:21] + "." + LETTERS[:6] + "." + LETTERS[:27] + "}",
    "{wJa1rXUtnFEM1/K7MDENG/bPxRf1CYzX9mPlK3Yq}",
    "{-----BEGIN OPENSSH " + "PRIVATE KEY-----\n" + LETTERS + "\n-----END OPENSSH PRIVATE KEY-----}",
    "{-----BEGIN RSA " + "PRIVATE KEY-----\n" + LETTERS + "}",
    'client_secret = "{tr0ub4dor-and-3}" # of the ferry',
    "mysql -u root -p{tr0ub4dor} ferry",
    "Authorization: Bearer {" + LETTERS[:30] + "}",
    "paſſword = {correct-horse-battery}",
    '(setq smtpmail-auth-password "{harbour77}")',
    'dataSource.setPassword("{harbour77}");',
    "CREATE LOGIN ferry WITH PASSWORD = N'{harbour77}';",
    'process.env.SIGNING_SECRET ??= "{' + LETTERS[-30:] + '}";',
    'Dim apiKey As String = "{' + LETTERS[-30:] + '}"',
    'headers.set("X-Api-Key", "{' + LETTERS[-30:] + '}");',
    "| password | {" + LETTERS[-20:] + "} |",
    "git config --global github.token {" + LETTERS[-30:] + "}",
    'psk="{harbour77}"',
    "mot de passe : {harbour77x}",
    "Das Kennwort lautet {harbour77x}",
    "keytool -list -storepass {harbour77}",
    "ldapsearch -D cn=admin -w {harbour77} -b dc=example",
    'requests.get(url, auth=("ada", "{harbour77}"))',
    "echo 'ada:{harbour77}' | chpasswd",
    "CREATE USER ada IDENTIFIED BY {harbour77};",
    'pass: "{harbour77}"',
    "  pass: {harbour77-x}\n",
    "DB_PASS={harbour77}",
    "export PASS={harbour77}",
    "openssl rsa -passin pass:{harbour77} -in a",
    "DB_PWD={harbour77}",
    "APİ_\u212aEY={" + LETTERS[-30:] + "}",
]
"""Each with its secret in braces."""

HARMLESS = [
    "password = req.body.password",
    "password = os.environ['PASSWORD']",
    "api_key=(from the environment)",
    '<div class="sk-fading-circle sk-cube-grid-of-nine-cubes">',
    "password: $FERRY_PASSWORD",
    'token: "<your token>"',
    "def login(user: str, password: str) -> bool:",
    "The password is in the vault, ask Ada.",
    "Use a token budget of 1,024 tokens; the secret of good tests is patience.",
    "https://example.org:8080/path@v2",
    "postgres://user:password@localhost/ferry",
    "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    '"integrity": "sha512-' + LETTERS[:60] + LETTERS[:26] + '=="',
    "session 0d1f7c52-3f1e-4a55-9a5e-0d6f2f0b8c11",
    "def test_password_reset_token_expires_after_30_minutes():",
    "data:image/png;base64," + LETTERS,
    "password_hash = '" + HEX + "'",
    "mysql -u root -p ferry",
    '"password": {"type": "string"},',
    "should_pass('key_42 = 8')",
    "private_key: bytes | Ed448PrivateKey",
    "class V1PodFailurePolicyOnExitCodesRequirement(BaseModel):",
    'fields = ["password", "address2"]',
    "--- PASS: TestLogin/rejects_a_wrong_code_3 (0.03s)",
    "they pass: Excellent!",
    "PASS: tests/login-3.sh",
    "PASS=12034 WARN=0",
    "PWD=harbour77",
    "it is fine to pass IPv4-mapped-2 addresses",
    "go.example.org/ferry v1.0.0 h1:" + "wJa1rXUtnFEM1/K7MDENG/bPxRf1CYzX9mPlK3Yq",
    "The token expires after 30 minutes; the password needs 12 characters.",
]


@pytest.mark.parametrize("marked", SECRETS)
def test_a_secret_is_replaced_by_its_kind_and_nothing_else_is(marked: str) -> None:
    before, _, rest = marked.partition("{")
    secret, _, after = rest.partition("}")
    redacted = redact(before + secret + after)
    [kind] = redacted.found
    assert redacted.text == f"{before}[redacted: {kind}]{after}"


@pytest.mark.parametrize("text", HARMLESS)
def test_prose_and_code_are_left_alone(text: str) -> None:
    assert redact(text).text == text


def test_the_labelled_set_is_recognised() -> None:
    """Published in figures by `python -m bench.secrets`; here every type at least once."""
    missed = {sample.type for sample in secrets.positives()[::5] if sample.secret in redact(sample.text).text}
    harmed = [sample.text for sample in secrets.negatives()[::5] if redact(sample.text).text != sample.text]
    assert (missed, harmed) == (set(), [])


def test_the_output_of_tools_is_left_alone() -> None:
    """Published by `python -m bench.secrets.precision`."""
    changed = [pair for pairs in precision.harmed().values() for pair in pairs if len(set(pair)) > 1]
    assert changed == []


def test_what_stands_between_secrets_stays() -> None:
    key = "AKIA" + "Q7" * 8
    redacted = redact(f"before {key} between {key} after")
    assert redacted.text == "before [redacted: aws key] between [redacted: aws key] after"
    assert redacted.found == {"aws key": 2}


def test_a_long_secret_goes_as_a_whole() -> None:
    assert redact(f'password = "{LETTERS * 50}" # end').text == 'password = "[redacted: password]" # end'


def test_no_letter_changes_the_length_of_a_text() -> None:
    """Places in the small text are places in the text."""
    everything = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
    assert len(small_of(everything)) == len(everything)


def hostile() -> Iterator[str]:
    """Texts of 50 KB that repeat a beginning of a secret without ever ending one."""
    beginnings = [hint for hint, _ in tokens.HINTED] + list(names.STEMS)
    beginnings += (
        'token= secret=-_ password=" ://: authorization: cookie=a= _auth= eyJa. eyJ- bearer\t'.split()
    )
    beginnings += [
        "curl -u ",
        "mysql -p",
        "-----BEGIN " + "PRIVATE KEY-----",
        "identified by '",
        "password is ",
    ]
    chance = random.Random(1)
    beginnings += ["".join(chance.sample(beginnings, 3)) for _ in range(40)]
    return ((one * 50_000)[:50_000] for one in beginnings)


def test_hostile_texts_are_read_in_one_go() -> None:
    """A pattern that tries a text again from each of its characters would take hours here."""
    for text in hostile():
        redact(text)


def test_every_pattern_reads_a_hostile_text_in_one_go() -> None:
    patterns: list[re.Pattern[str] | Uncompiled] = [token.pattern for token in tokens.TOKENS]
    patterns += [
        p
        for room in (names, syntax, tokens)
        for p in vars(room).values()
        if isinstance(p, re.Pattern | Uncompiled)
    ]
    for pattern in patterns:
        for part in ("a", "A1", "eyJ-", "=", '"', "\\", "a.", "-----BEGIN ", "sk-"):
            pattern.search((part * 50_000)[:50_000])


PIECES = [
    *(sample.text for sample in secrets.positives()[::40]),
    *names.STEMS,
    *(h for h, _ in tokens.HINTED),
]


@given(st.lists(st.sampled_from([*PIECES, " ", "=", ": ", "@", '"', "\n"]), max_size=6))
def test_a_second_time_changes_nothing_more(pieces: list[str]) -> None:
    once = redact("".join(pieces))
    assert redact(once.text).text == once.text


@given(st.text())
def test_any_text_can_be_redacted(text: str) -> None:
    once = redact(text)
    assert redact(once.text).text == once.text
