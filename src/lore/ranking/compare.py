"""Compare: whether a newer statement repeats an older one, updates it, or stands beside it."""

import re
from collections.abc import Sequence
from functools import lru_cache

from lore.ranking.claims import Claim, claims, contradicts, sentences
from lore.ranking.claims.words import ARTICLES
from lore.ranking.difference import by_difference
from lore.ranking.relate import told_apart
from lore.ranking.statement import SPEAKERS, Relation, Statement, statement, without

__all__ = ["LONGEST_TEXT", "Relation", "compare", "corrects", "differ"]

MOST_SENTENCES = 4
LONGEST_TEXT = 1_000
"""Characters."""
CACHED = 2_048
"""Texts of which the parts are remembered: a search compares each of its hits with the others."""
SHORT = 12
"""Telling words. In a text of at most so many a word in place of another is another value."""
WHOLE = 0.8
"""The share of an older text that must be outdated before the text as a whole is."""
COVERED = 0.6
"""The share of an older statement's words that a newer one repeats when it says that a part is over."""
_CLAUSE = re.compile(r"[,;] (?:and |so |but )?")
_CONTRARY = frozenset("under over above below before after".split())
_EXCHANGED = frozenset("switched changed migrated replaced instead dropped ditched abandoned renamed".split())
"""Words of a statement that puts one thing in place of another."""


def compare(older: str, newer: str, *, thorough: bool = True) -> Relation:
    """How the newer of two short texts stands to the older one. Long texts are OTHER.

    thorough: consider the grammar of both as well (`claims`), which takes about 0.2 ms for each new text.
    """
    old, new = _sentences(older), _sentences(newer)
    if not 0 < len(old) <= MOST_SENTENCES or not 0 < len(new) <= MOST_SENTENCES:
        return Relation.OTHER
    found = [
        _best([_compared(one, other, thorough) for other in _candidates(one, new, newer)]) for one in old
    ]
    if all(relation is Relation.SAME for relation in found):
        return Relation.SAME if len(old) == len(new) else Relation.OTHER
    length = sum(map(len, old))
    shares = zip(old, found, strict=True)
    outdated = sum(len(one) for one, relation in shares if relation is Relation.UPDATE) / length
    if outdated >= WHOLE:
        return Relation.UPDATE
    if outdated or Relation.LIKELY_UPDATE in found:
        return Relation.LIKELY_UPDATE
    return Relation.OTHER


def corrects(older: str, newer: str) -> bool:
    """Whether the newer of two texts on one thing changes a number, a name, a value or a `not`."""
    updates = {Relation.UPDATE, Relation.LIKELY_UPDATE}
    return told_apart(older, newer) or compare(older, newer, thorough=False) in updates


def differ(older: str, newer: str) -> bool:
    """Whether two texts that are alike say different things all the same."""
    if corrects(older, newer):
        return True
    old, new = statement(older), statement(newer)
    if old is None or new is None:
        return False
    short = max(len(old.tokens), len(new.tokens)) <= SHORT
    changed = short and bool(old.stems - new.stems and new.stems - old.stems)
    return changed or old.negative != new.negative


def _candidates(old: str, new: Sequence[str], whole: str) -> Sequence[str]:
    """Each sentence, and all of them: one may say what is over, the next what holds; so may two clauses."""
    clauses = [clause for sentence in new if (clause := _consequence(old, sentence))]
    return [*new, *clauses] if len(new) == 1 else [*new, *clauses, whole]


def _consequence(old: str, sentence: str) -> str:
    """The second clause, if the first speaks of the older value: `Tom left, our coach is Eva`."""
    first, second = [*_CLAUSE.split(sentence, maxsplit=1), ""][:2]
    older, cause, result = statement(old), statement(first), statement(second)
    if older is None or cause is None or result is None:
        return ""
    return second if older.stems & cause.stems - result.stems and result.stems & older.stems else ""


def _best(relations: Sequence[Relation]) -> Relation:
    order = (Relation.UPDATE, Relation.SAME, Relation.LIKELY_UPDATE)
    return next((relation for relation in order if relation in relations), Relation.OTHER)


def _compared(older: str, newer: str, thorough: bool) -> Relation:
    old, new = statement(older), statement(newer)
    if old is None or new is None or 3 * len(old.stems & (new.stems | new.over)) < len(old.stems):
        return Relation.OTHER
    if _opposed(old, new) or (old.period and new.period and old.period != new.period):
        return Relation.OTHER
    found = _best([_over(old, new), by_difference(old, new)])
    if not thorough or found in {Relation.UPDATE, Relation.SAME}:
        return found
    claimed = any(contradicts(one, other) for one in _claims(older) for other in _claims(newer))
    return Relation.UPDATE if claimed else found


def _opposed(old: Statement, new: Statement) -> bool:
    """Whether both speak of the same with another relation to it: `under 18`, `over 18`."""
    ours = {token.stem: token.before for token in old.tokens if token.before}
    pairs = [(ours[token.stem], token.before) for token in new.tokens if token.before and token.stem in ours]
    return any(one != other and not _CONTRARY.isdisjoint((one, other)) for one, other in pairs)


def _over(old: Statement, new: Statement) -> Relation:
    """Whether the newer statement names a part of the older one as over, and speaks of the same thing."""
    ours, theirs = old.stems, new.stems | new.over
    if not new.over or not new.over <= ours or not new.tokens or old.negative or not old.clear:
        return Relation.OTHER
    last = max(at for at, token in enumerate(old.tokens) if token.stem in new.over)
    passed_over = [at for at, token in enumerate(old.tokens) if token.stem not in theirs]
    if _is_exchanged(old, new):
        return Relation.UPDATE
    named = 0 not in passed_over or old.words[0] in SPEAKERS
    if len(ours & theirs) < COVERED * len(ours) or not named:
        return Relation.OTHER
    if any(at > last or not old.tokens[at].plain for at in passed_over):
        return Relation.OTHER
    narrower = any(
        token.scope or (token.before == "for" and not token.numeric)
        for token in without(new.tokens, old.tokens)
    )
    if not narrower:
        return Relation.UPDATE
    elsewhere = any(old.tokens[at].before for at in passed_over)
    return Relation.OTHER if elsewhere else Relation.LIKELY_UPDATE


def _is_exchanged(old: Statement, new: Statement) -> bool:
    """Whether the same person says `our N is A`, then `we use B instead of A`."""
    speaker = new.words[0].partition("'")[0]
    whose = {"my": "i", "our": "we", "the": speaker}.get(old.words[0])
    speaks = whose == speaker in SPEAKERS or new.tokens[0].stem in new.over
    if whose is None or not speaks or _EXCHANGED.isdisjoint(new.words):
        return False
    instead = [token for token in without(new.tokens, old.tokens) if token.raw not in _EXCHANGED]
    if not instead or instead[-1].at - instead[0].at >= len(instead) or instead[0].before in {"as", "for"}:
        return False
    value = [token for token in old.tokens if token.stem in new.over]
    before = [word for word in old.words[: value[0].at] if word not in ARTICLES]
    return before[-1:] in (["is"], ["are"], ["called"], ["named"]) and value[-1] is old.tokens[-1]


@lru_cache(maxsize=CACHED)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(sentences(text)) if len(text) <= LONGEST_TEXT else ()


@lru_cache(maxsize=CACHED)
def _claims(sentence: str) -> tuple[Claim, ...]:
    return tuple(claims(sentence))
