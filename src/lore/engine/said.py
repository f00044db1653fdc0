"""said: an agent's note → the turns around the time it was stored → whether the user or a tool said it.

A transcript may arrive later than a note, so that this is asked whenever a note is handed out.
"""

from functools import lru_cache

from lore.distil.own import own_words
from lore.lineage import is_users, noted_in
from lore.model import TURN, Filter, Memory
from lore.names import STEM
from lore.patterns import regex
from lore.ranking.relate import NOT, SHORT_NOT
from lore.store import Reader
from lore.store.values import Page
from lore.text import terms, tokens

BEFORE_SECONDS, AFTER_SECONDS = 86_400, 3_600
"""Turns from this long before to this long after a note count."""
TURNS = 100
"""Turns that are compared with a note, newest first."""
SAID = 0.6
"""Share of the telling words of a note that one turn of the user must have."""
COPIED = 0.5
"""Share of the runs of three words of a note that one output of a tool must have."""
RUN, FEWEST_WORDS = 3, 6
"""Words of a run; fewer words in all could be in any output."""
LONGEST = 20_000
"""Characters of a turn that are read."""
CACHED = 512
"""Turns whose words are cached: notes of one conversation are compared with the same turns."""
_EXACT = regex(r"\d|[./:@_]\w")
"""In words that must be the same: numbers, addresses, paths, identifiers."""


def said_by_user(memory: Memory, reader: Reader) -> bool:
    """Whether a turn of the user, in words of the user's own, has most words of a note and denies no more."""
    return any(
        is_users(turn) and says(turn.content, memory.content) for turn in _turns(memory, "user", reader)
    )


def said_by_tool(memory: Memory, reader: Reader) -> bool:
    """Whether much of a note stands in the output of a tool, word for word.

    Where an agent reads or writes the file that the note comes from, it only stands there again.
    """
    own = noted_in(memory)
    outputs = (turn.content for turn in _turns(memory, "tool", reader))
    return any(copies(output, memory.content) for output in outputs if not own or own not in output)


def says(turn: str, statement: str) -> bool:
    """Whether a user's turn has, in own words, most words of a statement, its exact ones, and denies no
    more."""
    telling, exact, denies = _told(statement)
    return len(telling) >= 2 and _says(turn, telling, exact, denies)


def copies(output: str, statement: str) -> bool:
    """Whether much of a statement stands in the output of a tool, word for word."""
    if len(tokens(statement)) < FEWEST_WORDS:
        return False
    runs = _runs(statement)
    return len(runs & _runs(output[:LONGEST])) >= COPIED * len(runs)


def _turns(memory: Memory, role: str, reader: Reader) -> list[Memory]:
    """The turns of the project of a note, of any if it has none, around the time when it was stored."""
    where = Filter(
        kinds=frozenset({TURN}),
        types=frozenset({role}),
        projects=frozenset({memory.project}) if memory.project else frozenset(),
        created_after=memory.updated_at - BEFORE_SECONDS,
        created_before=memory.updated_at + AFTER_SECONDS,
    )
    return list(reader.select(where, Page(limit=TURNS)))


def _says(turn: str, telling: frozenset[str], exact: frozenset[str], denies: bool) -> bool:
    statements = _statements(turn)
    said = frozenset[str]().union(*(stems for stems, _ in statements))
    if len(telling & said) < SAID * len(telling) or not exact <= _exact(turn):
        return False
    related = [denied for stems, denied in statements if stems & telling]
    return denies in related


@lru_cache(maxsize=CACHED)
def _told(statement: str) -> tuple[frozenset[str], frozenset[str], bool]:
    """The stems and the exact words of a statement, and whether it denies something."""
    return _stems(statement), _exact(statement), _denies(statement)


@lru_cache(maxsize=CACHED)
def _statements(turn: str) -> tuple[tuple[frozenset[str], bool], ...]:
    """The stems of each sentence of the user's own that asks nothing, and whether it denies something."""
    told = [one for one in own_words(turn) if not one.rstrip().endswith(("?", "？"))]
    return tuple((_stems(one), _denies(one)) for one in told)


@lru_cache(maxsize=CACHED)
def _runs(text: str) -> frozenset[tuple[str, ...]]:
    words = tokens(text)
    return frozenset(tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1))


def _stems(text: str) -> frozenset[str]:
    return frozenset(word[:STEM] for word in terms(text))


def _exact(text: str) -> frozenset[str]:
    words = (word.strip(".,;:!?()[]\"'`") for word in text.lower().split())
    return frozenset(word for word in words if _EXACT.search(word))


def _denies(text: str) -> bool:
    return bool(NOT & set(tokens(text)) or SHORT_NOT.search(text))
