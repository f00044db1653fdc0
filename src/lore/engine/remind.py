"""remind: search with a prompt → the best memories that the conversation has not seen."""

from collections.abc import Sequence
from dataclasses import dataclass

from lore.engine.brief import lines_of
from lore.model import Answer

LEAST_SCORE = 0.3
MEMORIES = 5


@dataclass(frozen=True, slots=True)
class Reminder:
    """Lines of text, empty if there are none, and the ids of the memories in them."""

    text: str
    ids: tuple[str, ...]


def reminder_of(answer: Answer, shown: Sequence[str]) -> Reminder:
    """The best hits of a search for the prompt, without those that were shown."""
    hits = [hit for hit in answer.hits if hit.score >= LEAST_SCORE and hit.memory.id not in shown]
    memories = [hit.memory for hit in hits[:MEMORIES]]
    text = lines_of("Memories that may help with this prompt:", memories)
    return Reminder(text, tuple(memory.id for memory in memories))
