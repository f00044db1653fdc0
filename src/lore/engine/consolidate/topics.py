"""Topics: the tree of each subject of a project; one subject has one, however a conversation calls it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from lore.engine.consolidate.by_rules import BRANCH_ABOVE, LINK_ABOVE, SCHEMA_FIT, TOPIC_IMPORTANCE, nearest
from lore.engine.consolidate.conversation import Conversation
from lore.engine.consolidate.trees import children_fingerprint, own_fragments
from lore.engine.consolidate.trust import ASSISTANT_TRUST
from lore.model import OVERVIEW_OF, Link, Memory, Tie
from lore.ranking.decay import clamp
from lore.store.values import Page
from lore.text import folded
from lore.vectors import Vector

MOST_TOPICS = 200
"""Existing trees whose titles are compared, newest first."""
UNTITLED = "Other"
"""The topic of items that name none, in a conversation without a title."""


@dataclass(slots=True)
class Topics:
    """Finds the root of a topic by its title, then by likeness, or makes a new one.

    roots: by the folded title. new: the roots that this conversation makes, by id. vectors: of these.
    """

    conversation: Conversation
    roots: dict[str, Memory] = field(default_factory=dict)
    new: dict[str, Memory] = field(default_factory=dict)
    embedded: dict[str, Vector] = field(default_factory=dict)
    links: dict[str, tuple[Link, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, conversation: Conversation) -> "Topics":
        """With the topics of the project of the conversation."""
        project = frozenset({conversation.session.project})
        where = own_fragments(conversation.view, roots=True, projects=project)
        found = conversation.view.reader.select(where, Page(limit=MOST_TOPICS))
        headings = [root for root in found if root.title and OVERVIEW_OF in root.metadata]
        return cls(conversation, {folded(root.title): root for root in reversed(headings)})

    @property
    def titles(self) -> list[str]:
        """Of existing topics, newest first."""
        return [root.title for root in reversed(self.roots.values())]

    def title(self, root: str) -> str:
        return next(one.title for one in self.roots.values() if one.id == root)

    def root_of(self, title: str, item: Memory) -> str:
        """The id of the root for an item of this topic."""
        title = title or self.conversation.session.title or UNTITLED
        root = self.roots.get(folded(title)) or self._alike(title, item)
        self.roots[folded(title)] = root
        return root.id

    def _alike(self, title: str, item: Memory) -> Memory:
        """A root about the same, existing or new in this conversation; else a new one."""
        view = self.conversation.view
        root = replace(self._heading(title), created_at=item.created_at)
        vector = self.conversation.vectors([root]).get(root.id)
        for id, other in self.embedded.items():
            if vector is not None and view.embeddings.likeness(float(vector @ other)) > BRANCH_ABOVE:
                return self.new[id]
        tree, likeness = nearest(view, vector, root.project, roots=True)
        if tree is not None and likeness > BRANCH_ABOVE and self._is_tree(tree):
            return tree
        if tree is not None and likeness > LINK_ABOVE:
            tie = Tie(source=tree.id, target=root.id, weight=clamp(likeness), reason=SCHEMA_FIT)
            self.links[root.id] = (view.link(tie),)
        self.new[root.id] = root
        if vector is not None:
            self.embedded[root.id] = vector
        return root

    def _is_tree(self, root: Memory) -> bool:
        """Whether it is a heading, or has something below it: no statement becomes one."""
        return OVERVIEW_OF in root.metadata or bool(
            self.conversation.view.reader.children([root.id])[root.id]
        )

    def _heading(self, title: str) -> Memory:
        return self.conversation.memory(
            title, (), trust=ASSISTANT_TRUST, title=title, importance=TOPIC_IMPORTANCE
        )

    def created(
        self, root: str, items: Sequence[Memory], turns: Sequence[int]
    ) -> tuple[tuple[Memory, ...], tuple[Link, ...]]:
        """The root with its first items, and its links, if it is a new one. It is a heading: its text is its
        title until a summary of its items is written. turns: the first one is its source."""
        if root not in self.new:
            return (), ()
        trust = min(ASSISTANT_TRUST, max(item.trust for item in items))
        metadata = {OVERVIEW_OF: children_fingerprint(items)}
        sources = self.conversation.sources(root, turns[:1])
        return (replace(self.new[root], trust=trust, metadata=metadata),), (
            *sources,
            *self.links.get(root, ()),
        )

    def vectors(self, headings: Sequence[Memory]) -> Mapping[str, Vector]:
        return {one.id: self.embedded[one.id] for one in headings if one.id in self.embedded}
