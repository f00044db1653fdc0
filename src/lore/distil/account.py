"""Account: what a conversation was about, what came of it and what is open, in a few hundred characters."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lore.model import Memory
from lore.text import preview

ACCOUNT_CHARACTERS = 1_000
"""The most characters of an account's text."""
PART_CHARACTERS = {"Asked": 320, "Reported": 620, "Decided": 220, "State": 160, "Open": 180}
"""The most characters of each part, in the order in which an account shows them."""
REPORTED = "Reported"
"""The part that takes the room which the others leave."""
EXTRACTED = "extract"


NAMES = uuid.UUID("2f6f0e57-6d2c-4b7e-9f4b-6a4f4f0d8a31")


def account_id(session_id: str) -> str:
    """The id of the account of a session."""
    return str(uuid.uuid5(NAMES, session_id))


def points_of(memory: Memory, part: str) -> list[Mapping[str, Any]]:
    """The statements of one part of an account, each with `text` and the ids of its `turns`."""
    return [one for one in memory.metadata.get(part, ()) if isinstance(one, Mapping)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One statement of an account, and the numbers of the turns that it comes from."""

    text: str
    turns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """A report of one conversation.

    done: what the agent reported. state: what Lore saw itself, such as the last test run. left: what is open.
    files: those that were changed, most often changed first. by: who wrote it: EXTRACTED, `recap` or
    `summary` of the client, or `model`.
    """

    title: str = ""
    request: tuple[Point, ...] = ()
    done: tuple[Point, ...] = ()
    decisions: tuple[Point, ...] = ()
    state: tuple[Point, ...] = ()
    left: tuple[Point, ...] = ()
    files: tuple[str, ...] = ()
    by: str = EXTRACTED

    @property
    def parts(self) -> Mapping[str, tuple[Point, ...]]:
        """Heading -> its statements, in the order in which they are shown."""
        points = (self.request, self.done, self.decisions, self.state, self.left)
        return dict(zip(PART_CHARACTERS, points, strict=True))

    @property
    def turns(self) -> tuple[int, ...]:
        """The numbers of the turns that it comes from, in order."""
        return tuple(sorted({turn for points in self.parts.values() for one in points for turn in one.turns}))

    @property
    def text(self) -> str:
        """All of it: one line for each part that has something to say."""
        others = {
            heading: f"{heading}: {_within(points, PART_CHARACTERS[heading])}"
            for heading, points in self.parts.items()
            if points and heading != REPORTED
        }
        room = ACCOUNT_CHARACTERS - sum(len(line) + 1 for line in others.values()) - len(f"{REPORTED}: ")
        if self.done:
            done = _in_time(self.done, min(room, PART_CHARACTERS[REPORTED]))
            others[REPORTED] = f"{REPORTED}: {done}"
        return "\n".join(others[heading] for heading in PART_CHARACTERS if heading in others)


def _within(points: Iterable[Point], most: int) -> str:
    """The first statements of a part that fit; the first one is cut if it is too long."""
    text = ""
    for point in points:
        longer = f"{text} · {point.text}" if text else preview(point.text, most)
        if len(longer) > most:
            break
        text = longer
    return text


def _in_time(points: Sequence[Point], most: int) -> str:
    """The first statements that fit, in the order of their turns: what was said later holds."""
    kept = [replace(points[0], text=preview(points[0].text, most))]
    for point in points[1:]:
        if sum(len(one.text) + 3 for one in (*kept, point)) <= most:
            kept.append(point)
    return " → ".join(one.text for one in sorted(kept, key=lambda one: one.turns))
