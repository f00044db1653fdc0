"""The tools that find entities: by text, by name, by meaning, or all of them."""

from typing import Annotated, Any

from pydantic import Field

from lore.engine import Lore
from lore.engine.entity_view import GENERIC_KIND, SIMILAR, EntityView
from lore.engine.graph_search import EntityHit
from lore.engine.nodes import Bond, Nodes
from lore.engine.reflections import ReflectionQuery
from lore.model import Memory
from lore.surfaces.answers import FETCH_FACTOR, Cut, Marks, cost, fit, with_notes
from lore.surfaces.graph import (
    GRAPH,
    SHOWN_OBSERVATIONS,
    VOCABULARY,
    WHOLE,
    check_count,
    check_query,
    entity_of,
    fit_entities,
    fit_relations,
    graph_answer,
    marks_of,
    model_errors,
    outdated_statements,
    reflection_of,
    shortened_entity,
    utc_time,
    without,
)
from lore.surfaces.surface import Reply

ADVICE = "ask for fewer, or more precisely"
GRAPH_ADVICE = "search_nodes and search_semantic find them, open_nodes shows one whole"
SHOWN_RELATIONS = 20
"""Relations of each of several opened entities, if there is no room for all."""
NOTHING = "Nothing relevant is known about this."
ENTITIES = "entities: array, relations: array, omitted: integer, notes?: array"


@GRAPH.tool("Search by text", ENTITIES, read_only=True)
def search_nodes(lore: Lore, query: Annotated[str, Field(description="At most 500 characters.")]) -> Reply:
    """Find entities whose name, type or observations contain the text, whatever the case."""
    check_query(query)
    nodes = lore.nodes(query) if query.strip() else Nodes(views=(), bonds=())
    marks, budget = marks_of(nodes.views, lore), lore.tuning.answer_tokens
    relations, left = fit_relations(nodes.bonds, budget)
    fitted = fit(
        nodes.views,
        lambda view, cut: shortened_entity(view, marks, query, cut),
        query=query,
        budget_tokens=left,
        rest=WHOLE,
    )
    return Reply({**graph_answer(fitted, relations, budget, ADVICE), "omitted": nodes.omitted})


@GRAPH.tool("Open entities", "entities: array, relations: array, notes?: array", uses=True)
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
    nodes = lore.open_nodes(names, replaced=True)
    views = [_with_observations(view, kinds, include_superseded, lore) for view in nodes.views]
    marks = marks_of(views, lore)
    entities = _detailed(views, lore) if detailed else [entity_of(view) for view in views]
    for entity, view in zip(entities, views, strict=True):
        entity |= outdated_statements(view.statements, marks)
    budget = FETCH_FACTOR * lore.tuning.answer_tokens if len(entities) > 1 else 0
    if budget and cost(entities) > budget:
        entities = [_trimmed(entity) for entity in entities]
    relations, left = fit_relations(nodes.bonds, budget)
    fitted = fit(entities, _shortened, budget_tokens=left, rest="open it alone for all")
    return Reply(graph_answer(fitted, relations, budget, "open fewer at a time"))


@GRAPH.tool("Read the whole graph", ENTITIES, read_only=True)
def read_graph(lore: Lore) -> Reply:
    """Read all entities and relations, and the newest memories of other tools, as far as they fit. Large:
    prefer a search."""
    nodes, budget = lore.nodes(), FETCH_FACTOR * lore.tuning.answer_tokens
    relations, left = fit_relations(nodes.bonds, budget)
    fitted = fit_entities(nodes.views, marks_of(nodes.views, lore), left)
    return Reply({**graph_answer(fitted, relations, budget, GRAPH_ADVICE), "omitted": nodes.omitted})


@GRAPH.tool("Search by meaning", "results: array, notes?: array", uses=True)
def search_semantic(
    lore: Lore,
    query: Annotated[str, Field(description="A question or key words.")],
    limit: Annotated[int, Field(description="1 to 50.")] = 10,
) -> Reply:
    """Find entities by meaning and words, ranked by likeness, use, age and company. Counts as use."""
    check_query(query, limit)
    with model_errors():
        hits = lore.search_entities(query, limit, VOCABULARY)
    marks = marks_of([hit.view for hit in hits], lore)
    fitted = fit(
        hits,
        lambda hit, cut: _result(hit, marks, query, cut),
        query=query,
        budget_tokens=lore.tuning.answer_tokens if limit > 1 else 0,
        rest=WHOLE,
    )
    notes = fitted.notes(ADVICE) if hits else [NOTHING]
    return Reply(with_notes({"results": fitted.entries}, notes))


def _result(hit: EntityHit, marks: Marks, query: str, cut: Cut) -> dict[str, Any]:
    """distance: unless only words found it. rrf_score: unless only meaning was searched."""
    result = shortened_entity(hit.view, marks, query, cut) | {
        "limbic_score": round(hit.score, 4),
        "scoring": {
            "importance": round(hit.scoring.importance, 4),
            "temporal_factor": round(hit.scoring.temporal, 4),
            "cooc_boost": round(hit.scoring.cooccurrence, 4),
        },
        "routing_strategy": hit.strategy,
    }
    if hit.distance is not None:
        result["distance"] = round(hit.distance, 4)
    if hit.fused is not None:
        result["rrf_score"] = round(hit.fused, 6)
    return result


def _with_observations(view: EntityView, kinds: list[str] | None, superseded: bool, lore: Lore) -> EntityView:
    """The entity with only the observations of these kinds, superseded ones on request."""
    observations = lore.observations(view.entity) if superseded else view.observations
    wanted = tuple(memory for memory in observations if kinds is None or memory.type in kinds)
    return EntityView(entity=view.entity, name=view.name, observations=wanted)


def _trimmed(entity: dict[str, Any]) -> dict[str, Any]:
    """The newest observations and the first relations of an entity, and how many more there are."""
    texts, relations = entity["observations"], entity.get("relations", [])
    omitted = {
        "observations_omitted": len(texts) - SHOWN_OBSERVATIONS,
        "relations_omitted": len(relations) - SHOWN_RELATIONS,
    }
    return {
        **entity,
        "observations": texts[-SHOWN_OBSERVATIONS:],
        **({"relations": relations[:SHOWN_RELATIONS]} if relations else {}),
        **{name: count for name, count in omitted.items() if count > 0},
    }


def _shortened(entity: dict[str, Any], cut: Cut) -> dict[str, Any]:
    """An entity whose texts are cut; ids and all else stay."""
    texts = [
        cut(item) if isinstance(item, str) else {**item, "content": cut(item["content"])}
        for item in entity["observations"]
    ]
    reflections = [{**item, "content": cut(item["content"])} for item in entity.get("reflections", ())]
    return entity | {"observations": texts} | ({"reflections": reflections} if reflections else {})


def _detailed(views: list[EntityView], lore: Lore) -> list[dict[str, Any]]:
    targets = frozenset(view.entity.alias for view in views)
    reflections = lore.reflections(ReflectionQuery(target_type="entity", targets=targets))
    entities = []
    for view in views:
        replaced = {m.superseded_by: m.alias for m in lore.observations(view.entity) if m.superseded_by}
        entities.append(
            {
                **entity_of(view),
                "observations": [_observation(m, replaced.get(m.id)) for m in view.statements],
                "relations": [_relation(bond, view.entity) for bond in lore.relations(view.entity)],
                "reflections": [
                    without(reflection_of(reflection), "target_type", "target_id")
                    for reflection in reflections
                    if reflection.target_id == view.entity.alias
                ],
            }
        )
    return entities


def _observation(memory: Memory, supersedes: int | None) -> dict[str, Any]:
    return {
        "id": memory.alias,
        "content": memory.content,
        "similarity_flag": int(SIMILAR in memory.flags),
        "kind": memory.type or GENERIC_KIND,
        "supersedes": supersedes,
        "superseded_at": None if memory.superseded_at is None else utc_time(memory.superseded_at),
    }


def _relation(bond: Bond, entity: Memory) -> dict[str, Any]:
    link, outgoing = bond.link, bond.link.source == entity.id
    return {
        "id": link.alias,
        "relation_type": link.type,
        "target_name": bond.target if outgoing else bond.source,
        "direction": "from" if outgoing else "to",
        "context": link.reason or None,
        "active": link.active,
        "ended_at": None if link.ended_at is None else utc_time(link.ended_at),
    }
