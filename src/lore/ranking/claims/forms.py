"""Forms: the ways in which English states one value of one attribute, or nothing when in doubt."""

import re
from collections.abc import Iterator
from dataclasses import replace

from lore.ranking.claims.changes import affirmed, changes, denied
from lore.ranking.claims.nouns import Description, description, has_name, is_name, is_subject, split
from lore.ranking.claims.phrases import ANY, PHRASES, Phrase
from lore.ranking.claims.sentence import Claim, Sentence, is_statement, placed, stated
from lore.ranking.claims.values import TIMES, kind_of, plain
from lore.ranking.claims.words import (
    ADJECTIVES,
    ATTRIBUTES,
    CATEGORIES,
    LABELS,
    MADE_ONCE,
    ONGOING,
    REMARKS,
    ROLES,
)


def read(text: str, *, opening: bool) -> list[Claim]:
    """The claims of one sentence; `opening` if nothing stands before it."""
    line = " ".join(text.replace("’", "'").replace("**", "").replace("`", "").split()).rstrip(" .!;")
    if text.rstrip().endswith("?") or not is_statement(line):
        return []
    sentence = placed(line, opening)
    if negative := denied(sentence):
        return negative
    found = [*changes(sentence), *_described(sentence), *_phrased(sentence), *_used(sentence)]
    return [*found, *affirmed(sentence)]


_SETTING = re.compile(r"^([A-Za-z][\w.\[\]-]*(?: [a-z][\w-]*){0,3}) ?(?:=|:) ?(\S.*)$")
_COMPUTED = re.compile(r"[({\[,:?]$|\w\(")
_PATH = re.compile(r"\w+(?:\.\w+)+|\w[^\W_]*_\w+|[A-Z][A-Z0-9_]{2,}")


def is_setting(line: str) -> bool:
    return bool(_SETTING.match(line))


def setting(line: str, alone: bool) -> list[Claim]:
    """`key: value` and `key = value`: a qualified key, or a plain word if it is the whole memory."""
    match = _SETTING.match(line.strip(" `*"))
    if not match or "==" in line or "=>" in line or match.group(2).startswith("//"):
        return []
    name, value = match.groups()
    if name.lower().split()[0] in LABELS or len(value.split()) > 4 or _COMPUTED.search(value):
        return []
    plain_word = alone and (name.islower() or any(map(str.isdigit, value)))
    return [Claim(key=f"{plain(name)} ·", value=value)] if plain_word or _PATH.fullmatch(name) else []


_COPULA = re.compile(r" (is|was|are|were|has been|became) (?=\S)")


def _described(sentence: Sentence) -> Iterator[Claim]:
    """`The N of X is V`, `X's N is V`, and the other way round: `V is the N of X`, `V is X's N`."""
    for match in _COPULA.finditer(sentence.text):
        left, verb, right = sentence.text[: match.start()], match.group(1), sentence.text[match.end() :]
        if verb in {"are", "were"}:
            return
        if (what := description(left)) and (claim := _identified(what, verb, right, sentence)):
            yield claim
            return
        if (what := description(right)) and (claim := _held(what, verb, left, sentence)):
            yield claim
            return


def _identified(what: Description, verb: str, said: str, sentence: Sentence) -> Claim | None:
    value, tail = split(said)
    if not value or what.several or not (what.owned or sentence.opening):
        return None
    named = is_name(value)
    if _is_remark(value):
        return None
    property_like = what.a_property or (what.singled and (what.owned or what.set_apart))
    if not named and not (property_like and _is_noun(value, tail)):
        return None
    sure = what.owned or what.a_property or what.noun in ROLES or what.singled
    if not sure and not named:
        return None
    shape = "" if what.noun in ATTRIBUTES or (named and not value[0].isdigit()) else "#"
    past = verb == "was" and what.noun not in MADE_ONCE
    return stated(f"{what.name} ·{shape}", value, tail, sentence, past=past, many=not sure)


def _is_remark(value: str) -> bool:
    first, *rest = value.split()
    return first in REMARKS or (
        first in ADJECTIVES and (not rest or rest[0] in {"and", "but", "or", "enough"})
    )


def _is_noun(value: str, tail: str) -> bool:
    """As far as its ending tells: `staging` is a name, `rising` and `rising fast` are no values."""
    words = value.split()
    verbal = words[0].endswith(("ed", "ing", "ly")) and (tail != "" or len(words) > 1 or words[0] in ONGOING)
    return not verbal and not value.endswith(("able", "ible", "ful", "ous", "less")) and len(words) <= 4


def _held(what: Description, verb: str, holder: str, sentence: Sentence) -> Claim | None:
    """A person or thing said to hold a post of which there is one."""
    told = what.owned or (what.related and sentence.opening)
    if what.noun not in ROLES or not told or not is_subject(holder, sentence.opening):
        return None
    if not is_name(holder) or holder.lower().startswith(("the ", "my ", "our ")) or holder in {"I", "We"}:
        return None
    past = verb == "was" and what.noun not in MADE_ONCE
    return stated(f"{what.name} ·", holder, "", sentence, past=past)


_ACTIVE = re.compile(r"^(?:We|we|I) (host|track|manage|deploy|log|cache|archive|handle|store|keep) (\S.*?)"
                     r" (in|on|with|to|at|via|through) (\S.*)$")  # fmt: skip


def _passive(match: re.Match[str]) -> str:
    """`We host the wiki on V` says that the wiki is hosted on V."""
    verb, what, preposition, value = match.groups()
    done = {"keep": "kept", "log": "logged"}.get(verb) or f"{verb.removesuffix('e')}ed"
    return f"{what[0].upper()}{what[1:]} is {done} {preposition} {value}"


def _phrased(sentence: Sentence) -> Iterator[Claim]:
    """`X lives in V`, `X was founded by V`: the verbs of which a subject has one object at a time."""
    sentence = replace(sentence, text=_ACTIVE.sub(_passive, sentence.text))
    if not ANY.search(sentence.text):
        return
    for phrase in PHRASES:
        match = phrase.pattern.search(sentence.text)
        if not match or not is_subject(left := sentence.text[: match.start()], sentence.opening):
            continue
        if phrase.event and left.lower().startswith(("the ", "my ", "our ")) and not has_name(left):
            return
        if claim := _valued(phrase, match, left, sentence):
            yield claim
        return


_INDEFINITE = re.compile(r"^an? ")


def _valued(phrase: Phrase, match: re.Match[str], left: str, sentence: Sentence) -> Claim | None:
    said = match.string[match.end() :]
    category = re.match(r"the (\w+) of (?=\S)", said)
    kind = CATEGORIES.get(category.group(1)) if category else None
    if category and kind is not None:
        said = said[category.end() :]
    value, tail = split(_INDEFINITE.sub("", said) if phrase.indefinite else said)
    if not value or (kind is None and _is_remark(value)):
        return None
    if (value[0].islower() and value.split()[0].endswith("ly")) or not _fits(phrase, value, kind):
        return None
    if phrase.sorted_by_kind or kind:
        kind = kind_of(value) if kind is None else kind
    verb = phrase.attribute or plain(match.group()).replace("are ", "is ")
    attribute = f"{verb} {kind or ''}".rstrip()
    tail = "" if kind_of(value) in TIMES else tail
    key = f"{plain(left)} · {attribute}" if attribute != "=" else f"{plain(left)} ·"
    return stated(key, value, tail, replace(sentence, when=""))


def _fits(phrase: Phrase, value: str, category: str | None) -> bool:
    """Whether a phrase means what we think with such a value."""
    kind = kind_of(value)
    if phrase.timed:
        return kind in TIMES
    if phrase.telling:
        return category is not None or kind not in {"", "word", "number"}
    return not phrase.named or category is not None or kind != "word"


_USE_FOR = re.compile(r"^(\S.*?) (?:use|uses|am using|is using|are using) (\S.*?) (for|as) (\S.*)$")
_ONE = re.compile(r"(?:the|our|my) ")
_VERSION = re.compile(
    r"^(\S.*?) (?:use|uses|runs?|runs? on|requires?|targets?|is on|are on|is running|are running"
    r"|is built with|is pinned to|is using|are using) ([A-Za-z][\w.+#-]*(?: [A-Z]\w*)?) v?(\d+(?:\.\w+)*)$"
)


def _used(sentence: Sentence) -> Iterator[Claim]:
    """`X uses V for P` may have neighbours; `X uses V as our P` and the version of a named thing may not."""
    if (use := _USE_FOR.match(sentence.text)) and is_subject(use.group(1), sentence.opening):
        value, _ = split(use.group(2))
        if value:
            yield stated(
                f"{plain(use.group(1))} · uses {use.group(3)} {plain(use.group(4))}",
                value,
                "",
                sentence,
                many=use.group(3) == "for" or not _ONE.match(use.group(4)),
            )
    version = _VERSION.match(sentence.text)
    if version and is_subject(version.group(1), sentence.opening):
        owner, name, number = version.groups()
        if name[0].isupper() or "." in number:
            yield stated(f"{plain(owner)} · version of {plain(name)}", number, "", sentence)
