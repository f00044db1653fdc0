"""route: where distilled knowledge belongs: under a tree that knows the subject, beside one, or alone."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lore.distil.base import Digest, Finding, Topic
from lore.engine.consolidate.plan import Change, Step, View
from lore.engine.consolidate.said import from_persons
from lore.engine.consolidate.trees import FRAGMENT, REFLECTION, own, print_of
from lore.model import DERIVED, DISTILLED, OVERVIEW_OF, Link, Memory, new_id
from lore.ranking.compare import Relation, compare
from lore.ranking.decay import clamp
from lore.ranking.relate import told_apart
from lore.text import passage_of, preview, terms, words
from lore.vectors import Vector

ATTACHED_ABOVE, LINKED_ABOVE = 0.75, 0.35
"""How well new knowledge must fit a tree to become part of it, or to be linked to it."""
NOVELTY = 0.5
"""How much more important knowledge is that fits nothing known."""
REPEATED_AT = 0.95
"""How like a known memory something must be to be nothing new."""
CORRECTED_AT = 0.7
"""How like a known memory must be to what a correction says is not so."""
IMPORTANCE = {"high": 0.9, "medium": 0.5, "low": 0.2}
TOPIC_IMPORTANCE = 0.9
SCHEMA_FIT = "schema-fit link"
TITLE = 80
NEAREST = 5
"""Among how many of the nearest is the one that counts."""


@dataclass(frozen=True, slots=True)
class Origin:
    """The conversation that knowledge comes from: its session, and its turns by number."""

    session: Memory
    turns: Mapping[int, Memory]

    def of(self, numbers: Sequence[int]) -> list[Memory]:
        return [self.turns[number] for number in numbers if number in self.turns]


@dataclass(slots=True)
class _Growing:
    """A topic on its way into the trees: what is new, and what it is tied to."""

    top: Memory
    new: list[Memory] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    changed: list[Change] = field(default_factory=list)
    vectors: dict[str, Vector] = field(default_factory=dict)

    @property
    def step(self) -> Step:
        """With nothing new below it a topic is not kept either; what it repeats has one more source."""
        if not self.new:
            return Step(told="", linked=tuple(self.links))
        found = len(self.new)
        return Step(
            told=f"“{self.top.title}”: {found} {'thing' if found == 1 else 'things'} worth knowing",
            counted={"fragments_extracted": found + 1, "contradictions_resolved": len(self.changed)},
            new=(replace(self.top, metadata={OVERVIEW_OF: print_of(self.new)}), *self.new),
            changed=tuple(self.changed),
            linked=tuple(self.links),
            vectors={memory.id: self.vectors[memory.id] for memory in self._embedded()},
        )

    def _embedded(self) -> list[Memory]:
        return [memory for memory in (self.top, *self.new) if memory.id in self.vectors]


def routed(view: View, digest: Digest, origin: Origin) -> Iterator[Step]:
    """One step for each topic, and one for each two of them that have to do with each other."""
    grown: list[_Growing] = []
    for topic in digest.topics:
        grown.append(_topic(view, topic, origin, grown))
        yield grown[-1].step
    for tie in digest.relations:
        first, second = grown[tie.first], grown[tie.second]
        if first is not second and first.new and second.new:
            link = view.link(first.top.id, second.top.id, "associative", why=tie.text)
            yield Step(told="", linked=(link,))


def _topic(view: View, topic: Topic, origin: Origin, before: Sequence[_Growing]) -> _Growing:
    top = _memory(view, topic.overview, origin, topic.turns, title=preview(topic.title, TITLE))
    findings = [_memory(view, one.text, origin, one.turns, type=one.type) for one in topic.findings]
    vectors = _vectors(view, [top, *findings])
    tree, fit = _nearest(view, vectors.get(top.id), top, roots=True)
    novelty = 1 + NOVELTY * (1 - clamp(fit)) if vectors else 1.0
    growing = _Growing(replace(top, importance=clamp(TOPIC_IMPORTANCE * novelty)), vectors=vectors)
    for finding, memory in zip(topic.findings, findings, strict=True):
        weighed = replace(memory, importance=clamp(IMPORTANCE[finding.importance] * novelty))
        _grow(view, growing, finding, weighed, origin, before)
    if growing.new:
        growing.links += _derived(view, top, origin.of(topic.turns[:1]))
        growing.links += _placed(view, top, tree, fit)
    return growing


def _placed(view: View, top: Memory, tree: Memory | None, fit: float) -> list[Link]:
    """Part of a tree that it fits well, tied to one that it fits somewhat, else alone."""
    if tree is None or fit <= LINKED_ABOVE:
        return []
    if fit > ATTACHED_ABOVE:
        return [view.link(tree.id, top.id, "hierarchical")]
    return [view.link(tree.id, top.id, "associative", weight=clamp(fit), why=SCHEMA_FIT)]


def _grow(
    view: View,
    growing: _Growing,
    finding: Finding,
    memory: Memory,
    origin: Origin,
    before: Sequence[_Growing],
) -> None:
    """Below its topic, behind the one before; what is known already only gains another source."""
    known = _just_said(view, growing, memory, before) or _known(view, growing.vectors.get(memory.id), memory)
    if known is not None:
        growing.links += _derived(view, known, origin.of(finding.turns))
        return
    if growing.new:
        growing.links.append(view.link(growing.new[-1].id, memory.id, "temporal"))
    growing.new.append(memory)
    growing.links.append(view.link(growing.top.id, memory.id, "hierarchical"))
    growing.links += _derived(view, memory, origin.of(finding.turns))
    gone = {change.before.id for one in (*before, growing) for change in one.changed}
    wrong = _meant(view, finding.replaces, memory) if finding.replaces else None
    if wrong is not None and wrong.id not in gone:
        growing.changed.append(view.superseded(wrong, memory.id))
        growing.links.append(view.link(memory.id, wrong.id, "supersedes", why="corrected"))


def _just_said(view: View, growing: _Growing, memory: Memory, before: Sequence[_Growing]) -> Memory | None:
    """What another topic of the same conversation, or this one, says already."""
    for one in (*before, growing):
        for other in one.new:
            ours, theirs = growing.vectors.get(memory.id), one.vectors.get(other.id)
            likeness = 0.0 if ours is None or theirs is None else view.sense.likeness(float(ours @ theirs))
            if _repeats(memory, other, likeness):
                return other
    return None


def _known(view: View, vector: Vector | None, memory: Memory) -> Memory | None:
    """What says the same already; without an embedder, in the same words."""
    known, likeness = _nearest(view, vector, memory)
    if known is None and vector is None:
        where = own(view, projects=frozenset({memory.project}))
        best = list(view.reader.matching(terms(memory.content), 1, where))
        known = view.reader.get(best).get(best[0]) if best else None
    return known if known is not None and _repeats(memory, known, likeness) else None


def _repeats(memory: Memory, known: Memory, likeness: float) -> bool:
    if words(memory.content) == words(known.content):
        return True
    return likeness >= REPEATED_AT and not told_apart(known.content, memory.content)


def _meant(view: View, text: str, correction: Memory) -> Memory | None:
    """The statement that says what a correction says is not so; never one that is newer or trusted more."""
    vectors = view.sense.embed_texts([text])
    known, likeness = _nearest(view, None if vectors is None else vectors[0], correction)
    if known is None or likeness < CORRECTED_AT or known.trust > correction.trust:
        return None
    if view.reader.children([known.id])[known.id] or words(known.content) == words(correction.content):
        return None
    certain = view.model is not None or _certain(view, known, correction)
    return known if certain and known.created_at <= correction.created_at else None


def _certain(view: View, known: Memory, correction: Memory) -> bool:
    """Whether a correction may hide a statement without a language model: a user's only by its wording."""
    if known.id not in from_persons(view, [known]):
        return True
    return compare(known.content, correction.content, thorough=False) is Relation.UPDATE


def _nearest(
    view: View, vector: Vector | None, memory: Memory, roots: bool = False
) -> tuple[Memory | None, float]:
    """What is known already that is most like it, of its own project or of none; no reflection."""
    if vector is None:
        return None, 0.0
    where = own(view, roots=roots, projects=frozenset({memory.project}))
    near = view.reader.near(vector, view.sense.model, NEAREST, where)
    known = view.reader.get(near)
    for id, cosine in near.items():
        if id in known and known[id].type != REFLECTION:
            return known[id], view.sense.likeness(cosine)
    return None, 0.0


def _vectors(view: View, memories: Sequence[Memory]) -> dict[str, Vector]:
    passages = [
        passage_of(memory.title, memory.summary, memory.content, memory.context) for memory in memories
    ]
    vectors = view.sense.embed_texts(passages)
    ids = [memory.id for memory in memories]
    return {} if vectors is None else dict(zip(ids, vectors, strict=True))


def _derived(view: View, memory: Memory, turns: Sequence[Memory]) -> list[Link]:
    return [view.link(memory.id, turn.id, "relation", type=DERIVED) for turn in turns]


def _memory(
    view: View, content: str, origin: Origin, numbers: Sequence[int], title: str = "", type: str = ""
) -> Memory:
    """It dates from when it was said, so that the newer of two statements is the one said later.

    It fades from now on: an old conversation that was read just now is no faded knowledge.
    """
    said = origin.of(numbers)
    return Memory(
        id=new_id(view.now),
        namespace=view.namespace,
        kind=FRAGMENT,
        type=type,
        title=title,
        content=content,
        source=origin.session.source,
        source_type=DISTILLED,
        session=origin.session.session,
        project=origin.session.project,
        trust=min((turn.trust for turn in said), default=origin.session.trust),
        created_at=max((turn.created_at for turn in said), default=view.now),
        updated_at=view.now,
        last_reinforced_at=view.now,
    )
