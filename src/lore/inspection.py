"""Inspection: the store as a whole and its past, as people look at it and correct it, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from lore.model import Entry, LinkKind, Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Browsed:
    """One page of memories. cursor: for the next page. total: of all pages, if it was wanted.

    relevance: of each memory on the page, 0 to 1.
    """

    memories: tuple[Memory, ...]
    cursor: str
    more: bool
    total: int
    relevance: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """One page of the journal, newest first. labels: of the memories and links in it, by id."""

    entries: tuple[Entry, ...]
    labels: Mapping[str, str]
    cursor: str
    more: bool


Event = Literal["learnt", "changed", "replaced", "forgotten", "restored"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Day:
    """What happened to memories on one day (`YYYY-MM-DD`). total: current memories at its end.

    turns: recorded turns of conversations. All other counts leave out what was only said.
    """

    day: str
    learnt: int = 0
    changed: int = 0
    replaced: int = 0
    forgotten: int = 0
    restored: int = 0
    total: int = 0
    turns: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """The last days, oldest first. relevance: memories by tenths of their relevance, the lowest first."""

    days: tuple[Day, ...]
    relevance: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class LearntTurn:
    """A turn of a conversation, and the current memories that were derived from it."""

    turn: Memory
    memories: tuple[Memory, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Learnt:
    """Some turns of a conversation in their order. memories: of the conversation, but of no single turn.

    cursor: for the next page; `memories` are on the first page only. total: turns of the whole conversation.
    """

    session: Memory
    turns: tuple[LearntTurn, ...]
    memories: tuple[Memory, ...]
    cursor: str
    more: bool
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Undone:
    """The memories and links that an undo changed, by id. batch: of the undo itself; empty for a dry run."""

    batch: str
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Purged:
    """Memories that were erased, and the erased rows by table. backups: copies that still hold them."""

    ids: tuple[str, ...]
    rows: Mapping[str, int]
    backups: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Memories of these very projects, sessions, kinds and sources, created in this time; empty fields do not
    count.

    sessions: as in `Memory.session`, or ids of session memories. created_before: exclusive.
    """

    projects: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    source_types: frozenset[str] = frozenset()
    created_after: float | None = None
    created_before: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """Memories that were forgotten together, or would be. batch: for `undo`; empty if nothing was done."""

    count: int
    ids: tuple[str, ...]
    batch: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MapNode:
    """A memory on the map. cluster: the id of its cluster."""

    id: str
    label: str
    kind: str
    type: str
    project: str
    relevance: float
    depth: int
    cluster: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MapLink:
    """A link on the map. source, target: places of its ends in the list of nodes."""

    source: int
    target: int
    kind: LinkKind
    type: str
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MapCluster:
    """Nodes with many links among them. label: of the node with most of these. size: their number."""

    id: int
    label: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeMap:
    """The most important memories and the links between them. total: of all memories that pass."""

    nodes: tuple[MapNode, ...]
    links: tuple[MapLink, ...]
    clusters: tuple[MapCluster, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """The relevance of a memory over time: pairs of a time and the relevance then.

    uses: times at which the curve assumes a use. now: the time that parts past and future.
    """

    points: tuple[tuple[float, float], ...]
    uses: tuple[float, ...]
    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """Two memories of which consolidation has hidden the older one. key: for `judge`."""

    key: str
    batch: str
    at: float
    older: Memory
    newer: Memory
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A memory that no agent gets unasked, and why. key: for `judge`."""

    key: str
    memory: Memory
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """The outcome of one judgement. why: the reason why nothing was done; then it stays in the inbox."""

    key: str
    accepted: bool
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """One page of memories as they were at a past time, the latest first. total: of all pages."""

    memories: tuple[Memory, ...]
    cursor: str
    more: bool
    total: int = field(default=0)
