"""agent_files: files in which agents keep notes → one memory for each entry; what is gone is forgotten."""

import socket
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b

from lore.admit import admit
from lore.bookmark import Bookmark
from lore.citations import without_citations
from lore.engine.context import Context
from lore.engine.forget import hide, restore
from lore.engine.link import end_link
from lore.errors import LoreError
from lore.lineage import FILE
from lore.model import AGENT, AGENT_FILE, AGENT_TRUST, Filter, Link, Memory
from lore.store import Reader, Writer
from lore.store.values import COUNT
from lore.text import CONTENT_LIMIT_BYTES, preview, title_of
from lore.transcripts.agent_entries import PREFERENCE, Entry
from lore.transcripts.agent_files import CLIENTS, AgentFile, entries_of, is_gone
from lore.transcripts.project import project_of
from lore.transcripts.untrusted_files import printable

GONE = "its file is gone"
"""The reason for which a memory is forgotten whose entry is no longer there; it comes back with the entry."""
HASH, WRITTEN = "hash", "mtime"
"""Metadata besides the file: the hash of the entry, and when the file was last changed."""
TRUST = 0.5
"""Trust in what an agent has noted; in what it notes of the user, that of a note that it stores in Lore."""
TITLE, SUMMARY = 80, 400
NAMES = uuid.UUID("5f6d8a52-95a4-4f3c-8d0b-6c2c1a9f7e34")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotesRead:
    """What reading agents' notes did to memories, and the files that could not be read: path -> reason.

    files: those that were read, because they are new or have changed.
    """

    files: int = 0
    new: int = 0
    changed: int = 0
    forgotten: int = 0
    restored: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)

    def __add__(self, other: "NotesRead") -> "NotesRead":
        return NotesRead(
            files=self.files + other.files,
            new=self.new + other.new,
            changed=self.changed + other.changed,
            forgotten=self.forgotten + other.forgotten,
            restored=self.restored + other.restored,
            failed={**self.failed, **other.failed},
        )


def read_agent_files(
    files: Sequence[AgentFile],
    clients: Iterable[str],
    context: Context,
    *,
    ignored: Callable[[str], bool],
    again: bool,
) -> NotesRead:
    """Keep the entries of files that are new or have changed, and forget those whose file is gone.

    clients: those whose gone files count. ignored: whether notes about a folder are left as they are. again:
    read all files.
    """
    marks = {
        mark.path: mark
        for client in clients
        for mark in context.reader.records(Bookmark, source=_reading_of(client))
    }
    total = NotesRead()
    for file in files:
        mark = marks.pop(printable(file.path), None)
        if again or mark is None or _signature(mark) != file.signature:
            total += _read_one(file, mark, context, ignored)
    for mark in marks.values():
        if mark.state.get("entries") and is_gone(mark.path):
            total += _keep({}, mark, replace(mark, inode=0, offset=0, state={}), context)
    return total


def notes_of_agents(reader: Reader) -> dict[str, int]:
    """The number of current memories from the files of each client that has any."""
    counts = {
        name: reader.traces(
            Filter(sources=frozenset({name}), source_types=frozenset({AGENT_FILE})), COUNT
        ).total
        for name in CLIENTS
    }
    return {name: count for name, count in counts.items() if count}


def _read_one(
    file: AgentFile, before: Bookmark | None, context: Context, ignored: Callable[[str], bool]
) -> NotesRead:
    path = printable(file.path)
    try:
        found = admit(entries_of(file))
        earlier = _ids_in(before)
        ids = {(key := _digest(entry.key)): earlier.get(key) or _id(file, key, context) for entry, _ in found}
        left_out = {ids[_digest(entry.key)] for entry, folder in found if ignored(folder)}
        memories = {
            id: _memory(id, entry, folder, file, context)
            for entry, folder in found
            if (id := ids[_digest(entry.key)]) not in left_out
        }
        inode, size, nanoseconds = file.signature
        mark = Bookmark(
            path=path,
            source=_reading_of(file.client),
            inode=inode,
            offset=size,
            state={"entries": ids, "nanoseconds": nanoseconds},
            read_at=context.now,
        )
        return replace(_keep(memories, before, mark, context), files=1)
    except OSError as error:
        return NotesRead(failed={path: f"cannot be read: {error.strerror}"})
    except LoreError as error:
        return NotesRead(failed={path: str(error)})


def _keep(
    memories: Mapping[str, Memory], before: Bookmark | None, mark: Bookmark, context: Context
) -> NotesRead:
    """Make the memories of one file equal to its entries. before: what was read of it the last time.

    What somebody has forgotten stays forgotten, and what was erased stays erased.
    """
    there = frozenset(_ids_in(mark).values())
    stored = context.reader.get(memories, forgotten=True)
    back = [one.id for one in stored.values() if one.forgotten_at is not None and _was_gone(one)]
    restored = restore(back, context) if back else []
    with context.transaction() as writer:
        stored = writer.get(memories, forgotten=True)
        erased = writer.purged(memories)
        new = [one for id, one in memories.items() if id not in stored and id not in erased]
        changed = [
            _revised(stored[id], one, writer.now)
            for id, one in memories.items()
            if id in stored and stored[id].forgotten_at is None and _differs(stored[id], one)
        ]
        writer.put_links(end_link(link, writer.now) for link in _replacements(changed, writer))
        writer.put([*new, *changed])
        gone = writer.get(set(_ids_in(before).values()) - there)
        for memory in gone.values():
            hide(memory, GONE, writer)
        writer.put_records([mark])
    return NotesRead(new=len(new), changed=len(changed), forgotten=len(gone), restored=len(restored))


def _was_gone(memory: Memory) -> bool:
    return memory.source_type == AGENT_FILE and memory.forgotten_reason == GONE


def _differs(stored: Memory, memory: Memory) -> bool:
    """Whether the entry is another one than that which the memory was made of, whoever changed that since."""
    return bool(stored.metadata.get(HASH) != memory.metadata[HASH])


def _revised(stored: Memory, memory: Memory, now: float) -> Memory:
    """The stored memory with the present text of its entry; it is current, even if it was replaced before."""
    return replace(
        stored,
        content=memory.content,
        title=memory.title,
        summary=memory.summary,
        type=memory.type,
        project=memory.project,
        trust=memory.trust,
        metadata={**without_citations(stored.metadata), **memory.metadata},
        superseded_by=None,
        superseded_at=None,
        updated_at=now,
    )


def _replacements(changed: Sequence[Memory], writer: Writer) -> list[Link]:
    """The links by which other memories replace these."""
    ids = {memory.id for memory in changed}
    links = writer.links(ids, kinds=("supersedes",), ended=True)
    return [link for link in links if link.active and link.target in ids]


def _memory(id: str, entry: Entry, folder: str, file: AgentFile, context: Context) -> Memory:
    project = project_of(folder) if folder else None
    content = _limited(entry.text)
    at = min(file.written_at, context.now)
    return Memory(
        id=id,
        namespace=context.namespace,
        type=entry.type,
        title=preview(entry.title, TITLE) or title_of(content),
        summary=preview(entry.summary, SUMMARY),
        content=content,
        source=file.client,
        source_type=AGENT_FILE,
        project=project.key if project else "",
        trust=AGENT_TRUST if entry.type == PREFERENCE else TRUST,
        metadata={
            AGENT: file.client,
            FILE: file.name,
            HASH: _digest(f"{entry.type}\0{entry.title}\0{entry.summary}\0{entry.text}"),
            WRITTEN: file.written_at,
        },
        created_at=at,
        updated_at=at,
    )


def _id(file: AgentFile, key: str, context: Context) -> str:
    """An id that depends on the entry alone: stores of two machines that exchange memories have both."""
    parts = (context.namespace, file.client, socket.gethostname(), printable(file.path), key)
    return str(uuid.uuid5(NAMES, "\0".join(parts)))


def _ids_in(mark: Bookmark | None) -> Mapping[str, str]:
    """Digest of the key of each entry that was read -> id of its memory."""
    return dict(mark.state.get("entries", {})) if mark else {}


def _signature(mark: Bookmark) -> tuple[int, int, int]:
    return mark.inode, mark.offset, mark.state.get("nanoseconds", 0)


def _reading_of(client: str) -> str:
    """The source of the bookmarks of a client's notes; its transcripts have others."""
    return f"{client} notes"


def _digest(text: str) -> str:
    return blake2b(text.encode(errors="replace"), digest_size=16).hexdigest()


def _limited(text: str) -> str:
    """As much as a memory holds."""
    return text.encode()[:CONTENT_LIMIT_BYTES].decode("utf-8", "ignore")
