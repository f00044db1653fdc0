"""The part of the menu that is about entities, observations and relations; `Lore` inherits it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from lore.admit import admit
from lore.engine.duplicates import Repetitions, Thresholds, find_repetitions
from lore.engine.entity_view import ENGLISH, EntityView, GraphVocabulary, Subject, past_of
from lore.engine.graph_report import Analysis, GraphReport, analyse, graph_report
from lore.engine.graph_search import EntityHit, EntityQuery, search_entities
from lore.engine.import_graph import ImportedGraph, import_graph
from lore.engine.import_memories import Importing
from lore.engine.nodes import Bond, Nodes, Which, addressed, matching_nodes, open_nodes, relations_of
from lore.engine.observe import introduce, observe, retract
from lore.engine.parts import Parts
from lore.engine.read import by_alias
from lore.engine.reflections import ReflectionHit, ReflectionQuery, reflections
from lore.engine.relate import Ending, Related, Relation, end_relation, relate, unrelate
from lore.engine.split import Part, Splitting, split
from lore.model import Link, Memory


class GraphVerbs(Parts):
    """Verbs that address memories by the names of entities."""

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
        return self._saved(introduce(admit(list(subjects)), context, merge=merge, embeddings=self.embeddings))

    def observe(self, subjects: Sequence[Subject], judge: bool = True) -> list[EntityView]:
        """Add observations to entities that exist; those that repeat an older one are flagged."""
        context = self._context("observe")
        return self._saved(observe(admit(list(subjects)), context, judge=judge, embeddings=self.embeddings))

    def retract(self, subjects: Sequence[Subject], strict: bool = False) -> dict[str, EntityView]:
        """Hide observations by their exact text."""
        return self._saved(retract(subjects, self._context("retract"), strict=strict))

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
        return self._saved(split(name, admit(list(parts)), parent, self._context("split"), vocabulary))

    def find_repetitions(self, name: str, thresholds: Thresholds) -> Repetitions:
        """Observations of an entity that repeat each other."""
        return find_repetitions(name, self._reader, self.embeddings, thresholds=thresholds)

    def graph_report(self, stale_days: float, vocabulary: GraphVocabulary = ENGLISH) -> GraphReport:
        """Entities that are too large, repetitive or long unused."""
        return graph_report(stale_days, self._context("graph_report"), self.embeddings, vocabulary)

    def import_graph(self, path: Path, faithful: bool = True, vocabulary: GraphVocabulary = ENGLISH,
                     how: Importing | None = None) -> ImportedGraph:  # fmt: skip
        """Import another memory server's file. faithful: keep relations without ends, add no inverses."""
        context = self._context("import_graph", how.reason if how else "")
        imported = import_graph(path, faithful, context, vocabulary, how is not None and how.preview)
        return self._saved(imported, embed_now=False)
