"""said: what memories state, and which statements may be about the same thing."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lore.engine.consolidate.plan import View
from lore.engine.consolidate.trees import REFLECTION
from lore.engine.entity_view import OBSERVATION
from lore.model import DERIVED, DISTILLED, Memory
from lore.ranking.claims import Outdated, keys, outdated
from lore.text import words
from lore.vectors import Vector

ALIKE = 0.5
"""From which likeness on two trees, or two siblings, may speak of the same thing."""
USER = "user"
_DEFINITE = re.compile(r"[Tt]he |[a-z][a-z -]*[:=]")
_QUALIFIED = re.compile(r"[\d_./]")


@dataclass(frozen=True, slots=True)
class Said:
    """A statement, when it was made, and in which project and tree. alias: of two at once, which came later.

    local: it does not name its subject, so that only its tree tells what it speaks of.
    """

    id: str
    text: str
    at: float
    alias: int
    project: str
    tree: str
    local: bool


@dataclass(frozen=True, slots=True)
class Scope:
    """Statements that may contradict each other. key: only in what they say of this; empty: in anything."""

    said: Sequence[Said]
    key: str = ""


def said_by(view: View, memories: Mapping[str, Memory]) -> list[Said]:
    """What these state. The overview of a tree states nothing that its branches do not."""
    subjects = _subjects(view, memories.values())
    above, below = view.reader.ancestors(memories), view.reader.children(memories)
    return [
        Said(
            id=id,
            text=_statement(memory, subjects.get(id, "")),
            at=memory.created_at,
            alias=memory.alias,
            project=memory.project,
            tree=(above.get(id) or [id])[0],
            local=memory.source_type == DISTILLED and _is_local(memory.content),
        )
        for id, memory in memories.items()
        if memory.type != REFLECTION and not (memory.source_type == DISTILLED and below[id])
    ]


def from_persons(view: View, memories: Iterable[Memory]) -> frozenset[str]:
    """The ids of the distilled memories that come from a turn of a user."""
    distilled = [memory.id for memory in memories if memory.source_type == DISTILLED]
    links = [link for link in view.reader.links(distilled, kinds=("relation",)) if link.type == DERIVED]
    turns = view.reader.get({link.target for link in links})
    users = {id for id, turn in turns.items() if turn.type == USER}
    return frozenset(link.source for link in links if link.target in users)


def scopes(view: View, said: Sequence[Said]) -> Iterator[Scope]:
    """What names its subject counts in its whole project; what does not, in its tree and those alike."""
    projects: dict[str, list[Said]] = defaultdict(list)
    local: dict[tuple[str, str], list[Said]] = defaultdict(list)
    trees = {one.tree for one in said if one.local}
    for one in said:
        if not one.local:
            projects[one.project].append(one)
        if one.tree in trees:
            for key in keys(one.text):
                local[one.project, key].append(one)
    yield from (Scope(statements) for statements in projects.values())
    for (_, key), statements in local.items():
        if len(statements) > 1 and any(one.local for one in statements):
            yield from (Scope(together, key) for together in _of_like_trees(view, statements))


def outdated_in(scope: Scope) -> list[Outdated]:
    """As `claims.outdated`."""
    in_order = sorted(scope.said, key=lambda one: (one.at, one.alias))
    found = outdated((one.id, one.text, one.at) for one in in_order)
    return [pair for pair in found if scope.key in ("", pair.key)]


def _of_like_trees(view: View, said: Sequence[Said]) -> Iterator[list[Said]]:
    """Those of one tree together, and of each further tree that is like the first of them."""
    groups: dict[str, list[Said]] = {}
    vectors = view.reader.vectors(view.sense.model, {one.tree for one in said})
    for one in sorted(said, key=lambda one: one.at):
        like = (first for first in groups if _alike(view, vectors, first, one.tree))
        groups.setdefault(next(like, one.tree), []).append(one)
    return (group for group in groups.values() if len(group) > 1)


def _alike(view: View, vectors: Mapping[str, Vector], one: str, other: str) -> bool:
    if one == other:
        return True
    if one not in vectors or other not in vectors:
        return False
    return view.sense.likeness(float(vectors[one] @ vectors[other])) >= ALIKE


def _is_local(text: str) -> bool:
    """Whether it speaks of "the deadline" or a plain "port: 80", whichever that is, and gives no name."""
    if not _DEFINITE.match(text):
        return False
    subject = {word for key in keys(text) for word in key.partition("·")[0].split() if "·" in key}
    told = [word for word in text.split()[1:] if subject.issuperset(words(word))]
    return not any(word[0].isupper() or _QUALIFIED.search(word) for word in told)


def _subjects(view: View, memories: Iterable[Memory]) -> Mapping[str, str]:
    """Observation -> the name of the entity that it is about, which it often does not repeat."""
    homes = view.reader.parents([memory.id for memory in memories if memory.kind == OBSERVATION])
    entities = view.reader.get(set(homes.values()))
    return {id: entities[home].title for id, home in homes.items() if home in entities}


def _statement(memory: Memory, subject: str) -> str:
    text = memory.content
    if not subject or subject.lower() in text.lower():
        return text
    return f"{subject} {text[:1].lower()}{text[1:]}"
