"""link: what lies in different trees and belongs together is linked, once."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from lore.engine.consolidate.plan import Plan, Step, View
from lore.engine.consolidate.trees import Alike, alike, done, fresh_roots, in_parts, since
from lore.model import Link, Memory
from lore.text import label_of

NAME = "link"
CHILDREN_ALIKE = 0.7
"""From which likeness on two children of similar roots are linked."""
BRANCHES = 200
"""How many children of a root take part, at most."""
ROOTS_EACH = 8
"""With how many others a root is linked for being alike, at most."""
LINKS_EACH = 3
"""How many of the best links one child gets from a pair of trees."""


def link(view: View) -> Iterator[Plan]:
    """Similar roots, and the children of similar roots that are alike themselves."""
    least = view.settings.similarity_threshold
    pairs = alike(view, least, fresh_roots(view, since(NAME, view, least=least)))
    close = _closest(pairs, _links_ever(view, {id for pair in pairs for id in (pair.one, pair.other)}))
    wanted = [*((pair.one, pair.other, pair.likeness) for pair in close), *_between_children(view, close)]
    known = _ends(_links_ever(view, {source for source, _, _ in wanted}))
    new = {frozenset(tie[:2]): tie for tie in wanted if frozenset(tie[:2]) not in known}
    memories = view.reader.get({id for source, target, _ in new.values() for id in (source, target)})
    steps = [
        Step(
            told=f"“{_label(memories[source])}” – “{_label(memories[target])}” ({likeness:.2f})",
            counted={"links_created": 1},
            linked=(view.link(source, target, "associative", weight=min(1.0, likeness), why="alike"),),
        )
        for source, target, likeness in new.values()
        if source in memories and target in memories
    ]
    yield Plan(phase=NAME, steps=tuple(steps), noted=done(NAME, view, least=least))


def _closest(pairs: Sequence[Alike], links: Sequence[Link]) -> list[Alike]:
    """Those that are linked already, and the best of the others: no root is linked with all the world."""
    known = _ends(links)
    lateral = _ends(link for link in links if link.kind == "associative")
    counts = Counter(id for pair in lateral for id in pair)
    close = []
    for pair in pairs:
        ends = (pair.one, pair.other)
        if frozenset(ends) not in known:
            if max(counts[end] for end in ends) >= ROOTS_EACH:
                continue
            counts.update(ends)
        close.append(pair)
    return close


def _label(memory: Memory) -> str:
    return label_of(memory.title, memory.content)


def _between_children(view: View, pairs: Sequence[Alike]) -> Iterator[tuple[str, str, float]]:
    roots = list({id for pair in pairs for id in (pair.one, pair.other)})
    children: dict[str, list[str]] = {}
    for part in in_parts(roots):
        children |= view.reader.children(part)
    for pair in pairs:
        ours = view.reader.vectors(view.sense.model, children[pair.one][:BRANCHES])
        theirs = view.reader.vectors(view.sense.model, children[pair.other][:BRANCHES])
        if not ours or not theirs:
            continue
        cosines = np.stack(list(ours.values())) @ np.stack(list(theirs.values())).T
        targets = list(theirs)
        for source, row in zip(ours, cosines, strict=True):
            for best in np.argsort(-row, kind="stable")[:LINKS_EACH]:
                if (likeness := view.sense.likeness(float(row[best]))) > CHILDREN_ALIKE:
                    yield source, targets[best], likeness


def _links_ever(view: View, ids: Iterable[str]) -> list[Link]:
    """All that are, or were: a link that has faded is not made again without a new reason."""
    return [link for id in sorted(ids) for link in view.reader.all_links(id)]


def _ends(links: Iterable[Link]) -> set[frozenset[str]]:
    return {frozenset((link.source, link.target)) for link in links}
