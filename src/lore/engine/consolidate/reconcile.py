"""Reconcile: a language model says what each new item is to what the project knows already."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import zip_longest
from typing import Any, Literal, TypeAlias

from lore.engine.brief import CLOSED
from lore.engine.brief import GOALS as OPEN
from lore.engine.brief import TYPES as SECTIONS
from lore.engine.consolidate.conversation import Conversation
from lore.engine.consolidate.extract import MOST_ITEMS, Questions
from lore.engine.consolidate.plan import View
from lore.engine.consolidate.trees import REFLECTION
from lore.engine.entity_view import ENTITY
from lore.engine.find_duplicate import KNOWLEDGE
from lore.llm import prompts
from lore.model import OVERVIEW_OF, PRIVATE, Filter, Memory
from lore.store.values import Page
from lore.text import preview, terms, words
from lore.vectors import Vector

Word: TypeAlias = Literal["new", "same", "updates", "contradicts", "closes"]

MOST_MEMORIES, MOST_OPEN = 20, 10
"""Existing memories in one question, and open goals and todos among them."""
NEAREST, BY_WORDS = 6, 3
"""Memories for each item, by meaning and by words, before the best of all are taken."""
LEAST_LIKENESS = 0.3
SHOWN = 400
GOALS = SECTIONS[OPEN]
"""Types of what can be closed."""
DONE = "done"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an item is to another. of: an existing memory, or the number of an earlier item, from 0."""

    word: Word = "new"
    of: Memory | int | None = None


def reconcile(
    questions: Questions,
    conversation: Conversation,
    items: Sequence[Memory],
    vectors: Mapping[str, Vector],
    done: Sequence[str],
) -> list[Verdict]:
    """A verdict for each item, then one for each statement about what was done in the conversation.

    Nothing is asked if there is nothing to compare with but the items of one answer.
    """
    memories = _candidates(conversation, items, vectors, bool(done))
    verdicts = [Verdict() for _ in (*items, *done)]
    if not verdicts or not (memories or len(items) > MOST_ITEMS):
        return verdicts
    shown = [_line(one) for one in memories]
    new = [*map(_line, items), *(f"{DONE}: {preview(text, SHOWN)}" for text in done)]
    answer = questions.ask(prompts.reconciliation(shown, new))
    for data in answer["verdicts"]:
        at = data["item"] - len(memories) - 1
        if 0 <= at < len(verdicts):
            verdicts[at] = _verdict(data, memories, at if at < len(items) else 0)
    same_words = {tuple(words(memory.content)): memory for memory in memories}
    for at, item in enumerate(items):
        repeated = same_words.get(tuple(words(item.content)))
        if verdicts[at].word == "new" and repeated is not None:
            verdicts[at] = Verdict("same", repeated)
    return verdicts


def _verdict(data: Mapping[str, Any], memories: Sequence[Memory], earlier: int) -> Verdict:
    """As answered if the other number is that of a memory or of an earlier item; else the item is new."""
    other = (data["of"] or 0) - 1
    if data["verdict"] == "new" or other < 0:
        return Verdict()
    if other < len(memories):
        return Verdict(data["verdict"], memories[other])
    other -= len(memories)
    return Verdict(data["verdict"], other) if other < earlier else Verdict()


def _line(memory: Memory) -> str:
    day = datetime.fromtimestamp(memory.created_at, UTC).strftime("%Y-%m-%d")
    return f"{day}, {memory.type or memory.kind}: {preview(memory.content, SHOWN)}"


def _candidates(
    conversation: Conversation, items: Sequence[Memory], vectors: Mapping[str, Vector], done: bool
) -> list[Memory]:
    """The memories of the project that are nearest to any of the items; and what is open in it, if
    something was done.

    Memories with something below them are left out: a statement does not replace a tree.
    """
    view = conversation.view
    where = Filter(
        kinds=KNOWLEDGE - {ENTITY},
        namespaces=frozenset({view.namespace}),
        projects=frozenset({conversation.session.project}),
    )
    queues = [_near(view, item, vectors.get(item.id), where) for item in items]
    ids = list(dict.fromkeys(id for row in zip_longest(*queues) for id in row if id is not None))
    found, below = view.reader.get(ids), view.reader.children(ids)
    near = [found[id] for id in ids if id in found and not below[id] and _states(found[id])]
    goals = _open_goals(view, where) if done else []
    return list({one.id: one for one in (*near[:MOST_MEMORIES], *goals)}.values())


def _near(view: View, item: Memory, vector: Vector | None, where: Filter) -> list[str]:
    by_words = view.reader.matching(terms(item.content), BY_WORDS, where).strengths
    if vector is None:
        return list(by_words)
    near = view.reader.near(vector, view.embeddings.model, NEAREST, where)
    by_meaning = [id for id, cosine in near.items() if view.embeddings.likeness(cosine) >= LEAST_LIKENESS]
    return [*by_meaning, *(id for id in by_words if id not in near)]


def _states(memory: Memory) -> bool:
    """Whether it is a statement that may be shown to a language model."""
    return memory.type != REFLECTION and OVERVIEW_OF not in memory.metadata and PRIVATE not in memory.flags


def _open_goals(view: View, where: Filter) -> list[Memory]:
    """The newest goals and todos that are not closed."""
    found = view.reader.select(replace(where, types=GOALS), Page(limit=MOST_OPEN * 2))
    return [one for one in found if one.status.lower() not in CLOSED and _states(one)][:MOST_OPEN]
