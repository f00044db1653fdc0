"""Reflecting: lore_reflect keeps what remains of a session, lore_processed_sessions tells which were kept."""

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from lore.engine import Lore
from lore.engine.reflect import Learned, Lesson, Reflection
from lore.errors import Invalid
from lore.surfaces.answers import fit_list
from lore.surfaces.base import Arguments, Reply
from lore.surfaces.scored.dialect import SCORED, moment, reply
from lore.text import preview, title_of

DISCOVERY_SCORE, LESSON_SCORE = 7.0, 8.0
TITLE_WIDTH = 200


class Session(Arguments):
    session_id: Annotated[str, Field(description="Your own; a second call with it changes nothing.")]
    summary: Annotated[str, Field(description="What the session was about and what came of it.")]
    session_date: Annotated[str | None, Field(description="ISO date.")] = None
    topic: Annotated[str | None, Field(description="Its title.")] = None
    task_type: Annotated[str | None, Field(description="Such as build, debug, research.")] = None
    what_was_done: Annotated[str | None, Field(description="The work itself.")] = None
    decisions: Annotated[str | None, Field(description="What was decided, and why.")] = None
    lessons_learnt: Annotated[list[str] | None, Field(description="Each becomes a note.")] = None
    good_patterns: Annotated[list[str] | None, Field(description="Ways of working that paid off.")] = None
    user_profile_updates: Annotated[list[str] | None, Field(description="New about the user.")] = None
    factual_discoveries: Annotated[list[str] | None, Field(description="Each becomes a note.")] = None
    memory_ids: Annotated[list[str] | None, Field(description="Notes that played a part.")] = None
    auto_insert: Annotated[bool, Field(description="Save discoveries and lessons as notes.")] = True


class ReflectAnswer(TypedDict):
    reflection_id: str
    session_id: str
    created_at: str
    already_processed: bool
    memories_created: list[dict[str, Any]]


class SessionsAnswer(TypedDict):
    session_ids: list[str]


@SCORED.tool(title="Reflect on a session", answer=ReflectAnswer, idempotent=True)
def lore_reflect(lore: Lore, asked: Session) -> Reply:
    """Keep what remains of a session, once per session_id. Each discovery and lesson becomes a note of its
    own, linked to the session, unless it is known already."""
    for name in ("session_id", "summary"):
        if not getattr(asked, name).strip():
            raise Invalid(f"{name} is required")
    reflected = lore.reflect(
        Reflection(
            session=asked.session_id,
            title=preview((asked.topic or "").strip(), TITLE_WIDTH) or title_of(asked.summary),
            account="\n\n".join(_sections(asked)),
            lessons=tuple(_lessons(asked)) if asked.auto_insert else (),
            metadata={
                "session_date": asked.session_date or "",
                "topic": asked.topic or "",
                "task_type": asked.task_type or "",
                "memory_ids": asked.memory_ids or [],
            },
        )
    )
    return reply(
        {
            "reflection_id": reflected.memory.id,
            "session_id": asked.session_id,
            "created_at": moment(reflected.memory.created_at),
            "already_processed": reflected.again,
            "memories_created": [_created(item) for item in reflected.learned],
        }
    )


@SCORED.tool(title="List processed sessions", answer=SessionsAnswer, read_only=True)
def lore_processed_sessions(lore: Lore) -> Reply:
    """The ids of all sessions that lore_reflect has kept, latest first."""
    fitted = fit_list(lore.sessions(), lore.tuning.answer_tokens)
    return reply({"session_ids": fitted.entries}, fitted.notes("these are the latest"))


def _sections(asked: Session) -> Iterator[str]:
    """The account of the session as one text, so that all of it can be found."""
    yield asked.summary
    for name, text in (("What was done", asked.what_was_done), ("Decisions", asked.decisions)):
        if text and text.strip():
            yield f"{name}: {text}"
    for name, items in (
        ("Lessons learnt", asked.lessons_learnt),
        ("Good patterns", asked.good_patterns),
        ("About the user", asked.user_profile_updates),
        ("Discoveries", asked.factual_discoveries),
    ):
        if items:
            yield "\n".join([f"{name}:", *(f"- {item}" for item in items)])


def _lessons(asked: Session) -> Iterator[Lesson]:
    for text in asked.factual_discoveries or ():
        yield Lesson(text=text, relation="discovered_in", score=DISCOVERY_SCORE)
    for text in asked.lessons_learnt or ():
        yield Lesson(text=text, relation="learned_in", score=LESSON_SCORE)


def _created(item: Learned) -> dict[str, Any]:
    status = f"{item.outcome}: {item.why}" if item.why else item.outcome
    return {"id": item.id, "title": item.title, "relation": item.relation, "status": status}
