"""reflect: store the account of a session once, and its new lessons as notes linked to it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from lore.admit import admit
from lore.engine.cite import with_citations
from lore.engine.context import Context
from lore.engine.embeddings import Embeddings
from lore.engine.find_duplicate import find_duplicate
from lore.engine.link import new_link
from lore.errors import Invalid
from lore.model import Draft, Filter, Memory, Tie, new_id
from lore.ranking.compare import corrects
from lore.settings import Tuning
from lore.store import Reader, Writer
from lore.store.values import EVERY, Page
from lore.text import check_storable, require_text, title_of

KIND, TYPE = "reflection", "session"
UPDATE = "supersedes"
"""The relation from a lesson to the memory that it corrects."""
SESSION_LIMIT_BYTES = 500
LESSONS_LIMIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """A lesson of a session: a note of its own, linked to the session by `relation`."""

    text: str
    relation: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflection:
    """The account of one session, and the lessons that become notes of their own.

    project: the repository of the session; empty for that of the call.
    """

    session: str
    title: str
    account: str
    lessons: tuple[Lesson, ...] = ()
    project: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """The outcome of one lesson. why: the reason why it could not be stored."""

    id: str
    title: str
    relation: str
    outcome: Literal["inserted", "duplicate", "error"]
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reflected:
    """The stored reflection and the outcome of its lessons. again: the session had a reflection before."""

    memory: Memory
    learned: tuple[Learned, ...] = ()
    again: bool = False


def reflect(reflection: Reflection, context: Context, *, embeddings: Embeddings, tuning: Tuning) -> Reflected:
    """Store the reflection of a session once: a second call changes nothing and returns the first one."""
    _check(reflection)
    reflection = admit(replace(reflection, project=reflection.project or context.project))
    if earlier := _earlier(reflection.session, context.reader):
        return Reflected(memory=earlier, again=True)
    account = _account_of(reflection, context)
    notes, learned, updates = _learn(reflection, embeddings, tuning, context)

    with context.transaction() as writer:
        if earlier := _earlier(reflection.session, writer):
            return Reflected(memory=earlier, again=True)
        taken = _taken(notes, writer)
        learned = [
            replace(item, id=taken[item.title], outcome="duplicate") if item.title in taken else item
            for item in learned
        ]
        writer.put([account, *(note for note in notes if note.title not in taken)])
        pairs = dict.fromkeys((item.id, item.relation) for item in learned if item.outcome != "error")
        ties = [Tie(source=id, target=account.id, kind="relation", type=relation) for id, relation in pairs]
        ties += [Tie(source=id, target=old, kind="relation", type=UPDATE) for id, old in updates.items()]
        stored = writer.get({id for tie in ties for id in (tie.source, tie.target)} | {account.id})
        writer.put_links(
            new_link(tie, context.cause.verb, context.now)
            for tie in ties
            if tie.source in stored and tie.target in stored
        )
    return Reflected(memory=stored[account.id], learned=tuple(learned))


def sessions(reader: Reader) -> list[str]:
    """The sessions with a reflection, latest first."""
    every = reader.select(Filter(kinds=frozenset({KIND}), types=frozenset({TYPE})), EVERY)
    return list(dict.fromkeys(memory.session for memory in every))


def _check(reflection: Reflection) -> None:
    require_text(reflection.session, "session", SESSION_LIMIT_BYTES)
    require_text(reflection.account, "the account of the session")
    check_storable(json.dumps(dict(reflection.metadata), ensure_ascii=False), "the metadata of the session")
    if len(reflection.lessons) > LESSONS_LIMIT:
        raise Invalid(f"{len(reflection.lessons)} lessons of one session; at most {LESSONS_LIMIT}")


def _earlier(session: str, reader: Reader) -> Memory | None:
    same = Filter(
        kinds=frozenset({KIND}), types=frozenset({TYPE}), sessions=frozenset({session}), superseded=True
    )
    return next(iter(reader.select(same, Page(limit=1))), None)


def _account_of(reflection: Reflection, context: Context) -> Memory:
    return Memory(
        id=new_id(context.now),
        namespace=context.namespace,
        kind=KIND,
        type=TYPE,
        title=check_storable(reflection.title, "title", SESSION_LIMIT_BYTES * 2),
        content=reflection.account,
        session=reflection.session,
        project=reflection.project,
        metadata=reflection.metadata,
        created_at=context.now,
        updated_at=context.now,
    )


def _learn(
    reflection: Reflection, embeddings: Embeddings, tuning: Tuning, context: Context
) -> tuple[list[Memory], list[Learned], dict[str, str]]:
    """The new notes, the outcome of every lesson, and note id -> id of the memory that the note corrects.

    A lesson that occurs twice is one note.
    """
    notes: dict[str, Memory] = {}
    learned: list[Learned] = []
    updates: dict[str, str] = {}
    for lesson in reflection.lessons:
        title = title_of(lesson.text)
        item = Learned(id="", title=title, relation=lesson.relation, outcome="error")
        try:
            draft = Draft(content=require_text(lesson.text, "the lesson"), title=title)
        except Invalid as mistake:
            learned.append(replace(item, why=str(mistake)))
            continue
        check = find_duplicate(draft, context.reader, embeddings, tuning=tuning)
        title = check.title
        while title in notes and corrects(notes[title].content, draft.content):
            title = f"{title} (2)"
        twin = notes.get(title) or check.twin
        if twin is not None:
            learned.append(replace(item, id=twin.id, title=title, outcome="duplicate"))
            continue
        notes[title] = with_citations(_note_of(lesson, title, reflection, context), context.tree)
        learned.append(replace(item, id=notes[title].id, title=title, outcome="inserted"))
        if check.updated is not None:
            updates[notes[title].id] = check.updated.id
    return list(notes.values()), learned, updates


def _taken(notes: list[Memory], writer: Writer) -> dict[str, str]:
    """Title -> id of the note that another writer stored under it since; read inside the transaction."""
    same = Filter(
        titles=frozenset(note.title for note in notes),
        kinds=frozenset({"note"}),
        namespaces=frozenset({writer.namespace}),
        superseded=True,
    )
    return (
        {memory.title: memory.id for memory in writer.select(same, Page(limit=len(notes)))} if notes else {}
    )


def _note_of(lesson: Lesson, title: str, reflection: Reflection, context: Context) -> Memory:
    return Memory(
        id=new_id(context.now),
        namespace=context.namespace,
        title=title,
        content=lesson.text,
        score=lesson.score,
        session=reflection.session,
        project=reflection.project,
        created_at=context.now,
        updated_at=context.now,
    )
