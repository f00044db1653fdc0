"""Connecting: settings → store, embedder and background, wired into one Lore."""

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lore.config import Config, ConsolidationSettings, Tuning, load
from lore.embed import Embedder, open_embedder
from lore.engine import Lore
from lore.engine.background import Background
from lore.engine.embeddings import Embeddings
from lore.engine.spending import StoreLedger
from lore.environment import of_clients
from lore.errors import Invalid
from lore.llm import language_model
from lore.llm.base import LanguageModel, Price, Settings
from lore.llm.calling import Waiting
from lore.llm.unusable import UnusableModel
from lore.ranking.policy import RANKINGS, REFERENCE, Policy
from lore.store import BACKENDS, Store

BASE_URL_VARIABLE = "ANTHROPIC_BASE_URL"
"""Anthropic's own clients read it too; a `base_url` in the settings comes first."""

logger = logging.getLogger(__name__)


def connect(path: str | Path | None = None, *, namespace: str | None = None) -> Lore:
    """Open a Lore: the one of the settings, or the file at `path`. Close it when done.

    >>> lore = connect("/tmp/notes.db")
    >>> lore.remember(Draft(content="The deploy key lives in the vault."))
    """
    config = load(db_path=path, namespace=namespace)
    for warning in config.warnings:
        logger.warning("%s", warning)
    lore = wire(config)
    lore.background.start()
    return lore


def wire(
    config: Config,
    *,
    embedder: Embedder | None = None,
    patient: bool = True,
    clock: Callable[[], float] = time.time,
) -> Lore:
    """Put the parts together as the settings say.

    patient: searches wait for the model. Otherwise (a server) the model loads and memories are embedded
    in the background, and searches that come before wait a moment and then answer by words.
    """
    sense = Embeddings(embedder or open_embedder(config.embedding_model), patient)
    store = BACKENDS["sqlite"](config.database, config.vector_store)
    background = Background(store, sense, clock)
    background.sweep_also(config.namespace, config)
    return Lore(
        store=store,
        sense=sense,
        namespace=config.namespace,
        clock=clock,
        tuning=config,
        policies=_tuned(config),
        background=background,
        model=_model(config, store, clock),
    )


def tailored(lore: Lore, config: Config, *, patient: bool = False) -> Lore:
    """The same Lore, with the settings of one of its clients. patient: it waits for the model."""
    sense = lore.sense.patiently() if patient else lore.sense
    return replace(lore, sense=sense, namespace=config.namespace, tuning=config, policies=_tuned(config))


def _model(config: ConsolidationSettings, store: Store, clock: Callable[[], float]) -> LanguageModel | None:
    """The language model of the settings, if any. A mistake in them keeps nobody from searching: who
    consolidates is told of it."""
    key = of_clients((config.api_key_env,)).get(config.api_key_env, "")
    ledger, waiting = StoreLedger(store, clock), Waiting(clock=clock)
    try:
        return language_model(_thinking(config), key, ledger=ledger, waiting=waiting)
    except Invalid as wrong:
        return UnusableModel(str(wrong))


def _thinking(config: ConsolidationSettings) -> Settings:
    """What a user has set about language models."""
    return Settings(
        backend=config.llm_backend,
        base_url=_base_url(config),
        api_key_env=config.api_key_env,
        extraction_model=config.extraction_model,
        compression_model=config.compression_model,
        timeout_secs=config.llm_timeout_secs,
        max_concurrency=config.llm_max_concurrency,
        daily_tokens=config.llm_daily_tokens,
        daily_dollars=config.llm_daily_dollars,
        command=config.llm_command,
        prices={name: Price(tokens_in=read, tokens_out=written) for name, read, written in config.llm_prices},
    )


def _base_url(config: ConsolidationSettings) -> str:
    """The address of the language model's server; empty: the one that its backend has by default."""
    if config.llm_base_url or config.llm_backend != "anthropic":
        return config.llm_base_url
    return of_clients((BASE_URL_VARIABLE,)).get(BASE_URL_VARIABLE, "")


def _tuned(tuning: Tuning) -> dict[str, Policy]:
    """The policies, with what a user has set about them. Own weights belong to the published formula."""
    policies = RANKINGS[tuning.ranking]
    weights = {
        "similarity": tuning.w_semantic,
        "words": tuning.w_keyword,
        "quality": tuning.w_score,
        "use": tuning.w_usage,
    }
    scored = policies["scored"]
    if weights != REFERENCE["scored"].weights:
        scored = replace(REFERENCE["scored"], weights=weights)
    scored = replace(
        scored, fade_per_day=tuning.decay_lambda, usage_cap=max(1, tuning.usage_normalisation_cap)
    )
    return {**policies, "scored": scored}
