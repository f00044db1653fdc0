"""The tools that create, extend and delete entities, and add and find reflections on them."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from lore.engine import Lore
from lore.engine.entity_view import DEFAULT_TYPE, ENTITY, Subject
from lore.engine.nodes import is_node
from lore.engine.reflections import ReflectionHit, ReflectionQuery, reflection_hit
from lore.errors import Invalid, NotFound
from lore.model import Draft, Link, Memory
from lore.surfaces.answers import Cut, fit, with_notes
from lore.surfaces.graph import (
    GRAPH,
    VOCABULARY,
    WHOLE,
    Addition,
    Deletion,
    EntityName,
    changed_entity,
    check_count,
    check_observations,
    check_query,
    entity_errors,
    fit_entities,
    model_errors,
    not_found,
    reflection_of,
)
from lore.surfaces.surface import Reply
from lore.text import preview

KEPT = "they were kept all the same"
MAX_SHORT_TEXT = 200
"""Characters of an author or a mood."""
ReflectionTarget = Literal["entity", "session", "relation", "global"]


class EntityInput(TypedDict):
    name: EntityName
    entityType: NotRequired[Annotated[str, Field(description="E.g. Proyecto, Sesion, Persona.")]]
    observations: NotRequired[Annotated[list[str], Field(description="One fact each.")]]
    status: NotRequired[Annotated[str, Field(description="activo, pausado, completado or archivado.")]]


@GRAPH.tool("Create or extend entities", "entities: array, notes?: array")
def create_entities(
    lore: Lore, entities: Annotated[list[EntityInput], Field(description="At most 50.")]
) -> Reply:
    """Create entities; those that exist gain the new observations. Type default: Generic, status: activo."""
    check_count("entities", entities)
    for entity in entities:
        if not entity.get("entityType", DEFAULT_TYPE).strip():
            raise Invalid("entityType is empty; give some text")
        check_observations(entity.get("observations", []))
    views = lore.introduce(
        [
            Subject(
                name=entity["name"],
                type=entity.get("entityType"),
                status=entity.get("status"),
                default_status=VOCABULARY.status,
                observations=tuple(entity.get("observations", ())),
            )
            for entity in entities
        ]
    )
    last = {view.entity.id: view for view in views}
    fitted = fit_entities(list(last.values()), {}, lore.tuning.answer_tokens)
    return Reply(with_notes({"entities": fitted.entries}, fitted.notes(KEPT)))


@GRAPH.tool("Add observations", "entity: object|null, results: array, notes?: array")
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
        Subject(name=entity, observations=texts, kind=kind, supersedes=supersedes)
        for entity, texts in _additions(observations, name)
    ]
    if supersedes is not None and len(subjects) != 1:
        raise Invalid("supersedes goes with observations for one entity")
    with entity_errors(lore):
        views = lore.observe(subjects)

    def show(item: tuple[Subject, Sequence[Memory]], cut: Cut) -> dict[str, Any]:
        subject, added = item
        return {"entityName": subject.name, "addedObservations": [cut(memory.content) for memory in added]}

    added = [(subject, view.added) for subject, view in zip(subjects, views, strict=True)]
    fitted = fit(added, show, budget_tokens=lore.tuning.answer_tokens, rest=WHOLE)
    entity = changed_entity(views[-1], lore) if views else None
    return Reply(with_notes({"entity": entity, "results": fitted.entries}, fitted.notes(KEPT)))


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
    return [(entity, tuple(contents)) for entity, contents in lists]


@GRAPH.tool("Delete entities", "deleted: array, errors: array", destructive=True, idempotent=True)
def delete_entities(
    lore: Lore,
    entityNames: Annotated[list[str], Field(description="At most 50 names.")],  # noqa: N803
) -> Reply:
    """Delete entities with their observations and relations. `lore restore` undoes it."""
    check_count("entities", entityNames)
    existing = lore.entities(entityNames)
    forgotten = set(lore.forget([entity.id for entity in existing.values()]))
    names = list(dict.fromkeys(entityNames))
    deleted = [name for name in names if name in existing and existing[name].id in forgotten]
    errors = [not_found(lore, name) for name in names if name not in deleted]
    return Reply({"deleted": deleted, "errors": errors})


@GRAPH.tool(
    "Delete observations",
    "entity: object|null, success: boolean, message: string, errors: array",
    destructive=True,
    idempotent=True,
)
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
    lists = deletions or [Deletion(entityName=name or "", observations=observations or [])]
    check_count("entities", lists)
    subjects = [Subject(name=one["entityName"], observations=tuple(one["observations"])) for one in lists]
    errors = _missing(subjects, lore)
    with entity_errors(lore):
        views = lore.retract(subjects, strict=deletions is None)
    total = sum(len(set(subject.observations)) for subject in subjects)
    deleted = total - sum(len(texts) for _, texts in errors)
    message = f"{deleted} of {total} observations deleted" if errors else "Observations deleted successfully"
    return Reply(
        {
            "entity": changed_entity(views[name], lore) if name is not None and name in views else None,
            "success": deleted > 0 or not errors,
            "message": message,
            "errors": [error for error, _ in errors],
        }
    )


def _missing(subjects: Sequence[Subject], lore: Lore) -> list[tuple[str, list[str]]]:
    """Sentences about the names and texts that do not exist, each with the texts in question."""
    existing = lore.entities([subject.name for subject in subjects])
    errors = []
    for subject in subjects:
        memory = existing.get(subject.name)
        current = _texts_of(memory, lore) if memory else set()
        missing = [text for text in dict.fromkeys(subject.observations) if text not in current]
        if memory is None:
            errors.append((not_found(lore, subject.name), missing))
        elif missing:
            texts = ", ".join(repr(preview(text, 80)) for text in missing)
            errors.append((f"Observation not found in {preview(subject.name, 80)!r}: {texts}", missing))
    return errors


def _texts_of(memory: Memory, lore: Lore) -> set[str]:
    """The texts that delete_observations takes for a memory: of its observations, and its own."""
    own = set() if memory.kind == ENTITY else {memory.content}
    return own | {observation.content for observation in lore.observations(memory)}


@GRAPH.tool("Add a reflection", "result: object")
def add_reflection(
    lore: Lore,
    target_type: Annotated[ReflectionTarget, Field(description="What it is about.")],
    content: Annotated[str, Field(description="Free prose.")],
    author: Annotated[str, Field(description="Who wrote it.")] = "sofia",
    mood: Annotated[str | None, Field(description="E.g. insight, duda, satisfaccion.")] = None,
    target_id: Annotated[int | None, Field(description="Id of the entity or relation.")] = None,
) -> Reply:
    """Add a narrative reflection on an entity, a relation, a session, or globally."""
    for name, text in (("author", author), ("mood", mood or "")):
        if len(text) > MAX_SHORT_TEXT:
            raise Invalid(f"{name} too long: {len(text)} characters (at most {MAX_SHORT_TEXT})")
    _check_target(lore, target_type, target_id)
    draft = Draft(
        content=content,
        kind="reflection",
        type="note",
        source=author,
        metadata={"target_type": target_type, "target_id": target_id, "author": author, "mood": mood},
        embed_now=True,
    )
    return Reply({"result": reflection_of(reflection_hit(lore.remember(draft)))})


@GRAPH.tool("Search reflections", "results: array, notes?: array", read_only=True)
def search_reflections(
    lore: Lore,
    query: Annotated[str, Field(description="A question or key words.")],
    author: Annotated[str | None, Field(description="Only by this author.")] = None,
    mood: Annotated[str | None, Field(description="Only in this mood.")] = None,
    target_type: Annotated[ReflectionTarget | None, Field(description="Only about this.")] = None,
    limit: Annotated[int, Field(description="1 to 50.")] = 10,
) -> Reply:
    """Find reflections by meaning and words, within author, mood and target type. Long ones are cut; with
    limit=1 the best comes whole."""
    check_query(query, limit)
    with model_errors():
        hits = lore.reflections(
            ReflectionQuery(text=query, author=author, mood=mood, target_type=target_type, limit=limit)
        )

    def show(hit: ReflectionHit, cut: Cut) -> dict[str, Any]:
        score = {"score": round(hit.score, 6)}
        return {**reflection_of(hit), **score, "content": cut(hit.memory.content)}

    budget = lore.tuning.answer_tokens if limit > 1 else 0
    fitted = fit(hits, show, query=query, budget_tokens=budget, rest="search with limit=1 for all")
    return Reply(with_notes({"results": fitted.entries}, fitted.notes("ask for fewer, or more precisely")))


def _check_target(lore: Lore, target_type: ReflectionTarget, target_id: int | None) -> None:
    if target_type == "global" and target_id is not None:
        raise Invalid("A global reflection has no target_id")
    if target_type not in ("entity", "relation"):
        return
    if target_id is None:
        raise Invalid(f"target_id is required for target_type '{target_type}'")
    target = lore.by_alias("memory" if target_type == "entity" else "link", target_id)
    if target_type == "entity" and not (isinstance(target, Memory) and is_node(target)):
        raise NotFound(f"Entity not found: {target_id}")
    if target_type == "relation" and not (isinstance(target, Link) and target.kind == "relation"):
        raise NotFound(f"Relation not found: {target_id}")
