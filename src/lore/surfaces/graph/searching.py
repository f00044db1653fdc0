"""The tools that find entities: by text, by name, by meaning, or all of them."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from lore.engine import Lore
from lore.engine.entity_view import GENERIC_KIND, SIMILAR, EntityView
from lore.engine.graph_search import EntityHit
from lore.engine.nodes import Nodes
from lore.engine.search_reflections import ReflectionHit
from lore.model import Link, Memory
from lore.surfaces.answers import FETCH_FACTOR, Cut, cost, fit
from lore.surfaces.base import Reply
from lore.surfaces.graph.dialect import (
    GRAPH,
    Relation,
    check_count,
    check_query,
    entity_of,
    model_wanted,
    stamp,
)
from lore.surfaces.graph.showing import (
    MOST_OBSERVATIONS,
    WHOLE,
    Newer,
    entity_shown,
    fit_entities,
    fit_relations,
    graph_answer,
    marks,
    newer_than,
    noted,
)

ADVICE = "ask for fewer, or more precisely"
OF_THE_GRAPH = "search_nodes and search_semantic find them, open_nodes shows one whole"
MOST_RELATIONS = 20
"""Relations of each of several opened entities, if there is no room for all."""
NOTHING = "Nothing relevant is known about this."


class GraphAnswer(TypedDict):
    entities: list[dict[str, Any]]
    relations: list[Relation]
    omitted: int
    notes: NotRequired[list[str]]


class Observation(TypedDict):
    id: int
    content: str
    similarity_flag: int
    kind: str
    supersedes: int | None
    superseded_at: str | None


class NodeRelation(TypedDict):
    id: int
    relation_type: str
    target_name: str
    direction: str
    context: str | None
    active: bool
    ended_at: str | None


class NodeReflection(TypedDict):
    id: int
    author: str
    content: str
    mood: str | None
    created_at: str


class Node(TypedDict):
    id: int
    name: str
    entityType: str
    status: str
    observations: list[str | Observation]
    relations: NotRequired[list[NodeRelation]]
    reflections: NotRequired[list[NodeReflection]]
    outdated: NotRequired[list[dict[str, Any]]]


class OpenAnswer(TypedDict):
    entities: list[Node]
    relations: list[Relation]
    notes: NotRequired[list[str]]


class Scoring(TypedDict):
    importance: float
    temporal_factor: float
    cooc_boost: float


class Result(TypedDict):
    id: int
    name: str
    entityType: str
    status: str
    observations: list[str]
    limbic_score: float
    scoring: Scoring
    routing_strategy: str
    distance: NotRequired[float]
    rrf_score: NotRequired[float]
    observations_omitted: NotRequired[int]
    outdated: NotRequired[list[dict[str, Any]]]


class SemanticAnswer(TypedDict):
    results: list[Result]
    notes: NotRequired[list[str]]


@GRAPH.tool(title="Search by text", answer=GraphAnswer, read_only=True)
def search_nodes(lore: Lore, query: Annotated[str, Field(description="At most 500 characters.")]) -> Reply:
    """Find entities whose name, type or observations contain the text, whatever the case."""
    check_query(query)
    nodes = lore.graph.containing(query) if query.strip() else Nodes(views=(), bonds=())
    newer, budget = newer_than(nodes.views, lore), lore.tuning.answer_tokens
    relations, left = fit_relations(nodes.bonds, budget)
    fitted = fit(
        nodes.views,
        lambda view, cut: entity_shown(view, newer, query, cut),
        query=query,
        budget_tokens=left,
        rest=WHOLE,
    )
    return Reply({**graph_answer(fitted, relations, budget, ADVICE), "omitted": nodes.omitted})


@GRAPH.tool(title="Open entities", answer=OpenAnswer)
def open_nodes(
    lore: Lore,
    names: Annotated[list[str], Field(description="At most 50.")],
    kinds: Annotated[list[str] | None, Field(description="Only observations of these kinds.")] = None,
    include_superseded: Annotated[bool, Field(description="Also outdated observations.")] = False,
    detailed: Annotated[bool, Field(description="With ids, ended relations and reflections.")] = False,
) -> Reply:
    """Read entities by exact name, with their observations; unknown names are left out. One alone comes
    whole. Counts as use."""
    check_count("names", names)
    nodes = lore.graph.opened(names, replaced=True)
    shown = [_chosen(view, kinds, include_superseded, lore) for view in nodes.views]
    newer = newer_than(shown, lore)
    items = _detailed(shown, lore) if detailed else [_node(view) for view in shown]
    marked = [{**item, **marks(p.statements, newer)} for item, p in zip(items, shown, strict=True)]
    budget = FETCH_FACTOR * lore.tuning.answer_tokens if len(marked) > 1 else 0
    if budget and cost(marked) > budget:
        marked = [_trimmed(node) for node in marked]
    relations, left = fit_relations(nodes.bonds, budget)
    fitted = fit(marked, _shortened, query="", budget_tokens=left, rest="open it alone for all")
    return Reply(graph_answer(fitted, relations, budget, "open fewer at a time"))


@GRAPH.tool(title="Read the whole graph", answer=GraphAnswer, read_only=True)
def read_graph(lore: Lore) -> Reply:
    """Read all entities and relations, and the newest memories of other tools, as far as they fit. Large:
    prefer a search."""
    nodes, budget = lore.graph.everything(), FETCH_FACTOR * lore.tuning.answer_tokens
    relations, left = fit_relations(nodes.bonds, budget)
    fitted = fit_entities(nodes.views, newer_than(nodes.views, lore), left)
    return Reply({**graph_answer(fitted, relations, budget, OF_THE_GRAPH), "omitted": nodes.omitted})


@GRAPH.tool(title="Search by meaning", answer=SemanticAnswer)
def search_semantic(
    lore: Lore,
    query: Annotated[str, Field(description="A question or key words.")],
    limit: Annotated[int, Field(description="1 to 50.")] = 10,
) -> Reply:
    """Find entities by meaning and words, ranked by likeness, use, age and company. Counts as use."""
    check_query(query, limit)
    with model_wanted():
        found = lore.graph.search(query, limit)
    newer = newer_than([hit.view for hit in found], lore)
    fitted = fit(
        found,
        lambda hit, cut: _result(hit, newer, query, cut),
        query=query,
        budget_tokens=lore.tuning.answer_tokens if limit > 1 else 0,
        rest=WHOLE,
    )
    notes = fitted.notes(ADVICE) if found else [NOTHING]
    return Reply(noted({"results": fitted.entries}, notes))


def _result(hit: EntityHit, newer: Newer, query: str, cut: Cut) -> dict[str, Any]:
    """distance: unless only words found it. rrf_score: unless only meaning was searched."""
    scoring, distance, fused = hit.scoring, hit.distance, hit.fused
    result = entity_shown(hit.view, newer, query, cut) | {
        "limbic_score": round(hit.score, 4),
        "scoring": Scoring(
            importance=round(scoring.importance, 4),
            temporal_factor=round(scoring.temporal, 4),
            cooc_boost=round(scoring.company, 4),
        ),
        "routing_strategy": hit.strategy,
    }
    if distance is not None:
        result["distance"] = round(distance, 4)
    if fused is not None:
        result["rrf_score"] = round(fused, 6)
    return result


def _chosen(view: EntityView, kinds: list[str] | None, superseded: bool, lore: Lore) -> EntityView:
    """The entity with the observations that were asked for."""
    past = lore.graph.past_of(view.entity) if superseded else list(view.observations)
    wanted = tuple(memory for memory in past if kinds is None or memory.type in kinds)
    return EntityView(entity=view.entity, name=view.name, observations=wanted)


def _node(view: EntityView) -> Node:
    entity = entity_of(view)
    return Node(
        id=entity["id"],
        name=entity["name"],
        entityType=entity["entityType"],
        status=entity["status"],
        observations=list(entity["observations"]),
    )


def _trimmed(node: dict[str, Any]) -> dict[str, Any]:
    """The newest observations and the first relations of a node, and how many more there are."""
    texts, relations = node["observations"], node.get("relations", [])
    omitted = {
        "observations_omitted": len(texts) - MOST_OBSERVATIONS,
        "relations_omitted": len(relations) - MOST_RELATIONS,
    }
    return {
        **node,
        "observations": texts[-MOST_OBSERVATIONS:],
        **({"relations": relations[:MOST_RELATIONS]} if relations else {}),
        **{name: count for name, count in omitted.items() if count > 0},
    }


def _shortened(node: dict[str, Any], cut: Cut) -> dict[str, Any]:
    """A node whose texts are cut; ids and all else stay."""
    texts = [
        cut(item) if isinstance(item, str) else {**item, "content": cut(item["content"])}
        for item in node["observations"]
    ]
    thoughts = [{**item, "content": cut(item["content"])} for item in node.get("reflections", ())]
    return node | {"observations": texts} | ({"reflections": thoughts} if thoughts else {})


def _detailed(views: list[EntityView], lore: Lore) -> list[Node]:
    thoughts = lore.graph.reflections_about([view.entity for view in views])
    items = []
    for view in views:
        links = lore.graph.relations_of(view.entity)
        names = lore.graph.names_of([link.other(view.entity.id) for link in links])
        replaced = {m.superseded_by: m.alias for m in lore.graph.past_of(view.entity) if m.superseded_by}
        item = _node(view)
        item["observations"] = [_observation(m, replaced.get(m.id)) for m in view.statements]
        item["relations"] = [
            _relation(link, view.entity, names) for link in links if link.other(view.entity.id) in names
        ]
        item["reflections"] = [_reflection(thought) for thought in thoughts[view.entity.alias]]
        items.append(item)
    return items


def _observation(memory: Memory, supersedes: int | None) -> Observation:
    return Observation(
        id=memory.alias,
        content=memory.content,
        similarity_flag=int(SIMILAR in memory.flags),
        kind=memory.type or GENERIC_KIND,
        supersedes=supersedes,
        superseded_at=None if memory.superseded_at is None else stamp(memory.superseded_at),
    )


def _relation(link: Link, entity: Memory, names: dict[str, str]) -> NodeRelation:
    return NodeRelation(
        id=link.alias,
        relation_type=link.type,
        target_name=names[link.other(entity.id)],
        direction="from" if link.source == entity.id else "to",
        context=link.reason or None,
        active=link.active,
        ended_at=None if link.ended_at is None else stamp(link.ended_at),
    )


def _reflection(thought: ReflectionHit) -> NodeReflection:
    return NodeReflection(
        id=thought.memory.alias,
        author=thought.author,
        content=thought.memory.content,
        mood=thought.mood,
        created_at=stamp(thought.memory.created_at),
    )
