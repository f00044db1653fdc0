"""Generate a store before consolidation: trees of memories with vectors in clusters, and conversations."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from bench.corpus import Corpus
from bench.measuring import Bar
from lore import Lore
from lore.model import SESSION, TURN, Cause, Link, Memory, new_id
from lore.vectors import Vector, Vectors, unit

BATCH = 500
CAUSE = Cause(verb="bench")
DAY = 86_400.0
CLUSTER = 10
"""How many trees are about the same."""
NEAREST, FARTHEST = 0.97, 0.55
"""The cosine of a tree to the middle of its cluster: about every third tree has a neighbour like itself."""
BELOW = 0.8
"""The cosine of a branch to its root."""
STATEMENTS = 10
"""Every so manieth memory states a value of something, of which there are a third as many."""
LINKED, LONG_AGO = 5, 10
"""Every so manieth memory is linked to another one; every so manieth of these links is unused for long."""
TURNS = 20
FORMS = (
    "The port of {name} is {number}.",
    "{name} is hosted on host-{number}.",
    "The owner of {name} is Team {number}.",
    "{name} uses Python 3.{number}.",
)


@dataclass(slots=True)
class Filling:
    """What is to be written at once."""

    memories: list[Memory] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    vectors: dict[str, Vector] = field(default_factory=dict)

    def flush(self, lore: Lore, now: float) -> None:
        with lore.store.transaction(lore.namespace, CAUSE, now) as writer:
            writer.put(self.memories)
            writer.put_links(self.links)
            writer.put_vectors(lore.embeddings.model, self.vectors)
        self.memories, self.links, self.vectors = [], [], {}


class Nature:
    """Makes memories; the same seed makes the same ones."""

    def __init__(self, dimension: int, seed: int = 7) -> None:
        self._chance = random.Random(seed)
        self._numbers = np.random.default_rng(seed)
        self._corpus = Corpus(seed)
        self._dimension = dimension
        self._centre = self._vector()

    def trees(self, lore: Lore, count: int, branches: int, now: float) -> None:
        """`count` memories in trees of a root and its branches, a minute apart, the last one at `now`."""
        filling, ids, bar = Filling(), list[str](), Bar(f"{count:,} memories", count)
        root, root_vector = "", self._centre
        for number in range(count):
            is_root = number % (branches + 1) == 0
            if is_root and number // (branches + 1) % CLUSTER == 0:
                self._centre = self._vector()
            memory = self._memory(lore, count, number, now - 60.0 * (count - number))
            filling.memories.append(memory)
            if is_root:
                root, cosine = memory.id, self._chance.uniform(FARTHEST, NEAREST)
                root_vector = filling.vectors[memory.id] = self._near(self._centre, cosine)
            else:
                filling.vectors[memory.id] = self._near(root_vector, BELOW)
                filling.links.append(_link(root, memory.id, "hierarchical", memory.created_at))
            ids.append(memory.id)
            if number % LINKED == LINKED - 1:
                filling.links.append(self._association(ids, memory, number // LINKED, now))
            if len(filling.memories) >= BATCH or number == count - 1:
                filling.flush(lore, now)
                bar.at(number + 1)

    def conversations(self, lore: Lore, count: int, now: float) -> None:
        """Conversations of some turns each, that have come to rest an hour ago."""
        bar = Bar(f"{count:,} conversations", count)
        for number in range(count):
            filling, at = Filling(), now - 3_600.0 - 60.0 * (count - number)
            title = self._corpus.text(4, 6)
            session = Memory(
                id=new_id(at), kind=SESSION, title=title, content=title, created_at=at, updated_at=at
            )
            filling.memories.append(session)
            topic = self._vector()
            for turn in self._turns(at):
                filling.memories.append(turn)
                filling.links.append(_link(session.id, turn.id, "hierarchical", at))
                filling.vectors[turn.id] = self._near(topic, BELOW)
            filling.vectors[session.id] = topic
            filling.flush(lore, now)
            bar.at(number + 1)

    def _memory(self, lore: Lore, count: int, number: int, at: float) -> Memory:
        states = number % STATEMENTS == STATEMENTS - 1
        text = self._statement(max(1, count // STATEMENTS // 3)) if states else self._corpus.text()
        return Memory(
            id=new_id(at),
            namespace=lore.namespace,
            kind="fragment",
            content=text,
            importance=self._chance.random(),
            created_at=at,
            updated_at=at,
        )

    def _statement(self, things: int) -> str:
        name = f"Service{self._chance.randrange(things)}"
        form = FORMS[sum(map(ord, name)) % len(FORMS)]
        return form.format(name=name, number=self._chance.randrange(1_000, 9_999))

    def _turns(self, at: float) -> Iterator[Memory]:
        for place in range(TURNS):
            said = at + place
            text = f"{self._corpus.text(20, 60)} We decided to use {self._corpus.text(2, 4)}"
            role = "assistant" if place % 2 else "user"
            yield Memory(
                id=new_id(said), kind=TURN, type=role, content=text, created_at=said, updated_at=said
            )

    def _association(self, ids: Sequence[str], memory: Memory, number: int, now: float) -> Link:
        other = self._chance.choice(ids[:-1])
        days = 1 if number % LONG_AGO else 400
        return _link(other, memory.id, "associative", now - days * DAY)

    def _vector(self) -> Vector:
        return unit(self._numbers.normal(size=self._dimension).astype(np.float32))

    def _near(self, vector: Vector, cosine: float) -> Vector:
        aside = self._vector()
        across = unit(aside - float(aside @ vector) * vector)
        mixed: Vectors = cosine * vector + float(np.sqrt(1 - cosine * cosine)) * across
        return unit(mixed.astype(np.float32))


def _link(source: str, target: str, kind: str, at: float) -> Link:
    return Link(
        id=new_id(at),
        source=source,
        target=target,
        kind="hierarchical" if kind == "hierarchical" else "associative",
        weight=1.0 if kind == "hierarchical" else 0.6,
        created_at=at,
        updated_at=at,
    )
