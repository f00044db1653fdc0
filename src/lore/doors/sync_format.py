"""sync_format: the JSON of /push and /changes, written by one end and checked by the other."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from lore.doors.codec import fits, hints_of
from lore.engine.merge import Version
from lore.engine.push import Sent
from lore.engine.versions import ENDS, LINK_FIELDS, MEMORY_FIELDS, PARENT, Change
from lore.errors import Invalid, LoreError
from lore.model import LINK_KINDS, STORED_TRUST, VERBATIM, Link, Memory
from lore.text import check_storable, check_time, listed, preview
from lore.transcripts.turns import Heading, Role, Turn

FORMAT = 2
"""The version of this format. 2: tombstones, epochs, fields that one end lacks. Each end ignores what it does
not know, and begins again with an end that has got another version."""
FORMAT_HEADER = "lore-sync-format"
MOST_ITEMS = 1_000
"""Turns, headings or changes in one request."""
LONGEST_ID_BYTES = 400
LONGEST_NAME_BYTES = 1_000
LONGEST_CLIENT_ID_BYTES = 100
METADATA_LIMIT_BYTES = 100_000
PUSHED = "push"
"""The source of turns that name none."""


class TooMany(LoreError):
    """A request has more items than one may have."""


# --- checking
def _storable(limit_bytes: int) -> AfterValidator:
    def check(text: str) -> str:
        try:
            return check_storable(text, "it", limit_bytes)
        except Invalid as error:
            raise ValueError(str(error)) from error

    return AfterValidator(check)


def _not_empty(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    return text


Id = Annotated[str, AfterValidator(_not_empty), _storable(LONGEST_ID_BYTES)]
Name = Annotated[str, _storable(LONGEST_NAME_BYTES)]


class PushedTurn(BaseModel):
    """A turn of a push; fields that are not listed are ignored."""

    model_config = ConfigDict(strict=True, frozen=True)

    id: Id
    session: Id
    role: Role
    text: Annotated[str, AfterValidator(_not_empty)]
    full: str = ""
    at: FiniteFloat | None = None
    tool: Name = ""
    agent: Name = ""
    folder: Name = ""
    branch: Name = ""
    remote: Name = ""
    model: Name = ""
    failed: bool = False
    reasoning: str = ""
    line: Annotated[int, Field(ge=0, le=1 << 53)] = 0
    source: Annotated[str, _storable(LONGEST_CLIENT_ID_BYTES)] = PUSHED


class PushedHeading(BaseModel):
    """The heading of a session; fields that are not listed are ignored."""

    model_config = ConfigDict(strict=True, frozen=True)

    session: Id
    title: str = ""
    folder: Name = ""
    parent: Name = ""
    at: FiniteFloat | None = None
    source: Annotated[str, _storable(LONGEST_CLIENT_ID_BYTES)] = PUSHED


def parsed(body: bytes) -> dict[str, Any]:
    """The JSON object in a body."""
    try:
        document = json.loads(body, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"the body is not JSON: {preview(str(error), 200)}") from error
    if not isinstance(document, dict):
        raise Invalid("the body must be a JSON object")
    return document


def _no_number(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")


def client_of(document: Mapping[str, Any]) -> str:
    """The name of the machine that sends this. A colon would make two sessions of two machines equal."""
    name = document.get("client_id")
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or ":" in name:
        raise Invalid("client_id must be a text without colons and control characters, such as a host name")
    return check_storable(name, "client_id", LONGEST_CLIENT_ID_BYTES)


def items_of(document: Mapping[str, Any], name: str) -> list[Any]:
    """The list under this name; empty if it is missing."""
    items = document.get(name, [])
    if not isinstance(items, list):
        raise Invalid(f"{name} must be a list")
    if len(items) > MOST_ITEMS:
        raise TooMany(f"{name} has {len(items):,} items; one request has at most {MOST_ITEMS:,}")
    return items


# --- push
@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """A push as it arrived. ids: of the turns, as the client names them. refused: id and reason."""

    batch_id: str
    entries: Sequence[Sent]
    ids: Sequence[str]
    refused: Sequence[Mapping[str, str]]


def push_of(body: bytes) -> Push:
    """A push, checked turn by turn; Invalid if it is none.

    Turns without ids get one of the whole push and their place in it: the same push gives the same ids.
    """
    document = parsed(body)
    client = client_of(document)
    if "turns" not in document:
        raise Invalid('a push is an object like {"client_id": "laptop", "turns": [{"session": …}]}')
    turns, headings = items_of(document, "turns"), items_of(document, "sessions")
    whole = sha256(json.dumps([client, turns], sort_keys=True).encode()).hexdigest()
    entries, ids, refused = [], [], []
    for heading in headings:
        try:
            entries.append(_heading_of(heading, client))
        except ValidationError as error:
            refused.append({"id": id_of(heading, "session"), "why": f"session: {_why(error)}"})
    for place, turn in enumerate(turns):
        given = turn if isinstance(turn, dict) else {}
        named = {"id": f"{whole[:32]}-{place}"} | {
            name: value for name, value in given.items() if value is not None
        }
        try:
            entries.append(_turn_of(named, client))
            ids.append(named["id"])
        except ValidationError as error:
            refused.append({"id": id_of(named, "id"), "why": _why(error)})
    batch = document.get("batch_id")
    return Push(
        batch_id=batch[:LONGEST_ID_BYTES] if isinstance(batch, str) else whole[:32],
        entries=entries,
        ids=ids,
        refused=refused,
    )


def _turn_of(document: Any, client: str) -> Sent:
    turn = PushedTurn.model_validate(document)
    fields = turn.model_dump(exclude={"id", "source", "session"})
    session, uuid = f"{client}:{turn.session}", f"{client}:{turn.id}"
    return Sent(turn.source or PUSHED, Turn(uuid=uuid, session=session, **fields))


def _heading_of(document: Any, client: str) -> Sent:
    heading = PushedHeading.model_validate(document)
    parent = f"{client}:{heading.parent}" if heading.parent else ""
    entry = Heading(
        session=f"{client}:{heading.session}",
        title=heading.title,
        folder=heading.folder,
        parent=parent,
        at=heading.at,
    )
    return Sent(heading.source or PUSHED, entry)


def id_of(document: Any, name: str = "id") -> str:
    """The id of an item that is refused, if it has one."""
    return str(document.get(name, ""))[:LONGEST_ID_BYTES] if isinstance(document, dict) else ""


def _why(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))
    return preview(f"{where}: {first['msg']}" if where else first["msg"], 300)


def turn_document(sent: Sent) -> dict[str, Any]:
    """A turn as /push takes it; empty fields are left out."""
    assert isinstance(sent.entry, Turn)
    names = (name for name in PushedTurn.model_fields if name not in ("id", "source"))
    fields = {name: value for name in names if (value := getattr(sent.entry, name))}
    return {"id": sent.memory, "source": sent.source, **fields}


def heading_document(sent: Sent) -> dict[str, Any]:
    """A heading as /push takes it; empty fields are left out."""
    assert isinstance(sent.entry, Heading)
    names = (name for name in PushedHeading.model_fields if name != "source")
    return {"source": sent.source, **{name: value for name in names if (value := getattr(sent.entry, name))}}


# --- changes
def change_document(change: Change) -> dict[str, Any]:
    """A change as /changes gives and takes it."""
    if change.noun == "tombstone":
        return {"noun": change.noun, "id": change.id}
    document: dict[str, Any] = {
        "noun": change.noun,
        "id": change.id,
        "fields": dict(change.version.fields),
        "stamps": dict(change.version.stamps),
    }
    more = {"ends": change.ends and dict(change.ends), "author": change.author}
    return document | {name: value for name, value in more.items() if value}


def change_of(document: Any, *, authors: bool) -> Change:
    """A change, checked. authors: who wrote a memory is taken from it, too."""
    if not isinstance(document, dict) or document.get("noun") not in ("memory", "link", "tombstone"):
        raise Invalid("a change is an object whose noun is memory, link or tombstone")
    noun: Literal["memory", "link", "tombstone"] = document["noun"]
    id = document.get("id")
    if not isinstance(id, str) or not id or not id.isascii() or len(id) > LONGEST_ID_BYTES:
        raise Invalid("the id of a change must be a text of ASCII characters")
    if noun == "tombstone":
        return Change(noun=noun, id=id)
    names = MEMORY_FIELDS if noun == "memory" else LINK_FIELDS
    fields = _fields_of(document.get("fields"), noun, names)
    author = document.get("author", "") if authors else ""
    return Change(
        noun=noun,
        id=id,
        version=Version(fields=fields, stamps=_stamps_of(document.get("stamps"), fields)),
        ends=_ends_of(document.get("ends")) if noun == "link" else None,
        author=check_storable(author, "author", LONGEST_NAME_BYTES) if isinstance(author, str) else "",
    )


def _fields_of(fields: Any, noun: str, names: Sequence[str]) -> dict[str, Any]:
    if not isinstance(fields, dict):
        raise Invalid("the fields of a change must be an object")
    hints = hints_of(Memory if noun == "memory" else Link) | {"flags": list[str], PARENT: str | None}
    known = {name: fields[name] for name in names if name in fields}
    if not known:
        raise Invalid(f"the fields of a {noun} are none that this Lore knows")
    for name, value in known.items():
        if not fits(value, hints[name]):
            raise Invalid(f"{name} cannot be {repr(value)[:40]}")
        _check_value(name, value)
    if noun == "memory" and known.get("kind", "note") in ("", *VERBATIM):
        raise Invalid(f"a {known['kind']!r} is no memory that stores exchange; turns are pushed")
    if "trust" in known:
        known["trust"] = min(max(known["trust"], 0.0), STORED_TRUST)
    return known


def _check_value(name: str, value: Any) -> None:
    if isinstance(value, float) and not math.isfinite(value):
        raise Invalid(f"{name} must be a finite number")
    if name.endswith("_at"):
        check_time(value, name)
    if isinstance(value, str):
        check_storable(value, name)
    if isinstance(value, list | dict):
        check_storable(json.dumps(value, ensure_ascii=False), name, METADATA_LIMIT_BYTES)


def _stamps_of(stamps: Any, fields: Mapping[str, Any]) -> dict[str, float]:
    if not isinstance(stamps, dict) or not all(fits(stamps.get(name), float) for name in fields):
        raise Invalid("the stamps of a change must give the time of each of its fields, in seconds")
    if not all(math.isfinite(stamps[name]) for name in fields):
        raise Invalid("the stamps of a change must be finite numbers")
    return {name: float(stamps[name]) for name in fields}


def _ends_of(ends: Any) -> dict[str, str]:
    if not isinstance(ends, dict) or not all(isinstance(ends.get(name), str) for name in ENDS):
        raise Invalid(f"the ends of a link must be an object with the texts {listed(ENDS)}")
    if ends["kind"] not in LINK_KINDS or ends["kind"] == "hierarchical":
        raise Invalid(
            f"unknown kind of link {ends['kind'][:40]!r}; the place in a tree is the field {PARENT}"
        )
    for name in ENDS:
        check_storable(ends[name], name, LONGEST_NAME_BYTES)
    return {name: ends[name] for name in ENDS}
