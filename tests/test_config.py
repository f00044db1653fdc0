"""Settings: the last word wins, and every mistake is named."""

from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest

from lore.config import Config, load
from lore.errors import Invalid
from lore.settings import LlmSettings, Price, Tuning


def write(folder: Path, text: str) -> dict[str, str]:
    """A settings file in `folder`, and the environment that points there."""
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(text, encoding="utf-8")
    return {"LORE_DATA_DIR": str(folder)}


def test_without_a_word_from_anybody_the_defaults_are_in_force(tmp_path: Path) -> None:
    config = load({"HOME": str(tmp_path), "LORE_DATA_DIR": str(tmp_path)})
    assert config == Config(data_dir=tmp_path)
    assert config.database == tmp_path / "memory.db"


def test_the_file_overrides_the_defaults(tmp_path: Path) -> None:
    assert load(write(tmp_path, 'namespace = "file"')).namespace == "file"


def test_hooks_warn_before_a_tool_is_used_only_if_the_file_says_so(tmp_path: Path) -> None:
    assert not load(write(tmp_path, "")).hooks_pre_tool_use
    assert load(write(tmp_path, "[hooks]\npre_tool_use = true")).hooks_pre_tool_use


def test_the_environment_overrides_the_file(tmp_path: Path) -> None:
    env = write(tmp_path, 'namespace = "file"\nembedding_model = "hash"') | {"LORE_NAMESPACE": "env"}
    config = load(env)
    assert (config.namespace, config.embedding_model) == ("env", "hash")


def test_flags_override_everything(tmp_path: Path) -> None:
    env = write(tmp_path, 'namespace = "file"') | {"LORE_NAMESPACE": "env"}
    assert load(env, namespace="flag").namespace == "flag"


def test_a_flag_or_variable_that_was_not_given_says_nothing(tmp_path: Path) -> None:
    env = write(tmp_path, 'namespace = "file"') | {"LORE_NAMESPACE": ""}
    assert load(env, namespace=None).namespace == "file"


def test_the_file_is_looked_for_in_the_folder_that_is_in_force(tmp_path: Path) -> None:
    write(tmp_path / "told", 'namespace = "told"')
    write(tmp_path / "given", 'namespace = "given"')
    env = {"LORE_DATA_DIR": str(tmp_path / "told")}
    assert load(env).namespace == "told"
    assert load(env, data_dir=tmp_path / "given").namespace == "given"


def test_the_file_may_name_the_database_in_a_table(tmp_path: Path) -> None:
    config = load(write(tmp_path, f'[database]\npath = "{tmp_path}/else.db"'))
    assert config.database == tmp_path / "else.db"


def test_the_database_may_lie_outside_the_data_folder(tmp_path: Path) -> None:
    env = {"LORE_DATA_DIR": str(tmp_path / "data"), "LORE_DB_PATH": str(tmp_path / "else.db")}
    assert load(env).database == tmp_path / "else.db"


@pytest.mark.parametrize("setting", ["data_dir", "db_path"])
def test_a_tilde_is_the_home_folder(setting: str, tmp_path: Path) -> None:
    config = load({"LORE_DATA_DIR": str(tmp_path)}, **{setting: "~/somewhere"})
    assert getattr(config, setting) == Path.home() / "somewhere"


def test_the_default_folder_is_below_the_home_folder() -> None:
    assert load({}).data_dir == Path.home() / ".lore"


def test_a_path_in_the_file_begins_where_the_file_is(tmp_path: Path) -> None:
    config = load(write(tmp_path, '[database]\npath = "else/notes.db"'))
    assert config.database == tmp_path / "else" / "notes.db"


@pytest.mark.parametrize(
    ("text", "key", "hint"),
    [
        ("namespac = 'x'", "namespac", "; did you mean namespace?"),
        ("[database]\npaht = 'x'", "database.paht", "; did you mean database.path?"),
        (
            "[consolidation]\nidle_treshold_secs = 3",
            "consolidation.idle_treshold_secs",
            "idle_threshold_secs?",
        ),
        ("warnings = 'x'", "warnings", ""),
        ("colour = 'red'", "colour", ""),
    ],
)
def test_an_unknown_key_is_ignored_with_a_warning_that_names_it_and_the_nearest_known_one(
    text: str, key: str, hint: str, tmp_path: Path
) -> None:
    config = load(write(tmp_path, text))
    [warning] = config.warnings
    assert warning.startswith(f"{tmp_path}/config.toml: unknown setting {key} is ignored")
    assert warning.endswith(hint)
    assert config == Config(data_dir=tmp_path)


OLDER_PLAN = """
[ingestion]
poll_interval_secs = 30
batch_size = 20
claude_model = "claude-sonnet-4-20250514"
[consolidation]
interval_secs = 7200
similarity_threshold = 0.8
prune_age_days = 30
[database]
path = "~/.lore/memory.db"
[claude]
api_key_env = "ANTHROPIC_API_KEY"
"""
TREES = """
[ingestion]
poll_interval_secs = 30
batch_size = 100
[consolidation]
interval_secs = 7200
similarity_threshold = 0.8
merge_threshold = 0.85
idle_threshold_secs = 300
prune_age_days = 30
min_relevance_prune = 0.02
max_turns_per_extraction = 200
[database]
path = "~/.lore/memory.db"
[claude]
api_key_env = "ANTHROPIC_API_KEY"
extraction_model = "claude-sonnet-4-20250514"
compression_model = "claude-haiku-4-5-20251001"
[remote]
url = "https://lore.example.org"
client_id = "laptop"
sync_interval_secs = 60
"""


@pytest.mark.parametrize(
    ("text", "remote"),
    [
        (OLDER_PLAN, {}),
        (TREES, {"remote_url": "https://lore.example.org", "remote_client_id": "laptop"}),
    ],
    ids=["the older plan", "the abstraction trees"],
)
def test_the_example_files_of_the_systems_that_lore_takes_over_from_load_as_they_are(
    text: str, remote: dict[str, Any], tmp_path: Path
) -> None:
    config = load(write(tmp_path, text))
    database = Path.home() / ".lore" / "memory.db"
    assert (config.llm.backend, config.llm.model("extraction")) == ("anthropic", "")
    plain = replace(config, llm=LlmSettings())
    assert plain == Config(data_dir=tmp_path, db_path=database, **remote)
    (unused,) = config.warnings
    assert "ingestion.batch_size is not used" in unused


@pytest.mark.parametrize(
    ("text", "variable", "backend"),
    [
        ("[claude]\nextraction_model = 'm'\n", "", "anthropic"),
        ("[claude]\nextraction_model = 'm'\n[llm]\nbackend = 'none'\n", "", "none"),
        ("[claude]\nextraction_model = 'm'\n", "openai", "openai"),
        ("[llm]\nextraction_model = 'm'\n", "", ""),
        ("", "", ""),
    ],
)
def test_a_claude_section_chooses_anthropic_unless_a_backend_is_named(
    text: str, variable: str, backend: str, tmp_path: Path
) -> None:
    env = write(tmp_path, text) | {"ANTHROPIC_API_KEY": "k"}
    assert load(env | ({"LORE_LLM_BACKEND": variable} if variable else {})).llm.backend == backend


def test_a_variable_that_looks_like_a_typing_error_is_warned_of_and_any_other_is_not(tmp_path: Path) -> None:
    env = {"LORE_DATA_DIR": str(tmp_path), "LORE_NAMSPACE": "x", "LORE_WEATHER": "x", "NAMESPACE": "x"}
    assert load(env).warnings == ("unknown variable LORE_NAMSPACE is ignored; did you mean LORE_NAMESPACE?",)


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"])
def test_the_model_of_the_older_systems_is_replaced_with_a_warning(name: str, tmp_path: Path) -> None:
    config = load({"LORE_DATA_DIR": str(tmp_path), "LORE_EMBEDDING_MODEL": name})
    assert config.embedding_model == "gte-small"
    assert config.warnings == (
        f"embedding_model {name} is not part of this Lore; gte-small is used in its place",
    )


def test_a_wrong_value_is_named_with_the_file_and_key_or_the_variable_that_gave_it(tmp_path: Path) -> None:
    with pytest.raises(Invalid) as refused:
        load(write(tmp_path, "[consolidation]\ninterval_secs = 'often'"))
    assert str(refused.value) == (
        f"{tmp_path}/config.toml: consolidation.interval_secs must be a number of 0 or more, not 'often'"
    )
    with pytest.raises(Invalid, match=r"^LORE_CONSOLIDATION_INTERVAL must be a number of 0 or more, not 'x'"):
        load({"LORE_DATA_DIR": str(tmp_path / "else"), "LORE_CONSOLIDATION_INTERVAL": "x"})


def test_an_unknown_flag_is_named_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"unknown settings in flags: nmespace; known: .*namespace"):
        load({"LORE_DATA_DIR": str(tmp_path)}, nmespace="x")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("namespace = 3", "namespace must be a text that is not empty, not 3"),
        ("namespace = ' '", "namespace must be a text that is not empty"),
        ("embedding_model = ['hash']", "embedding_model must be a text"),
        ("data_dir = true", "data_dir must be a path, not True"),
        ("[database]\npath = 7", "database.path must be a path, not 7"),
        ("[database]\npath = ''", "database.path must be a path"),
        ('[database]\npath = "a\\u0000b"', "database.path must be a path"),
        ("[database]\npath = '~nobody-of-that-name/x.db'", "database.path must be a path"),
        (f"namespace = '{'n' * 101}'", "namespace must be at most 100 printable characters"),
        ('namespace = "a\\tb"', "namespace must be at most 100 printable characters"),
    ],
)
def test_a_value_of_the_wrong_kind_is_named(text: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=complaint):
        load(write(tmp_path, text))


@pytest.mark.parametrize("broken", [b"namespace = ", b"\xff\xfe", b"a = 1\na = 2"])
def test_a_broken_file_is_named(broken: bytes, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes(broken)
    with pytest.raises(Invalid, match=rf"{tmp_path}/config.toml cannot be read as settings"):
        load({"LORE_DATA_DIR": str(tmp_path)})


def test_a_folder_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(Invalid, match="cannot be read as settings"):
        load({"LORE_DATA_DIR": str(tmp_path)})


@pytest.mark.parametrize("value", [3, "", b"x", "a\0b"])
def test_a_wrong_flag_is_refused(value: Any) -> None:
    with pytest.raises(Invalid, match="data_dir must be a path"):
        load({}, data_dir=value)


def test_every_number_of_the_dialects_can_be_set_by_its_name(tmp_path: Path) -> None:
    for field in fields(Tuning):
        if field.type in (int, float):
            env = {"LORE_DATA_DIR": str(tmp_path), f"LORE_{field.name.upper()}": "3"}
            assert getattr(load(env), field.name) == 3


@pytest.mark.parametrize(
    ("env", "text", "weight"),
    [
        ({"LORE_W_SCORE": "0.4"}, "", 0.4),
        ({"LORE_W_MEMORY": "0.4"}, "", 0.4),
        ({"LORE_W_MEMORY": "0.4", "LORE_W_SCORE": "0.3"}, "", 0.3),
        ({}, "w_memory = 0.2", 0.2),
        ({"LORE_W_MEMORY": "0.4"}, "w_score = 0.2", 0.4),
    ],
)
def test_the_weight_of_the_score_has_two_names(
    env: dict[str, str], text: str, weight: float, tmp_path: Path
) -> None:
    assert load(write(tmp_path, text) | env).w_score == weight


@pytest.mark.parametrize("name", ["builtin", "lancedb", "chroma"])
def test_a_vector_store_is_chosen_by_name(name: str, tmp_path: Path) -> None:
    assert load({"LORE_DATA_DIR": str(tmp_path), "LORE_VECTOR_STORE": name}).vector_store == name


def test_an_unknown_vector_store_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(
        Invalid, match="VECTOR_STORE must be one of builtin, chroma, lancedb, sqlite-vec, not 'faiss'"
    ):
        load({"LORE_DATA_DIR": str(tmp_path), "LORE_VECTOR_STORE": "faiss"})


def test_the_file_may_say_what_language_models_cost(tmp_path: Path) -> None:
    config = load(write(tmp_path, '[llm.prices]\n"gpt-4.1" = [2, 8.0]\nmine = [0.5, 1.5]'))
    assert config.llm.prices == {
        "gpt-4.1": Price(tokens_in=2.0, tokens_out=8.0),
        "mine": Price(tokens_in=0.5, tokens_out=1.5),
    }
    assert load({"LORE_DATA_DIR": str(tmp_path / "else")}).llm.prices == {}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[llm]\nprices = 3", 'llm.prices must be a table like "my-model"'),
        ("[llm.prices]\nmine = 3", 'llm.prices must be a table like "my-model"'),
        ("[llm.prices]\nmine = [1]", "llm.prices: 'mine' needs two numbers"),
        ("[llm.prices]\nmine = [1, 'x']", "llm.prices of 'mine' must be a number of 0 or more, not 'x'"),
        ("[llm.prices]\nmine = [1, -1]", "llm.prices of 'mine' must be a number of 0 or more, not -1"),
        ("[llm.prices.mine]\nx = 1", 'llm.prices must be a table like "my-model"'),
    ],
)
def test_prices_that_are_none_are_named(text: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=complaint):
        load(write(tmp_path, text))


def test_prices_are_for_the_file(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="in the file"):
        load({"LORE_DATA_DIR": str(tmp_path), "LORE_LLM_PRICES": "1"})
