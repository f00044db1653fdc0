"""consolidation_backlog: sessions that wait for consolidation, and past runs. Light: imports no phase."""

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
RETRY_SECONDS = 15 * 60
"""How long after a first failure it is asked again; twice as long after each further one."""
LONGEST_REST_SECONDS = RETRY_SECONDS * 2 ** (ATTEMPTS - 1)
SKEW_SECONDS = 300.0
"""By how much the clock of whoever wrote a turn may be ahead of ours."""


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
    """Neither given up, nor resting after a failure; a rest that a wrong clock has set is over."""
    wait = float(one.noted.get("retry_at", 0.0)) - now
    return one.attempts < ATTEMPTS and not 0 < wait <= LONGEST_REST_SECONDS


def lately(now: float, seconds: float) -> Filter:
    """The turns of the last `seconds`, until now; one of the future was dated by a wrong clock."""
    return replace(TURNS, created_after=now - seconds, created_before=now + SKEW_SECONDS)


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
