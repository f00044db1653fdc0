"""The menu: what Lore can do. Each verb is a function of its value and a `Context`."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from lore.admit import admit
from lore.config import ConsolidationSettings
from lore.engine.background import Background
from lore.engine.brief import Brief, brief
from lore.engine.consolidate.backlog import retry, staged
from lore.engine.context import Context
from lore.engine.duplicates import Repetitions, Thresholds, find_repetitions
from lore.engine.embeddings import Embeddings, embed_pending, release, try_embed_batch
from lore.engine.entity_view import ENGLISH, EntityView, GraphVocabulary, past_of
from lore.engine.find_duplicate import DuplicateCheck, Match, TextOrVector, find_duplicate, similar
from lore.engine.forget import forget, restore
from lore.engine.graph_report import GraphReport, graph_report
from lore.engine.graph_search import EntityHit, EntityQuery, search_entities
from lore.engine.import_graph import ImportedGraph, import_graph
from lore.engine.importing import import_file
from lore.engine.in_progress import Asker, without_own_turns
from lore.engine.ingest import Ingested, ingest
from lore.engine.link import link, unlink
from lore.engine.nodes import Bond, Nodes, Which, addressed, matching_nodes, open_nodes, relations_of
from lore.engine.observe import Subject, introduce, observe
from lore.engine.rate import Rated, Rating, rate
from lore.engine.read import by_alias, explore, ids_like, read, read_many, recall, root_of, roots
from lore.engine.reflect import Reflected, Reflection, reflect, sessions
from lore.engine.reflections import ReflectionHit, ReflectionQuery, reflections
from lore.engine.relate import Ending, Related, Relation, end_relation, relate, unrelate
from lore.engine.remember import remember
from lore.engine.remind import Reminder, reminder_of
from lore.engine.retract import retract
from lore.engine.revise import revise, supersede
from lore.engine.search import search
from lore.engine.split import Analysis, Part, Splitting, analyse, split
from lore.engine.status import status
from lore.engine.suggest import Candidate, Reviewed, Suggestions, recommend, review, suggestions
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
    Memory,
    Order,
    Query,
    Reading,
    Remembered,
    Revision,
    Tie,
)
from lore.ranking.policy import POLICIES, Policy
from lore.store import Reader, Store, back_up
from lore.store.values import COUNT, EVERY, JournalFilter, Page
from lore.text import NAMESPACE_LIMIT_BYTES, REASON_LIMIT_BYTES, check_storable, require_text
from lore.transcripts.import_formats import Format
from lore.transcripts.project import repository_of
from lore.transcripts.sources import Source

EVERYTHING = Filter()


@dataclass(frozen=True, kw_only=True)
class Lore:
    """The parts, wired for one namespace. project: the repository where the caller works; new memories belong
    to it. conversation: the caller's own, by its client's id. connected_at: the time when the calling agent
    connected; None for a person."""

    store: Store
    embeddings: Embeddings
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

    # --- finding memories
    def search(self, query: Query) -> Answer:
        """Find memories by meaning and words."""
        asker = Asker(self.conversation, self.connected_at, self.actor, self.project)
        query, own = without_own_turns(query, asker, self._reader)
        answer = search(query, self._context("search"), embeddings=self.embeddings, policies=self.policies)
        return replace(answer, in_progress=own)

    def recall(self, where: Filter, limit: int = 10, choose: Order = "newest",
               show: Order | None = None) -> Answer:  # fmt: skip
        """Memories that pass a filter: chosen by one order, shown in another; counts as use."""
        return recall(where, self._context("recall"), choose=choose, show=show or choose, limit=limit)

    def select(self, where: Filter, limit: int, order: Order = "newest") -> list[Memory]:
        """Memories that pass a filter, newest first or in another order; counts as no use."""
        return self._reader.select(where, Page(limit=limit, order=order))

    def count(self, where: Filter) -> int:
        """The number of memories that pass a filter."""
        return self._reader.traces(where, COUNT).total

    def count_below(self, ids: Sequence[str], where: Filter = EVERYTHING) -> Mapping[str, int]:
        """The number of memories that pass a filter anywhere below each of these."""
        return self._reader.count_below(ids, where)

    def projects(self) -> Mapping[str, int]:
        """The number of memories of each project."""
        return self._reader.counts().projects

    def read(self, id: str, use: bool = True) -> Reading:
        """One memory with its parent, children and links. use: strengthen it, and its neighbours a little."""
        return read(id, self._context("read"), use=use)

    def read_many(self, ids: Sequence[str]) -> list[Reading]:
        """Read several memories, in the order given; unknown and forgotten ones are left out."""
        return read_many(ids, self._context("read"))

    def full_texts(self, ids: Sequence[str]) -> Mapping[str, str]:
        """The whole texts of those memories whose content is an excerpt; counts as no use."""
        return self._reader.full_texts(ids)

    def links(self, ids: Sequence[str], kinds: Sequence[str] = ()) -> list[Link]:
        """The active links that touch any of these memories, oldest first; no kinds: all kinds."""
        return self._reader.links(ids, kinds)

    def roots(self, limit: int = 20, where: Filter = EVERYTHING) -> list[Branch]:
        """The tops of the trees, most relevant first."""
        return roots(self._context("roots"), where=where, limit=limit)

    def explore(self, id: str = "", depth: int = 3, topic: str = "") -> Branch:
        """A memory and the tree below it; for a topic, the tree that matches it best, from its root."""
        if topic:
            id = root_of(self.search(Query(text=topic, limit=1, format="ids")), self._reader)
        return explore(id, self._context("explore"), depth=depth)

    def ids_like(self, part: str, limit: int = 20) -> list[str]:
        """Ids that begin with this, or end with it if it is long enough; forgotten memories included."""
        return ids_like(part, reader=self._reader, limit=limit)

    def history(self, id: str) -> list[Entry]:
        """The journal of a memory or a link, oldest first."""
        return self._reader.journal(JournalFilter(id=id, newest_first=False), EVERY)

    def similar(self, text: TextOrVector, where: Filter = EVERYTHING, limit: int = 5) -> list[Match]:
        """The memories most similar to a text or to a vector of the embedding model; counts as no use."""
        return similar(text, self._reader, self.embeddings, where=where, limit=limit)

    def find_duplicate(self, draft: Draft) -> DuplicateCheck:
        """The memory that a draft would repeat, the one it corrects, and its neighbours."""
        return find_duplicate(draft, self._reader, self.embeddings, tuning=self.tuning)

    def brief(self, budget_tokens: int = 1500) -> Brief:
        """Lines about the project at hand, for the start of a conversation."""
        return brief(budget_tokens, self._context("brief"))

    def remind(self, prompt: str, shown: Sequence[str] = ()) -> Reminder:
        """Memories that fit a prompt and were not shown; empty if none does."""
        return reminder_of(self.search(Query(text=prompt, counted=False)), shown)

    # --- changing memories
    def remember(self, draft: Draft) -> Memory:
        """Keep one memory."""
        return self.remember_all([draft])[0].memory

    def remember_all(self, drafts: Sequence[Draft]) -> list[Remembered]:
        """Keep all of them or none; each result says where its memory was placed."""
        results = remember(drafts, self._context("remember"), embeddings=self.embeddings)
        self.background.wake(embed_now=any(draft.embed_now for draft in drafts))
        return results

    def revise(self, revision: Revision, reason: str = "") -> Memory:
        """Change a memory; the earlier text stays in its history."""
        memory = revise(revision, self._context("revise", reason))
        self.background.wake()
        return memory

    def supersede(self, old: str, new: str, reason: str = "") -> Memory:
        """Replace an older memory by a newer one; from then on only a search of the history finds it."""
        return supersede(old, new, self._context("supersede", reason))

    def forget(self, ids: Sequence[str], reason: str = "") -> list[str]:
        """Hide memories; returns the ids that existed, then those that went along with a session."""
        return forget(ids, self._context("forget", reason))

    def restore(self, ids: Sequence[str], reason: str = "") -> list[str]:
        """Bring memories back; returns the ids that were forgotten, then those of their sessions."""
        return restore(ids, self._context("restore", reason))

    def rate(self, memories: Sequence[Rating], links: Sequence[Rating] = ()) -> Rated:
        """Rate memories and links as useful or not; a memory rated useless with certainty is forgotten."""
        return rate(memories, links, self._context("rate"), tuning=self.tuning)

    def reflect(self, reflection: Reflection) -> Reflected:
        """Keep the summary of a session, once, and its lessons as notes of their own."""
        reflection = replace(reflection, project=reflection.project or self.project)
        context = self._context("reflect")
        reflected = reflect(reflection, context, embeddings=self.embeddings, tuning=self.tuning)
        self.background.wake(embed_now=True)
        return reflected

    def link(self, ties: Sequence[Tie], reason: str = "") -> list[Link]:
        """Link memories."""
        return link(ties, self._context("link", reason))

    def unlink(self, ids: Sequence[str], reason: str = "") -> list[str]:
        """End links; returns the ids that were active."""
        return unlink(ids, self._context("unlink", reason))

    def recommend(self, id: str, limit: int) -> list[Candidate]:
        """Memories that might be linked to this one, and why; changes nothing."""
        return recommend(id, self._reader, self.embeddings, tuning=self.tuning, limit=limit)

    def suggestions(self, limit: int, min_score: float = 0.0) -> Suggestions:
        """Suggested links that nobody has reviewed yet, best first."""
        return suggestions(limit, min_score, self._reader)

    def review(self, ids: Sequence[str], accepted: bool) -> list[Reviewed]:
        """Accept or reject suggested links."""
        return review(ids, accepted, self._context("review"))

    # --- entities, observations and relations, by name
    def entities(self, names: Sequence[str], which: Which = "current") -> dict[str, Memory]:
        """Entities by exact name, and memories of other dialects by the name that the graph shows."""
        return addressed(names, reader=self._reader, which=which)

    def observations(self, entity: Memory) -> list[Memory]:
        """All observations of an entity, superseded ones included."""
        return past_of(entity, reader=self._reader)

    def relations(self, entity: Memory) -> list[Bond]:
        """All relations of an entity with the names of their ends, ended relations included."""
        return relations_of(entity, reader=self._reader)

    def nodes(self, text: str | None = None) -> Nodes:
        """The nodes with this text in their name, type or observations; None: the whole graph."""
        return matching_nodes(text, reader=self._reader)

    def open_nodes(self, names: Sequence[str], replaced: bool = False) -> Nodes:
        """Nodes by name; counts as use. replaced: also those that a newer memory replaced."""
        return open_nodes(names, self._context("open_nodes"), replaced=replaced)

    def by_alias(self, noun: Literal["memory", "link"], alias: int) -> Memory | Link | None:
        """The memory or link with this number."""
        return by_alias(noun, alias, self._reader)

    def search_entities(self, text: str, limit: int = 10,
                        vocabulary: GraphVocabulary = ENGLISH) -> list[EntityHit]:  # fmt: skip
        """The best entities for a question, by meaning, words, use, age and company."""
        query = EntityQuery(text=text, limit=limit, policy=self.policies["graph"], vocabulary=vocabulary)
        return search_entities(query, self._context("search_entities"), embeddings=self.embeddings)

    def reflections(self, query: ReflectionQuery) -> list[ReflectionHit]:
        """Reflections for a question, or all about some entities."""
        return reflections(query, self._context("reflections"), embeddings=self.embeddings)

    def introduce(self, subjects: Sequence[Subject], merge: bool = True) -> list[EntityView]:
        """Create entities; existing ones gain the new observations, or stay as they are without `merge`."""
        context = self._context("introduce")
        views = introduce(admit(list(subjects)), context, merge=merge, embeddings=self.embeddings)
        self.background.wake(embed_now=True)
        return views

    def observe(self, subjects: Sequence[Subject], judge: bool = True) -> list[EntityView]:
        """Add observations to entities that exist; those that repeat an older one are flagged."""
        context = self._context("observe")
        views = observe(admit(list(subjects)), context, judge=judge, embeddings=self.embeddings)
        self.background.wake(embed_now=True)
        return views

    def retract(self, subjects: Sequence[Subject], strict: bool = False) -> dict[str, EntityView]:
        """Hide observations by their exact text."""
        views = retract(subjects, self._context("retract"), strict=strict)
        self.background.wake(embed_now=True)
        return views

    def relate(self, relations: Sequence[Relation], inverses: Mapping[str, str] = ENGLISH.inverses,
               imply: bool = False) -> list[Related]:  # fmt: skip
        """Keep the relations that are new, and their inverses. imply: create ends that do not exist."""
        return relate(admit(list(relations)), self._context("relate"), inverses=inverses, imply=imply)

    def unrelate(self, relations: Sequence[Relation], vocabulary: GraphVocabulary = ENGLISH) -> list[Related]:
        """Delete relations."""
        return unrelate(relations, self._context("unrelate"), vocabulary)

    def end_relation(self, alias: int, vocabulary: GraphVocabulary = ENGLISH) -> Ending:
        """End a relation; it stays as history."""
        return end_relation(alias, self._context("end_relation"), vocabulary)

    def analyse(self, name: str | None = None, vocabulary: GraphVocabulary = ENGLISH) -> list[Analysis]:
        """The size and topics of an entity; without a name, those of all entities that are too large."""
        return analyse(name, self._reader, self.embeddings, vocabulary)

    def split(self, name: str, parts: Sequence[Part], parent: str | None = None,
              vocabulary: GraphVocabulary = ENGLISH) -> Splitting:  # fmt: skip
        """Move observations of an entity into new ones."""
        splitting = split(name, admit(list(parts)), parent, self._context("split"), vocabulary)
        self.background.wake(embed_now=True)
        return splitting

    def find_repetitions(self, name: str, thresholds: Thresholds) -> Repetitions:
        """Observations of an entity that repeat each other."""
        return find_repetitions(name, self._reader, self.embeddings, thresholds=thresholds)

    def graph_report(self, stale_days: float, vocabulary: GraphVocabulary = ENGLISH) -> GraphReport:
        """Entities that are too large, repetitive or long unused."""
        return graph_report(stale_days, self._context("graph_report"), self.embeddings, vocabulary)

    def import_graph(self, path: Path, faithful: bool = True,
                     vocabulary: GraphVocabulary = ENGLISH) -> ImportedGraph:  # fmt: skip
        """Import another memory server's file. faithful: keep relations without ends, add no inverses."""
        imported = import_graph(path, faithful, self._context("import_graph"), vocabulary)
        self.background.wake()
        return imported

    # --- conversations
    def ingest(self, path: Path, source: Source, ignored: Callable[[str], bool] = lambda folder: False,
               again: bool = False) -> Iterator[Ingested]:  # fmt: skip
        """Read on in a client's transcript, or all of it again; yields the result of each part kept."""
        for part in ingest(path, source, self._context("ingest"), ignored=ignored, again=again):
            self.background.wake()
            yield part

    def import_file(self, path: Path, format: Format | None = None, session: str = "") -> Iterator[Ingested]:
        """Import a file of conversations; yields the result of each part. A second import adds nothing."""
        for part in import_file(path, self._context("import"), format=format, session=session):
            self.background.wake()
            yield part

    def staged(self) -> list[Staged]:
        """Conversations with turns that are not digested yet, oldest first."""
        return staged(self._reader)

    def sessions(self) -> list[str]:
        """Sessions with a reflection, latest first."""
        return sessions(self._reader)

    def retry(self, sessions: Sequence[str]) -> list[str]:
        """Clear the failures of these sessions, so that they are digested again; returns those with any."""
        with self._context("retry").transaction() as writer:
            return retry(sessions, writer)

    # --- maintenance
    def status(self) -> Status:
        """Counts, location and state of the store."""
        return status(self._context("status"), embeddings=self.embeddings)

    def check(self) -> list[Finding]:
        """Look for faults in the store."""
        return self.store.check()

    def rebuild(self) -> None:
        """Rebuild derived state: text indexes, depths, counters; damaged vectors are embedded again."""
        self.store.check(repair=True)
        self.background.wake()

    def backup(self, target: Path) -> None:
        """Write a complete copy of the store while others go on writing."""
        back_up(self.store, target)

    def embed_pending(self) -> None:
        """Embed all pending memories if there is a model, or wait for the process that embeds them."""
        embed_pending(store=self.store, embeddings=self.embeddings)

    def embed_batch(self) -> int | None:
        """Embed one batch; returns its size. 0: nothing pending or no model. None: another process embeds."""
        return try_embed_batch(store=self.store, embeddings=self.embeddings)

    def pending(self) -> int:
        """The number of memories without an embedding."""
        return self._reader.pending(self.embeddings.model, EVERY.limit)

    def for_namespace(self, namespace: str, surface: str = "", actor: str = "") -> "Lore":
        """The same Lore for another namespace."""
        require_text(namespace, "namespace", NAMESPACE_LIMIT_BYTES)
        return replace(self, namespace=namespace, surface=surface, actor=actor)

    def in_folder(self, folder: str) -> "Lore":
        """The same Lore for a caller in this folder: new memories belong to its repository, if any."""
        project = repository_of(folder)
        return replace(self, project=project.key if project else "")

    def release(self) -> None:
        """Free memory that can be loaded again: model, indexes, caches."""
        release(store=self.store, embeddings=self.embeddings)

    def close(self) -> None:
        """Close the store; acknowledged writes are on disk."""
        self.background.close()
        self.store.close()

    @property
    def _reader(self) -> Reader:
        return self.store.reader(self.namespace)

    def _context(self, verb: str, reason: str = "") -> Context:
        reason = check_storable(reason, "reason", REASON_LIMIT_BYTES)
        cause, now = Cause(verb=verb, surface=self.surface, actor=self.actor, reason=reason), self.clock()
        return Context(store=self.store, namespace=self.namespace, cause=cause, now=now, project=self.project)
