"""insert notes: lore_remember for one thought, lore_insert for many notes and links."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict

from lore.engine import Lore
from lore.engine.find_duplicate import DuplicateCheck
from lore.engine.suggest import RELATION
from lore.errors import Duplicate, Invalid, LoreError
from lore.model import Draft, Filter, Link, Memory, Tie
from lore.surfaces.answers import shorten
from lore.surfaces.base import Arguments, Reply
from lore.surfaces.scored.dialect import (
    BLANK,
    LINK_SCHEMA,
    SCORED,
    WHOLE,
    known_relation,
    known_source_type,
    memory_shown,
    name_of,
    reply,
)
from lore.text import folded, listed, require_text, title_of

REMEMBERED_SCORE = 7.0
CORRECTS = "supersedes"
"""The relation type of a note to the one that it corrects."""
LINKED_BY = "linked by "
"""The beginning of the reason of an automatic link."""
KNOWN_ALREADY = (
    "Nothing was saved: the note of this id says the same. If it does not, use lore_insert with force=true."
)
LINK_FIELDS = frozenset({"source_memory_id", "target_memory_id", "relation_type", "reason"})

SourceType = Annotated[str, Field(description="observed, inferred, user_stated, consolidated or injected.")]
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


class LinkedTo(TypedDict):
    id: str
    score: float


class RememberAnswer(TypedDict):
    id: str
    title: str
    linked_to: LinkedTo | None
    status: str


class InsertAnswer(TypedDict):
    inserted_memories: list[dict[str, Any]]
    inserted_links: list[dict[str, Any]]
    duplicates: list[dict[str, Any]]
    errors: list[dict[str, Any]]


@SCORED.tool(title="Remember a thought", answer=RememberAnswer)
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
        source_type=known_source_type(source_type),
        unique_title=True,
        embed_now=True,
    )
    known = lore.find_duplicate(draft)
    memory = known.twin or _kept(lore, replace(draft, title=known.title))
    if isinstance(memory, Duplicate):
        [memory] = lore.select(Filter(ids=(memory.existing,), superseded=True), 1)
        known = DuplicateCheck(title=memory.title, twin=memory)
    data = RememberAnswer(id=memory.id, title=name_of(memory), linked_to=None, status="inserted")
    if known.twin is not None:
        data["status"] = "duplicate"
        if folded(known.twin.content) == folded(thought):
            lore.read(known.twin.id)
        return reply({**data}, [KNOWN_ALREADY])
    if link := _tied_to_nearest(lore, memory, known, "lore_remember", ()):
        data["linked_to"] = LinkedTo(id=link.target, score=round(link.weight, 4))
    return reply({**data})


@SCORED.tool(title="Insert notes and links", answer=InsertAnswer)
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
    answer = InsertAnswer(inserted_memories=[], inserted_links=[], duplicates=[], errors=[])
    for new in memories or ():
        _insert(lore, new, force, answer)
    for told in links or ():
        _link(lore, told, answer)
    return reply({**answer})


def _check(new: NewMemory, at: int) -> None:
    """Refuse the whole call for an invalid memory, before anything is written."""
    if not new.title.strip():
        raise Invalid(f"memories[{at}]: title is required")
    try:
        known_source_type(new.source_type)
    except Invalid as mistake:
        raise Invalid(f"memories[{at}]: {mistake}") from None


def _insert(lore: Lore, new: NewMemory, force: bool, answer: InsertAnswer) -> None:
    try:
        ties = [_shaped(link, {"target_memory_id", "relation_type"}) for link in new.links or ()]
        draft = _draft_of(new, lore.tuning.new_memory_default_score)
        known = lore.find_duplicate(draft)
        if known.twin is not None and not force:
            answer["duplicates"].append(_duplicate(new, known.twin, known.twinness))
            return
        memory = _kept(lore, replace(draft, title=known.title))
    except LoreError as mistake:
        answer["errors"].append({"input": new.title, "error": str(mistake)})
        return
    if isinstance(memory, Duplicate):
        told = f"{memory} in this namespace ({memory.existing}); titles are unique"
        answer["errors"].append({"input": new.title, "error": told})
        return
    answer["inserted_memories"].append({"id": memory.id, "title": memory.title})
    for link in ties:
        _link(lore, {**link, "source_memory_id": memory.id}, answer)
    linked = {link["target_memory_id"] for link in answer["inserted_links"]}
    if tied := _tied_to_nearest(lore, memory, known, "lore_insert", linked):
        answer["inserted_links"].append(_tied(tied))


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
        metadata=BLANK if blank else {},
        unique_title=True,
        embed_now=True,
    )


def _kept(lore: Lore, draft: Draft) -> Memory | Duplicate:
    try:
        return lore.remember(draft)
    except Duplicate as taken:
        return taken


def _duplicate(new: NewMemory, twin: Memory, similarity: float) -> dict[str, Any]:
    existing = memory_shown(twin)
    return {
        "input_title": new.title,
        "existing_memory": existing | {"content": shorten(existing["content"], new.title, WHOLE)},
        "similarity": round(similarity, 4),
    }


def _link(lore: Lore, told: Mapping[str, Any], answer: InsertAnswer) -> None:
    """Keep one link; one that exists already is told as if it were new, and left as it is."""
    try:
        link = _shaped(told, {"source_memory_id", "target_memory_id", "relation_type"})
        tie = Tie(
            source=link["source_memory_id"],
            target=link["target_memory_id"],
            type=known_relation(link["relation_type"]),
            reason=link.get("reason") or "",
        )
        answer["inserted_links"].append(_tied(_existing(lore, tie) or lore.link([tie])[0]))
    except LoreError as mistake:
        answer["errors"].append({"input": dict(told), "error": str(mistake)})


def _existing(lore: Lore, tie: Tie) -> Link | None:
    wanted = (tie.source, tie.target, tie.kind, tie.type)
    return next(
        (
            link
            for link in lore.links([tie.source])
            if (link.source, link.target, link.kind, link.type) == wanted
        ),
        None,
    )


def _shaped(link: Mapping[str, Any], required: set[str]) -> dict[str, str]:
    """A link as it was told, if it has all it needs and nothing else."""
    if missing := required - link.keys():
        raise Invalid(f"a link needs {listed(missing)}")
    if unknown := link.keys() - LINK_FIELDS:
        raise Invalid(f"a link has no {listed(unknown)}; known: {listed(LINK_FIELDS)}")
    if wrong := [name for name, value in link.items() if value is not None and not isinstance(value, str)]:
        raise Invalid(f"in a link, {listed(wrong)} must be text")
    if blank := [name for name in required if not (link[name] or "").strip()]:
        raise Invalid(f"in a link, {listed(blank)} must not be empty")
    return dict(link)


def _tied(link: Link) -> dict[str, Any]:
    return {
        "id": link.id,
        "source_memory_id": link.source,
        "target_memory_id": link.target,
        "relation_type": link.type,
    }


def _tied_to_nearest(
    lore: Lore, memory: Memory, known: DuplicateCheck, tool: str, besides: set[str] | tuple[()]
) -> Link | None:
    """One link: to the note that this one corrects, else to the most similar one, if it is similar enough."""
    if not lore.tuning.auto_link_k:
        return None
    if known.updated is not None and known.updated.id not in besides:
        reason = f"{LINKED_BY}{tool}: it corrects that note"
        tie = Tie(source=memory.id, target=known.updated.id, type=CORRECTS, reason=reason)
        return lore.link([tie])[0]
    nearest = known.nearest(lore.tuning.auto_link_threshold, {*besides, *_full(lore, known)})
    if nearest is None:
        return None
    weight = min(1.0, max(0.01, nearest.meaning))
    reason = f"{LINKED_BY}{tool}: likeness {nearest.meaning:.2f}"
    tie = Tie(source=memory.id, target=nearest.memory.id, type=RELATION, weight=weight, reason=reason)
    return lore.link([tie])[0]


def _full(lore: Lore, known: DuplicateCheck) -> set[str]:
    """The neighbours that `auto_link_k` notes are linked to already because they are alike."""
    links = lore.links([match.memory.id for match in known.neighbours])
    alike = Counter(li.target for li in links if li.type == RELATION and li.reason.startswith(LINKED_BY))
    return {id for id, count in alike.items() if count >= lore.tuning.auto_link_k}
