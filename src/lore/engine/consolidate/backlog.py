"""Backlog: what waits for consolidation, what it waits for, and past runs. This module imports no phase."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from lore.engine.context import Context
from lore.health import Embeds, Staged
from lore.model import LORE_CALL, SESSION, TURN, Filter
from lore.store import Reader
from lore.store.records import ConsolidationRun, DigestProgress, PhaseMark
from lore.store.values import ids_of

if TYPE_CHECKING:
    from lore.engine import Lore

TURNS = Filter(kinds=frozenset({TURN, LORE_CALL}))
"""All turns of a session; calls to Lore are counted, but never digested."""
ATTEMPTS = 5
"""A session that failed this many times waits for a person."""
RETRY_SECONDS = 15 * 60
"""The wait after a first failure; it doubles with each further one."""
LONGEST_WAIT_SECONDS = RETRY_SECONDS * 2 ** (ATTEMPTS - 1)
BY_RULES = "digest by rules"
"""The name of the note about sessions that rules digested because the language model could not be asked."""
SKEW_SECONDS = 300.0
"""A turn may be dated this far in the future, by a clock that is ahead of ours."""


def staged(reader: Reader) -> list[Staged]:
    """The sessions with turns that are not digested yet, oldest first.

    Forgotten turns count too; otherwise as many new turns would seem digested.
    """
    progress = {one.session: one for one in reader.records(DigestProgress)}
    ids = ids_of(reader.traces(Filter(kinds=frozenset({SESSION}), namespaces=frozenset({reader.namespace}))))
    turns = reader.count_below(ids, replace(TURNS, forgotten=True))
    left = {id: turns[id] - (progress[id].turns if id in progress else 0) for id in ids}
    sessions = reader.get([id for id, count in left.items() if count > 0])
    found = [
        Staged(session=session, turns=left[id], **_failures(progress.get(id)))
        for id, session in sessions.items()
    ]
    return sorted(found, key=lambda one: (one.session.created_at, one.session.id))


def by_rules(reader: Reader) -> PhaseMark:
    """`seen`: the sessions that a language model should digest again."""
    return next(iter(reader.records(PhaseMark, phase=BY_RULES)), PhaseMark(phase=BY_RULES))


def worth_trying(one: Staged, now: float) -> bool:
    """Whether the session neither has failed too often nor waits after a failure.

    A wait that is longer than the longest possible one was set by a wrong clock.
    """
    wait = one.retry_at - now
    return one.attempts < ATTEMPTS and not 0 < wait <= LONGEST_WAIT_SECONDS


def recent_turns(now: float, seconds: float) -> Filter:
    """The turns of the last `seconds`; a later date than now comes from a wrong clock."""
    return replace(TURNS, created_after=now - seconds, created_before=now + SKEW_SECONDS)


def retry(sessions: Sequence[str], context: Context) -> list[str]:
    """Clear the failure state of these sessions; returns the ids that had one."""
    with context.transaction() as writer:
        failed = [one for id in sessions for one in writer.records(DigestProgress, session=id) if one.error]
        writer.put_records([replace(one, attempts=0, retry_at=0.0, error="") for one in failed])
    return [one.session for one in failed]


def runs(reader: Reader) -> list[Mapping[str, Any]]:
    """The statistics of the last runs, latest first."""
    return [asdict(run) for run in reversed(reader.records(ConsolidationRun))]


def to_embed(lore: "Lore") -> Embeds:
    """The memories that must be embedded before a consolidation: all of the store.

    If many processes embed together, only those in sight: somewhere in the store another one always waits.
    """
    if not lore.store.embeds_together:
        return lore
    return _InSight(lore, lore.store.reader(lore.namespace, lore.tenant))


@dataclass(frozen=True, slots=True)
class _InSight:
    """See `Embeds`."""

    lore: "Lore"
    reader: Reader

    def pending(self) -> int:
        return self.reader.counts(self.lore.embeddings.model).pending

    def embed_batch(self) -> int | None:
        return self.lore.embed_batch()


def _failures(progress: DigestProgress | None) -> dict[str, Any]:
    if progress is None:
        return {}
    return {"attempts": progress.attempts, "retry_at": progress.retry_at, "trouble": progress.error}
