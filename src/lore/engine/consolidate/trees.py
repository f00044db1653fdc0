"""Trees: the roots that a phase compares, with their vectors, and which of them are new to it."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from lore.engine.consolidate.plan import View
from lore.model import Filter, Memory
from lore.ranking.pairs import close_pairs
from lore.vectors import Vectors

FRAGMENT = "fragment"
REFLECTION = "reflection"
PHASE = "phase/"
"""Under which names the phases note when they were done."""
AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Alike:
    """Two roots that lie close together: their ids, and how alike they are."""

    one: str
    other: str
    likeness: float


def since(name: str, view: View, *, itself: bool = False, **settings: object) -> float:
    """From when on something is new to this phase; 0.0 if it never was done with these settings.

    itself: also what its last run has changed, or a phase behind it that may not have come to its end.

    What counts is what was noted when the run began: another run may have noted more since, without having
    seen what this one has made. A mark of the future was set by a clock that went wrong.
    """
    mark = view.marks.get(PHASE + name, {})
    if mark.get("with") != _made_with(view, settings) or mark["at"] > view.now:
        return 0.0
    return float(mark["at"]) if itself else math.nextafter(mark["at"], math.inf)


def done(name: str, view: View, **settings: object) -> Mapping[str, Mapping[str, Any]]:
    """What a phase notes when it is done: what comes later is new to it."""
    return {PHASE + name: {"at": view.now, "with": _made_with(view, settings)}}


def _made_with(view: View, settings: Mapping[str, object]) -> str:
    """Without its embedder a phase has compared nothing, so all is new to it once there is one."""
    model = "nothing" if view.sense.trouble else view.sense.model
    return " ".join([model, *(f"{name}={value}" for name, value in sorted(settings.items()))])


def own(view: View, **more: Any) -> Filter:
    """The fragments of this namespace; consolidation changes nobody else's."""
    return Filter(kinds=frozenset({FRAGMENT}), namespaces=frozenset({view.namespace}), **more)


def fresh_roots(view: View, after: float) -> set[str]:
    """Roots that are new or changed, or below which something is new, changed, or gone."""
    if not after:
        return {trace.id for trace in view.reader.roots(own(view))}
    changed = own(view, updated_after=after, superseded=True, forgotten=True)
    return tops_of(view, view.reader.ids(changed))


def tops_of(view: View, ids: Iterable[str]) -> set[str]:
    """The roots of the namespace above these; of one that has given way, the one that stands in its place."""
    tops = {way[0] if way else id for id, way in view.reader.ancestors(ids).items()}
    for part in in_parts(sorted(tops)):
        tops |= {root.superseded_by for root in view.reader.get(part).values() if root.superseded_by}
    return set(view.reader.ids(own(view, roots=True, ids=tuple(tops))))


def alike(view: View, least: float, fresh: set[str]) -> list[Alike]:
    """Pairs of roots that are more alike than `least`, the most alike first; one of each pair is fresh."""
    if not fresh:
        return []
    vectors = view.reader.vectors(view.sense.model, [trace.id for trace in view.reader.roots(own(view))])
    if len(vectors) < 2:
        return []
    ids = list(vectors)
    matrix: Vectors = np.stack([vectors.pop(id) for id in ids])
    new = np.fromiter((id in fresh for id in ids), dtype=bool, count=len(ids))
    pairs = close_pairs(matrix, view.sense.cosine_at(least), new)
    return [Alike(ids[i], ids[j], view.sense.likeness(cosine)) for i, j, cosine in pairs]


def in_parts(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Some at a time, so that a question to the store stays small."""
    for start in range(0, len(ids), AT_ONCE):
        yield ids[start : start + AT_ONCE]


def same_place(one: Memory, other: Memory) -> bool:
    """Whether what is known of one may be mixed with the other: they belong to the same project."""
    return one.project == other.project


def print_of(children: Iterable[Memory]) -> str:
    """Tells whether a tree has changed since its overview was made."""
    told = sorted(f"{child.id} {child.content}" for child in children)
    return blake2b("\n".join(told).encode(), digest_size=8).hexdigest()
