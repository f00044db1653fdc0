"""Patience around any language model: few at once, again after a while, never for ever, within a budget."""

import logging
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import BoundedSemaphore

from lore.llm.base import LanguageModel, NoAnswer, Prompt, Reply, Role, Unreachable
from lore.llm.budget import Budget

RETRIES = 5
FIRST_WAIT = 0.5
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
            return self.budget.spend(reply, needed)

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
