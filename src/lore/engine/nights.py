"""nights: what consolidation has done, and what waits for it. Light: whoever only asks does not run it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lore.health import Staged
from lore.model import LORE_CALL, SESSION, TURN, Filter
from lore.store import Reader, Writer

DIGEST, RUN = "digest/", "run/"
"""Under which names it is noted how far a conversation was digested, and what came of a run."""
TURNS = Filter(kinds=frozenset({TURN, LORE_CALL}))
"""All turns of a conversation; those that call Lore are counted, never digested."""
ATTEMPTS = 5
"""So often a conversation is tried before it is left to a person."""


def staged(reader: Reader, namespace: str) -> list[Staged]:
    """The conversations of which something is left to digest, the oldest first.

    A turn that was forgotten counts on, or as many new ones would seem digested.
    """
    notes = reader.noted(DIGEST)
    ids = reader.ids(Filter(kinds=frozenset({SESSION}), namespaces=frozenset({namespace})))
    turns = reader.count_below(ids, replace(TURNS, forgotten=True))
    left = {id: turns[id] - notes.get(DIGEST + id, {}).get("turns", 0) for id in ids}
    sessions = reader.get([id for id, count in left.items() if count > 0])
    found = [
        Staged(session=session, turns=left[id], noted=notes.get(DIGEST + id, {}))
        for id, session in sessions.items()
    ]
    return sorted(found, key=lambda one: (one.session.created_at, one.session.id))


def worth_trying(one: Staged, now: float) -> bool:
    """Neither given up, nor resting after a failure."""
    return one.attempts < ATTEMPTS and float(one.noted.get("retry_at", 0.0)) <= now


def retried(sessions: Sequence[str], writer: Writer) -> list[str]:
    """Forget that these could not be digested; those of which that was noted."""
    found = []
    for session in sessions:
        name = DIGEST + session
        noted = writer.noted(name).get(name, {})
        if "trouble" in noted:
            known = {key: value for key, value in noted.items() if key in ("turns", "until", "at")}
            writer.note(name, known or None)
            found.append(session)
    return found


def runs(reader: Reader) -> list[Mapping[str, Any]]:
    """The statistics of the last runs, latest first."""
    return [noted for _, noted in sorted(reader.noted(RUN).items(), reverse=True)]
