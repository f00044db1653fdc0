"""Answers within a budget of tokens, with marks on memories that are outdated or cite files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

from lore.engine import Lore
from lore.model import Branch, Hit, Memory, Reading, Successor
from lore.ranking.excerpt import excerpt
from lore.text import CHARACTERS_PER_TOKEN, compact, passage_of, tokens_in

PASSAGE_WIDTH = 300
"""Characters of a text that is cut to the passage that matches the query."""
MARK_TOKENS = 25
"""Tokens of the mark of a text that was cut."""
FETCH_FACTOR = 2
"""Memories that are fetched by their ids share this many times the tokens of a search's answer."""
OVERHEAD_TOKENS = 40
"""Tokens around the entries of an answer: names of fields, and the note about entries that are left out."""

Item = TypeVar("Item")
Entry = TypeVar("Entry")
Cut = Callable[[str], str]
"""Shortens a text if it is too long for its answer."""
Mark = dict[str, Any]
"""Fields that are added to a memory: `replaced_by` or `updated_by` (id, label and date of a newer one), and
`citations`: the files of the caller's repository that it cites, each `fresh`, `changed` or `gone`, and
`standing`: why it is less than the user's word (`held`, `tool output`, `agent's note (CLIENT)`)."""
Marks = Mapping[str, Mark]
"""Marks by the id of the marked memory."""


@dataclass(frozen=True, slots=True)
class Fitted(Generic[Entry]):
    """The entries that fit a budget, and the number of those that did not."""

    entries: list[Entry]
    left_out: int
    budget_tokens: int

    def notes(self, advice: str) -> list[str]:
        """A sentence about the entries that did not fit, and how to get them; empty if there are none."""
        if not self.left_out:
            return []
        return [f"{self.left_out:,} more did not fit in {self.budget_tokens:,} tokens; {advice}."]


def fit(
    items: Sequence[Item],
    show: Callable[[Item, Cut], Entry],
    *,
    budget_tokens: int,
    rest: str,
    query: str = "",
) -> Fitted[Entry]:
    """Show the items, best first, in at most `budget_tokens` of JSON; the first one is always there.

    `show` makes an entry of an item and passes its long texts through a `Cut`. Items share the room evenly:
    short ones are whole and leave their room to longer ones, which are cut to the passage that matches the
    query. The mark of a cut text ends with `rest`: how to get the whole. A budget of 0 is no limit.
    """
    if not budget_tokens:
        return Fitted([show(item, uncut) for item in items], 0, budget_tokens)
    frames = _frames(items, show, budget_tokens)
    wholes = [show(item, uncut) for item, _ in zip(items, frames, strict=False)]
    texts = [cost(whole) - frame for whole, frame in zip(wholes, frames, strict=True)]
    room = budget_tokens - OVERHEAD_TOKENS
    share = _share(texts, room - sum(frames))
    entries: list[Entry] = []
    for item, whole, size in zip(items, wholes, texts, strict=False):
        entry = whole if size <= share else _shortened(item, show, query, rest, share)
        room -= cost(entry)
        if entries and room < 0:
            break
        entries.append(entry)
    return Fitted(entries, len(items) - len(entries), budget_tokens)


def fit_list(items: Sequence[Item], budget_tokens: int) -> Fitted[Item]:
    """The first items, in at most `budget_tokens` of JSON; none of them is cut."""
    return fit(items, lambda item, cut: item, budget_tokens=budget_tokens, rest="")


def with_notes(answer: dict[str, Any], notes: Iterable[str]) -> dict[str, Any]:
    """The answer with a list of notes; without one if there are none."""
    notes = list(notes)
    return {**answer, "notes": notes} if notes else answer


def shorten(text: str, query: str, rest: str, width: int = PASSAGE_WIDTH) -> str:
    """The passage that matches and a mark that ends with `rest`: how to get the whole. Short texts stay."""
    if len(text) <= width:
        return text
    marked = f"{excerpt(text, query, width)} [cut from {len(text):,} characters; {rest}]"
    return min(marked, text, key=len)


def passage_in(memory: Memory, query: str) -> str:
    """The part of a memory's text that matches the query."""
    return excerpt(body_of(memory), query, PASSAGE_WIDTH)


def body_of(memory: Memory) -> str:
    """The text of a memory without its title; of an entity its observations."""
    return (memory.context if memory.kind == "entity" else "") or memory.content or memory.title


def text_of(memory: Memory) -> str:
    """The text of a memory with its title; an entity, whose content is its name, with its observations."""
    text = passage_of(memory.title, "", memory.content, "")
    return f"{text}\n{memory.context}" if memory.kind == "entity" and memory.context else text


def origin(hit: Hit) -> dict[str, Any]:
    """Project and author of a memory and the turns that it stands for, without those that are empty."""
    parts = {"project": hit.memory.project, "sources": list(hit.sources)}
    return {name: value for name, value in parts.items() if value} | author_of(hit.memory)


def author_of(memory: Memory) -> dict[str, str]:
    """The name of who wrote a memory; no field for the user of this machine."""
    return {"author": memory.author} if memory.author else {}


def day(at: float) -> str:
    """The date of a time, UTC: 2026-05-19."""
    return datetime.fromtimestamp(at, UTC).date().isoformat()


def outdated(lore: Lore, memories: Iterable[Memory]) -> dict[str, Mark]:
    """Marks for those of the memories that something newer replaces or updates, or that cite files."""
    memories = list(memories)
    newer, states = lore.successors([memory.id for memory in memories]), lore.citations(memories)
    return {id: _mark(newer.get(id), states.get(id, {})) for id in {**newer, **states}}


def mark(item: Hit | Reading | Branch) -> Mark:
    """The mark of a memory that was found or read; without a reason for one no fields."""
    standing: Mark = {"standing": item.standing} if item.standing else {}
    return _mark(item.successor, item.citations) | standing


def _mark(newer: Successor | None, citations: Mapping[str, str]) -> Mark:
    mark: Mark = {"citations": dict(citations)} if citations else {}
    if newer is not None:
        field = "replaced_by" if newer.replaces else "updated_by"
        mark[field] = {"id": newer.id, "label": newer.label, "date": day(newer.at)}
    return mark


def is_outdated(mark: Mark) -> bool:
    """Whether a mark says more than that the cited files are as they were."""
    return bool(mark.keys() - {"citations", "standing"}) or bool(stale_files(mark))


def stale_files(mark: Mark) -> list[str]:
    """The cited files that are no longer as they were, each with its state."""
    states = mark.get("citations", {})
    return [f"{label} {state}" for label, state in states.items() if state != "fresh"]


def cost(entry: object) -> int:
    """Tokens of an entry as JSON, with the comma behind it."""
    return tokens_in(compact(entry)) + 1


def portion(budget_tokens: int, parts: int) -> int:
    """One of equal parts of a budget; 0, no limit, has parts without a limit."""
    return max(1, budget_tokens // parts) if budget_tokens else 0


def _frames(items: Iterable[Item], show: Callable[[Item, Cut], object], budget_tokens: int) -> list[int]:
    """Tokens of the entries without their long texts, up to the first that cannot fit."""
    frames: list[int] = []
    for item in items:
        frames.append(cost(show(item, _emptied)))
        if sum(frames) > budget_tokens:
            break
    return frames


def _share(sizes: Sequence[int], room: int) -> int:
    """The most tokens that each text may have so that all of them fit the room."""
    for place, size in enumerate(sorted(sizes)):
        share = room // (len(sizes) - place)
        if size > share:
            return share
        room -= size
    return max(sizes, default=0)


def _shortened(item: Item, show: Callable[[Item, Cut], Entry], query: str, rest: str, share: int) -> Entry:
    """As much of the matching passage as the share holds; not less than a passage."""
    width = max(PASSAGE_WIDTH, (share - MARK_TOKENS) * CHARACTERS_PER_TOKEN)
    entry = show(item, lambda text: shorten(text, query, rest, width))
    if width == PASSAGE_WIDTH or cost(entry) - cost(show(item, _emptied)) <= share:
        return entry
    return show(item, lambda text: shorten(text, query, rest))


def uncut(text: str) -> str:
    """The `Cut` that leaves a text whole."""
    return text


def _emptied(text: str) -> str:
    return ""
