"""Fuse: bring signals of different scales together, and keep the reasons."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from lore.model import Signal

RRF_K = 60


def reciprocal_rank(lists: Iterable[Sequence[str]], k: int = RRF_K) -> dict[str, float]:
    """The sum of 1 / (k + rank) over all lists that name an id; ranks start at 1."""
    scores: dict[str, float] = {}
    for ranked in lists:
        for rank, name in enumerate(ranked, start=1):
            scores[name] = scores.get(name, 0.0) + 1 / (k + rank)
    return scores


def by_rank(ranked: Iterable[str], k: int = RRF_K) -> dict[str, float]:
    """What a place in a list is worth in `reciprocal_rank`, as a share of the first place."""
    return {name: (k + 1) / (k + rank) for rank, name in enumerate(ranked, start=1)}


def relative_to_best(values: Mapping[str, float]) -> dict[str, float]:
    """Each value as a share of the best one; nothing positive, nothing returned."""
    best = max(values.values(), default=0.0)
    return {name: max(0.0, value) / best for name, value in values.items()} if best > 0 else {}


class Signals(Mapping[str, Signal]):
    """The signals that a policy counts; one that is not there counts as 0.

    Of hundreds of candidates few are ever shown, so a signal is made when somebody looks at it.
    """

    __slots__ = ("_strengths", "_weights")

    def __init__(self, strengths: Mapping[str, float], weights: Mapping[str, float]) -> None:
        self._strengths = strengths
        self._weights = weights

    def __getitem__(self, name: str) -> Signal:
        return Signal(self._strengths.get(name, 0.0), self._weights[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._weights)

    def __len__(self) -> int:
        return len(self._weights)


def weighed(strengths: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """What `Signals` of these add up to."""
    return sum([weight * strengths.get(name, 0.0) for name, weight in weights.items()])


def without(weights: Mapping[str, float], missing: Iterable[str]) -> dict[str, float]:
    """The weights when some signals are missing: the others share theirs, and the best score stays."""
    left = {name: weight for name, weight in weights.items() if name not in set(missing)}
    whole = sum(left.values())
    return {name: weight * sum(weights.values()) / whole for name, weight in left.items()} if whole else {}


def total(signals: Mapping[str, Signal]) -> float:
    """The sum of all points."""
    return sum(signal.points for signal in signals.values())
