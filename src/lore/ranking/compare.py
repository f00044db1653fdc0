"""Compare: whether a newer statement repeats an older one, updates it, or stands beside it."""

from collections.abc import Sequence, Set
from functools import lru_cache

from lore.names import VERBS
from lore.ranking.claims import Claim, claims, contradicts, sentences
from lore.ranking.claims.grammar import ADDING, is_statement
from lore.ranking.claims.values import TIMES, agree, amount_of, kind_of
from lore.ranking.relate import differ_in_detail
from lore.ranking.statement import (
    SPEAKERS,
    STATES,
    Relation,
    Statement,
    Token,
    content_words,
    statement,
    without,
)
from lore.wordlists import word_lists

__all__ = ["LONGEST_TEXT", "Relation", "compare", "corrects", "differ"]

MOST_SENTENCES = 4
LONGEST_TEXT = 1_000
"""Characters."""
CACHED = 2_048
"""Texts whose parts are cached: a search compares each of its hits with the others."""
SHORT = 12
"""Content words. In a text with at most this many, a word in place of another is another value."""
WHOLE = 0.8
"""The share of an older text that must be outdated before the text as a whole is."""
COVERED = 0.6
"""The share of an older statement's words that a newer one repeats when it says that a part is over."""
LEAST_SHARED = 2
"""Content words that two statements must share to be about the same thing, if no name or number differs."""
LONGEST_VALUE = 3
"""Words of a value."""
_LISTS = word_lists("lore.ranking", "words.txt")
_ARTICLES = _LISTS["articles"]
_EXCHANGED = _LISTS["exchanged"]
_SEVERAL = content_words(_LISTS["verbs with several objects"])
_HAVING = _LISTS["having"]
_CONTRARY = _LISTS["contrary prepositions"]
_VERBS = VERBS - {"may"}
"""Behind a value `may` is the month."""


def compare(older: str, newer: str, *, thorough: bool = True) -> Relation:
    """How the newer of two short texts relates to the older one. Long texts are OTHER.

    thorough: consider the grammar of both as well (`claims`), which takes about 0.2 ms for each new text.
    """
    old, new = _sentences(older), _sentences(newer)
    if not 0 < len(old) <= MOST_SENTENCES or not 0 < len(new) <= MOST_SENTENCES:
        return Relation.OTHER
    # one sentence of the newer text may say what is over and the next what holds
    candidates = new if len(new) == 1 else (*new, newer)
    found = [_best([_compared(one, other, thorough) for other in candidates]) for one in old]
    if all(relation is Relation.SAME for relation in found):
        return Relation.SAME if len(old) == len(new) else Relation.OTHER
    updated = sum(len(one) for one, relation in zip(old, found, strict=True) if relation is Relation.UPDATE)
    if updated >= WHOLE * sum(map(len, old)):
        return Relation.UPDATE
    if updated or Relation.LIKELY_UPDATE in found:
        return Relation.LIKELY_UPDATE
    return Relation.OTHER


def corrects(older: str, newer: str) -> bool:
    """Whether the newer of two texts on one thing changes a number, a name, a value or a `not`."""
    updates = {Relation.UPDATE, Relation.LIKELY_UPDATE}
    return differ_in_detail(older, newer) or compare(older, newer, thorough=False) in updates


def differ(older: str, newer: str) -> bool:
    """Whether two similar texts state different things."""
    if corrects(older, newer):
        return True
    old, new = statement(older), statement(newer)
    if old is None or new is None:
        return False
    short = max(len(old.tokens), len(new.tokens)) <= SHORT
    changed = short and bool(old.stems - new.stems and new.stems - old.stems)
    return changed or old.negative != new.negative


def _best(relations: Sequence[Relation]) -> Relation:
    order = (Relation.UPDATE, Relation.SAME, Relation.LIKELY_UPDATE)
    return next((relation for relation in order if relation in relations), Relation.OTHER)


def _compared(older: str, newer: str, thorough: bool) -> Relation:
    old, new = statement(older), statement(newer)
    if old is None or new is None or 3 * len(old.stems & (new.stems | new.over)) < len(old.stems):
        return Relation.OTHER
    if _is_opposed(old, new) or (old.period and new.period and old.period != new.period):
        return Relation.OTHER
    found = _best([_by_ending(old, new), _by_difference(old, new)])
    if not thorough or found in {Relation.UPDATE, Relation.SAME}:
        return found
    claimed = any(contradicts(one, other) for one in _claims(older) for other in _claims(newer))
    return Relation.UPDATE if claimed else found


def _is_opposed(old: Statement, new: Statement) -> bool:
    """Whether a word that both share stands behind contrary prepositions: `under 18`, `over 18`."""
    ours = {token.stem: token.before for token in old.tokens if token.before}
    pairs = [(ours[token.stem], token.before) for token in new.tokens if token.before and token.stem in ours]
    return any(one != other and not _CONTRARY.isdisjoint((one, other)) for one, other in pairs)


def _by_ending(old: Statement, new: Statement) -> Relation:
    """Whether the newer statement names a part of the older one as over, and is about the same thing."""
    ours, theirs = old.stems, new.stems | new.over
    if not new.over or not new.over <= ours or not new.tokens or old.negative or not old.clear:
        return Relation.OTHER
    if _is_exchanged(old, new):
        return Relation.UPDATE
    last = max(at for at, token in enumerate(old.tokens) if token.stem in new.over)
    omitted = [at for at, token in enumerate(old.tokens) if token.stem not in theirs]
    named = 0 not in omitted or old.words[0] in SPEAKERS
    if len(ours & theirs) < COVERED * len(ours) or not named:
        return Relation.OTHER
    if any(at > last or not old.tokens[at].plain for at in omitted):
        return Relation.OTHER
    if not any(token.before == "for" and not token.numeric for token in without(new.tokens, old.tokens)):
        return Relation.UPDATE
    elsewhere = any(old.tokens[at].before for at in omitted)
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
    before = [word for word in old.words[: value[0].at] if word not in _ARTICLES]
    return before[-1:] in (["is"], ["are"], ["called"], ["named"]) and value[-1] is old.tokens[-1]


def _by_difference(old: Statement, new: Statement) -> Relation:
    """The same words except one value or one `not`."""
    ours, theirs = without(old.tokens, new.tokens), without(new.tokens, old.tokens)
    if not ours and not theirs:
        return _same_words(old, new)
    if old.negative != new.negative or not ours or not theirs or ADDING.search(new.text):
        return Relation.OTHER
    reworded = new.changes or ((new.current or new.corrects) and len(ours) > 1 and ours[1].numeric)
    if reworded and len(ours) > 1 and ours[0].plain and ours[0] is not old.tokens[0]:
        ours = ours[1:]  # the older verb: `ships on June 14`, then `was postponed to June 28`
    if _is_value(ours, old) and _is_value(theirs, new) and _comparable(ours, theirs, new):
        return _certainty(old, new, ours, theirs)
    return Relation.OTHER


def _same_words(old: Statement, new: Statement) -> Relation:
    """One of them may deny the other, or turn it round."""
    same_order = [token.stem for token in old.tokens] == [token.stem for token in new.tokens]
    if old.negative == new.negative and (same_order or not {"is", "are"}.isdisjoint(old.words)):
        return Relation.SAME
    compared = not {"than", "prefer", "prefers"}.isdisjoint(old.words)
    sure = new.corrects or new.current or compared or (old.negative != new.negative and not old.past)
    return Relation.UPDATE if sure and old.clear else Relation.LIKELY_UPDATE


def _is_value(tokens: Sequence[Token], whole: Statement) -> bool:
    """Whether these words are one value: together, and behind the subject."""
    between = whole.words[tokens[0].at : tokens[-1].at + 1]
    if len(between) - sum(word in _inner_words(tokens) for word in between) > len(tokens):
        return False
    first, last = whole.tokens.index(tokens[0]), whole.tokens.index(tokens[-1])
    after = whole.words[tokens[-1].at + 1 :]
    if after[:1] in {("is",), ("are",)} and after[1:2] in {("the",), ("our",), ("my",)}:
        return True
    if (first == 0 and not _has_speaker(tokens, whole)) or not _VERBS.isdisjoint(after):
        return False
    if whole.tokens[first - 1].stem in STATES and tokens[0].before and not tokens[0].numeric:
        return False
    behind = list(whole.tokens[last + 1 :])
    while behind and not tokens[-1].plain and behind[0].named and behind[0].at == tokens[-1].at + 1:
        tokens = [*tokens, behind.pop(0)]  # the rest of a name, or the month of a day
    if behind:
        rest = behind[1:] if _is_counted(tokens, whole) or _may_count(tokens, whole) else behind
        return not rest or rest[0].before != "" or whole.words[rest[0].at - 1] in _ARTICLES
    return tokens[0].numeric or not any(token.numeric for token in whole.tokens[1:first])


def _inner_words(value: Sequence[Token]) -> Set[str]:
    """The small words that may stand within a value: `Tuesday at 8`, `end of March`, `9 to 17`."""
    if kind_of(value[0].raw) in {"day", "date"}:
        return _ARTICLES | {"of", "at", "on"}
    return _ARTICLES | ({"of", "to"} if value[0].numeric and value[0].before != "from" else {"of"})


def _has_speaker(value: Sequence[Token], whole: Statement) -> bool:
    """Whether the subject before a value is the speaker or the listener: `I have two cats`, `Use yarn`."""
    before = whole.words[: value[0].at]
    return (len(before) > 1 and before[0] in SPEAKERS) or before[-1:] in {("use",), ("uses",)}


def _is_counted(tokens: Sequence[Token], whole: Statement) -> bool:
    """Whether a number counts the noun behind it: `has 12 nodes`, `lasts 14 days`, not `ticket 12 fails`."""
    behind = [token for token in whole.tokens if token.at == tokens[-1].at + 1]
    if not behind or not tokens[-1].numeric or behind[0].before:
        return False
    alone = all(token.at != tokens[0].at - 1 for token in whole.tokens)
    return alone or tokens[-1].raw.endswith("%") or amount_of(f"{tokens[-1].raw} {behind[0].raw}") is not None


def _may_count(tokens: Sequence[Token], whole: Statement) -> bool:
    """Whether a number may count the noun behind it: the word before it is not the subject."""
    behind = whole.words[tokens[-1].at + 1 :][:1]
    if not tokens[-1].numeric or tokens[0].at - 1 <= whole.tokens[0].at or not behind:
        return False
    verb = any(word in VERBS | SPEAKERS or word[-1] == "s" for word in whole.words[: tokens[0].at])
    return verb and (behind[0][-1] == "s" or tokens[-1].stem == "one")


def _comparable(ours: Sequence[Token], theirs: Sequence[Token], new: Statement) -> bool:
    """Whether two values differ, and answer the same question."""
    one, other = (" ".join(token.raw for token in value) for value in (ours, theirs))
    if agree(one, other) or ours[0].numeric != theirs[0].numeric:
        return False
    if not ours[0].numeric:
        # a tool or a place may be written small, so `word` counts as a name here
        kinds = [kind_of(value).removesuffix("word") for value in (one, other)]
        alike = new.changes or (ours[0].before == theirs[0].before and kinds[0] == kinds[1])
        return alike and max(len(ours), len(theirs)) <= LONGEST_VALUE
    units = [{token.stem for token in value if not token.numeric} for value in (ours, theirs)]
    return units[0] == units[1] or _measure(one) == _measure(other) != ""


def _measure(value: str) -> str:
    """The quantity that is measured: `time` for 5 minutes; for a day, an hour or a date its own kind."""
    amount = amount_of(value)
    return amount[0] if amount else kind_of(value) if kind_of(value) in TIMES else ""


def _has_several(value: Sequence[Token], whole: Statement) -> bool:
    """Whether the verb before a value may have further objects; a number may have its noun between."""
    first = whole.tokens.index(value[0])
    if first == 0:
        return False
    subject = 0 if whole.words[0] in SPEAKERS else 1
    near = whole.tokens[max(subject, first - (2 if value[0].numeric else 1)) : first]
    having = not value[0].numeric and not _HAVING.isdisjoint(whole.words[: value[0].at][-2:])
    return having or any(token.stem in _SEVERAL for token in near)


def _certainty(old: Statement, new: Statement, ours: Sequence[Token], theirs: Sequence[Token]) -> Relation:
    """Certain: the newer one says that it corrects or changes something, or only a number differs."""
    several = not _is_counted(ours, old) and _has_several(ours, old)
    if new.corrects or new.changes or (new.current and not several):
        return Relation.UPDATE if old.clear else Relation.LIKELY_UPDATE
    names = all(token.named or token.numeric for token in (ours[0], theirs[0]))
    few = len(old.tokens) - len(ours) < LEAST_SHARED
    if several or old.past or (few and not names):
        return Relation.OTHER
    before = [
        [word for word in whole.words[: value[0].at] if word not in _ARTICLES]
        for whole, value in ((old, ours), (new, theirs))
    ]
    numbers = ours[0].numeric and theirs[0].numeric and before[0] == before[1]
    sentence = not few or not (VERBS | SPEAKERS).isdisjoint(old.words)
    definite = _LISTS["indefinite"].isdisjoint(old.words[: ours[0].at])
    plain = sentence and definite and all(is_statement(whole.text.lower()) for whole in (old, new))
    return Relation.UPDATE if numbers and plain else Relation.LIKELY_UPDATE


@lru_cache(maxsize=CACHED)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(sentences(text)) if len(text) <= LONGEST_TEXT else ()


@lru_cache(maxsize=CACHED)
def _claims(sentence: str) -> tuple[Claim, ...]:
    return tuple(claims(sentence))
