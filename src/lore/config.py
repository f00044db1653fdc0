"""Settings: defaults, the file, the environment, flags; the last word wins."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """The numbers of the dialects that a user may set; the defaults are the dialects' own.

    answer_tokens: the most that one answer to an agent holds, twice as much if it asks by ids; 0: no limit.
    auto_link_k 0: no links without being asked. suggest_interval_hours 0: no sweeps. import_roots: the
    folders, comma-separated, from which a tool may import files. ranking: `lore` (one evidence for all
    dialects) or `reference` (the formulas that they publish).
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
    vector_store: str = "builtin"
    import_roots: str = "~"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationSettings(Tuning):
    """How Lore consolidates, and which language model helps it, if any.

    consolidation_interval: seconds between two runs; 0: only when asked. idle_sessions: so many conversations
    to digest do not wait that long; 0: they do. idle_threshold: for how many seconds a conversation must have
    been quiet. max_turns_per_extraction, max_chars_per_extraction: of how much of a conversation a language
    model is asked at once; with its answer, the default takes about 8,000 tokens. merge_threshold,
    similarity_threshold: how alike two roots are to become one, or to be linked. edge_decay_days: in how many
    days without use a link loses a twentieth of its weight; 0: never. prune:
    whether faded memories may go, unused ones after twice prune_age_days, others after three times as long.
    llm_backend: the kind of language model; empty: none. llm_daily_tokens, llm_daily_dollars: what a day may
    take; 0: without limit. llm_prices: of models by name, in dollars for a million tokens in and out.
    """

    consolidation_interval: float = 7200.0
    idle_sessions: int = 5
    idle_threshold: float = 300.0
    max_turns_per_extraction: int = 200
    max_chars_per_extraction: int = 12_000
    merge_threshold: float = 0.85
    similarity_threshold: float = 0.8
    edge_decay_days: float = 7.0
    prune: bool = False
    prune_age_days: float = 30.0
    min_relevance_prune: float = 0.02
    llm_backend: str = ""
    llm_base_url: str = ""
    api_key_env: str = "ANTHROPIC_API_KEY"
    extraction_model: str = "claude-sonnet-4-20250514"
    compression_model: str = "claude-haiku-4-5-20251001"
    llm_timeout_secs: float = 120.0
    llm_max_concurrency: int = 4
    llm_daily_tokens: int = 0
    llm_daily_dollars: float = 1.0
    llm_command: str = "claude -p --output-format json"
    llm_prices: tuple[tuple[str, float, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(ConsolidationSettings):
    """Every setting. A field `x` is `x` in the file and `LORE_X` in the environment.

    idle_minutes: after so many without a question the daemon dozes. request_seconds: limit of one call of an
    agent; 0: none. ingest_sources: whose transcripts it reads, comma-separated. ingest_paused: none for now.
    ingest_poll_seconds: how often it looks unasked.
    warnings: names in the file or the environment that Lore ignores, one sentence each; not a setting.
    """

    data_dir: Path = Path("~/.lore")
    db_path: Path | None = None
    memory_file_path: Path | None = None
    namespace: str = SHARED
    surfaces: str = "tree"
    embedding_model: str = "gte-small"
    idle_minutes: float = 10.0
    request_seconds: float = 50.0
    ingest_sources: str = "all"
    ingest_paused: bool = False
    ingest_poll_seconds: float = 30.0
    warnings: tuple[str, ...] = field(default=(), compare=False)

    @property
    def database(self) -> Path:
        """The file that holds the memories."""
        return self.db_path if self.db_path is not None else self.data_dir / DATABASE_NAME


FILE_KEYS: Mapping[str, str] = {
    "database.path": "db_path",
    "ingestion.sources": "ingest_sources",
    "ingestion.paused": "ingest_paused",
    "ingestion.poll_interval_secs": "ingest_poll_seconds",
    "ingestion.claude_model": "extraction_model",
    "consolidation.interval_secs": "consolidation_interval",
    "consolidation.idle_threshold_secs": "idle_threshold",
    **{
        f"consolidation.{name}": name
        for name in (
            "idle_sessions",
            "max_turns_per_extraction",
            "max_chars_per_extraction",
            "merge_threshold",
            "similarity_threshold",
            "edge_decay_days",
            "prune",
            "prune_age_days",
            "min_relevance_prune",
        )
    },
    **{
        f"{section}.{name}": name
        for section in ("claude", "llm")
        for name in ("api_key_env", "extraction_model", "compression_model")
    },
    **{
        f"llm.{name}": f"llm_{name}"
        for name in (
            "backend",
            "base_url",
            "timeout_secs",
            "max_concurrency",
            "daily_tokens",
            "daily_dollars",
            "command",
            "prices",
        )
    },
}
"""Keys that have another name in the file; all others are called as the field."""
ALIASES: Mapping[str, str] = {"w_memory": "w_score"}
"""Second names, in the file and in the environment; where both are given, the field's own name counts."""
OTHER_NAMES: Mapping[str, str] = {name.lower(): name for name in BORROWED}
"""Fields whose variable has no prefix."""
PATHS = frozenset({"data_dir", "db_path", "memory_file_path"})
TABLES = frozenset({"llm.prices"})
"""Keys whose value is a table of names that a user gives."""
VECTOR_STORES = ("builtin", "lancedb", "chroma")
RANKINGS = ("lore", "reference")
CHOICES: Mapping[str, tuple[str, ...]] = {"vector_store": VECTOR_STORES, "ranking": RANKINGS}
SETTINGS = frozenset(one.name for one in fields(Config)) - {"warnings"}
VARIABLES: Mapping[str, str] = {f"{PREFIX}{name.upper()}": name for name in (*SETTINGS, *ALIASES)} | {
    variable: name for name, variable in OTHER_NAMES.items()
}
"""Environment variable -> the setting it gives."""
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
"""How similar (0 to 1) a name must be to a known one to be taken for a typing error."""


class _Given(NamedTuple):
    """A value, and the name under which the user gave it."""

    name: str
    value: Any


def load(env: Mapping[str, str] | None = None, **flags: Any) -> Config:
    """The settings in force. A flag that is None was not given.

    Invalid names a wrong value, where it was given and what would be right. A name that Lore does not know
    is ignored, and `warnings` says so.
    """
    env = variables() if env is None else env
    given = {name: _Given(name, value) for name, value in flags.items() if value is not None}
    if unknown := given.keys() - SETTINGS:
        raise Invalid(f"unknown settings in flags: {listed(unknown)}; known: {listed(SETTINGS)}")
    told = _by_field({key: _Given(name, env[name]) for name, key in VARIABLES.items() if env.get(name)})
    folder = _path(*(told | given).get("data_dir", _Given("data_dir", Config().data_dir)))
    written, warnings = _file(folder / FILE_NAME)
    config = replace(Config(), data_dir=folder, warnings=(*warnings, *_mistyped(env)))
    for values in (written, told, given):
        config = replace(config, **{name: _value(name, *value) for name, value in values.items()})
    return _with_a_known_model(config)


def _file(path: Path) -> tuple[dict[str, _Given], list[str]]:
    """The settings in the file, and what it says that is ignored."""
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}, []
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Invalid(
            f"{path} cannot be read as settings: {error}. Correct this, or move the file away"
        ) from error
    values: dict[str, _Given] = {}
    warnings = []
    chosen: _Given | None = None
    for key, value in _flat(tree, "").items():
        name = FILE_KEYS.get(key, key)
        if key in UNUSED:
            warnings.append(f"{path}: {key} {UNUSED[key]}")
        elif name not in SETTINGS and name not in ALIASES:
            known = (SETTINGS - set(FILE_KEYS.values())) | FILE_KEYS.keys() | ALIASES.keys()
            warnings.append(
                f"{path}: unknown setting {key} is ignored{_did_you_mean(key, known, LIKE_A_KEY)}"
            )
        else:
            values[name] = _Given(f"{path}: {key}", _beside(path, value) if name in PATHS else value)
            if key.startswith("claude."):
                chosen = _Given(f"{path}: [claude]", "anthropic")
    if chosen is not None:
        values.setdefault("llm_backend", chosen)
    return _by_field(values), warnings


def _mistyped(env: Mapping[str, str]) -> list[str]:
    """Variables that are called almost like one of Lore's; any others may be another program's."""
    unknown = sorted(name for name in env if name.startswith(PREFIX) and name not in VARIABLES)
    hints = {name: _did_you_mean(name, VARIABLES, LIKE_A_VARIABLE) for name in unknown}
    return [f"unknown variable {name} is ignored{hint}" for name, hint in hints.items() if hint]


def _did_you_mean(name: str, known: Iterable[str], least: float) -> str:
    nearest = get_close_matches(name, list(known), 1, least)
    return f"; did you mean {nearest[0]}?" if nearest else ""


def _with_a_known_model(config: Config) -> Config:
    name = config.embedding_model
    instead = REPLACED_MODELS.get(name.rpartition("/")[2].lower())
    if instead is None:
        return config
    warning = f"embedding_model {name} is not part of this Lore; {instead} is used in its place"
    return replace(config, embedding_model=instead, warnings=(*config.warnings, warning))


def _beside(file: Path, value: Any) -> Any:
    """A path in the file begins where the file is, wherever the process was started."""
    relative = isinstance(value, str) and value and not value.startswith("~")
    return str(file.parent / value) if relative else value


def _by_field(values: Mapping[str, _Given]) -> dict[str, _Given]:
    """The same values under the fields' own names."""
    aliased = {ALIASES[key]: value for key, value in values.items() if key in ALIASES}
    return aliased | {key: value for key, value in values.items() if key not in ALIASES}


def _flat(tree: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        inner = isinstance(value, dict) and prefix + key not in TABLES
        flat |= _flat(value, f"{prefix}{key}.") if inner else {prefix + key: value}
    return flat


def _value(setting: str, name: str, value: Any) -> Any:
    """The value as this setting's type. name: what the user calls it, for the error."""
    if setting in PATHS:
        return _path(name, value)
    if setting == "llm_prices":
        return _prices(name, value)
    wanted = type(getattr(Config(), setting))
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


def _prices(name: str, value: Any) -> tuple[tuple[str, float, float], ...]:
    if not isinstance(value, dict) or not all(isinstance(pair, list) for pair in value.values()):
        raise Invalid(f'{name} must be a table like "my-model" = [0.5, 1.5] in the file, not {value!r}')
    prices = []
    for model, pair in value.items():
        if len(pair) != 2:
            raise Invalid(f"{name}: {model!r} needs two numbers, for tokens in and out, not {pair!r}")
        read, written = (float(_number(f"{name} of {model!r}", price, float)) for price in pair)
        prices.append((model, read, written))
    return tuple(prices)


def _yes_or_no(name: str, value: Any) -> bool:
    """In the file true and false, in the environment also yes and no, 1 and 0."""
    said = str(value).lower() if isinstance(value, bool | str) else ""
    if said in ("true", "yes", "1"):
        return True
    if said in ("false", "no", "0"):
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
