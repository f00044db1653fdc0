"""The nouns: what every floor of Lore speaks about, as frozen values."""

import os
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

SHARED, PRIVATE = "shared", "private"  # the namespace everybody reads; the flag of what never leaves a store
LinkKind = Literal["hierarchical", "associative", "temporal", "supersedes", "relation"]
LINK_KINDS: tuple[LinkKind, ...] = ("hierarchical", "associative", "temporal", "supersedes", "relation")
Format = Literal["ids", "title", "full"]
FORMATS: tuple[Format, ...] = ("ids", "title", "full")
Order = Literal["newest", "importance", "use", "newest below", "shuffled"]
TURN, SESSION, LORE_CALL = "turn", "session", "lore-call"  # lore-call: an agent's call to Lore, never found
VERBATIM = frozenset({TURN, SESSION, LORE_CALL})  # kinds that record what was said and done
ACCOUNT = "account"  # the kind of the report of one conversation, which Lore makes from its turns
OF_CONVERSATIONS = VERBATIM | {ACCOUNT}  # kinds that are made from transcripts alone
STORED_TRUST = 0.8  # in a memory that somebody stored on purpose, 0 to 1; `ingest` sets that of turns
AGENT_TRUST = 0.6  # in what an agent stored; it is no rule until the user said or accepted it
AGENT = "agent"  # the key in the metadata of what an agent stored: the name of its client
DISTILLED = "distilled"  # the source type of what Lore has written itself
AGENT_FILE = "agent-file"  # the source type of what a client's agent has written into a file of its own
DERIVED = "derived_from"  # the type of the link from a distilled memory to a turn it came from
UPDATES = "updates"  # the type of the link from a correction to the memory that it corrects
OVERVIEW_OF = "overview_of"  # Under which name a root remembers what its overview was made of
FULL_LENGTH = "full_length"  # in the metadata of a turn whose content is an excerpt: all its characters
PENDING_COUNTED = 1_000  # up to this number a search counts memories that are not embedded yet
DETAILS = 3  # the level of a tree from which on all is detail
ID_TAIL = 8  # the last characters of an id stand for it: 32 random bits, whereas its beginning is the time


def new_id(now: float) -> str:
    """A uuid of version 7: ids made later sort later."""
    stamp = max(0, int(now * 1000)) & ((1 << 48) - 1)
    chance = int.from_bytes(os.urandom(10))
    bits = stamp << 80 | 0x7 << 76 | chance >> 68 << 64 | 0b10 << 62 | chance & ((1 << 62) - 1)
    return str(uuid.UUID(int=bits))


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """A node: something that is known. project: key of the repository or folder that it belongs to; empty: it
    counts everywhere. author: name of who wrote it; empty: the user of this machine. A read changes only
    `access_count` to `activated_at`."""

    id: str
    content: str
    created_at: float
    updated_at: float
    alias: int = 0
    namespace: str = SHARED
    kind: str = "note"
    type: str = ""
    title: str = ""
    summary: str = ""
    context: str = ""
    depth: int = 0
    status: str = ""
    importance: float = 0.5
    score: float = 5.0
    confidence: float | None = None
    confidence_count: int = 0
    source: str = ""
    source_type: str = "observed"
    session: str = ""
    channel: str = ""
    project: str = ""
    trust: float = STORED_TRUST
    superseded_by: str | None = None
    superseded_at: float | None = None
    forgotten_at: float | None = None
    forgotten_reason: str = ""
    flags: frozenset[str] = frozenset()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    author: str = ""
    access_count: int = 0
    access_days: int = 0
    last_accessed_at: float | None = None
    last_reinforced_at: float | None = None
    activation: float = 0.0
    activated_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The numbers that a memory's relevance is computed from, without its text."""

    id: str
    importance: float
    created_at: float
    access_count: int
    last_reinforced_at: float | None
    activation: float
    activated_at: float | None
    type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An edge between two memories; (source, target, kind, type) is unique.

    hierarchical: source is the parent. supersedes: source is the newer one.
    """

    id: str
    source: str
    target: str
    kind: LinkKind
    created_at: float
    updated_at: float
    alias: int = 0
    type: str = ""
    weight: float = 1.0
    score: float = 1.0
    confidence: float | None = None
    confidence_count: int = 0
    reason: str = ""
    active: bool = True
    ended_at: float | None = None
    created_by: str = ""

    def other(self, end: str) -> str:
        """The end that is not `end`."""
        return self.target if self.source == end else self.source


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory that somebody wants to keep; ids, depth and times are given when it is kept.

    parent: attach below this memory. auto_parent_above: without a parent, attach below the most similar root
    if its likeness is above this number. embed_now: embed before returning, where no background thread
    runs. unique_title: refused as a Duplicate if a memory of this kind in the same namespace is called the
    same. ties: links to begin with; an empty source is this memory. updates: also tied, as an update, to
    similar memories of which it changes a value or repeats the words. once: where the same text is kept
    already in this project, that memory stands and a use of it is counted, unless the draft has a title or
    type of its own. project: None leaves it to the place where it is written.
    """

    content: str
    title: str = ""
    summary: str = ""
    kind: str = "note"
    type: str = ""
    status: str = ""
    parent: str | None = None
    auto_parent_above: float | None = None
    embed_now: bool = False
    unique_title: bool = False
    importance: float = 0.5
    score: float = 5.0
    source: str = ""
    source_type: str = "observed"
    session: str = ""
    channel: str = ""
    project: str | None = None
    flags: frozenset[str] = frozenset()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    ties: tuple["Tie", ...] = ()
    updates: bool = False
    once: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What to change about one memory; None leaves a field as it is."""

    id: str
    content: str | None = None
    title: str | None = None
    summary: str | None = None
    type: str | None = None
    status: str | None = None
    importance: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tie:
    """A link that somebody wants between two memories."""

    source: str
    target: str
    kind: LinkKind = "associative"
    type: str = ""
    weight: float = 1.0
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which memories count. Empty collections and None mean "any"; `other_kinds` are left out.

    Calls to Lore (LORE_CALL) count only if `kinds` names them. other_sessions: their turns are left out, not
    what was distilled from them. categories: see `ranking.decay`. level: a cut through the trees, that is
    what lies this deep and the leaves above it; from DETAILS on, also all that lies deeper; below DETAILS no
    leaves above. projects: what belongs to one of them, and what belongs to none. beside: together with
    `ids`, also the turns directly before and after these.
    """

    namespaces: frozenset[str] = frozenset()
    kinds: frozenset[str] = frozenset()
    other_kinds: frozenset[str] = frozenset()
    types: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    source_types: frozenset[str] = frozenset()
    sessions: frozenset[str] = frozenset()
    other_sessions: frozenset[str] = frozenset()
    projects: frozenset[str] = frozenset()
    titles: frozenset[str] = frozenset()
    authors: frozenset[str] = frozenset()
    created_after: float | None = None
    created_before: float | None = None
    updated_after: float | None = None
    categories: frozenset[str] = frozenset()
    roots: bool = False
    level: int | None = None
    under: str | None = None
    ids: tuple[str, ...] | None = None
    beside: tuple[str, ...] = ()
    superseded: bool = False
    forgotten: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Everything one search needs to know. An empty text is allowed only with `where.ids`: then it is a
    look-up, in the order given. as_of: search what was known then, in the words of that time, unused.
    """

    text: str
    where: Filter = Filter()
    limit: int = 10
    policy: str = "lore"
    deep: bool = False
    min_score: float = 0.0
    format: Format = "full"
    budget_tokens: int | None = None
    counted: bool = True
    as_of: float | None = None


@dataclass(frozen=True, slots=True)
class Signal:
    """One reason for a score: how strong it was (0 to 1) and how much that counts."""

    strength: float
    weight: float

    @property
    def points(self) -> float:
        return self.strength * self.weight


@dataclass(frozen=True, slots=True, kw_only=True)
class Successor:
    """A newer memory that replaces an older one, or only updates it. at: since when."""

    id: str
    label: str
    at: float
    replaces: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that was found, and why. score = fade x the sum of the signals' points.

    breadcrumb: labels of the memories above it, from the root down. via: the name or the link by which a deep
    search came to it. evidence: the signals behind `match`, if the score has that signal. sources: ids of
    the turns that it stands for. citations: files of the caller's repository -> fresh, changed or gone.
    standing: why it is less than the user's word: held back, a tool's output, an agent's note; else empty.
    """

    memory: Memory
    score: float
    signals: Mapping[str, Signal]
    relevance: float
    fade: float = 1.0
    breadcrumb: tuple[str, ...] = ()
    via: str = ""
    evidence: Mapping[str, Signal] = field(default_factory=dict)
    sources: tuple[str, ...] = ()
    successor: Successor | None = None
    citations: Mapping[str, str] = field(default_factory=dict)
    standing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a search found, and how it searched.

    hidden/best_hidden: hits below the threshold, or not relevant at all. elsewhere: weak hits of other
    projects that are not shown. cut: hits that limit or token budget left out. embedding_state: whether
    meaning took part; words always do. error: why the model is missing. stored: how much there is to search,
    counted only when the answer needs it to explain itself. repeated: hits that only repeat those listed.
    in_progress: turns of the caller's own conversation that match; both are left out.
    """

    hits: tuple[Hit, ...]
    stored: int | None = None
    hidden: int = 0
    best_hidden: float = 0.0
    elsewhere: int = 0
    cut: int = 0
    repeated: int = 0
    in_progress: int = 0
    embedding_state: Literal["ready", "warming", "missing"] = "ready"
    pending: int = 0
    error: str = ""

    def notes(self) -> tuple[str, ...]:
        """What the asker should know about this answer; empty when there is nothing to add."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[str]:
        if self.stored == 0:
            yield "Nothing is stored yet."
        elif self.stored is not None and not self.hits and not self.hidden:
            yield f"Nothing matched; there {_are(self.stored, 'memory', 'memories')} to search."
        if self.hidden and not self.hits:
            found = _are(self.hidden, "weak hit", "weak hits")
            yield f"Nothing relevant; there {found}, not shown (best score {self.best_hidden:.3f})."
        if self.elsewhere:
            yield f"There {_are(self.elsewhere, 'weaker hit', 'weaker hits')} in other projects, not shown."
        if self.repeated:
            yield f"Not listed: {_count(self.repeated, 'repeat', 'repeats')} of these."
        if self.in_progress:
            yield f"Not listed: {_count(self.in_progress, 'turn', 'turns')} of the conversation in progress."
        if self.embedding_state == "missing":
            yield f"Searched by words only: {self.error}."
        elif self.embedding_state == "warming":
            yield "Searched by words only: the embedding model is still loading."
        elif self.pending:
            more = " or more" if self.pending >= PENDING_COUNTED else ""
            waiting = _are(self.pending, "memory", "memories") + more
            yield f"There {waiting} not embedded yet; by words they are found already."


def _count(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


def _are(count: int, one: str, many: str) -> str:
    return f"is 1 {one}" if count == 1 else f"are {count:,} {many}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """One memory as it is read: with its place in the tree and its ties."""

    memory: Memory
    relevance: float
    parent: str | None
    breadcrumb: tuple[str, ...]
    children: tuple[str, ...]
    links: tuple[Link, ...]
    successor: Successor | None = None
    citations: Mapping[str, str] = field(default_factory=dict)
    standing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A stored memory, its parent and new links. existed: the draft only repeated an older memory."""

    memory: Memory
    parent: str | None = None
    links: tuple[Link, ...] = ()
    existed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """A memory with what hangs below it, as far down as was asked."""

    memory: Memory
    relevance: float
    children_count: int
    children: tuple["Branch", ...] = ()
    successor: Successor | None = None
    citations: Mapping[str, str] = field(default_factory=dict)
    standing: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Who changes the store, through which surface, by which verb, and why. author: of new memories. agent:
    the name of the client if an agent acts by itself; empty for a person."""

    verb: str
    surface: str = ""
    actor: str = ""
    reason: str = ""
    author: str = ""
    agent: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of the journal. before/after: the fields that changed. Of a new noun `before` is None, `after`
    empty: it is the row as it stands, less what later entries changed. Of an erased one `after` is None."""

    seq: int
    at: float
    batch: str
    cause: Cause
    noun: Literal["memory", "link"]
    id: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
