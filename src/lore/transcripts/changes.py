"""changes: what to ask a client's database for, so that all that changed comes, and hardly anything twice.

Who writes may commit later than the time that he notes down. So each reading begins a little before the end
of the last one, and what it finds unchanged is told by its print.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import chain, groupby
from typing import Any, TypeAlias

import apsw

from lore.transcripts import cursor_ide, fields, opencode
from lore.transcripts.base import Said, State

LATE_MILLISECONDS = 300_000
"""So much later than the time of a change it may be committed."""
PAGE = 200
"""How many messages are asked for at once."""
PIECE = 200
"""How much of a conversation is one piece; where a longer one is cut, nothing of it counts as read."""
MOST_PRINTS = 2_000

SESSIONS, *MESSAGES = opencode.STATEMENTS
HEADINGS = f"SELECT * FROM ({SESSIONS}) WHERE id IN (SELECT value FROM json_each(:ids))"
CHANGED = """
    SELECT max(time_updated, ifnull((SELECT max(p.time_updated) FROM part p WHERE p.message_id = m.id), 0))
    FROM message m WHERE id = :id
"""
LATEST = f"SELECT key, changed FROM ({cursor_ide.COMPOSERS}) ORDER BY changed, key"
COMPOSER = "SELECT key, CAST(value AS BLOB) FROM cursorDiskKV WHERE key = ?"

Row: TypeAlias = Sequence[object]


class Prints:
    """What was read lately, by its name, so that it is known when it comes again as it was."""

    def __init__(self, known: Iterable[Sequence[str]]) -> None:
        self._known = {name: print for name, print in known}

    def know(self, name: str, print: str) -> bool:
        return self._known.get(name) == print

    def note(self, name: str, print: str) -> None:
        self._known.pop(name, None)
        self._known[name] = print
        if len(self._known) > MOST_PRINTS:
            del self._known[next(iter(self._known))]

    def listed(self) -> list[Sequence[str]]:
        return list(self._known.items())


class OpenCode:
    """Messages as they changed, each behind the heading of its session; then sessions that changed alone."""

    def __init__(self, db: apsw.Connection, state: Mapping[str, Any], written: int) -> None:
        self._db = db
        self._marks: dict[str, opencode.Mark] = dict.fromkeys(opencode.STATEMENTS, opencode.BEGINNING)
        for statement, (at, id) in zip(opencode.STATEMENTS, state.get("marks", []), strict=False):
            self._marks[statement] = (at, id)
        self._prints = Prints(state.get("prints", []))
        self._last: Sequence[Any] = state.get("last", (0, ""))
        self._latest: opencode.Mark = (written, "")
        self._headed: set[str] = set()

    @property
    def state(self) -> State:
        return {"marks": list(self._marks.values()), "prints": self._prints.listed(), "last": self._last}

    def goes_on(self) -> bool:
        at, id = self._last
        return not id or _reaches(self._db.execute(CHANGED, {"id": id}).get, at)

    def __iter__(self) -> Iterator[tuple[int, Sequence[Said]]]:
        for statement in MESSAGES:
            for mark, size, said in self._changed(statement):
                self._last = mark if mark[1] else self._last
                yield size, [*self._headings(said), *said]
        for _, size, said in self._changed(SESSIONS):
            yield size, said

    def _changed(self, statement: str) -> Iterator[tuple[opencode.Mark, int, list[Said]]]:
        """Of one statement, what each of its messages or sessions says, unless it is known as it is."""
        mark = _before(self._marks[statement])
        while rows := self._rows(statement, mark, PAGE):
            fresh = False
            for id, group in groupby(rows, key=_id):
                changed = list(group)
                print, size = _print(changed)
                if not self._prints.know(id, print):
                    fresh = True
                    self._prints.note(id, print)
                    yield opencode.reached(changed), size, list(opencode.turns(changed))
            before, mark = mark, opencode.reached(rows, mark)
            self._marks[statement] = max(self._marks[statement], min(mark, self._latest))
            if fresh:
                yield opencode.BEGINNING, 0, []
            if mark == before:
                return

    def _headings(self, said: Sequence[Said]) -> list[Said]:
        """Of the sessions of these, once: who comes to know a session should know what it is called."""
        new = sorted({one.session for one in said} - self._headed)
        self._headed.update(new)
        if not new:
            return []
        return list(opencode.turns(self._rows(HEADINGS, opencode.BEGINNING, -1, ids=json.dumps(new))))

    def _rows(self, statement: str, mark: opencode.Mark, limit: int, **more: str) -> list[Row]:
        return list(self._db.execute(statement, {"since": mark[0], "after": mark[1], "limit": limit, **more}))


class Cursor:
    """Composers in the order in which they changed, after those that do not tell when they did."""

    def __init__(self, db: apsw.Connection, state: Mapping[str, Any], written: int) -> None:
        self._db = db
        self._since: float = state.get("since", 0)
        self._prints = Prints(state.get("prints", []))
        self._last: Sequence[Any] = state.get("last", (0, ""))
        self._latest = written

    @property
    def state(self) -> State:
        return {"since": self._since, "prints": self._prints.listed(), "last": self._last}

    def goes_on(self) -> bool:
        at, key = self._last
        rows = self._db.execute(COMPOSER, (key,)).fetchall()
        return not key or any(_reaches(_told_at(value), at) for _, value in rows)

    def __iter__(self) -> Iterator[tuple[int, Sequence[Said]]]:
        asked = {"since": self._since - LATE_MILLISECONDS, "after": "", "limit": -1}
        for name, changed in self._db.execute(LATEST, asked).fetchall():
            key = str(name)
            print, size, said = self._composer(key)
            if self._prints.know(key, print):
                continue
            for at in range(PIECE, len(said), PIECE):
                yield 0, said[at - PIECE : at]
            self._prints.note(key, print)
            if isinstance(changed, int | float):
                self._since = max(self._since, min(changed, self._latest))
                self._last = (changed, key) if said else self._last
            yield size, said[-(len(said) % PIECE or PIECE) :]

    def _composer(self, key: str) -> tuple[str, int, list[Said]]:
        """Its print and what it says; nothing if it is known as it is. Its bubbles are too big to be held."""
        bubbles = {"composer": cursor_ide.composer_of(key)}
        said: list[Said] = []
        with self._db:  # both readings see the same
            rows = self._db.execute(COMPOSER, (key,)).fetchall()
            print, size = _print(chain(rows, self._db.execute(cursor_ide.BUBBLES, bubbles)))
            if rows and not self._prints.know(key, print):
                said += cursor_ide.turns(rows[0], self._db.execute(cursor_ide.BUBBLES, bubbles))
        return print, size, said


def _told_at(value: object) -> object:
    return fields.mapping(fields.loaded(value)).get("lastUpdatedAt")


def _reaches(changed: object, at: float) -> bool:
    """Whether something is there, and not as it was before it was read."""
    return isinstance(changed, int | float) and changed >= at


def _before(mark: opencode.Mark) -> opencode.Mark:
    return max(0, mark[0] - LATE_MILLISECONDS), ""


def _id(row: Row) -> str:
    return str(row[2])


def _print(rows: Iterable[Row]) -> tuple[str, int]:
    """What tells these rows from others, and how many bytes they are."""
    print, size = blake2b(digest_size=8), 0
    for row in rows:
        for value in row:
            data = value if isinstance(value, bytes) else repr(value).encode("utf-8", "replace")
            print.update(b"%d:" % len(data))
            print.update(data)
            size += len(data)
    return print.hexdigest(), size
