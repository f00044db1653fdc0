"""ingest: new lines of a transcript → turns → memories below their session, and the bookmark with them."""

import os
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from lore.admit import Admitted, admit
from lore.bookmark import Bookmark
from lore.distil.own import own_heading
from lore.engine.accounts import keep_accounts
from lore.engine.clean import clean_heading, clean_turn
from lore.engine.context import Context
from lore.engine.link import new_link
from lore.errors import LoreError, Unavailable
from lore.model import (
    FULL_LENGTH,
    LORE_CALL,
    SESSION,
    STORED_TRUST,
    TURN,
    Link,
    LinkKind,
    Memory,
    Tie,
)
from lore.store import Reader, Writer
from lore.text import check_storable, preview
from lore.transcripts import import_formats
from lore.transcripts.import_formats import Format
from lore.transcripts.project import Project, foreign_project, project_of
from lore.transcripts.tool_calls import is_lore_call
from lore.transcripts.turns import Heading, Source, Turn, TurnOrHeading, keep_newest
from lore.transcripts.untrusted_files import open_regular

BATCH = 200
"""Turns in one transaction: it takes a fraction of a second, in which other writers wait."""
BATCH_CHARACTERS = 4_000_000
"""Characters in one transaction, if the turns are long."""
TRUST = {"user": STORED_TRUST, "assistant": 0.5, "summary": 0.5, "tool": 0.2}
"""Trust in a turn by its speaker, 0 to 1. A statement has the least trust of its turns; it never replaces a
statement of more trust."""
IMPORTANCE = {"user": 0.3, "assistant": 0.2, "summary": 0.4, "tool": 0.1}
SPEAKERS = {"user": "the user", "assistant": "the assistant", "summary": "a summary", "tool": "a tool"}
NEIGHBOUR = 200
"""Characters of the preceding turn that are indexed with a turn."""
NEIGHBOUR_SEARCHED = 8 * NEIGHBOUR
"""Characters of a turn from which these are taken: it may begin with blank lines."""
TITLE = 80
AHEAD_SECONDS = 86_400.0
"""How far a client's clock may be ahead of ours; a turn of a later time gets the time of the reading."""
MOST_SESSIONS = 20
"""Sessions of a file whose last turn is kept in the bookmark."""
SESSION_LIMIT_BYTES = 400
LEFT = "pushed to "
"""Begins the reason for which a turn is forgotten that a server has; its address follows."""
REDACTED = "[redacted: "
"""The beginning of what stands in the place of a secret."""
NAMES = uuid.UUID("7b0c6b1e-5d0f-4c55-9a5e-0d6f2f0b8c11")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """Counts of one reading: new turns, changed turns, new sessions, bytes read, and secrets by kind.

    passed_over: lines that could not be read.
    """

    turns: int = 0
    changed: int = 0
    sessions: int = 0
    bytes: int = 0
    passed_over: int = 0
    redacted: Mapping[str, int] = field(default_factory=dict)

    def __add__(self, other: "Ingested") -> "Ingested":
        return Ingested(
            turns=self.turns + other.turns,
            changed=self.changed + other.changed,
            sessions=self.sessions + other.sessions,
            bytes=self.bytes + other.bytes,
            passed_over=self.passed_over + other.passed_over,
            redacted=Counter(self.redacted) + Counter(other.redacted),
        )


def ingest(
    path: Path, source: Source, context: Context, *, ignored: Callable[[str], bool], again: bool = False,
    growing: bool = False,
) -> Iterator[Ingested]:  # fmt: skip
    """Read a transcript from its bookmark; yields the counts of each batch as soon as it is committed.

    ignored: whether conversations in a folder are left out. again: read it from its beginning; existing turns
    stay, and change where the transcript differs. growing: see `keep_accounts`.
    """
    bookmarks = [] if again else context.reader.records(Bookmark)
    try:
        with source.open(path, [one for one in bookmarks if one.source == source.name]) as transcript:
            start = transcript.bookmark
            keeping = _Keeping(source.name, context, dict(admit(start.state).get("last", ())))
            offset, passed_over = start.offset, 0
            for batch in _batches(transcript):
                bookmark = replace(transcript.bookmark, source=source.name, read_at=context.now)
                kept = [one for one in batch if not ignored(one.folder)]
                counts = keeping.keep(kept, bookmark)
                lost = transcript.passed_over - passed_over
                yield replace(counts, bytes=bookmark.offset - offset, passed_over=lost)
                offset, passed_over = bookmark.offset, passed_over + lost
            keep_accounts(keeping.touched, context, growing=growing)
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from error


def keep_all(
    entries: Iterable[TurnOrHeading], source: str, context: Context, preview: bool = False
) -> Iterator[Ingested]:
    """Keep turns and headings from anywhere, or only count them; yields the counts of each batch."""
    keeping = _Keeping(source, context, {})
    keep = keeping.count if preview else keeping.keep
    for batch in _batches([one] for one in entries):
        yield keep(batch, None)
    keep_accounts(keeping.touched, context)


def keep_foreign(
    entries: Iterable[TurnOrHeading], source: str, context: Context, last: Mapping[str, Sequence[str]]
) -> Iterator[Ingested]:
    """Keep entries of another machine. last: id and beginning of the last stored turn of each session."""
    keeping = _Keeping(source, context, dict(last), foreign_project)
    for batch in _batches([one] for one in entries):
        keeping.sign(batch)
        yield keeping.keep(batch, None)
    keep_accounts(keeping.touched, context, growing=True)


def _batches(pieces: Iterable[Sequence[TurnOrHeading]]) -> Iterator[list[TurnOrHeading]]:
    """The entries in batches. Entries before an error are not lost; the last batch may be empty."""
    batch: list[TurnOrHeading] = []
    pending, characters = False, 0
    try:
        for piece in pieces:
            pending = True
            batch += piece
            characters += sum(len(one.text) + len(one.full) for one in piece if isinstance(one, Turn))
            if len(batch) >= BATCH or characters >= BATCH_CHARACTERS:
                yield batch
                batch, pending, characters = [], False, 0
    except LoreError:
        if pending:
            yield batch
        raise
    if pending:
        yield batch


class _Keeping:
    """Keeps the turns of one file as memories. last: id and beginning of the last turn of each session.

    A heading waits for the first turn of its session. touched: the sessions that have changed so far.
    """

    def __init__(
        self,
        source: str,
        context: Context,
        last: dict[str, Sequence[str]],
        project: Callable[[str, str], Project | None] = project_of,
    ) -> None:
        self._source = source
        self._context = context
        self._now = context.now
        self._last = last
        self._signed: dict[str, str] = {}
        self._waiting: dict[str, Heading] = {}
        self.touched: set[str] = set()
        self._before: dict[str, str] = {}
        self._project = cache(project)

    def keep(self, batch: Sequence[TurnOrHeading], bookmark: Bookmark | None) -> Ingested:
        """Keep a batch, and the bookmark behind it if there is one, in one transaction."""
        secrets: Counter[str] = Counter()
        self._before = {}
        cleaned = [self._dated(clean_turn(one, secrets)) for one in batch if isinstance(one, Turn)]
        turns = {self._id(turn.uuid): turn for turn in cleaned if turn.text}
        new_headings = (clean_heading(one, secrets) for one in batch if isinstance(one, Heading))
        headings = self._waiting | {heading.session: heading for heading in new_headings}
        with self._context.transaction() as writer:
            turns, headings = self._not_erased(turns, headings, writer)
            existing = writer.get(turns, forgotten=True)
            new = {id: turn for id, turn in turns.items() if id not in existing}
            sessions = self._keep_sessions(list(new.values()), headings, writer)
            memories, links = self._memories(turns, existing)
            writer.put(memories, {id: Admitted(turn.full) for id, turn in new.items() if turn.full})
            writer.put_links(links)
            changed = self._changed(turns, existing, writer)
            placed = self._placed([turns[memory.id] for memory in changed], writer)
            full_texts = {memory.id: Admitted(turns[memory.id].full) for memory in changed}
            writer.put([*changed, *placed], full_texts)
            writer.put(self._retitled(changed, existing, turns, writer))
            if bookmark is not None:
                last = list(self._last.items())
                writer.put_records([replace(bookmark, state={**bookmark.state, "last": last})])
        self.touched |= {self._session(turns[id].session) for id in (*new, *(one.id for one in changed))}
        return Ingested(turns=len(new), changed=len(changed), sessions=sessions, redacted=secrets)

    def _not_erased(
        self, turns: Mapping[str, Turn], headings: Mapping[str, Heading], reader: Reader
    ) -> tuple[dict[str, Turn], dict[str, Heading]]:
        """Without turns that were erased for good, and without titles of conversations that were.

        A conversation that goes on after it was erased is kept from there on.
        """
        gone = reader.purged([*turns, *map(self._session, headings)])
        kept = {id: one for id, one in turns.items() if id not in gone}
        return kept, {name: one for name, one in headings.items() if self._session(name) not in gone}

    def count(self, batch: Sequence[TurnOrHeading], _: Bookmark | None) -> Ingested:
        """Count what `keep` would keep; nothing changes."""
        secrets: Counter[str] = Counter()
        cleaned = [clean_turn(one, secrets) for one in batch if isinstance(one, Turn)]
        turns = {self._id(turn.uuid): turn for turn in cleaned if turn.text}
        existing = self._context.reader.get(turns, forgotten=True)
        names = {turn.session for id, turn in turns.items() if id not in existing} - self._last.keys()
        self._last |= dict.fromkeys(names, ())
        stored = self._context.reader.get(map(self._session, names), forgotten=True)
        new, sessions = len(turns) - len(existing), len(names) - len(stored)
        return Ingested(turns=new, sessions=sessions, redacted=secrets)

    def _dated(self, turn: Turn) -> Turn:
        """The turn without an impossible time: before 1970, or more than a day ahead."""
        possible = turn.at is None or 0 < turn.at <= self._now + AHEAD_SECONDS
        return turn if possible else replace(turn, at=None)

    def _changed(
        self, turns: Mapping[str, Turn], existing: Mapping[str, Memory], reader: Reader
    ) -> list[Memory]:
        """The memories of turns whose text or project has changed; forgotten ones stay as they are.

        A turn that left for a server comes back when it grows, to be pushed again.
        """
        current = {id: memory for id, memory in existing.items() if memory.forgotten_at is None}
        full = reader.full_texts(id for id, memory in current.items() if FULL_LENGTH in memory.metadata)
        changed = [
            memory
            for id, memory in current.items()
            if (memory.project or self._project_key(turns[id])) != memory.project
            or (memory.content, full.get(id, "")) != (turns[id].text, turns[id].full)
            or self._is_restored(memory, turns[id])
        ]
        grown = [
            replace(memory, forgotten_at=None, forgotten_reason="")
            for id, memory in existing.items()
            if memory.forgotten_at is not None
            and memory.forgotten_reason.startswith(LEFT)
            and (memory.content, memory.metadata.get(FULL_LENGTH, 0)) != (turns[id].text, len(turns[id].full))
        ]
        return [self._current(memory, turns[memory.id]) for memory in (*changed, *grown)]

    def _is_restored(self, memory: Memory, turn: Turn) -> bool:
        """Whether today's rules keep what earlier ones removed beside the text of a turn."""
        reasoning = str(memory.metadata.get("reasoning", ""))
        return (REDACTED in memory.context and memory.context != self._context_of(memory, turn)) or (
            REDACTED in reasoning and reasoning != turn.reasoning
        )

    def _context_of(self, memory: Memory, turn: Turn) -> str:
        """The context of a stored turn; what is redacted in it is written anew."""
        if REDACTED not in memory.context:
            return memory.context
        project = self._project(turn.folder, turn.remote)
        return _context(turn, project, self._before.get(memory.id, ""))

    def _retitled(
        self,
        changed: Sequence[Memory],
        existing: Mapping[str, Memory],
        turns: Mapping[str, Turn],
        reader: Reader,
    ) -> list[Memory]:
        """Sessions that are called by the earlier text of one of these turns, called by its text of now."""
        named = {
            (self._session(turns[memory.id].session), preview(existing[memory.id].content, TITLE)): title
            for memory in changed
            if (title := preview(memory.content, TITLE))
        }
        return [
            replace(session, title=title, content=title, updated_at=self._now)
            for id, session in reader.get({id for id, _ in named}).items()
            if (title := named.get((id, session.title), session.title)) != session.title
        ]

    def _current(self, memory: Memory, turn: Turn) -> Memory:
        return replace(
            memory,
            context=self._context_of(memory, turn),
            kind=_kind(turn),
            content=Admitted(turn.text),
            project=memory.project or self._project_key(turn),
            metadata=_metadata(turn),
            updated_at=self._now,
        )

    def sign(self, batch: Sequence[TurnOrHeading]) -> None:
        """Make the caller part of the ids of these turns and sessions: nobody pushes into those of others.

        What the caller pushed before ids were signed keeps its id.
        """
        if not (author := self._context.cause.author):
            return
        sessions = {f"session\0{one.session}" for one in batch}
        names = {one.uuid for one in batch if isinstance(one, Turn)} | sessions
        earlier, reader = list(map(self._name_id, names)), self._context.reader
        stored = reader.get(earlier, forgotten=True).values()
        mine = {one.id for one in stored if one.author == author} | reader.purged(earlier).keys()
        self._signed |= {name: f"{name}\0{author}" for name in names if self._name_id(name) not in mine}

    def _session(self, name: str) -> str:
        return self._id(f"session\0{name}")

    def _id(self, name: str) -> str:
        return self._name_id(self._signed.get(name, name))

    def _name_id(self, name: str) -> str:
        """An id that depends on the name only, so that no turn is kept twice."""
        return str(uuid.uuid5(NAMES, "\0".join((self._context.namespace, self._source, name))))

    def _keep_sessions(self, turns: Sequence[Turn], headings: Mapping[str, Heading], writer: Writer) -> int:
        """Keep the sessions of these turns, titled by their heading or by the user's first words.

        A title from a first turn that is all pasted has the trust of a tool's output."""
        by_session: dict[str, list[Turn]] = {}
        for turn in turns:
            by_session.setdefault(turn.session, []).append(turn)
        ids = {self._session(name): name for name in (*by_session, *headings)}
        existing = writer.get(ids, forgotten=True)
        new = [
            self._session_memory(id, by_session[name], headings.get(name))
            for id, name in ids.items()
            if id not in existing and name in by_session
        ]
        renamed = [
            replace(memory, title=title, content=title, updated_at=self._now)
            for id, memory in existing.items()
            if (title := _title(headings.get(ids[id]))) and title != memory.title
        ]
        writer.put([*new, *renamed])
        kept = {*by_session, *(ids[id] for id in existing)}
        self._waiting = {name: heading for name, heading in headings.items() if name not in kept}
        return len(new)

    def _placed(self, turns: Sequence[Turn], reader: Reader) -> list[Memory]:
        """The sessions of these turns that had no project, with the project of the turns."""
        by_session = {self._session(turn.session): turn for turn in reversed(turns)}
        return [
            replace(memory, project=project, metadata={**memory.metadata, **folder}, updated_at=self._now)
            for id, memory in reader.get(by_session).items()
            if not memory.project and (project := self._project_key(by_session[id]))
            for folder in [{"folder": by_session[id].folder} if by_session[id].folder else {}]
        ]

    def _session_memory(self, id: str, turns: Sequence[Turn], heading: Heading | None) -> Memory:
        first = next((turn for turn in turns if turn.role == "user"), turns[0])
        own = _title(heading) or preview(own_heading(first.text), TITLE)
        title = own or preview(first.text, TITLE)
        memory = self._memory(id, first, "")
        parent = heading.parent if heading else ""
        metadata = {"folder": first.folder, "branch": first.branch, "parent": parent}
        return replace(
            memory,
            kind=SESSION,
            trust=memory.trust if own else TRUST["tool"],
            type="",
            title=title,
            content=title,
            context="",
            importance=IMPORTANCE["tool"],
            metadata={name: value for name, value in metadata.items() if value},
        )

    def _memories(
        self, turns: Mapping[str, Turn], existing: Mapping[str, Memory]
    ) -> tuple[list[Memory], list[Link]]:
        """Memories of new turns in order, with links from their session and from the preceding turn.

        Calls to Lore are linked to their session only: the turns before and after them are neighbours.
        """
        memories, links = [], []
        for id, turn in turns.items():
            own_call = _kind(turn) == LORE_CALL
            before, text_before = self._last.get(turn.session, ("", ""))
            self._before[id] = text_before
            if id not in existing:
                memories.append(self._memory(id, turn, text_before))
                links.append(self._link(self._session(turn.session), id, "hierarchical"))
                if before and not own_call:
                    links.append(self._link(before, id, "temporal"))
            if not own_call:
                self._last.pop(turn.session, None)
                self._last[turn.session] = (id, preview(turn.text[:NEIGHBOUR_SEARCHED], NEIGHBOUR))
        keep_newest(self._last, MOST_SESSIONS)
        return memories, links

    def _link(self, source: str, target: str, kind: LinkKind) -> Link:
        return new_link(Tie(source=source, target=target, kind=kind), self._context.cause.verb, self._now)

    def _memory(self, id: str, turn: Turn, text_before: str) -> Memory:
        project = self._project(turn.folder, turn.remote)
        at = self._now if turn.at is None else turn.at
        return Memory(
            id=id,
            namespace=self._context.namespace,
            kind=_kind(turn),
            type=turn.role,
            content=Admitted(turn.text),
            context=_context(turn, project, text_before),
            importance=IMPORTANCE[turn.role],
            trust=TRUST[turn.role],
            source=self._source,
            source_type="transcript",
            session=turn.session,
            project=project.key if project else "",
            metadata=_metadata(turn),
            created_at=at,
            updated_at=at,
        )

    def _project_key(self, turn: Turn) -> str:
        project = self._project(turn.folder, turn.remote)
        return project.key if project else ""


def _metadata(turn: Turn) -> dict[str, Any]:
    """The fields of a turn that have no column of their own."""
    metadata = {
        "uuid": turn.uuid,
        "line": turn.line,
        "folder": turn.folder,
        "branch": turn.branch,
        "model": turn.model,
        "tool": turn.tool,
        "agent": turn.agent,
        "failed": turn.failed,
        "reasoning": Admitted(turn.reasoning),
        FULL_LENGTH: len(turn.full),
    }
    return {name: value for name, value in metadata.items() if value}


def _kind(turn: Turn) -> str:
    return LORE_CALL if turn.role == "tool" and is_lore_call(turn.tool, turn.text) else TURN


def _title(heading: Heading | None) -> str:
    return preview(heading.title, TITLE) if heading and heading.title.strip() else ""


def _context(turn: Turn, project: Project | None, text_before: str) -> str:
    """Text that is indexed with a turn but not shown: speaker, date, project, and the preceding turn."""
    speaker = f"{SPEAKERS[turn.role]} {turn.tool}".strip()
    date = "" if turn.at is None else datetime.fromtimestamp(turn.at, UTC).strftime("%A %d %B %Y")
    place = " ".join(filter(None, (project.name if project else "", turn.branch)))
    line = ", ".join(filter(None, (speaker, date, place)))
    return Admitted(f"{admit(line)}\n{text_before}".strip())


def import_file(
    path: Path, context: Context, *, format: Format | None, session: str, preview: bool = False
) -> Iterator[Ingested]:
    """Read a whole file; yields the counts of each batch as soon as it is committed, or only counted."""
    check_storable(session, "session", SESSION_LIMIT_BYTES)
    try:
        with open_regular(path) as file:
            read = 0
            if found := format or import_formats.format_of(file):
                entries = import_formats.entries(file, found, path.name, session.strip())
                for counts in keep_all(entries, import_formats.source_of(found), context, preview):
                    position = max(read, file.tell())
                    yield replace(counts, bytes=position - read)
                    read = position
            yield Ingested(bytes=file.seek(0, os.SEEK_END) - read)
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from error
