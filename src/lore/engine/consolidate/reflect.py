"""reflect: where several trees meet, a language model may see what none of them says alone."""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b

from lore.engine.consolidate.asking import insight
from lore.engine.consolidate.plan import Plan, Step, View
from lore.engine.consolidate.trees import FRAGMENT, PHASE, REFLECTION, in_parts, own, same_place
from lore.llm.base import LanguageModel, NoAnswer
from lore.model import DERIVED, DISTILLED, Memory, new_id

NAME = "reflect"
DENSE = 3
"""With how many other roots one must be linked to be the middle of something."""
SOURCES = 6
IMPORTANCE = 0.9
CENTRE, AROUND = 1.0, 0.8


def reflect(view: View) -> Iterator[Plan]:
    """Every dense cluster that has not been reflected on yet. Without a language model, none: words that
    trees have in common are no insight."""
    if view.model is None:
        return
    noted = view.reader.noted(PHASE + NAME).get(PHASE + NAME, {})
    before = frozenset(noted.get("asked", ()))
    asked: list[str] = []
    steps: list[Step] = []
    remarks: tuple[str, ...] = ()
    for cluster in _clusters(view):
        mark = _mark(cluster)
        try:
            step = None if mark in before else _step(view, view.model, cluster)
        except NoAnswer as trouble:
            remarks = (str(trouble),)
            break
        asked.append(mark)
        if step is not None:
            steps.append(step)
    told = {"asked": sorted(before.union(asked) if remarks else asked)}
    if told != {"asked": sorted(before)} or steps or remarks:
        expected, now = {PHASE + NAME: noted}, {PHASE + NAME: told}
        yield Plan(phase=NAME, steps=tuple(steps), expected=expected, noted=now, remarks=remarks)


def _clusters(view: View) -> Iterator[list[Memory]]:
    """A root and those around it, the densest first; a root takes part in one of them."""
    neighbours = _neighbours(view)
    roots: dict[str, Memory] = {}
    for part in in_parts(list(neighbours)):
        roots |= view.reader.get(part)
    taken: set[str] = set()
    for id in sorted(roots, key=lambda one: (-len(neighbours[one]), one)):
        around = [
            roots[other]
            for other in neighbours[id]
            if other not in taken and other in roots and same_place(roots[id], roots[other])
        ]
        if id not in taken and len(around) >= DENSE:
            cluster = [roots[id], *around[: SOURCES - 1]]
            taken |= {root.id for root in cluster}
            yield cluster


def _neighbours(view: View) -> Mapping[str, list[str]]:
    """Root -> the other roots it is associated with or related to, strongest first.

    Those reflected on already are left out.
    """
    ids = [trace.id for trace in view.reader.roots(own(view)) if trace.type != REFLECTION]
    among = set(ids)
    strengths: dict[str, dict[str, float]] = {}
    done: set[str] = set()
    for part in in_parts(ids):
        for link in view.reader.links(part, kinds=("associative", "relation")):
            if link.type == DERIVED:
                done |= {link.target} & among
            elif {link.source, link.target} <= among:
                for one, other in ((link.source, link.target), (link.target, link.source)):
                    known = strengths.setdefault(one, {})
                    known[other] = max(known.get(other, 0.0), link.weight)
    return {
        id: sorted(
            (other for other in others if other not in done), key=lambda other: (-others[other], other)
        )
        for id, others in strengths.items()
        if id not in done
    }


def _mark(cluster: Sequence[Memory]) -> str:
    """Trees are asked about once, and again when they say something else."""
    told = sorted(f"{root.id} {root.title} {root.content}" for root in cluster)
    return blake2b("\n".join(told).encode(), digest_size=8).hexdigest()


def _step(view: View, model: LanguageModel, cluster: Sequence[Memory]) -> Step | None:
    text, sources = insight(model, cluster)
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
    links = [
        view.link(
            memory.id, root.id, "relation", type=DERIVED, weight=AROUND if number else CENTRE, why=DERIVED
        )
        for number, root in enumerate(sources)
    ]
    return Step(told=text, counted={"reflections_generated": 1}, new=(memory,), linked=tuple(links))
