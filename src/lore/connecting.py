"""Connecting: settings → store, embedder and background, wired into one Lore."""

import logging
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lore.config import Config, load
from lore.embed import Embedder, open_embedder
from lore.engine import Lore
from lore.engine.background import Background
from lore.engine.embeddings import Embeddings
from lore.engine.spending import StoreLedger
from lore.environment import of_clients
from lore.errors import Invalid
from lore.keys import use_key_of
from lore.llm import Waiting, language_model
from lore.llm.base import LanguageModel, UnusableModel
from lore.ranking.policy import RANKINGS, REFERENCE, Policy
from lore.settings import ConsolidationSettings, Tuning
from lore.store import Store, open_store

BASE_URL_VARIABLE = "ANTHROPIC_BASE_URL"
"""The address that Anthropic's own clients use too; a `base_url` in the settings comes first."""

logger = logging.getLogger(__name__)


def connect(path: str | Path | None = None, *, namespace: str | None = None) -> Lore:
    """Open a Lore: the one of the settings, or the file at `path`. Close it when done.

    >>> brain = connect("/tmp/notes.db")
    >>> brain.remember("The deploy key lives in the vault.")
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
    """Build a Lore from the settings.

    patient: searches wait for the model. Otherwise (a server) the model loads and memories are embedded in
    the background, and earlier searches wait a moment and then answer by words.
    """
    embeddings = Embeddings(embedder or open_embedder(config.embedding_model), patient)
    use_key_of(config.key_source)
    store = open_store(config.location, vector_store=config.vector_store)
    background = Background(store, embeddings, clock)
    background.sweep_also(config.namespace, config)
    return Lore(
        store=store,
        embeddings=embeddings,
        namespace=config.namespace,
        teams=config.seen,
        clock=clock,
        tuning=config,
        policies=_tuned(config),
        background=background,
        model=_model(config, store, clock),
    )


def tailored(lore: Lore, config: Config, *, patient: bool = False) -> Lore:
    """The same Lore with the settings of one client. patient: searches wait for the model."""
    embeddings = lore.embeddings.patiently() if patient else lore.embeddings
    return replace(
        lore,
        embeddings=embeddings,
        namespace=config.namespace,
        teams=config.seen,
        tuning=config,
        policies=_tuned(config),
    )


def _model(config: ConsolidationSettings, store: Store, clock: Callable[[], float]) -> LanguageModel | None:
    """The language model of the settings, if any. A mistake in them prevents only consolidation with a
    model."""
    settings = config.llm
    key = of_clients((settings.api_key_env,)).get(settings.api_key_env, "")
    if settings.backend == "anthropic" and not settings.base_url:
        settings = replace(settings, base_url=of_clients((BASE_URL_VARIABLE,)).get(BASE_URL_VARIABLE, ""))
    ledger, waiting = StoreLedger(store, clock), Waiting(clock=clock)
    try:
        return language_model(settings, key, ledger=ledger, waiting=waiting)
    except Invalid as error:
        return UnusableModel(str(error))


def _tuned(tuning: Tuning) -> dict[str, Policy]:
    """The policies with the user's settings. Own weights are used in the published formula."""
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
