"""Phases relevance, decay and prune: memories are counted, unused associations end, faded memories go."""

from collections.abc import Iterator, Mapping

from lore.engine.consolidate.plan import Plan, Step, View
from lore.engine.consolidate.resummarize import refresh_overviews
from lore.engine.consolidate.trees import batches, own_fragments
from lore.model import OF_CONVERSATIONS, UPDATES, Filter, Link, Memory
from lore.ranking.decay import DAY_SECONDS, LASTING, days_since, fading_since, link_weight, retained
from lore.store.values import COUNT, EVERY, ids_of
from lore.text import label_of

LEAST_WEIGHT = 0.15
"""An association below this weight ends; it can be restored."""
UNUSED_PERIODS, USED_PERIODS = 2, 3
"""A memory may go after this multiple of `prune_age_days`: if it was never used; if it was."""
KEPT_IMPORTANCE = 0.5
"""A memory that is at least this important never goes."""
ALL = 1_000_000


def count_memories(view: View) -> Iterator[Plan]:
    """Phase relevance: count the memories. Relevance is computed on every read, so nothing is stored."""
    where = Filter(namespaces=frozenset({view.namespace}), other_kinds=OF_CONVERSATIONS)
    yield Plan(more_counts={"relevance_updated": view.reader.traces(where, COUNT).total})


def decay(view: View) -> Iterator[Plan]:
    """End associations that have faded. Elapsed time counts, not the number of runs.

    A link from a correction to the corrected memory never ends: it is knowledge, however rarely it is used.
    """
    ids = ids_of(view.reader.traces(Filter(namespaces=frozenset({view.namespace}))))
    faded: dict[str, Link] = {}
    for number, batch in enumerate(batches(ids)):
        view.progress("decay", number * len(batch), len(ids))
        links = [link for link in view.reader.links(batch, kinds=("associative",)) if link.type != UPDATES]
        ends = view.reader.get({end for link in links for end in (link.source, link.target)})
        faded |= {link.id: link for link in links if _current_weight(link, ends, view) < LEAST_WEIGHT}
    steps = [
        Step(
            description=f"a link of weight {link.weight:.2f} has faded",
            counts={"edges_pruned": 1},
            ended_links=view.end([link]),
        )
        for link in faded.values()
    ]
    yield Plan(steps=tuple(steps))


def _current_weight(link: Link, ends: Mapping[str, Memory], view: View) -> float:
    """The weight after the time without use; a link is used when both of its ends are."""
    uses = [ends[end].last_accessed_at or 0.0 for end in (link.source, link.target) if end in ends]
    used_at = max(link.updated_at, min(uses, default=0.0))
    return link_weight(link.weight, used_at, view.now, view.settings.edge_decay_days)


def prune(view: View) -> Iterator[Plan]:
    """Forget faded memories if the user has allowed it; never roots and never lasting types.

    Children move to the grandparent, and `lore restore` brings everything back.
    """
    settings = view.settings
    created_before = view.now - UNUSED_PERIODS * settings.prune_age_days * DAY_SECONDS
    old = view.reader.select(own_fragments(view, created_before=created_before), EVERY)
    faded = [
        memory
        for memory in old
        if memory.depth > 0 and memory.type not in LASTING and _has_faded(memory, view)
    ]
    if not settings.prune:
        remarks = (f"{len(faded):,} faded memories could go; `prune = true` lets them",) if faded else ()
        yield Plan(remarks=remarks)
        return
    steps = [
        Step(
            description=f"“{label_of(memory.title, memory.content)}” has faded",
            counts={"fragments_pruned": 1},
            forgotten=(memory,),
        )
        for memory in faded
    ]
    yield Plan(steps=tuple(steps))
    left = view.reader.get([memory.id for memory in faded])
    yield refresh_overviews(view, [memory.id for memory in faded if memory.id not in left])


def _has_faded(memory: Memory, view: View) -> bool:
    """Whether the memory is unimportant and hardly anything is retained of it.

    Retention is measured without the floor that importance gives to relevance: with the floor, hardly any
    memory would ever go.
    """
    if memory.importance >= KEPT_IMPORTANCE:
        return False
    least, period = view.settings.min_relevance_prune, view.settings.prune_age_days
    left, age = retained(memory, view.now), days_since(fading_since(memory), view.now)
    unused = memory.access_count == 0 and left < least and age > UNUSED_PERIODS * period
    return unused or (left < least / 2 and age > USED_PERIODS * period)
