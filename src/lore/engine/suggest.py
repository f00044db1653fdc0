"""suggest: links that memories might have, for one memory or for all (a sweep), and their review."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lore.engine.context import Context
from lore.engine.embeddings import Embeddings
from lore.engine.find_duplicate import KNOWLEDGE
from lore.engine.link import new_link
from lore.errors import NotFound
from lore.model import Filter, Memory, Tie, new_id
from lore.ranking import fuse
from lore.ranking.decay import DAY_SECONDS
from lore.ranking.relate import closeness_in_time, relatedness, shared_names
from lore.settings import Tuning
from lore.store import Reader, Writer
from lore.store import Suggestion as Suggestion  # for the surfaces, which never see the store
from lore.store.values import SuggestionFilter, ids_of
from lore.text import names_in, preview, terms
from lore.vectors import Vector

SWEPT = frozenset({"note", "fragment"})
"""The kinds that a sweep looks at; observations have a place in their entity already."""
RELATION = "references"
"""The type of a link that is made for likeness alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A memory that might be linked to `source`, and why: each signal is 0 to 1."""

    source: str
    target: str
    score: float
    signals: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestions:
    """The best suggestions that wait for a review, and the number of all."""

    best: tuple[Suggestion, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """The outcome of one suggestion. why: the reason why it was skipped."""

    id: str
    outcome: Literal["accepted", "rejected", "skipped"]
    link: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """The memories that a sweep looked at, its new suggestions, and those that expired without a review."""

    scanned: int = 0
    suggested: int = 0
    expired: int = 0


def recommend(
    id: str, reader: Reader, embeddings: Embeddings, *, tuning: Tuning, limit: int
) -> list[Candidate]:
    """The memories most related to this one that are not linked to it yet; changes nothing."""
    source = reader.get([id]).get(id)
    if source is None:
        raise NotFound(f"unknown memory {preview(id, 80)}")
    vector = reader.vectors(embeddings.model, [id]).get(id)
    if vector is None:
        vectors = embeddings.embed_texts([_text_of(source)])
        vector = None if vectors is None else vectors[0]
    return [] if vector is None else _related(source, vector, reader, embeddings, tuning)[:limit]


def sweep(ids: Sequence[str], context: Context, *, embeddings: Embeddings, tuning: Tuning) -> Swept:
    """Suggest links for memories with a vector, except for pairs that were suggested or reviewed before."""
    existing = context.reader.suggestions(SuggestionFilter(touching=tuple(ids)))
    earlier = {(old.source, old.target) for old in existing}
    found: dict[tuple[str, str], Candidate] = {}
    scanned = 0
    for id in ids:
        source = context.reader.get([id]).get(id)
        vector = context.reader.vectors(embeddings.model, [id]).get(id)
        if source is None or vector is None:
            continue
        scanned += 1
        for candidate in _related(source, vector, context.reader, embeddings, tuning)[: tuning.link_top_m]:
            low, high = sorted((candidate.source, candidate.target))
            if (low, high) not in earlier:
                found.setdefault((low, high), candidate)
    suggestions = [_suggestion_of(pair, candidate, context.now) for pair, candidate in found.items()]

    with context.transaction() as writer:
        oldest = context.now - tuning.suggest_ttl_days * DAY_SECONDS
        expired = writer.put_suggestions(suggestions, expire_before=oldest)
    return Swept(scanned=scanned, suggested=len(suggestions), expired=expired)


def sweepable(reader: Reader, since: float = 0.0) -> list[str]:
    """The ids of the memories that are new or have changed since then."""
    return ids_of(reader.traces(Filter(kinds=SWEPT, updated_after=since)))


def suggestions(limit: int, min_score: float, reader: Reader) -> Suggestions:
    """Suggestions that nobody has reviewed yet."""
    best = reader.suggestions(SuggestionFilter(pending=True, min_score=min_score), limit)
    return Suggestions(best=tuple(best), total=reader.counts().suggestions)


def review(ids: Sequence[str], accepted: bool, context: Context) -> list[Reviewed]:
    """Review suggestions: an accepted one becomes a link, a rejected one is never suggested again."""
    with context.transaction() as writer:
        return [_review(id, accepted, writer) for id in dict.fromkeys(ids)]


def _related(
    source: Memory, vector: Vector, reader: Reader, embeddings: Embeddings, tuning: Tuning
) -> list[Candidate]:
    """Near memories that are not linked and related enough, most related first."""
    near = reader.near(vector, embeddings.model, tuning.link_top_k + 1, Filter(kinds=KNOWLEDGE))
    linked = {link.other(source.id) for link in reader.links([source.id])}
    targets = reader.get([id for id in near if id != source.id and id not in linked])
    words = _common_words(source, targets, reader)
    names = names_in(_text_of(source))
    weights = {
        "cosine": tuning.link_weight_cosine,
        "bm25": tuning.link_weight_bm25,
        "entity": tuning.link_weight_entity,
        "temporal": tuning.link_weight_temporal,
    }
    found = []
    for target, memory in targets.items():
        days = (memory.created_at - source.created_at) / DAY_SECONDS
        signals = {
            "cosine": min(1.0, max(0.0, embeddings.likeness(near[target]))),
            "bm25": words.get(target, 0.0),
            "entity": shared_names(names, names_in(_text_of(memory))),
            "temporal": closeness_in_time(days, tuning.link_temporal_tau_days),
        }
        score = relatedness(signals, weights)
        if score >= tuning.link_score_threshold:
            found.append(Candidate(source=source.id, target=target, score=score, signals=signals))
    return sorted(found, key=lambda candidate: (-candidate.score, candidate.target))


def _common_words(source: Memory, targets: Mapping[str, Memory], reader: Reader) -> dict[str, float]:
    """How well each target matches the words of the source; the source itself has 1."""
    if not targets:
        return {}
    among = Filter(ids=(source.id, *targets), kinds=KNOWLEDGE | {source.kind})
    return fuse.relative_to_best(reader.matching(terms(_text_of(source)), len(targets) + 1, among).strengths)


def _text_of(memory: Memory) -> str:
    return f"{memory.title}\n{memory.summary}\n{memory.content}"


def _suggestion_of(pair: tuple[str, str], candidate: Candidate, now: float) -> Suggestion:
    return Suggestion(
        id=new_id(now),
        source=pair[0],
        target=pair[1],
        score=candidate.score,
        signals=candidate.signals,
        created_at=now,
        updated_at=now,
    )


def _review(id: str, accepted: bool, writer: Writer) -> Reviewed:
    """A rejected suggestion may still be accepted; an accepted one is final."""
    suggestion = next(iter(writer.suggestions(SuggestionFilter(ids=(id,)))), None)
    if suggestion is None:
        return Reviewed(id=id, outcome="skipped", why="unknown suggestion")
    if suggestion.status == "accepted" or not (accepted or suggestion.status == "pending"):
        return Reviewed(id=id, outcome="skipped", why=f"already {suggestion.status}")
    if not accepted:
        writer.put_suggestions([replace(suggestion, status="rejected", updated_at=writer.now)])
        return Reviewed(id=id, outcome="rejected")
    if len(writer.get([suggestion.source, suggestion.target])) < 2:
        return Reviewed(id=id, outcome="skipped", why="one of the two memories was forgotten")
    tie = Tie(
        source=suggestion.source,
        target=suggestion.target,
        type=suggestion.type or RELATION,
        weight=min(1.0, max(0.01, suggestion.score)),
        reason=f"suggested by a sweep (score {suggestion.score:.2f}) and accepted",
    )
    [link] = writer.put_links([new_link(tie, writer.cause.verb, writer.now)])
    writer.put_suggestions([replace(suggestion, status="accepted", updated_at=writer.now)])
    return Reviewed(id=id, outcome="accepted", link=link.id)
