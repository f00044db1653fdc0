"""sync: exchange conversations and memories with a server: push turns, keep namespaces equal.

The journal of the store is the queue. A mark remembers how far it was exchanged, and moves only behind what
the server has acknowledged. A process that is killed repeats at most one page, which the server recognises.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from lore.doors.sync_format import change_document, change_of, heading_document, id_of, turn_document
from lore.doors.sync_requests import Connection, TooLarge
from lore.engine import Lore
from lore.engine.merge_changes import AHEAD_SECONDS
from lore.engine.push import Sent
from lore.engine.versions import Change
from lore.errors import Invalid, Unavailable
from lore.model import TURN, Filter
from lore.text import compact

CHUNK_TURNS, CHUNK_BYTES = 500, 1_000_000
"""Turns and bytes of JSON in one request; a longer turn has a request of its own."""
CHANGES = 200
"""Entries of the journal in one page of changes."""
TURNS = Filter(kinds=frozenset({TURN}))
Report = Callable[[str, int], None]
"""Called with the part of the work at hand and the number of items done."""


@dataclass(kw_only=True)
class Pushed:
    """turns: that the server has acknowledged. requests, bytes: sent, as they went over the wire.

    refused: id of a turn -> why the server does not take it; it stays in this store.
    """

    turns: int = 0
    sessions: int = 0
    requests: int = 0
    bytes: int = 0
    refused: dict[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class Exchanged:
    """Memories and links of one namespace. sent, received: how many. changed: of the received ones, the
    number that was news here. refused: id -> why one end does not take it."""

    sent: int = 0
    received: int = 0
    changed: int = 0
    refused: dict[str, str] = field(default_factory=dict)


# --- turns
def push(
    lore: Lore,
    connection: Connection,
    ignored: Callable[[str], bool],
    *,
    keep_turns: bool,
    report: Report = lambda part, done: None,
) -> Pushed:
    """Push the turns of this namespace that the server has not acknowledged.

    ignored: folders whose conversations stay here. keep_turns: pushed turns stay here, too; otherwise they
    are forgotten, and can be restored.
    """
    url, pushed = connection.server.url, Pushed()
    sessions: set[str] = set()
    cursor, more = lore.sync_mark(url, "push"), True
    while more:
        page = lore.outgoing(cursor, ignored)
        taken: list[str] = []
        for turns, headings in _chunks(page.turns, page.headings):
            taken += _send(connection, turns, headings, pushed)
            pushed.turns += len(turns)
            report("turns", pushed.turns)
        sessions.update(one.entry.session for one in page.turns)
        if page.cursor != cursor:
            lore.move_sync_mark(url, "push", page.cursor, [] if keep_turns else taken)
        cursor, more = page.cursor, page.more
    pushed.turns -= len(pushed.refused)
    pushed.sessions, pushed.requests, pushed.bytes = len(sessions), connection.requests, connection.bytes
    return pushed


def greet(connection: Connection) -> None:
    """Ask the server whether it takes pushes of this machine; the reason is raised if not."""
    connection.post("/push", {"client_id": connection.server.client_id, "turns": []}, {})


def waiting(lore: Lore, url: str, ignored: Callable[[str], bool]) -> Iterator[Sent]:
    """The turns that the next push would send."""
    cursor, more = lore.sync_mark(url, "push"), True
    while more:
        page = lore.outgoing(cursor, ignored)
        yield from page.turns
        cursor, more = page.cursor, page.more


def unsent(lore: Lore, url: str, namespace: str) -> int:
    """The number of memories and links that the next exchange of a namespace would send."""
    here = lore.for_namespace(namespace, "sync", url)
    cursor, more, ids = here.sync_mark(url, "send"), True, set()
    while more:
        page = here.changes(cursor, CHANGES, sent_to=url)
        ids |= {one.id for one in page.changes}
        cursor, more = page.cursor, page.more
    return len(ids)


def _chunks(turns: Sequence[Sent], headings: Sequence[Sent]) -> Iterator[tuple[list[Sent], list[Sent]]]:
    """Turns with the headings of their sessions, small enough for one request."""
    rest = {(one.source, one.entry.session): one for one in headings}
    chunk: list[Sent] = []
    size = 0
    for turn in turns:
        length = len(compact(turn_document(turn)))
        if chunk and (len(chunk) >= CHUNK_TURNS or size + length > CHUNK_BYTES):
            yield chunk, _of_sessions(chunk, rest)
            chunk, size = [], 0
        chunk.append(turn)
        size += length
    named = {(one.source, one.entry.session) for one in turns}
    renamed = [one for key, one in rest.items() if key not in named]
    if chunk or renamed:
        yield chunk, [*_of_sessions(chunk, rest), *renamed]


def _of_sessions(turns: Sequence[Sent], headings: Mapping[tuple[str, str], Sent]) -> list[Sent]:
    keys = dict.fromkeys((one.source, one.entry.session) for one in turns)
    return [headings[key] for key in keys if key in headings]


def _send(
    connection: Connection, turns: Sequence[Sent], headings: Sequence[Sent], pushed: Pushed
) -> list[str]:
    """Send one chunk, in smaller ones if the server wants that; the ids that it acknowledged."""
    documents = [turn_document(one) for one in turns]
    try:
        return _sent(connection, documents, headings, pushed)
    except TooLarge as error:
        if len(turns) > 1:
            middle = len(turns) // 2
            parts = (turns[:middle], turns[middle:])
            return [id for part in parts for id in _send(connection, part, headings, pushed)]
        if not turns:
            raise
        if "full" not in documents[0]:
            pushed.refused[turns[0].memory] = str(error)
            return []
        excerpt = {name: value for name, value in documents[0].items() if name != "full"}
        return _sent(connection, [excerpt], headings, pushed)


def _sent(
    connection: Connection,
    turns: Sequence[Mapping[str, Any]],
    headings: Sequence[Sent],
    pushed: Pushed,
) -> list[str]:
    ids = [str(turn["id"]) for turn in turns]
    document = {
        "batch_id": sha256("\n".join(ids).encode()).hexdigest()[:32],
        "client_id": connection.server.client_id,
        "sessions": [heading_document(one) for one in headings],
        "turns": turns,
    }
    answer = connection.post("/push", document, {})
    acknowledged, refused = _acknowledged(answer), _refused(answer)
    if lost := set(ids) - acknowledged - refused.keys():
        raise Unavailable(f"{connection.server.url} did not acknowledge {len(lost):,} turns")
    pushed.refused |= {id: why for id, why in refused.items() if id in ids}
    return [id for id in ids if id in acknowledged]


def _acknowledged(answer: Mapping[str, Any]) -> set[str]:
    ids = answer.get("acknowledged")
    return {id for id in ids if isinstance(id, str)} if isinstance(ids, list) else set()


def _refused(answer: Mapping[str, Any]) -> dict[str, str]:
    refused = answer.get("refused")
    items = refused if isinstance(refused, list) else []
    return {str(one.get("id")): str(one.get("why")) for one in items if isinstance(one, dict)}


# --- memories
def exchange(
    lore: Lore, connection: Connection, namespace: str, report: Report = lambda part, done: None
) -> Exchanged:
    """Send the changes of a namespace that were made here, then take over those of the server."""
    here = lore.for_namespace(namespace, "sync", connection.server.url)
    exchanged = Exchanged()
    _send_changes(here, connection, exchanged, report)
    _take_changes(here, connection, exchanged, report)
    return exchanged


def _send_changes(here: Lore, connection: Connection, exchanged: Exchanged, report: Report) -> None:
    url = connection.server.url
    cursor, more = here.sync_mark(url, "send"), True
    while more:
        page = here.changes(cursor, CHANGES, sent_to=url)
        for chunk in _small(page.changes):
            _send_chunk(here, connection, chunk, exchanged)
            report("changes sent", exchanged.sent)
        if page.cursor != cursor:
            here.move_sync_mark(url, "send", page.cursor)
        cursor, more = page.cursor, page.more


def _send_chunk(
    here: Lore, connection: Connection, chunk: Sequence[Mapping[str, Any]], exchanged: Exchanged
) -> None:
    """Send changes, in smaller chunks if the server wants that, and take over what it knows later."""
    document = {"client_id": connection.server.client_id, "changes": chunk}
    try:
        answer = connection.post("/changes", document, {"namespace": here.namespace})
    except TooLarge as error:
        if len(chunk) == 1:
            exchanged.refused[id_of(chunk[0])] = str(error)
            return
        middle = len(chunk) // 2
        for part in (chunk[:middle], chunk[middle:]):
            _send_chunk(here, connection, part, exchanged)
        return
    _check_clock(connection)
    exchanged.refused |= _refused(answer)
    _merge(here, answer.get("newer"), exchanged)
    exchanged.sent += len(chunk)


def _check_clock(connection: Connection) -> None:
    """Unavailable if one end would refuse every new change of the other as one of the future: what is refused
    is not sent again."""
    ahead, url = connection.ahead_seconds, connection.server.url
    if abs(ahead) > AHEAD_SECONDS:
        wrong = f"{abs(ahead) / 86_400:.1f} days {'ahead of' if ahead > 0 else 'behind'} that of {url}"
        raise Unavailable(f"the clock of this machine is {wrong}; no changes are exchanged until it is right")


def _small(changes: Sequence[Change]) -> Iterator[list[dict[str, Any]]]:
    chunk: list[dict[str, Any]] = []
    size = 0
    for document in map(change_document, changes):
        length = len(compact(document))
        if chunk and size + length > CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
        chunk.append(document)
        size += length
    if chunk:
        yield chunk


def _take_changes(here: Lore, connection: Connection, exchanged: Exchanged, report: Report) -> None:
    url = connection.server.url
    cursor, more, limit = here.sync_mark(url, "pull"), True, CHANGES
    while more:
        wanted = {"namespace": here.namespace, "after": cursor, "limit": limit}
        try:
            answer = connection.get("/changes", wanted)
        except TooLarge:
            if limit == 1:
                raise
            limit //= 2
            continue
        _check_clock(connection)
        behind, more = answer.get("cursor"), answer.get("more") is True
        if not isinstance(behind, str) or not isinstance(answer.get("changes"), list):
            raise Unavailable(f"{url} did not answer with a page of changes; is it a Lore server?")
        exchanged.received += len(answer["changes"])
        _merge(here, answer["changes"], exchanged)
        report("changes received", exchanged.received)
        here.move_sync_mark(url, "pull", behind)
        cursor, more = behind, more and behind != cursor


def _merge(here: Lore, documents: Any, exchanged: Exchanged) -> None:
    """Take over changes of the server; those that this store cannot hold are left out, with the reason."""
    arrived: list[Change] = []
    for document in documents if isinstance(documents, list) else []:
        try:
            arrived.append(change_of(document, authors=True))
        except Invalid as error:
            exchanged.refused[id_of(document)] = str(error)
    if arrived:
        merged = here.merge(arrived)
        exchanged.changed += merged.changed
        exchanged.refused |= merged.refused
