"""prune: what was never important and has not been used for long is forgotten; only if the user wants it."""

from collections.abc import Iterator

from lore.engine.consolidate.plan import Plan, Step, View
from lore.engine.consolidate.resummarize import followed
from lore.engine.consolidate.trees import own
from lore.model import Memory
from lore.ranking.category import LASTING
from lore.ranking.decay import DAY_SECONDS, days_since, fading_since, retained
from lore.text import label_of

NAME = "prune"
UNUSED, USED = 2, 3
"""After how many times `prune_age_days` something goes: never used; used, but long ago."""
KEPT = 0.5
"""The importance from which on a memory never goes: what was found to matter is a promise to keep it."""
MANY = 1_000_000


def prune(view: View) -> Iterator[Plan]:
    """Never a root, never what lasts. Children go to the grandparent, and `lore restore` brings all back."""
    settings = view.settings
    youngest = view.now - UNUSED * settings.prune_age_days * DAY_SECONDS
    old = view.reader.select(own(view, created_before=youngest), MANY)
    gone = [
        memory for memory in old if memory.depth > 0 and memory.type not in LASTING and _faded(memory, view)
    ]
    if not settings.prune:
        remarks = (f"{len(gone):,} faded memories could go; `prune = true` lets them",) if gone else ()
        yield Plan(phase=NAME, remarks=remarks)
        return
    steps = [
        Step(
            told=f"“{label_of(memory.title, memory.content)}” has faded",
            counted={"fragments_pruned": 1},
            hidden=(memory,),
        )
        for memory in gone
    ]
    yield Plan(phase=NAME, steps=tuple(steps))
    there = view.reader.get([memory.id for memory in gone])
    yield followed(view, [memory.id for memory in gone if memory.id not in there])


def _faded(memory: Memory, view: View) -> bool:
    """Whether it matters little, and next to nothing is left of it without the floor that importance lends.

    Measured with the floor, hardly anything would ever go; so the floor of what matters more is never taken.
    """
    if memory.importance >= KEPT:
        return False
    least = view.settings.min_relevance_prune
    left, age = retained(memory, view.now), days_since(fading_since(memory), view.now)
    unused = memory.access_count == 0 and left < least and age > UNUSED * view.settings.prune_age_days
    return unused or (left < least / 2 and age > USED * view.settings.prune_age_days)
