"""The menu: what Lore can do. Each verb is a file; this passes it the parts it may touch."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from lore.config import ConsolidationSettings
from lore.engine.background import Background
from lore.engine.consolidation_backlog import retried, staged
from lore.engine.embed import embed_alone, embed_pending
from lore.engine.embeddings import Embeddings
from lore.engine.find_duplicate import DuplicateCheck, find_duplicate
from lore.engine.forget import forget, restore
from lore.engine.graph import Graph
from lore.engine.importing import import_file
from lore.engine.in_progress import Asker, without_own_turns
from lore.engine.ingest import Ingested, ingest
from lore.engine.link import link, unlink
from lore.engine.rate import Rated, Rating, rate
from lore.engine.read import explore, ids_like, look_at, read, read_many, root_of, roots
from lore.engine.recall import recall
from lore.engine.reflect import Reflected, Reflection, reflect, sessions
from lore.engine.release import release
from lore.engine.remember import remember
from lore.engine.revise import revise
from lore.engine.search import search
from lore.engine.similar import TextOrVector, similar
from lore.engine.status import status
from lore.engine.suggest import Candidate, Reviewed, Suggestion, recommend, review
from lore.engine.supersede import supersede
from lore.health import Finding, Staged, Status
from lore.llm.base import LanguageModel
from lore.model import (
    SHARED,
    Answer,
    Branch,
    Cause,
    Draft,
    Entry,
    Filter,
    Link,
    Match,
    Memory,
    Order,
    Query,
    Reading,
    Revision,
    Tie,
)
from lore.ranking.policy import POLICIES, Policy
from lore.store import Reader, Store
from lore.text import check_storable, require_text
from lore.transcripts.imports import Format
from lore.transcripts.project import repository_of
from lore.transcripts.sources import Source

REASON_LIMIT_BYTES = 1_000
NAMESPACE_LIMIT_BYTES = 400
EVERYTHING = Filter()


@dataclass(frozen=True, kw_only=True)
class Lore:
    """The parts, wired for one reader. `for_namespace` gives the same Lore to another one.

    project: where the reader is at work; what is written there belongs to it. conversation: the one that
    asks, by its client's id. connected_at: when the agent connected that asks; None: a person does.
    """

    store: Store
    sense: Embeddings
    namespace: str = SHARED
    surface: str = ""
    actor: str = ""
    project: str = ""
    conversation: str = ""
    connected_at: float | None = None
    clock: Callable[[], float] = time.time
    tuning: ConsolidationSettings = field(default_factory=ConsolidationSettings, repr=False)
    policies: Mapping[str, Policy] = field(default_factory=lambda: POLICIES, repr=False)
    background: Background = field(repr=False)
    model: LanguageModel | None = field(default=None, repr=False)

    # --- finding
    def search(self, query: Query) -> Answer:
        """Find by meaning and words; the answer tells the truth about itself."""
        asker = Asker(self.conversation, self.connected_at, self.actor, self.project)
        query, own = without_own_turns(query, asker, self._reader)
        answer = search(
            query,
            store=self.store,
            reader=self._reader,
            sense=self.sense,
            now=self.clock(),
            policies=self.policies,
            project=self.project,
        )
        return replace(answer, in_progress=own)

    def similar(self, text: TextOrVector, where: Filter = EVERYTHING, limit: int = 5) -> list[Match]:
        """What is already known that is like this text, or this vector of the embedding model."""
        return similar(text, reader=self._reader, sense=self.sense, where=where, limit=limit)

    def find_duplicate(self, draft: Draft) -> DuplicateCheck:
        """What there is already of a draft: what it would repeat, and what lies next to it."""
        k, at = max(1, self.tuning.auto_link_k), self.tuning.duplicate_threshold
        return find_duplicate(draft, reader=self._reader, sense=self.sense, limit=k, duplicate_at=at)

    def recommend(self, id: str, limit: int) -> list[Candidate]:
        """What might be linked to a memory, and why; changes nothing."""
        return recommend(id, reader=self._reader, sense=self.sense, tuning=self.tuning, limit=limit)

    def suggestions(self, limit: int, min_score: float = 0.0) -> list[Suggestion]:
        """The links that sweeps have proposed and nobody has judged yet, best first."""
        return self._reader.pending_suggestions(limit, min_score)

    def count_suggestions(self) -> int:
        """How many suggestions are still to be judged."""
        return self._reader.count_pending_suggestions()

    def staged(self) -> list[Staged]:
        """The conversations of which something is left to digest, the oldest first."""
        return staged(self._reader, self.namespace)

    def sessions(self) -> list[str]:
        """The sessions that have been reflected on, latest first."""
        return sessions(self._reader)

    def links(self, ids: Sequence[str], kinds: Sequence[str] = ()) -> list[Link]:
        """The active links of these kinds that touch any of these memories, oldest first; no use."""
        return self._reader.links(ids, kinds)

    def recall(
        self, where: Filter, limit: int = 10, choose: Order = "newest", show: Order | None = None
    ) -> Answer:
        """What passes a filter: chosen by one order, shown in another; counts as use."""
        reader, now = self._reader, self.clock()
        return recall(
            where, choose=choose, show=show or choose, limit=limit, store=self.store, reader=reader, now=now
        )

    def count(self, where: Filter) -> int:
        """How many memories pass a filter."""
        return self._reader.count(where)

    def count_below(self, ids: Sequence[str], where: Filter = EVERYTHING) -> Mapping[str, int]:
        """How many memories that pass a filter hang anywhere below each of these."""
        return self._reader.count_below(ids, where)

    def projects(self) -> Mapping[str, int]:
        """The projects that memories belong to, by name, and how many of them there are."""
        return self._reader.projects()

    def select(self, where: Filter, limit: int, order: Order = "newest") -> list[Memory]:
        """The memories that pass a filter, newest first or in another order; counts as no use."""
        return self._reader.select(where, limit, order)

    def read(self, id: str) -> Reading:
        """One memory with its place and ties; this strengthens it and wakes its neighbours a little."""
        return read(id, store=self.store, reader=self._reader, now=self.clock())

    def read_many(self, ids: Sequence[str]) -> list[Reading]:
        """Read several memories at once, in the order given; unknown and forgotten ones are left out."""
        return read_many(ids, store=self.store, reader=self._reader, now=self.clock())

    def look_at(self, id: str) -> Reading:
        """Like read, without counting as use."""
        return look_at(id, reader=self._reader, now=self.clock())

    def full_texts(self, ids: Sequence[str]) -> Mapping[str, str]:
        """The whole texts of those memories whose content is an excerpt; counts as no use."""
        return self._reader.full_texts(ids)

    def roots(self, limit: int = 20, where: Filter = EVERYTHING) -> list[Branch]:
        """The tops of the trees, the most relevant first."""
        return roots(reader=self._reader, now=self.clock(), where=where, limit=limit)

    def explore(self, id: str, depth: int = 3) -> Branch:
        """What hangs below a memory."""
        return explore(id, reader=self._reader, now=self.clock(), depth=depth)

    def explore_topic(self, text: str, depth: int = 3) -> Branch | None:
        """The tree that matches a text best, from its root down; None if nothing matches."""
        hits = self.search(Query(text=text, limit=1, format="ids")).hits
        return self.explore(root_of(hits[0].memory.id, reader=self._reader), depth) if hits else None

    def ids_like(self, part: str, limit: int = 20) -> list[str]:
        """The ids that begin with this, or end with it if it is long enough; forgotten ones included."""
        return ids_like(part, reader=self._reader, limit=limit)

    def history(self, id: str) -> list[Entry]:
        """What the journal says about a memory or a link, oldest first."""
        return self._reader.history(id)

    # --- changing
    def remember(self, draft: Draft) -> Memory:
        """Keep one memory."""
        [memory] = self.remember_all([draft])
        return memory

    def remember_all(self, drafts: Sequence[Draft]) -> list[Memory]:
        """Keep all of them or none."""
        memories = remember(
            drafts,
            store=self.store,
            reader=self._reader,
            sense=self.sense,
            namespace=self.namespace,
            cause=self._cause("remember"),
            now=self.clock(),
            project=self.project,
        )
        self.background.wake(embed_now=any(draft.embed_now for draft in drafts))
        return memories

    def ingest(
        self,
        path: Path,
        source: Source,
        ignored: Callable[[str], bool] = lambda folder: False,
        again: bool = False,
    ) -> Iterator[Ingested]:
        """Read on in a client's transcript, or all of it again; the result of each part once it is kept."""
        for done in ingest(
            path,
            source,
            store=self.store,
            namespace=self.namespace,
            cause=self._cause("ingest"),
            now=self.clock(),
            ignored=ignored,
            again=again,
        ):
            self.background.wake()
            yield done

    def import_file(
        self, path: Path, *, format: Format | None = None, session: str = ""
    ) -> Iterator[Ingested]:
        """Keep what a file says; what came of each part. A second time there is nothing new in it."""
        for done in import_file(
            path,
            format=format,
            session=session,
            store=self.store,
            namespace=self.namespace,
            cause=self._cause("import"),
            now=self.clock(),
        ):
            self.background.wake()
            yield done

    def revise(self, revision: Revision, reason: str = "") -> Memory:
        """Change a memory; what it said before stays in its history."""
        cause = self._cause("revise", reason)
        memory = revise(revision, store=self.store, namespace=self.namespace, cause=cause, now=self.clock())
        self.background.wake()
        return memory

    def supersede(self, old: str, new: str, reason: str = "") -> Memory:
        """Let a newer memory replace an older one, which only a search of the history finds from then on."""
        cause = self._cause("supersede", reason)
        return supersede(old, new, store=self.store, namespace=self.namespace, cause=cause, now=self.clock())

    def link(self, ties: Sequence[Tie], reason: str = "") -> list[Link]:
        """Tie memories together."""
        cause = self._cause("link", reason)
        return link(ties, store=self.store, namespace=self.namespace, cause=cause, now=self.clock())

    def unlink(self, ids: Sequence[str], reason: str = "") -> list[str]:
        """End links; the ids that were active."""
        cause = self._cause("unlink", reason)
        return unlink(ids, store=self.store, namespace=self.namespace, cause=cause, now=self.clock())

    def forget(self, ids: Sequence[str], reason: str = "") -> list[str]:
        """Hide memories; the ids that were known, then those of what went along with a session."""
        cause = self._cause("forget", reason)
        return forget(ids, store=self.store, namespace=self.namespace, cause=cause, now=self.clock())

    def restore(self, ids: Sequence[str], reason: str = "") -> list[str]:
        """Bring memories back; the ids that were forgotten, then those of what came along with a session."""
        cause = self._cause("restore", reason)
        return restore(ids, store=self.store, namespace=self.namespace, cause=cause, now=self.clock())

    def rate(self, memories: Sequence[Rating], links: Sequence[Rating] = ()) -> Rated:
        """Say what was useful; what is rated worthless with certainty is forgotten."""
        return rate(
            memories,
            links,
            store=self.store,
            namespace=self.namespace,
            cause=self._cause("rate"),
            now=self.clock(),
            tuning=self.tuning,
        )

    def reflect(self, reflection: Reflection) -> Reflected:
        """Keep what remains of a session, once, with its lessons as notes of their own."""
        reflected = reflect(
            replace(reflection, project=reflection.project or self.project),
            store=self.store,
            reader=self._reader,
            sense=self.sense,
            namespace=self.namespace,
            cause=self._cause("reflect"),
            now=self.clock(),
            duplicate_at=self.tuning.duplicate_threshold,
        )
        self.background.wake(embed_now=True)
        return reflected

    def review(self, ids: Sequence[str], accepted: bool) -> list[Reviewed]:
        """Judge suggested links."""
        cause = self._cause("review")
        return review(
            ids, accepted, store=self.store, namespace=self.namespace, cause=cause, now=self.clock()
        )

    def retry(self, sessions: Sequence[str]) -> list[str]:
        """Try again to digest conversations that failed too often; the ids of those that had."""
        with self.store.transaction(self.namespace, self._cause("retry"), self.clock()) as writer:
            return retried(sessions, writer)

    # --- care
    def status(self) -> Status:
        """What is there and where."""
        return status(store=self.store, reader=self._reader, sense=self.sense, namespace=self.namespace)

    def check(self) -> list[Finding]:
        """Look at everything that could be wrong with the store."""
        return self.store.check()

    def rebuild(self) -> None:
        """Make derived state anew: words, depths, counters; damaged vectors are embedded again."""
        self.store.rebuild()
        self.background.wake()

    def backup(self, target: Path) -> None:
        """A complete copy of the store while others go on writing."""
        self.store.backup(target)

    def embed_pending(self) -> None:
        """Have everything embedded that waits, as far as there is a model: here, or by whoever embeds now."""
        embed_pending(store=self.store, sense=self.sense)

    def embed_batch(self) -> int | None:
        """Embed a batch of what waits; its size. 0: nothing waits, or no model. None: another does it now."""
        return embed_alone(store=self.store, sense=self.sense)

    def pending(self) -> int:
        """How many memories wait to be embedded."""
        return self.store.pending(self.sense.model)

    def for_namespace(self, namespace: str, surface: str = "", actor: str = "") -> "Lore":
        """The same Lore for another reader."""
        require_text(namespace, "namespace", NAMESPACE_LIMIT_BYTES)
        return replace(self, namespace=namespace, surface=surface, actor=actor)

    def in_folder(self, folder: str) -> "Lore":
        """The same Lore for somebody in this folder: what is written belongs to its repository, if any."""
        project = repository_of(folder)
        return replace(self, project=project.key if project else "")

    def release(self) -> None:
        """Give back what can be loaded again: model, indexes, caches. For a time when nobody asks."""
        release(store=self.store, sense=self.sense)

    def close(self) -> None:
        """Let go of the store; what was acknowledged is on disk."""
        self.background.close()
        self.store.close()

    @property
    def graph(self) -> Graph:
        """The verbs for entities, observations and relations by name."""
        return Graph(
            store=self.store,
            sense=self.sense,
            namespace=self.namespace,
            now=self.clock(),
            policy=self.policies["graph"],
            background=self.background,
            cause=self._cause,
        )

    @property
    def changed_at(self) -> float | None:
        """When anything was last changed, by anybody."""
        return self.store.last_write_at()

    @property
    def _reader(self) -> Reader:
        return self.store.reader(self.namespace)

    def _cause(self, verb: str, reason: str = "") -> Cause:
        reason = check_storable(reason, "reason", REASON_LIMIT_BYTES)
        return Cause(verb=verb, surface=self.surface, actor=self.actor, reason=reason)
