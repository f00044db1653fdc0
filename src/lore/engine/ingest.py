"""ingest: read on in a transcript → turns → memories under their session, and the bookmark with them."""

import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lore.admit import Admitted, admit
from lore.engine.clean import clean_heading, clean_turn
from lore.engine.link import new_link
from lore.errors import LoreError, Unavailable
from lore.model import FULL_LENGTH, LORE_CALL, SESSION, TURN, Cause, Link, LinkKind, Memory, Tie
from lore.store import Bookmark, Reader, Store, Writer
from lore.text import preview
from lore.transcripts.base import Heading, Said, Turn
from lore.transcripts.growing import ReadPosition, Transcript, Watermark
from lore.transcripts.lore_calls import is_lore_call
from lore.transcripts.project import Project, project_of
from lore.transcripts.sources import Source

BATCH = 200
"""How many turns are kept at once: a fraction of a second, in which other writers wait."""
BATCH_CHARACTERS = 4_000_000
"""Characters that are kept at once, if the turns are long."""
IMPORTANCE = {"user": 0.3, "assistant": 0.2, "summary": 0.4, "tool": 0.1}
SPEAKERS = {"user": "the user", "assistant": "the assistant", "summary": "a summary", "tool": "a tool"}
NEIGHBOUR = 200
"""Characters of the turn before that are indexed with a turn."""
LOOKED_AT = 8 * NEIGHBOUR
"""Characters of a turn in which these are looked for: it may begin with blank lines."""
TITLE = 80
AHEAD_SECONDS = 86_400.0
"""By how much a client's clock may be ahead of ours; a turn of a later time gets the time of the reading."""
REMEMBERED = 20
"""Of how many sessions of a file the last turn is remembered."""
NAMES = uuid.UUID("7b0c6b1e-5d0f-4c55-9a5e-0d6f2f0b8c11")


@dataclass(frozen=True, slots=True, kw_only=True)
class Ingested:
    """What came of reading: new turns, those that had changed, new sessions; secrets by kind; bytes read.

    passed_over: lines of which nothing is kept, because they could not be read.
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
    path: Path,
    source: Source,
    *,
    store: Store,
    namespace: str,
    cause: Cause,
    now: float,
    ignored: Callable[[str], bool],
    again: bool = False,
) -> Iterator[Ingested]:
    """Read a transcript on from where it was left; what came of each batch, as soon as it is kept.

    ignored: of a folder, whether what was said there is left out. again: read it from its beginning; what is
    known stays, and changes where the transcript says more of it or something else.
    """
    marks = [] if again else store.reader(namespace).bookmarks()
    try:
        with source.open(path, [_left(mark) for mark in marks if mark.source == source.name]) as transcript:
            begun = transcript.left
            keeping = _Keeping(source.name, namespace, cause, now, _last_of(admit(begun.state)))
            before, passed_over = begun.mark.offset, 0
            for batch in _batches(transcript):
                left = transcript.left
                kept = [one for one in batch if not ignored(one.folder)]
                done = keeping.keep(kept, _bookmark(left, source.name, now), store)
                lost = transcript.passed_over - passed_over
                yield replace(done, bytes=left.mark.offset - before, passed_over=lost)
                before, passed_over = left.mark.offset, passed_over + lost
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from error


def keep_all(
    said: Iterable[Said], source: str, *, store: Store, namespace: str, cause: Cause, now: float
) -> Iterator[Ingested]:
    """Keep what was said, whoever read it; what came of each batch. What is known already is not new."""
    keeping = _Keeping(source, namespace, cause, now, {})
    for batch in _parted(said):
        yield keeping.keep(batch, None, store)


def _parted(said: Iterable[Said]) -> Iterator[list[Said]]:
    """Some at a time. What comes before something that cannot be read is not lost with it."""
    batch: list[Said] = []
    characters = 0
    try:
        for one in said:
            batch.append(one)
            characters += _characters([one])
            if len(batch) >= BATCH or characters >= BATCH_CHARACTERS:
                yield batch
                batch, characters = [], 0
    except LoreError:
        if batch:
            yield batch
        raise
    if batch:
        yield batch


def _characters(said: Iterable[Said]) -> int:
    return sum(len(one.text) + len(one.full) for one in said if isinstance(one, Turn))


def _left(bookmark: Bookmark) -> ReadPosition:
    mark = Watermark(offset=bookmark.offset, lines=bookmark.lines, first=bookmark.first, last=bookmark.last)
    return ReadPosition(
        path=bookmark.path,
        device=bookmark.device,
        inode=bookmark.inode,
        mark=mark,
        state=bookmark.state,
    )


def _bookmark(left: ReadPosition, source: str, now: float) -> Bookmark:
    return Bookmark(
        path=left.path,
        source=source,
        device=left.device,
        inode=left.inode,
        offset=left.mark.offset,
        lines=left.mark.lines,
        first=left.mark.first,
        last=left.mark.last,
        state=left.state,
        read_at=now,
    )


def _batches(transcript: Transcript) -> Iterator[list[Said]]:
    """What is said, some at a time; the last batch may be empty, but the reading has moved."""
    batch: list[Said] = []
    read = characters = 0
    for piece in transcript:
        read += 1
        batch += piece
        characters += _characters(piece)
        if len(batch) >= BATCH or characters >= BATCH_CHARACTERS:
            yield batch
            batch, read, characters = [], 0, 0
    if read:
        yield batch


class _Keeping:
    """Turns of one file become memories. last: of each session, the turn before the next, and its words.

    A heading waits for the first turn of its session.
    """

    def __init__(
        self, source: str, namespace: str, cause: Cause, now: float, last: dict[str, Sequence[str]]
    ) -> None:
        self._source = source
        self._namespace = namespace
        self._cause = cause
        self._now = now
        self._last = last
        self._waiting: dict[str, Heading] = {}
        self._projects: dict[tuple[str, str], Project | None] = {}
        self._sessions: dict[str, str] = {}

    def keep(self, batch: Sequence[Said], bookmark: Bookmark | None, store: Store) -> Ingested:
        """All of a batch and the bookmark behind it, if there is one, in one transaction."""
        hidden: Counter[str] = Counter()
        said = [self._dated(clean_turn(one, hidden)) for one in batch if isinstance(one, Turn)]
        turns = {self._id(turn.uuid): turn for turn in said if turn.text}
        told = (clean_heading(one, hidden) for one in batch if isinstance(one, Heading))
        headings = self._waiting | {heading.session: heading for heading in told}
        with store.transaction(self._namespace, self._cause, self._now) as writer:
            known = writer.get(turns, forgotten=True)
            fresh = {id: turn for id, turn in turns.items() if id not in known}
            sessions = self._keep_sessions(list(fresh.values()), headings, writer)
            memories, links = self._told(turns, known)
            writer.put(memories)
            writer.put_links(links)
            changed = self._changed(turns, known, writer)
            writer.put([*changed, *self._placed([turns[memory.id] for memory in changed], writer)])
            writer.put_full_texts({id: Admitted(turn.full) for id, turn in fresh.items() if turn.full})
            writer.put_full_texts({memory.id: Admitted(turns[memory.id].full) for memory in changed})
            if bookmark is not None:
                writer.put_bookmark(
                    replace(bookmark, state={**bookmark.state, "last": list(self._last.items())})
                )
        return Ingested(turns=len(fresh), changed=len(changed), sessions=sessions, redacted=hidden)

    def _dated(self, turn: Turn) -> Turn:
        """The turn without a time that it cannot have: before 1970, or more than a day from now."""
        possible = turn.at is None or 0 < turn.at <= self._now + AHEAD_SECONDS
        return turn if possible else replace(turn, at=None)

    def _changed(
        self, turns: Mapping[str, Turn], known: Mapping[str, Memory], reader: Reader
    ) -> list[Memory]:
        """Memories of turns that now say something else, or more; forgotten ones stay as they are."""
        current = {id: memory for id, memory in known.items() if memory.forgotten_at is None}
        full = reader.full_texts(id for id, memory in current.items() if FULL_LENGTH in memory.metadata)
        return [
            replace(
                memory,
                kind=_kind(turns[id]),
                content=Admitted(turns[id].text),
                project=project,
                metadata=_told(turns[id]),
                updated_at=self._now,
            )
            for id, memory in current.items()
            if (project := memory.project or self._project_key(turns[id])) != memory.project
            or (memory.content, full.get(id, "")) != (turns[id].text, turns[id].full)
        ]

    def _id(self, name: str) -> str:
        """The same wherever and however often it is read, so that nothing is kept twice."""
        return str(uuid.uuid5(NAMES, "\0".join((self._namespace, self._source, name))))

    def _keep_sessions(self, turns: Sequence[Turn], headings: Mapping[str, Heading], writer: Writer) -> int:
        """The sessions of these turns, called by their heading or by what the user said first."""
        by_session: dict[str, list[Turn]] = {}
        for turn in turns:
            by_session.setdefault(turn.session, []).append(turn)
        ids = {self._session(name): name for name in (*by_session, *headings)}
        known = writer.get(ids, forgotten=True)
        new = [
            self._session_memory(id, by_session[name], headings.get(name))
            for id, name in ids.items()
            if id not in known and name in by_session
        ]
        renamed = [
            replace(memory, title=title, content=title, updated_at=self._now)
            for id, memory in known.items()
            if (title := _title(headings.get(ids[id]))) and title != memory.title
        ]
        writer.put([*new, *renamed])
        there = {*by_session, *(ids[id] for id in known)}
        self._waiting = {name: heading for name, heading in headings.items() if name not in there}
        return len(new)

    def _placed(self, turns: Sequence[Turn], reader: Reader) -> list[Memory]:
        """The sessions of these turns whose project was not known, with the one that the turns tell."""
        by_session = {self._session(turn.session): turn for turn in reversed(turns)}
        return [
            replace(memory, project=project, metadata={**memory.metadata, **folder}, updated_at=self._now)
            for id, memory in reader.get(by_session).items()
            if not memory.project and (project := self._project_key(by_session[id]))
            for folder in [{"folder": by_session[id].folder} if by_session[id].folder else {}]
        ]

    def _session(self, name: str) -> str:
        if name not in self._sessions:
            self._sessions[name] = self._id(f"session\0{name}")
        return self._sessions[name]

    def _session_memory(self, id: str, turns: Sequence[Turn], heading: Heading | None) -> Memory:
        first = next((turn for turn in turns if turn.role == "user"), turns[0])
        title = _title(heading) or preview(first.text, TITLE)
        at = self._now if first.at is None else first.at
        told = {"folder": first.folder, "branch": first.branch, "parent": heading.parent if heading else ""}
        return Memory(
            id=id,
            namespace=self._namespace,
            kind=SESSION,
            title=title,
            content=title,
            importance=IMPORTANCE["tool"],
            source=self._source,
            source_type="transcript",
            session=first.session,
            project=self._project_key(first),
            metadata={name: value for name, value in told.items() if value},
            created_at=at,
            updated_at=at,
        )

    def _told(
        self, turns: Mapping[str, Turn], known: Mapping[str, Memory]
    ) -> tuple[list[Memory], list[Link]]:
        """The memories of new turns in their order, below their session and behind the turn before.

        Calls to Lore stand below their session only: the turns before and after them are neighbours.
        """
        memories, links = [], []
        for id, turn in turns.items():
            if id not in known:
                before, said = self._last.get(turn.session, ("", ""))
                memories.append(self._memory(id, turn, said))
                links.append(self._link(self._session(turn.session), id, "hierarchical"))
                if before and _kind(turn) == TURN:
                    links.append(self._link(before, id, "temporal"))
            if _kind(turn) == LORE_CALL:
                continue
            self._last.pop(turn.session, None)
            self._last[turn.session] = (id, preview(turn.text[:LOOKED_AT], NEIGHBOUR))
        for old in list(self._last)[:-REMEMBERED]:
            del self._last[old]
        return memories, links

    def _link(self, source: str, target: str, kind: LinkKind) -> Link:
        return new_link(Tie(source=source, target=target, kind=kind), self._cause.verb, self._now)

    def _memory(self, id: str, turn: Turn, words_before: str) -> Memory:
        project = self._project(turn)
        at = self._now if turn.at is None else turn.at
        return Memory(
            id=id,
            namespace=self._namespace,
            kind=_kind(turn),
            type=turn.role,
            content=Admitted(turn.text),
            context=_context(turn, project, words_before),
            importance=IMPORTANCE[turn.role],
            source=self._source,
            source_type="transcript",
            session=turn.session,
            project=self._project_key(turn),
            metadata=_told(turn),
            created_at=at,
            updated_at=at,
        )

    def _project_key(self, turn: Turn) -> str:
        project = self._project(turn)
        return project.key if project else ""

    def _project(self, turn: Turn) -> Project | None:
        place = (turn.folder, turn.remote)
        if place not in self._projects:
            self._projects[place] = project_of(*place)
        return self._projects[place]


def _last_of(state: Mapping[str, Any]) -> dict[str, Sequence[str]]:
    """Of the sessions of a file, their last turns, the latest session last."""
    last = state.get("last", ())
    return dict(last.items() if isinstance(last, Mapping) else last)


def _told(turn: Turn) -> dict[str, Any]:
    """What else is known of a turn."""
    told = {
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
    return {name: value for name, value in told.items() if value}


def _kind(turn: Turn) -> str:
    return LORE_CALL if turn.role == "tool" and is_lore_call(turn.tool, turn.text) else TURN


def _title(heading: Heading | None) -> str:
    return preview(heading.title, TITLE) if heading and heading.title.strip() else ""


def _context(turn: Turn, project: Project | None, words_before: str) -> str:
    """What is found by, but not shown: who spoke, when, where, and what was said just before."""
    speaker = f"{SPEAKERS[turn.role]} {turn.tool}".strip()
    when = "" if turn.at is None else datetime.fromtimestamp(turn.at, UTC).strftime("%A %d %B %Y")
    where = " ".join(part for part in (project.name if project else "", turn.branch) if part)
    told = ", ".join(part for part in (speaker, when, where) if part)
    return Admitted(f"{admit(told)}\n{words_before}".strip())
