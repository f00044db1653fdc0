"""reflect: look whether the session is known → see which lessons are new → keep account, lessons and ties."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from lore.admit import admit
from lore.engine.embeddings import Embeddings
from lore.engine.find_duplicate import find_duplicate
from lore.engine.link import new_link
from lore.errors import Invalid
from lore.model import Cause, Draft, Filter, Link, Memory, Tie, new_id
from lore.ranking.compare import corrects
from lore.store import Reader, Store, Writer
from lore.text import check_storable, require_text, title_of

KIND, TYPE = "reflection", "session"
UPDATE = "supersedes"
"""The relation of a lesson to the memory that it corrects."""
SESSION_LIMIT_BYTES = 500
LESSONS_LIMIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """Something that a session taught: a note of its own, tied to the session by `relation`."""

    text: str
    relation: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """What remains of one session: an account of it, and the lessons that deserve notes of their own.

    project: in which it took place.
    """

    session: str
    title: str
    account: str
    lessons: tuple[Lesson, ...] = ()
    project: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What became of one lesson; `why` tells why one could not be kept."""

    id: str
    title: str
    relation: str
    outcome: Literal["inserted", "duplicate", "error"]
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflected:
    """The reflection as it is kept, and what it taught; again: the session had been reflected on before."""

    memory: Memory
    learned: tuple[Learned, ...] = ()
    again: bool = False


def reflect(
    reflection: Reflection,
    *,
    store: Store,
    reader: Reader,
    sense: Embeddings,
    namespace: str,
    cause: Cause,
    now: float,
    duplicate_at: float,
) -> Reflected:
    """Keep one session, once: a second call for it changes nothing and tells of the first."""
    _check(reflection)
    reflection = admit(reflection)
    if earlier := _earlier(reflection.session, reader):
        return Reflected(memory=earlier, again=True)
    account = _account_of(reflection, namespace, now)
    notes, learned, updates = _learn(reflection, reader, sense, namespace, now, duplicate_at)
    memories = [account, *notes]

    with store.transaction(namespace, cause, now) as writer:
        if earlier := _earlier(reflection.session, writer):
            return Reflected(memory=earlier, again=True)
        taken = _taken(notes, namespace, writer)
        learned = [_duplicate(item, taken) if item.title in taken else item for item in learned]
        writer.put([memory for memory in memories if memory.id == account.id or memory.title not in taken])
        ties = {(item.id, item.relation): item for item in learned if item.outcome != "error"}
        ends = [(id, relation, account.id) for id, relation in ties]
        ends += [(id, UPDATE, older) for id, older in updates.items()]
        there = writer.get({id for source, _, target in ends for id in (source, target)})
        writer.put_links(
            _tie(source, relation, target, cause, now)
            for source, relation, target in ends
            if source in there and target in there
        )
        stored = writer.get([account.id])[account.id]
    return Reflected(memory=stored, learned=tuple(learned))


def sessions(reader: Reader) -> list[str]:
    """The sessions that have been reflected on, latest first."""
    every = reader.select(Filter(kinds=frozenset({KIND}), types=frozenset({TYPE})), 1_000_000)
    return list(dict.fromkeys(memory.session for memory in every))


def _check(reflection: Reflection) -> None:
    require_text(reflection.session, "session", SESSION_LIMIT_BYTES)
    require_text(reflection.account, "the account of the session")
    check_storable(
        json.dumps(dict(reflection.metadata), ensure_ascii=False), "what else is told of the session"
    )
    if len(reflection.lessons) > LESSONS_LIMIT:
        raise Invalid(f"{len(reflection.lessons)} lessons of one session; at most {LESSONS_LIMIT}")


def _earlier(session: str, reader: Reader) -> Memory | None:
    same = Filter(
        kinds=frozenset({KIND}), types=frozenset({TYPE}), sessions=frozenset({session}), superseded=True
    )
    return next(iter(reader.select(same, 1)), None)


def _account_of(reflection: Reflection, namespace: str, now: float) -> Memory:
    return Memory(
        id=new_id(now),
        namespace=namespace,
        kind=KIND,
        type=TYPE,
        title=check_storable(reflection.title, "title", SESSION_LIMIT_BYTES * 2),
        content=reflection.account,
        session=reflection.session,
        project=reflection.project,
        metadata=reflection.metadata,
        created_at=now,
        updated_at=now,
    )


def _learn(
    reflection: Reflection, reader: Reader, sense: Embeddings, namespace: str, now: float, duplicate_at: float
) -> tuple[list[Memory], list[Learned], dict[str, str]]:
    """The notes to keep, what becomes of every lesson, and which memory each note updates.

    A lesson told twice is one note.
    """
    notes: dict[str, Memory] = {}
    learned: list[Learned] = []
    updates: dict[str, str] = {}
    for lesson in reflection.lessons:
        title = title_of(lesson.text)
        told = {"title": title, "relation": lesson.relation}
        try:
            draft = Draft(content=require_text(lesson.text, "the lesson"), title=title)
        except Invalid as mistake:
            learned.append(Learned(id="", outcome="error", why=str(mistake), **told))
            continue
        before = find_duplicate(draft, reader=reader, sense=sense, limit=5, duplicate_at=duplicate_at)
        told["title"] = title = before.title
        while title in notes and corrects(notes[title].content, draft.content):
            told["title"] = title = f"{title} (2)"
        twin = notes.get(title) or before.twin
        if twin is not None:
            learned.append(Learned(id=twin.id, outcome="duplicate", **told))
            continue
        notes[title] = _note_of(lesson, title, reflection, namespace, now)
        learned.append(Learned(id=notes[title].id, outcome="inserted", **told))
        if before.updated is not None:
            updates[notes[title].id] = before.updated.id
    return list(notes.values()), learned, updates


def _taken(notes: list[Memory], namespace: str, writer: Writer) -> dict[str, str]:
    """Titles that somebody has given meanwhile -> whose they are; in the transaction, so that it stays so."""
    same = Filter(
        titles=frozenset(note.title for note in notes),
        kinds=frozenset({"note"}),
        namespaces=frozenset({namespace}),
        superseded=True,
    )
    return {memory.title: memory.id for memory in writer.select(same, len(notes))} if notes else {}


def _duplicate(item: Learned, taken: Mapping[str, str]) -> Learned:
    return replace(item, id=taken[item.title], outcome="duplicate")


def _note_of(lesson: Lesson, title: str, reflection: Reflection, namespace: str, now: float) -> Memory:
    return Memory(
        id=new_id(now),
        namespace=namespace,
        title=title,
        content=lesson.text,
        score=lesson.score,
        session=reflection.session,
        project=reflection.project,
        created_at=now,
        updated_at=now,
    )


def _tie(source: str, relation: str, target: str, cause: Cause, now: float) -> Link:
    return new_link(Tie(source=source, target=target, kind="relation", type=relation), cause.verb, now)
