"""Settings over HTTP: all of them explained, changes checked by Lore's own rules, comments of the file
kept."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lore.config import SETTINGS, load
from lore.doors.http.settings import changed
from tests.doors.http.guarded import ELSEWHERE, Guarded, bearer, guarded

PATH = "/api/v1/settings"
TEXT = """\
# mine
search_limit = 7  # enough
w_memory = 0.2

[consolidation]
# rarely
interval_secs = 9000
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Guarded]:
    (tmp_path / "config.toml").write_text(TEXT)
    with guarded(tmp_path, answer_tokens=123) as server:
        yield server


def document(server: Guarded) -> Any:
    return server.owner().get(PATH).json()


def by_name(document: Any) -> dict[str, Any]:
    return {one["name"]: one for one in document["settings"]}


def test_every_setting_is_shown_with_help_default_and_origin(server: Guarded) -> None:
    shown = by_name(document(server))
    assert shown.keys() == SETTINGS.keys()
    assert [name for name, one in shown.items() if not one["help"].endswith(".")] == []
    assert {one["type"] for one in shown.values()} == {
        *("boolean", "integer", "number", "text", "path", "table"),
    }
    limit = shown["search_limit"]
    assert (limit["value"], limit["default"], limit["origin"]) == (7, 10, "file")
    assert (shown["w_score"]["value"], shown["w_score"]["origin"]) == (0.2, "file")
    assert (shown["consolidation_interval"]["value"], shown["consolidation_interval"]["key"]) == (
        9000.0,
        "consolidation.interval_secs",
    )
    assert (shown["answer_tokens"]["used"], shown["answer_tokens"]["origin"]) == (123, "flag")
    assert shown["w_keyword"]["origin"] == "default"
    assert shown["llm_backend"]["choices"] == ["anthropic", "openai", "command"]
    assert document(server)["restart"] == []


def test_changes_keep_the_comments_and_say_what_needs_a_restart(server: Guarded, tmp_path: Path) -> None:
    answer = server.owner().put(
        PATH, json={"search_limit": 12, "w_score": 0.3, "prune": True, "edge_decay_days": 3}
    )
    assert answer.status_code == 200
    text = (tmp_path / "config.toml").read_text()
    assert "# mine\nsearch_limit = 12  # enough\nw_memory = 0.3\n" in text
    assert "# rarely\ninterval_secs = 9000" in text
    config = load({}, data_dir=tmp_path)
    assert (config.search_limit, config.w_score, config.prune) == (12, 0.3, True)
    assert not config.warnings
    assert answer.json()["restart"] == ["search_limit", "w_score", "edge_decay_days", "prune"]
    for nothing in (None, ""):
        server.owner().put(PATH, json={"search_limit": nothing, "w_score": nothing})
    assert by_name(document(server))["search_limit"]["value"] == 10
    assert "w_memory" not in (tmp_path / "config.toml").read_text()


@pytest.mark.parametrize(
    ("values", "named"),
    [
        ({"search_limit": -1}, "search_limit"),
        ({"search_limit": "7"}, "integer"),
        ({"search_limit": True}, "integer"),
        ({"search_limit": 1.5}, "integer"),
        ({"prune": "yes"}, "boolean"),
        ({"w_keyword": 1e999}, "w_keyword"),
        ({"ranking": "best"}, "lore"),
        ({"surfaces": "no-such"}, "no-such"),
        ({"embedding_model": "no-such"}, "gte-small"),
        ({"ingest_sources": "no-such"}, "no-such"),
        ({"llm_backend": "no-such"}, "anthropic"),
        ({"allowed_hosts": "https://x"}, "allowed_hosts"),
        ({"tls_cert": "nowhere.pem"}, "--tls-key"),
        ({"port": 70000}, "65535"),
        ({"llm_prices": {"a": [1]}}, "two numbers"),
        ({"data_dir": "/tmp"}, "data_dir"),
        ({"serch_limit": 3}, "serch_limit"),
        ({"search_limit": 3, "no-such": 1}, "no-such"),
    ],
)
def test_a_wrong_value_is_named_and_changes_nothing(
    server: Guarded, tmp_path: Path, values: dict[str, Any], named: str
) -> None:
    content = str(values).replace("'", '"').replace("inf", "1e999").replace("True", "true")
    answer = server.owner().put(PATH, content=content, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (400, "Invalid")
    assert named in answer.json()["error"]["message"]
    assert (tmp_path / "config.toml").read_text() == TEXT


def test_a_token_cannot_change_which_programs_run_which_files_are_used_or_who_may_call(
    server: Guarded, tmp_path: Path
) -> None:
    holder = bearer(server.token("admin", namespaces=("*",), rights=("admin",)))
    client = server.client(ELSEWHERE)
    for name, value in {
        "llm_command": "sh -c id",
        "llm_base_url": "https://x.example",
        "remote_url": "https://x.example",
        "oauth_issuer": "https://x.example",
        "db_path": "/tmp/x.db",
        "import_roots": "/",
        "http_port": 1,
    }.items():
        assert client.put(PATH, json={name: value}, headers=holder).status_code == 403, name
    assert (tmp_path / "config.toml").read_text() == TEXT
    assert client.put(PATH, json={"search_limit": 3}, headers=holder).status_code == 200
    writable = {
        name for name, one in by_name(client.get(PATH, headers=holder).json()).items() if one["writable"]
    }
    assert "llm_command" not in writable
    assert {"search_limit", "prune"} <= writable


def test_a_token_changes_no_setting_that_may_name_a_program_a_file_an_address_or_a_caller(
    server: Guarded,
) -> None:
    """A new setting whose value is a text, without a list of what it may be, is of the machine."""
    holder = bearer(server.token("admin", namespaces=("*",), rights=("admin",)))
    settings = by_name(server.client(ELSEWHERE).get(PATH, headers=holder).json()).values()
    free = {one["name"] for one in settings if one["writable"]}
    named = {
        one["name"] for one in settings if one["type"] in ("text", "path", "table") and not one["choices"]
    }
    assert free & named == {"surfaces"}, "names of Lore's own"
    keys = ("server.", "daemon.", "llm.", "remote.", "database", "ingestion.", "encryption")
    assert [one["name"] for one in settings if one["writable"] and one["key"].startswith(keys)] == []
    everything = by_name(document(server)).values()
    assert [one["name"] for one in everything if not one["writable"]] == ["data_dir"]


def test_secrets_are_not_shown(server: Guarded) -> None:
    secret = "sk-ant-api03-" + "aB3dE5gH7jK9mN1pQ3sT5vX7" * 4
    server.owner().put(PATH, json={"llm_command": f"ask --key {secret}"})
    assert secret not in server.owner().get(PATH).text


def test_a_new_file_is_for_its_owner_only(tmp_path: Path) -> None:
    with guarded(tmp_path) as server:
        assert server.owner().put(PATH, json={"search_limit": 3}).status_code == 200
    file = tmp_path / "config.toml"
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("search_limit = 3\n", 0o600)


def test_a_key_under_any_of_its_names_is_changed_where_it_is() -> None:
    text = '[claude]\napi_key_env = "MY_KEY"\n'
    assert changed(text, {"api_key_env": "OTHER"}) == '[claude]\napi_key_env = "OTHER"\n'
    assert changed("idle_sessions = 3\n", {"idle_sessions": 4}) == "idle_sessions = 4\n"
