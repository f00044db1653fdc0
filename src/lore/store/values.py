"""Values that a store takes and returns, besides memories, links and records."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeVar

from lore.inspection import Event
from lore.model import Order, Successor, Trace

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Which part of a listing is wanted.

    cursor: of the listing before; empty for the first page. order: memories only. total: also count all.
    """

    limit: int = 100
    cursor: str = ""
    order: Order = "newest"
    total: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """The memories of one namespace, or those of some kinds and projects in it; empty sets mean all."""

    namespace: str
    kinds: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()


EVERY = Page(limit=1 << 62)
COUNT = Page(limit=0, total=True)


class Listing(list[Item]):
    """One page of items. cursor: the position behind the last one, opaque. more: whether others follow.

    total: the number of all, if the page asked for it.
    """

    def __init__(self, items: Iterable[Item], cursor: str = "", more: bool = False, total: int = 0) -> None:
        super().__init__(items)
        self.cursor, self.more, self.total = cursor, more, total


def ids_of(traces: Iterable[Trace]) -> list[str]:
    """The ids of a listing."""
    return [trace.id for trace in traces]


def parents_of(ancestors: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """child -> parent, for those that have one. ancestors: as a reader gives them."""
    return {id: way[-1] for id, way in ancestors.items() if way}


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory stands: ids and labels from the root down to its parent, and the newest successor."""

    path: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    successor: Successor | None = None


class Neighbours(dict[str, float]):
    """id -> cosine, best first. pending: memories in sight that have no vector of the model yet."""

    def __init__(self, cosines: Mapping[str, float], pending: int = 0) -> None:
        super().__init__(cosines)
        self.pending = pending


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalFilter:
    """Which entries of the journal are wanted: of one memory or link, of one transaction, or all; newest or
    oldest first."""

    id: str | None = None
    batch: str | None = None
    newest_first: bool = True


@dataclass(frozen=True, slots=True)
class DayCount:
    """The number of changes of one kind of memory on one day. day: since 1970-01-01."""

    day: int
    kind: str
    event: Event
    count: int


@dataclass(frozen=True, slots=True)
class Passage:
    """The text of one memory to embed; `version` tells whether the text has changed since."""

    id: str
    text: str
    version: int
    tenant: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """Memories without a vector: some of them to embed next, and the number of all."""

    passages: list[Passage]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TextMatches:
    """strengths: id -> how well it matches, best first. information: term -> how rare it is, in nats."""

    strengths: dict[str, float] = field(default_factory=dict)
    information: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """What a search or a read has shown. activation: added to each of these memories.

    together: the memories were shown side by side, so that each pair of them is counted.
    """

    ids: tuple[str, ...] = ()
    activation: Mapping[str, float] = field(default_factory=dict)
    together: bool = False


@dataclass(frozen=True, slots=True)
class Cooccurrence:
    """Two memories that were shown side by side: how often, and when last."""

    one: str
    other: str
    count: int
    last_at: float


SuggestionStatus = Literal["pending", "accepted", "rejected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A link that a sweep proposes for judgement; the pair (source < target) is unique."""

    id: str
    source: str
    target: str
    score: float
    signals: Mapping[str, float]
    created_at: float
    updated_at: float
    type: str = ""
    status: SuggestionStatus = "pending"


@dataclass(frozen=True, slots=True, kw_only=True)
class SuggestionFilter:
    """Which suggestions are wanted: by their ids, by a memory they touch, or those still to be judged.

    pending: status pending, both ends current and not linked since.
    """

    ids: tuple[str, ...] | None = None
    touching: tuple[str, ...] | None = None
    pending: bool = False
    min_score: float = 0.0
