// names: settings as a person calls them, where their own name is no word.
import { plain } from "../../words.js";

const NAMES = {
  w_semantic: "Weight of the meaning",
  w_keyword: "Weight of the words",
  w_score: "Weight of the score",
  w_usage: "Weight of the use",
  usage_normalisation_cap: "Most uses that count",
  decay_lambda: "Speed of fading",
  new_memory_default_score: "Score of a new memory",
  score_bump_up: "Gain of a useful rating",
  score_bump_down: "Loss of a useless rating",
  confidence_window_size: "Ratings that count",
  soft_delete_confidence_threshold: "Confidence that hides a memory",
  max_search_ids: "Ids in a search",
  max_refine_from_ids: "Ids to refine from",
  duplicate_threshold: "Likeness of duplicates",
  max_links_per_memory: "Links shown of a memory",
  auto_link_k: "Links of a new memory",
  auto_link_threshold: "Likeness for a link",
  link_top_k: "Neighbours compared",
  link_top_m: "Suggestions for a memory",
  link_score_threshold: "Score of a suggestion",
  link_weight_cosine: "Weight of the meaning",
  link_weight_bm25: "Weight of the words",
  link_weight_entity: "Weight of common names",
  link_weight_temporal: "Weight of the time",
  link_temporal_tau_days: "Days of closeness",
  suggest_high_confidence_score: "Score of a certain suggestion",
  suggest_interval_hours: "Hours between suggestions",
  suggest_ttl_days: "Days of a suggestion",
  suggest_poll_seconds: "Seconds between looks",
  consolidation_interval: "Seconds between consolidations",
  idle_threshold: "Seconds of quiet",
  idle_sessions: "Quiet conversations",
  prune: "Forget what has faded",
  min_relevance_prune: "Relevance of faded memories",
  prune_age_days: "Age of what is forgotten",
  edge_decay_days: "Days until a link fades",
  merge_threshold: "Likeness to merge",
  similarity_threshold: "Likeness to link",
  ingest_sources: "Clients that are read",
  ingest_paused: "Pause reading",
  ingest_poll_seconds: "Seconds between looks",
  hooks_pre_tool_use: "Warn before tools",
  import_roots: "Folders of imports",
  llm_backend: "Kind of language model",
  llm_base_url: "Address of the model",
  api_key_env: "Variable of the key",
  llm_timeout_secs: "Seconds for a reply",
  llm_max_concurrency: "Prompts at a time",
  llm_daily_tokens: "Tokens of a day",
  llm_daily_dollars: "Dollars of a day",
  llm_command: "Command of the model",
  llm_prices: "Prices of models",
  data_dir: "Data folder",
  db_path: "File of memories",
  memory_file_path: "File to import",
  http_port: "Port of the daemon",
  host: "Address of the server",
  port: "Port of the server",
  tls_cert: "TLS certificate",
  tls_key: "TLS key",
  oauth_issuer: "OAuth issuer",
  oauth_audience: "OAuth audience",
  oauth_user_claim: "OAuth claim of the user",
};

export const nameOf = ({ name }) => NAMES[name] ?? plain(name);

/** Weights that belong together and should sum to 1. */
export const WEIGHTS = [
  ["w_semantic", "w_keyword", "w_score", "w_usage"],
  ["link_weight_cosine", "link_weight_bm25", "link_weight_entity", "link_weight_temporal"],
];

const ORIGINS = { default: "Default", file: "Set in config.toml", environment: "Set by the environment", flag: "Set on the command line" };
export const originOf = ({ origin }) => ORIGINS[origin] ?? plain(origin);

/** A value as text for a field. */
export function textOf(value) {
  if (value === null || value === undefined) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** A default as a reader sees it. */
export function defaultOf({ type, default: value }) {
  if (type === "boolean") return value ? "on" : "off";
  return textOf(value) || "empty";
}
