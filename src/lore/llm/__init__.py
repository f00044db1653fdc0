"""Question → answer: a language model as Lore sees it, for those who have one. Nothing here is required."""

import logging
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import BoundedSemaphore
from typing import cast

from lore.errors import Invalid
from lore.lazy import load
from lore.llm.base import (
    LanguageModel,
    Limited,
    NoAnswer,
    Prompt,
    Reply,
    Role,
    Settings,
    Unreachable,
    is_refusal,
)
from lore.llm.budget import Budget, Ledger, Limits, MemoryLedger
from lore.text import listed, preview

LANGUAGE_MODELS = {  # name -> where its class is; imported only when opened
    "anthropic": "lore.llm.http:AnthropicModel",
    "openai": "lore.llm.http:OpenAIModel",
    "command": "lore.llm.command:CommandModel",
}
NONE = "none"
RETRIES = 5
FIRST_WAIT = 0.5
QUOTED = 300
SPREAD = 0.25
"""How much a wait that a server asked for is drawn out, so that not all come back at once."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """How time passes; tests bring their own."""

    clock: Callable[[], float] = time.time
    sleep: Callable[[float], None] = time.sleep
    chance: Callable[[], float] = random.random


class Calling:
    """See `LanguageModel`; a call is repeated while that makes sense and `timeout` seconds are not over."""

    def __init__(
        self, model: LanguageModel, budget: Budget, *, timeout: float, concurrency: int, waiting: Waiting
    ) -> None:
        self._model = model
        self._timeout = timeout
        self._slots = BoundedSemaphore(max(1, concurrency))
        self._waiting = waiting
        self.budget = budget

    @property
    def address(self) -> str:
        return self._model.address

    def model(self, role: Role) -> str:
        return self._model.model(role)

    def complete(self, prompt: Prompt) -> Reply:
        timeout = self._timeout if prompt.timeout is None else prompt.timeout
        until = self._waiting.clock() + timeout
        attempt = 0
        while True:
            try:
                return self._once(prompt, until)
            except NoAnswer as error:
                wait = self._wait(error, attempt)
                if not error.retry or attempt == RETRIES or self._waiting.clock() + wait >= until:
                    if isinstance(error, Limited):
                        raise self.budget.stop(self.model(prompt.role), error) from error
                    raise
                logger.info("asking again in %.1f s: %s", wait, error)
                self._waiting.sleep(wait)
                attempt += 1

    def _once(self, prompt: Prompt, until: float) -> Reply:
        """What waits for a free place keeps nothing of the budget from those who are asked."""
        name = self.model(prompt.role)
        with self._slot(until - self._waiting.clock()), self.budget.allowing(prompt, name) as needed:
            left = until - self._waiting.clock()
            if left <= 0:
                raise Unreachable(
                    "the time for an answer was over before the question was asked (timeout_secs)"
                )
            try:
                reply = self._model.complete(replace(prompt, timeout=left))
            except NoAnswer as error:
                if error.lost:
                    self.budget.lose(needed)
                raise
            reply = self.budget.spend(reply, needed)
            if is_refusal(reply.text):
                raise Limited(preview(reply.text.strip(), QUOTED), retry=False)
            return reply

    @contextmanager
    def _slot(self, seconds: float) -> Iterator[None]:
        if not self._slots.acquire(timeout=max(0.0, seconds)):
            message = "too many questions are waiting for the language model (max_concurrency)"
            raise Unreachable(message)
        try:
            yield
        finally:
            self._slots.release()

    def _wait(self, error: NoAnswer, attempt: int) -> float:
        """As long as the server asks for, or twice as long each time; never the same for two callers."""
        chance = self._waiting.chance()
        if error.after is not None:
            return error.after * (1 + SPREAD * chance)
        return float(FIRST_WAIT * 2**attempt * (1 + chance) / 2)


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
    model = cast(LanguageModel, load(LANGUAGE_MODELS[name])(settings, key))
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
    if name and name not in (NONE, *LANGUAGE_MODELS):
        raise Invalid(f"unknown backend {name!r}; known: {listed((NONE, *LANGUAGE_MODELS))}")
    if settings.base_url and not name:
        raise Invalid(f'base_url is {settings.base_url!r}, but whose? Set backend to "openai" or "anthropic"')
    return name or NONE
