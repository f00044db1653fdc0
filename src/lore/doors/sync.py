"""sync: exchange conversations and memories with a server: push turns, keep namespaces equal.

The journal of the store is the queue. A mark remembers how far it was exchanged, and moves only behind what
the server has acknowledged. A process that is killed repeats at most one page, which the server recognises.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from lore.doors.sync_format import FORMAT, change_document, change_of, heading_document, id_of, turn_document
from lore.doors.sync_requests import Connection, TooLarge
from lore.engine import Lore
from lore.engine.merge_changes import AHEAD_SECONDS
from lore.engine.push import Sent
from lore.engine.versions import Change
from lore.errors import Invalid, Unavailable
from lore.model import TURN, Filter
from lore.store.records import SyncMark
from lore.text import compact

CHUNK_TURNS, CHUNK_BYTES = 500, 1_000_000
"""Turns and bytes of JSON in one request; a longer turn has a request of its own."""
CHANGES = 200
"""Entries of the journal in one page of changes."""
TURNS = Filter(kinds=frozenset({TURN}))
MOST_HELD, HELD_AT_ONCE = 1_000, 50
"""Changes that may wait for an end that cannot take them; those that one request asks for."""
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
    pushed, sessions = Pushed(), set[str]()

    def push_from(mark: SyncMark) -> SyncMark:
        """Push page by page; the mark behind the last one."""
        more = True
        while more:
            page = lore.outgoing(mark.cursor, ignored)
            taken: list[str] = []
            for turns, headings in _chunks(page.turns, page.headings):
                taken += _send(connection, turns, headings, pushed)
                pushed.turns += len(turns)
                report("turns", pushed.turns)
            sessions.update(one.entry.session for one in page.turns)
            if page.cursor != mark.cursor:
                mark = replace(mark, cursor=page.cursor)
                lore.move_sync_mark(mark, [] if keep_turns else taken)
            more = page.more
        return mark

    before = _usable(lore, lore.sync_mark(connection.server.url, "push"))
    mark, requests, size = push_from(before), connection.requests, connection.bytes
    if not requests:
        _greet(connection)
    if mark.epoch != (epoch := _epoch(lore, connection)):
        mark = replace(mark, epoch=epoch, cursor="" if before.cursor else mark.cursor)
        lore.move_sync_mark(mark)
        greeted = connection.requests, connection.bytes
        push_from(mark)
        requests, size = requests + connection.requests - greeted[0], size + connection.bytes - greeted[1]
    pushed.turns -= len(pushed.refused)
    pushed.sessions, pushed.requests, pushed.bytes = len(sessions), requests, size
    return pushed


def _greet(connection: Connection) -> None:
    """Ask the server which one it is, and whether it takes pushes of this machine; the reason is raised if
    not."""
    connection.post("/push", {"client_id": connection.server.client_id, "turns": []}, {})


def _epoch(lore: Lore, connection: Connection) -> str:
    """The histories within which a mark holds: that of this store and that of the server, as it named it.

    If one of them went back to an older state, all is exchanged again: each end recognises what it has.
    """
    return f"{_own_epoch(lore)}{connection.epoch}"


def _own_epoch(lore: Lore) -> str:
    return f"{FORMAT} {lore.store.epoch()} "


def _usable(lore: Lore, mark: SyncMark) -> SyncMark:
    """The mark; at the beginning, if an older Lore or another state of this store has left it."""
    return mark if mark.epoch.startswith(_own_epoch(lore)) else replace(mark, cursor="")


def waiting(lore: Lore, url: str, ignored: Callable[[str], bool]) -> Iterator[Sent]:
    """The turns that the next push would send."""
    cursor, more = lore.sync_mark(url, "push").cursor, True
    while more:
        page = lore.outgoing(cursor, ignored)
        yield from page.turns
        cursor, more = page.cursor, page.more


def unsent(lore: Lore, url: str, namespace: str) -> int:
    """The number of memories and links that the next exchange of a namespace would send."""
    here = lore.for_namespace(namespace, "sync", url)
    mark = here.sync_mark(url, "send")
    cursor, more, ids = mark.cursor, True, set(mark.held)
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
    """Send the changes of a namespace that were made here, then take over those of the server; from the
    beginning, if one of the two stores went back to an older state.

    What one end cannot take is held: it is tried again in the next exchange, before all that is new.
    """
    here = lore.for_namespace(namespace, "sync", connection.server.url)
    exchanged, url = Exchanged(), connection.server.url
    before = [_usable(here, here.sync_mark(url, direction)) for direction in ("send", "pull")]
    for mark in before:
        here.move_sync_mark(mark)
    _both_ways(here, connection, exchanged, report)
    epoch = _epoch(here, connection)
    if any(mark.epoch != epoch for mark in before):
        again = any(mark.cursor for mark in before)
        for direction in ("send", "pull"):
            mark = here.sync_mark(url, direction)
            here.move_sync_mark(replace(mark, epoch=epoch, cursor="" if again else mark.cursor))
        if again:
            _both_ways(here, connection, exchanged, report)
    return exchanged


def _both_ways(here: Lore, connection: Connection, exchanged: Exchanged, report: Report) -> None:
    _send_changes(here, connection, exchanged, report)
    _take_changes(here, connection, exchanged, report)


def _moved(here: Lore, mark: SyncMark, cursor: str, held: Iterable[str]) -> SyncMark:
    """The mark, kept behind a page. Unavailable if too much waits before it: then it stays where it is."""
    moved = replace(mark, cursor=cursor, held=tuple(dict.fromkeys((*mark.held, *held))))
    if len(moved.held) > MOST_HELD:
        raise Unavailable(
            f"more than {MOST_HELD:,} refused changes wait; do both ends have the same version of Lore?"
        )
    if moved != mark:
        here.move_sync_mark(moved)
    return moved


def _send_changes(here: Lore, connection: Connection, exchanged: Exchanged, report: Report) -> None:
    url = connection.server.url
    mark, more = here.sync_mark(url, "send"), True
    if mark.held:
        waiting = _sent_changes(here, connection, here.changes_of(mark.held), exchanged)
        mark = replace(mark, held=tuple(waiting))
        here.move_sync_mark(mark)
    while more:
        page = here.changes(mark.cursor, CHANGES, sent_to=url)
        held = _sent_changes(here, connection, page.changes, exchanged)
        report("changes sent", exchanged.sent)
        mark, more = _moved(here, mark, page.cursor, held), page.more


def _sent_changes(
    here: Lore, connection: Connection, changes: Sequence[Change], exchanged: Exchanged
) -> list[str]:
    """Send changes; the ids of those that the server refused."""
    refused: dict[str, str] = {}
    for chunk in _small(changes):
        refused |= _send_chunk(here, connection, chunk, exchanged)
    exchanged.refused |= refused
    return [one.id for one in changes if one.id in refused]


def _send_chunk(
    here: Lore, connection: Connection, chunk: Sequence[Mapping[str, Any]], exchanged: Exchanged
) -> dict[str, str]:
    """Send changes, in smaller chunks if the server wants that, and take over what it knows later. Returns
    what it refuses: id -> why."""
    document = {"client_id": connection.server.client_id, "changes": chunk}
    try:
        answer = connection.post("/changes", document, {"namespace": here.namespace})
    except TooLarge as error:
        if len(chunk) == 1:
            return {id_of(chunk[0]): str(error)}
        middle = len(chunk) // 2
        first = _send_chunk(here, connection, chunk[:middle], exchanged)
        return first | _send_chunk(here, connection, chunk[middle:], exchanged)
    _check_clock(connection)
    _hold(here, _merge(here, answer.get("newer"), exchanged))
    exchanged.sent += len(chunk)
    return _refused(answer)


def _check_clock(connection: Connection) -> None:
    """Unavailable if one end would refuse every new change of the other as one of the future."""
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
    mark, more, limit = here.sync_mark(url, "pull"), True, CHANGES
    mark = _take_held(here, connection, mark, exchanged)
    while more:
        wanted = {"namespace": here.namespace, "after": mark.cursor, "limit": limit}
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
        held = _merge(here, answer["changes"], exchanged)
        report("changes received", exchanged.received)
        more = more and behind != mark.cursor
        mark = _moved(here, mark, behind, held)


def _take_held(here: Lore, connection: Connection, mark: SyncMark, exchanged: Exchanged) -> SyncMark:
    """Ask once more for what this store could not take, as it stands now; the mark with what still waits.

    A server of an older Lore does not know the question, and what waits goes on waiting.
    """
    held: list[str] = []
    for first in range(0, len(mark.held), HELD_AT_ONCE):
        ids = mark.held[first : first + HELD_AT_ONCE]
        answer = connection.get("/changes", {"namespace": here.namespace, "ids": ",".join(ids)})
        if "format" not in answer:
            return mark
        held += _merge(here, answer.get("changes"), exchanged)
    if held != list(mark.held):
        mark = replace(mark, held=tuple(held))
        here.move_sync_mark(mark)
    return mark


def _hold(here: Lore, ids: Sequence[str]) -> None:
    """Ask the server for these again in the next exchange."""
    if ids:
        mark = here.sync_mark(here.actor, "pull")
        _moved(here, mark, mark.cursor, ids)


def _merge(here: Lore, documents: Any, exchanged: Exchanged) -> list[str]:
    """Take over changes of the server; the ids of those that this store cannot take now are returned."""
    arrived: list[Change] = []
    refused: dict[str, str] = {}
    for document in documents if isinstance(documents, list) else []:
        try:
            arrived.append(change_of(document, authors=True))
        except Invalid as error:
            refused[id_of(document)] = str(error)
    if arrived:
        merged = here.merge(arrived)
        exchanged.changed += merged.changed
        refused |= merged.refused
    exchanged.refused |= refused
    return [id for id in refused if id and id.isascii() and "," not in id]
