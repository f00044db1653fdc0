"""origins: a session → its turns → the memories that were derived from these turns alone."""

from collections.abc import Iterable, Set

from lore.model import ACCOUNT, DERIVED, DISTILLED, LORE_CALL, TURN, Memory
from lore.store import Reader

TURNS = frozenset({TURN, LORE_CALL})
BELOW = TURNS | {ACCOUNT}
"""What comes and goes with a session."""


def of_session(session: Memory, reader: Reader) -> dict[str, Memory]:
    """The turns of a session, and the distilled memories all of whose sources are among these turns.

    A memory is left out if a memory that is not in the result is its child or its source.
    """
    turns = {turn.id: turn for turn in _children(session, reader) if turn.kind in BELOW}
    current = {id: turn for id, turn in turns.items() if turn.forgotten_at is None}
    gone = {**turns, **_derived_alone(turns, reader)}
    while staying := [id for id in gone if id not in turns and _stays(id, gone.keys(), reader)]:
        for id in staying:
            del gone[id]
    return {id: memory for id, memory in gone.items() if id in current or id not in turns}


def gone_with(session: Memory, reader: Reader) -> dict[str, Memory]:
    """The turns and derived memories that were forgotten at the same moment as their session."""
    turns = [turn for turn in _children(session, reader) if turn.kind in BELOW]
    found = {turn.id: turn for turn in turns if turn.forgotten_at == session.forgotten_at}
    new = [turn.id for turn in turns]
    while new:
        sources = reader.get(_derived_from(new, reader), forgotten=True)
        fresh = {
            id: memory
            for id, memory in sources.items()
            if id not in found and memory.forgotten_at == session.forgotten_at
        }
        found |= fresh
        new = list(fresh)
    return found


def _children(session: Memory, reader: Reader) -> Iterable[Memory]:
    """The children of a session, forgotten memories included."""
    below = [
        link.target
        for link in reader.links([session.id], ended=True)
        if link.active and link.kind == "hierarchical" and link.source == session.id
    ]
    return reader.get(below, forgotten=True).values()


def _derived_alone(turns: Iterable[str], reader: Reader) -> dict[str, Memory]:
    """Distilled memories whose sources are all among these turns and such memories."""
    origins, found = set(turns), dict[str, Memory]()
    new = list(origins)
    while new:
        candidates = reader.get(_derived_from(new, reader)).values()
        fresh = {
            memory.id: memory
            for memory in candidates
            if memory.id not in found and memory.source_type == DISTILLED
            if _sources_of(memory.id, reader) <= origins
        }
        found |= fresh
        origins |= fresh.keys()
        new = list(fresh)
    return found


def _derived_from(ids: Iterable[str], reader: Reader) -> set[str]:
    """Ids of the memories that were derived from any of these."""
    links = (link for id in ids for link in reader.links([id], ended=True) if link.target == id)
    return {link.source for link in links if link.active and link.type == DERIVED}


def _sources_of(id: str, reader: Reader) -> set[str]:
    """Ids of the sources of a memory, without forgotten ones."""
    links = (link for link in reader.links([id], ended=True) if link.source == id)
    return set(reader.get({link.target for link in links if link.active and link.type == DERIVED}))


def _stays(id: str, gone: Set[str], reader: Reader) -> bool:
    """Whether a child or a source of a memory is not in `gone`."""
    return not {*reader.children([id])[id], *_sources_of(id, reader)} <= gone
