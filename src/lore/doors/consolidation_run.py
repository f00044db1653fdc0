"""consolidation_run: one consolidation, by one process at a time, which can be told to end."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from lore.doors.embedding_progress import Embeds, settling
from lore.engine import Lore
from lore.errors import LoreError, Unavailable
from lore.health import Embedding
from lore.llm.base import LanguageModel, OverBudget, Prompt, Reply, Role, Unreachable
from lore.llm.unusable import UnusableModel

if TYPE_CHECKING:
    from lore.engine.consolidate import Report

LEASE_SECONDS = 600.0
"""For how long nobody else begins; one that goes on says so again and again, one that was killed does not."""
RENEW_SECONDS = 60.0
EMBED, ELSEWHERE = "embed", "embed elsewhere"
"""Names of the work before the phases: this process embeds, or another one does."""
GLANCE_SECONDS = 0.1
"""How soon one that waits for an answer notices that it is to end."""


class Ended(Exception):
    """It was told to end between two steps; what was done until then stays."""


class ConsolidationRun:
    """A consolidation of what a Lore knows. told: which phase is at work, how much is done of how much.

    embeds: whoever embeds the backlog before the phases begin, if not the Lore itself.
    """

    def __init__(
        self,
        lore: Lore,
        told: Callable[[str, int, int], None] = lambda *_: None,
        embeds: Embeds | None = None,
    ) -> None:
        self._ended = threading.Event()
        model = None if lore.model is None else _Hasty(lore.model, self._ended)
        self._lore = replace(lore, model=model)
        self._told = told
        self._embeds: Embeds = embeds or lore
        self._renewed_at = 0.0

    def end(self) -> None:
        """Finish the step at hand; an answer of a language model is not waited for."""
        self._ended.set()

    @property
    def ended(self) -> bool:
        """Whether it was told to end."""
        return self._ended.is_set()

    def run(self, phases: Sequence[str] = (), *, dry: bool = False) -> "Report":
        """The phases of these names, or all. Ended: it was told to in the middle of one.

        A whole run counts as the regular one: the next is due an interval later.
        """
        if dry:
            return self._slept(phases, dry=True)
        began_at = self._lore.clock()
        with self._alone():
            report = self._slept(phases, dry=False)
        if not phases and not self.ended:
            due_at = self._lore.clock() + self._lore.tuning.consolidation_interval
            self._lore.store.schedule(regular(self._lore), began_at, due_at)
        return report

    def _slept(self, phases: Sequence[str], *, dry: bool) -> "Report":
        work = self._embedded()
        sleep = import_module("lore.engine.consolidation").sleep
        report: Report = sleep(self._lore, phases, dry=dry, told=self._tell, ended=self._ended, after=work)
        return report

    def _embedded(self) -> Embedding | None:
        """Have the backlog embedded, here or by another process, and tell how far that is."""
        work = None
        for work in settling(self._embeds):
            self._tell(ELSEWHERE if work.elsewhere else EMBED, work.done, work.done + work.left)
        return work

    def _tell(self, phase: str, done: int, total: int) -> None:
        if self.ended:
            raise Ended(f"in {phase}, after {done:,} of {total:,}")
        self._renew()
        self._told(phase, done, total)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        store, now = self._lore.store, self._lore.clock()
        if store.claim(self._errand, now, now + LEASE_SECONDS, LEASE_SECONDS) is None:
            raise Unavailable(
                "another process consolidates this store at the moment; if it was killed,"
                f" it can be done again within {LEASE_SECONDS / 60:.0f} minutes"
            )
        self._renewed_at = now
        try:
            yield
        finally:
            store.schedule(self._errand, now, self._lore.clock())

    def _renew(self) -> None:
        now = self._lore.clock()
        if self._renewed_at and abs(now - self._renewed_at) >= RENEW_SECONDS:
            self._lore.store.schedule(self._errand, now, now + LEASE_SECONDS)
            self._renewed_at = now

    @property
    def _errand(self) -> str:
        return f"consolidating {self._lore.namespace}"


def regular(lore: Lore) -> str:
    """The errand that is due once in every interval."""
    return f"consolidate {lore.namespace}"


def language_models(lore: Lore) -> dict[str, str] | None:
    """Names of the language models by role, and the address that gets the prompts; or the trouble with them.
    None: no language model was chosen."""
    if lore.model is None:
        return None
    if isinstance(lore.model, UnusableModel):
        return {"trouble": lore.model.trouble}
    roles: tuple[Role, ...] = ("extraction", "compression")
    return {role: lore.model.model(role) for role in roles} | {"address": lore.model.address}


class _Hasty:
    """See `LanguageModel`. Once `ended` is set, no answer is waited for: the rest is for another day."""

    def __init__(self, model: LanguageModel, ended: threading.Event) -> None:
        self._model = model
        self._ended = ended

    @property
    def address(self) -> str:
        return self._model.address

    def model(self, role: Role) -> str:
        return self._model.model(role)

    def complete(self, prompt: Prompt) -> Reply:
        reply: Future[Reply] = Future()
        if not self._ended.is_set():
            threading.Thread(target=self._ask, args=(prompt, reply), name="lore-asking", daemon=True).start()
        while not self._ended.is_set():
            if wait([reply], GLANCE_SECONDS).done:
                return reply.result()
        raise OverBudget("stopped before the language model had answered; it is asked again", resumes=None)

    def _ask(self, prompt: Prompt, reply: "Future[Reply]") -> None:
        try:
            reply.set_result(self._model.complete(prompt))
        except LoreError as trouble:
            reply.set_exception(trouble)
        finally:
            if not reply.done():
                reply.set_exception(Unreachable("the language model failed unexpectedly; the log says how"))
