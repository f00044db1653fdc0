"""supersede: check both memories → the old one gives way → the new one takes over what hangs below it."""

from dataclasses import replace

from lore.engine.entity_view import OBSERVATION, refresh_entities_of
from lore.engine.link import put_link
from lore.errors import Invalid, NotFound
from lore.model import SHARED, Cause, Memory, Tie
from lore.store import Store, Writer
from lore.text import preview


def supersede(old: str, new: str, *, store: Store, namespace: str, cause: Cause, now: float) -> Memory:
    """Mark `old` as replaced by `new`; the old memory as it is now.

    From then on only a search of the history finds it. It stays readable and names its successor.
    """
    with store.transaction(namespace, cause, now) as writer:
        before = _checked(old, new, writer)
        if before.superseded_by == new:
            return before
        _hand_over(old, new, writer, cause, now)
        reason = cause.reason or "replaced"
        put_link(Tie(source=new, target=old, kind="supersedes", reason=reason), writer, cause, now)
        after = replace(before, superseded_by=new, superseded_at=now, updated_at=now)
        [stored] = writer.put([after])
        refresh_entities_of([stored], writer=writer, now=now)
    return stored


def _checked(old: str, new: str, writer: Writer) -> Memory:
    """The old memory; Invalid if the new one cannot take its place."""
    if old == new:
        raise Invalid(f"a memory cannot replace itself: {preview(old, 80)}")
    memories = writer.get([old, new])
    for id in (old, new):
        if id not in memories:
            raise NotFound(f"unknown memory {preview(id, 80)}")
    older, newer = memories[old], memories[new]
    if newer.superseded_by is not None:
        raise Invalid(f"{new} was itself replaced by {newer.superseded_by}; name that one")
    if older.superseded_by not in (None, new):
        raise Invalid(f"{old} was already replaced by {older.superseded_by}; replace that one")
    if older.namespace == SHARED != newer.namespace:
        raise Invalid(f"{old} is shared; a memory that others do not see cannot replace it")
    if old in writer.ancestors([new])[new]:
        raise Invalid(f"{new} hangs below {old}; move it elsewhere before it replaces that")
    return older


def _hand_over(old: str, new: str, writer: Writer, cause: Cause, now: float) -> None:
    """Children move to the new memory, but for the observations of an entity, which are its own."""
    below = [
        link.target
        for link in writer.all_links(old)
        if link.active and link.kind == "hierarchical" and link.source == old
    ]
    for child in writer.get(below).values():
        if child.kind != OBSERVATION:
            put_link(Tie(source=new, target=child.id, kind="hierarchical"), writer, cause, now)
