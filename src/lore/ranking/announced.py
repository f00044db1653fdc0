"""Announced: a newer memory that tells of a change answers a question in place of an older one.

`compare` looks at two statements alone and needs nearly the same words. Here the question decides whether
both are about the same thing: "We moved to three-week sprints" takes the place of "The sprint length is two
weeks" for "How long is a sprint?". That is likely, never certain: it changes an order and hides nothing.
"""

import re
from functools import lru_cache

from lore.ranking.claims.words import ADDING
from lore.ranking.statement import CHANGING, Statement, statement, stem_of
from lore.text import STOP_WORDS, words

MOST_LESS_SIMILAR = 0.33
"""How much less similar to the question the newer memory may be."""
STEM_LETTERS = 5
"""Letters of a stem that are compared, so that `deployment` is about `deploy`."""
CACHED = 2_048
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_CHANGE = re.compile(
    r"\b(?:instead of|rather than|no longer|any ?more|any longer|as of|from now on"
    r"|from (?:this|next|\w+day)\b[\w ]{0,12} on"
    r"|effective|now|nowadays|these days|currently"
    rf"|since (?:last|this|the|yesterday|today|{_DAY}|\w+ left)"
    r"|became|becomes|started|stopped|quit|again|slipped|(?:is|are|was|were) gone|took .{0,40}\bover"
    r"|taken over|ditched|abandoned|removed|retired|got rid of|sold|gave up|rewrote"
    r"|turned .{1,40}\b(?:on|off)|not \w+\)?\.?$)",
    re.IGNORECASE,
)
_ASKS_QUANTITY = re.compile(
    r"^\W*(?:how (?:long|many|much|often|large|big|old|fast|far|high)|when|(?:at )?what time)\b",
    re.IGNORECASE,
)
_QUANTITY = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred"
    rf"|once|twice|hourly|daily|weekly|monthly|yearly|half|quarter|noon|midnight|{_DAY}s?)\b",
    re.IGNORECASE,
)
_ASKING = frozenset(
    stem_of(word)[:STEM_LETTERS]
    for word in """run live work call name write host own keep kept use support enable disable start happen
    lead take go get make need require allow send store serve track handle prefer want like plan find long
    many much often large big old fast time day language place way kind currently still""".split()
)
"""Stems of the words by which a question asks; an answer may use others."""


def replaces(question: str, older: str, newer: str, less_similar: float = 0.0) -> bool:
    """Whether the newer text tells of a change and answers the question that the older one answers.

    less_similar: by how much the newer text is less similar to the question than the older one.
    """
    old, new = statement(older), statement(newer)
    if old is None or new is None or less_similar > MOST_LESS_SIMILAR:
        return False
    if not (_tells_change(new) or _denies(old, new)) or ADDING.search(newer):
        return False
    if _ASKS_QUANTITY.search(question) and _QUANTITY.search(older) and not _QUANTITY.search(newer):
        return False
    topic = (_stems(question) - _ASKING) & _stems(older)
    return bool(topic) and topic <= _stems(newer) and not _is_narrower(older, new)


def _tells_change(new: Statement) -> bool:
    return new.corrects or not CHANGING.isdisjoint(new.words) or _CHANGE.search(new.text) is not None


def _denies(old: Statement, new: Statement) -> bool:
    """Whether the newer text says `not` of the older one and speaks of nothing else."""
    return old.negative != new.negative and new.stems <= old.stems


@lru_cache(maxsize=CACHED)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem_of(word)[:STEM_LETTERS] for word in words(text) if word not in STOP_WORDS)


def _is_narrower(older: str, new: Statement) -> bool:
    """Whether the newer text is about a part, or about somebody else: `for admins`, `Mia's parents`."""
    stems = _stems(older)
    added = [token for token in new.tokens if token.stem[:STEM_LETTERS] not in stems]
    owners = {owner for owner in re.findall(r"\b(\w+)'s (?=[a-z])", new.text) if f"{owner}'s " not in older}
    return any(token.scope or (token.before == "for" and not token.numeric) for token in added) or any(
        stem_of(owner.lower())[:STEM_LETTERS] in stems for owner in owners
    )
