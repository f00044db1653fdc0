"""knowledge_map: the most important memories, the links between them, and groups that are linked."""

import pytest

from lore import Draft, Filter, Invalid, Lore, Tie
from lore.model import TURN
from lore.ranking.cluster import linked_groups


def test_nodes_links_and_clusters_fit_together(lore: Lore) -> None:
    hub = lore.remember(Draft(content="hub", importance=0.9)).id
    leaves = [lore.remember(Draft(content=f"leaf {n}", parent=hub)).id for n in range(3)]
    alone = lore.remember(Draft(content="alone", importance=0.1, project="ferry")).id
    lore.remember(Draft(content="said", kind=TURN))
    lore.link([Tie(source=leaves[0], target=leaves[1], weight=0.4)])
    drawn = lore.knowledge_map()
    assert [node.id for node in drawn.nodes] == [hub, *reversed(leaves), alone]
    assert drawn.total == 5
    by_id = {node.id: node for node in drawn.nodes}
    ends = {(drawn.nodes[link.source].id, drawn.nodes[link.target].id, link.kind) for link in drawn.links}
    assert ends == {*((hub, leaf, "hierarchical") for leaf in leaves), (leaves[0], leaves[1], "associative")}
    assert [(one.label, one.size) for one in drawn.clusters] == [("hub", 4), ("ferry", 1)]
    assert {by_id[id].cluster for id in (hub, *leaves)} == {0}
    assert (by_id[alone].cluster, by_id[leaves[0]].depth) == (1, 1)
    assert by_id[hub].relevance == lore.read(hub, use=False).relevance


def test_the_limit_keeps_the_most_important_and_only_links_between_them(lore: Lore) -> None:
    ids = [lore.remember(Draft(content=f"text {n}", importance=n / 10)).id for n in range(4)]
    lore.link([Tie(source=ids[3], target=ids[2]), Tie(source=ids[3], target=ids[0])])
    drawn = lore.knowledge_map(limit=2)
    assert ([node.id for node in drawn.nodes], drawn.total, len(drawn.links)) == ([ids[3], ids[2]], 4, 1)
    assert lore.knowledge_map(where=Filter(ids=(ids[0],))).nodes[0].id == ids[0]
    with pytest.raises(Invalid, match="limit"):
        lore.knowledge_map(limit=0)


def test_an_empty_store_has_an_empty_map(lore: Lore) -> None:
    drawn = lore.knowledge_map()
    assert (drawn.nodes, drawn.links, drawn.clusters, drawn.total) == ((), (), (), 0)


def test_nothing_of_another_namespace_is_drawn(lore: Lore) -> None:
    shared = lore.remember("shared").id
    theirs = lore.for_namespace("theirs")
    theirs.link([Tie(source=theirs.remember("secret").id, target=shared)])
    drawn = lore.for_namespace("mine").knowledge_map()
    assert ([node.id for node in drawn.nodes], drawn.links) == ([shared], ())


def test_two_dense_groups_with_a_weak_edge_between_them_stay_apart() -> None:
    square = [(a, b, 1.0) for a in range(4) for b in range(a)]
    other = [(a + 4, b + 4, weight) for a, b, weight in square]
    groups = linked_groups(9, [*square, *other, (0, 4, 0.5)])
    assert len(set(groups[:4])) == len(set(groups[4:8])) == 1
    assert len(set(groups)) == 3
