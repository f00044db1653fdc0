"""Conversations of other systems: a session and its turns as memories, with the links between them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from lore.model import SESSION, TURN, Link, Memory
from lore.text import preview
from lore.transfer.items import Item, id_of, kept, link_between

TRUST = {"user": 0.8, "assistant": 0.5}
TITLE = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message. key: what tells it from the others of its session."""

    key: str
    role: str
    text: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation of another system. name: its id there."""

    source: str
    name: str
    at: float
    title: str = ""
    project: str = ""

    @property
    def id(self) -> str:
        return id_of(self.source, "session", self.name)


def memory_of(session: Session, messages: Sequence[Message]) -> Item:
    """The memory of a session, titled by its first message unless it has a title."""
    title = session.title or next((preview(one.text, TITLE) for one in messages), session.name)
    return kept(_memory(session, session.id, session.at, kind=SESSION, title=title, content=title))


def turns_of(session: Session, messages: Sequence[Message]) -> Iterator[Item]:
    """The memories of the messages."""
    for one in messages:
        role = one.role if one.role in TRUST else "tool"
        trust = TRUST.get(role, 0.2)
        yield kept(
            _memory(session, _id(session, one), one.at, kind=TURN, type=role, content=one.text, trust=trust)
        )


def links_of(session: Session, messages: Sequence[Message]) -> Iterator[Link]:
    """From the session to each message, and from each message to the next."""
    before = ""
    for one in messages:
        id = _id(session, one)
        yield link_between(session.id, id, "hierarchical", one.at, created_by=session.source)
        if before:
            yield link_between(before, id, "temporal", one.at, created_by=session.source)
        before = id


def _id(session: Session, one: Message) -> str:
    return id_of(session.source, "turn", session.name, one.key)


def _memory(session: Session, id: str, at: float, **fields: Any) -> Memory:
    return Memory(
        id=id,
        namespace="",
        source=session.source,
        source_type="transcript",
        session=session.name,
        project=session.project,
        importance=0.3 if fields["kind"] == TURN else 0.1,
        created_at=at,
        updated_at=at,
        **fields,
    )
