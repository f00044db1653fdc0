"""Identifiers: ticket numbers, paths, function names, error codes. A question means them to the letter."""

import re
from collections.abc import Iterable, Mapping

SHORTEST, LONGEST = 3, 200
"""Characters of an identifier."""
MOST = 8
"""Identifiers of one question that are looked up."""
_EDGES = "\"'`´‘’“”()[]{}<>,;:!?.…*"
_QUANTITY = re.compile(r"[$€£#]?\d[\d.,:/-]*(?:[a-z]{1,2}|%)?", re.IGNORECASE)
"""A number, a date or an amount: 2023, 17.01.2024, 5pm, 20th. It is no identifier."""
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]")
_DOTTED = re.compile(r"[^\W_]{2}[.:]{1,2}[^\W_]{2}")


def identifiers(text: str) -> tuple[str, ...]:
    """The identifiers in a text, in lower case and in order, each once."""
    tokens = (token.strip(_EDGES).removesuffix("(") for token in text.split())
    found = (token.lower() for token in tokens if _is_identifier(token))
    return tuple(dict.fromkeys(found))[:MOST]


def _is_identifier(token: str) -> bool:
    if not SHORTEST <= len(token) <= LONGEST or _QUANTITY.fullmatch(token):
        return False
    letters = any(character.isalpha() for character in token)
    digits = any(character.isdigit() for character in token)
    path = token.count("/") > 1 or token.startswith(("/", "~/", "./"))
    return letters and (
        digits
        or path
        or "_" in token
        or "@" in token
        or _INNER_CAPITAL.search(token) is not None
        or _DOTTED.search(token) is not None
    )


def contains(text: str, identifier: str) -> bool:
    """Whether a lower-case text has the identifier as a whole, not as a part of a longer one."""
    start = text.find(identifier)
    while start >= 0:
        end = start + len(identifier)
        if not _continues(text, start - 1) and not _continues(text, end):
            return True
        start = text.find(identifier, start + 1)
    return False


def _continues(text: str, at: int) -> bool:
    return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_")


def exact(wanted: Iterable[str], texts: Mapping[str, str]) -> dict[str, float]:
    """id -> the share of the identifiers that each text has, 0 to 1. Rare ones count more.

    texts: id -> lower-case text of every candidate. Texts without any identifier are left out.
    """
    holders = {name: [id for id, text in texts.items() if contains(text, name)] for name in wanted}
    rarity = {name: 1 - len(ids) / (len(texts) + 1) for name, ids in holders.items() if ids}
    shares: dict[str, float] = {}
    for name, value in rarity.items():
        for id in holders[name]:
            shares[id] = shares.get(id, 0.0) + value / len(rarity)
    return shares
