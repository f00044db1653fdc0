"""Graph: how attention spreads over links, to neighbours (a reading) and beyond (a deep search)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

SPREAD = 0.1
SPREAD_TO = 20
"""To how many neighbours a reading lends attention, at most: those with the strongest links."""
STEPS = 2

Edge = tuple[str, str, float]
Ways = Mapping[str, Mapping[str, float]]
"""From each node, where to and how likely."""


def spread(origin: str, edges: Iterable[Edge], factor: float = SPREAD) -> dict[str, float]:
    """What reading `origin` lends to each neighbour: factor x the weight of the strongest link between them.

    A weight above 1 counts as 1. Only the SPREAD_TO neighbours with the strongest links gain.
    """
    gains: dict[str, float] = {}
    for source, target, weight in edges:
        if origin in (source, target) and source != target:
            neighbour = target if source == origin else source
            gains[neighbour] = max(gains.get(neighbour, 0.0), factor * min(max(weight, 0.0), 1.0))
    return dict(sorted(gains.items(), key=lambda gain: -gain[1])[:SPREAD_TO])


def bond(likeness: float) -> float:
    """The weight of a link that stands for likeness: .5 at .85, 1 when two memories say the same."""
    return min(1.0, max(0.0, 0.5 + (likeness - 0.85) / 0.3))


def reached(seeds: Mapping[str, float], edges: Sequence[Edge], steps: int = STEPS) -> dict[str, float]:
    """Where links lead from the seeds: the strength of the best way there, every link passing on its weight.

    Links are walked both ways. A seed is only there if another one leads to it.
    """
    ways: dict[str, list[tuple[str, float]]] = defaultdict(list)
    for source, target, weight in edges:
        ways[source].append((target, weight))
        ways[target].append((source, weight))
    found: dict[str, float] = {}
    for seed, strength in seeds.items():
        best = {seed: strength}
        for _ in range(steps):
            for node, amount in list(best.items()):
                for neighbour, weight in ways.get(node, ()):
                    best[neighbour] = max(best.get(neighbour, 0.0), amount * min(weight, 1.0))
        del best[seed]
        for node, amount in best.items():
            found[node] = max(found.get(node, 0.0), amount)
    return {node: amount for node, amount in found.items() if amount > 0}


def personalized_pagerank(
    seeds: Mapping[str, float],
    ways: Ways,
    teleport: float,
    iterations: int,
) -> dict[str, float]:
    """Walk from the seeds, returning to them with probability `teleport`.

    A node from which no way leads gives its mass back to the seeds.
    """
    home = shares(seeds)
    if not home:
        return {}
    mass = dict(home)
    for _ in range(iterations):
        arrived: dict[str, float] = defaultdict(float)
        stranded = 0.0
        for node, amount in mass.items():
            if not ways.get(node):
                stranded += amount
                continue
            for neighbour, share in ways[node].items():
                arrived[neighbour] += (1 - teleport) * amount * share
        back = teleport + (1 - teleport) * stranded
        for node, share in home.items():
            arrived[node] += back * share
        mass = dict(arrived)
    return mass


def shares(amounts: Mapping[str, float]) -> dict[str, float]:
    """What is above 0, as parts of the whole."""
    total = sum(amount for amount in amounts.values() if amount > 0)
    return {node: amount / total for node, amount in amounts.items() if amount > 0}
