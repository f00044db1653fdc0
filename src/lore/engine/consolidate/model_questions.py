"""Model questions: what the phases ask a language model, and how they read its answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lore.llm import prompts
from lore.llm.base import LanguageModel, NoAnswer
from lore.llm.structured import ask
from lore.model import Memory
from lore.text import preview

MEMORY_CHARACTERS, STATEMENT_CHARACTERS = 1_500, 600
OVERVIEW_SOURCE_CHARACTERS = 10_000
"""The most characters of memories in one prompt; with its answer this fits a model of 4,000 tokens."""
PAIRS_PER_PROMPT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Index of each contradictory pair -> the reason. judged: the number of pairs judged before any error."""

    reasons: Mapping[int, str]
    judged: int
    error: NoAnswer | None = None


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
