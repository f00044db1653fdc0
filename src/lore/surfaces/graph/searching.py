"""The tools that find entities: by text, by name, by meaning, or all of them."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from lore.engine import Lore
from lore.engine.associate import Association
from lore.engine.nodes import Nodes
from lore.engine.ponder import Thought
from lore.engine.portrait import GENERIC_KIND, SIMILAR, Portrait
from lore.model import Link, Memory
from lore.surfaces.answers import FETCH_FACTOR, Cut, Outdated, fit, fit_list, outdated
from lore.surfaces.base import Reply
from lore.surfaces.graph.dialect import (
    GRAPH,
    Entity,
    Relation,
    check_count,
    check_query,
    entity_of,
    model_wanted,
    relation_of,
    stamp,
)
from lore.text import terms, words

MOST_OBSERVATIONS = 20
"""Observations of one entity that a search shows; `observations_omitted` counts the others."""
WHOLE = "open_nodes shows all of it"
ADVICE = "ask for fewer, or more precisely"
NOTHING = "Nothing relevant is known about this."


class GraphAnswer(TypedDict):
    entities: list[Entity]
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
    nodes = lore.graph.containing(query) if query.strip() else Nodes(portraits=(), bonds=())
    fitted = fit(
        nodes.portraits,
        lambda portrait, cut: _found(portrait, query, cut),
        query=query,
        budget_tokens=lore.tuning.answer_tokens,
        rest=WHOLE,
    )
    answer = {**_graph(nodes), "entities": fitted.entries}
    return Reply(_noted(answer, fitted.notes(ADVICE)))


@GRAPH.tool(title="Open entities", answer=OpenAnswer)
def open_nodes(
    lore: Lore,
    names: Annotated[list[str], Field(description="At most 50.")],
    kinds: Annotated[list[str] | None, Field(description="Only observations of these kinds.")] = None,
    include_superseded: Annotated[bool, Field(description="Also outdated observations.")] = False,
    detailed: Annotated[bool, Field(description="With ids, ended relations and reflections.")] = False,
) -> Reply:
    """Read entities by exact name, with their observations; unknown names are left out. Counts as use."""
    check_count("names", names)
    nodes = lore.graph.opened(names)
    shown = [_chosen(portrait, kinds, include_superseded, lore) for portrait in nodes.portraits]
    newer = _newer(shown, lore)
    items = _detailed(shown, lore) if detailed else [_node(portrait) for portrait in shown]
    marked = [_marked(item, portrait, newer) for item, portrait in zip(items, shown, strict=True)]
    budget = FETCH_FACTOR * lore.tuning.answer_tokens if len(marked) > 1 else 0
    fitted = fit_list(marked, budget)
    answer = {"entities": fitted.entries, "relations": [relation_of(bond) for bond in nodes.bonds]}
    return Reply(_noted(answer, fitted.notes("open fewer at a time")))


@GRAPH.tool(title="Read the whole graph", answer=GraphAnswer, read_only=True)
def read_graph(lore: Lore) -> Reply:
    """Read all entities and relations, and the newest memories of other tools. Large: prefer a search."""
    return Reply(_graph(lore.graph.everything()))


@GRAPH.tool(title="Search by meaning", answer=SemanticAnswer)
def search_semantic(
    lore: Lore,
    query: Annotated[str, Field(description="A question or key words.")],
    limit: Annotated[int, Field(description="1 to 50.")] = 10,
) -> Reply:
    """Find entities by meaning and words, ranked by likeness, use, age and company. Counts as use."""
    check_query(query, limit)
    with model_wanted():
        found = lore.graph.associate(query, limit)
    newer = _newer([association.portrait for association in found], lore)
    fitted = fit(
        found,
        lambda association, cut: _marked(_result(association, query, cut), association.portrait, newer),
        query=query,
        budget_tokens=lore.tuning.answer_tokens if limit > 1 else 0,
        rest=WHOLE,
    )
    notes = fitted.notes(ADVICE) if found else [NOTHING]
    return Reply(_noted({"results": fitted.entries}, notes))


def _graph(nodes: Nodes) -> GraphAnswer:
    return GraphAnswer(
        entities=[entity_of(portrait) for portrait in nodes.portraits],
        relations=[relation_of(bond) for bond in nodes.bonds],
        omitted=nodes.omitted,
    )


def _noted(answer: dict[str, Any], notes: Sequence[str]) -> dict[str, Any]:
    return answer | ({"notes": list(notes)} if notes else {})


def _newer(portraits: Sequence[Portrait], lore: Lore) -> dict[str, Outdated]:
    return outdated(lore, [memory for portrait in portraits for memory in portrait.statements])


def _marked(entry: Any, portrait: Portrait, newer: dict[str, Outdated]) -> Any:
    """The entry, with the observations that something newer replaces or updates."""
    marks = [{"observation": m.content, **newer[m.id]} for m in portrait.statements if m.id in newer]
    return entry | ({"outdated": marks} if marks else {})


def _found(portrait: Portrait, query: str, cut: Cut) -> dict[str, Any]:
    """An entity as a search shows it: with the observations that share most words with the query."""
    entity = entity_of(portrait)
    texts = entity["observations"]
    wanted = set(terms(query))
    shares = [len(wanted.intersection(words(text))) for text in texts]
    best = sorted(range(len(texts)), key=lambda at: (-shares[at], -at))[:MOST_OBSERVATIONS]
    omitted = len(texts) - len(best)
    shown = {**entity, "observations": [cut(texts[at]) for at in sorted(best)]}
    return shown | ({"observations_omitted": omitted} if omitted else {})


def _result(association: Association, query: str, cut: Cut) -> dict[str, Any]:
    """distance: unless only words found it. rrf_score: unless only meaning was searched."""
    scoring, distance, fused = association.scoring, association.distance, association.fused
    result = _found(association.portrait, query, cut) | {
        "limbic_score": round(association.score, 4),
        "scoring": Scoring(
            importance=round(scoring.importance, 4),
            temporal_factor=round(scoring.temporal, 4),
            cooc_boost=round(scoring.company, 4),
        ),
        "routing_strategy": association.strategy,
    }
    if distance is not None:
        result["distance"] = round(distance, 4)
    if fused is not None:
        result["rrf_score"] = round(fused, 6)
    return result


def _chosen(portrait: Portrait, kinds: list[str] | None, superseded: bool, lore: Lore) -> Portrait:
    """The portrait with the observations that were asked for."""
    past = lore.graph.past_of(portrait.entity) if superseded else list(portrait.observations)
    wanted = tuple(memory for memory in past if kinds is None or memory.type in kinds)
    return Portrait(entity=portrait.entity, name=portrait.name, observations=wanted)


def _node(portrait: Portrait) -> Node:
    entity = entity_of(portrait)
    return Node(
        id=entity["id"],
        name=entity["name"],
        entityType=entity["entityType"],
        status=entity["status"],
        observations=list(entity["observations"]),
    )


def _detailed(portraits: list[Portrait], lore: Lore) -> list[Node]:
    thoughts = lore.graph.thoughts_about([portrait.entity for portrait in portraits])
    items = []
    for portrait in portraits:
        links = lore.graph.relations_of(portrait.entity)
        names = lore.graph.names_of([link.other(portrait.entity.id) for link in links])
        replaced = {m.superseded_by: m.alias for m in lore.graph.past_of(portrait.entity) if m.superseded_by}
        item = _node(portrait)
        item["observations"] = [_observation(m, replaced.get(m.id)) for m in portrait.statements]
        item["relations"] = [
            _relation(link, portrait.entity, names)
            for link in links
            if link.other(portrait.entity.id) in names
        ]
        item["reflections"] = [_reflection(thought) for thought in thoughts[portrait.entity.alias]]
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


def _reflection(thought: Thought) -> NodeReflection:
    return NodeReflection(
        id=thought.memory.alias,
        author=thought.author,
        content=thought.memory.content,
        mood=thought.mood,
        created_at=stamp(thought.memory.created_at),
    )
