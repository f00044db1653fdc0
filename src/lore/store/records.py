"""Records: typed rows that Lore keeps about its own work, one class and one table for each kind.

A record belongs to one namespace and has no journal; `KEYS` names the fields that tell records of a kind
apart. Fields are plain values, or mappings and tuples that are stored as JSON.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from lore.bookmark import Bookmark as Bookmark

UPKEEP_JOB = "upkeep"
"""The job of each namespace of a store that many servers share: see whether it needs consolidation."""
UPKEEP_SECONDS = 300.0
"""Seconds after a change at which that job is due, unless it is due earlier."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A recurring piece of work: when it is due, when its last complete run began, and who may not take it.

    claimed_until: until then somebody is at work on it.
    """

    name: str
    due_at: float = 0.0
    done_at: float = 0.0
    claimed_until: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestProgress:
    """How far a session is digested.

    turns: digested turns. until: the highest alias among them. attempts, retry_at, error: of the failures
    since then.
    """

    session: str
    turns: int = 0
    until: int = 0
    digested_at: float = 0.0
    attempts: int = 0
    retry_at: float = 0.0
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionAnswers:
    """Answers of a language model about a session whose digest is not complete, by question."""

    session: str
    answers: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseMark:
    """The last complete run of a consolidation phase.

    settings: the model and the settings that it ran with. seen: what it need not look at again.
    """

    phase: str
    done_at: float = 0.0
    settings: str = ""
    seen: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationRun:
    """The statistics of one consolidation run. seconds: its duration.

    fallback: the reason why rules stood in for a language model.
    """

    began_at: float
    seconds: float
    phases: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    fallback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What one language model took on one day (UTC). unpriced: tokens without a known price."""

    day: str
    model: str
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    dollars: float = 0.0
    unpriced: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """Lets its holder call a server. digest: of the secret, which is not kept.

    of_tenant, namespaces: what the holder sees; it acts in the first namespace unless it names another one of
    them. rights: of `verbs.Right`. expires_at: None for never.
    """

    id: str
    name: str
    digest: str
    of_tenant: str
    namespaces: tuple[str, ...]
    rights: tuple[str, ...]
    created_at: float
    expires_at: float | None = None
    last_used_at: float | None = None
    revoked_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncMark:
    """How far this store has followed another one, or that one this: a cursor of the journal.

    remote: the address of the server. direction: `push` (turns), `send` (changes of memories) or `pull`.
    epoch: of both stores; the cursor holds within it. held: ids before the cursor that one end could not take
    yet, in their order; they are tried again.
    """

    remote: str
    direction: str
    cursor: str = ""
    moved_at: float = 0.0
    epoch: str = ""
    held: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldStamps:
    """When the fields of a memory or link last changed, in all stores that it was merged with.

    id: of the memory or link in this store. stamps: field -> seconds. seq: of the last journal entry that
    they include; later changes of this store are only in the journal.
    """

    id: str
    stamps: Mapping[str, float]
    seq: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What a person decided about something that Lore did or holds back. key: see `engine.inbox`."""

    key: str
    verdict: Literal["accepted", "rejected"]
    judged_at: float
    judged_by: str = ""


Record = (
    Bookmark
    | Job
    | DigestProgress
    | SessionAnswers
    | PhaseMark
    | ConsolidationRun
    | Spending
    | AccessToken
    | SyncMark
    | FieldStamps
    | Judgement
)
AnyRecord = TypeVar("AnyRecord", bound=Record)

KEYS: dict[Any, tuple[str, ...]] = {
    Bookmark: ("path",),
    Job: ("name",),
    DigestProgress: ("session",),
    SessionAnswers: ("session",),
    PhaseMark: ("phase",),
    ConsolidationRun: ("began_at",),
    Spending: ("day", "model"),
    AccessToken: ("id",),
    SyncMark: ("remote", "direction"),
    FieldStamps: ("id",),
    Judgement: ("key",),
}
"""The fields that tell the records of a namespace apart."""


def key_of(record: Record) -> dict[str, Any]:
    """The key fields of a record, by name."""
    return {name: getattr(record, name) for name in KEYS[type(record)]}
