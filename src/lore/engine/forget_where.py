"""forget_where: all memories of a project, session, kind or time → hidden together, or only counted."""

from collections.abc import Iterator
from dataclasses import replace

from lore.engine import origins
from lore.engine.accounts import renew_accounts
from lore.engine.context import Context
from lore.engine.forget import hide_all
from lore.engine.undo import batch_of
from lore.errors import Invalid
from lore.inspection import Forgotten, Selection
from lore.model import ACCOUNT, LORE_CALL, SESSION, SHARED, Filter, Memory
from lore.store import Reader
from lore.store.values import Part, ids_of

READ_AT_ONCE = 1_000


def forget_where(where: Selection, context: Context, *, dry_run: bool) -> Forgotten:
    """Hide all memories that pass, replaced ones included, in one transaction, which `undo` takes back.

    With a session go its turns, and the memories that came from these alone; with an entity its
    observations. dry_run: only count them.
    """
    _refuse_everything(where)
    among = _of_projects(where, context) if where.projects else None
    if dry_run:
        found = _selected(where, among, context.reader)
        ids = [id for id, memory in found.items() if memory.kind != ACCOUNT]
        return Forgotten(count=len(ids), ids=tuple(ids))
    with context.transaction() as writer:
        selected = _selected(where, among, writer)
        hidden = hide_all(selected, writer) if selected else []
        batch = batch_of(hidden, writer)
    renew_accounts(selected.values(), context)
    shown = [id for id in hidden if id not in selected or selected[id].kind != ACCOUNT]
    return Forgotten(count=len(shown), ids=tuple(shown), batch=batch)


def _refuse_everything(where: Selection) -> None:
    if where == Selection():
        raise Invalid("this would forget everything; name projects, sessions, kinds, sources or a time")
    times = (where.created_after, where.created_before)
    if None not in times and times[0] >= times[1]:  # type: ignore[operator]
        raise Invalid(f"created_after ({times[0]}) must be before created_before ({times[1]})")


def _of_projects(where: Selection, context: Context) -> list[str]:
    """The memories in sight of these very projects, forgotten ones included."""
    kinds = where.kinds
    with context.store.snapshot(context.tenant) as snapshot:
        return [
            id
            for name in dict.fromkeys((context.namespace, SHARED, *context.teams))
            for id in snapshot.ids(Part(name, kinds, where.projects))
        ]


def _selected(where: Selection, among: list[str] | None, reader: Reader) -> dict[str, Memory]:
    """The memories that pass and are not forgotten, and what goes along with sessions. among: only these."""
    passing = Filter(
        kinds=where.kinds,
        sources=where.sources,
        source_types=where.source_types,
        sessions=_sessions(where, reader),
        created_after=where.created_after,
        created_before=where.created_before,
        ids=None if among is None else tuple(among),
        superseded=True,
    )
    ids = ids_of(reader.traces(passing))
    if not where.kinds:
        ids += ids_of(reader.traces(replace(passing, kinds=frozenset({LORE_CALL}))))
    found = {memory.id: memory for memory in _read(ids, reader)}
    for memory in list(found.values()):
        if memory.kind == SESSION:
            found |= {id: one for id, one in origins.of_session(memory, reader).items() if id not in found}
    return found


def _sessions(where: Selection, reader: Reader) -> frozenset[str]:
    """The sessions by their own ids; those of session memories in place of the ids of these."""
    headings = reader.get(where.sessions)
    return frozenset(headings[id].session if id in headings else id for id in where.sessions)


def _read(ids: list[str], reader: Reader) -> Iterator[Memory]:
    for start in range(0, len(ids), READ_AT_ONCE):
        yield from reader.get(ids[start : start + READ_AT_ONCE]).values()
