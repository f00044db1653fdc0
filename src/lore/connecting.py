"""Connecting: settings → store, embedder and background, wired into one Lore."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lore.config import Config, Tuning, load
from lore.embed import Embedder, open_embedder
from lore.engine import Lore
from lore.engine.background import Background
from lore.engine.sense import Sense
from lore.ranking.policy import POLICIES, Policy
from lore.store import BACKENDS


def connect(path: str | Path | None = None, *, namespace: str | None = None) -> Lore:
    """Open a Lore: the one of the settings, or the file at `path`. Close it when done.

    >>> lore = connect("/tmp/notes.db")
    >>> lore.remember(Draft(content="The deploy key lives in the vault."))
    """
    lore = wire(load(db_path=path, namespace=namespace))
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
    sense = Sense(embedder or open_embedder(config.embedding_model), patient)
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
    )


def tailored(lore: Lore, config: Config, *, patient: bool = False) -> Lore:
    """The same Lore, with the settings of one of its clients. patient: it waits for the model."""
    sense = lore.sense.patiently() if patient else lore.sense
    return replace(lore, sense=sense, namespace=config.namespace, tuning=config, policies=_tuned(config))


def _tuned(tuning: Tuning) -> dict[str, Policy]:
    """The policies, with what a user has set about them."""
    weights = {
        "similarity": tuning.w_semantic,
        "words": tuning.w_keyword,
        "quality": tuning.w_score,
        "use": tuning.w_usage,
    }
    scored = replace(
        POLICIES["scored"],
        weights=weights,
        fade_per_day=tuning.decay_lambda,
        usage_cap=max(1, tuning.usage_normalisation_cap),
    )
    return {**POLICIES, "scored": scored}
