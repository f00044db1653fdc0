"""Consolidation: a Lore goes to sleep. Heavy to import, so only who runs it does."""

import threading
from collections.abc import Callable, Sequence

from lore.engine import Lore
from lore.engine.consolidate import Report, consolidate
from lore.engine.consolidate.plan import View
from lore.engine.consolidate.trees import PHASE
from lore.health import Embedding
from lore.model import Cause

Told = Callable[[str, int, int], None]
"""Which phase is at work, and how far it is: so many done of so many."""


def nobody(phase: str, done: int, total: int) -> None:
    """For those who do not want to be told."""


def sleep(
    lore: Lore,
    phases: Sequence[str] = (),
    *,
    dry: bool = False,
    told: Told = nobody,
    ended: threading.Event | None = None,
    after: Embedding | None = None,
) -> Report:
    """The phases of these names, or all of them, in order. dry: only say what would happen.

    What was not embedded yet is embedded first. ended: once set, the phase at hand is the last. after: the
    embedding that was done for this run before; its time counts.
    """
    now = lore.clock()
    lore.embed_pending()
    reader = lore.store.reader(lore.namespace)
    view = View(
        reader=reader,
        sense=lore.sense,
        namespace=lore.namespace,
        now=now,
        settings=lore.tuning,
        model=lore.model,
        marks=reader.noted(PHASE),
        told=told,
    )
    cause = Cause(verb="consolidate", surface=lore.surface, actor=lore.actor)
    return consolidate(
        phases, store=lore.store, view=view, cause=cause, applied=not dry, ended=ended, embedding=after
    )
