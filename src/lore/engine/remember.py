"""remember: check the drafts → find each a home → keep memory, place and vector in one transaction."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lore.admit import admit
from lore.engine.cite import cite_again, with_citations
from lore.engine.context import Context, count_use
from lore.engine.embeddings import Embeddings
from lore.engine.file_paths import FILE
from lore.engine.link import check_tie, new_link, put_link
from lore.errors import Duplicate, Invalid, NotFound
from lore.model import OF_CONVERSATIONS, UPDATES, Draft, Filter, Link, Memory, Remembered, Tie, new_id
from lore.ranking.compare import Relation, compare
from lore.ranking.graph import bond
from lore.store import Reader, Writer
from lore.store.values import Page, parents_of
from lore.text import (
    SHORT_LIMIT_BYTES,
    TITLE_LIMIT_BYTES,
    check_storable,
    folded,
    passage_of,
    preview,
    require_text,
    terms,
)
from lore.vectors import Vector

DRAFTS_LIMIT = 1_000
PROJECT_LIMIT_BYTES = 4_096
ABOUT_THE_USER = frozenset({"preference", "identity"})
"""Types of what is true of a person, whatever the person works on."""
EVERYWHERE = frozenset({"entity", "observation"})
"""Kinds of what has the same name in every project."""
UPDATES_LIMIT = 3
"""How many memories a new one is taken to be the update of, at most."""
UPDATES_ABOVE = 0.5
"""Likeness below which a memory is not compared with a new one to see what that updates."""
LEAST_UPDATE_WEIGHT = 0.5
"""A correction may share few words with what it corrects."""
COMPARED = 10
"""How many of the nearest memories a new one is compared with to see what it updates."""
TWIN_KINDS = frozenset({"note", "fragment"})
"""Kinds of which a text is kept once, whichever dialect saves it again."""
UNTYPED = frozenset({"", "fact"})
"""Types that say nothing about a statement."""
SAME_TEXT_AMONG = 20
"""How many of the best matches by words are looked at for the same text."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A draft with the parent it was given or that was found for it, its vector if one was needed, and
    the memories it updates."""

    draft: Draft
    parent: str | None
    vector: Vector | None = None
    updates: tuple[Tie, ...] = ()


def remember(drafts: Sequence[Draft], context: Context, *, embeddings: Embeddings) -> list[Remembered]:
    """Keep all of them or none; findable by words when this returns, by meaning soon after.

    A draft belongs to the project of the context unless it names another. A draft that is kept `once` gives
    the memory that was there before.
    """
    if len(drafts) > DRAFTS_LIMIT:
        raise Invalid(f"{len(drafts):,} memories at once; at most {DRAFTS_LIMIT:,}")
    for draft in drafts:
        _check(draft)
    reader = context.reader
    placed = [
        _place(draft, reader, embeddings, _belongs_to(draft, context.project))
        for draft in admit(list(drafts))
    ]
    memories = [_memory_of(item.draft, context) for item in placed]
    with context.transaction() as writer:
        pairs = list(zip(memories, placed, strict=True))
        existing = [_existing_id(memory, item.draft, writer) for memory, item in pairs]
        new = [pair for pair, id in zip(pairs, existing, strict=True) if id is None]
        cite_again({id: memory for memory, id in zip(memories, existing, strict=True) if id}, writer)
        _refuse_same_titles([item.draft for _, item in new], writer)
        kept = {memory.id: memory for memory in writer.put([memory for memory, _ in new])}
        parents = {memory.id: _attach(memory.id, item, writer) for memory, item in new}
        links = [
            _bind(id or memory.id, item if id is None else replace(item, updates=()), writer)
            for id, (memory, item) in zip(existing, pairs, strict=True)
        ]
        vectors = {memory.id: item.vector for memory, item in new if item.vector is not None}
        writer.put_vectors(embeddings.model, vectors)
        if any(parents.values()) or any(item.draft.ties for _, item in new):  # their depths have changed
            kept = writer.get(list(kept))
    repeated = [id for id in existing if id is not None]
    if repeated:
        count_use(repeated, context)
        kept |= reader.get(repeated)
        parents |= parents_of(reader.ancestors(repeated))
    return [
        Remembered(memory=kept[id], parent=parents.get(id), links=made, existed=before is not None)
        for before, memory, made in zip(existing, memories, links, strict=True)
        for id in [before or memory.id]
    ]


def _existing_id(memory: Memory, draft: Draft, writer: Writer) -> str | None:
    """The id of the memory that has the same text; inside the transaction, so that two cannot both be new."""
    if not draft.once:
        return None
    kinds = TWIN_KINDS if memory.kind in TWIN_KINDS else frozenset({memory.kind})
    where = Filter(kinds=kinds, namespaces=frozenset({memory.namespace}))
    found = writer.get(writer.matching(terms(memory.content), SAME_TEXT_AMONG, where).strengths)
    parents = parents_of(writer.ancestors(found)) if draft.parent is not None else {}
    for id, stored in found.items():
        if is_twin(memory, stored) and (draft.parent is None or parents.get(id) == draft.parent):
            return id
    return None


def is_twin(memory: Memory, other: Memory) -> bool:
    """Whether a memory only repeats the other: the same text, and no title or type of its own."""
    return (
        folded(memory.content) == folded(other.content)
        and memory.project == other.project
        and (memory.type == other.type or memory.type in UNTYPED)
        and (folded(memory.title) == folded(other.title) or _is_opening(memory.title, memory.content))
    )


def _is_opening(title: str, content: str) -> bool:
    """Whether a title is the beginning of the text, as dialects take it, or empty."""
    return folded(content).startswith(folded(title).rstrip(" .…"))


def _check(draft: Draft) -> None:
    require_text(draft.content, "content")
    check_storable(draft.title, "title", TITLE_LIMIT_BYTES)
    check_storable(draft.summary, "summary")
    if require_text(draft.kind, "kind", SHORT_LIMIT_BYTES) == FILE:
        raise Invalid(f"kind {FILE!r} is for memories with a path; the tool of the surface files makes them")
    for name in ("type", "status", "source", "source_type", "session", "channel"):
        check_storable(getattr(draft, name), name, SHORT_LIMIT_BYTES)
    check_storable(draft.project or "", "project", PROJECT_LIMIT_BYTES)
    for flag in draft.flags:
        check_storable(flag, "flag", SHORT_LIMIT_BYTES)
    for tie in draft.ties:
        check_tie(tie)
    check_storable(_json(draft.metadata), "metadata")
    if not 0 <= draft.importance <= 1:
        raise Invalid(f"importance is {draft.importance}; it must be between 0 and 1")
    if not 0 <= draft.score <= 10:
        raise Invalid(f"score is {draft.score}; it must be between 0 and 10")


def _json(metadata: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(metadata), ensure_ascii=False, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Invalid(f"metadata must be JSON: {error}") from None


def _refuse_same_titles(drafts: Sequence[Draft], writer: Writer) -> None:
    """Inside the transaction, so that two writers cannot both be first."""
    for draft in drafts:
        if draft.unique_title:
            same = Filter(
                titles=frozenset({draft.title}),
                kinds=frozenset({draft.kind}),
                namespaces=frozenset({writer.namespace}),
                superseded=True,
            )
            for existing in writer.select(same, Page(limit=1)):
                raise Duplicate(f"a memory called {preview(draft.title, 80)!r} exists", existing.id)
    titles = [(draft.kind, draft.title) for draft in drafts if draft.unique_title]
    if twice := [title for kind, title in titles if titles.count((kind, title)) > 1]:
        raise Invalid(f"{preview(twice[0], 80)!r} is the title of two memories of this call")


def _place(draft: Draft, reader: Reader, embeddings: Embeddings, project: str) -> _Placed:
    """The draft's own parent; else the most similar root of its project, if it is similar enough; else none.

    A correction becomes a root beside the root that it corrects: below it, it would be a part of it.
    """
    if draft.parent is not None and not reader.get([draft.parent]):
        raise NotFound(f"unknown parent {preview(draft.parent, 80)}")
    looking = draft.parent is None and draft.auto_parent_above is not None
    if not (looking or draft.updates):
        return _Placed(draft, draft.parent)
    vectors = embeddings.embed_texts([passage_of(draft.title, draft.summary, draft.content, "")])
    if vectors is None:
        return _Placed(draft, draft.parent)
    updates = _updates(draft, vectors[0], reader, embeddings, project)
    home = _home(draft, vectors[0], reader, embeddings, project) if looking else draft.parent
    if looking and home in {tie.target for tie in updates}:
        home = None
    return _Placed(draft, home, vectors[0], updates)


def _home(draft: Draft, vector: Vector, reader: Reader, embeddings: Embeddings, project: str) -> str | None:
    """Among the roots of the same kind and project, the most similar one above the draft's threshold."""
    roots = Filter(roots=True, kinds=frozenset({draft.kind}), projects=frozenset({project}))
    threshold = draft.auto_parent_above or 0.0
    best = reader.near(vector, embeddings.model, 1, roots)
    return next((id for id, cosine in best.items() if embeddings.likeness(cosine) > threshold), None)


def _updates(
    draft: Draft, vector: Vector, reader: Reader, embeddings: Embeddings, project: str
) -> tuple[Tie, ...]:
    """Ties to what the draft changes a value of, or says again, in its project or in none; not where it says
    itself how it is tied.

    Likeness alone is not enough: incidents, say, are all alike and none is the update of another.
    """
    if not draft.updates:
        return ()
    tied_already = {tie.target for tie in draft.ties}
    where = Filter(other_kinds=OF_CONVERSATIONS, projects=frozenset({project}))
    nearest = reader.near(vector, embeddings.model, COMPARED, where)
    alike = {id: embeddings.likeness(cosine) for id, cosine in nearest.items() if id not in tied_already}
    memories = reader.get([id for id, likeness in alike.items() if likeness > UPDATES_ABOVE])
    updated = [
        id
        for id, memory in memories.items()
        if compare(memory.content, draft.content) in {Relation.UPDATE, Relation.SAME}
    ]
    return tuple(
        Tie(source="", target=id, type=UPDATES, weight=max(LEAST_UPDATE_WEIGHT, bond(alike[id])))
        for id in updated[:UPDATES_LIMIT]
    )


def _belongs_to(draft: Draft, project: str) -> str:
    """The project of a draft that is written in this one: what it says itself, or what it is about."""
    if draft.project is not None:
        return draft.project
    return "" if draft.type in ABOUT_THE_USER or draft.kind in EVERYWHERE else project


def _memory_of(draft: Draft, context: Context) -> Memory:
    memory = Memory(
        id=new_id(context.now),
        namespace=context.namespace,
        kind=draft.kind,
        type=draft.type,
        title=draft.title,
        summary=draft.summary,
        content=draft.content,
        status=draft.status,
        importance=draft.importance,
        score=draft.score,
        source=draft.source,
        source_type=draft.source_type,
        session=draft.session,
        channel=draft.channel,
        project=_belongs_to(draft, context.project),
        flags=draft.flags,
        metadata=draft.metadata,
        created_at=context.now,
        updated_at=context.now,
    )
    return with_citations(memory, context.tree)


def _bind(id: str, item: _Placed, writer: Writer) -> tuple[Link, ...]:
    """Make the draft's own links, and those to the memories it updates as far as they still exist."""
    current = writer.get([tie.target for tie in item.updates])
    ties = (*item.draft.ties, *(tie for tie in item.updates if tie.target in current))
    return tuple(put_link(replace(tie, source=tie.source or id), writer) for tie in ties)


def _attach(child: str, item: _Placed, writer: Writer) -> str | None:
    """Put it below its parent and return that. A found parent that was forgotten since leaves it a root."""
    if item.parent is None:
        return None
    if writer.get([item.parent]):
        tie = Tie(source=item.parent, target=child, kind="hierarchical")
        writer.put_links([new_link(tie, writer.cause.verb, writer.now)])
        return item.parent
    if item.draft.parent is not None:
        raise NotFound(f"unknown parent {preview(item.parent, 80)}: it was forgotten meanwhile")
    return None
