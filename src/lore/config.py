"""Settings: defaults, then the file, then the environment, then flags; the last one wins.

A setting is one field of `Config`; `settings` has most of them, and says how they are named.
"""

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, NamedTuple

from lore.environment import BORROWED, PREFIX, variables
from lore.errors import Invalid
from lore.keys import FILE, KEYRING, OFF, KeySource, key_source
from lore.model import SHARED
from lore.settings import LlmSettings, Price, RemoteSettings, setting
from lore.text import comma_separated, listed

FILE_NAME = "config.toml"
DATABASE_NAME = "memory.db"
IGNORE_LIST = "ignore"
NAMESPACE_LIMIT = 100
"""Characters of a namespace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(RemoteSettings):
    """Every setting.

    database_url: the address of a PostgreSQL database, in place of the file `db_path`. teams: namespaces that
    are seen besides `namespace` and `shared`, comma-separated. encryption: where the key of an encrypted
    store is: off, keyring or file; encryption_key_file: that file. idle_minutes: minutes
    without use after which a daemon that a client started exits, and any other frees memory. request_seconds:
    limit of one call of an agent; 0: no limit. ingest_sources: clients whose transcripts are read,
    comma-separated. ingest_paused: no transcripts are read. ingest_agent_files: files in which agents
    keep notes are read, too. ingest_poll_seconds: longest time between two looks at both.
    hooks_pre_tool_use: a client's hook warns of known pitfalls before a tool is used. warnings: names in
    the file or the environment that Lore ignores, one sentence each; not a setting.
    """

    data_dir: Path = Path("~/.lore")
    db_path: Path | None = field(default=None, metadata={"key": "database.path"})
    database_url: str = setting("")
    memory_file_path: Path | None = None
    namespace: str = SHARED
    teams: str = ""
    surfaces: str = "tree"
    encryption: str = setting("off")
    encryption_key_file: Path | None = field(default=None, metadata={"daemon": True})
    embedding_model: str = setting("gte-small")
    idle_minutes: float = setting(10.0)
    request_seconds: float = 50.0
    ingest_sources: str = setting("all", "ingestion.sources")
    ingest_paused: bool = setting(False, "ingestion.paused")
    ingest_agent_files: bool = setting(True, "ingestion.agent_files")
    ingest_poll_seconds: float = setting(30.0, "ingestion.poll_interval_secs")
    hooks_pre_tool_use: bool = setting(False, "hooks.pre_tool_use")
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @property
    def seen(self) -> tuple[str, ...]:
        """The namespaces in sight besides `namespace` and `shared`: of teams, and copies of a server's."""
        return comma_separated(f"{self.teams},{self.remote_namespaces}")

    @property
    def database(self) -> Path:
        """The file that holds the memories, unless `database_url` is set. Locks are named after it."""
        return self.db_path if self.db_path is not None else self.data_dir / DATABASE_NAME

    @property
    def key_source(self) -> KeySource:
        """Where the key of the store is, if it is encrypted."""
        if self.encryption != OFF and self.database_url:
            raise Invalid("encryption is for a store in a file; PostgreSQL encrypts with means of its own")
        return key_source(self.encryption, self.encryption_key_file)

    @property
    def location(self) -> str | Path:
        """Where the memories are: the address of a database, or a file."""
        return self.database_url or self.database


class _Setting(NamedTuple):
    """key: in the file. default: its type is the setting's. daemon: whether it is the daemon's own. llm: the
    field of `LlmSettings`; empty for a field of `Config`."""

    key: str
    default: Any
    daemon: bool
    llm: str = ""


SETTINGS: Mapping[str, _Setting] = {
    one.name: _Setting(one.metadata.get("key") or one.name, one.default, one.metadata.get("daemon", False))
    for one in fields(Config)
    if one.name not in ("llm", "warnings")
} | {
    one.metadata.get("name") or f"llm_{one.name}": _Setting(f"llm.{one.name}", one.default, True, one.name)
    for one in fields(LlmSettings)
}
ALIASES: Mapping[str, str] = {"w_memory": "w_score"}
"""Second names, in the file and in the environment; a value under the setting's own name comes first."""
FILE_KEYS: Mapping[str, str] = {
    **{setting.key: name for name, setting in SETTINGS.items()},
    "ingestion.claude_model": "extraction_model",
    **{f"claude.{name}": name for name in ("api_key_env", "extraction_model", "compression_model")},
}
"""Key in the file -> the setting. The setting's own name is a key as well."""
OTHER_NAMES: Mapping[str, str] = {name.lower(): name for name in BORROWED}
"""Settings whose variable has no prefix."""
PATHS = frozenset({"data_dir", "db_path", "memory_file_path", "tls_cert", "tls_key", "encryption_key_file"})
STORES = ("db_path", "database_url")
"""Settings that exclude each other: both say where the memories are."""
SCHEMES = ("postgresql://", "postgres://")
PORTS = frozenset({"port", "http_port"})
LARGEST_PORT = 65_535
TABLES = frozenset({"llm.prices"})
"""Keys whose value is a table of names that a user chooses."""
VECTOR_STORES = ("builtin", "lancedb", "chroma", "sqlite-vec")
RANKINGS = ("lore", "reference")
CHOICES: Mapping[str, tuple[str, ...]] = {
    "vector_store": VECTOR_STORES,
    "ranking": RANKINGS,
    "encryption": (OFF, KEYRING, FILE),
}
VARIABLES: Mapping[str, str] = {f"{PREFIX}{name.upper()}": name for name in (*SETTINGS, *ALIASES)} | {
    variable: name for name, variable in OTHER_NAMES.items()
}
"""Environment variable -> the setting."""
UNUSED: Mapping[str, str] = {
    "ingestion.batch_size": "is not used: Lore reads every turn as it comes;"
    " max_turns_per_extraction under [consolidation] limits how many are digested at once",
    "server.require_token": "is not used: no HTTP port answers without a token or a session; leave it out",
}
"""Keys of other systems, or of an older Lore, in the same file, and why they change nothing here."""
REPLACED_MODELS: Mapping[str, str] = {"all-minilm-l6-v2": "gte-small"}
"""Embedding models that configurations of other systems name -> the one that takes their place."""
LIKE_A_KEY, LIKE_A_VARIABLE = 0.6, 0.85
"""Likeness (0 to 1) to an existing name from which an unknown name counts as a typing error."""


Origin = Literal["file", "environment", "flag"]


class _Value(NamedTuple):
    """A value, and the name under which the user set it."""

    name: str
    value: Any


def load(env: Mapping[str, str] | None = None, **flags: Any) -> Config:
    """The settings in force. A flag that is None is not set.

    Invalid names a wrong value, its place and the right values. An unknown name is ignored, with a sentence
    in `warnings`.
    """
    folder, sources, warnings = _sources(variables() if env is None else env, flags)
    values: dict[str, Any] = {"data_dir": folder}
    for source in sources.values():
        values |= {name: _checked(name, *value) for name, value in source.items()}
        _choose_one(STORES, source, values)
    return _with_existing_model(_config(values, warnings))


def origins(env: Mapping[str, str], data_dir: Path) -> dict[str, Origin]:
    """Where each setting that has not its default comes from."""
    _, sources, _ = _sources(env, {"data_dir": data_dir})
    return {name: origin for origin, values in sources.items() if origin != "flag" for name in values}


def of_text(text: str, path: Path) -> Config:
    """The settings that a file of this text at this path would give alone; Invalid if one is wrong."""
    from_file, warnings = _of_text(text, path)
    return _config({name: _checked(name, *value) for name, value in from_file.items()}, warnings)


def replaced(config: Config, values: Mapping[str, Any]) -> Config:
    """The configuration with these settings, by their names."""
    llm = {one.llm: values[name] for name, one in SETTINGS.items() if one.llm and name in values}
    own = {name: value for name, value in values.items() if not SETTINGS[name].llm}
    return replace(config, llm=replace(config.llm, **llm), **own)


def _config(values: dict[str, Any], warnings: list[str]) -> Config:
    llm = {field: values.pop(name) for name, (*_, field) in SETTINGS.items() if field and name in values}
    return Config(**values, llm=LlmSettings(**llm), warnings=tuple(warnings))


def _sources(
    env: Mapping[str, str], flags: Mapping[str, Any]
) -> tuple[Path, dict[Origin, dict[str, _Value]], list[str]]:
    """The data folder; the values of each origin, the last one wins; and warnings."""
    from_flags = {name: _Value(name, value) for name, value in flags.items() if value is not None}
    if unknown := from_flags.keys() - SETTINGS.keys():
        raise Invalid(f"unknown settings in flags: {listed(unknown)}; known: {listed(SETTINGS)}")
    from_env = _by_name({key: _Value(name, env[name]) for name, key in VARIABLES.items() if env.get(name)})
    folder = _path(*(from_env | from_flags).get("data_dir", _Value("data_dir", Config().data_dir)))
    from_file, warnings = _file(folder / FILE_NAME)
    sources: dict[Origin, dict[str, _Value]] = {
        "file": from_file,
        "environment": from_env,
        "flag": from_flags,
    }
    return folder, sources, warnings + _mistyped(env)


def _choose_one(names: tuple[str, str], source: Mapping[str, _Value], values: dict[str, Any]) -> None:
    """Of two settings that exclude each other, keep the one that this source gives."""
    one, other = names
    if one in source and other in source:
        raise Invalid(f"{source[one].name} and {source[other].name} are both set; keep one of them")
    for given, left_out in (names, names[::-1]):
        if given in source:
            values.pop(left_out, None)


def of_daemon(env: Mapping[str, str]) -> dict[str, str]:
    """The variables that are a daemon's own; all others belong to a client and come with its handshake."""
    return {
        name: value
        for name, value in env.items()
        if name in VARIABLES and VARIABLES[name] in SETTINGS and SETTINGS[VARIABLES[name]].daemon
    }


def _file(path: Path) -> tuple[dict[str, _Value], list[str]]:
    """The settings in the file, and warnings about names that are ignored."""
    try:
        return _of_text(path.read_text(encoding="utf-8"), path)
    except FileNotFoundError:
        return {}, []
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: Exception) -> Invalid:
    return Invalid(f"{path} cannot be read as settings: {error}. Correct this, or move the file away")


def _of_text(text: str, path: Path) -> tuple[dict[str, _Value], list[str]]:
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _unreadable(path, error) from error
    values: dict[str, _Value] = {}
    warnings = []
    chosen: _Value | None = None
    for key, value in _flat(tree, "").items():
        name = FILE_KEYS.get(key, key)
        if key in UNUSED:
            warnings.append(f"{path}: {key} {UNUSED[key]}")
        elif name not in SETTINGS and name not in ALIASES:
            hint = _did_you_mean(key, [*FILE_KEYS, *ALIASES], LIKE_A_KEY)
            warnings.append(f"{path}: unknown setting {key} is ignored{hint}")
        else:
            values[name] = _Value(f"{path}: {key}", _beside(path, value) if name in PATHS else value)
            if key.startswith("claude."):
                chosen = _Value(f"{path}: [claude]", "anthropic")
    if chosen is not None:
        values.setdefault("llm_backend", chosen)
    return _by_name(values), warnings


def _mistyped(env: Mapping[str, str]) -> list[str]:
    """Warnings about variables with almost the name of a setting; others may be another program's."""
    unknown = sorted(name for name in env if name.startswith(PREFIX) and name not in VARIABLES)
    hints = {name: _did_you_mean(name, VARIABLES, LIKE_A_VARIABLE) for name in unknown}
    return [f"unknown variable {name} is ignored{hint}" for name, hint in hints.items() if hint]


def _did_you_mean(name: str, names: Iterable[str], least: float) -> str:
    nearest = get_close_matches(name, list(names), 1, least)
    return f"; did you mean {nearest[0]}?" if nearest else ""


def _with_existing_model(config: Config) -> Config:
    name = config.embedding_model
    instead = REPLACED_MODELS.get(name.rpartition("/")[2].lower())
    if instead is None:
        return config
    warning = f"embedding_model {name} is not part of this Lore; {instead} is used in its place"
    return replace(config, embedding_model=instead, warnings=(*config.warnings, warning))


def _beside(file: Path, value: Any) -> Any:
    """A relative path in the file starts at the folder of the file."""
    relative = isinstance(value, str) and value and not value.startswith("~")
    return str(file.parent / value) if relative else value


def _by_name(values: Mapping[str, _Value]) -> dict[str, _Value]:
    """The same values under the settings' own names."""
    aliased = {ALIASES[key]: value for key, value in values.items() if key in ALIASES}
    return aliased | {key: value for key, value in values.items() if key not in ALIASES}


def keys_of(text: str, name: str) -> list[str]:
    """The keys under which a file of this text sets a setting."""
    names = {name, *(alias for alias, own in ALIASES.items() if own == name)}
    return [key for key in _flat(tomllib.loads(text), "") if FILE_KEYS.get(key, key) in names]


def _flat(tree: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        inner = isinstance(value, dict) and prefix + key not in TABLES
        flat |= _flat(value, f"{prefix}{key}.") if inner else {prefix + key: value}
    return flat


def _checked(setting: str, name: str, value: Any) -> Any:
    """The value as this setting's type. name: the user's name for it, for the error."""
    if setting in PATHS:
        return _path(name, value)
    if setting == "llm_prices":
        return _prices(name, value)
    wanted = type(SETTINGS[setting].default)
    if wanted is bool:
        return _yes_or_no(name, value)
    if wanted in (int, float):
        return _port(name, value) if setting in PORTS else _number(name, value, wanted)
    if not isinstance(value, str) or not value.strip():
        raise Invalid(f"{name} must be a text that is not empty, not {value!r}")
    if setting == "database_url":
        return _database_url(name, value)
    if value not in CHOICES.get(setting, (value,)):
        raise Invalid(f"{name} must be one of {listed(CHOICES[setting])}, not {value!r}")
    names = {"namespace": [value], "teams": comma_separated(value)}.get(setting, [])
    if any(len(one) > NAMESPACE_LIMIT or not one.isprintable() for one in names):
        raise Invalid(f"{name} must be at most {NAMESPACE_LIMIT} printable characters, not {value!r}")
    return value


def _database_url(name: str, value: str) -> str:
    """The value itself never stands in an error: it may hold a password."""
    if not value.startswith(SCHEMES):
        raise Invalid(f"{name} must be an address like postgresql://USER:PASSWORD@HOST:5432/DATABASE")
    return f"postgresql://{value.partition('://')[2]}"


def _prices(name: str, value: Any) -> dict[str, Price]:
    if not isinstance(value, dict) or not all(isinstance(pair, list) for pair in value.values()):
        raise Invalid(f'{name} must be a table like "my-model" = [0.5, 1.5] in the file, not {value!r}')
    prices = {}
    for model, pair in value.items():
        if len(pair) != 2:
            raise Invalid(f"{name}: {model!r} needs two numbers, for tokens in and out, not {pair!r}")
        read, written = (float(_number(f"{name} of {model!r}", price, float)) for price in pair)
        prices[model] = Price(tokens_in=read, tokens_out=written)
    return prices


def _yes_or_no(name: str, value: Any) -> bool:
    """In the file true and false, in the environment also yes and no, 1 and 0."""
    text = str(value).lower() if isinstance(value, bool | str) else ""
    if text in ("true", "yes", "1"):
        return True
    if text in ("false", "no", "0"):
        return False
    raise Invalid(f"{name} must be true or false, not {value!r}")


def _number(name: str, value: Any, wanted: type[int] | type[float]) -> int | float:
    """From the environment numbers come as text; none of them may be negative."""
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError
        number = wanted(value)
        if not math.isfinite(number) or number < 0 or float(number) != float(value):
            raise ValueError
    except ValueError:
        kind = "whole number" if wanted is int else "number"
        raise Invalid(f"{name} must be a {kind} of 0 or more, not {value!r}") from None
    return number


def _port(name: str, value: Any) -> int | float:
    number = _number(name, value, int)
    if number > LARGEST_PORT:
        raise Invalid(f"{name} must be a port from 0 to {LARGEST_PORT}, not {value!r}")
    return number


def _path(name: str, value: Any) -> Path:
    if not isinstance(value, (str, Path)) or not str(value) or "\0" in str(value):
        raise Invalid(f"{name} must be a path, not {value!r}")
    try:
        path = Path(value).expanduser()
        str(path).encode()
    except (RuntimeError, UnicodeEncodeError) as error:  # ~somebody unknown here, or a name not in UTF-8
        raise Invalid(f"{name} must be a path, not {value!r}: {error}") from error
    if not path.name:
        raise Invalid(f"{name} must name a file or folder, not {value!r}")
    return path
