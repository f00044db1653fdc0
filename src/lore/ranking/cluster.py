"""Cluster: which texts belong together, what to call them, and which say the same thing twice."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from lore.text import STOP_WORDS

Distances = npt.NDArray[np.float64]  # (n, n), symmetric

CUT = 0.5
"""Groups further apart than this, on average, stay apart."""
NAME_WORDS = 2
ANCHORS = 10
LENGTH_RATIO = 2.0

_LETTERS = re.compile(r"[^\W\d_]{4,}")
_SPANISH = frozenset(
    """ante antes aquel aquella aqui aquí cada como cómo con contra cual cuál cuando cuándo cuanto desde donde
    dónde durante ella ellas ellos entre eran eres esta está estaba estado están este estos estas esto fueron
    hace hacia hasta hay luego mientras mucho muchos nada nosotros otra otras otro otros para pero poco porque
    puede pueden pues quien quién segun según ser sido siempre siendo sobre sólo solo también tanto tiene
    tienen toda todas todo todos unas unos usted vosotros""".split()
)


def agglomerated(distances: Distances, cut: float = CUT) -> list[list[int]]:
    """Average linkage: groups of indexes, each in order, the groups by their first member.

    Walks chains of nearest neighbours, so that n texts cost about n x n steps.
    """
    count = len(distances)
    between = np.array(distances, dtype=np.float64)
    np.fill_diagonal(between, np.inf)
    sizes = np.ones(count)
    joins: list[tuple[float, int, int]] = []
    chain: list[int] = []
    left = set(range(count))
    while len(left) > 1:
        if not chain:
            chain.append(min(left))
        here = chain[-1]
        near = int(np.argmin(between[here]))
        if len(chain) > 1 and between[here, chain[-2]] <= between[here, near]:
            near = chain[-2]
            joins.append((float(between[here, near]), here, near))
            _join(between, sizes, here, near)
            left.discard(near)
            del chain[-2:]
        else:
            chain.append(near)
    return _grouped(count, ((one, other) for height, one, other in joins if height <= cut))


def _join(between: Distances, sizes: npt.NDArray[np.float64], kept: int, gone: int) -> None:
    """`kept` stands for both from now on; its distances are the averages over all members."""
    total = sizes[kept] + sizes[gone]
    average = (sizes[kept] * between[kept] + sizes[gone] * between[gone]) / total
    between[kept], between[:, kept] = average, average
    between[gone], between[:, gone] = np.inf, np.inf
    between[kept, kept] = np.inf
    sizes[kept] = total


def clustered(pairs: Iterable[tuple[int, int]], count: int) -> list[list[int]]:
    """Union-find: what is joined by pairs, directly or through others; single ones are left out."""
    return [group for group in _grouped(count, pairs) if len(group) > 1]


def _grouped(count: int, pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    above = list(range(count))

    def top(at: int) -> int:
        while above[at] != at:
            above[at] = above[above[at]]
            at = above[at]
        return at

    for one, other in pairs:
        low, high = sorted((top(one), top(other)))
        above[high] = low
    groups: dict[int, list[int]] = defaultdict(list)
    for at in range(count):
        groups[top(at)].append(at)
    return list(groups.values())


def containment(one: str, other: str) -> float:
    """The share of the shorter text's distinct words that the longer one has too; 1 for no words."""
    first, second = _word_set(one), _word_set(other)
    shorter, longer = sorted((first, second), key=len)
    return len(shorter & longer) / len(shorter) if shorter else 1.0


def contained(one: str, other: str, threshold: float) -> bool:
    """Whether a text that is at most half as long says nothing beyond the other."""
    short, long = sorted((len(one), len(other)))
    return long >= LENGTH_RATIO * short and containment(one, other) >= threshold


def _word_set(text: str) -> set[str]:
    stripped = (word.strip(".,;:!?¡¿()[]{}\"'`«»—-") for word in text.lower().split())
    return {word for word in stripped if word}


def topics_of(texts: Sequence[str], distances: Distances | None) -> dict[str, list[int]]:
    """Named groups of texts: by meaning if there are distances and they part the texts, else by words."""
    groups = [] if distances is None else agglomerated(distances)
    if not 1 < len(groups) < len(texts):
        return _by_words(texts)
    return named(texts, groups)


def named(texts: Sequence[str], groups: Sequence[Sequence[int]]) -> dict[str, list[int]]:
    """Each group under the words that are frequent in it and rare in the others."""
    counts = [Counter(word for at in group for word in _telling(texts[at])) for group in groups]
    spread = Counter(word for count in counts for word in count)
    topics: dict[str, list[int]] = {}
    for number, (group, count) in enumerate(zip(groups, counts, strict=True), start=1):
        weights = {word: tf * math.log(len(groups) / spread[word]) for word, tf in count.items()}
        best = sorted((word for word in weights if weights[word] > 0), key=lambda w: (-weights[w], w))
        name = " ".join(word.capitalize() for word in best[:NAME_WORDS]) or f"Tema_{number}"
        topics[name if name not in topics else f"{name}_{number}"] = list(group)
    return topics


def _by_words(texts: Sequence[str]) -> dict[str, list[int]]:
    """Without distances: the most telling words that texts share become the topics."""
    occurs = Counter(word for text in texts for word in set(_telling(text)))
    weights = {word: math.log(len(texts) / count) for word, count in occurs.items() if count > 1}
    totals = {word: weight * occurs[word] for word, weight in weights.items()}
    anchors = sorted(totals, key=lambda word: (-totals[word], word))[:ANCHORS]
    topics: dict[str, list[int]] = defaultdict(list)
    for at, text in enumerate(texts):
        topics[_anchored(text, anchors, weights) or f"Tema_{at + 1}"].append(at)
    if len(topics) < 2 and len(texts) >= 4:
        half = (len(texts) + 1) // 2
        return {"Tema_A": list(range(half)), "Tema_B": list(range(half, len(texts)))}
    return dict(topics)


def _anchored(text: str, anchors: Sequence[str], weights: Mapping[str, float]) -> str:
    counts = Counter(_telling(text))
    scores = {anchor: counts[anchor] * weights[anchor] for anchor in anchors if counts[anchor]}
    best = max(scores, key=lambda word: (scores[word], word), default="")
    return best.capitalize()


def _telling(text: str) -> list[str]:
    return [word for word in _LETTERS.findall(text.lower()) if word not in _SPANISH | STOP_WORDS]
