"""The menu of the graph: what Lore can do with entities, observations and relations by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lore.admit import admit
from lore.engine.adopt import Adopted, adopt, file_within, lines_of
from lore.engine.audit import Audit, audit
from lore.engine.background import Background
from lore.engine.duplicates import Repetitions, duplicates
from lore.engine.embeddings import Embeddings
from lore.engine.entity_view import EntityView, past_of
from lore.engine.graph_search import EntityHit, search_graph
from lore.engine.nodes import Nodes, addressed, containing, everything, names_of, opened, replaced_as
from lore.engine.observe import Subject, introduce, observe
from lore.engine.relate import Ending, Related, Relation, end, relate, unrelate
from lore.engine.retract import retract
from lore.engine.search_reflections import ReflectionHit, reflections_about, search_reflections
from lore.engine.split import Analysis, Part, Splitting, analyse, candidates, split
from lore.model import Cause, Link, Memory
from lore.ranking.policy import Policy
from lore.store import Reader, Store


@dataclass(frozen=True, kw_only=True)
class Graph:
    """The parts, for one reader and one moment; `Lore.graph` makes it. policy: how entities are ranked."""

    store: Store
    sense: Embeddings
    namespace: str
    now: float
    policy: Policy
    background: Background
    cause: Callable[[str], Cause]

    # --- entities and observations
    def introduce(self, subjects: Sequence[Subject], merge: bool = True) -> list[EntityView]:
        """Create entities; those that exist gain what is new, or are left alone without `merge`."""
        views = introduce(
            admit(list(subjects)),
            merge=merge,
            store=self.store,
            sense=self.sense,
            namespace=self.namespace,
            cause=self.cause("introduce"),
            now=self.now,
        )
        self.background.wake(embed_now=True)
        return views

    def observe(self, subjects: Sequence[Subject], judge: bool = True) -> list[EntityView]:
        """Add observations to entities that exist; those that repeat an older one are flagged."""
        views = observe(
            admit(list(subjects)),
            judge=judge,
            store=self.store,
            sense=self.sense,
            namespace=self.namespace,
            cause=self.cause("observe"),
            now=self.now,
        )
        self.background.wake(embed_now=True)
        return views

    def retract(self, subjects: Sequence[Subject], strict: bool = False) -> dict[str, EntityView]:
        """Hide observations by their exact text."""
        left = retract(
            subjects,
            strict=strict,
            store=self.store,
            namespace=self.namespace,
            cause=self.cause("retract"),
            now=self.now,
        )
        self.background.wake(embed_now=True)
        return left

    def named(self, names: Sequence[str], implied: bool = False) -> dict[str, Memory]:
        """Entities by exact name, and memories of other dialects by the name that the graph shows."""
        return addressed(names, reader=self._reader, namespace=self.namespace, implied=implied)

    def known_as(self, alias: int) -> Memory | None:
        """The memory with this number."""
        return next(iter(self._reader.get(self._reader.ids_of("memory", [alias]).values()).values()), None)

    def past_of(self, entity: Memory) -> list[Memory]:
        """All observations of an entity, superseded ones included."""
        return past_of(entity, reader=self._reader)

    # --- relations
    def relate(self, relations: Sequence[Relation], pairs: bool = True, imply: bool = False) -> list[Related]:
        """Keep relations that are new."""
        return relate(
            admit(list(relations)),
            pairs=pairs,
            imply=imply,
            store=self.store,
            namespace=self.namespace,
            cause=self.cause("relate"),
            now=self.now,
        )

    def unrelate(self, relations: Sequence[Relation]) -> list[Related]:
        """Take relations away."""
        cause = self.cause("unrelate")
        return unrelate(relations, store=self.store, namespace=self.namespace, cause=cause, now=self.now)

    def end(self, alias: int) -> Ending:
        """A relation is over, and stays as history."""
        return end(alias, store=self.store, namespace=self.namespace, cause=self.cause("end"), now=self.now)

    def relations_of(self, entity: Memory) -> list[Link]:
        """All relations of an entity, ended ones included, without those that were taken away."""
        links = self._reader.all_links(entity.id)
        return [li for li in links if li.kind == "relation" and (li.active or li.ended_at is not None)]

    def names_of(self, ids: Sequence[str]) -> dict[str, str]:
        """What to call some memories."""
        return names_of(self._reader.get(ids).values(), self._reader)

    def relation_known_as(self, alias: int) -> Link | None:
        """The relation with this number."""
        links = self._reader.get_links(self._reader.ids_of("link", [alias]).values()).values()
        return next((link for link in links if link.kind == "relation"), None)

    # --- finding
    def everything(self) -> Nodes:
        """The whole graph."""
        return everything(reader=self._reader)

    def containing(self, text: str) -> Nodes:
        """What has this text in its name, type or observations."""
        return containing(text, reader=self._reader)

    def opened(self, names: Sequence[str], replaced: bool = False) -> Nodes:
        """Entities by name, as they are opened: this counts as use."""
        return opened(
            names,
            replaced=replaced,
            store=self.store,
            reader=self._reader,
            namespace=self.namespace,
            now=self.now,
        )

    def replaced_as(self, name: str) -> Memory | None:
        """The memory that went by this name until something newer replaced it."""
        return replaced_as(name, reader=self._reader)

    def search(self, question: str, limit: int = 10) -> list[EntityHit]:
        """The best entities for a question, by meaning, words, use, age and company."""
        return search_graph(
            question,
            limit=limit,
            policy=self.policy,
            store=self.store,
            reader=self._reader,
            sense=self.sense,
            now=self.now,
        )

    def search_reflections(
        self, question: str, author: str | None, mood: str | None, target_type: str | None, limit: int
    ) -> list[ReflectionHit]:
        """Reflections for a question."""
        return search_reflections(
            question,
            author=author,
            mood=mood,
            target_type=target_type,
            limit=limit,
            reader=self._reader,
            sense=self.sense,
            now=self.now,
        )

    def reflections_about(self, entities: Sequence[Memory]) -> dict[int, list[ReflectionHit]]:
        """Reflections on entities, by the entity's number."""
        return reflections_about("entity", [entity.alias for entity in entities], reader=self._reader)

    # --- care
    def analyse(self, name: str) -> Analysis:
        """Whether an entity is too large, and its topics."""
        return analyse(name, reader=self._reader, sense=self.sense, namespace=self.namespace)

    def candidates(self) -> list[Analysis]:
        """All entities that are too large."""
        return candidates(reader=self._reader, sense=self.sense)

    def split(self, name: str, parts: Sequence[Part], parent: str | None = None) -> Splitting:
        """Move observations of an entity into new ones."""
        splitting = split(
            name,
            admit(list(parts)),
            parent=parent,
            store=self.store,
            namespace=self.namespace,
            cause=self.cause("split"),
            now=self.now,
        )
        self.background.wake(embed_now=True)
        return splitting

    def duplicates(self, name: str, threshold: float, containment_threshold: float) -> Repetitions:
        """What an entity says more than once."""
        return duplicates(
            name,
            reader=self._reader,
            sense=self.sense,
            namespace=self.namespace,
            threshold=threshold,
            containment_threshold=containment_threshold,
        )

    def audit(self, stale_days: float) -> Audit:
        """What wants attention."""
        return audit(stale_days=stale_days, reader=self._reader, sense=self.sense, now=self.now)

    def adopt(self, path: str, roots: Sequence[Path]) -> Adopted:
        """Import another memory server's file, if it lies below one of `roots`."""
        return self._adopt(file_within(path, roots), faithful=False)

    def adopt_own(self, path: Path) -> Adopted:
        """Import the file that the settings name, exactly as it is."""
        return self._adopt(path, faithful=True)

    def _adopt(self, path: Path, faithful: bool) -> Adopted:
        adopted = adopt(
            lines_of(path),
            faithful=faithful,
            store=self.store,
            namespace=self.namespace,
            cause=self.cause("adopt"),
            now=self.now,
        )
        self.background.wake()
        return adopted

    @property
    def _reader(self) -> Reader:
        return self.store.reader(self.namespace)
