"""handout: which memories may go to an agent unasked → one line each → none that repeats another."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b

from lore.engine.said import said_by_tool, said_by_user
from lore.lineage import agent_of, agents_note, is_users, origin_of
from lore.model import AGENT_FILE, ID_TAIL, SESSION, VERBATIM, Memory
from lore.quarantine import suspicions, suspicious
from lore.ranking.compare import Relation, compare
from lore.ranking.relate import shared_words
from lore.ranking.repeats import says, vocabulary_of
from lore.store import Reader
from lore.store.records import Judgement
from lore.text import folded, preview, tokens_in

HELD = "held"
"""The first part of the key of a judgement about a memory that is held back."""
LEAST_TRUST = 0.5
"""Trust that a memory needs: the output of a tool has less."""
WIDTH = 200
"""Characters of a line, without its id and date."""
RULES = frozenset({"identity", "preference", "rule", "convention"})
"""Types of what an agent must obey, or must know of the user."""
UNCONFIRMED = "a rule that only an agent has stored"
COPIED = "the words of a tool's output"
TOOL = "tool output"
"""What a memory is called that has no more trust than a tool's output."""
COMPARED_FROM = 0.4
"""Share of words that two texts must have in common before they are compared."""
COMPARED = 10_000
"""Pairs of texts whose relation is cached: conversations of one project start with the same memories."""
CACHED = 256
"""Lines whose cost is cached: it is added up again with each further line."""
OBSERVATION = "observation"
"""The kind of a statement about an entity, which often does not name it."""


def harmless(memory: Memory, reader: Reader, line: str = "") -> bool:
    """Whether a memory is trusted, and neither its text nor the line made of it instructs an agent, hides or
    asks for what only the user may ask; or a person has looked at this very text and released it.

    What an agent stored has the trust of a tool if it repeats a tool's output, unless the user said it too.
    """
    if memory.trust < LEAST_TRUST:
        return False
    held = suspicious(f"{text_of(memory)}\n{line}", _is_own(memory)) or _is_copied(memory, reader)
    return not held or released(memory, reader)


def loaded_by(memory: Memory, client: str) -> bool:
    """Whether a memory comes from a file that this client's agents have at hand without Lore.

    client: the name of the program that asks; `claude-code`, `codex-mcp-client` and the like.
    """
    return memory.source_type == AGENT_FILE and memory.source.partition("-")[0] in client.lower()


def _is_own(memory: Memory) -> bool:
    """Whether a text is in the user's words. The heading of a conversation may be the start of a paste."""
    return is_users(memory) and memory.kind != SESSION


def _is_copied(memory: Memory, reader: Reader) -> bool:
    return bool(agent_of(memory)) and said_by_tool(memory, reader) and not said_by_user(memory, reader)


def confirmed(memory: Memory, reader: Reader) -> bool:
    """Whether a memory is the user's: written, said or accepted in the review."""
    return is_users(memory) or released(memory, reader) or said_by_user(memory, reader)


def reasons_of(memory: Memory, reader: Reader) -> tuple[str, ...]:
    """Why a memory is held back from agents that did not ask, or is no rule yet; empty if it is neither."""
    found = list(suspicions(text_of(memory), _is_own(memory)))
    if agent_of(memory) and memory.kind not in VERBATIM:
        found += [COPIED] if _is_copied(memory, reader) else []
        found += [UNCONFIRMED] if memory.type in RULES and not confirmed(memory, reader) else []
    return tuple(found)


def standing_of(memory: Memory, reader: Reader) -> str:
    """Why a memory is less than the user's word, in a few words; empty if it is not."""
    if memory.trust < LEAST_TRUST:
        return TOOL
    held = suspicious(text_of(memory), _is_own(memory))
    copied = memory.kind not in VERBATIM and _is_copied(memory, reader)
    if (held or copied) and released(memory, reader):
        held = copied = False
    parts = (HELD if held else "", TOOL if copied else "", agents_note(memory))
    return ", ".join(filter(None, parts))


def text_of(memory: Memory) -> str:
    """All of a memory that can be handed out."""
    return f"{memory.title}\n{memory.summary}\n{memory.content}"


def held_key(memory: Memory) -> str:
    """The key of a judgement about the text of a memory as it is; another text has another key."""
    text = blake2b(text_of(memory).encode(errors="replace"), digest_size=16).hexdigest()
    return f"{HELD}:{memory.id}:{text}"


def released(memory: Memory, reader: Reader) -> bool:
    """Whether a person of this namespace lets agents have the memory unasked."""
    judged = reader.records(Judgement, key=held_key(memory))
    return any(one.verdict == "accepted" for one in judged)


def line_of(memory: Memory, text: str, width: int = WIDTH) -> str:
    """A text of a memory on one line, with the short id, the date and the author of the memory."""
    date = datetime.fromtimestamp(memory.created_at, UTC).date()
    origin = f" {by}" if (by := origin_of(memory)) else ""
    return f"- {preview(text, width)} [{memory.id[-ID_TAIL:]} {date}{origin}]"


@lru_cache(maxsize=CACHED)
def cost_of(line: str) -> int:
    """Tokens of a line and its end; never less than its share of a longer text costs."""
    return tokens_in(line) + 1


@dataclass(slots=True)
class Distinct:
    """Memories that do not repeat each other, each with its distinct words."""

    memories: dict[str, tuple[Memory, frozenset[str]]] = field(default_factory=dict)

    @classmethod
    def of(cls, memories: Iterable[Memory]) -> "Distinct":
        """Start with these, whether they repeat each other or not."""
        return cls({memory.id: (memory, vocabulary_of(memory.content)) for memory in memories})

    def add(self, memory: Memory) -> bool:
        """Add a memory unless one that is there says the same or something newer.

        An older value, if the new memory certainly updates it, leaves.
        """
        ours = vocabulary_of(memory.content)
        alike = [
            (other, _relation(other, memory))
            for other, theirs in self.memories.values()
            if shared_words(ours, theirs) >= COMPARED_FROM or len(ours & theirs) == len(ours)
        ]
        if memory.id in self.memories or any(relation is Relation.SAME for _, relation in alike):
            return False
        older = [other for other, relation in alike if relation is Relation.UPDATE]
        if any(other.created_at > memory.created_at or other.trust > memory.trust for other in older):
            return False
        for other in older:
            del self.memories[other.id]
        self.memories[memory.id] = memory, ours
        return True


def _relation(one: Memory, other: Memory) -> Relation:
    """SAME: one says all that the other says. UPDATE: the newer one has another value."""
    return _related(one.content, other.content, one.created_at <= other.created_at)


@lru_cache(maxsize=COMPARED)
def _related(one: str, other: str, one_first: bool) -> Relation:
    if folded(one) == folded(other) or says(one, other):
        return Relation.SAME
    return compare(one, other, thorough=False) if one_first else compare(other, one, thorough=False)
