"""Question → answer: a language model as Lore sees it, for those who have one. Nothing here is required."""

from importlib import import_module
from typing import cast

from lore.errors import Invalid
from lore.llm.base import LanguageModel, Settings
from lore.llm.budget import Budget, Ledger, Limits, MemoryLedger
from lore.llm.calling import Calling, Waiting
from lore.text import listed

BACKENDS = {  # name -> where its class is; imported only when opened
    "anthropic": "lore.llm.anthropic:AnthropicModel",
    "openai": "lore.llm.openai:OpenAIModel",
    "command": "lore.llm.command:CommandModel",
}
AUTO, NONE = "auto", "none"


def language_model(
    settings: Settings,
    key: str = "",
    *,
    ledger: Ledger | None = None,
    waiting: Waiting | None = None,
) -> Calling | None:
    """The language model of these settings, or None for none. `key`: what `settings.api_key_env` holds.

    Nothing is contacted before the first question. A command is never chosen unasked: it would spend a
    subscription that was not meant for this.
    """
    name = _chosen(settings, key)
    if name == NONE:
        return None
    waiting = waiting or Waiting()
    module, _, attribute = BACKENDS[name].partition(":")
    model = cast(LanguageModel, getattr(import_module(module), attribute)(settings, key))
    budget = Budget(
        limits=Limits(tokens=settings.daily_tokens, dollars=settings.daily_dollars),
        ledger=ledger or MemoryLedger(),
        clock=waiting.clock,
        prices=settings.prices,
    )
    return Calling(
        model,
        budget,
        timeout=settings.timeout_secs,
        concurrency=settings.max_concurrency,
        waiting=waiting,
    )


def _chosen(settings: Settings, key: str) -> str:
    """The backend that is meant; Invalid if none can be."""
    name = settings.backend
    if name not in (AUTO, NONE, *BACKENDS):
        raise Invalid(f"unknown backend {name!r}; known: {listed((AUTO, NONE, *BACKENDS))}")
    if name != AUTO:
        return name
    if settings.base_url:
        raise Invalid(f'base_url is {settings.base_url!r}, but whose? Set backend to "openai" or "anthropic"')
    return "anthropic" if key else NONE
