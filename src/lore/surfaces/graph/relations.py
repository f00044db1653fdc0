"""The tools that tie entities together, and end or remove what ties them."""

from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from lore.engine import Lore
from lore.engine import relate as relating
from lore.engine.relate import Related
from lore.errors import Invalid, NotFound
from lore.surfaces.base import Reply
from lore.surfaces.graph.dialect import GRAPH, check_count, not_found, stamp

Source = Annotated[str, Field(description="Name of the entity that it starts from.")]
Target = Annotated[str, Field(description="Name of the entity that it leads to.")]
Type = Annotated[str, Field(description="A verb, e.g. uses, depends_on, contiene.")]
RelationInput = TypedDict(
    "RelationInput",
    {
        "from": Source,
        "to": Target,
        "relationType": Type,
        "context": NotRequired[Annotated[str | None, Field(description="Why, or since when.")]],
    },
)
RelationItem = TypedDict(
    "RelationItem",
    {"id": int, "from": str, "to": str, "relationType": str, "context": str, "error": str},
    total=False,
)
Triple = TypedDict("Triple", {"from": Source, "to": Target, "relationType": Type})
EndedRelation = TypedDict(
    "EndedRelation",
    {
        "id": int,
        "from": str,
        "to": str,
        "relation_type": str,
        "active": bool,
        "ended_at": str,
        "context": str | None,
    },
)
MAX_RELATIONS = 500


class RelationsAnswer(TypedDict):
    relations: list[RelationItem]
    errors: list[str]


class DeleteRelationsAnswer(TypedDict):
    deleted: list[Triple]
    errors: list[str]


class EndAnswer(TypedDict):
    result: str
    relation: EndedRelation
    inverse_expired_id: int | None


@GRAPH.tool(title="Create relations", answer=RelationsAnswer)
def create_relations(
    lore: Lore, relations: Annotated[list[RelationInput], Field(description="At most 500.")]
) -> Reply:
    """Relate existing entities. contiene/parte_de also create their inverse; an ended one becomes active."""
    results = lore.graph.relate(_wanted(relations))
    items = [_item(result, lore) for result in results]
    errors = [not_found(lore, *result.missing) for result in results if result.missing]
    return Reply(RelationsAnswer(relations=items, errors=errors))


@GRAPH.tool(title="Delete relations", answer=DeleteRelationsAnswer, destructive=True, idempotent=True)
def delete_relations(
    lore: Lore, relations: Annotated[list[RelationInput], Field(description="At most 500.")]
) -> Reply:
    """Delete relations by from, to and relationType."""
    results = lore.graph.unrelate(_wanted(relations))
    deleted = [_triple(result.relation) for result in results if result.link is not None]
    errors = [_not_deleted(result) for result in results if result.link is None]
    return Reply(DeleteRelationsAnswer(deleted=deleted, errors=errors))


@GRAPH.tool(title="End a relation", answer=EndAnswer, idempotent=True)
def end_relation(
    lore: Lore, relation_id: Annotated[int, Field(description="From search_nodes or open_nodes.")]
) -> Reply:
    """Mark a relation as over, and its inverse; both stay as history."""
    try:
        ending = lore.graph.end(relation_id)
    except NotFound:
        raise NotFound(f"Relation not found: {relation_id}") from None
    link = ending.link
    relation: EndedRelation = {
        "id": link.alias,
        "from": ending.source,
        "to": ending.target,
        "relation_type": link.type,
        "active": link.active,
        "ended_at": stamp(link.ended_at or link.updated_at),
        "context": link.reason or None,
    }
    how = "was already expired" if ending.already else "expired successfully"
    inverse = ending.inverse.alias if ending.inverse is not None else None
    answer = EndAnswer(result=f"Relation {relation_id} {how}", relation=relation, inverse_expired_id=inverse)
    return Reply(answer)


def _wanted(relations: list[RelationInput]) -> list[relating.Relation]:
    check_count("relations", relations, MAX_RELATIONS)
    for relation in relations:
        if not relation["relationType"].strip():
            raise Invalid("relationType is empty; give some text")
    return [
        relating.Relation(
            source=relation["from"],
            target=relation["to"],
            type=relation["relationType"],
            context=relation.get("context") or "",
        )
        for relation in relations
    ]


def _triple(relation: relating.Relation) -> Triple:
    return {"from": relation.source, "to": relation.target, "relationType": relation.type}


def _item(result: Related, lore: Lore) -> RelationItem:
    relation = result.relation
    if result.missing:
        return {"error": not_found(lore, *result.missing)}
    item: RelationItem = {"from": relation.source, "to": relation.target, "relationType": relation.type}
    if result.link is not None:
        item["id"] = result.link.alias
    if relation.context:
        item["context"] = relation.context
    if result.known:
        item["error"] = "Relation already exists"
    return item


def _not_deleted(result: Related) -> str:
    relation = result.relation
    if result.missing:
        return f"Entity not found: {relation.source} or {relation.target}"
    return f"Relation not found: {relation.source} -> {relation.target} ({relation.type})"
