"""Claims: a newer statement outdates an older one with the same subject and attribute but another value."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from lore.ranking.claims.forms import read
from lore.ranking.claims.grammar import Claim, sentences
from lore.ranking.claims.values import agree, plain

__all__ = ["Claim", "Outdated", "claims", "contradicts", "keys", "outdated", "sentences", "shares"]

MOST_VALUES = 32
"""Current values of one key that are remembered: keeps the work linear."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """`newer` states another value of `key` than sentence number `part` of `older`, `share` of its text."""

    older: str
    newer: str
    key: str
    why: str
    part: int
    share: float


@dataclass(frozen=True, slots=True)
class _Current:
    """A value that nothing has outdated yet, and the texts that state it, each with its own claim."""

    claim: Claim
    texts: dict[str, Claim]


def claims(text: str) -> list[Claim]:
    """The claims of a text, sentence by sentence; most sentences have none."""
    found = sentences(text)
    length = sum(map(len, found))
    alone = len(found) == 1
    return [
        replace(claim, part=at, share=len(sentence) / length)
        for at, sentence in enumerate(found)
        for claim in read(sentence, opening=at == 0)
        if alone or _is_clear(sentence)
    ]


def _is_clear(sentence: str) -> bool:
    """Whether a line among others looks like a sentence: code and headings claim nothing."""
    return sentence[0].isupper() or sentence.endswith((".", "!"))


def keys(text: str) -> frozenset[str]:
    """The keys of all claims of a text: only texts that share a key can outdate each other."""
    return frozenset(claim.key for claim in claims(text))


def contradicts(older: Claim, newer: Claim) -> bool:
    """Whether the older claim cannot be true any more if the newer one is."""
    return bool(_why(older, newer))


def _why(older: Claim, newer: Claim) -> str:
    """`changed` or `another value`; empty if both can be true."""
    if older.key != newer.key or not _same_time(older, newer):
        return ""
    if (older.many and not newer.changed) or agree(older.value, newer.value):
        return ""
    return "changed" if newer.changed else "another value"


def _same_time(older: Claim, newer: Claim) -> bool:
    """Whether both speak of the same time: a statement about one year does not outdate one about another."""
    if older.when and newer.when:
        return older.when == newer.when
    return not older.past and not newer.past


def outdated(statements: Iterable[tuple[str, str, float]]) -> list[Outdated]:
    """Of (id, text, time), each older one with the first newer one that outdates it, per key.

    Only texts that share a key meet, so a caller may pass the new ones and those filed under their `keys`.
    """
    current: dict[str, dict[Claim, _Current]] = {}
    found: list[Outdated] = []
    for id, text, _ in sorted(statements, key=lambda statement: statement[2]):
        for claim in claims(text):
            here = current.setdefault(claim.key, {})
            for mark, earlier in list(here.items()):
                if why := _why(earlier.claim, claim):
                    found += _superseded(earlier, id, why)
                    del here[mark]
            _record(here, claim, id)
    return found


def _superseded(earlier: _Current, newer: str, why: str) -> Iterator[Outdated]:
    for older, claim in earlier.texts.items():
        if older != newer:
            yield Outdated(
                older=older, newer=newer, key=claim.key, why=why, part=claim.part, share=claim.share
            )


def _record(here: dict[Claim, _Current], claim: Claim, id: str) -> None:
    mark = replace(claim, value=plain(claim.value), part=0, share=0.0, changed=False)
    here.setdefault(mark, _Current(claim, {})).texts[id] = claim
    if len(here) > MOST_VALUES:
        del here[next(iter(here))]


def shares(found: Iterable[Outdated]) -> dict[str, float]:
    """How much of each older text is outdated: 1 for all of it."""
    parts: dict[str, dict[int, float]] = {}
    for pair in found:
        parts.setdefault(pair.older, {})[pair.part] = pair.share
    return {older: min(1.0, sum(by_part.values())) for older, by_part in parts.items()}
