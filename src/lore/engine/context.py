"""Context: who acts, where, when and why. Every verb takes its value and one of these."""

import logging
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass

from lore.errors import Unavailable
from lore.model import Cause
from lore.store import DEFAULT_TENANT, Reader, Store, Writer
from lore.store.values import Use
from lore.transcripts.working_tree import WorkingTree

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The circumstances of one call.

    cause: actor, surface, verb and reason of the call. now: the time of the call in seconds; a verb never
    asks a clock. project: the repository where the actor works; empty for none. tree: its files. session: the
    actor's own conversation, empty if its client does not name it. connected_at: the time when an agent
    connected, in seconds; None for a person. teams: namespaces that the actor sees besides its own and
    `shared`.
    """

    store: Store
    namespace: str
    cause: Cause
    now: float
    project: str = ""
    session: str = ""
    connected_at: float | None = None
    tenant: str = DEFAULT_TENANT
    teams: tuple[str, ...] = ()
    tree: WorkingTree | None = None

    @property
    def reader(self) -> Reader:
        """The store as the namespace of the tenant sees it."""
        return self.store.reader(self.namespace, self.tenant, self.teams)

    def transaction(self) -> AbstractContextManager[Writer]:
        """One transaction in the namespace, with the cause and the time of the call."""
        return self.store.transaction(self.namespace, self.cause, self.now, self.tenant, self.teams)


def count_use(
    ids: Sequence[str], context: Context, *, lent: Mapping[str, float] | None = None, together: bool = False
) -> None:
    """Count one use of each memory, and add activation to those in `lent`, where the disk can be written.

    together: they were shown side by side. A full or read-only disk must not keep anybody from reading.
    """
    if not ids:
        return
    try:
        use = Use(ids=tuple(ids), activation=lent or {}, together=together)
        context.store.touch(use, context.now, context.tenant)
    except Unavailable as trouble:
        logger.warning("a use could not be counted: %s", trouble)
