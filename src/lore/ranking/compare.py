"""Compare: whether a newer statement repeats an older one, updates it, or stands beside it."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache

from lore.names import VERBS
from lore.ranking.claims import Claim, claims, contradicts, sentences
from lore.ranking.claims.sentence import is_statement
from lore.ranking.claims.values import TIMES, agree, amount_of, kind_of
from lore.ranking.claims.words import ADDING, ARTICLES, POINTING
from lore.ranking.relate import told_apart
from lore.ranking.statement import STATES, Statement, Token, statement, stem_of

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

_SEVERAL = frozenset(
    stem_of(verb)
    for verb in """like love enjoy know speak visit read watch play support contain include own see saw buy
    bought fix add test learn find say tell mention discuss cover offer provide write show report contact
    call invite eat drink collect handle accept hate dislike log fail study""".split()
)
"""Stems of the verbs that have several objects side by side."""
_SCOPES = frozenset(
    """dev development prod production staging stage test testing local ci qa canary sandbox live beta alpha
    weekday weekdays weekend weekends""".split()
)
_EITHER_WAY = frozenset("is are was were and or".split())
_CONTRARY = frozenset("under over above below before after".split())
_DIRECTED = frozenset("over than to before after from".split())
INDEFINITE = frozenset("a an some one another each any".split())
OWNERS = frozenset({"their", "his", "her", "its", "your"})
LEAST_SHARED = 2
"""Telling words that two statements must share to be about the same, if no name or number differs."""
LONGEST_VALUE = 3
"""Words of a value."""


class Relation(StrEnum):
    """How a newer statement stands to an older one.

    UPDATE: both cannot be true now. LIKELY_UPDATE: the newer is what most people would ask for.
    """

    SAME = "same"
    UPDATE = "update"
    LIKELY_UPDATE = "likely update"
    OTHER = "other"


def compare(older: str, newer: str, *, thorough: bool = True) -> Relation:
    """How the newer of two short texts stands to the older one. Long texts are OTHER.

    thorough: consider the grammar of both as well (`claims`), which takes about 0.2 ms for each new text.
    """
    old, new = _sentences(older), _sentences(newer)
    if not 0 < len(old) <= MOST_SENTENCES or not 0 < len(new) <= MOST_SENTENCES:
        return Relation.OTHER
    found = [_best([_compared(one, other, thorough) for other in _candidates(new, newer)]) for one in old]
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


def _candidates(new: Sequence[str], whole: str) -> Sequence[str]:
    """Each sentence, and all of them: one may say what is over, the next what holds."""
    return new if len(new) == 1 else [*new, whole]


def _best(relations: Sequence[Relation]) -> Relation:
    order = (Relation.UPDATE, Relation.SAME, Relation.LIKELY_UPDATE)
    return next((relation for relation in order if relation in relations), Relation.OTHER)


def _compared(older: str, newer: str, thorough: bool) -> Relation:
    old, new = statement(older), statement(newer)
    if old is None or new is None or 3 * len(old.stems & (new.stems | new.over)) < len(old.stems):
        return Relation.OTHER
    if _opposed(old, new):
        return Relation.OTHER
    found = _best([_over(old, new), _by_difference(old, new)])
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
    if not new.over or not new.over <= ours or old.negative or not _is_clear(old):
        return Relation.OTHER
    last = max(at for at, token in enumerate(old.tokens) if token.stem in new.over)
    passed_over = [at for at, token in enumerate(old.tokens) if token.stem not in theirs]
    about_the_same = len(ours & theirs) >= COVERED * len(ours) and 0 not in passed_over
    if not about_the_same or any(at > last or not _is_plain(old.tokens[at]) for at in passed_over):
        return Relation.OTHER
    narrower = any(
        token.stem in _SCOPES or (token.before == "for" and not token.numeric)
        for token in _without(new.tokens, old.tokens)
    )
    return Relation.LIKELY_UPDATE if narrower else Relation.UPDATE


def _is_clear(old: Statement) -> bool:
    """Whether the older statement needs no other sentence to tell what it is about."""
    return POINTING.isdisjoint(set(old.words) - OWNERS)


@lru_cache(maxsize=CACHED)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(sentences(text)) if len(text) <= LONGEST_TEXT else ()


@lru_cache(maxsize=CACHED)
def _claims(sentence: str) -> tuple[Claim, ...]:
    return tuple(claims(sentence))


def _by_difference(old: Statement, new: Statement) -> Relation:
    """The same words, all but one value or one `not`."""
    ours, theirs = _without(old.tokens, new.tokens), _without(new.tokens, old.tokens)
    if not ours and not theirs:
        return _same_words(old, new)
    if old.negative != new.negative or not ours or not theirs or ADDING.search(new.text):
        return Relation.OTHER
    if new.changes and len(ours) > 1 and _is_plain(ours[0]) and ours[0] is not old.tokens[0]:
        ours = ours[1:]  # the verb: `ships on June 14` was said, `was postponed to June 28` is
    ours, theirs = _with_number(ours, old, theirs, new)
    if _is_value(ours, old) and _is_value(theirs, new) and _comparable(ours, theirs, new):
        return _certainty(old, new, ours, theirs)
    briefer = new.changes and len(ours) > 1 and _is_plain(ours[0]) and ours[0] is old.tokens[0]
    if briefer and _is_value(ours[1:], old) and _is_value(theirs, new) and _comparable(ours[1:], theirs, new):
        return Relation.LIKELY_UPDATE
    return Relation.OTHER


def _with_number(
    ours: list[Token], old: Statement, theirs: list[Token], new: Statement
) -> tuple[list[Token], list[Token]]:
    """Each value with the number before it: of `1 week` and `1 day` only the units differ."""
    before = [
        [token for token in said.tokens if token.at == value[0].at - 1 and token.numeric]
        for value, said in ((ours, old), (theirs, new))
    ]
    return ([*before[0], *ours], [*before[1], *theirs]) if all(before) else (ours, theirs)


def _same_words(old: Statement, new: Statement) -> Relation:
    """One of them may deny the other, or say it the other way round."""
    in_order = [token.stem for token in old.tokens] == [token.stem for token in new.tokens]
    either_way = not _EITHER_WAY.isdisjoint(old.words) and _DIRECTED.isdisjoint(old.words)
    if old.negative == new.negative and (in_order or either_way):
        return Relation.SAME
    sure = new.corrects or new.current or (old.negative != new.negative and not old.past)
    return Relation.UPDATE if sure and _is_clear(old) else Relation.LIKELY_UPDATE


def _without(tokens: Sequence[Token], others: Sequence[Token]) -> list[Token]:
    """The words that the others have not."""
    left = Counter(token.stem for token in others)
    found = []
    for token in tokens:
        if left[token.stem]:
            left[token.stem] -= 1
        else:
            found.append(token)
    return found


def _is_plain(token: Token) -> bool:
    return not (token.numeric or token.named or token.stem in _SCOPES)


def _is_value(tokens: Sequence[Token], said: Statement) -> bool:
    """Whether these words are one value: together, behind what is spoken of, and no scope."""
    between = said.words[tokens[0].at : tokens[-1].at + 1]
    if len(between) - sum(word in ARTICLES for word in between) > len(tokens):
        return False
    if any(token.stem in _SCOPES for token in tokens):
        return False
    first, last = said.tokens.index(tokens[0]), said.tokens.index(tokens[-1])
    identified = said.words[tokens[-1].at + 1 :][:2]
    if identified[:1] in {("is",), ("are",)} and identified[1:] in {("the",), ("our",), ("my",)}:
        return True
    if first == 0 or not VERBS.isdisjoint(said.words[tokens[-1].at + 1 :]):
        return False
    if said.tokens[first - 1].stem in STATES and tokens[0].before and not tokens[0].numeric:
        return False
    behind = list(said.tokens[last + 1 :])
    while behind and tokens[-1].named and behind[0].named and behind[0].at == tokens[-1].at + 1:
        tokens = [*tokens, behind.pop(0)]  # the rest of a name
    if behind:
        rest = behind[1:] if _is_counted(tokens, said) or _may_count(tokens, said) else behind
        return not rest or rest[0].before != "" or said.words[rest[0].at - 1] in ARTICLES
    return tokens[0].numeric or not any(token.numeric for token in said.tokens[1:first])


def _is_counted(tokens: Sequence[Token], said: Statement) -> bool:
    """Whether a number counts what is behind it: `has 12 nodes`, `lasts 14 days`, not `ticket 12 fails`."""
    behind = [token for token in said.tokens if token.at == tokens[-1].at + 1]
    if not behind or not tokens[-1].numeric or behind[0].before:
        return False
    alone = all(token.at != tokens[0].at - 1 for token in said.tokens)
    return alone or amount_of(f"{tokens[-1].raw} {behind[0].raw}") is not None


def _may_count(tokens: Sequence[Token], said: Statement) -> bool:
    """Whether a number may count what is behind it: the word before it is not the subject."""
    behind = said.words[tokens[-1].at + 1 :][:1]
    return (
        tokens[-1].numeric and tokens[0].at - 1 > said.tokens[0].at and bool(behind) and behind[0][-1] == "s"
    )


def _comparable(ours: Sequence[Token], theirs: Sequence[Token], new: Statement) -> bool:
    """Whether two values differ, and answer the same question."""
    one, other = (" ".join(token.raw for token in value) for value in (ours, theirs))
    if agree(one, other) or ours[0].numeric != theirs[0].numeric:
        return False
    if not ours[0].numeric:
        alike = new.changes or ours[0].before == theirs[0].before
        return alike and max(len(ours), len(theirs)) <= LONGEST_VALUE
    units = [{token.stem for token in value if not token.numeric} for value in (ours, theirs)]
    return units[0] == units[1] or _measure(one) == _measure(other) != ""


def _measure(value: str) -> str:
    """What is measured: `time` for 5 minutes; of a day, an hour or a date, that it is one."""
    amount = amount_of(value)
    return amount[0] if amount else kind_of(value) if kind_of(value) in TIMES else ""


def _has_several(value: Sequence[Token], said: Statement) -> bool:
    """Whether the verb before a value may have others beside it; a number may have its noun between."""
    first = said.tokens.index(value[0])
    near = said.tokens[max(1, first - (2 if value[0].numeric else 1)) : first]
    having = not value[0].numeric and not {"has", "have"}.isdisjoint(said.words[: value[0].at][-2:])
    return having or any(token.stem in _SEVERAL for token in near)


def _certainty(old: Statement, new: Statement, ours: Sequence[Token], theirs: Sequence[Token]) -> Relation:
    """Certain: the newer one says that it corrects or changes something, or nothing but a number differs."""
    several = not _is_counted(ours, old) and _has_several(ours, old)
    if new.corrects or new.changes or (new.current and not several):
        return Relation.UPDATE
    names = all(token.named or token.numeric for token in (ours[0], theirs[0]))
    if several or old.event or (len(old.tokens) - len(ours) < LEAST_SHARED and not names):
        return Relation.OTHER
    wording = [
        [word for word in said.words[: value[0].at] if word not in ARTICLES]
        for said, value in ((old, ours), (new, theirs))
    ]
    number = ours[0].numeric and theirs[0].numeric and wording[0] == wording[1]
    definite = INDEFINITE.isdisjoint(old.words[: ours[0].at])
    plain = definite and not old.past and all(is_statement(said.text.lower()) for said in (old, new))
    return Relation.UPDATE if number and plain else Relation.LIKELY_UPDATE
