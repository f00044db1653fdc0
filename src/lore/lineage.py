"""Lineage: who a memory comes from, and what that makes of it: an agent's note is no rule of the user."""

from dataclasses import replace

from lore.model import AGENT, AGENT_FILE, AGENT_TRUST, STORED_TRUST, Cause, Memory
from lore.text import plain_name

FILE = "file"
"""The key in the metadata of what comes from an agent's own file: its path below the client's folder."""
NAME_WIDTH = 40
"""Characters of the name of an author or a client."""


def signed(memory: Memory, old: Memory | None, cause: Cause) -> Memory:
    """The memory with its author; with the client as well if an agent has written or changed its text.

    old: the memory as it was. What an agent has written stays its note, whoever changes other fields.
    """
    author = _author_after(memory, old, cause.author)
    before = str(old.metadata.get(AGENT, "")) if old else ""
    agent = cause.agent if cause.agent and (old is None or _text(old) != _text(memory)) else before
    if agent and (memory.metadata.get(AGENT) != agent or memory.trust > AGENT_TRUST):
        metadata, trust = {**memory.metadata, AGENT: agent}, min(memory.trust, AGENT_TRUST)
        return replace(memory, author=author, metadata=metadata, trust=trust)
    return memory if memory.author == author else replace(memory, author=author)


def agent_of(memory: Memory) -> str:
    """The client of the agent that wrote a memory; empty for any other author."""
    return plain_name(str(memory.metadata.get(AGENT, "")), NAME_WIDTH)


def noted_in(memory: Memory) -> str:
    """The name of the file of its own in which an agent has noted this; empty for any other memory."""
    file = str(memory.metadata.get(FILE, "")) if memory.source_type == AGENT_FILE else ""
    return file.rpartition("/")[2]


def is_users(memory: Memory) -> bool:
    """Whether the user has written a memory, or said it."""
    return memory.trust >= STORED_TRUST and not agent_of(memory)


def origin_of(memory: Memory) -> str:
    """Who wrote a memory, in a few words; empty for the user of this machine."""
    return " ".join(filter(None, (plain_name(memory.author, NAME_WIDTH), agents_note(memory))))


def agents_note(memory: Memory) -> str:
    """The mark of what an agent wrote; empty for any other author."""
    return f"agent's note ({agent})" if (agent := agent_of(memory)) else ""


def _author_after(memory: Memory, old: Memory | None, author: str) -> str:
    """Who wrote a memory after a change: whoever wrote its present text. author: who makes the change."""
    if old is None:
        return memory.author or author
    if memory.author and memory.author != old.author:
        return memory.author
    return author if author and memory.content != old.content else old.author


def _text(memory: Memory) -> tuple[str, ...]:
    return memory.title, memory.summary, memory.content, memory.type
