"""Trees: which roots are new to a phase, and the helpers that several phases share."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from lore.engine.consolidate.plan import View
from lore.model import DERIVED, DISTILLED, Filter, Memory
from lore.ranking.cluster import close_pairs
from lore.store.records import PhaseMark
from lore.store.values import ids_of

FRAGMENT = "fragment"
REFLECTION = "reflection"
RECONCILED = "reconciled"
"""The key in the metadata of a memory that a language model compared with the others when it was made."""
USER = "user"
"""The phases note their last runs under names with this beginning."""
BATCH = 500


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """The ids of two memories, and their likeness."""

    one: str
    other: str
    likeness: float


def new_since(name: str, view: View, *, inclusive: bool = False, **settings: object) -> float:
    """The time from which on a change is new to this phase; 0.0 if it never ran with these settings.

    inclusive: also changes of its own last run, or of a later phase of that run that may not have finished.

    The mark from the beginning of this run counts: another run may have set a later one since, without
    having seen the changes of this one. A time in the future comes from a wrong clock.
    """
    mark = view.marks.get(name)
    if mark is None or mark.settings != _settings_text(view, settings) or mark.done_at > view.now:
        return 0.0
    return mark.done_at if inclusive else math.nextafter(mark.done_at, math.inf)


def run_mark(name: str, view: View, **settings: object) -> PhaseMark:
    """The mark of a phase that has run: later changes are new to it."""
    return PhaseMark(phase=name, done_at=view.now, settings=_settings_text(view, settings))


def _settings_text(view: View, settings: Mapping[str, object]) -> str:
    """Without its embedder a phase has compared nothing, so everything is new once there is one."""
    model = "nothing" if view.embeddings.trouble else view.embeddings.model
    return " ".join([model, *(f"{name}={value}" for name, value in sorted(settings.items()))])


def own_fragments(view: View, **more: Any) -> Filter:
    """The fragments of this namespace; consolidation changes no other namespace."""
    return Filter(kinds=frozenset({FRAGMENT}), namespaces=frozenset({view.namespace}), **more)


def changed_roots(view: View, after: float) -> set[str]:
    """Roots of trees in which a memory was added, changed, or forgotten."""
    if not after:
        return {trace.id for trace in view.reader.traces(own_fragments(view, roots=True))}
    changed = own_fragments(view, updated_after=after, superseded=True, forgotten=True)
    return roots_above(view, ids_of(view.reader.traces(changed)))


def roots_above(view: View, ids: Iterable[str]) -> set[str]:
    """The roots of the namespace above these memories; the successor of a root that was superseded."""
    tops = {path[0] if path else id for id, path in view.reader.ancestors(ids).items()}
    for batch in batches(sorted(tops)):
        tops |= {root.superseded_by for root in view.reader.get(batch).values() if root.superseded_by}
    return set(ids_of(view.reader.traces(own_fragments(view, roots=True, ids=tuple(tops)))))


def from_users(view: View, memories: Iterable[Memory]) -> frozenset[str]:
    """The ids of the distilled memories that come from a turn of a user."""
    distilled = [memory.id for memory in memories if memory.source_type == DISTILLED]
    links = [link for link in view.reader.links(distilled, kinds=("relation",)) if link.type == DERIVED]
    turns = view.reader.get({link.target for link in links})
    users = {id for id, turn in turns.items() if turn.type == USER}
    return frozenset(link.source for link in links if link.target in users)


def similar_pairs(view: View, ids: Sequence[str], least: float, changed: set[str]) -> list[SimilarPair]:
    """Pairs above a likeness, the most alike first; at least one memory of each pair has changed."""
    vectors = view.reader.vectors(view.embeddings.model, ids) if changed else {}
    if len(vectors) < 2:
        return []
    ids = list(vectors)
    matrix = np.stack([vectors.pop(id) for id in ids])
    new = np.fromiter((id in changed for id in ids), dtype=bool, count=len(ids))
    pairs = close_pairs(matrix, view.embeddings.cosine_at(least), new)
    return [SimilarPair(ids[i], ids[j], view.embeddings.likeness(cosine)) for i, j, cosine in pairs]


def batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """Parts of at most BATCH ids, so that each query to the store stays small."""
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]


def fingerprint(texts: Iterable[str]) -> str:
    """A short hash; equal for equal texts in the same order."""
    return blake2b("\n".join(texts).encode(errors="replace"), digest_size=8).hexdigest()


def children_fingerprint(children: Iterable[Memory]) -> str:
    """Changes when a child is added, removed or rewritten; tells whether an overview is out of date."""
    return fingerprint(sorted(f"{child.id} {child.content}" for child in children))
