"""Phase reflect: a language model may see in a cluster of trees what no single tree says."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from lore.engine.consolidate.model_questions import find_insight
from lore.engine.consolidate.plan import Plan, Step, View
from lore.engine.consolidate.trees import FRAGMENT, REFLECTION, batches, fingerprint, own_fragments
from lore.llm.base import LanguageModel, NoAnswer
from lore.model import DERIVED, DISTILLED, Memory, Tie, new_id
from lore.store.records import PhaseMark

NAME = "reflect"
LEAST_NEIGHBOURS = 3
"""The centre of a cluster is linked with at least this many other roots."""
CLUSTER_ROOTS = 6
IMPORTANCE = 0.9
CENTRE_WEIGHT, NEIGHBOUR_WEIGHT = 1.0, 0.8


def reflect(view: View) -> Iterator[Plan]:
    """Ask about every new cluster. Without a language model there is no insight: words that trees have in
    common are none."""
    if view.model is None:
        return
    mark = next(iter(view.reader.records(PhaseMark, phase=NAME)), PhaseMark(phase=NAME))
    earlier = frozenset(mark.seen)
    clusters: list[str] = []
    steps: list[Step] = []
    failure: NoAnswer | None = None
    for cluster in _clusters(view):
        key = fingerprint(sorted(f"{root.id} {root.title} {root.content}" for root in cluster))
        try:
            step = None if key in earlier else _step(view, view.model, cluster)
        except NoAnswer as error:
            failure = error
            break
        clusters.append(key)
        if step is not None:
            steps.append(step)
    answered = tuple(sorted(earlier.union(clusters) if failure else clusters))
    if answered != mark.seen or steps or failure:
        after = replace(mark, seen=answered)
        yield Plan(steps=tuple(steps), expected=(mark,), records=(after,), error=failure)


def _clusters(view: View) -> Iterator[list[Memory]]:
    """A root and its neighbours in the same project, largest cluster first; each root is in one cluster."""
    neighbours = _neighbours(view)
    roots: dict[str, Memory] = {}
    for batch in batches(list(neighbours)):
        roots |= view.reader.get(batch)
    taken: set[str] = set()
    for id in sorted(roots, key=lambda one: (-len(neighbours[one]), one)):
        around = [
            roots[other]
            for other in neighbours[id]
            if other not in taken and other in roots and roots[id].project == roots[other].project
        ]
        if id not in taken and len(around) >= LEAST_NEIGHBOURS:
            cluster = [roots[id], *around[: CLUSTER_ROOTS - 1]]
            taken |= {root.id for root in cluster}
            yield cluster


def _neighbours(view: View) -> Mapping[str, list[str]]:
    """Root -> the other roots that it is linked with, strongest link first.

    Roots that an insight was derived from are left out.
    """
    ids = [
        trace.id for trace in view.reader.traces(own_fragments(view, roots=True)) if trace.type != REFLECTION
    ]
    roots = set(ids)
    weights: dict[str, dict[str, float]] = {}
    used: set[str] = set()
    for batch in batches(ids):
        for link in view.reader.links(batch, kinds=("associative", "relation")):
            if link.type == DERIVED:
                used |= {link.target} & roots
            elif {link.source, link.target} <= roots:
                for one, other in ((link.source, link.target), (link.target, link.source)):
                    of_one = weights.setdefault(one, {})
                    of_one[other] = max(of_one.get(other, 0.0), link.weight)
    return {
        id: sorted(others.keys() - used, key=lambda other: (-others[other], other))
        for id, others in weights.items()
        if id not in used
    }


def _step(view: View, model: LanguageModel, cluster: Sequence[Memory]) -> Step | None:
    text, sources = find_insight(model, cluster)
    if not text:
        return None
    memory = Memory(
        id=new_id(view.now),
        namespace=view.namespace,
        kind=FRAGMENT,
        type=REFLECTION,
        content=text,
        importance=IMPORTANCE,
        source_type=DISTILLED,
        project=cluster[0].project,
        trust=min(root.trust for root in sources),
        metadata={"type": REFLECTION},
        created_at=view.now,
        updated_at=view.now,
    )
    tie = Tie(source=memory.id, target="", kind="relation", type=DERIVED, reason=DERIVED)
    links = [
        view.link(replace(tie, target=root.id, weight=NEIGHBOUR_WEIGHT if number else CENTRE_WEIGHT))
        for number, root in enumerate(sources)
    ]
    counts = {"reflections_generated": 1}
    return Step(description=text, counts=counts, new_memories=(memory,), new_links=tuple(links))
