"""Suggesting links: for one note on request, and for all notes by regular sweeps that somebody judges."""

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypedDict

from lore.engine import Lore
from lore.engine.suggest import Candidate, Suggestion
from lore.errors import Invalid, NotFound
from lore.model import Filter
from lore.ranking.relate import SIGNALS
from lore.surfaces.answers import fit_list
from lore.surfaces.base import Reply
from lore.surfaces.scored.dialect import SCORED, moment, name_of, reply

MOST_CANDIDATES = 50
MOST_SUGGESTIONS = 100


class RecommendAnswer(TypedDict):
    candidates: list[dict[str, Any]]
    count: int
    source_lore_id: str


class SuggestionsAnswer(TypedDict):
    suggestions: list[dict[str, Any]]
    count: int
    total_pending: int


class ReviewAnswer(TypedDict):
    results: list[dict[str, Any]]
    accepted: int
    rejected: int
    skipped: int
    errors: list[dict[str, Any]]


@SCORED.tool(title="Recommend links", answer=RecommendAnswer, read_only=True)
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
    found: list[Candidate] = []
    try:
        found = lore.recommend(lore_id, limit)
    except NotFound as unknown:
        notes.append(f"{unknown}.")
    return reply(
        {"candidates": [_candidate(item) for item in found], "count": len(found), "source_lore_id": lore_id},
        notes,
    )


@SCORED.tool(title="List suggested links", answer=SuggestionsAnswer, read_only=True)
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
    found = lore.suggestions(min(limit, MOST_SUGGESTIONS), min_score)
    ends = {end for item in found for end in (item.source, item.target)}
    names = {memory.id: name_of(memory) for memory in lore.select(Filter(ids=tuple(ends)), len(ends) or 1)}
    sure = lore.tuning.suggest_high_confidence_score
    shown = [_suggestion(item, names, sure) for item in found]
    fitted = fit_list(shown, lore.tuning.answer_tokens)
    return reply(
        {
            "suggestions": fitted.entries,
            "count": len(fitted.entries),
            "total_pending": lore.count_suggestions(),
        },
        fitted.notes("judge these first"),
    )


@SCORED.tool(title="Judge suggested links", answer=ReviewAnswer, idempotent=True)
def lore_review_suggestion(
    lore: Lore,
    suggestion_ids: Annotated[list[str], Field(description="From lore_get_suggestions.")],
    action: Annotated[Literal["accept", "reject"], Field(description="For all of them.")],
) -> Reply:
    """Accept suggestions, which makes them links, or reject them for good."""
    ids = [id.strip() for id in suggestion_ids if id.strip()]
    if not ids:
        raise Invalid("suggestion_ids is empty; name at least one")
    judged = lore.review(ids, action == "accept")
    outcomes = [item.outcome for item in judged]
    return reply(
        {
            "results": [
                {"id": item.id, "status": item.outcome, "link_id": item.link, "message": item.why}
                for item in judged
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


def _suggestion(item: Suggestion, names: dict[str, str], sure: float) -> dict[str, Any]:
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
        "confidence": "high" if item.score >= sure else "standard",
        "created_at": moment(item.created_at),
    }
