"""weight: add up the signs that a text orders an agent to do what only the user may ask for.

A report is no order, and an order that neither reaches outside nor lowers a guard is harmless. So a sentence
counts only for what it orders, and what it touches beside that: a host, a secret, a protection that goes, a
place that decides what runs, the user who shall not know. No single sign is enough.
"""

from collections.abc import Set
from functools import lru_cache

from lore.patterns import regex
from lore.quarantine.addresses import ADDRESS, PAYEE, PLAIN_HOST, PROGRAM
from lore.quarantine.classes import words_of

LIMIT = 6
"""The weight from which a text waits for the user."""
COMMAND = 5
"""The weight of a command that is dangerous in itself, for two of them at most."""
WEIGHTS = {
    "order": 2,
    "imperative": 2,
    "wish": 1,
    "address": 2,
    "plain host": 2,
    "secret": 1,
    "out": 1,
    "in": 1,
    "sent out": 2,
    "secret out": 3,
    "power": 3,
    "startup": 1,
    "reader": 1,
    "private": 3,
    "asks": -4,
    "weak": 3,
    "secret open": 3,
    "overruled": 3,
    "payee": 4,
    "script": 1,
    "guard lowered": 5,
    "tests removed": 5,
    "hide": 4,
    "hide in report": 2,
    "hush": 2,
    "unasked": 4,
    "blanket": 2,
    "note": 1,
    "note outranked": 6,
    "authority": 2,
}
_PAIRS = {
    "guard lowered": {"lower", "guard"},
    "tests removed": {"lower", "test", "fails"},
    "sent out": {"out", "address"},
    "secret out": {"out", "secret"},
    "secret open": {"secret", "weak"},
    "overruled": {"anyway", "user"},
    "blanket": {"unasked", "everything"},
    "hide in report": {"hide", "report"},
    "note outranked": {"note", "above"},
}
"""Signs that stand in one sentence and mean more together."""
_NAMES = (
    "order wish guard lower out in power startup hide unasked note above authority secret past report user"
    " everything test fails reader weak anyway private asks"
).split()
_ORDERS = {"order", "reader", "imperative", "unasked", "hide", "note outranked"}
"""One of these there must be."""
_KEEPS = {"hide", "unasked", "wish", "secret", "address", "plain host", "note", "authority"}
"""What counts in a sentence that reports or forbids, too."""
_END = regex(r"(?<=[.!?;])\s+|[。！？；\n]+")
_CLAUSE = regex(
    r"[,:;()、，：–—\"`]\s?|\. ?|[先再并请就] ?|\b(?:and|then|und|dann|et|puis|y|luego|e|poi|и|затем|en|ve"
    r"|please|first|also|just|simply|instead|always|immer|toujours|siempre|sempre|всегда) "
)
_KEY_FILE = regex(
    r"\.(?:pem|p12|pfx|jks|keystore|kdbx|key)\b|\w{1,20}(?:passwort|schlüssel|kennwort|passwörter)\b"
)
_TEMPLATE = regex(r"\.env\.(?:example|sample|template|dist)\b")
_FORMS = regex(
    r"\b\w{2,20}-(?:le|la|les|lui|moi|o|a|os|as|lhe)\b|\b\w{2,12}[áéíó]\w{1,6}(?:l[aeo]s?|sel[ao])\b"
    r"|\b\w{3,20}(?:йте|ите|ьте|ай|яй|уй)\b|\b\w{3,20}(?:cie|aj|uj|ij|yj"
    r"|malı|meli|ayın|eyin|ınız|iniz)\b"
    r"|[가-힣](?:라|시오|세요)(?=[.!]|$)"
)
"""Endings of imperatives, some with a pronoun: apague-as, mándala, отправляй, wyłączaj."""
CACHED = 1_024
"""Sentences whose signs are kept."""


def weight(text: str, commands: int) -> int:
    """How much an order to an agent, and a harmful one, a text looks like. text: plain, lower case, single
    spaces. commands: kinds of dangerous commands in it."""
    text = _TEMPLATE.sub(" ", text)
    signs = frozenset[str]().union(*map(signs_of, _END.split(text)))
    if not signs & _ORDERS:
        return 0
    return sum(WEIGHTS.get(sign, 0) for sign in signs) + COMMAND * min(commands, 2)


@lru_cache(maxsize=CACHED)
def signs_of(sentence: str) -> Set[str]:
    """What a sentence orders and touches."""
    found = {name for name in _NAMES if words_of(name, sentence).search(sentence)}
    found |= {name for name, one in _PATTERNS.items() if one.search(sentence)}
    denied = words_of("never", sentence).search(sentence)
    unasked = words_of("unasked", sentence).search(sentence)
    if denied and unasked and denied.end() <= unasked.start():
        found -= {"unasked", "lower"}
    if denied and words_of("mention", sentence).search(sentence):
        found |= {new for new, beside in (("hide", "report"), ("hush", "user")) if beside in found}
    if _is_imperative(sentence):
        found.add("imperative")
    found |= {pair for pair, parts in _PAIRS.items() if parts <= found}
    if found & {"hide", "unasked"}:
        return found
    return (
        found & _KEEPS
        if ("past" in found and not _begins(sentence)) or _forbids(sentence, "imperative" in found)
        else found
    )


def _is_imperative(sentence: str) -> bool:
    verbs = words_of("imperative", sentence)
    clauses = (one.lstrip() for one in _CLAUSE.split(sentence))
    return bool(_FORMS.search(sentence)) or any(verbs.match(one) and one[:6] != "log in" for one in clauses)


def _begins(sentence: str) -> bool:
    """Whether a sentence begins with an imperative."""
    return bool(words_of("imperative", sentence).match(sentence))


def _forbids(sentence: str, ordered: bool) -> bool:
    """Whether a sentence begins with what must not be, or orders nothing else."""
    clauses = [one.lstrip() for one in _CLAUSE.split(sentence)][: 1 if ordered else None]
    return any(words_of("protect", sentence).match(one) for one in clauses)


_PATTERNS = {
    "address": ADDRESS,
    "plain host": PLAIN_HOST,
    "secret": _KEY_FILE,
    "payee": PAYEE,
    "script": PROGRAM,
}
