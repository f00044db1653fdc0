"""remember: check the drafts → find each a home → keep memory, place and vector in one transaction."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lore.admit import admit
from lore.engine.embeddings import Embeddings
from lore.engine.link import check_tie, new_link, put_link
from lore.engine.use import count_use
from lore.errors import Duplicate, Invalid, NotFound
from lore.model import UPDATES, VERBATIM, Cause, Draft, Filter, Memory, Tie, new_id
from lore.ranking.compare import Relation, compare
from lore.ranking.graph import bond
from lore.store import Reader, Store, Writer
from lore.text import check_storable, folded, passage_of, preview, require_text, terms
from lore.vectors import Vector

TITLE_LIMIT_BYTES = 1_000
SHORT_LIMIT_BYTES = 500
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


def remember(
    drafts: Sequence[Draft],
    *,
    store: Store,
    reader: Reader,
    sense: Embeddings,
    namespace: str,
    cause: Cause,
    now: float,
    project: str = "",
) -> list[Memory]:
    """Keep all of them or none; findable by words when this returns, by meaning soon after.

    project: where they are written; a draft may say otherwise. A draft that is kept `once` gives the memory
    that was there before, which has at least one use; a new memory has none.
    """
    if len(drafts) > DRAFTS_LIMIT:
        raise Invalid(f"{len(drafts):,} memories at once; at most {DRAFTS_LIMIT:,}")
    for draft in drafts:
        _check(draft)
    drafts = admit(list(drafts))
    placed = [_place(draft, reader, sense, _belongs_to(draft, project)) for draft in drafts]

    memories = [_memory_of(item.draft, namespace, project, now) for item in placed]
    with store.transaction(namespace, cause, now) as writer:
        pairs = list(zip(memories, placed, strict=True))
        before = [_kept_before(memory, item.draft, writer) for memory, item in pairs]
        new = [pair for pair, id in zip(pairs, before, strict=True) if id is None]
        _refuse_same_titles([item.draft for _, item in new], namespace, writer)
        kept = writer.put([memory for memory, _ in new])
        for memory, item in new:
            _attach(memory.id, item, writer, cause, now)
            _bind(memory.id, item, writer, cause, now)
        for id, item in zip(before, placed, strict=True):
            if id is not None:
                _bind(id, replace(item, updates=()), writer, cause, now)
        vectors = {memory.id: item.vector for memory, item in new if item.vector is not None}
        writer.put_vectors(sense.model, vectors)
        if any(item.parent is not None or item.draft.ties for _, item in new):  # their depths have changed
            kept = list(writer.get([memory.id for memory, _ in new]).values())
    repeated = [id for id in before if id is not None]
    count_use(repeated, store=store, now=now)
    stored = {memory.id: memory for memory in kept} | reader.get(repeated)
    return [stored[id or memory.id] for id, memory in zip(before, memories, strict=True)]


def _kept_before(memory: Memory, draft: Draft, writer: Writer) -> str | None:
    """The id of the memory that has the same text; inside the transaction, so that two cannot both be new."""
    if not draft.once:
        return None
    kinds = TWIN_KINDS if memory.kind in TWIN_KINDS else frozenset({memory.kind})
    where = Filter(kinds=kinds, namespaces=frozenset({memory.namespace}))
    found = writer.get(writer.matching(terms(memory.content), SAME_TEXT_AMONG, where))
    parents = writer.parents(found) if draft.parent is not None else {}
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
    require_text(draft.kind, "kind", SHORT_LIMIT_BYTES)
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


def _refuse_same_titles(drafts: Sequence[Draft], namespace: str, writer: Writer) -> None:
    """Inside the transaction, so that two writers cannot both be first."""
    for draft in drafts:
        if draft.unique_title:
            same = Filter(
                titles=frozenset({draft.title}),
                kinds=frozenset({draft.kind}),
                namespaces=frozenset({namespace}),
                superseded=True,
            )
            for known in writer.select(same, 1):
                raise Duplicate(f"a memory called {preview(draft.title, 80)!r} exists", known.id)
    titles = [(draft.kind, draft.title) for draft in drafts if draft.unique_title]
    if twice := [title for kind, title in titles if titles.count((kind, title)) > 1]:
        raise Invalid(f"{preview(twice[0], 80)!r} is the title of two memories of this call")


def _place(draft: Draft, reader: Reader, sense: Embeddings, project: str) -> _Placed:
    """The draft's own parent; else the most similar root of its project, if it is similar enough; else none.

    A correction becomes a root beside the root that it corrects: below it, it would be a part of it.
    """
    if draft.parent is not None and not reader.get([draft.parent]):
        raise NotFound(f"unknown parent {preview(draft.parent, 80)}")
    looking = draft.parent is None and draft.auto_parent_above is not None
    if not (looking or draft.updates):
        return _Placed(draft, draft.parent)
    vectors = sense.embed_texts([passage_of(draft.title, draft.summary, draft.content, "")])
    if vectors is None:
        return _Placed(draft, draft.parent)
    updates = _updates(draft, vectors[0], reader, sense, project)
    home = _home(draft, vectors[0], reader, sense, project) if looking else draft.parent
    if looking and home in {tie.target for tie in updates}:
        home = None
    return _Placed(draft, home, vectors[0], updates)


def _home(draft: Draft, vector: Vector, reader: Reader, sense: Embeddings, project: str) -> str | None:
    """Among the roots of the same kind and project, the most similar one above the draft's threshold."""
    roots = Filter(roots=True, kinds=frozenset({draft.kind}), projects=frozenset({project}))
    threshold = draft.auto_parent_above or 0.0
    best = reader.near(vector, sense.model, 1, roots)
    return next((id for id, cosine in best.items() if sense.likeness(cosine) > threshold), None)


def _updates(
    draft: Draft, vector: Vector, reader: Reader, sense: Embeddings, project: str
) -> tuple[Tie, ...]:
    """Ties to what the draft changes a value of, or says again, in its project or in none; not where it says
    itself how it is tied.

    Likeness alone is not enough: incidents, say, are all alike and none is the update of another.
    """
    if not draft.updates:
        return ()
    tied_already = {tie.target for tie in draft.ties}
    where = Filter(other_kinds=VERBATIM, projects=frozenset({project}))
    nearest = reader.near(vector, sense.model, COMPARED, where)
    alike = {id: sense.likeness(cosine) for id, cosine in nearest.items() if id not in tied_already}
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


def _memory_of(draft: Draft, namespace: str, project: str, now: float) -> Memory:
    return Memory(
        id=new_id(now),
        namespace=namespace,
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
        project=_belongs_to(draft, project),
        flags=draft.flags,
        metadata=draft.metadata,
        created_at=now,
        updated_at=now,
    )


def _bind(id: str, item: _Placed, writer: Writer, cause: Cause, now: float) -> None:
    """The draft's own ties, and those to what it updates as far as that is still known."""
    known = writer.get([tie.target for tie in item.updates])
    for tie in (*item.draft.ties, *(tie for tie in item.updates if tie.target in known)):
        put_link(replace(tie, source=tie.source or id), writer, cause, now)


def _attach(child: str, item: _Placed, writer: Writer, cause: Cause, now: float) -> None:
    """Put it below its parent. A found parent that was forgotten since leaves it a root."""
    if item.parent is None:
        return
    if writer.get([item.parent]):
        writer.put_links(
            [new_link(Tie(source=item.parent, target=child, kind="hierarchical"), cause.verb, now)]
        )
    elif item.draft.parent is not None:
        raise NotFound(f"unknown parent {preview(item.parent, 80)}: it was forgotten meanwhile")
