"""merge: the same text becomes one memory, and roots that say the same one tree. Nothing is lost."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

from lore.engine.consolidate.plan import Plan, Step, View
from lore.engine.consolidate.trees import (
    alike,
    done,
    fresh_roots,
    in_parts,
    same_place,
    since,
)
from lore.engine.remember import TWIN_KINDS, UNTYPED, is_twin
from lore.model import DISTILLED, OVERVIEW_OF, Filter, Link, Memory, new_id
from lore.ranking.compare import Relation, compare
from lore.ranking.decay import relevance
from lore.ranking.relate import told_apart
from lore.text import STOP_WORDS, folded, label_of, names_in, words

NAME = "merge"
REPEATED, OTHER_WORDS = 0.8, 2
"""A root adds nothing if the other has this share of its words too, and misses no more than so many."""


def merge(view: View) -> Iterator[Plan]:
    """Who comes first takes in all that are like it; whoever has given way takes no further part."""
    least = view.settings.merge_threshold
    after = since(NAME, view, least=least)
    steps, gone = _twins_merged(view, after)
    pairs = alike(view, least, fresh_roots(view, after))
    ids = {id for pair in pairs for id in (pair.one, pair.other)}
    roots = view.reader.get(ids)
    beside: dict[str, list[Memory]] = {id: [] for id in roots}
    for pair in pairs:
        one, other = roots.get(pair.one), roots.get(pair.other)
        if one is not None and other is not None and _mergeable(one, other):
            beside[one.id].append(other)
            beside[other.id].append(one)
    links = _links_of(view.reader.links(ids), ids)
    for survivor in sorted(roots.values(), key=lambda root: _rank(root, view.now), reverse=True):
        for victim in beside[survivor.id] if survivor.id not in gone else []:
            if victim.id not in gone:
                gone.add(victim.id)
                steps.append(_step(view, survivor, victim, links))
    yield Plan(phase=NAME, steps=tuple(steps), noted=done(NAME, view, least=least))


def _twins_merged(view: View, after: float) -> tuple[list[Step], set[str]]:
    """A step for each memory that has the text of another, and their ids.

    The one that says most about itself stays, then the highest in a tree. Topics with the same title are
    the same: their texts are overviews, which are written again.
    """
    where = Filter(kinds=TWIN_KINDS, namespaces=frozenset({view.namespace}))
    if after and not view.reader.count(replace(where, updated_after=after)):
        return [], set()
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for part in in_parts(view.reader.ids(where)):
        for id, memory in view.reader.get(part).items():
            text = folded(memory.title if _is_topic(memory) else memory.content)
            groups[memory.project, text].append(id)
    steps: list[Step] = []
    gone: set[str] = set()
    for ids in groups.values():
        if len(ids) > 1:
            twins = view.reader.get(ids)
            links = _links_of(view.reader.links(ids), set(ids))
            for survivor, victim in _twins(list(twins.values()), links, view.now):
                steps.append(_step(view, survivor, victim, links, "twins_merged"))
                gone.add(victim.id)
    return steps, gone


def _twins(
    memories: Sequence[Memory], links: Mapping[str, list[Link]], now: float
) -> list[tuple[Memory, Memory]]:
    """Survivor and victim for each memory of one text that gives way: first of the same kind, then of others.

    A memory with others below it gives way only to one of its kind, so that trees stay trees.
    """
    best_first = sorted(
        memories, key=lambda twin: (_telling(twin), -twin.depth, *_rank(twin, now)), reverse=True
    )
    survivor_of: dict[str, Memory] = {}
    for across_kinds in (False, True):
        for survivor, victim in permutations(best_first, 2):
            if survivor.id in survivor_of or victim.id in survivor_of or not _is_twin(victim, survivor):
                continue
            heirs = [id for id, heir in survivor_of.items() if heir.id == victim.id]
            leaf = not _has_below([victim.id, *heirs], links)
            if victim.kind == survivor.kind or (across_kinds and leaf):
                survivor_of[victim.id] = survivor
    return [(survivor_of[one.id], one) for one in memories if one.id in survivor_of]


def _is_twin(victim: Memory, survivor: Memory) -> bool:
    """Whether a memory only repeats the other. The heading of a conversation is no twin of what it heads."""
    same_title = folded(victim.title) == folded(survivor.title)
    if _same_topic(victim, survivor):
        return victim.type == survivor.type
    distilled = victim.source_type == survivor.source_type == DISTILLED
    return is_twin(victim, survivor) and (same_title or not distilled)


def _has_below(ids: Iterable[str], links: Mapping[str, list[Link]]) -> bool:
    return any(link.kind == "hierarchical" and link.source == id for id in ids for link in links[id])


def _telling(memory: Memory) -> int:
    """How much a memory says besides its text: a type, a title."""
    return (memory.type not in UNTYPED) + bool(memory.title)


def _mergeable(one: Memory, other: Memory) -> bool:
    """Whether two roots may become one tree. A correction stays beside what it corrects."""
    older, newer = sorted((one, other), key=lambda root: (root.created_at, root.alias))
    return (
        same_place(one, other)
        and one.type == other.type
        and not told_apart(label_of(one.title, one.content), label_of(other.title, other.content))
        and compare(older.content, newer.content, thorough=False) is not Relation.UPDATE
    )


def _rank(root: Memory, now: float) -> tuple[float, ...]:
    """Who survives: the more trusted, what somebody wrote, the more used, the more present, the older."""
    written = root.source_type != DISTILLED
    return root.trust, written, root.access_count, relevance(root, now), -root.created_at, -root.alias


def _links_of(links: list[Link], ids: set[str]) -> Mapping[str, list[Link]]:
    by_end: dict[str, list[Link]] = {id: [] for id in ids}
    for link in links:
        for end in (link.source, link.target):
            if end in by_end:
                by_end[end].append(link)
    return by_end


def _step(
    view: View,
    survivor: Memory,
    victim: Memory,
    links: Mapping[str, list[Link]],
    count: str = "roots_merged",
) -> Step:
    """What repeats the survivor gives way to it; what says more becomes a branch below it."""
    told = f"“{label_of(victim.title, victim.content)}” joins “{label_of(survivor.title, survivor.content)}”"
    counted = {count: 1}
    if not (_repeats(victim, survivor) or _same_topic(victim, survivor)):
        below = view.link(survivor.id, victim.id, "hierarchical")
        return Step(told=told, counted=counted, linked=(below,))
    taken = {_place(link) for link in links[survivor.id]}
    moved = [
        (link, new)
        for link in links[victim.id]
        if link.kind != "supersedes" and link.other(victim.id) != survivor.id
        if link.kind != "hierarchical" or link.source == victim.id
        if _place(new := _moved(view, link, victim.id, survivor.id)) not in taken
    ]
    return Step(
        told=told,
        counted=counted,
        changed=(view.superseded(victim, survivor.id),),
        ended=view.ended(link for link, _ in moved if link.kind == "hierarchical"),
        linked=(
            view.link(survivor.id, victim.id, "supersedes", why="the same in other words"),
            *(new for _, new in moved),
        ),
    )


def _repeats(victim: Memory, survivor: Memory) -> bool:
    """Whether the victim says nothing more: no other number, no name, no "not", and hardly a word."""
    ours, theirs = (f"{root.title} {root.content}" for root in (victim, survivor))
    told = set(words(ours)) - STOP_WORDS
    more = told - set(words(theirs))
    return (
        len(more) <= min(OTHER_WORDS, (1 - REPEATED) * len(told))
        and names_in(ours) <= names_in(theirs)
        and not told_apart(ours, theirs)
    )


def _is_topic(memory: Memory) -> bool:
    """Whether it is the root of a digest, whose text is an overview of the memories below it."""
    return memory.source_type == DISTILLED and bool(memory.title) and OVERVIEW_OF in memory.metadata


def _same_topic(one: Memory, other: Memory) -> bool:
    return _is_topic(one) and _is_topic(other) and folded(one.title) == folded(other.title)


def _place(link: Link) -> tuple[str, str, str, str]:
    return link.source, link.target, link.kind, link.type


def _moved(view: View, link: Link, old: str, new: str) -> Link:
    """As old and as strong as it was: to be moved is not to be used."""
    source, target = (new if end == old else end for end in (link.source, link.target))
    return replace(link, id=new_id(view.now), alias=0, source=source, target=target)
