"""By rules: what the rules found in a conversation gets a place in the trees."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lore.distil.base import Digest, Finding, Topic
from lore.distil.learnings import learnt_count
from lore.engine.consolidate.conversation import Conversation
from lore.engine.consolidate.plan import Step, View
from lore.engine.consolidate.trees import REFLECTION, children_fingerprint, own_fragments
from lore.model import OVERVIEW_OF, Link, Memory, Tie
from lore.ranking.decay import clamp
from lore.ranking.relate import differ_in_detail
from lore.text import preview, terms, words
from lore.vectors import Vector

BRANCH_ABOVE, LINK_ABOVE = 0.75, 0.35
"""A topic becomes a branch of a tree, or is linked to it, above these likenesses."""
NOVELTY = 0.5
"""The importance of a topic that is like no tree rises by this share."""
REPEATED_FROM = 0.95
"""A finding repeats a memory from this likeness on."""
IMPORTANCE = {"high": 0.9, "medium": 0.5, "low": 0.2}
TOPIC_IMPORTANCE = 0.9
SCHEMA_FIT = "schema-fit link"
TITLE_CHARACTERS = 80
NEAREST = 5
"""The number of nearest memories among which the first suitable one counts."""


@dataclass(slots=True)
class _TopicDraft:
    """A topic before it is stored: its root, the new memories below it, and links."""

    root: Memory
    vectors: Mapping[str, Vector]
    new: list[Memory] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)

    @property
    def step(self) -> Step:
        """Without a new finding the topic is not kept; only the memories that it repeats get new sources."""
        if not self.new:
            return Step(new_links=tuple(self.links))
        count = len(self.new)
        memories = (replace(self.root, metadata={OVERVIEW_OF: children_fingerprint(self.new)}), *self.new)
        return Step(
            description=f"“{self.root.title}”: {count} {'thing' if count == 1 else 'things'} worth knowing",
            counts={
                "fragments_extracted": count + 1,
                **Counter(learnt_count(one.type) for one in self.new),
            },
            new_memories=memories,
            new_links=tuple(self.links),
            vectors={one.id: self.vectors[one.id] for one in memories if one.id in self.vectors},
        )


class Placement:
    """Finds a place for each topic of a session: below a tree about the subject, beside one, or alone."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self._view = conversation.view
        self._drafts: list[_TopicDraft] = []

    def steps(self, digest: Digest) -> Iterator[Step]:
        """One step for each topic, and one for each relation between two topics."""
        for topic in digest.topics:
            yield self._draft(topic).step
        for relation in digest.relations:
            one, other = self._drafts[relation.first], self._drafts[relation.second]
            if one is not other and one.new and other.new:
                tie = Tie(source=one.root.id, target=other.root.id, reason=relation.text)
                yield Step(new_links=(self._view.link(tie),))

    def _draft(self, topic: Topic) -> _TopicDraft:
        root = self._memory(topic.overview, topic.turns, title=preview(topic.title, TITLE_CHARACTERS))
        memories = [
            self._conversation.cited(self._memory(one.text, one.turns, type=one.type), one.turns)
            for one in topic.findings
        ]
        vectors = self._conversation.vectors([root, *memories])
        tree, likeness = nearest(self._view, vectors.get(root.id), root.project, roots=True)
        novelty = 1 + NOVELTY * (1 - clamp(likeness)) if vectors else 1.0
        draft = _TopicDraft(replace(root, importance=clamp(TOPIC_IMPORTANCE * novelty)), vectors)
        self._drafts.append(draft)
        for finding, memory in zip(topic.findings, memories, strict=True):
            importance = clamp(IMPORTANCE[finding.importance] * novelty)
            self._add(draft, finding, replace(memory, importance=importance))
        if draft.new:
            draft.links += self._conversation.sources(root.id, topic.turns[:1])
            draft.links += self._to_tree(root, tree, likeness)
        return draft

    def _memory(self, content: str, turns: Sequence[int], title: str = "", type: str = "") -> Memory:
        """A memory as trusted as the least trusted of its turns."""
        sources = self._conversation.of(turns)
        trust = min((turn.trust for turn in sources), default=self._conversation.session.trust)
        return self._conversation.memory(content, turns, trust=trust, title=title, type=type)

    def _to_tree(self, root: Memory, tree: Memory | None, likeness: float) -> list[Link]:
        if tree is None or likeness <= LINK_ABOVE:
            return []
        if likeness > BRANCH_ABOVE:
            return [self._view.branch(tree.id, root.id)]
        tie = Tie(source=tree.id, target=root.id, weight=clamp(likeness), reason=SCHEMA_FIT)
        return [self._view.link(tie)]

    def _add(self, draft: _TopicDraft, finding: Finding, memory: Memory) -> None:
        """Put a finding below its topic, after the one before; an existing memory only gets a new source."""
        view = self._view
        existing = self._repeated_here(draft, memory) or self._repeated(draft.vectors.get(memory.id), memory)
        if existing is not None:
            draft.links += self._conversation.sources(existing.id, finding.turns)
            return
        if draft.new:
            draft.links.append(view.link(Tie(source=draft.new[-1].id, target=memory.id, kind="temporal")))
        draft.new.append(memory)
        draft.links.append(view.branch(draft.root.id, memory.id))
        draft.links += self._conversation.sources(memory.id, finding.turns)

    def _repeated_here(self, draft: _TopicDraft, memory: Memory) -> Memory | None:
        """The finding of the same session that says the same."""
        vector = draft.vectors.get(memory.id)
        for one in self._drafts:
            for other in one.new:
                theirs = one.vectors.get(other.id)
                likeness = 0.0
                if vector is not None and theirs is not None:
                    likeness = self._view.embeddings.likeness(float(vector @ theirs))
                if _repeats(memory, other, likeness):
                    return other
        return None

    def _repeated(self, vector: Vector | None, memory: Memory) -> Memory | None:
        """The existing memory that says the same; without an embedder, in the same words."""
        existing, likeness = nearest(self._view, vector, memory.project)
        if existing is None and vector is None:
            where = own_fragments(self._view, projects=frozenset({memory.project}))
            best = list(self._view.reader.matching(terms(memory.content), 1, where).strengths)
            existing = self._view.reader.get(best).get(best[0]) if best else None
        return existing if existing is not None and _repeats(memory, existing, likeness) else None


def nearest(
    view: View, vector: Vector | None, project: str, roots: bool = False
) -> tuple[Memory | None, float]:
    """The most similar memory of the same project or of none, and its likeness; no reflection."""
    if vector is None:
        return None, 0.0
    where = own_fragments(view, roots=roots, projects=frozenset({project}))
    near = view.reader.near(vector, view.embeddings.model, NEAREST, where)
    existing = view.reader.get(near)
    for id, cosine in near.items():
        if id in existing and existing[id].type != REFLECTION:
            return existing[id], view.embeddings.likeness(cosine)
    return None, 0.0


def _repeats(memory: Memory, other: Memory, likeness: float) -> bool:
    if words(memory.content) == words(other.content):
        return True
    return likeness >= REPEATED_FROM and not differ_in_detail(other.content, memory.content)
