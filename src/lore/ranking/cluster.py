"""Cluster: which texts or vectors belong together, what to call them, and which repeat another."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from lore.patterns import regex
from lore.text import STOP_WORDS
from lore.vectors import Vector, Vectors
from lore.wordlists import word_lists

Distances = npt.NDArray[np.float64]  # (n, n), symmetric

NAME_WORDS = 2
MOST_PASSES = 100
"""Passes over all texts; each but the last raises the modularity, so this only bounds rounding errors."""
MOST_ROUNDS = 10
"""Passes over a graph of links; two groups may swap a node for ever."""
LENGTH_RATIO = 2.0

_LETTERS = regex(r"[^\W\d_]{4,}")
_IGNORED = STOP_WORDS | word_lists("lore.ranking", "words.txt")["spanish stop words"]


def communities(likeness: Distances) -> list[list[int]]:
    """Groups of indexes whose members are more alike than chance would have it; by their first member.

    Louvain's method: raise the modularity of the weighted graph by moving single texts, then whole groups,
    until nothing gains. The number of groups follows from the likenesses, not from a fixed threshold.
    A text that is like no other is a group of its own.
    """
    weights = np.clip(likeness, 0.0, None)
    np.fill_diagonal(weights, 0.0)
    strengths = weights.sum(axis=1)
    gains = weights - np.outer(strengths, strengths) / (strengths.sum() or 1.0)
    np.fill_diagonal(gains, 0.0)
    labels = np.arange(len(gains))
    while True:
        members = np.eye(labels.max(initial=-1) + 1)[labels]
        between = members.T @ gains @ members
        np.fill_diagonal(between, 0.0)
        merged = _moved(between, np.arange(len(between)))
        if len(np.unique(merged)) == len(between):
            break
        labels = _moved(gains, merged[labels])
    groups: dict[int, list[int]] = defaultdict(list)
    for at, label in enumerate(labels.tolist()):
        groups[label].append(at)
    return list(groups.values())


def _moved(gains: Distances, labels: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Labels from 0 on, after each node has moved to the group that gains most by it."""
    labels = labels.copy()
    for _ in range(MOST_PASSES):
        before = labels.copy()
        for at, row in enumerate(gains):
            totals = np.bincount(labels, weights=row, minlength=len(gains))
            best = int(np.argmax(totals))
            if totals[best] > totals[labels[at]] + 1e-9:
                labels[at] = best
        if np.array_equal(before, labels):
            break
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def linked_groups(count: int, edges: Iterable[tuple[int, int, float]]) -> list[int]:
    """The group of each of `count` nodes: nodes with many and heavy edges among them share one.

    Label propagation: a node joins the group that most of its edges lead to, by weight, until none moves.
    The same edges give the same groups. A node without edges is alone.
    """
    ways: dict[int, list[tuple[int, float]]] = defaultdict(list)
    for one, other, weight in edges:
        if one != other:
            ways[one].append((other, weight))
            ways[other].append((one, weight))
    groups = list(range(count))
    for _ in range(MOST_ROUNDS):
        moved = False
        for node in sorted(ways):
            totals: dict[int, float] = defaultdict(float)
            for neighbour, weight in ways[node]:
                totals[groups[neighbour]] += weight
            best = max(totals, key=lambda group: (totals[group], group == groups[node], -group))
            moved = moved or best != groups[node]
            groups[node] = best
        if not moved:
            break
    return groups


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


def topics_of(texts: Sequence[str], likeness: Distances | None) -> dict[str, list[int]]:
    """Topic -> indexes of texts: by meaning where that parts the texts, else by words, else two halves.

    Texts that are like no other share one topic.
    """
    for measure in (likeness, _shared_words(texts)):
        groups = [] if measure is None else _gathered(communities(measure))
        if len(groups) > 1:
            return named(texts, groups)
    half = (len(texts) + 1) // 2 if len(texts) >= 4 else len(texts)
    halves = {"Tema_A": list(range(half)), "Tema_B": list(range(half, len(texts)))}
    return {name: group for name, group in halves.items() if group}


def _gathered(groups: Sequence[list[int]]) -> list[list[int]]:
    """The same groups, with those of one text put together as the last."""
    single = [at for group in groups if len(group) == 1 for at in group]
    return [group for group in groups if len(group) > 1] + ([single] if single else [])


def named(texts: Sequence[str], groups: Sequence[Sequence[int]]) -> dict[str, list[int]]:
    """Each group under the words that are frequent in it and rare in the others."""
    counts = [Counter(word for at in group for word in _content_words(texts[at])) for group in groups]
    spread = Counter(word for count in counts for word in count)
    topics: dict[str, list[int]] = {}
    for number, (group, count) in enumerate(zip(groups, counts, strict=True), start=1):
        weights = {word: tf * math.log(len(groups) / spread[word]) for word, tf in count.items()}
        best = sorted((word for word in weights if weights[word] > 0), key=lambda w: (-weights[w], w))
        name = " ".join(word.capitalize() for word in best[:NAME_WORDS]) or f"Tema_{number}"
        topics[name if name not in topics else f"{name}_{number}"] = list(group)
    return topics


def _shared_words(texts: Sequence[str]) -> Distances:
    """Likeness by words: the cosine of TF-IDF vectors over the words that several texts have."""
    counts = [Counter(_content_words(text)) for text in texts]
    occurs = Counter(word for count in counts for word in count)
    weights = {word: math.log(len(texts) / count) for word, count in occurs.items() if count > 1}
    rows = np.array([[count[word] * weights[word] for word in weights] for count in counts])
    rows = rows.reshape(len(texts), len(weights))
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit = rows / np.where(norms, norms, 1.0)
    likeness: Distances = unit @ unit.T
    return likeness


def _content_words(text: str) -> list[str]:
    return [word for word in _LETTERS.findall(text.lower()) if word not in _IGNORED]


FEW = 4_000
"""So many are compared each with each: a fraction of a second."""
CELLS_EACH = 4
"""In how many cells a vector is looked for: pairs across a border share at least one of them."""
NEIGHBOURS = 50
"""With how many others one is paired at most, of all that lie close to it in a cell."""
ROUNDS = 3
BLOCK = 1_024

Numbers = npt.NDArray[np.intp]


def close_pairs(vectors: Vectors, least: float, fresh: npt.NDArray[np.bool_]) -> list[tuple[int, int, float]]:
    """Pairs (i < j) of unit vectors whose cosine is above `least`, the closest first.

    fresh: only pairs with at least one of these. Among many, a pair is found if both lie in a common cell:
    for close pairs that is nearly always so, and the cost grows with n to the power of 1.5. Where many lie
    close together, each is paired with its nearest only, so that the pairs do not outgrow the vectors.
    """
    keys: list[Numbers] = [np.empty(0, np.intp)]
    strengths: list[Vector] = [np.empty(0, np.float32)]
    for rows, columns in _compared(vectors, fresh):
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK]
            cosines = vectors[block] @ vectors[columns].T
            a, b = np.nonzero(_near(cosines, least))
            one, other = block[a], columns[b]
            apart = one != other
            keys.append((np.minimum(one, other) * len(vectors) + np.maximum(one, other))[apart])
            strengths.append(cosines[a, b][apart])
    pairs, first = np.unique(np.concatenate(keys), return_index=True)
    found = np.concatenate(strengths)[first]
    best = np.lexsort((pairs, -found))
    lower, higher = np.divmod(pairs[best], len(vectors))
    return list(zip(lower.tolist(), higher.tolist(), found[best].tolist(), strict=True))


def _near(cosines: Vectors, least: float) -> npt.NDArray[np.bool_]:
    """Which of a row are close to it: at most NEIGHBOURS, and itself."""
    near: npt.NDArray[np.bool_] = cosines > least
    crowded = np.flatnonzero(np.count_nonzero(near, axis=1) > NEIGHBOURS + 1)
    if len(crowded):
        beyond = np.argpartition(-cosines[crowded], NEIGHBOURS, axis=1)[:, NEIGHBOURS + 1 :]
        near[crowded[:, np.newaxis], beyond] = False
    return near


def _compared(vectors: Vectors, fresh: npt.NDArray[np.bool_]) -> Iterator[tuple[Numbers, Numbers]]:
    """Which rows are compared with which: the fresh ones with all, as long as that is cheap."""
    everyone, new = np.arange(len(vectors)), np.flatnonzero(fresh)
    if len(new) * len(everyone) <= FEW * FEW:
        yield new, everyone
        return
    cells = _cells(vectors)
    for cell in range(int(cells.max()) + 1):
        inside = np.flatnonzero((cells == cell).any(axis=1))
        yield inside[fresh[inside]], inside


def _cells(vectors: Vectors) -> npt.NDArray[np.intp]:
    """The nearest cells of each vector; there are about as many cells as vectors in one."""
    count = max(CELLS_EACH, int(np.sqrt(len(vectors))))
    chance = np.random.default_rng(0)
    centres = vectors[chance.choice(len(vectors), count, replace=False)]
    for _ in range(ROUNDS):
        nearest = _nearest(vectors, centres, 1)[:, 0]
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, vectors)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 0, sums / np.maximum(lengths, 1e-12), centres)
    return _nearest(vectors, centres, CELLS_EACH)


def _nearest(vectors: Vectors, centres: Vectors, many: int) -> npt.NDArray[np.intp]:
    rows = [
        np.argpartition(-(vectors[start : start + BLOCK] @ centres.T), many - 1, axis=1)[:, :many]
        for start in range(0, len(vectors), BLOCK)
    ]
    return np.concatenate(rows)
