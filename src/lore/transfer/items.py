"""Items: what a file to import holds, whatever its format: memories, links, judgements, unreadable parts."""

import math
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias, get_args

from lore.errors import Invalid
from lore.model import FULL_LENGTH, Link, LinkKind, Memory
from lore.store.values import Suggestion
from lore.text import (
    CONTENT_LIMIT_BYTES,
    NAMESPACE_LIMIT_BYTES,
    check_storable,
    check_time,
    label_of,
    preview,
    require_text,
)

MemoryFormat: TypeAlias = Literal[
    "lore", "graph", "lorekeeper", "reference-lore", "basic-memory", "mem0", "claude-mem"
]
FORMATS: tuple[MemoryFormat, ...] = get_args(MemoryFormat)
"""graph: the JSON lines of the official memory server, which `import_graph` reads."""
NAMES = uuid.UUID("3f6f2a70-5d0b-4e0b-9d43-6a1f0a3c9c58")
LATEST = 4_102_444_800.0
"""The year 2100 in seconds: a larger number is a time in milliseconds."""
TIMES = tuple(field.name for field in fields(Memory) if field.name.endswith("_at"))
LONGEST_ID = 200
LONGEST_BYTES = 64 << 20
"""Of a text that an export of a store may hold: more than any store keeps."""
TITLE = 200


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory to keep, and its whole text if the content is an excerpt.

    A memory without a namespace goes to the namespace of the caller.
    """

    memory: Memory
    full_text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Digested:
    """How far a session is digested. until: the id of the last digested turn."""

    namespace: str
    session: str
    turns: int
    until: str
    digested_at: float


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A part of a file that cannot be imported: where it is, and why."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Passed:
    """A part of a file that Lore does not import, such as the history of another store."""

    noun: str


Item: TypeAlias = Kept | Link | Suggestion | Digested | Unreadable | Passed


def id_of(source: str, *parts: object) -> str:
    """The id of a memory or link of another system: the same for every import of it."""
    return str(uuid.uuid5(NAMES, "\0".join((source, *map(str, parts)))))


def link_between(source: str, target: str, kind: LinkKind, at: float, **more: Any) -> Link:
    """A link of another system, with an id that follows from its ends."""
    id = id_of("link", source, target, kind, more.get("type", ""))
    return Link(id=id, source=source, target=target, kind=kind, created_at=at, updated_at=at, **more)


def seconds_of(value: object, default: float | None = None) -> float | None:
    """A time as seconds since 1970: from seconds, milliseconds or ISO 8601 (UTC if it names no zone)."""
    if isinstance(value, bool) or value is None:
        return default
    if isinstance(value, int | float):
        moment = float(value)
        moment = moment / 1000 if moment > LATEST else moment
        return moment if math.isfinite(moment) and 0 < moment < LATEST else default
    try:
        at = datetime.fromisoformat(str(value).strip().replace(" UTC", "+00:00"))
    except ValueError:
        return default
    moment = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    return moment if 0 < moment < LATEST else default


def text(fields: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that holds text, stripped; numbers count as text."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value).strip()
    return ""


def number(fields: Mapping[str, Any], name: str, default: float, most: float = math.inf) -> float:
    """A field that holds a number from 0 to `most`; the default if it holds anything else."""
    value = fields.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return default
    return min(max(float(value), 0.0), most)


def kept(memory: Memory) -> Kept:
    """A memory of another system. A text that is too long for a memory becomes an excerpt of the whole."""
    memory = replace(memory, title=preview(memory.title, TITLE), content=memory.content.replace("\0", ""))
    if len(memory.content.encode(errors="replace")) <= CONTENT_LIMIT_BYTES:
        return Kept(memory)
    excerpt = memory.content.encode(errors="replace")[:CONTENT_LIMIT_BYTES].decode(errors="ignore")
    metadata = {**memory.metadata, FULL_LENGTH: len(memory.content)}
    return Kept(replace(memory, content=excerpt, metadata=metadata), memory.content)


def check_memory(memory: Memory, full_text: str = "") -> None:
    """Raise Invalid for a memory that no store takes."""
    if not memory.id.isascii() or not 0 < len(memory.id) <= LONGEST_ID:
        raise Invalid(f"the id has to be ASCII, with at most {LONGEST_ID} characters")
    check_storable(memory.namespace, "namespace", NAMESPACE_LIMIT_BYTES)
    require_text(memory.content, "content", LONGEST_BYTES)
    texts = (
        memory.title,
        memory.summary,
        memory.context,
        memory.type,
        memory.kind,
        memory.project,
        full_text,
    )
    for one in (*texts, memory.source, memory.session, memory.author, memory.status):
        check_storable(one, "a text of the memory", LONGEST_BYTES)
    numbers = (memory.importance, memory.score, memory.trust, memory.activation)
    if not all(math.isfinite(one) for one in numbers):
        raise Invalid("a number of the memory is not finite")
    for name in TIMES:
        check_time(getattr(memory, name), name)


def checked(items: Iterable[Item]) -> Iterator[Item]:
    """Items with an Unreadable in the place of each memory that no store takes."""
    for item in items:
        if isinstance(item, Kept):
            try:
                check_memory(item.memory, item.full_text)
            except Invalid as error:
                yield Unreadable(label_of(item.memory.title, item.memory.content), str(error))
                continue
        yield item
