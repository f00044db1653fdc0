"""The tools that create, end and delete relations between entities."""

from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from lore.engine import Lore
from lore.engine.relate import Related, Relation
from lore.errors import Invalid, NotFound
from lore.surfaces.graph import (
    GRAPH,
    VOCABULARY,
    RelationType,
    Source,
    Target,
    check_count,
    not_found,
    utc_time,
)
from lore.surfaces.surface import Reply

MAX_RELATIONS = 500
RelationInput = TypedDict(
    "RelationInput",
    {
        "from": Source,
        "to": Target,
        "relationType": RelationType,
        "context": NotRequired[Annotated[str | None, Field(description="Why, or since when.")]],
    },
)


@GRAPH.tool("Create relations", "relations: array, errors: array")
def create_relations(
    lore: Lore, relations: Annotated[list[RelationInput], Field(description="At most 500.")]
) -> Reply:
    """Relate existing entities. contiene/parte_de also create their inverse; an ended one becomes active."""
    results = lore.relate(_checked(relations), VOCABULARY.inverses)
    items = [_item(result, lore) for result in results]
    errors = [not_found(lore, *result.missing) for result in results if result.missing]
    return Reply({"relations": items, "errors": errors})


@GRAPH.tool("Delete relations", "deleted: array, errors: array", destructive=True, idempotent=True)
def delete_relations(
    lore: Lore, relations: Annotated[list[RelationInput], Field(description="At most 500.")]
) -> Reply:
    """Delete relations by from, to and relationType."""
    results = lore.unrelate(_checked(relations), VOCABULARY)
    deleted = [_triple(result.relation) for result in results if result.link is not None]
    errors = [_not_deleted(result) for result in results if result.link is None]
    return Reply({"deleted": deleted, "errors": errors})


@GRAPH.tool(
    "End a relation", "result: string, relation: object, inverse_expired_id: integer|null", idempotent=True
)
def end_relation(
    lore: Lore, relation_id: Annotated[int, Field(description="From search_nodes or open_nodes.")]
) -> Reply:
    """Mark a relation as over, and its inverse; both stay as history."""
    try:
        ending = lore.end_relation(relation_id, VOCABULARY)
    except NotFound:
        raise NotFound(f"Relation not found: {relation_id}") from None
    link = ending.link
    how = "was already expired" if ending.already else "expired successfully"
    return Reply(
        {
            "result": f"Relation {relation_id} {how}",
            "relation": {
                "id": link.alias,
                "from": ending.source,
                "to": ending.target,
                "relation_type": link.type,
                "active": link.active,
                "ended_at": utc_time(link.ended_at or link.updated_at),
                "context": link.reason or None,
            },
            "inverse_expired_id": ending.inverse.alias if ending.inverse is not None else None,
        }
    )


def _checked(relations: list[RelationInput]) -> list[Relation]:
    check_count("relations", relations, MAX_RELATIONS)
    if not all(relation["relationType"].strip() for relation in relations):
        raise Invalid("relationType is empty; give some text")
    return [
        Relation(
            source=relation["from"],
            target=relation["to"],
            type=relation["relationType"],
            context=relation.get("context") or "",
        )
        for relation in relations
    ]


def _triple(relation: Relation) -> dict[str, Any]:
    return {"from": relation.source, "to": relation.target, "relationType": relation.type}


def _item(result: Related, lore: Lore) -> dict[str, Any]:
    """A relation that was created, or the reason why it was not."""
    if result.missing:
        return {"error": not_found(lore, *result.missing)}
    item = _triple(result.relation)
    if result.link is not None:
        item["id"] = result.link.alias
    if result.relation.context:
        item["context"] = result.relation.context
    if result.existed:
        item["error"] = "Relation already exists"
    return item


def _not_deleted(result: Related) -> str:
    relation = result.relation
    if result.missing:
        return f"Entity not found: {relation.source} or {relation.target}"
    return f"Relation not found: {relation.source} -> {relation.target} ({relation.type})"
