"""tray_state: a daemon as the tray shows it: its state, the colour of each frame, the entries of the menu."""

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from lore.doors.daemon_status import BUSY
from lore.version import VERSION

Colour = tuple[int, int, int]
"""Red, green and blue, each from 0 to 255."""

POLL_MILLISECONDS = 500
"""Time between two looks at the daemon's status."""
FRAME_MILLISECONDS = 100
"""Time for which a pulsing icon shows one frame."""
FRAMES = 16
"""Frames of one pulse."""
PULSE = (0.3, 1.0)
"""Lowest and highest brightness of a pulse."""
FULL, DIM = 1.0, 0.15
RED, ORANGE, GREEN = (235, 51, 51), (255, 149, 0), (52, 199, 89)

STOPPED, LOCAL, REMOTE = "stopped", "local", "remote"
FREE = ("idle", "embedding")
"""States in which the daemon can be given work: it embeds beside everything else."""


@dataclass(frozen=True, slots=True)
class Look:
    """The icon in one state. brightness: None while it pulses."""

    colour: Colour
    brightness: float | None = None


LOOKS: Mapping[str, Look] = {
    STOPPED: Look(RED, DIM),
    BUSY: Look(RED, DIM),
    "idle": Look(RED, FULL),
    "ingesting": Look(RED),
    "embedding": Look(RED),
    "consolidating": Look(ORANGE),
    "syncing": Look(GREEN),
}
WORDS = {BUSY: "starting or stopping"}
"""States whose names in the status would puzzle a reader of the menu."""


@dataclass(frozen=True, slots=True)
class View:
    """A daemon as the tray shows it. pid: 0 if it is stopped. left: memories that it still has to embed."""

    state: str = STOPPED
    mode: str = LOCAL
    pid: int = 0
    left: int = 0

    @property
    def running(self) -> bool:
        return self.state != STOPPED

    @property
    def pulsing(self) -> bool:
        return _look(self.state).brightness is None

    @property
    def title(self) -> str:
        """The first line of the menu, and the tooltip of the icon."""
        left = f" ({self.left:,} left)" if self.state == "embedding" and self.left else ""
        return f"Lore v{VERSION} {WORDS.get(self.state, self.state)}{left}"


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the menu. label: the letter behind & chooses it on the keyboard."""

    action: str
    label: str
    enabled: bool = True


def view_of(status: Mapping[str, Any], before: View) -> View:
    """The view of a status that `read_status` returned. before: the last view, which keeps the mode."""
    if not status["running"]:
        return View(mode=before.mode)
    left = (status["embedding"] or {}).get("left", 0)
    return View(status["state"], status["mode"] or before.mode, status["pid"] or 0, left)


def colour_of(state: str, frame: int) -> Colour:
    """The colour of the icon in one frame of a state."""
    look = _look(state)
    level = _pulse(frame) if look.brightness is None else look.brightness
    red, green, blue = (round(part * level) for part in look.colour)
    return red, green, blue


def entries_of(view: View, running: Collection[str] = ()) -> list[list[Entry]]:
    """The entries of the menu in groups. running: actions that were chosen and have not ended."""
    settled = "start" not in running and "stop" not in running
    free = settled and view.state in FREE
    work = (
        Entry("sync", "Trigger S&ync", free and "sync" not in running)
        if view.mode == REMOTE
        else Entry("consolidate", "Trigger &Consolidation", free and "consolidate" not in running)
    )
    return [
        [
            Entry("start", "&Start", settled and not view.running),
            Entry("stop", "S&top", settled and view.running),
        ],
        [Entry("ingest", "Trigger &Ingestion", free and "ingest" not in running), work],
        [Entry("explorer", "Open &Explorer", "explorer" not in running), Entry("logs", "View &Logs")],
        [Entry("quit", "&Quit")],
    ]


def _look(state: str) -> Look:
    """The look of a state; a daemon of another version may have one that is not in the table."""
    return LOOKS.get(state, LOOKS["idle"])


def _pulse(frame: int) -> float:
    low, high = PULSE
    return low + (high - low) * (1 + math.sin(2 * math.pi * frame / FRAMES)) / 2
