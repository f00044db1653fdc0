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
NONE = "none"


def language_model(
    settings: Settings,
    key: str = "",
    *,
    ledger: Ledger | None = None,
    waiting: Waiting | None = None,
) -> Calling | None:
    """The language model of these settings, or None for none. `key`: what `settings.api_key_env` holds.

    Only `settings.backend` chooses one: a key in the environment may be meant for another program. Nothing is
    contacted before the first question.
    """
    name = _chosen(settings)
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


def _chosen(settings: Settings) -> str:
    """The name of the backend that the user chose, or NONE; Invalid if there is no such backend."""
    name = settings.backend
    if name and name not in (NONE, *BACKENDS):
        raise Invalid(f"unknown backend {name!r}; known: {listed((NONE, *BACKENDS))}")
    if settings.base_url and not name:
        raise Invalid(f'base_url is {settings.base_url!r}, but whose? Set backend to "openai" or "anthropic"')
    return name or NONE
