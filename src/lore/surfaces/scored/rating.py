"""Judging notes: lore_update tells what helped, lore_forget removes what is wrong."""

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from lore.engine import Lore
from lore.engine.rate import Rating
from lore.errors import Invalid
from lore.model import Filter
from lore.surfaces.base import Arguments, Reply
from lore.surfaces.scored.dialect import SCORED, reply

Reason = Literal["duplicate", "hallucinated", "outdated", "expired", "unspecified"]


class Feedback(Arguments):
    id: Annotated[str, Field(description="Of a note or a link.")]
    useful: Annotated[bool, Field(description="Whether it helped.")]
    confidence: Annotated[int | None, Field(description="How sure you are, 1 to 10.")] = None


class UpdateAnswer(TypedDict):
    updated_memories: int
    updated_links: int
    soft_deleted_memories: int
    errors: list[dict[str, Any]]


class ForgetAnswer(TypedDict):
    forgotten: list[str]
    not_found: list[str]
    errors: list[dict[str, Any]]


@SCORED.tool(title="Rate notes", answer=UpdateAnswer, destructive=True)
def lore_update(
    lore: Lore,
    memory_feedback: Annotated[list[Feedback] | None, Field(description="On notes.")] = None,
    link_feedback: Annotated[list[Feedback] | None, Field(description="On links.")] = None,
) -> Reply:
    """Say which notes and links were useful; scores and confidence follow. Not useful with confidence 1 or 2
    deletes a note."""
    if not memory_feedback and not link_feedback:
        raise Invalid("no feedback; give memory_feedback, link_feedback, or both")
    rated = lore.rate(_ratings(memory_feedback), _ratings(link_feedback))
    return reply(
        {
            "updated_memories": len(rated.memories),
            "updated_links": len(rated.links),
            "soft_deleted_memories": len(rated.forgotten),
            "errors": [{"id": id, "error": why} for id, why in rated.refused],
        }
    )


@SCORED.tool(title="Forget notes", answer=ForgetAnswer, destructive=True, idempotent=True)
def lore_forget(
    lore: Lore,
    memory_ids: Annotated[list[str], Field(description="The notes to forget.")],
    reason: Annotated[Reason, Field(description="Kept in the history.")] = "unspecified",
) -> Reply:
    """Delete notes that are wrong or outdated: hidden from every search, kept in history with the reason."""
    ids = list(dict.fromkeys(memory_ids))
    if not ids:
        raise Invalid("memory_ids is empty; name at least one")
    lore.forget(ids, reason)
    everything = Filter(ids=tuple(ids), forgotten=True, superseded=True)
    forgotten = {memory.id for memory in lore.select(everything, len(ids))}
    return reply(
        {
            "forgotten": [id for id in ids if id in forgotten],
            "not_found": [id for id in ids if id not in forgotten],
            "errors": [],
        }
    )


def _ratings(feedback: list[Feedback] | None) -> list[Rating]:
    return [Rating(id=item.id, useful=item.useful, confidence=item.confidence) for item in feedback or ()]
