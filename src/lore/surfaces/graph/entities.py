"""The tools that make, extend and remove entities."""

from collections.abc import Sequence
from typing import Annotated, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from lore.engine import Lore
from lore.engine.observe import DEFAULT_TYPE, Subject
from lore.errors import Invalid
from lore.surfaces.base import Reply
from lore.surfaces.graph.dialect import (
    GRAPH,
    Entity,
    EntityName,
    check_count,
    check_observations,
    entity_of,
    entity_wanted,
)


class EntityInput(TypedDict):
    name: EntityName
    entityType: NotRequired[Annotated[str, Field(description="E.g. Proyecto, Sesion, Persona.")]]
    observations: NotRequired[Annotated[list[str], Field(description="One fact each.")]]
    status: NotRequired[Annotated[str, Field(description="activo, pausado, completado or archivado.")]]


class Addition(TypedDict):
    entityName: EntityName
    contents: Annotated[list[str], Field(description="One fact each.")]


class Deletion(TypedDict):
    entityName: EntityName
    observations: Annotated[list[str], Field(description="Exact texts.")]


class EntitiesAnswer(TypedDict):
    entities: list[Entity]


class Added(TypedDict):
    entityName: str
    addedObservations: list[str]


class AddAnswer(TypedDict):
    entity: Entity | None
    results: list[Added]


class DeleteEntitiesAnswer(TypedDict):
    deleted: list[str]
    errors: list[str]


class DeleteObservationsAnswer(TypedDict):
    entity: Entity | None
    success: bool
    message: str


@GRAPH.tool(title="Create or extend entities", answer=EntitiesAnswer)
def create_entities(
    lore: Lore, entities: Annotated[list[EntityInput], Field(description="At most 50.")]
) -> Reply:
    """Create entities; those that exist gain the new observations. Type default: Generic, status: activo."""
    check_count("entities", entities)
    for entity in entities:
        if not entity.get("entityType", DEFAULT_TYPE).strip():
            raise Invalid("entityType is empty; give some text")
        check_observations(entity.get("observations", []))
    portraits = lore.graph.introduce(
        [
            Subject(
                name=entity["name"],
                type=entity.get("entityType"),
                status=entity.get("status"),
                observations=tuple(entity.get("observations", ())),
            )
            for entity in entities
        ]
    )
    last = {portrait.entity.id: portrait for portrait in portraits}
    return Reply(EntitiesAnswer(entities=[entity_of(portrait) for portrait in last.values()]))


@GRAPH.tool(title="Add observations", answer=AddAnswer)
def add_observations(
    lore: Lore,
    observations: Annotated[
        list[str | Addition], Field(description="Texts for `name`, or {entityName, contents} for several.")
    ],
    name: Annotated[str | None, Field(description="The entity; must exist.")] = None,
    kind: Annotated[str, Field(description="E.g. decision, hallazgo, estado, metadata.")] = "generic",
    supersedes: Annotated[int | None, Field(description="Id of the observation that is replaced.")] = None,
) -> Reply:
    """Add observations to existing entities; exact repetitions are left out, similar ones flagged."""
    subjects = [
        Subject(name=who, observations=texts, kind=kind, supersedes=supersedes)
        for who, texts in _additions(observations, name)
    ]
    if supersedes is not None and len(subjects) != 1:
        raise Invalid("supersedes goes with observations for one entity")
    with entity_wanted():
        portraits = lore.graph.observe(subjects)
    results = [
        Added(entityName=subject.name, addedObservations=[added.content for added in portrait.added])
        for subject, portrait in zip(subjects, portraits, strict=True)
    ]
    return Reply(AddAnswer(entity=entity_of(portraits[-1]) if portraits else None, results=results))


def _additions(observations: Sequence[str | Addition], name: str | None) -> list[tuple[str, tuple[str, ...]]]:
    """Both argument shapes as (entity, texts)."""
    texts = [item for item in observations if isinstance(item, str)]
    lists = [(item["entityName"], item["contents"]) for item in observations if not isinstance(item, str)]
    if texts and (lists or name is None):
        raise Invalid("Give name with a list of texts, or a list of {entityName, contents} without name")
    if name is not None and not lists:
        lists = [(name, texts)]
    elif name is not None:
        raise Invalid("Give either name or entityName, not both")
    check_count("entities", lists)
    for _, contents in lists:
        check_observations(contents)
    return [(who, tuple(contents)) for who, contents in lists]


@GRAPH.tool(title="Delete entities", answer=DeleteEntitiesAnswer, destructive=True, idempotent=True)
def delete_entities(
    lore: Lore,
    entityNames: Annotated[list[str], Field(description="At most 50 names.")],  # noqa: N803
) -> Reply:
    """Delete entities with their observations and relations. `lore restore` undoes it."""
    check_count("entities", entityNames)
    known = lore.graph.named(entityNames)
    gone = set(lore.forget([entity.id for entity in known.values()]))
    names = list(dict.fromkeys(entityNames))
    deleted = [name for name in names if name in known and known[name].id in gone]
    errors = [f"Entity not found: {name}" for name in names if name not in deleted]
    return Reply(DeleteEntitiesAnswer(deleted=deleted, errors=errors))


@GRAPH.tool(title="Delete observations", answer=DeleteObservationsAnswer, destructive=True, idempotent=True)
def delete_observations(
    lore: Lore,
    name: Annotated[str | None, Field(description="The entity; must exist.")] = None,
    observations: Annotated[list[str] | None, Field(description="Exact texts.")] = None,
    deletions: Annotated[list[Deletion] | None, Field(description="For several entities at once.")] = None,
) -> Reply:
    """Delete observations by their exact text; unknown texts are ignored."""
    if deletions is None and (name is None or observations is None):
        raise Invalid("Give name and observations, or deletions")
    if deletions is not None and (name is not None or observations is not None):
        raise Invalid("Give either name and observations, or deletions, not both")
    wanted = deletions or [Deletion(entityName=name or "", observations=observations or [])]
    check_count("entities", wanted)
    subjects = [Subject(name=one["entityName"], observations=tuple(one["observations"])) for one in wanted]
    with entity_wanted():
        portraits = lore.graph.retract(subjects, strict=deletions is None)
    entity = entity_of(portraits[name]) if name is not None and name in portraits else None
    message = "Observations deleted successfully"
    return Reply(DeleteObservationsAnswer(entity=entity, success=True, message=message))
