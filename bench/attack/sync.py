"""sync: a server and two machines exchange memories, while clocks jump, the server goes back to an older copy
and memories are erased; afterwards nothing may be missing or back."""

import random
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from bench.cutting_proxy import CuttingProxy, cutting_proxy
from lore.clock import Clock
from lore.errors import LoreError
from lore.model import Revision
from lore.store import FileStore
from lore.store.sqlite import backups
from tests.doors.test_sync_losses import EVERYTHING, Machine, erase, let_in, machine, port_of, serving_at

STEPS = 12
AHEAD_DAYS = 3
"""By how much a clock is ahead for a change: more than a server takes."""


@dataclass
class Truth:
    """What must be known everywhere in the end: ids that were stored, and those that were erased."""

    stored: set[str] = field(default_factory=set)
    erased: set[str] = field(default_factory=set)
    refused: int = 0


def run(trials: int, seed: int = 0) -> dict[str, int]:
    """Count the trials and what went wrong in them."""
    counts: Counter[str] = Counter(trials=0, memories=0, restores=0, refused=0)
    counts.update(lost=0, resurrected=0, changed=0, refused_and_passed=0)
    for number in range(trials):
        with tempfile.TemporaryDirectory() as name, cutting_proxy(0) as address:
            counts.update(_trial(Path(name), address, random.Random(f"{seed} {number}")))
            counts["trials"] += 1
    return dict(counts)


def _trial(folder: Path, address: CuttingProxy, chance: random.Random) -> Counter[str]:
    clock, truth, port = Clock(), Truth(), port_of(address)
    counts: Counter[str] = Counter()
    with machine(folder, "one", clock) as one, machine(folder, "two", clock) as two:
        with machine(folder, "server", clock) as server:
            let_in(server, one, two)
        for part in range(2):  # the server lives twice; the second time from its copy
            with serving_at(address, folder, clock) as server:
                copied_at = chance.randrange(STEPS)
                for step in range(STEPS):
                    if step == copied_at and part == 0:
                        assert isinstance(server.lore.store, FileStore)
                        server.lore.store.backup(folder / "copy.db")
                    _step(chance.choice((one, two)), clock, truth, port, chance)
            if part == 0 and chance.random() < 0.5:
                backups.restore(folder / "copy.db", folder / "server" / "memory.db")
                counts["restores"] += 1
        clock.sleep(days=AHEAD_DAYS + 1)
        with serving_at(address, folder, clock) as server:
            passed = [client.exchange(port).refused for client in (one, two) * 3][-2:]
            counts.update(_judged((server, one, two), truth))
    counts["refused_and_passed"] = truth.refused if any(passed) else 0
    counts["refused"] = truth.refused
    counts["memories"] = len(truth.stored)
    return counts


def _step(client: Machine, clock: Clock, truth: Truth, port: int, chance: random.Random) -> None:
    """One thing that a machine does; some with a clock that is ahead."""
    clock.sleep(seconds=5)
    ahead = AHEAD_DAYS if chance.random() < 0.15 else 0
    clock.sleep(days=ahead)
    own = [one.id for one in client.team.select(EVERYTHING, 1_000) if one.id not in truth.erased]
    action = chance.choice(("remember", "remember", "revise", "erase", "exchange", "exchange"))
    if action == "remember" or (action != "exchange" and not own):
        truth.stored.add(client.team.remember(f"memory {chance.random()}").id)
    elif action == "revise":
        client.team.revise(Revision(id=chance.choice(own), content=f"changed {chance.random()}"))
    elif action == "erase" and not ahead:
        id = chance.choice(own)
        erase(client.team, id)
        truth.erased.add(id)
    clock.sleep(days=-ahead)
    if action == "exchange":
        try:
            truth.refused += len(client.exchange(port).refused)
        except LoreError:
            truth.refused += 1


def _judged(machines: tuple[Machine, ...], truth: Truth) -> Counter[str]:
    found = [{one.id: one.content for one in each.team.select(EVERYTHING, 1_000)} for each in machines]
    wanted = truth.stored - truth.erased
    return Counter(
        lost=sum(len(wanted - texts.keys()) for texts in found),
        resurrected=sum(len(truth.erased & texts.keys()) for texts in found),
        changed=sum(texts != found[0] for texts in found[1:]),
    )
