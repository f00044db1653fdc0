"""Prompts: the part of a prompt for which memories may help."""

import re

from lore.distil.own import own_sentences
from lore.patterns import regex
from lore.ranking.evidence import identifiers
from lore.text import terms

LONGEST = 1_000
"""Characters of a prompt that are searched for."""
ONE_LINE = 300
"""Characters of a prompt of one line that is taken as it is."""
FEWEST_WORDS = 2
"""Telling words that a prompt without an identifier needs."""
_MACHINE = regex(r"[/!][\w:-]+(?:\s|\Z)|<[a-z]{1,20}(?:[-_][a-z]{1,20}){1,4}\b|\[(?:request|image)\b", re.I)
"""A command of the client, a message in its tags, or a mark that it left."""
_OUTPUT = regex(
    r"^[ \t]*+(?:File \"|Traceback \(|\[?\d{4}-\d\d-\d\d|\[?\d\d:\d\d:\d\d|npm (?:ERR|error|warn)|error\[|-->"
    r"|\d{0,6}[ \t]{0,6}\||at [\w.$<>]{1,80}[ (]|[$>] |@@ "
    r"|\[?(?:INFO|WARN(?:ING)?|ERROR|DEBUG|FATAL|FAILED|PASSED)\b).*$",
    re.MULTILINE,
)
"""A line of a log, a trace or a terminal."""
_EMPTY = frozenset(
    """yes yeah yep no nope ok okay sure thanks thank please go ahead continue proceed great good perfect nice
    right correct done next again try retry stop wait fine cool lgtm look looks hello hi hey morning evening
    think works work well hm hmm let lets keep going ready sorry sounds exactly true""".split()
)
"""Words of greetings and acknowledgements."""


def question_of(prompt: str) -> str:
    """The user's own words in a prompt; empty where no memory can help.

    That is so for commands and messages of the client, pasted text without a word about it, greetings and
    acknowledgements.
    """
    text = prompt.strip()
    if _MACHINE.match(text):
        return ""
    whole = len(text) <= ONE_LINE and "\n" not in text
    own = (text if whole else " ".join(own_sentences(_OUTPUT.sub("", text))))[:LONGEST]
    telling = set(terms(own)) - _EMPTY
    return own if len(telling) >= FEWEST_WORDS or identifiers(own) else ""
