"""Settings: the last word wins, and every mistake is named."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from lore.config import Config, Tuning, load
from lore.errors import Invalid


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


@pytest.mark.parametrize("text", ["namespac = 'x'", "[database]\nfile = 'x'", "[namespace]\nname = 'x'"])
def test_an_unknown_key_in_the_file_is_named_with_the_known_ones(text: str, tmp_path: Path) -> None:
    with pytest.raises(Invalid) as refused:
        load(write(tmp_path, text))
    assert f"unknown settings in {tmp_path}/config.toml: " in str(refused.value)
    assert "data_dir, database.path, decay_lambda" in str(refused.value)


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
        ("[database]\npath = 7", "db_path must be a path, not 7"),
        ("[database]\npath = ''", "db_path must be a path"),
        ('[database]\npath = "a\\u0000b"', "db_path must be a path"),
        ("[database]\npath = '~nobody-of-that-name/x.db'", "db_path must be a path"),
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
    with pytest.raises(Invalid, match="unknown vector_store 'faiss'; known: builtin, chroma, lancedb"):
        load({"LORE_DATA_DIR": str(tmp_path), "LORE_VECTOR_STORE": "faiss"})


def test_the_file_may_say_what_language_models_cost(tmp_path: Path) -> None:
    config = load(write(tmp_path, '[llm.prices]\n"gpt-4.1" = [2, 8.0]\nmine = [0.5, 1.5]'))
    assert config.llm_prices == (("gpt-4.1", 2.0, 8.0), ("mine", 0.5, 1.5))
    assert load({"LORE_DATA_DIR": str(tmp_path / "else")}).llm_prices == ()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[llm]\nprices = 3", 'llm_prices must be a table like "my-model"'),
        ("[llm.prices]\nmine = 3", 'llm_prices must be a table like "my-model"'),
        ("[llm.prices]\nmine = [1]", "llm_prices: 'mine' needs two numbers"),
        ("[llm.prices]\nmine = [1, 'x']", "llm_prices of 'mine' must be a number of 0 or more, not 'x'"),
        ("[llm.prices]\nmine = [1, -1]", "llm_prices of 'mine' must be a number of 0 or more, not -1"),
        ("[llm.prices.mine]\nx = 1", 'llm_prices must be a table like "my-model"'),
    ],
)
def test_prices_that_are_none_are_named(text: str, complaint: str, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=complaint):
        load(write(tmp_path, text))


def test_prices_are_for_the_file(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="in the file"):
        load({"LORE_DATA_DIR": str(tmp_path), "LORE_LLM_PRICES": "1"})
