"""What a conversation is made of, and what the rules make of it."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from lore.vectors import Vector

Role: TypeAlias = Literal["user", "assistant", "tool", "summary"]
Type: TypeAlias = Literal["fact", "decision", "preference", "correction", "command", "goal", "outcome"]
Importance: TypeAlias = Literal["high", "medium", "low"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """A turn as a digester sees it.

    number: its place in the session, from 1. at: seconds since 1970. tool: the one that was called, whose
    text is the call and then the result; failed: it did not do what was asked.
    """

    number: int
    role: Role
    text: str
    at: float | None = None
    tool: str = ""
    failed: bool = False
    vector: Vector | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing worth knowing later, readable alone. turns: the numbers of those it comes from."""

    text: str
    type: Type
    importance: Importance
    turns: tuple[int, ...]
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A stretch of a conversation about one thing, and what is worth keeping of it."""

    title: str
    overview: str
    findings: tuple[Finding, ...]
    turns: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What two topics of a digest have to do with each other; first and second: their places, from 0."""

    first: int
    second: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """What a session leaves behind; nothing, if nothing was said that will matter."""

    topics: tuple[Topic, ...] = ()
    relations: tuple[Relation, ...] = ()
