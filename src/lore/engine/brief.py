"""brief: the newest memories of a project → lines for the start of a conversation."""

from dataclasses import dataclass

from lore.engine.context import Context
from lore.model import VERBATIM, Filter, Memory
from lore.store.values import Page
from lore.text import label_of

LINES = 10


@dataclass(frozen=True, slots=True)
class Brief:
    """Lines of text, and the ids of the memories in them."""

    text: str
    ids: tuple[str, ...]


def brief(budget_tokens: int, context: Context) -> Brief:
    """The newest memories of the project and of no project."""
    where = Filter(projects=frozenset({context.project, ""}), other_kinds=VERBATIM)
    memories = context.reader.select(where, Page(limit=LINES))
    return Brief(lines_of("Lore remembers:", memories), tuple(memory.id for memory in memories))


def lines_of(heading: str, memories: list[Memory]) -> str:
    """A heading and one line for each memory; empty without memories."""
    lines = [f"- [{memory.id[-8:]}] {label_of(memory.title, memory.content)}" for memory in memories]
    return "\n".join([heading, *lines]) if lines else ""
