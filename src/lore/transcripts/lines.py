"""Lines: what the readers of growing files share; names for what has none, and memory that stays small."""

from dataclasses import replace
from hashlib import blake2b
from typing import Any

from lore.transcripts import fields
from lore.transcripts.base import Turn

LONGEST_NAME = 1_000
MOST_EARLIER = 16
LASTING = ("at", "tool", "agent", "folder", "branch", "remote", "model")
"""What a turn does not lose again when it comes without."""
LONGEST_WAITING = 500_000
"""Characters of full calls that a reader remembers until their results come."""
SAME_THOUGHT = 500
"""Characters at the beginning of a thought by which it is known again, grown or cut."""


def record_of(line: bytes) -> dict[str, Any]:
    """The object that a line holds; empty if it holds none."""
    return fields.mapping(fields.loaded(line))


def objects_of(value: object) -> list[dict[str, Any]]:
    """The objects of a list."""
    return [entry for entry in fields.several(value) if isinstance(entry, dict)]


def named(value: object) -> str:
    """A name, a path, a branch: text that is short if it is what it should be."""
    return fields.text(value)[:LONGEST_NAME]


def texts_of(content: object) -> str:
    """What the parts of a message say one after another; also of a message that is only text."""
    if isinstance(content, str):
        return fields.text(content)
    return "\n".join(text for part in objects_of(content) if (text := fields.text(part.get("text"))))


def name_of(*parts: str | int) -> str:
    """A name that the same parts always get, and no others."""
    return blake2b(repr(parts).encode(), digest_size=16).hexdigest()


def at_least(turn: Turn, earlier: dict[str, Any]) -> Turn:
    """The turn with all that an earlier version of it told. earlier: what the last turns told, by name."""
    name = name_of(turn.uuid)
    before = earlier.pop(name, {})
    now = {field: value for field in LASTING if (value := getattr(turn, field)) not in (None, "")}
    told = {**before, **now, "reasoning": _thoughts(before.get("reasoning", ""), turn.reasoning)}
    earlier[name] = {field: value for field, value in told.items() if value != ""}
    keep_last(earlier, MOST_EARLIER)
    return replace(turn, **told)


def _thoughts(before: str, now: str) -> str:
    if now.startswith(before[:SAME_THOUGHT]):
        return max(before, now, key=len)
    return before if now in before else fields.thought([before, now])


def keep_short(calls: dict[str, Any], full: int | str) -> None:
    """Remember early calls in brief only, if later ones are very long. full: the key of the full text."""
    held = 0
    for call in reversed(calls.values()):
        if held > LONGEST_WAITING:
            call[full] = ""
        held += len(call[full])


def keep_last(kept: dict[str, Any], most: int) -> None:
    """Forget what came first, until no more than `most` are left."""
    for name in list(kept)[: max(0, len(kept) - most)]:
        del kept[name]
