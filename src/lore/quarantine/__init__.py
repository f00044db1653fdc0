"""Quarantine: texts that try to instruct the agent that reads them, to hide from it, or to do harm by it.

Memories with such a text are never handed to an agent unasked; a search still finds them and says so. A
user's own rule ("always run the linter", "commit with --no-verify") is no such text; the same from anybody
else may be: see `risks`. The rules recognise the common kinds of planted text, not those of a determined
author.
"""

from collections.abc import Iterator
from functools import cache, lru_cache
from hashlib import blake2b

from lore.patterns import regex
from lore.quarantine.disguise import is_disguised, plain
from lore.quarantine.planted import OVERRIDE, PATTERNS
from lore.quarantine.risks import orders, risks, rules, without_talk

_SPACES = regex(r"[^\S\n]+")
_HIDDEN = "hidden characters"
CACHED = 1_024
"""Texts whose suspicions are cached: conversations of one project start with the same memories."""


def suspicious(text: str, own: bool = True) -> bool:
    """Whether `suspicions` finds anything."""
    return bool(suspicions(text, own))


@lru_cache(maxsize=CACHED)
def suspicions(text: str, own: bool = True) -> tuple[str, ...]:
    """What makes a text suspicious, in words; empty if nothing does.

    own: the user wrote it; from anybody else, acts that only the user may ask for are suspicious as well.
    """
    return tuple(dict.fromkeys(_suspicions(text, own)))


def _suspicions(text: str, own: bool) -> Iterator[str]:
    if PATTERNS[_HIDDEN].search(text) or is_disguised(text):
        yield _HIDDEN
    visible = plain(text)
    forms = [_SPACES.sub(" ", visible), " ".join(visible.split())]
    ordered = [without_talk(one) for one in forms]
    for name, pattern in PATTERNS.items():
        read = ordered if name == OVERRIDE else forms
        if name != _HIDDEN and any(pattern.search(one) for one in read):
            yield name
    lower = forms[0].lower()
    yield from orders(without_talk(lower))
    if not own:
        yield from risks(lower)


@cache
def rules_version() -> str:
    """Changes when a rule does: what was examined before is examined again then."""
    patterns = "\n".join(one.pattern for one in PATTERNS.values())
    return blake2b(f"{patterns}\n{rules()}".encode(), digest_size=8).hexdigest()
