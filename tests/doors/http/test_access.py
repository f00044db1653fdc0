"""Who a caller is: the holder of a token, or the user of this machine; what is noted of it; how often it may
call."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from cryptography.hazmat.primitives import serialization

from lore.config import load
from lore.doors.http.access import check_access
from lore.doors.http.callers import TooMany, Unauthenticated
from lore.doors.http.entrance import access_options
from lore.doors.http.rates import MOST_KEYS, Rates
from lore.doors.http.tokens import USE_SECONDS, Tokens, find, revoke, tokens
from lore.errors import Invalid
from tests.doors.http.guarded import ELSEWHERE, LOOPBACK, Guarded, bearer, guarded
from tests.doors.http.test_server_process import certificate


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with guarded(tmp_path_factory.mktemp("access")) as server:
        yield server


# --- without a token
def test_nobody_is_let_in_for_the_address_alone(server: Guarded) -> None:
    for address in (LOOPBACK, "::1", "::ffff:127.0.0.1", ELSEWHERE):
        assert server.client(address).get("/status").status_code == 401
    for address in (LOOPBACK, "::1", "::ffff:127.0.0.1"):
        assert server.browser(address=address)[0].get("/status?namespace=any").status_code == 200


@pytest.mark.parametrize(
    "name", ["X-Forwarded-For", "X-Forwarded-Port", "Forwarded", "X-Real-IP", "Via", "CF-Connecting-IP"]
)
def test_a_request_through_a_proxy_is_not_the_user_of_this_machine(server: Guarded, name: str) -> None:
    assert server.owner().get("/status").status_code == 200
    assert server.owner().get("/status", headers={name: LOOPBACK}).status_code == 401


def test_a_wrong_token_from_this_machine_is_refused(server: Guarded) -> None:
    assert server.client().get("/status", headers=bearer("lore_wrong")).status_code == 401


def test_a_file_that_still_asks_for_tokens_is_read_with_a_warning(tmp_path: Path) -> None:
    for value in ("true", "false"):
        (tmp_path / "config.toml").write_text(f"[server]\nrequire_token = {value}\n")
        [warning] = load({}, data_dir=tmp_path).warnings
        assert "server.require_token is not used: no HTTP port answers without a token" in warning


def test_no_server_listens_to_other_machines_as_long_as_no_token_is_usable(server: Guarded) -> None:
    config, now = server.served.config, server.served.lore.clock()
    for token in tokens(server.store):
        revoke(server.store, token.id, now)
    server.token("old", now=1.0, expires_at=2.0)
    check_access(server.store, config, "::1", now)
    with pytest.raises(Invalid, match="lore token create"):
        check_access(server.store, config, "0.0.0.0", now)
    server.token("usable")
    check_access(server.store, config, "0.0.0.0", now)


# --- with one
def test_a_refusal_does_not_tell_whether_a_token_exists(server: Guarded) -> None:
    known = server.token("exists")
    unknown = f"lore_{'0' * 12}_{'A' * 43}"
    first, second = (
        server.client(ELSEWHERE).get("/status", headers=bearer(token))
        for token in (f"{known[:-43]}{'A' * 43}", unknown)
    )
    assert first.status_code == second.status_code == 401
    assert (first.text, first.headers["www-authenticate"]) == (
        second.text,
        second.headers["www-authenticate"],
    )
    assert 'error="invalid_token"' in first.headers["www-authenticate"]


def test_a_store_holds_no_secret(server: Guarded) -> None:
    secret = server.token("kept safe")[-43:]
    for file in server.folder.iterdir():
        assert secret.encode() not in file.read_bytes()


def test_the_last_use_of_a_token_is_noted_once_a_minute(server: Guarded) -> None:
    token = server.token("used", now=1000.0)
    for times, noted in (
        ([2000.0, 2001.0], 2000.0),
        ([3000.0, 3001.0, 3000.0 + USE_SECONDS], 3000.0 + USE_SECONDS),
    ):
        checks = Tokens(server.store, iter(times).__next__)
        assert {checks.caller(token).name for _ in times} == {"used"}
        checks.close()
        assert find(server.store, "used", 0.0).last_used_at == noted


def test_a_token_is_refused_from_the_moment_it_expires_or_is_revoked(server: Guarded) -> None:
    token, now = server.token("for a while", now=1000.0, expires_at=2000.0), 1999.0
    checks = Tokens(server.store, lambda: now)
    checks.caller(token)
    now = 2000.0
    with pytest.raises(Unauthenticated):
        checks.caller(token)
    now = 1999.0
    revoke(server.store, find(server.store, "for a while", now).id, now)
    with pytest.raises(Unauthenticated):
        checks.caller(token)
    checks.close()


# --- how often
def test_a_bucket_empties_and_fills(server: Guarded) -> None:
    now = 0.0
    rates = Rates(60, lambda: now)
    for _ in range(60):
        rates.take("a")
    with pytest.raises(TooMany) as refused:
        rates.take("a")
    assert refused.value.headers["Retry-After"] == "1"
    rates.take("b")
    now = 2.0
    rates.take("a")
    rates.take("a")
    with pytest.raises(TooMany):
        rates.take("a")


def test_buckets_are_bounded() -> None:
    rates = Rates(60, lambda: 0.0)
    for number in range(2 * MOST_KEYS):
        rates.take(str(number))
    assert len(rates._buckets) == MOST_KEYS


def test_one_caller_above_its_limit_hinders_no_other(tmp_path: Path) -> None:
    with guarded(tmp_path, rate_limit=2) as limited:
        busy, other = (bearer(limited.token(name)) for name in ("busy", "other"))
        client = limited.client(ELSEWHERE)
        statuses = [client.get("/status", headers=busy).status_code for _ in range(3)]
        assert statuses == [200, 200, 429]
        assert client.get("/status", headers=other).status_code == 200
        guesses = [client.get("/status", headers=bearer("lore_guess")) for _ in range(3)]
        assert [guess.status_code for guess in guesses] == [401, 401, 429]
        assert int(guesses[-1].headers["retry-after"]) >= 1
        assert client.get("/status", headers=other).status_code == 200
        assert {limited.owner().get("/status").status_code for _ in range(5)} == {200}
        anonymous = limited.client("203.0.113.6")
        assert [anonymous.get("/healthz").status_code for _ in range(3)] == [200, 200, 429]
        pretender = limited.client("203.0.113.8")
        paths = ("/healthz", "/nowhere", "/healthz")
        found = [pretender.get(path, headers=bearer("x")).status_code for path in paths]
        assert found == [200, 404, 429], "a token that nobody checks"


def test_a_request_is_answered_when_its_line_cannot_be_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with guarded(tmp_path) as server:
        (tmp_path / "audit.log").mkdir()
        assert [server.owner().get("/status").status_code for _ in range(2)] == [200, 200]
    [warning] = [line for line in caplog.messages if "audit log" in line]
    assert "IsADirectoryError" in warning


# --- the audit
def test_a_server_ends_in_peace_although_its_last_lines_cannot_be_written(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    (tmp_path / "audit.log").symlink_to("/dev/full")
    with guarded(tmp_path) as server:
        assert server.owner().get("/status").status_code == 200


def test_the_audit_says_who_called_what_and_never_a_secret(tmp_path: Path) -> None:
    with guarded(tmp_path) as server:
        token = server.token("ci", namespaces=("web",))
        client = server.client(ELSEWHERE)
        client.get("/status?project=private", headers={**bearer(token), "User-Agent": "agent/1"})
        client.get("/status", headers=bearer(f"{token[:-1]}{'B' if token[-1] == 'A' else 'A'}"))
        client.get("/healthz")
        server.browser()[0].get("/status")
        client.get("/status", headers={"Host": "evil.example"})
        [called, wrong, _, local, misled] = server.audit()
        text = (tmp_path / "audit.log").read_text()
    id = token[5:17]
    assert {name: called[name] for name in called if name not in ("at", "ms")} == {
        "caller": "ci", "token": id, "client": "agent/1", "address": ELSEWHERE, "method": "GET",
        "route": "/status", "right": "read", "namespace": "web", "status": 200,
    }  # fmt: skip
    assert (wrong["status"], wrong["reason"]) == (401, f"wrong secret for the token {id}")
    assert (local["caller"], local["address"]) == ("local", LOOPBACK)
    assert (misled["status"], "route" in misled) == (421, False)
    assert not re.search(rf"{re.escape(token[18:-1])}|private", text)
    assert (tmp_path / "audit.log").stat().st_mode & 0o077 == 0


def test_the_page_on_access_has_every_option_and_its_setting() -> None:
    page = (Path(__file__).parents[3] / "docs" / "access.md").read_text()
    options = access_options(click.command("server")(lambda: None)).params
    assert len(options) > 5
    for option in options:
        for form in (option.opts[0], option.name, f"LORE_{option.name}".upper()):
            assert f"`{form}`" in page, form


def test_settings_of_access_that_cannot_be_right_are_named(server: Guarded, tmp_path: Path) -> None:
    for settings, named in (
        ({"oauth_issuer": "https://issuer.example"}, "oauth_audience"),
        ({"oauth_issuer": "http://issuer.example", "oauth_audience": "https://a.example"}, "oauth_issuer"),
        ({"oauth_issuer": "https://[", "oauth_audience": "https://a.example"}, "oauth_issuer"),
        ({"oauth_issuer": "https://issuer.example", "oauth_audience": "lore"}, "oauth_audience"),
        ({"tls_cert": tmp_path / "cert.pem"}, "--tls-key"),
        ({"tls_cert": tmp_path / "cert.pem", "tls_key": tmp_path / "key.pem"}, "cert.pem"),
        ({"allowed_hosts": "a.example, https://b.example"}, "allowed_hosts .* not 'https://b.example'"),
        ({"allowed_hosts": "a.example:8080"}, "allowed_hosts .* not 'a.example:8080'"),
        ({"allowed_origins": "a.example"}, "allowed_origins .* not 'a.example'"),
        ({"trusted_proxies": "127.0.0.1,*"}, r"trusted_proxies .* not '\*'"),
    ):
        with pytest.raises(Invalid, match=named):
            check_access(server.store, load({}, data_dir=tmp_path, **settings), LOOPBACK, 0.0)


def test_an_encrypted_key_is_refused_and_no_password_asked_for(server: Guarded, tmp_path: Path) -> None:
    cert, key = certificate(tmp_path)
    encrypted = serialization.load_pem_private_key(key.read_bytes(), None).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    )
    key.write_bytes(encrypted)
    with pytest.raises(Invalid, match="the key is encrypted; give one that is not"):
        check_access(server.store, load({}, data_dir=tmp_path, tls_cert=cert, tls_key=key), LOOPBACK, 0.0)
