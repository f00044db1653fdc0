"""parts: the parts that verbs need, wired for one caller. The classes of the menu inherit them."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from lore.engine.background import Background
from lore.engine.context import Context
from lore.engine.embeddings import Embeddings
from lore.llm.base import LanguageModel
from lore.model import SHARED, Answer, Cause
from lore.ranking.policy import POLICIES, Policy
from lore.settings import ConsolidationSettings
from lore.store import DEFAULT_TENANT, Reader, Store
from lore.text import REASON_LIMIT_BYTES, check_storable
from lore.transcripts.working_tree import WorkingTree

T = TypeVar("T")


def _no_note(answer: Answer) -> None:
    """Note nothing of a search."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts, wired for one namespace of one tenant. teams: further namespaces that the caller sees.
    author: the caller's name, in a store of several users. actor: the program that it uses. agent: its name,
    if an agent calls by itself. project, tree: where the caller works; new memories belong to it.
    conversation: the caller's own, by its client's id. connected_at: the time, if it is an agent. searched:
    gets the answer of each search. whole_store: the caller may learn where the whole store is, and of its
    state."""

    store: Store
    embeddings: Embeddings
    tenant: str = DEFAULT_TENANT
    namespace: str = SHARED
    teams: tuple[str, ...] = ()
    surface: str = ""
    actor: str = ""
    author: str = ""
    agent: str = ""
    project: str = ""
    tree: WorkingTree | None = None
    conversation: str = ""
    connected_at: float | None = None
    clock: Callable[[], float] = time.time
    tuning: ConsolidationSettings = field(default_factory=ConsolidationSettings, repr=False)
    policies: Mapping[str, Policy] = field(default_factory=lambda: POLICIES, repr=False)
    whole_store: bool = True
    background: Background = field(repr=False)
    model: LanguageModel | None = field(default=None, repr=False)
    searched: Callable[[Answer], None] = field(default_factory=lambda: _no_note, repr=False)

    @property
    def _reader(self) -> Reader:
        return self.store.reader(self.namespace, self.tenant, self.teams)

    def _saved(self, result: T, embed_now: bool = True) -> T:
        """The result of a change, after waking the background, which embeds what is new."""
        self.background.wake(embed_now=embed_now)
        return result

    def _context(self, verb: str, reason: str = "") -> Context:
        reason = check_storable(reason, "reason", REASON_LIMIT_BYTES)
        actor = " via ".join(filter(None, (self.author, self.actor)))
        cause = Cause(
            verb=verb, surface=self.surface, actor=actor, reason=reason, author=self.author, agent=self.agent
        )
        return Context(
            store=self.store, tenant=self.tenant, namespace=self.namespace, teams=self.teams, cause=cause,
            now=self.clock(), project=self.project, tree=self.tree, session=self.conversation,
            connected_at=self.connected_at,
        )  # fmt: skip
