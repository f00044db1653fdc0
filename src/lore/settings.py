"""settings: the groups of settings, each a class with its defaults; `config` reads their values.

A setting is one field. Its name in the environment is LORE_ and the field's name in capitals; its name in the
file is the field's name, or the `key` of the field, in a section. Fields of `LlmSettings` are in the section
`llm` and have names with `llm_`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


def setting(default: Any, key: str = "", *, name: str = "") -> Any:
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
    vector_store: str = setting("builtin")
    import_roots: str = "~"


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Dollars for a million tokens."""

    tokens_in: float
    tokens_out: float


RETIRED_MODELS = frozenset({"claude-sonnet-4-20250514", "claude-sonnet-4-0"})
"""Models that older files name and that nobody answers for any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmSettings:
    """The language model that helps with consolidation, if any.

    backend: its kind; empty: none. extraction_model, compression_model: empty: the backend's own.
    daily_tokens, daily_dollars: limits of a day; 0: no limit. daily_conversations: so many are digested in a
    day; 0: no limit. idle_secs: seconds for which a conversation must have been quiet, if that is longer than
    `idle_threshold`. prices: by name of the model.
    """

    backend: str = ""
    base_url: str = ""
    api_key_env: str = setting("ANTHROPIC_API_KEY", name="api_key_env")
    extraction_model: str = setting("", name="extraction_model")
    compression_model: str = setting("", name="compression_model")
    timeout_secs: float = 120.0
    max_concurrency: int = 4
    daily_tokens: int = 1_000_000
    daily_dollars: float = 1.0
    daily_conversations: int = 0
    idle_secs: float = 0.0
    command: str = "claude -p --output-format json"
    prices: Mapping[str, Price] = field(default_factory=dict)

    def model(self, role: str) -> str:
        """The name for prompts of this role, `extraction` or `compression`; empty: the backend's own.

        A model that its maker has retired is replaced by that.
        """
        name = self.extraction_model if role == "extraction" else self.compression_model
        return "" if name in RETIRED_MODELS else name


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationSettings(Tuning):
    """How Lore consolidates.

    consolidation_interval: seconds between two runs; 0: only on request. idle_sessions: number of sessions to
    digest that do not wait that long; 0: they do. idle_threshold: seconds for which a session must have been
    quiet. max_turns_per_extraction: the longest subject for the rules, in turns. max_chars_per_extraction: of
    a session in one prompt to a language model; the default takes about 16,000 tokens, a model with room for
    8,000 needs 12_000. 0: no limit. merge_threshold, similarity_threshold: likeness of
    two roots that are merged, or linked. edge_decay_days: days without use after which a link loses a
    twentieth of its weight; 0: never. prune: whether faded memories may go, unused ones after twice
    prune_age_days, others after three times as long.
    """

    consolidation_interval: float = setting(7200.0, "consolidation.interval_secs")
    idle_sessions: int = setting(5, "consolidation.idle_sessions")
    idle_threshold: float = setting(300.0, "consolidation.idle_threshold_secs")
    max_turns_per_extraction: int = setting(200, "consolidation.max_turns_per_extraction")
    max_chars_per_extraction: int = setting(60_000, "consolidation.max_chars_per_extraction")
    merge_threshold: float = setting(0.85, "consolidation.merge_threshold")
    similarity_threshold: float = setting(0.8, "consolidation.similarity_threshold")
    edge_decay_days: float = setting(7.0, "consolidation.edge_decay_days")
    prune: bool = setting(False, "consolidation.prune")
    prune_age_days: float = setting(30.0, "consolidation.prune_age_days")
    min_relevance_prune: float = setting(0.02, "consolidation.min_relevance_prune")
    llm: LlmSettings = field(default_factory=LlmSettings)

    def quiet_seconds(self, *, by_model: bool) -> float:
        """For how long a session must have been quiet before rules, or a language model, digest it."""
        return max(self.idle_threshold, self.llm.idle_secs) if by_model else self.idle_threshold


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSettings(ConsolidationSettings):
    """How Lore is offered over HTTP.

    host, port: where `lore-server` listens; port 0: a free one. upkeep: whether it also embeds and
    consolidates; otherwise `lore worker` does. http_port: the port of a daemon on loopback;
    0: none. body_bytes: limit of a request's body, also of what a compressed one expands to.
    allowed_hosts: names of the server besides localhost; allowed_origins: of web pages that may send
    requests; trusted_proxies: addresses whose X-Forwarded headers count; all comma-separated. rate_limit:
    requests of one caller in a minute; 0: no limit. tls_cert, tls_key: files of a certificate and its key, in
    PEM. oauth_issuer: the server whose tokens are accepted; oauth_audience: the name of this server in them,
    which is its public address; oauth_user_claim: the claim that names the user.
    """

    host: str = setting("127.0.0.1", "server.host")
    port: int = setting(8080, "server.port")
    upkeep: bool = setting(True, "server.upkeep")
    http_port: int = setting(0, "daemon.http_port")
    body_bytes: int = setting(4 << 20, "server.body_bytes")
    allowed_hosts: str = setting("", "server.allowed_hosts")
    allowed_origins: str = setting("", "server.allowed_origins")
    trusted_proxies: str = setting("", "server.trusted_proxies")
    rate_limit: int = setting(6000, "server.rate_limit")
    tls_cert: Path | None = field(default=None, metadata={"key": "server.tls_cert", "daemon": True})
    tls_key: Path | None = field(default=None, metadata={"key": "server.tls_key", "daemon": True})
    oauth_issuer: str = setting("", "server.oauth_issuer")
    oauth_audience: str = setting("", "server.oauth_audience")
    oauth_user_claim: str = setting("sub", "server.oauth_user_claim")


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteSettings(ServerSettings):
    """The server with which this store exchanges conversations and memories, if any.

    remote_url: its address; empty: none. remote_client_id: the name of this machine there; empty: its host
    name. remote_sync_seconds: seconds between two pushes. remote_token_env: the variable that holds the
    access token. remote_namespaces: those that both stores keep equal, comma-separated. remote_keep_turns:
    whether pushed turns stay in this store.
    """

    remote_url: str = setting("", "remote.url")
    remote_client_id: str = setting("", "remote.client_id")
    remote_sync_seconds: float = setting(60.0, "remote.sync_interval_secs")
    remote_token_env: str = setting("LORE_TOKEN", "remote.token_env")
    remote_namespaces: str = setting("", "remote.namespaces")
    remote_keep_turns: bool = setting(True, "remote.keep_turns")
