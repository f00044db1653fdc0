"""Writing notes: lore_remember one, lore_insert many with links, lore_update ratings, lore_forget."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field, WithJsonSchema

from lore.engine import Lore
from lore.engine.find_duplicate import DuplicateCheck
from lore.engine.rate import Rating
from lore.engine.suggest import RELATION
from lore.errors import Duplicate, Invalid, LoreError
from lore.model import Draft, Filter, Link, Memory, Tie
from lore.surfaces.answers import shorten
from lore.surfaces.scored import SCORED, WHOLE, check_source_type, name_of, note_of, reply
from lore.surfaces.surface import Arguments, Reply
from lore.text import folded, listed, preview, require_text, title_of

REMEMBERED_SCORE = 7.0
CORRECTS = "supersedes"
"""The relation type of a note to the one that it corrects."""
LINKED_BY = "linked by "
"""The beginning of the reason of an automatic link."""
NOT_SAVED = (
    "Nothing was saved: the note of this id says the same. If it does not, use lore_insert with force=true."
)
NO_CONTENT = {"content": ""}
"""Metadata of a note without a content of its own."""
RELATIONS = (
    "references", "depends_on", "supersedes", "contradicts", "part_of", "derived_from", "causes",
    "related_to", "used_in", "used_for", "used_by", "used_as", "discovered_in", "learned_in",
)  # fmt: skip
LINK_SCHEMA = {
    "type": "object",
    "properties": {
        "source_memory_id": {"type": "string", "description": "Id of a note."},
        "target_memory_id": {"type": "string", "description": "Id of another note."},
        "relation_type": {"enum": list(RELATIONS), "description": "Source to target."},
        "reason": {"type": "string", "description": "Why."},
    },
}
"""A new link in tools/list. A wrong link does not fail the call but becomes an entry in `errors`."""
LINK_FIELDS = frozenset({"source_memory_id", "target_memory_id", "relation_type", "reason"})
Reason = Literal["duplicate", "hallucinated", "outdated", "expired", "unspecified"]

SourceType = Annotated[str, Field(description="observed, inferred, user_stated, consolidated or injected.")]
InsertAnswer = dict[str, list[dict[str, Any]]]
Links = Annotated[
    list[Annotated[dict[str, Any], WithJsonSchema(LINK_SCHEMA)]],
    Field(description="From one note to another."),
]
OwnLinks = Annotated[
    list[dict[str, Any]], Field(description="Like lore_insert's links, without source_memory_id.")
]


class NewMemory(Arguments):
    title: Annotated[str, Field(description="Short and unique.")]
    content: Annotated[str | None, Field(description="The note itself.")] = None
    description: Annotated[str | None, Field(description="A brief summary.")] = None
    score: Annotated[float | None, Field(description="Quality, 0 to 10 (5).")] = None
    source_type: SourceType = "observed"
    links: OwnLinks | None = None


class Feedback(Arguments):
    id: Annotated[str, Field(description="Of a note or a link.")]
    useful: Annotated[bool, Field(description="Whether it helped.")]
    confidence: Annotated[int | None, Field(description="How sure you are, 1 to 10.")] = None


@SCORED.tool("Remember a thought", "id: string, title: string, linked_to: object|null, status: string")
def lore_remember(
    lore: Lore,
    thought: Annotated[str, Field(description="One idea, understandable on its own.")],
    source_type: SourceType = "observed",
) -> Reply:
    """Save one thought: titled by its first sentence and linked to the most similar note. A thought that is
    known already (status: duplicate) is not saved again; a repetition word for word counts as a use."""
    draft = Draft(
        content=require_text(thought, "thought"),
        title=title_of(thought),
        score=REMEMBERED_SCORE,
        source_type=check_source_type(source_type),
        unique_title=True,
        embed_now=True,
    )
    check = lore.find_duplicate(draft)
    twin = check.twin
    if twin is None:
        try:
            memory = lore.remember(replace(draft, title=check.title))
        except Duplicate as error:
            [twin] = lore.select(Filter(ids=(error.existing,), superseded=True), 1)
    if twin is not None:
        if folded(twin.content) == folded(thought):
            lore.read(twin.id)
        data = {"id": twin.id, "title": name_of(twin), "linked_to": None, "status": "duplicate"}
        return reply(data, [NOT_SAVED])
    link = _link_to_nearest(lore, memory, check, "lore_remember", ())
    linked_to = {"id": link.target, "score": round(link.weight, 4)} if link else None
    return reply({"id": memory.id, "title": name_of(memory), "linked_to": linked_to, "status": "inserted"})


@SCORED.tool(
    "Insert notes and links",
    "inserted_memories: array, inserted_links: array, duplicates: array, errors: array",
)
def lore_insert(
    lore: Lore,
    memories: Annotated[list[NewMemory] | None, Field(description="New notes.")] = None,
    links: Links | None = None,
    force: Annotated[bool, Field(description="Save even what resembles a known note.")] = False,
) -> Reply:
    """Save notes with links of their own, and link notes that exist. What is known already is listed in
    duplicates and not saved; what fails is listed in errors, the rest is kept."""
    if not memories and not links:
        raise Invalid("nothing to insert; give memories, links, or both")
    for at, new in enumerate(memories or ()):
        _check(new, at)
    answer: InsertAnswer = {"inserted_memories": [], "inserted_links": [], "duplicates": [], "errors": []}
    for new in memories or ():
        _insert(lore, new, force, answer)
    for fields in links or ():
        _insert_link(lore, fields, answer)
    return reply(dict(answer))


@SCORED.tool(
    "Rate notes",
    "updated_memories: integer, updated_links: integer, soft_deleted_memories: integer, errors: array",
    destructive=True,
)
def lore_update(
    lore: Lore,
    memory_feedback: Annotated[list[Feedback] | None, Field(description="On notes.")] = None,
    link_feedback: Annotated[list[Feedback] | None, Field(description="On links.")] = None,
) -> Reply:
    """Say which notes and links were useful; scores and confidence follow. Not useful with confidence 1 or 2
    deletes a note."""
    if not memory_feedback and not link_feedback:
        raise Invalid("no feedback; give memory_feedback, link_feedback, or both")
    result = lore.rate(_ratings(memory_feedback), _ratings(link_feedback))
    return reply(
        {
            "updated_memories": len(result.memories),
            "updated_links": len(result.links),
            "soft_deleted_memories": len(result.forgotten),
            "errors": [{"id": id, "error": why} for id, why in result.refused],
        }
    )


@SCORED.tool(
    "Forget notes", "forgotten: array, not_found: array, errors: array", destructive=True, idempotent=True
)
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


def _check(new: NewMemory, at: int) -> None:
    """Refuse the whole call for an invalid memory, before anything is written."""
    if not new.title.strip():
        raise Invalid(f"memories[{at}]: title is required")
    try:
        check_source_type(new.source_type)
    except Invalid as mistake:
        raise Invalid(f"memories[{at}]: {mistake}") from None


def _insert(lore: Lore, new: NewMemory, force: bool, answer: InsertAnswer) -> None:
    try:
        links = [_checked_link(link, {"target_memory_id", "relation_type"}) for link in new.links or ()]
        draft = _draft_of(new, lore.tuning.new_memory_default_score)
        check = lore.find_duplicate(draft)
        if check.twin is not None and not force:
            answer["duplicates"].append(_duplicate(new, check.twin, check.twinness))
            return
        memory = lore.remember(replace(draft, title=check.title))
    except Duplicate as error:
        message = f"{error} in this namespace ({error.existing}); titles are unique"
        answer["errors"].append({"input": new.title, "error": message})
        return
    except LoreError as error:
        answer["errors"].append({"input": new.title, "error": str(error)})
        return
    answer["inserted_memories"].append({"id": memory.id, "title": memory.title})
    for link in links:
        _insert_link(lore, {**link, "source_memory_id": memory.id}, answer)
    linked = {link["target_memory_id"] for link in answer["inserted_links"]}
    if nearest := _link_to_nearest(lore, memory, check, "lore_insert", linked):
        answer["inserted_links"].append(_link(nearest))


def _draft_of(new: NewMemory, default_score: float) -> Draft:
    """A note without content is found by its description or title, and shown as it was given."""
    content, summary = new.content or "", new.description or ""
    blank = not content.strip()
    if blank:
        content = summary if summary.strip() else new.title
    return Draft(
        content=content,
        title=new.title,
        summary=summary,
        score=default_score if new.score is None else new.score,
        source_type=new.source_type,
        metadata=NO_CONTENT if blank else {},
        unique_title=True,
        embed_now=True,
    )


def _duplicate(new: NewMemory, twin: Memory, similarity: float) -> dict[str, Any]:
    existing = note_of(twin)
    return {
        "input_title": new.title,
        "existing_memory": existing | {"content": shorten(existing["content"], new.title, WHOLE)},
        "similarity": round(similarity, 4),
    }


def _insert_link(lore: Lore, fields: Mapping[str, Any], answer: InsertAnswer) -> None:
    """Keep one link; one that exists already is listed as if it were new, and left as it is."""
    try:
        link = _checked_link(fields, {"source_memory_id", "target_memory_id", "relation_type"})
        if link["relation_type"] not in RELATIONS:
            name = preview(repr(link["relation_type"]), 80)
            raise Invalid(f"unknown relation_type {name}; known: {listed(RELATIONS)}")
        tie = Tie(
            source=link["source_memory_id"],
            target=link["target_memory_id"],
            type=link["relation_type"],
            reason=link.get("reason") or "",
        )
        answer["inserted_links"].append(_link(_existing(lore, tie) or lore.link([tie])[0]))
    except LoreError as error:
        answer["errors"].append({"input": dict(fields), "error": str(error)})


def _existing(lore: Lore, tie: Tie) -> Link | None:
    wanted = (tie.source, tie.target, tie.kind, tie.type)
    links = lore.links([tie.source])
    return next((li for li in links if (li.source, li.target, li.kind, li.type) == wanted), None)


def _checked_link(link: Mapping[str, Any], required: set[str]) -> dict[str, str]:
    """The fields of a link, if it has all it needs and nothing else."""
    if missing := required - link.keys():
        raise Invalid(f"a link needs {listed(missing)}")
    if unknown := link.keys() - LINK_FIELDS:
        raise Invalid(f"a link has no {listed(unknown)}; known: {listed(LINK_FIELDS)}")
    if wrong := [name for name, value in link.items() if value is not None and not isinstance(value, str)]:
        raise Invalid(f"in a link, {listed(wrong)} must be text")
    if blank := [name for name in required if not (link[name] or "").strip()]:
        raise Invalid(f"in a link, {listed(blank)} must not be empty")
    return dict(link)


def _link(link: Link) -> dict[str, Any]:
    return {
        "id": link.id,
        "source_memory_id": link.source,
        "target_memory_id": link.target,
        "relation_type": link.type,
    }


def _link_to_nearest(
    lore: Lore, memory: Memory, check: DuplicateCheck, tool: str, besides: set[str] | tuple[()]
) -> Link | None:
    """One link: to the note that this one corrects, else to the most similar one, if it is similar enough."""
    if not lore.tuning.auto_link_k:
        return None
    if check.updated is not None and check.updated.id not in besides:
        reason = f"{LINKED_BY}{tool}: it corrects that note"
        tie = Tie(source=memory.id, target=check.updated.id, type=CORRECTS, reason=reason)
        return lore.link([tie])[0]
    nearest = check.nearest(lore.tuning.auto_link_threshold, {*besides, *_full(lore, check)})
    if nearest is None:
        return None
    weight = min(1.0, max(0.01, nearest.meaning))
    reason = f"{LINKED_BY}{tool}: likeness {nearest.meaning:.2f}"
    tie = Tie(source=memory.id, target=nearest.memory.id, type=RELATION, weight=weight, reason=reason)
    return lore.link([tie])[0]


def _full(lore: Lore, check: DuplicateCheck) -> set[str]:
    """The neighbours to which `auto_link_k` similar notes are linked already."""
    links = lore.links([match.memory.id for match in check.neighbours])
    alike = Counter(li.target for li in links if li.type == RELATION and li.reason.startswith(LINKED_BY))
    return {id for id, count in alike.items() if count >= lore.tuning.auto_link_k}
