"""Phases merge and link: memories that say the same become one, similar trees are linked; nothing is lost."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np

from lore.engine.consolidate.plan import MERGED, Plan, Step, View
from lore.engine.consolidate.trees import (
    SimilarPair,
    batches,
    changed_roots,
    new_since,
    own_fragments,
    run_mark,
    similar_pairs,
)
from lore.engine.remember import TWIN_KINDS, UNTYPED, is_twin
from lore.model import DISTILLED, OVERVIEW_OF, Filter, Link, Memory, Tie, new_id
from lore.ranking.compare import Relation, compare
from lore.ranking.decay import relevance
from lore.ranking.relate import differ_in_detail
from lore.store.values import COUNT, ids_of
from lore.text import STOP_WORDS, folded, label_of, names_in, words

REPEATED_SHARE, MOST_OTHER_WORDS = 0.8, 2
"""A root repeats another that has at least this share of its words, and lacks no more than this many."""
CHILDREN_LIKENESS = 0.7
"""Children of similar roots are linked above this likeness."""
MOST_CHILDREN = 200
"""The most children of a root that are compared."""
LINKS_PER_ROOT = 8
"""A root is linked with at most this many others for their likeness."""
LINKS_PER_CHILD = 3
"""A child gets at most this many links from one pair of trees."""

Links = Mapping[str, list[Link]]
"""Memory -> its links."""


def merge(view: View) -> Iterator[Plan]:
    """Join memories with the same text, and similar roots: the best one takes in all others like it."""
    least = view.settings.merge_threshold
    after = new_since("merge", view, least=least)
    steps, gone = _merge_twins(view, after)
    pairs = _similar_roots(view, least, changed_roots(view, after))
    ids = {id for pair in pairs for id in (pair.one, pair.other)}
    roots = view.reader.get(ids)
    similar: dict[str, list[Memory]] = {id: [] for id in roots}
    for pair in pairs:
        one, other = roots.get(pair.one), roots.get(pair.other)
        if one is not None and other is not None and _is_mergeable(one, other):
            similar[one.id].append(other)
            similar[other.id].append(one)
    links = _by_end(view.reader.links(ids), ids)
    for survivor in sorted(roots.values(), key=lambda root: _rank(root, view.now), reverse=True):
        for victim in similar[survivor.id] if survivor.id not in gone else []:
            if victim.id not in gone:
                gone.add(victim.id)
                steps.append(_merge_step(view, survivor, victim, links, "roots_merged"))
    yield Plan(steps=tuple(steps), records=(run_mark("merge", view, least=least),))


def link(view: View) -> Iterator[Plan]:
    """Link similar roots, and similar children of similar roots."""
    least = view.settings.similarity_threshold
    pairs = _similar_roots(view, least, changed_roots(view, new_since("link", view, least=least)))
    closest = _closest(pairs, _all_links(view, {id for pair in pairs for id in (pair.one, pair.other)}))
    wanted = [*closest, *_similar_children(view, closest)]
    existing = _ends(_all_links(view, {pair.one for pair in wanted}))
    by_ends = {frozenset((pair.one, pair.other)): pair for pair in wanted}
    new = [pair for ends, pair in by_ends.items() if ends not in existing]
    memories = view.reader.get({id for pair in new for id in (pair.one, pair.other)})
    steps = [_link_step(view, pair, memories) for pair in new if {pair.one, pair.other} <= memories.keys()]
    yield Plan(steps=tuple(steps), records=(run_mark("link", view, least=least),))


def _similar_roots(view: View, least: float, changed: set[str]) -> list[SimilarPair]:
    where = own_fragments(view, roots=True)
    roots = ids_of(view.reader.traces(where)) if changed else []
    return similar_pairs(view, roots, least, changed)


def _label(memory: Memory) -> str:
    return label_of(memory.title, memory.content)


# --- merge
def _merge_twins(view: View, after: float) -> tuple[list[Step], set[str]]:
    """A step for each memory that has the text of another one, and the ids of these memories.

    The memory with most other fields stays, then the highest in a tree. Topics with the same title are the
    same: their texts are overviews, which are rewritten.
    """
    where = Filter(kinds=TWIN_KINDS, namespaces=frozenset({view.namespace}))
    if after and not view.reader.traces(replace(where, updated_after=after), COUNT).total:
        return [], set()
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for batch in batches(ids_of(view.reader.traces(where))):
        for id, memory in view.reader.get(batch).items():
            text = folded(memory.title if _is_topic(memory) else memory.content)
            groups[memory.project, text].append(id)
    steps: list[Step] = []
    gone: set[str] = set()
    for ids in groups.values():
        if len(ids) > 1:
            twins = view.reader.get(ids)
            links = _by_end(view.reader.links(ids), set(ids))
            for survivor, victim in _pair_twins(list(twins.values()), links, view.now):
                steps.append(_merge_step(view, survivor, victim, links, "twins_merged"))
                gone.add(victim.id)
    return steps, gone


def _pair_twins(memories: Sequence[Memory], links: Links, now: float) -> list[tuple[Memory, Memory]]:
    """(survivor, victim) for each memory that gives way to another with the same text: same kinds first.

    A memory with children gives way only to one of its kind, so that trees stay trees.
    """
    best_first = sorted(
        memories, key=lambda twin: (_field_count(twin), -twin.depth, *_rank(twin, now)), reverse=True
    )
    survivor_of: dict[str, Memory] = {}
    for across_kinds in (False, True):
        for survivor, victim in permutations(best_first, 2):
            if survivor.id in survivor_of or victim.id in survivor_of or not _is_twin(victim, survivor):
                continue
            merged = [victim.id, *(id for id, other in survivor_of.items() if other.id == victim.id)]
            is_leaf = not any(
                link.kind == "hierarchical" and link.source == id for id in merged for link in links[id]
            )
            if victim.kind == survivor.kind or (across_kinds and is_leaf):
                survivor_of[victim.id] = survivor
    return [(survivor_of[one.id], one) for one in memories if one.id in survivor_of]


def _is_twin(victim: Memory, survivor: Memory) -> bool:
    """Whether a memory only repeats the other. The heading of a topic is no twin of a memory below it."""
    if _is_same_topic(victim, survivor):
        return victim.type == survivor.type
    same_title = folded(victim.title) == folded(survivor.title)
    both_distilled = victim.source_type == survivor.source_type == DISTILLED
    return is_twin(victim, survivor) and (same_title or not both_distilled)


def _field_count(memory: Memory) -> int:
    """How many of type and title a memory has."""
    return (memory.type not in UNTYPED) + bool(memory.title)


def _is_mergeable(one: Memory, other: Memory) -> bool:
    """Whether two roots may become one tree. A correction stays beside the statement that it corrects."""
    older, newer = sorted((one, other), key=lambda root: (root.created_at, root.alias))
    return (
        one.project == other.project
        and one.type == other.type
        and not differ_in_detail(_label(one), _label(other))
        and compare(older.content, newer.content, thorough=False) is not Relation.UPDATE
    )


def _rank(root: Memory, now: float) -> tuple[float, ...]:
    """The higher survives: trust, then written by somebody, then use, relevance and age."""
    written = root.source_type != DISTILLED
    return root.trust, written, root.access_count, relevance(root, now), -root.created_at, -root.alias


def _by_end(links: Iterable[Link], ids: set[str]) -> Links:
    by_end: dict[str, list[Link]] = {id: [] for id in ids}
    for link in links:
        for end in {link.source, link.target} & ids:
            by_end[end].append(link)
    return by_end


def _merge_step(view: View, survivor: Memory, victim: Memory, links: Links, count: str) -> Step:
    """A victim that only repeats the survivor is superseded; one that says more becomes a branch below it."""
    step = Step(description=f"“{_label(victim)}” joins “{_label(survivor)}”", counts={count: 1})
    if not (_adds_nothing(victim, survivor) or _is_same_topic(victim, survivor)):
        return replace(step, new_links=(view.branch(survivor.id, victim.id),))
    taken = {_identity(link) for link in links[survivor.id]}
    moved = [
        (link, new)
        for link in links[victim.id]
        if link.kind != "supersedes" and link.other(victim.id) != survivor.id
        if link.kind != "hierarchical" or link.source == victim.id
        if _identity(new := _moved(view, link, victim.id, survivor.id)) not in taken
    ]
    change, supersedes = view.supersede(victim, survivor.id, MERGED)
    return replace(
        step,
        changes=(change,),
        ended_links=view.end(link for link, _ in moved if link.kind == "hierarchical"),
        new_links=(supersedes, *(new for _, new in moved)),
    )


def _adds_nothing(victim: Memory, survivor: Memory) -> bool:
    """Whether the victim has no other number, no other name, no "not", and hardly another word."""
    ours, theirs = (f"{root.title} {root.content}" for root in (victim, survivor))
    content_words = set(words(ours)) - STOP_WORDS
    others = content_words - set(words(theirs))
    return (
        len(others) <= min(MOST_OTHER_WORDS, (1 - REPEATED_SHARE) * len(content_words))
        and names_in(ours) <= names_in(theirs)
        and not differ_in_detail(ours, theirs)
    )


def _is_topic(memory: Memory) -> bool:
    """Whether it is the root of a digest, whose text is an overview of the memories below it."""
    return memory.source_type == DISTILLED and bool(memory.title) and OVERVIEW_OF in memory.metadata


def _is_same_topic(one: Memory, other: Memory) -> bool:
    return _is_topic(one) and _is_topic(other) and folded(one.title) == folded(other.title)


def _identity(link: Link) -> tuple[str, str, str, str]:
    return link.source, link.target, link.kind, link.type


def _moved(view: View, link: Link, old: str, new: str) -> Link:
    """The same link at another end, with its age and weight: moving is no use."""
    source, target = (new if end == old else end for end in (link.source, link.target))
    return replace(link, id=new_id(view.now), alias=0, source=source, target=target)


# --- link
def _closest(pairs: Sequence[SimilarPair], links: Sequence[Link]) -> list[SimilarPair]:
    """Pairs that are linked already, and the best of the others, up to LINKS_PER_ROOT for each root."""
    existing = _ends(links)
    counts = Counter(
        id for ends in _ends(link for link in links if link.kind == "associative") for id in ends
    )
    closest = []
    for pair in pairs:
        ends = (pair.one, pair.other)
        if frozenset(ends) not in existing:
            if max(counts[end] for end in ends) >= LINKS_PER_ROOT:
                continue
            counts.update(ends)
        closest.append(pair)
    return closest


def _similar_children(view: View, pairs: Sequence[SimilarPair]) -> Iterator[SimilarPair]:
    """Pairs of children, one from each root of a pair."""
    children: dict[str, list[str]] = {}
    for batch in batches(list({id for pair in pairs for id in (pair.one, pair.other)})):
        children |= view.reader.children(batch)
    for pair in pairs:
        ours = view.reader.vectors(view.embeddings.model, children[pair.one][:MOST_CHILDREN])
        theirs = view.reader.vectors(view.embeddings.model, children[pair.other][:MOST_CHILDREN])
        if not ours or not theirs:
            continue
        cosines = np.stack(list(ours.values())) @ np.stack(list(theirs.values())).T
        targets = list(theirs)
        for source, row in zip(ours, cosines, strict=True):
            for best in np.argsort(-row, kind="stable")[:LINKS_PER_CHILD]:
                if (likeness := view.embeddings.likeness(float(row[best]))) > CHILDREN_LIKENESS:
                    yield SimilarPair(source, targets[best], likeness)


def _link_step(view: View, pair: SimilarPair, memories: Mapping[str, Memory]) -> Step:
    one, other = _label(memories[pair.one]), _label(memories[pair.other])
    weight = min(1.0, pair.likeness)
    return Step(
        description=f"“{one}” – “{other}” ({pair.likeness:.2f})",
        counts={"links_created": 1},
        new_links=(view.link(Tie(source=pair.one, target=pair.other, weight=weight, reason="alike")),),
    )


def _all_links(view: View, ids: Iterable[str]) -> list[Link]:
    """Active and ended links: a link that has faded is not created again without a new reason."""
    return [link for id in sorted(ids) for link in view.reader.links([id], ended=True)]


def _ends(links: Iterable[Link]) -> set[frozenset[str]]:
    return {frozenset((link.source, link.target)) for link in links}
