"""Model questions: what the phases ask a language model, and how they read its answers."""

import math
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from lore.distil.base import Digest, Finding, Relation, Spoken, Topic
from lore.distil.segment import segments
from lore.engine.consolidate.trees import fingerprint
from lore.llm import prompts
from lore.llm.base import LanguageModel, NoAnswer, Prompt
from lore.llm.structured import ask
from lore.model import Memory
from lore.settings import ConsolidationSettings
from lore.text import CHARACTERS_PER_TOKEN, preview, tokens_in

TURN_CHARACTERS, RESULT_CHARACTERS = 4_000, 1_500
"""The most characters of a turn, and of a tool's turn; a longer one is cut in the middle."""
TAIL_SHARE = 0.25
"""The share of the end in a turn that is cut."""
MEMORY_CHARACTERS, STATEMENT_CHARACTERS, PLACE_CHARACTERS = 1_500, 600, 300
OVERVIEW_SOURCE_CHARACTERS = 10_000
"""The most characters of memories in one prompt; with its answer this fits a model of 4,000 tokens."""
PAIRS_PER_PROMPT = 8
POLL_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """The digest of a conversation; or the error that prevented it, and the answers so far, by prompt.

    A caller that passes these answers the next time does not ask for them again.
    """

    digest: Digest = field(default_factory=Digest)
    error: NoAnswer | None = None
    answers: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Index of each contradictory pair -> the reason. judged: the number of pairs judged before any error."""

    reasons: Mapping[int, str]
    judged: int
    error: NoAnswer | None = None


def extract(
    model: LanguageModel,
    session: Memory,
    turns: Sequence[Spoken],
    settings: ConsolidationSettings,
    answers: Mapping[str, Any],
) -> Extraction:
    """What a language model finds worth keeping, part by part; a part without an answer delays all parts.

    answers: to prompts of earlier calls.
    """
    parts = list(_parts(turns, settings))
    prompt_list = [prompts.extraction(map(_turn_text, part), _place(session)) for part in parts]
    keys = [fingerprint((prompt.system, str(prompt.schema), prompt.text)) for prompt in prompt_list]
    answers = {key: answers[key] for key in keys if key in answers}
    open_prompts = {
        key: (prompt, len(part))
        for key, prompt, part in zip(keys, prompt_list, parts, strict=True)
        if key not in answers
    }
    new_answers, errors = _ask_all(model, open_prompts, settings.llm.max_concurrency)
    answers |= new_answers
    if errors:  # an error that concerns every prompt says more than one that concerns a single prompt
        return Extraction(error=next((one for one in errors if one.general), errors[0]), answers=answers)
    return Extraction(digest=_digest([answers[key] for key in keys], parts))


def write_overview(model: LanguageModel, root: Memory, children: Sequence[Memory]) -> str:
    """A short text about a tree, from its most important children in order of time."""
    texts = [preview(f"{root.title} {root.content}", MEMORY_CHARACTERS)]
    left = OVERVIEW_SOURCE_CHARACTERS - len(texts[0])
    chosen: list[Memory] = []
    for child in sorted(children, key=lambda one: (-one.importance, -one.created_at, -one.alias)):
        left -= min(len(child.content), MEMORY_CHARACTERS)
        if left >= 0:
            chosen.append(child)
    in_order = sorted(chosen, key=lambda one: (one.created_at, one.alias))
    texts += [preview(child.content, MEMORY_CHARACTERS) for child in in_order]
    answer = ask(model, prompts.compression(texts), prompts.check_compression())
    return str(answer.data["overview"]).strip()


def find_insight(model: LanguageModel, roots: Sequence[Memory]) -> tuple[str, list[Memory]]:
    """What follows from several trees together, and from which of them; empty if nothing does."""
    texts = [preview(f"{root.title} {root.content}", MEMORY_CHARACTERS) for root in roots]
    data = ask(model, prompts.reflection(texts), prompts.check_reflection(len(texts))).data
    text = (data["insight"] or "").strip()
    return text, [root for number, root in enumerate(roots, 1) if text and number in data["sources"]]


def judge_pairs(model: LanguageModel, pairs: Sequence[tuple[Memory, Memory]]) -> Judgement:
    """Which of the pairs contradict each other, as far as the model answers."""
    reasons: dict[int, str] = {}
    for start in range(0, len(pairs), PAIRS_PER_PROMPT):
        part = pairs[start : start + PAIRS_PER_PROMPT]
        texts = [
            (preview(one.content, STATEMENT_CHARACTERS), preview(other.content, STATEMENT_CHARACTERS))
            for one, other in part
        ]
        try:
            data = ask(model, prompts.contradiction(texts), prompts.check_contradiction(len(part))).data
        except NoAnswer as error:
            return Judgement(reasons=reasons, judged=start, error=error)
        reasons |= {start + one["pair"] - 1: one["reason"].strip() for one in data["contradictions"]}
    return Judgement(reasons=reasons, judged=len(pairs))


def _parts(turns: Sequence[Spoken], settings: ConsolidationSettings) -> Iterator[Sequence[Spoken]]:
    """One part for each subject; a subject that is too long for a prompt is cut into similar parts."""
    for begin, end in pairwise([0, *segments(turns, max(1, settings.max_turns_per_extraction))]):
        sizes = [tokens_in(_turn_text(turn)) * CHARACTERS_PER_TOKEN for turn in turns[begin:end]]
        most = settings.max_chars_per_extraction or math.inf
        share = sum(sizes) / max(1, math.ceil(sum(sizes) / most))
        size, first = 0, begin
        for place, more in enumerate(sizes, begin):
            if place > first and size + more > min(most, share * 1.1):
                yield turns[first:place]
                size, first = 0, place
            size += more
        if first < end:
            yield turns[first:end]


def _place(session: Memory) -> str:
    """The title of a conversation, and where it took place."""
    fields = {"conversation": session.title}
    fields |= {name: str(session.metadata.get(name, "")) for name in ("folder", "branch")}
    return "; ".join(
        f"{name}: {preview(text, PLACE_CHARACTERS)}" for name, text in fields.items() if text.strip()
    )


def _turn_text(turn: Spoken) -> str:
    """A turn with its speaker and its day."""
    day = "" if turn.at is None else datetime.fromtimestamp(turn.at, UTC).strftime(", %Y-%m-%d")
    speaker = " ".join(word for word in (turn.role, turn.tool, "(failed)" if turn.failed else "") if word)
    return f"{speaker}{day}: {_cut(turn.text, RESULT_CHARACTERS if turn.role == 'tool' else TURN_CHARACTERS)}"


def _cut(text: str, most: int) -> str:
    """The beginning and the end of a long text, and the number of characters left out between them."""
    if len(text) <= most:
        return text
    last = int(most * TAIL_SHARE)
    first = most - last
    return f"{text[:first].rstrip()} […{len(text) - most:,} characters left out…] {text[-last:].lstrip()}"


def _ask_all(
    model: LanguageModel, open_prompts: Mapping[str, tuple[Prompt, int]], concurrency: int
) -> tuple[dict[str, Any], list[NoAnswer]]:
    """The answers and the errors; after the first error no further prompt is sent."""
    answers: dict[str, Any] = {}
    errors: list[NoAnswer] = []

    def answer(key: str) -> None:
        prompt, turns = open_prompts[key]
        try:
            if not errors:
                answers[key] = ask(model, prompt, prompts.check_extraction(turns)).data
        except NoAnswer as error:
            errors.append(error)

    with ThreadPoolExecutor(max(1, concurrency)) as pool:
        futures = [pool.submit(answer, key) for key in open_prompts]
        while wait(futures, POLL_SECONDS).not_done:
            pass  # a signal that reached another thread is acted upon when this one wakes up
    for future in futures:
        future.result()  # raises any other error
    return answers, errors


def _digest(answers: Sequence[Mapping[str, Any]], parts: Sequence[Sequence[Spoken]]) -> Digest:
    """The topics with findings in all parts, and the relations between topics of one part."""
    topics: list[Topic] = []
    relations: list[Relation] = []
    for answer, part in zip(answers, parts, strict=True):
        index: dict[int, int] = {}
        for number, data in enumerate(answer["topics"], 1):
            if data["items"]:
                index[number] = len(topics)
                topics.append(_topic(data, part))
        relations += [
            Relation(first=index[data["from"]], second=index[data["to"]], text=data["text"])
            for data in answer["relations"]
            if data["from"] in index and data["to"] in index
        ]
    return Digest(topics=tuple(topics), relations=tuple(relations))


def _topic(data: Mapping[str, Any], part: Sequence[Spoken]) -> Topic:
    findings = tuple(
        Finding(
            text=item["text"].strip(),
            type=item["type"],
            importance=item["importance"],
            turns=tuple(part[turn - 1].number for turn in dict.fromkeys(item["turns"])),
            entities=tuple(item["entities"]),
            replaces=(item["replaces"] or "").strip(),
        )
        for item in data["items"]
    )
    turns = tuple(sorted({turn for finding in findings for turn in finding.turns}))
    return Topic(
        title=data["title"].strip(), overview=data["overview"].strip(), findings=findings, turns=turns
    )
