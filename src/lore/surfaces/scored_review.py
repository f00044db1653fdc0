"""Looking back: reflections on sessions, and links that are recommended, suggested and judged."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field

from lore.engine import Lore
from lore.engine.reflect import Learned, Lesson, Reflection
from lore.engine.suggest import Candidate, Suggestion
from lore.errors import Invalid, NotFound
from lore.model import Filter
from lore.ranking.relate import SIGNALS
from lore.surfaces.answers import fit_list
from lore.surfaces.scored import SCORED, iso_time, name_of, reply
from lore.surfaces.surface import Arguments, Reply
from lore.text import preview, title_of

MOST_CANDIDATES = 50
MOST_SUGGESTIONS = 100
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


@SCORED.tool(
    "Reflect on a session",
    "reflection_id: string, session_id: string, created_at: string, already_processed: boolean, "
    "memories_created: array",
    idempotent=True,
)
def lore_reflect(lore: Lore, session: Session) -> Reply:
    """Keep what remains of a session, once per session_id. Each discovery and lesson becomes a note of its
    own, linked to the session, unless it is known already."""
    for name in ("session_id", "summary"):
        if not getattr(session, name).strip():
            raise Invalid(f"{name} is required")
    reflected = lore.reflect(
        Reflection(
            session=session.session_id,
            title=preview((session.topic or "").strip(), TITLE_WIDTH) or title_of(session.summary),
            account="\n\n".join(_sections(session)),
            lessons=tuple(_lessons(session)) if session.auto_insert else (),
            metadata={
                "session_date": session.session_date or "",
                "topic": session.topic or "",
                "task_type": session.task_type or "",
                "memory_ids": session.memory_ids or [],
            },
        )
    )
    return reply(
        {
            "reflection_id": reflected.memory.id,
            "session_id": session.session_id,
            "created_at": iso_time(reflected.memory.created_at),
            "already_processed": reflected.again,
            "memories_created": [_created(item) for item in reflected.learned],
        }
    )


@SCORED.tool("List processed sessions", "session_ids: array", read_only=True)
def lore_processed_sessions(lore: Lore) -> Reply:
    """The ids of all sessions that lore_reflect has kept, latest first."""
    fitted = fit_list(lore.sessions(), lore.tuning.answer_tokens)
    return reply({"session_ids": fitted.entries}, fitted.notes("these are the latest"))


def _sections(session: Session) -> Iterator[str]:
    """The account of the session as one text, so that all of it can be found."""
    yield session.summary
    for name, text in (("What was done", session.what_was_done), ("Decisions", session.decisions)):
        if text and text.strip():
            yield f"{name}: {text}"
    for name, items in (
        ("Lessons learnt", session.lessons_learnt),
        ("Good patterns", session.good_patterns),
        ("About the user", session.user_profile_updates),
        ("Discoveries", session.factual_discoveries),
    ):
        if items:
            yield "\n".join([f"{name}:", *(f"- {item}" for item in items)])


def _lessons(session: Session) -> Iterator[Lesson]:
    for text in session.factual_discoveries or ():
        yield Lesson(text=text, relation="discovered_in", score=DISCOVERY_SCORE)
    for text in session.lessons_learnt or ():
        yield Lesson(text=text, relation="learned_in", score=LESSON_SCORE)


def _created(item: Learned) -> dict[str, Any]:
    status = f"{item.outcome}: {item.why}" if item.why else item.outcome
    return {"id": item.id, "title": item.title, "relation": item.relation, "status": status}


@SCORED.tool("Recommend links", "candidates: array, count: integer, source_lore_id: string", read_only=True)
def lore_recommend_links(
    lore: Lore,
    lore_id: Annotated[str, Field(description="The note to link.")],
    top_k: Annotated[int | None, Field(description="At most this many (10).")] = None,
) -> Reply:
    """Notes that might be linked to this one, with the signals that speak for it. Nothing is written: link
    with lore_insert."""
    if not lore_id.strip():
        raise Invalid("lore_id is required")
    if top_k is not None and top_k < 1:
        raise Invalid(f"top_k is {top_k}; it must be at least 1")
    limit = min(lore.tuning.link_top_m if top_k is None else top_k, MOST_CANDIDATES)
    notes: list[str] = []
    candidates: list[Candidate] = []
    try:
        candidates = lore.recommend(lore_id, limit)
    except NotFound as unknown:
        notes.append(f"{unknown}.")
    return reply(
        {
            "candidates": [_candidate(item) for item in candidates],
            "count": len(candidates),
            "source_lore_id": lore_id,
        },
        notes,
    )


@SCORED.tool(
    "List suggested links", "suggestions: array, count: integer, total_pending: integer", read_only=True
)
def lore_get_suggestions(
    lore: Lore,
    limit: Annotated[int, Field(description="At most 100.")] = 20,
    min_score: Annotated[float, Field(description="0 to 1.")] = 0.0,
) -> Reply:
    """Links that the regular sweep proposes, best first, waiting for lore_review_suggestion."""
    if limit < 1:
        raise Invalid(f"limit is {limit}; it must be at least 1")
    if not 0 <= min_score <= 1:
        raise Invalid(f"min_score is {min_score}; it must be between 0 and 1")
    pending = lore.suggestions(min(limit, MOST_SUGGESTIONS), min_score)
    ends = {end for item in pending.best for end in (item.source, item.target)}
    names = {memory.id: name_of(memory) for memory in lore.select(Filter(ids=tuple(ends)), len(ends) or 1)}
    high_score = lore.tuning.suggest_high_confidence_score
    entries = [_suggestion(item, names, high_score) for item in pending.best]
    fitted = fit_list(entries, lore.tuning.answer_tokens)
    return reply(
        {
            "suggestions": fitted.entries,
            "count": len(fitted.entries),
            "total_pending": pending.total,
        },
        fitted.notes("judge these first"),
    )


@SCORED.tool(
    "Judge suggested links",
    "results: array, accepted: integer, rejected: integer, skipped: integer, errors: array",
    idempotent=True,
)
def lore_review_suggestion(
    lore: Lore,
    suggestion_ids: Annotated[list[str], Field(description="From lore_get_suggestions.")],
    action: Annotated[Literal["accept", "reject"], Field(description="For all of them.")],
) -> Reply:
    """Accept suggestions, which makes them links, or reject them for good."""
    ids = [id.strip() for id in suggestion_ids if id.strip()]
    if not ids:
        raise Invalid("suggestion_ids is empty; name at least one")
    reviews = lore.review(ids, action == "accept")
    outcomes = [item.outcome for item in reviews]
    return reply(
        {
            "results": [
                {"id": item.id, "status": item.outcome, "link_id": item.link, "message": item.why}
                for item in reviews
            ],
            "accepted": outcomes.count("accepted"),
            "rejected": outcomes.count("rejected"),
            "skipped": outcomes.count("skipped"),
            "errors": [],
        }
    )


def _candidate(item: Candidate) -> dict[str, Any]:
    return {
        "source_lore_id": item.source,
        "target_lore_id": item.target,
        "weighted_score": round(item.score, 4),
        "scores": {name: round(item.signals[name], 4) for name in SIGNALS},
    }


def _suggestion(item: Suggestion, names: dict[str, str], high_score: float) -> dict[str, Any]:
    return {
        "id": item.id,
        "source_memory_id": item.source,
        "source_title": names.get(item.source, ""),
        "target_memory_id": item.target,
        "target_title": names.get(item.target, ""),
        "status": item.status,
        "weighted_score": round(item.score, 4),
        **{f"{name}_score": round(item.signals[name], 4) for name in SIGNALS},
        "suggested_type": item.type or None,
        "confidence": "high" if item.score >= high_score else "standard",
        "created_at": iso_time(item.created_at),
    }
