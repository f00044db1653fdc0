"""consolidation_run: one consolidation, by one process at a time, that can be ended between two steps."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import lore.lazy as lazy
from lore.engine import Lore
from lore.engine.consolidate.backlog import to_embed
from lore.engine.jobs import Jobs
from lore.engine.spending import StoreLedger, of_today
from lore.errors import LoreError, Unavailable
from lore.health import Embedding, Embeds, embed_progress
from lore.llm.base import LanguageModel, OverBudget, Prompt, Reply, Role, Unreachable, UnusableModel

if TYPE_CHECKING:
    from lore.engine.consolidate.phases import Report

REGULAR_JOB, RUNNING_JOB = "consolidate", "consolidating"
"""The job that is due once in every interval, and the one that a run holds while it is at work."""
LEASE_SECONDS = 600.0
"""Seconds for which no other process begins a run. A running process renews its lease; a killed one does
not."""
RENEW_SECONDS = 60.0
EMBED, ELSEWHERE = "embed", "embed elsewhere"
"""Names of the step before the phases: this process embeds, or another one does."""
POLL_SECONDS = 0.1
"""Seconds after which a run that waits for a language model notices that it was ended."""

OnProgress = Callable[[str, int, int], None]
"""Called with the name of the phase, the steps done and their total."""


class Ended(Exception):
    """The run was ended between two steps; the steps before stay done."""


class ConsolidationRun:
    """One consolidation of the memories of a Lore."""

    def __init__(
        self, lore: Lore, on_progress: OnProgress = lambda *_: None, embeds: Embeds | None = None
    ) -> None:
        """embeds: embeds the backlog before the phases begin; see `to_embed` if None."""
        self._ended = threading.Event()
        model = None if lore.model is None else _EndableModel(lore.model, self._ended)
        self._lore = replace(lore, model=model)
        self._on_progress = on_progress
        self._embeds: Embeds = embeds or to_embed(lore)
        self._renewed_at = 0.0

    def end(self) -> None:
        """Finish the current step; do not wait for the reply of a language model."""
        self._ended.set()

    @property
    def ended(self) -> bool:
        return self._ended.is_set()

    def run(self, phases: Sequence[str] = (), *, dry: bool = False) -> "Report":
        """Run the phases of these names, or all. Raises Ended if `end` was called in the middle of one.

        A run of all phases counts as the regular one: the next is due an interval later.
        """
        if dry:
            return self._consolidate(phases, dry=True)
        began_at = self._lore.clock()
        with self._lease():
            report = self._consolidate(phases, dry=False)
        if not phases and not self.ended:
            due_at = self._lore.clock() + self._lore.tuning.consolidation_interval
            self._jobs.schedule(REGULAR_JOB, began_at, due_at)
        return report

    def _consolidate(self, phases: Sequence[str], *, dry: bool) -> "Report":
        if not dry:
            self._lore.keep_accounts()
        work = self._embed()
        run = lazy.consolidate.Run(
            phases=phases, dry=dry, stop=self._ended, embedding=work, progress=self._report
        )
        return lazy.consolidate.consolidate(self._lore, run)

    def _embed(self) -> Embedding | None:
        """Have the backlog embedded, here or by another process; its last progress."""
        work = None
        for work in embed_progress(self._embeds):
            self._report(ELSEWHERE if work.elsewhere else EMBED, work.done, work.done + work.left)
        return work

    def _report(self, phase: str, done: int, total: int) -> None:
        if self.ended:
            raise Ended(f"in {phase}, after {done:,} of {total:,}")
        now = self._lore.clock()
        if self._renewed_at and abs(now - self._renewed_at) >= RENEW_SECONDS:
            self._jobs.schedule(RUNNING_JOB, now, now + LEASE_SECONDS)
            self._renewed_at = now
        self._on_progress(phase, done, total)

    @contextmanager
    def _lease(self) -> Iterator[None]:
        now = self._lore.clock()
        if self._jobs.claim(RUNNING_JOB, now, now + LEASE_SECONDS, LEASE_SECONDS) is None:
            raise Unavailable(
                "another process consolidates this store at the moment; if it was killed,"
                f" it can be done again within {LEASE_SECONDS / 60:.0f} minutes"
            )
        self._renewed_at = now
        try:
            yield
        finally:
            self._jobs.schedule(RUNNING_JOB, now, self._lore.clock())

    @property
    def _jobs(self) -> Jobs:
        return Jobs(self._lore.store, self._lore.namespace, self._lore.tenant)


def language_models(lore: Lore) -> dict[str, str] | None:
    """Names of the language models by role and the address that gets the prompts, or the trouble with them.

    None: no language model was chosen.
    """
    if lore.model is None:
        return None
    if isinstance(lore.model, UnusableModel):
        return {"trouble": lore.model.trouble}
    roles: tuple[Role, ...] = ("extraction", "compression")
    return {role: lore.model.model(role) for role in roles} | {"address": lore.model.address}


def models_of_today(lore: Lore) -> dict[str, str] | None:
    """`language_models`, with what `of_today` says of them."""
    models = language_models(lore)
    if models is None or lore.model is None or "trouble" in models:
        return models
    names = (lore.model.model("extraction"), lore.model.model("compression"))
    return models | of_today(StoreLedger(lore.store, lore.clock), lore.clock(), lore.tuning.llm, names)


class _EndableModel:
    """See `LanguageModel`. Once `ended` is set, it no longer waits for replies."""

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
            if wait([reply], POLL_SECONDS).done:
                return reply.result()
        raise OverBudget("stopped before the language model had answered; it is asked again", resumes=None)

    def _ask(self, prompt: Prompt, reply: "Future[Reply]") -> None:
        try:
            reply.set_result(self._model.complete(prompt))
        except LoreError as error:
            reply.set_exception(error)
        finally:
            if not reply.done():
                reply.set_exception(Unreachable("the language model failed unexpectedly; the log says how"))
