"""The tools that make, extend and remove entities."""

from collections.abc import Sequence
from typing import Annotated, Any, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from lore.engine import Lore
from lore.engine.entity_view import ENTITY
from lore.engine.observe import DEFAULT_TYPE, Subject
from lore.errors import Invalid
from lore.model import Memory
from lore.surfaces.answers import Cut, fit
from lore.surfaces.base import Reply
from lore.surfaces.graph.dialect import (
    GRAPH,
    EntityName,
    check_count,
    check_observations,
    entity_wanted,
    not_found,
)
from lore.surfaces.graph.showing import WHOLE, echo, fit_entities, noted
from lore.text import preview

KEPT = "they were kept all the same"


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
    entities: list[dict[str, Any]]
    notes: NotRequired[list[str]]


class Added(TypedDict):
    entityName: str
    addedObservations: list[str]


class AddAnswer(TypedDict):
    entity: dict[str, Any] | None
    results: list[Added]
    notes: NotRequired[list[str]]


class DeleteEntitiesAnswer(TypedDict):
    deleted: list[str]
    errors: list[str]


class DeleteObservationsAnswer(TypedDict):
    entity: dict[str, Any] | None
    success: bool
    message: str
    errors: list[str]


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
    views = lore.graph.introduce(
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
    last = {view.entity.id: view for view in views}
    fitted = fit_entities(list(last.values()), {}, lore.tuning.answer_tokens)
    return Reply(noted({"entities": fitted.entries}, fitted.notes(KEPT)))


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
    with entity_wanted(lore):
        views = lore.graph.observe(subjects)
    added = [(subject.name, view.added) for subject, view in zip(subjects, views, strict=True)]
    fitted = fit(added, _added, query="", budget_tokens=lore.tuning.answer_tokens, rest=WHOLE)
    answer = {"entity": echo(views[-1], lore) if views else None, "results": fitted.entries}
    return Reply(noted(answer, fitted.notes(KEPT)))


def _added(item: tuple[str, Sequence[Memory]], cut: Cut) -> Added:
    name, observations = item
    return Added(entityName=name, addedObservations=[cut(added.content) for added in observations])


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
    errors = [not_found(lore, name) for name in names if name not in deleted]
    return Reply(DeleteEntitiesAnswer(deleted=deleted, errors=errors))


@GRAPH.tool(title="Delete observations", answer=DeleteObservationsAnswer, destructive=True, idempotent=True)
def delete_observations(
    lore: Lore,
    name: Annotated[str | None, Field(description="The entity; must exist.")] = None,
    observations: Annotated[list[str] | None, Field(description="Exact texts.")] = None,
    deletions: Annotated[list[Deletion] | None, Field(description="For several entities at once.")] = None,
) -> Reply:
    """Delete observations by their exact text; errors lists those that were not found."""
    if deletions is None and (name is None or observations is None):
        raise Invalid("Give name and observations, or deletions")
    if deletions is not None and (name is not None or observations is not None):
        raise Invalid("Give either name and observations, or deletions, not both")
    wanted = deletions or [Deletion(entityName=name or "", observations=observations or [])]
    check_count("entities", wanted)
    subjects = [Subject(name=one["entityName"], observations=tuple(one["observations"])) for one in wanted]
    errors = _unknown(subjects, lore)
    with entity_wanted(lore):
        views = lore.graph.retract(subjects, strict=deletions is None)
    entity = echo(views[name], lore) if name is not None and name in views else None
    asked = sum(len(set(subject.observations)) for subject in subjects)
    gone = asked - sum(len(texts) for _, texts in errors)
    sentences = [error for error, _ in errors]
    message = f"{gone} of {asked} observations deleted" if errors else "Observations deleted successfully"
    return Reply(
        DeleteObservationsAnswer(
            entity=entity, success=gone > 0 or not errors, message=message, errors=sentences
        )
    )


def _unknown(subjects: Sequence[Subject], lore: Lore) -> list[tuple[str, list[str]]]:
    """Sentences about the names and texts that are not there to be deleted, each with those texts."""
    known = lore.graph.named([subject.name for subject in subjects])
    errors = []
    for subject in subjects:
        memory = known.get(subject.name)
        there = _texts_of(memory, lore) if memory else set()
        missing = [text for text in dict.fromkeys(subject.observations) if text not in there]
        if memory is None:
            errors.append((not_found(lore, subject.name), missing))
        elif missing:
            texts = ", ".join(repr(preview(text, 80)) for text in missing)
            errors.append((f"Observation not found in {preview(subject.name, 80)!r}: {texts}", missing))
    return errors


def _texts_of(memory: Memory, lore: Lore) -> set[str]:
    """The texts that delete_observations takes for a memory: of its observations, and its own."""
    own = set() if memory.kind == ENTITY else {memory.content}
    return own | {observation.content for observation in lore.graph.past_of(memory)}
