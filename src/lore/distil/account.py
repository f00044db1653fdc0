"""Account: what a conversation was about, what came of it and what is open, in a few hundred characters."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lore.text import preview

ACCOUNT_CHARACTERS = 900
"""The most characters of an account's text."""
PART_CHARACTERS = {"Asked": 220, "Reported": 420, "Decided": 200, "State": 180, "Open": 180}
"""The most characters of each part, in the order in which an account shows them."""
POINT_CHARACTERS = 220
"""The most characters of one statement."""
EXTRACTED = "extract"


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
        lines = (f"{heading}: {_within(points, heading)}" for heading, points in self.parts.items() if points)
        return "\n".join(lines)[:ACCOUNT_CHARACTERS]


def _within(points: Iterable[Point], heading: str) -> str:
    """The first statements of a part that fit; the first one is cut if it is too long."""
    most = PART_CHARACTERS[heading]
    text = ""
    for point in points:
        longer = f"{text} · {point.text}" if text else preview(point.text, most)
        if len(longer) > most:
            break
        text = longer
    return text
