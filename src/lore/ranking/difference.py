"""Difference: whether a newer statement that differs from an older one in one value updates it."""

import re
from collections.abc import Sequence, Set

from lore.names import VERBS
from lore.ranking.claims.sentence import is_statement
from lore.ranking.claims.values import TIMES, agree, amount_of, kind_of
from lore.ranking.claims.words import ADDING, ARTICLES
from lore.ranking.statement import SPEAKERS, STATES, Relation, Statement, Token, stem_of, without

_SEVERAL = frozenset(
    stem_of(verb)
    for verb in """like love enjoy know speak visit read watch play support contain include own see saw buy
    bought fix add test learn find say tell mention discuss cover offer provide write show report contact
    call invite eat drink collect handle accept hate dislike log fail study depend talk connect integrate
    sell lead manage maintain""".split()
)
"""Stems of the verbs that have several objects side by side."""
_HAVING = frozenset("has have used need needs require requires".split())
"""The same, unless the object is a number."""
_VERBS = VERBS - {"may"}
"""Behind a value `may` is the month."""
_EITHER_WAY = frozenset("is are was were and or".split())
_DIRECTED = frozenset("over than to before after from".split())
INDEFINITE = frozenset("a an some one another each any".split())
_HOLDING = re.compile(
    r"(?:(?:lead|own|head|chair|maintain|manage|approve|handle|coordinate)s?|is responsible for"
    r"|is in charge of) (?:the|our|my)\b|is on call\b"
)
"""What somebody does alone as a rule."""
_STATUS = frozenset(
    """open closed pending blocked ongoing paused draft ready done finished completed merged approved rejected
    filled archived""".split()
)
"""How far something is: one of these at a time."""
_RULED = re.compile(r"\b(?:must|should) ")
"""A rule is no doubt."""
_RHYTHMS = frozenset("hourly daily nightly weekly biweekly monthly quarterly yearly annual regular".split())
"""Adjectives that a briefer statement leaves out: the daily standup is the standup."""
LEAST_SHARED = 2
"""Telling words that two statements must share to be about the same, if no name or number differs."""
LONGEST_VALUE = 3
"""Words of a value."""


def by_difference(old: Statement, new: Statement) -> Relation:
    """The same words, all but one value or one `not`."""
    ours, theirs = without(old.tokens, new.tokens), without(new.tokens, old.tokens)
    if not ours and not theirs:
        return _same_words(old, new)
    if old.negative != new.negative or not ours or not theirs or ADDING.search(new.text):
        return Relation.OTHER
    reworded = new.changes or ((new.current or new.corrects) and len(ours) > 1 and ours[1].numeric)
    if reworded and len(ours) > 1 and ours[0].plain and ours[0] is not old.tokens[0]:
        ours = ours[1:]  # the verb: `ships on June 14` was said, `was postponed to June 28` is
    ours, theirs = _with_number(ours, old, theirs, new)
    if _is_holder(ours, old) != _is_holder(theirs, new):
        return Relation.OTHER
    if _is_value(ours, old) and _is_value(theirs, new) and _comparable(ours, theirs, new):
        return _certainty(old, new, ours, theirs)
    if (new.changes or new.corrects or new.current) and _qualify_alike(ours, old, theirs, new):
        return Relation.LIKELY_UPDATE
    briefer = new.changes and len(ours) > 1 and ours[0].plain and ours[0] is old.tokens[0]
    if briefer and _is_value(ours[1:], old) and _is_value(theirs, new) and _comparable(ours[1:], theirs, new):
        return Relation.UPDATE if ours[0].raw.lower() in _RHYTHMS else Relation.LIKELY_UPDATE
    return Relation.OTHER


def _qualify_alike(ours: list[Token], old: Statement, theirs: list[Token], new: Statement) -> bool:
    """Whether both qualify the same noun behind them, the last one: `a light theme`, `a dark theme`."""
    pairs = ((ours, old), (theirs, new))
    nouns = [said.tokens[said.tokens.index(value[-1]) + 1 :][:1] for value, said in pairs]
    values = [[*value, *noun] for value, noun in zip((ours, theirs), nouns, strict=True)]
    if not all(nouns) or nouns[0][0].stem != nouns[1][0].stem or _has_several(ours, old) or old.event:
        return False
    last = all(_is_value(value, said) for value, (_, said) in zip(values, pairs, strict=True))
    return last and _comparable(values[0], values[1], new)


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
    compared = not {"than", "prefer", "prefers"}.isdisjoint(old.words)
    sure = new.corrects or new.current or compared or (old.negative != new.negative and not old.past)
    return Relation.UPDATE if sure and old.clear else Relation.LIKELY_UPDATE


def _is_value(tokens: Sequence[Token], said: Statement) -> bool:
    """Whether these words are one value: together, behind what is spoken of, and no scope."""
    between = said.words[tokens[0].at : tokens[-1].at + 1]
    if len(between) - sum(word in _joining(tokens) for word in between) > len(tokens):
        return False
    if any(token.scope for token in tokens):
        return False
    first, last = said.tokens.index(tokens[0]), said.tokens.index(tokens[-1])
    identified = said.words[tokens[-1].at + 1 :][:2]
    if identified[:1] in {("is",), ("are",)} and identified[1:] in {("the",), ("our",), ("my",)}:
        return True
    if _is_holder(tokens, said):
        return True
    if (first == 0 and not _has_speaker(tokens, said)) or not _VERBS.isdisjoint(
        said.words[tokens[-1].at + 1 :]
    ):
        return False
    if said.tokens[first - 1].stem in STATES and tokens[0].before and not tokens[0].numeric:
        return False
    behind = list(said.tokens[last + 1 :])
    while behind and not tokens[-1].plain and behind[0].named and behind[0].at == tokens[-1].at + 1:
        tokens = [*tokens, behind.pop(0)]  # the rest of a name, or the month of a day
    if behind:
        rest = behind[1:] if _is_counted(tokens, said) or _may_count(tokens, said) else behind
        return not rest or rest[0].before != "" or said.words[rest[0].at - 1] in ARTICLES
    return tokens[0].numeric or not any(token.numeric for token in said.tokens[1:first])


def _joining(value: Sequence[Token]) -> Set[str]:
    """The small words that may stand within a value: `Tuesday at 8`, `end of March`, `9 to 17`."""
    if kind_of(value[0].raw) in {"day", "date"}:
        return ARTICLES | {"of", "at", "on"}
    return ARTICLES | ({"of", "to"} if value[0].numeric and value[0].before != "from" else {"of"})


def _has_speaker(value: Sequence[Token], said: Statement) -> bool:
    """Whether the subject before a value is who speaks or is spoken to: `I have two cats`, `Use yarn`."""
    before = said.words[: value[0].at]
    return (len(before) > 1 and before[0] in SPEAKERS) or before[-1:] in {("use",), ("uses",)}


def _is_holder(tokens: Sequence[Token], said: Statement) -> bool:
    """Whether these words name who leads, owns or does the rest."""
    rest = " ".join(said.words[tokens[-1].at + 1 :])
    return tokens[0].at == 0 and tokens[0].raw[0].isupper() and _HOLDING.match(rest) is not None


def _is_counted(tokens: Sequence[Token], said: Statement) -> bool:
    """Whether a number counts what is behind it: `has 12 nodes`, `lasts 14 days`, not `ticket 12 fails`."""
    behind = [token for token in said.tokens if token.at == tokens[-1].at + 1]
    if not behind or not tokens[-1].numeric or behind[0].before:
        return False
    alone = all(token.at != tokens[0].at - 1 for token in said.tokens)
    return alone or tokens[-1].raw.endswith("%") or amount_of(f"{tokens[-1].raw} {behind[0].raw}") is not None


def _may_count(tokens: Sequence[Token], said: Statement) -> bool:
    """Whether a number may count what is behind it: the word before it is not the subject."""
    behind = said.words[tokens[-1].at + 1 :][:1]
    if not tokens[-1].numeric or tokens[0].at - 1 <= said.tokens[0].at or not behind:
        return False
    verb = any(word in VERBS | SPEAKERS or word[-1] == "s" for word in said.words[: tokens[0].at])
    return verb and (behind[0][-1] == "s" or tokens[-1].stem == "one")


def _comparable(ours: Sequence[Token], theirs: Sequence[Token], new: Statement) -> bool:
    """Whether two values differ, and answer the same question."""
    one, other = (" ".join(token.raw for token in value) for value in (ours, theirs))
    if agree(one, other) or ours[0].numeric != theirs[0].numeric:
        return False
    if not ours[0].numeric:
        alike = new.changes or (ours[0].before == theirs[0].before and _sort(one) == _sort(other))
        return alike and max(len(ours), len(theirs)) <= LONGEST_VALUE
    units = [{token.stem for token in value if not token.numeric} for value in (ours, theirs)]
    return units[0] == units[1] or _measure(one) == _measure(other) != ""


def _sort(value: str) -> str:
    """As `kind_of`, but a tool or a place may be written small."""
    return kind_of(value).removesuffix("word")


def _measure(value: str) -> str:
    """What is measured: `time` for 5 minutes; of a day, an hour or a date, that it is one."""
    amount = amount_of(value)
    return amount[0] if amount else kind_of(value) if kind_of(value) in TIMES else ""


def _has_several(value: Sequence[Token], said: Statement) -> bool:
    """Whether the verb before a value may have others beside it; a number may have its noun between."""
    first = said.tokens.index(value[0])
    if first == 0:
        return False
    subject = 0 if said.words[0] in SPEAKERS else 1
    near = said.tokens[max(subject, first - (2 if value[0].numeric else 1)) : first]
    having = not value[0].numeric and not _HAVING.isdisjoint(said.words[: value[0].at][-2:])
    return having or any(token.stem in _SEVERAL for token in near)


def _certainty(old: Statement, new: Statement, ours: Sequence[Token], theirs: Sequence[Token]) -> Relation:
    """Certain: the newer one says that it corrects or changes something, or nothing but a number differs."""
    several = not _is_counted(ours, old) and _has_several(ours, old)
    if new.corrects or new.changes or (new.current and not several):
        return Relation.UPDATE if old.clear else Relation.LIKELY_UPDATE
    if all(len(value) == 1 and value[0].raw in _STATUS for value in (ours, theirs)) and old.clear:
        return Relation.UPDATE
    names = all(token.named or token.numeric for token in (ours[0], theirs[0]))
    little = len(old.tokens) - len(ours) < LEAST_SHARED
    if several or old.event or (little and not names):
        return Relation.OTHER
    wording = [
        [word for word in said.words[: value[0].at] if word not in ARTICLES]
        for said, value in ((old, ours), (new, theirs))
    ]
    number = ours[0].numeric and theirs[0].numeric and wording[0] == wording[1]
    definite = INDEFINITE.isdisjoint(old.words[: ours[0].at])
    facts = [_RULED.sub("", said.text.lower()) for said in (old, new)]
    sentence = not little or not (VERBS | SPEAKERS).isdisjoint(old.words)
    plain = sentence and definite and not old.past and all(map(is_statement, facts))
    return Relation.UPDATE if number and plain else Relation.LIKELY_UPDATE
