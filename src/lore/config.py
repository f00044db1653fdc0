"""Settings: defaults, then the file, then the environment, then flags; the last one wins.

A setting is one field of a class below. Its name in the environment is LORE_ and the field's name in
capitals; its name in the file is the field's name, or the `key` of the field, in a section. Fields of
`LlmSettings` are in the section `llm` and have names with `llm_`.
"""

import math
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from lore.environment import BORROWED, PREFIX, variables
from lore.errors import Invalid
from lore.model import SHARED
from lore.text import listed

FILE_NAME = "config.toml"
DATABASE_NAME = "memory.db"
IGNORE_LIST = "ignore"
NAMESPACE_LIMIT = 100
"""Characters of a namespace."""


def _setting(default: Any, key: str = "", *, name: str = "") -> Any:
    """A field that is the daemon's, not a client's. key: its name in the file. name: its name elsewhere."""
    return field(default=default, metadata={"key": key, "name": name, "daemon": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """Numbers of the dialects that a user may set; the defaults are the dialects' own.

    answer_tokens: limit of one answer to an agent, doubled for requests by ids; 0: no limit. auto_link_k 0:
    no automatic links. suggest_interval_hours 0: no sweeps. import_roots: folders, comma-separated, from
    which a tool may import files. ranking: `lore` (one evidence for all dialects) or `reference` (the
    formulas that the dialects publish).
    """

    ranking: str = "lore"
    answer_tokens: int = 4_000
    search_limit: int = 10
    duplicate_threshold: float = 0.85
    decay_lambda: float = 0.0077
    w_semantic: float = 0.45
    w_keyword: float = 0.30
    w_score: float = 0.15
    w_usage: float = 0.10
    score_bump_up: float = 0.5
    score_bump_down: float = 0.5
    confidence_window_size: int = 20
    max_refine_from_ids: int = 200
    max_search_ids: int = 50
    max_links_per_memory: int = 5
    usage_normalisation_cap: int = 100
    new_memory_default_score: float = 5.0
    soft_delete_confidence_threshold: int = 2
    auto_link_k: int = 5
    auto_link_threshold: float = 0.75
    link_top_k: int = 50
    link_top_m: int = 10
    link_score_threshold: float = 0.3
    link_weight_cosine: float = 0.5
    link_weight_bm25: float = 0.3
    link_weight_entity: float = 0.1
    link_weight_temporal: float = 0.1
    link_temporal_tau_days: float = 30.0
    suggest_high_confidence_score: float = 0.85
    suggest_interval_hours: float = 12.0
    suggest_ttl_days: float = 30.0
    suggest_poll_seconds: float = 300.0
    vector_store: str = _setting("builtin")
    import_roots: str = "~"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Dollars for a million tokens."""

    tokens_in: float
    tokens_out: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmSettings:
    """The language model that helps with consolidation, if any.

    backend: its kind; empty: none. daily_tokens, daily_dollars: limits of a day; 0: no limit. prices: by name
    of the model.
    """

    backend: str = ""
    base_url: str = ""
    api_key_env: str = _setting("ANTHROPIC_API_KEY", name="api_key_env")
    extraction_model: str = _setting("claude-sonnet-4-20250514", name="extraction_model")
    compression_model: str = _setting("claude-haiku-4-5-20251001", name="compression_model")
    timeout_secs: float = 120.0
    max_concurrency: int = 4
    daily_tokens: int = 0
    daily_dollars: float = 1.0
    command: str = "claude -p --output-format json"
    prices: Mapping[str, Price] = field(default_factory=dict)

    def model(self, role: str) -> str:
        """The name of the model for prompts of this role: `extraction` or `compression`."""
        return self.extraction_model if role == "extraction" else self.compression_model


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationSettings(Tuning):
    """How Lore consolidates.

    consolidation_interval: seconds between two runs; 0: only on request. idle_sessions: number of sessions to
    digest that do not wait that long; 0: they do. idle_threshold: seconds for which a session must have been
    quiet. max_turns_per_extraction, max_chars_per_extraction: size of the part of a session in one prompt;
    with the reply, the default takes about 8,000 tokens. merge_threshold, similarity_threshold: likeness of
    two roots that are merged, or linked. edge_decay_days: days without use after which a link loses a
    twentieth of its weight; 0: never. prune: whether faded memories may go, unused ones after twice
    prune_age_days, others after three times as long.
    """

    consolidation_interval: float = _setting(7200.0, "consolidation.interval_secs")
    idle_sessions: int = _setting(5, "consolidation.idle_sessions")
    idle_threshold: float = _setting(300.0, "consolidation.idle_threshold_secs")
    max_turns_per_extraction: int = _setting(200, "consolidation.max_turns_per_extraction")
    max_chars_per_extraction: int = _setting(12_000, "consolidation.max_chars_per_extraction")
    merge_threshold: float = _setting(0.85, "consolidation.merge_threshold")
    similarity_threshold: float = _setting(0.8, "consolidation.similarity_threshold")
    edge_decay_days: float = _setting(7.0, "consolidation.edge_decay_days")
    prune: bool = _setting(False, "consolidation.prune")
    prune_age_days: float = _setting(30.0, "consolidation.prune_age_days")
    min_relevance_prune: float = _setting(0.02, "consolidation.min_relevance_prune")
    llm: LlmSettings = field(default_factory=LlmSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(ConsolidationSettings):
    """Every setting.

    idle_minutes: minutes without use after which a daemon that a client started exits, and any other frees
    memory. request_seconds: limit of one call of an agent; 0: no limit. ingest_sources: clients whose
    transcripts are read, comma-separated. ingest_paused: no transcripts are read. ingest_poll_seconds:
    longest time between two looks at the transcripts. hooks_pre_tool_use: a client's hook warns of known
    pitfalls before a tool is used. warnings: names in the file or the environment that Lore ignores, one
    sentence each; not a setting.
    """

    data_dir: Path = Path("~/.lore")
    db_path: Path | None = field(default=None, metadata={"key": "database.path"})
    memory_file_path: Path | None = None
    namespace: str = SHARED
    surfaces: str = "tree"
    embedding_model: str = _setting("gte-small")
    idle_minutes: float = _setting(10.0)
    request_seconds: float = 50.0
    ingest_sources: str = _setting("all", "ingestion.sources")
    ingest_paused: bool = _setting(False, "ingestion.paused")
    ingest_poll_seconds: float = _setting(30.0, "ingestion.poll_interval_secs")
    hooks_pre_tool_use: bool = _setting(False, "hooks.pre_tool_use")
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @property
    def database(self) -> Path:
        """The file that holds the memories."""
        return self.db_path if self.db_path is not None else self.data_dir / DATABASE_NAME


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
PATHS = frozenset({"data_dir", "db_path", "memory_file_path"})
TABLES = frozenset({"llm.prices"})
"""Keys whose value is a table of names that a user chooses."""
VECTOR_STORES = ("builtin", "lancedb", "chroma")
RANKINGS = ("lore", "reference")
CHOICES: Mapping[str, tuple[str, ...]] = {"vector_store": VECTOR_STORES, "ranking": RANKINGS}
VARIABLES: Mapping[str, str] = {f"{PREFIX}{name.upper()}": name for name in (*SETTINGS, *ALIASES)} | {
    variable: name for name, variable in OTHER_NAMES.items()
}
"""Environment variable -> the setting."""
_REMOTE = "is not used yet: this Lore does not synchronise with a server"
UNUSED: Mapping[str, str] = {
    "ingestion.batch_size": "is not used: Lore reads every turn as it comes;"
    " max_turns_per_extraction under [consolidation] limits how many are digested at once",
    "remote.url": _REMOTE,
    "remote.client_id": _REMOTE,
    "remote.sync_interval_secs": _REMOTE,
}
"""Keys that other systems have in the same file, and why they change nothing here."""
REPLACED_MODELS: Mapping[str, str] = {"all-minilm-l6-v2": "gte-small"}
"""Embedding models that configurations of other systems name -> the one that takes their place."""
LIKE_A_KEY, LIKE_A_VARIABLE = 0.6, 0.85
"""Likeness (0 to 1) to an existing name from which an unknown name counts as a typing error."""


class _Value(NamedTuple):
    """A value, and the name under which the user set it."""

    name: str
    value: Any


def load(env: Mapping[str, str] | None = None, **flags: Any) -> Config:
    """The settings in force. A flag that is None is not set.

    Invalid names a wrong value, its place and the right values. An unknown name is ignored, with a sentence
    in `warnings`.
    """
    env = variables() if env is None else env
    from_flags = {name: _Value(name, value) for name, value in flags.items() if value is not None}
    if unknown := from_flags.keys() - SETTINGS.keys():
        raise Invalid(f"unknown settings in flags: {listed(unknown)}; known: {listed(SETTINGS)}")
    from_env = _by_name({key: _Value(name, env[name]) for name, key in VARIABLES.items() if env.get(name)})
    folder = _path(*(from_env | from_flags).get("data_dir", _Value("data_dir", Config().data_dir)))
    from_file, warnings = _file(folder / FILE_NAME)
    values: dict[str, Any] = {"data_dir": folder}
    for source in (from_file, from_env, from_flags):
        values |= {name: _checked(name, *value) for name, value in source.items()}
    llm = {field: values.pop(name) for name, (*_, field) in SETTINGS.items() if field and name in values}
    warnings += _mistyped(env)
    return _with_existing_model(Config(**values, llm=LlmSettings(**llm), warnings=tuple(warnings)))


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
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}, []
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Invalid(
            f"{path} cannot be read as settings: {error}. Correct this, or move the file away"
        ) from error
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
        return _number(name, value, wanted)
    if not isinstance(value, str) or not value.strip():
        raise Invalid(f"{name} must be a text that is not empty, not {value!r}")
    if value not in CHOICES.get(setting, (value,)):
        raise Invalid(f"{name} must be one of {listed(CHOICES[setting])}, not {value!r}")
    if setting == "namespace" and (len(value) > NAMESPACE_LIMIT or not value.isprintable()):
        raise Invalid(f"{name} must be at most {NAMESPACE_LIMIT} printable characters, not {value!r}")
    return value


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
