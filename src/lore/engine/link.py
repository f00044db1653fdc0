"""link, unlink: check both ends → refuse cycles → keep or end the links."""

from collections.abc import Sequence
from dataclasses import replace

from lore.admit import admit
from lore.engine.context import Context
from lore.errors import Invalid, NotFound
from lore.model import LINK_KINDS, SHARED, Link, Tie, new_id
from lore.store import Writer
from lore.text import check_storable, listed, preview


def link(ties: Sequence[Tie], context: Context) -> list[Link]:
    """Tie memories together, all or none. A tie that exists is renewed; a new parent replaces the old."""
    for tie in ties:
        check_tie(tie)
    with context.transaction() as writer:
        return [put_link(tie, writer) for tie in admit(list(ties))]


def unlink(ids: Sequence[str], context: Context) -> list[str]:
    """End links; the ids that were active. A child whose tie to its parent ends becomes a root."""
    with context.transaction() as writer:
        active = [link for link in writer.links(ids=ids, ended=True) if link.active]
        writer.put_links([end_link(link, context.now) for link in active])
        return [link.id for link in active]


def new_link(tie: Tie, by: str, now: float) -> Link:
    """A new link as somebody wants it."""
    return Link(
        id=new_id(now),
        source=tie.source,
        target=tie.target,
        kind=tie.kind,
        type=tie.type,
        weight=tie.weight,
        reason=tie.reason,
        created_at=now,
        updated_at=now,
        created_by=by,
    )


def end_link(link: Link, now: float) -> Link:
    """The same link, no longer active."""
    return replace(link, active=False, ended_at=now, updated_at=now)


def check_tie(tie: Tie) -> None:
    """Refuse what could never be a link, whatever is stored."""
    if tie.kind not in LINK_KINDS:
        raise Invalid(f"unknown kind of link {tie.kind!r}; known: {listed(LINK_KINDS)}")
    if tie.source == tie.target:
        raise Invalid(f"a memory cannot be linked to itself: {preview(tie.source, 80)}")
    if not 0 <= tie.weight <= 1:
        raise Invalid(f"weight is {tie.weight}; it must be between 0 and 1")
    check_storable(tie.type, "type", 500)
    check_storable(tie.reason, "reason")


def put_link(tie: Tie, writer: Writer) -> Link:
    """Keep one link; both ends must be known."""
    ends = writer.get([tie.source, tie.target])
    for end in (tie.source, tie.target):
        if end not in ends:
            raise NotFound(f"unknown memory {preview(end, 80)}")
    if tie.kind == "hierarchical":
        parent, child = ends[tie.source].namespace, ends[tie.target].namespace
        if parent not in (child, SHARED) and child != writer.namespace:
            whose = "is shared" if child == SHARED else f"belongs to {child}"
            raise Invalid(f"{tie.target} {whose}; it cannot hang below a memory that others do not see")
        _make_room(tie, writer)
    [stored] = writer.put_links([new_link(tie, writer.cause.verb, writer.now)])
    return stored


def _make_room(tie: Tie, writer: Writer) -> None:
    """A memory has one parent, and never below itself."""
    if tie.target in writer.ancestors([tie.source])[tie.source]:
        raise Invalid(f"{tie.target} is above {tie.source}; it cannot also be below it")
    above = [
        link
        for link in writer.links([tie.target], ended=True)
        if link.target == tie.target and link.kind == "hierarchical" and link.active
    ]
    same = (tie.source, tie.type)
    writer.put_links([end_link(link, writer.now) for link in above if (link.source, link.type) != same])
