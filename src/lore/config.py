"""Settings: defaults, the file, the environment, flags; the last word wins."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

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
    folders, comma-separated, from which a tool may import files.
    """

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
class Sleeping(Tuning):
    """How Lore consolidates, and which language model helps it, if any.

    consolidation_interval: seconds between two runs; 0: only when asked. idle_sessions: so many conversations
    to digest do not wait that long; 0: they do. idle_threshold: for how many seconds a conversation must have
    been quiet. max_turns_per_extraction, max_chars_per_extraction: of how much of a conversation a language
    model is asked at once; with its answer, the default takes about 8,000 tokens. merge_threshold,
    similarity_threshold: how alike two roots are to become one, or to be linked. edge_decay_days: in how many
    days without use a link loses a twentieth of its weight; 0: never. prune:
    whether faded memories may go, unused ones after twice prune_age_days, others after three times as long.
    llm_daily_tokens, llm_daily_dollars: what a day may take; 0: without limit. llm_prices: of models by name,
    in dollars for a million tokens in and out.
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
    llm_backend: str = "auto"
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
class Config(Sleeping):
    """Every setting. A field `x` is `x` in the file and `LORE_X` in the environment.

    idle_minutes: after so many without a question the daemon dozes. ingest_sources: whose transcripts it
    reads, comma-separated. ingest_paused: none for now. ingest_poll_seconds: how often it looks unasked.
    """

    data_dir: Path = Path("~/.lore")
    db_path: Path | None = None
    memory_file_path: Path | None = None
    namespace: str = SHARED
    surfaces: str = "tree"
    embedding_model: str = "gte-small"
    idle_minutes: float = 10.0
    ingest_sources: str = "all"
    ingest_paused: bool = False
    ingest_poll_seconds: float = 30.0

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


def load(env: Mapping[str, str] | None = None, **flags: Any) -> Config:
    """The settings in force. A flag that is None was not given."""
    env = variables() if env is None else env
    given = {name: value for name, value in flags.items() if value is not None}
    known = {field.name for field in fields(Config)}
    outside = {key: f"{PREFIX}{key.upper()}" for key in (*known, *ALIASES)} | dict(OTHER_NAMES)
    told = _by_field({key: env[name] for key, name in outside.items() if env.get(name)})
    folder = _path("data_dir", (told | given).get("data_dir", Config().data_dir))
    config = replace(Config(), data_dir=folder)
    for origin, values in (
        (str(folder / FILE_NAME), _file(folder / FILE_NAME)),
        ("environment", told),
        ("flags", given),
    ):
        config = _with(config, values, origin)
    return config


def _file(path: Path) -> dict[str, Any]:
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise Invalid(f"{path} cannot be read as settings: {error}") from error
    given = _by_field({FILE_KEYS.get(key, key): value for key, value in _flat(tree, "").items()})
    return given | {name: _beside(path, given[name]) for name in given.keys() & PATHS}


def _beside(file: Path, value: Any) -> Any:
    """A path in the file begins where the file is, wherever the process was started."""
    relative = isinstance(value, str) and value and not value.startswith("~")
    return str(file.parent / value) if relative else value


def _by_field(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same values under the fields' own names."""
    aliased = {ALIASES[key]: value for key, value in values.items() if key in ALIASES}
    return aliased | {key: value for key, value in values.items() if key not in ALIASES}


def _flat(tree: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in tree.items():
        inner = isinstance(value, dict) and prefix + key not in TABLES
        flat |= _flat(value, f"{prefix}{key}.") if inner else {prefix + key: value}
    return flat


def _with(config: Config, values: Mapping[str, Any], origin: str) -> Config:
    known = {field.name for field in fields(Config)}
    if unknown := values.keys() - known:
        names = listed([*(known - set(FILE_KEYS.values())), *FILE_KEYS])
        raise Invalid(f"unknown settings in {origin}: {listed(unknown)}; known: {names}")
    return replace(config, **{name: _value(name, value) for name, value in values.items()})


def _value(name: str, value: Any) -> Any:
    if name in PATHS:
        return _path(name, value)
    if name == "llm_prices":
        return _prices(name, value)
    wanted = type(getattr(Config(), name))
    if wanted is bool:
        return _yes_or_no(name, value)
    if wanted in (int, float):
        return _number(name, value, wanted)
    if not isinstance(value, str) or not value.strip():
        raise Invalid(f"{name} must be a text that is not empty, not {value!r}")
    if name == "vector_store" and value not in VECTOR_STORES:
        raise Invalid(f"unknown vector_store {value!r}; known: {listed(VECTOR_STORES)}")
    if name == "namespace" and (len(value) > NAMESPACE_LIMIT or not value.isprintable()):
        raise Invalid(f"namespace must be at most {NAMESPACE_LIMIT} printable characters, not {value!r}")
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
