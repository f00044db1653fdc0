"""asking: what the phases ask a language model, and what they make of its answers."""

import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import pairwise
from typing import Any

from lore.distil.base import Digest, Finding, Relation, Spoken, Topic
from lore.distil.segment import segments
from lore.llm import checking, prompts
from lore.llm.base import LanguageModel, NoAnswer, Prompt
from lore.llm.structured import ask
from lore.model import Memory
from lore.text import CHARACTERS_PER_TOKEN, preview, tokens_in

LONGEST_TURN, LONGEST_RESULT = 4_000, 1_500
"""Characters of a turn, and of a tool's, that are told; of what is longer, its beginning and its end."""
LAST_PART = 0.25
LONGEST_MEMORY, LONGEST_STATEMENT = 1_500, 600
MOST_MEMORIES = 10_000
"""Characters of memories in one question; with its answer, that fits a model that reads 4,000 tokens."""
PAIRS_AT_ONCE = 8
LONGEST_PLACE = 300
GLANCE_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much of a conversation goes into one question, and how many questions are asked at once."""

    turns: int
    characters: int
    at_once: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """What a conversation amounts to; or what kept that from being known, and the answers so far, by name.

    Who brings these answers the next time does not have to ask for them again.
    """

    digest: Digest = field(default_factory=Digest)
    trouble: NoAnswer | None = None
    answers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Which pairs contradict each other, by their places, and why. pairs: how many were judged so far."""

    reasons: Mapping[int, str]
    pairs: int
    trouble: NoAnswer | None = None


def extracted(
    model: LanguageModel, session: Memory, spoken: Sequence[Spoken], limits: Limits, known: Mapping[str, Any]
) -> Extracted:
    """What a language model finds worth keeping, part by part; where one part has no answer, all wait."""
    parts = list(_parts(spoken, limits))
    questions = [prompts.extraction(map(_told, part), _about(session)) for part in parts]
    names = [_name(question) for question in questions]
    answers = {name: known[name] for name in names if name in known}
    open = {
        name: (question, len(part))
        for name, question, part in zip(names, questions, parts, strict=True)
        if name not in answers
    }
    new, troubles = _asked(model, open, limits.at_once)
    answers |= new
    if troubles:
        return Extracted(trouble=_worst(troubles), answers=answers)
    digest = Digest()
    for name, part in zip(names, parts, strict=True):
        digest = _joined(digest, _digest(answers[name], part))
    return Extracted(digest=digest)


def overview(model: LanguageModel, root: Memory, children: Sequence[Memory]) -> str:
    """What a tree says in short: the most important of what hangs below it, in the order in which it came."""
    texts = [preview(f"{root.title} {root.content}", LONGEST_MEMORY)]
    left = MOST_MEMORIES - len(texts[0])
    chosen: list[Memory] = []
    for child in sorted(children, key=lambda one: (-one.importance, -one.created_at, -one.alias)):
        left -= min(len(child.content), LONGEST_MEMORY)
        if left >= 0:
            chosen.append(child)
    in_order = sorted(chosen, key=lambda one: (one.created_at, one.alias))
    texts += [preview(child.content, LONGEST_MEMORY) for child in in_order]
    answer = ask(model, prompts.compression(texts), checking.of_compression())
    return str(answer.data["overview"]).strip()


def insight(model: LanguageModel, roots: Sequence[Memory]) -> tuple[str, list[Memory]]:
    """What follows from several trees together, and from which of them; empty if nothing does."""
    texts = [preview(f"{root.title} {root.content}", LONGEST_MEMORY) for root in roots]
    data = ask(model, prompts.reflection(texts), checking.of_reflection(len(texts))).data
    text = (data["insight"] or "").strip()
    return text, [root for place, root in enumerate(roots, 1) if text and place in data["sources"]]


def contradictory(model: LanguageModel, pairs: Sequence[tuple[Memory, Memory]]) -> Judged:
    """Which of the pairs contradict each other; as many as could be judged."""
    found: dict[int, str] = {}
    for start in range(0, len(pairs), PAIRS_AT_ONCE):
        part = pairs[start : start + PAIRS_AT_ONCE]
        texts = [(_statement(one), _statement(other)) for one, other in part]
        try:
            data = ask(model, prompts.contradiction(texts), checking.of_contradiction(len(part))).data
        except NoAnswer as trouble:
            return Judged(reasons=found, pairs=start, trouble=trouble)
        found |= {start + one["pair"] - 1: one["reason"].strip() for one in data["contradictions"]}
    return Judged(reasons=found, pairs=len(pairs))


def _parts(spoken: Sequence[Spoken], limits: Limits) -> Iterator[Sequence[Spoken]]:
    """By subject, and where one is too long for a question, in parts of about the same length."""
    for begin, end in pairwise([0, *segments(spoken, max(1, limits.turns))]):
        sizes = [tokens_in(_told(one)) * CHARACTERS_PER_TOKEN for one in spoken[begin:end]]
        most = limits.characters or math.inf
        share = sum(sizes) / max(1, math.ceil(sum(sizes) / most))
        size, first = 0, begin
        for place, more in enumerate(sizes, begin):
            if place > first and size + more > min(most, share * 1.1):
                yield spoken[first:place]
                size, first = 0, place
            size += more
        if first < end:
            yield spoken[first:end]


def _about(session: Memory) -> str:
    """What is said of the whole conversation: its title, and where it took place."""
    told = {"conversation": session.title}
    told |= {name: str(session.metadata.get(name, "")) for name in ("folder", "branch")}
    return "; ".join(f"{name}: {preview(text, LONGEST_PLACE)}" for name, text in told.items() if text.strip())


def _told(one: Spoken) -> str:
    """A turn with its speaker and its day."""
    day = "" if one.at is None else datetime.fromtimestamp(one.at, UTC).strftime(", %Y-%m-%d")
    speaker = " ".join(word for word in (one.role, one.tool, "(failed)" if one.failed else "") if word)
    return f"{speaker}{day}: {_cut(one.text, LONGEST_RESULT if one.role == 'tool' else LONGEST_TURN)}"


def _cut(text: str, most: int) -> str:
    """Beginning and end, and between them how much is missing."""
    if len(text) <= most:
        return text
    last = int(most * LAST_PART)
    first = most - last
    return f"{text[:first].rstrip()} […{len(text) - most:,} characters left out…] {text[-last:].lstrip()}"


def _statement(memory: Memory) -> str:
    return preview(memory.content, LONGEST_STATEMENT)


def _name(prompt: Prompt) -> str:
    """The same for the same question: instructions, shape and data."""
    told = "\0".join((prompt.system, str(prompt.schema), prompt.text))
    return blake2b(told.encode(errors="replace"), digest_size=16).hexdigest()


def _asked(
    model: LanguageModel, questions: Mapping[str, tuple[Prompt, int]], at_once: int
) -> tuple[dict[str, Any], list[NoAnswer]]:
    """The answers, and what went wrong; once something has, no further question is asked."""
    answers: dict[str, Any] = {}
    troubles: list[NoAnswer] = []

    def answer(name: str) -> None:
        prompt, turns = questions[name]
        try:
            if not troubles:
                answers[name] = ask(model, prompt, checking.of_extraction(turns)).data
        except NoAnswer as trouble:
            troubles.append(trouble)

    with ThreadPoolExecutor(max(1, at_once)) as pool:
        asking = [pool.submit(answer, name) for name in questions]
        while wait(asking, GLANCE_SECONDS).not_done:
            pass  # a signal that reached another thread is acted upon when this one wakes up
    for asked in asking:
        asked.result()  # whatever else went wrong comes out here
    return answers, troubles


def _worst(troubles: Sequence[NoAnswer]) -> NoAnswer:
    """What would have kept any question from being answered says more than what was wrong with one."""
    return next((trouble for trouble in troubles if trouble.general), troubles[0])


def _digest(answer: Mapping[str, Any], part: Sequence[Spoken]) -> Digest:
    """A topic without anything worth keeping is none."""
    topics = [_topic(told, part) for told in answer["topics"]]
    places = [place for place, topic in enumerate(topics) if topic.findings]
    seats = {place: seat for seat, place in enumerate(places)}
    ties = [
        Relation(first=seats[tie["from"] - 1], second=seats[tie["to"] - 1], text=tie["text"])
        for tie in answer["relations"]
        if tie["from"] - 1 in seats and tie["to"] - 1 in seats
    ]
    return Digest(topics=tuple(topics[place] for place in places), relations=tuple(ties))


def _topic(told: Mapping[str, Any], part: Sequence[Spoken]) -> Topic:
    findings = [
        Finding(
            text=item["text"].strip(),
            type=item["type"],
            importance=item["importance"],
            turns=tuple(part[turn - 1].number for turn in dict.fromkeys(item["turns"])),
            entities=tuple(item["entities"]),
            replaces=(item["replaces"] or "").strip(),
        )
        for item in told["items"]
    ]
    turns = tuple(sorted({turn for finding in findings for turn in finding.turns}))
    return Topic(
        title=told["title"].strip(), overview=told["overview"].strip(), findings=tuple(findings), turns=turns
    )


def _joined(one: Digest, other: Digest) -> Digest:
    behind = len(one.topics)
    moved = (replace(tie, first=tie.first + behind, second=tie.second + behind) for tie in other.relations)
    return Digest(topics=(*one.topics, *other.topics), relations=(*one.relations, *moved))
