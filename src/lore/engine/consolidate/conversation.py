"""Conversation: a session with its turns as a digest reads it, and the memories and links made of them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from lore.citations import files_in
from lore.distil.base import Spoken
from lore.engine.accounts import spoken_of
from lore.engine.cite import with_citations
from lore.engine.consolidate.plan import View
from lore.engine.consolidate.trees import FRAGMENT
from lore.model import DERIVED, DISTILLED, TURN, Filter, Link, Memory, Tie, new_id
from lore.store.values import EVERY
from lore.text import passage_of
from lore.transcripts.working_tree import WorkingTree, working_tree
from lore.vectors import Vector


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """A session with all its turns in order; number 1 is the first. until: the alias of the last digested
    one."""

    view: View
    session: Memory
    turns: tuple[Memory, ...]
    until: int = 0

    @property
    def new(self) -> tuple[Memory, ...]:
        """The turns that were not digested yet."""
        return tuple(turn for turn in self.turns if turn.alias > self.until)

    @cached_property
    def tree(self) -> WorkingTree | None:
        return working_tree(str(self.session.metadata.get("folder", "")))

    @cached_property
    def ended_at(self) -> float:
        return max((turn.created_at for turn in self.turns), default=self.view.now)

    def spoken(self) -> list[Spoken]:
        """The new turns as digesters read them, with the numbers that they have in the conversation."""
        vectors = self.view.reader.vectors(self.view.embeddings.model, [turn.id for turn in self.new])
        return [
            replace(one, vector=vectors.get(turn.id))
            for one, turn in zip(spoken_of(self.turns), self.turns, strict=True)
            if turn.alias > self.until
        ]

    def of(self, numbers: Iterable[int]) -> list[Memory]:
        """The turns with these numbers."""
        return [self.turns[number - 1] for number in numbers if 0 < number <= len(self.turns)]

    def memory(self, content: str, turns: Sequence[int], *, trust: float, **more: Any) -> Memory:
        """A memory with the date of its turns, so that the newer of two statements is the one said later.

        It fades from now on: knowledge from an old conversation that was read just now is not faded.
        """
        session, now = self.session, self.view.now
        sources = self.of(turns)
        authors = {turn.author for turn in sources or [session]}
        return Memory(
            id=new_id(now),
            namespace=self.view.namespace,
            kind=FRAGMENT,
            content=content,
            source=session.source,
            source_type=DISTILLED,
            session=session.session,
            project=session.project,
            trust=trust,
            created_at=max((turn.created_at for turn in sources), default=now),
            updated_at=now,
            last_reinforced_at=now,
            author=authors.pop() if len(authors) == 1 else "",
            **more,
        )

    def cited(self, memory: Memory, turns: Sequence[int], files: Iterable[str] = ()) -> Memory:
        """The memory with the files that it names, and those that its tool calls read or changed.

        A file that changed after the conversation counts as changed since.
        """
        calls = (turn.content.partition("\n")[0] for turn in self.of(turns) if turn.type == "tool")
        paths = [*files, *(call.rpartition(": ")[2] for call in calls)]
        touched = [path for path in paths if [one.path for one in files_in(path)] == [path]]
        return with_citations(memory, self.tree, more=touched, until=self.ended_at)

    def sources(self, memory: str, turns: Iterable[int]) -> list[Link]:
        """Links from the memory with this id to its turns."""
        return [
            self.view.link(Tie(source=memory, target=turn.id, kind="relation", type=DERIVED))
            for turn in self.of(turns)
        ]

    def vectors(self, memories: Sequence[Memory]) -> Mapping[str, Vector]:
        """The vectors of new memories, by id; none without an embedder."""
        passages = [passage_of(one.title, one.summary, one.content, one.context) for one in memories]
        vectors = self.view.embeddings.embed_texts(passages)
        return {} if vectors is None else dict(zip((one.id for one in memories), vectors, strict=True))


def conversation(view: View, session: Memory, until: int) -> Conversation:
    """The session as it stands now."""
    turns = view.reader.select(Filter(kinds=frozenset({TURN}), under=session.id), EVERY)
    in_order = sorted(turns, key=lambda turn: (turn.created_at, turn.alias))
    return Conversation(view=view, session=session, turns=tuple(in_order), until=until)
