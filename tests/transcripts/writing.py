"""Clients that write their conversations into SQLite files, as they do: a log ahead, and never closed."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw

REAL = Path(__file__).parent / "fixtures" / "opencode-1.18.33.sql"
SESSION = "ses_e1eed40a0ffeXGwoNUlHhHTWHW"
BEGAN = 1_794_777_480_000
"""In milliseconds; after all that the real session says."""


class Client:
    """Holds its database open. now: the time that it notes down next to what it writes."""

    source: str

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.path = path
        self.now = BEGAN
        self.db = apsw.Connection(str(path))
        self.db.set_busy_timeout(30_000)
        self.db.execute("PRAGMA journal_mode = WAL").fetchall()

    def close(self) -> None:
        self.db.close()

    def begin(self) -> None:
        """The tables of a database that is new."""
        raise NotImplementedError

    def say(self, name: str, text: str, session: str = "") -> None:
        """The user says something new."""
        raise NotImplementedError

    def change(self, name: str, text: str) -> None:
        """What was said under this name is something else now."""
        raise NotImplementedError

    def call(self, session: str, title: str) -> None:
        """The session has this title from now on."""
        raise NotImplementedError


class OpenCode(Client):
    """With the real session of a test as its first."""

    source = "opencode"

    def begin(self) -> None:
        for _ in self.db.execute(REAL.read_text()):
            pass

    def say(self, name: str, text: str, session: str = SESSION) -> None:
        part = json.dumps({"type": "text", "text": text})
        with self.db:
            self.call(session, "")
            self.db.execute(
                "INSERT INTO message VALUES (?, ?, ?, ?, ?)",
                (f"msg_{name}", session, self.now, self.now, '{"role": "user"}'),
            )
            self.db.execute(
                "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)",
                (name, f"msg_{name}", session, self.now, self.now, part),
            )

    def change(self, name: str, text: str) -> None:
        part = json.dumps({"type": "text", "text": text})
        self.db.execute("UPDATE part SET data = ?, time_updated = ? WHERE id = ?", (part, self.now, name))

    def call(self, session: str, title: str) -> None:
        self.db.execute(
            "INSERT INTO session (id, project_id, slug, directory, title, version, time_created,"
            " time_updated) VALUES (?, 'p', '', '/gone/ferry', ?, '1', ?, ?) ON CONFLICT (id) DO UPDATE"
            " SET title = coalesce(nullif(excluded.title, ''), title), time_updated = excluded.time_updated",
            (session, title, self.now, self.now),
        )


class Cursor(Client):
    """Its composers tell when they changed, unless they are called `silent`."""

    source = "cursor-ide"

    def begin(self) -> None:
        self.db.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")

    def say(self, name: str, text: str, session: str = "a") -> None:
        with self.db:
            told = self._composer(session)
            told["fullConversationHeadersOnly"].append({"bubbleId": name, "type": 1})
            self._put(f"bubbleId:{session}:{name}", {"type": 1, "text": text})
            self._put(f"composerData:{session}", told)

    def change(self, name: str, text: str) -> None:
        with self.db:
            [(key,)] = self.db.execute(
                "SELECT key FROM cursorDiskKV WHERE key LIKE ?", (f"bubbleId:%:{name}",)
            )
            session = str(key).split(":")[1]
            self._put(str(key), {"type": 1, "text": text})
            self._put(f"composerData:{session}", self._composer(session))

    def call(self, session: str, title: str) -> None:
        self._put(f"composerData:{session}", self._composer(session) | {"name": title})

    def _composer(self, session: str) -> dict[str, Any]:
        found = self.db.execute(
            "SELECT value FROM cursorDiskKV WHERE key = ?", (f"composerData:{session}",)
        ).get
        told = json.loads(found) if found else {"createdAt": self.now, "fullConversationHeadersOnly": []}
        return told if session == "silent" else told | {"lastUpdatedAt": self.now}

    def _put(self, key: str, value: object) -> None:
        self.db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (key, json.dumps(value)))


CLIENTS: dict[str, type[Client]] = {"opencode": OpenCode, "cursor-ide": Cursor}
FILES = {"opencode": "opencode.db", "cursor-ide": "state.vscdb"}


@contextmanager
def writing(name: str, folder: Path) -> Iterator[Client]:
    """A client that writes in this folder, and has its file open for as long as the block lasts."""
    with closing(CLIENTS[name](folder / FILES[name])) as client:
        client.begin()
        yield client
