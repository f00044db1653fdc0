"""The tools for reflections: prose about an entity, a relation, a session, or everything."""

from typing import Annotated, Any, Literal, NotRequired, get_args

from pydantic import Field
from typing_extensions import TypedDict

from lore.engine import Lore
from lore.engine.nodes import is_node
from lore.engine.search_reflections import ReflectionHit, reflection_hit
from lore.errors import Invalid, NotFound
from lore.model import Draft
from lore.surfaces.answers import Cut, fit
from lore.surfaces.base import Reply
from lore.surfaces.graph.dialect import GRAPH, check_query, model_wanted, stamp
from lore.surfaces.graph.showing import noted

Target = Literal["entity", "session", "relation", "global"]
SHORT = 200


class Reflection(TypedDict):
    id: int
    target_type: str
    target_id: int | None
    author: str
    content: str
    mood: str | None
    created_at: str


class ReflectionAnswer(TypedDict):
    result: Reflection


class ReflectionsAnswer(TypedDict):
    results: list[dict[str, Any]]
    notes: NotRequired[list[str]]


@GRAPH.tool(title="Add a reflection", answer=ReflectionAnswer)
def add_reflection(
    lore: Lore,
    target_type: Annotated[Target, Field(description="What it is about.")],
    content: Annotated[str, Field(description="Free prose.")],
    author: Annotated[str, Field(description="Who wrote it.")] = "sofia",
    mood: Annotated[str | None, Field(description="E.g. insight, duda, satisfaccion.")] = None,
    target_id: Annotated[int | None, Field(description="Id of the entity or relation.")] = None,
) -> Reply:
    """Add a narrative reflection on an entity, a relation, a session, or globally."""
    for name, text in (("author", author), ("mood", mood or "")):
        if len(text) > SHORT:
            raise Invalid(f"{name} too long: {len(text)} characters (at most {SHORT})")
    _check_target(lore, target_type, target_id)
    about = {"target_type": target_type, "target_id": target_id, "author": author, "mood": mood}
    draft = Draft(
        content=content, kind="reflection", type="note", source=author, metadata=about, embed_now=True
    )
    return Reply(ReflectionAnswer(result=_reflection(reflection_hit(lore.remember(draft)))))


@GRAPH.tool(title="Search reflections", answer=ReflectionsAnswer, read_only=True)
def search_reflections(
    lore: Lore,
    query: Annotated[str, Field(description="A question or key words.")],
    author: Annotated[str | None, Field(description="Only by this author.")] = None,
    mood: Annotated[str | None, Field(description="Only in this mood.")] = None,
    target_type: Annotated[Target | None, Field(description="Only about this.")] = None,
    limit: Annotated[int, Field(description="1 to 50.")] = 10,
) -> Reply:
    """Find reflections by meaning and words, within author, mood and target type. Long ones are cut; with
    limit=1 the best comes whole."""
    check_query(query, limit)
    with model_wanted():
        thoughts = lore.graph.search_reflections(query, author, mood, target_type, limit)
    budget = lore.tuning.answer_tokens if limit > 1 else 0
    fitted = fit(thoughts, _found, query=query, budget_tokens=budget, rest="search with limit=1 for all")
    return Reply(noted({"results": fitted.entries}, fitted.notes("ask for fewer, or more precisely")))


def _check_target(lore: Lore, target_type: str, target_id: int | None) -> None:
    if target_type not in get_args(Target):
        raise Invalid(f"Unknown target_type {target_type!r}; known: {', '.join(get_args(Target))}")
    if target_type == "global" and target_id is not None:
        raise Invalid("A global reflection has no target_id")
    if target_type in ("entity", "relation") and target_id is None:
        raise Invalid(f"target_id is required for target_type '{target_type}'")
    if target_type == "entity" and target_id is not None:
        memory = lore.graph.known_as(target_id)
        if memory is None or not is_node(memory):
            raise NotFound(f"Entity not found: {target_id}")
    if (
        target_type == "relation"
        and target_id is not None
        and lore.graph.relation_known_as(target_id) is None
    ):
        raise NotFound(f"Relation not found: {target_id}")


def _reflection(thought: ReflectionHit) -> Reflection:
    return Reflection(
        id=thought.memory.alias,
        target_type=thought.target_type,
        target_id=thought.target_id,
        author=thought.author,
        content=thought.memory.content,
        mood=thought.mood,
        created_at=stamp(thought.memory.created_at),
    )


def _found(thought: ReflectionHit, cut: Cut) -> dict[str, Any]:
    shown = {**_reflection(thought), "score": round(thought.score, 6)}
    return shown | {"content": cut(thought.memory.content)}
