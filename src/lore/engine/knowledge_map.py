"""knowledge_map: the most important memories and the links between them → groups of linked ones."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from lore.engine.browse import check_limit
from lore.engine.context import Context
from lore.inspection import KnowledgeMap, MapCluster, MapLink, MapNode
from lore.model import VERBATIM, Filter, Memory
from lore.ranking.cluster import linked_groups
from lore.ranking.decay import relevance
from lore.store.values import Page
from lore.text import label_of

MOST_NODES = 20_000
SMALLEST_CLUSTER = 3
"""Nodes with fewer links among them are shown with their project."""
LEAST_WEIGHT = 0.05
"""Of a link, so that none counts as missing."""
NO_PROJECT = "no project"


def knowledge_map(limit: int, where: Filter, context: Context) -> KnowledgeMap:
    """The memories that pass, most important first, with all active links between them.

    Conversations are left out unless the filter names their kinds. Clusters are groups with many links among
    them; what belongs to none is grouped by project.
    """
    check_limit(limit, MOST_NODES)
    if not where.kinds:
        where = replace(where, other_kinds=where.other_kinds | VERBATIM)
    page = context.reader.select(where, Page(limit=limit, order="importance", total=True))
    places = {memory.id: place for place, memory in enumerate(page)}
    found = context.reader.links(between=places) if len(places) > 1 else []
    links = [
        MapLink(
            source=places[link.source],
            target=places[link.target],
            kind=link.kind,
            type=link.type,
            weight=link.weight,
        )
        for link in found
        if link.source in places and link.target in places
    ]
    groups = _groups(page, links)
    labels = [label_of(memory.title, memory.content) for memory in page]
    clusters = _clusters(groups, links, labels, page)
    ids = {group: cluster.id for group, cluster in clusters.items()}
    nodes = tuple(
        MapNode(
            id=memory.id,
            label=label,
            kind=memory.kind,
            type=memory.type,
            project=memory.project,
            relevance=relevance(memory, context.now),
            depth=memory.depth,
            cluster=ids[group],
        )
        for memory, label, group in zip(page, labels, groups, strict=True)
    )
    return KnowledgeMap(nodes=nodes, links=tuple(links), clusters=tuple(clusters.values()), total=page.total)


def _groups(memories: Sequence[Memory], links: Sequence[MapLink]) -> list[int | str]:
    """The group of each memory: a number for linked ones, the project for all others."""
    edges = [(link.source, link.target, max(LEAST_WEIGHT, link.weight)) for link in links]
    linked = linked_groups(len(memories), edges)
    sizes = Counter(linked)
    return [
        group if sizes[group] >= SMALLEST_CLUSTER else memory.project
        for memory, group in zip(memories, linked, strict=True)
    ]


def _clusters(
    groups: Sequence[int | str],
    links: Sequence[MapLink],
    labels: Sequence[str],
    memories: Sequence[Memory],
) -> Mapping[int | str, MapCluster]:
    """group -> cluster, the largest first. One of linked memories is called like the best linked of them."""
    members: dict[int | str, list[int]] = defaultdict(list)
    for place, group in enumerate(groups):
        members[group].append(place)
    degrees = Counter(
        end
        for link in links
        if groups[link.source] == groups[link.target]
        for end in (link.source, link.target)
    )
    clusters: dict[int | str, MapCluster] = {}
    for group, places in sorted(members.items(), key=lambda one: (-len(one[1]), one[1][0])):
        best = max(places, key=lambda place: (degrees[place], memories[place].importance, -place))
        label = labels[best] if isinstance(group, int) else group or NO_PROJECT
        clusters[group] = MapCluster(id=len(clusters), label=label, size=len(places))
    return clusters
