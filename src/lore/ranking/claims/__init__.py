"""Claims: same subject and attribute, another value: which statement has outdated which."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from lore.ranking.claims.forms import is_setting, read, setting
from lore.ranking.claims.sentence import Claim, sentences
from lore.ranking.claims.values import agree, plain

__all__ = ["Claim", "Outdated", "claims", "contradicts", "keys", "outdated", "sentences", "shares"]

STANDING = 32
"""How many values of one key are remembered as still standing: keeps the work linear."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outdated:
    """`newer` says of `key` something else than `older` in its sentence `part`, `share` of its text."""

    older: str
    newer: str
    key: str
    why: str
    part: int
    share: float


@dataclass(frozen=True, slots=True)
class _Standing:
    """A value that nothing has outdated yet, and the texts that state it, each in a claim of its own."""

    claim: Claim
    texts: dict[str, Claim]


def claims(text: str) -> list[Claim]:
    """What a text states, sentence by sentence; most sentences state nothing that could be outdated."""
    found = sentences(text)
    length = sum(map(len, found))
    alone = len(found) == 1
    bare = alone or all(map(is_setting, found))
    return [
        replace(claim, part=at, share=len(sentence) / length)
        for at, sentence in enumerate(found)
        for claim in (setting(sentence, alone) if bare else []) or read(sentence, opening=at == 0)
        if claim.key and (alone or _is_clear(sentence))
    ]


def _is_clear(sentence: str) -> bool:
    """Among other lines only what looks like a sentence: code and headings state nothing."""
    return sentence[0].isupper() or sentence.endswith((".", "!")) or is_setting(sentence)


def keys(text: str) -> frozenset[str]:
    """What to file a text under: only texts that share a key can outdate each other."""
    return frozenset(claim.key for claim in claims(text))


def contradicts(older: Claim, newer: Claim) -> bool:
    """Whether the older claim cannot be true any more if the newer one is."""
    return bool(_why(older, newer))


def _why(older: Claim, newer: Claim) -> str:
    """`denied`, `changed` or `another value`; nothing if both can be true."""
    if older.key != newer.key or not _same_time(older, newer):
        return ""
    if older.holds != newer.holds:
        return "denied" if agree(older.value, newer.value) else ""
    if not older.holds or (older.many and not newer.changed) or agree(older.value, newer.value):
        return ""
    return "changed" if newer.changed else "another value"


def _same_time(older: Claim, newer: Claim) -> bool:
    """What was true of one year, or once, is not outdated by what is true of another, or now."""
    if older.when and newer.when:
        return older.when == newer.when
    return not older.past and (not newer.past or not newer.holds)


def outdated(statements: Iterable[tuple[str, str, float]]) -> list[Outdated]:
    """Of (id, text, time), each older one with the first newer one that outdates it, per key.

    Only texts that share a key meet, so a caller may pass the new ones and those filed under their `keys`.
    """
    standing: dict[str, dict[Claim, _Standing]] = {}
    found: list[Outdated] = []
    for id, text, _ in sorted(statements, key=lambda statement: statement[2]):
        for claim in claims(text):
            here = standing.setdefault(claim.key, {})
            for mark, earlier in list(here.items()):
                if why := _why(earlier.claim, claim):
                    found += _superseded(earlier, id, why)
                    del here[mark]
            _stand(here, claim, id)
    return found


def _superseded(earlier: _Standing, newer: str, why: str) -> Iterator[Outdated]:
    for older, claim in earlier.texts.items():
        if older != newer:
            yield Outdated(
                older=older, newer=newer, key=claim.key, why=why, part=claim.part, share=claim.share
            )


def _stand(here: dict[Claim, _Standing], claim: Claim, id: str) -> None:
    mark = replace(claim, value=plain(claim.value), part=0, share=0.0, changed=False)
    here.setdefault(mark, _Standing(claim, {})).texts[id] = claim
    if len(here) > STANDING:
        del here[next(iter(here))]


def shares(found: Iterable[Outdated]) -> dict[str, float]:
    """How much of each older text is outdated: 1 for all of it."""
    parts: dict[str, dict[int, float]] = {}
    for pair in found:
        parts.setdefault(pair.older, {})[pair.part] = pair.share
    return {older: min(1.0, sum(by_part.values())) for older, by_part in parts.items()}
