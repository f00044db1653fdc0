"""Changes: what a sentence says no longer holds, and what holds instead."""

import re
from collections.abc import Iterator
from dataclasses import replace

from lore.ranking.claims.nouns import description, has_name, is_subject, split
from lore.ranking.claims.sentence import Claim, Sentence, stated
from lore.ranking.claims.values import TIMES, kind_of, plain
from lore.ranking.claims.words import POINTING

LONGEST_DENIABLE = 12

_SWITCHED = re.compile(
    r"^(\S.*?) (?:has |have )?(?:switched|moved|migrated|changed|upgraded) from (\S.*?) to (\S.*?)"
    r"(?: for (\S.*))?$"
)
_REPLACED = re.compile(r"^(\S.*?) (?:has |have )?replaced (\S.*?) (?:with|by) (\S.*)$")
_INSTEAD = re.compile(r"^(\S.*?) (\S+) (\S.*?) instead of (\S.*)$")
_MOVED = re.compile(
    r"^(I|[A-Z]\S*(?: [A-Z]\S*){0,3}) (?:has |have )?(?:just |recently )?moved to ([A-Z]\S.*)$"
)
_RESET = re.compile(
    r"^(\S.*?) (?:was|is|has been|have been|got|were) (?:changed|updated|increased|reduced|raised|lowered|set"
    r"|switched|moved|bumped|upgraded|downgraded|postponed|rescheduled|extended|decreased)"
    r"(?: from \S.*?)? to (\S.*)$"
)
_RENAMED = re.compile(r"^(\S.*?) (?:was|is|has been|got) renamed(?: from \S.*?)? to (\S.*)$")
_LEFT_BEHIND = ("use {}", "uses {}", "live in {}", "is based in {}", "is located in {}", "work at {}",
                "is on {}", "work for {}", "is headquartered in {}")  # fmt: skip


def changes(sentence: Sentence) -> Iterator[Claim]:
    """What a sentence about a change says of the time after it, and of the time before."""
    now = replace(sentence, changed=True)
    if (switched := _SWITCHED.match(sentence.text)) and is_subject(switched.group(1), sentence.opening):
        who, before, _, purpose = switched.groups()
        for form in () if purpose else _LEFT_BEHIND:
            yield Claim(key=_skeleton(f"{who} {form.format(before)}"), holds=False)
        yield Claim(key=_skeleton(f"{who} use {before} for {purpose}"), holds=False)
    if (replaced := _REPLACED.match(sentence.text)) and is_subject(replaced.group(1), sentence.opening):
        yield Claim(key=_skeleton(f"{replaced.group(1)} use {replaced.group(2)}"), holds=False)
    if (instead := _INSTEAD.match(sentence.text)) and is_subject(instead.group(1), sentence.opening):
        yield Claim(key=_skeleton(f"{instead.group(1)} {instead.group(2)} {instead.group(4)}"), holds=False)
    if (moved := _MOVED.match(sentence.text)) and is_subject(moved.group(1), sentence.opening):
        value, _ = split(moved.group(2))
        yield stated(f"{plain(moved.group(1))} · place {kind_of(value)}".rstrip(), value, "", now)
    if (renamed := _RENAMED.match(sentence.text)) and is_subject(renamed.group(1), sentence.opening):
        yield stated(f"{plain(renamed.group(1))} · named", renamed.group(2), "", now)
    if (reset := _RESET.match(sentence.text)) and (what := description(reset.group(1))):
        value, tail = split(reset.group(2))
        if value and (what.owned or sentence.opening):
            scheduled = f" scheduled {kind_of(value)}" if kind_of(value) in TIMES else ""
            yield stated(f"{what.name} ·{scheduled}", value, "" if scheduled else tail, now)


_NO_LONGER = re.compile(r"\bno longer\b ?| ?\b(?:any ?more|any longer)\b")
_NOT = re.compile(
    r"\b(?:do|does) not |\b(?:don't|doesn't) |(?<=is) not(?= )|(?<=are) not(?= )|(?<=am) not(?= )"
)
_SHORT_NOT = re.compile(r"\b(is|are)n't\b")
_NEGATIVE = re.compile(r"\b(?:not|never|no|none|nothing|nobody|without|hardly|barely|neither|nor)\b|n't\b")
_USED_TO = re.compile(r"^(\S.*?) used to (\S.*)$")


def denied(sentence: Sentence) -> list[Claim]:
    """`X does not use A`, `X no longer uses A`, `X used to use A`: the plain sentence, denied."""
    text = sentence.text
    if (used_to := _USED_TO.match(text)) and is_subject(used_to.group(1), sentence.opening):
        verb = re.sub(r"^be ", "is ", used_to.group(2))
        return [Claim(key=_skeleton(f"{used_to.group(1)} {verb}"), holds=False, past=True)]
    if not _NEGATIVE.search(text):
        return []
    plainly = _NOT.sub("", _NO_LONGER.sub("", _SHORT_NOT.sub(r"\1 not", text)))
    if plainly == text or _NEGATIVE.search(plainly):
        return [Claim(key="", holds=False)]
    return [_plainly(plainly, sentence, holds=False)]


def affirmed(sentence: Sentence) -> list[Claim]:
    """The sentence as a whole, which a later one may deny."""
    claim = _plainly(sentence.text, sentence, holds=True)
    return [claim] if claim.key else []


def _plainly(text: str, sentence: Sentence, holds: bool) -> Claim:
    words = text.split()
    start = next((at for at in range(1, min(3, len(words))) if words[at][0].islower()), 1)
    fit = len(words) <= LONGEST_DENIABLE and is_subject(" ".join(words[:start]), sentence.opening)
    if (
        not fit
        or POINTING & set(plain(text).split())
        or (words[0] in {"The", "the"} and not sentence.opening and not has_name(text))
    ):
        return Claim(key="", holds=holds)
    return Claim(key=_skeleton(text), holds=holds, when=sentence.when)


def _skeleton(text: str) -> str:
    """The words of a sentence without what the person of the verb adds."""
    return "~ " + " ".join(_stem(word) for word in plain(text).split())


def _stem(word: str) -> str:
    if word in {"am", "is", "are", "im"}:
        return "be"
    if word in {"has", "have"}:
        return "have"
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "oes", "sses")):
        return word[:-2]
    return (
        word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
    )
