"""suggest: which memories belong together → propose them, one or all (a sweep) → let somebody judge."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lore.config import Tuning
from lore.engine.embeddings import Embeddings
from lore.engine.find_duplicate import KNOWLEDGE
from lore.engine.link import new_link
from lore.errors import NotFound
from lore.model import Cause, Filter, Memory, Tie, new_id
from lore.ranking import fuse
from lore.ranking.decay import DAY_SECONDS
from lore.ranking.relate import closeness_in_time, relatedness, shared_names
from lore.store import Reader, Store, Writer
from lore.store import Suggestion as Suggestion  # for the surfaces, which never see the store
from lore.text import names_in, preview, terms
from lore.vectors import Vector

SWEPT = frozenset({"note", "fragment"})
"""The kinds that a sweep looks for ties of; what hangs in an entity has its place already."""
RELATION = "references"
"""What a tie is called that likeness alone has brought about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A memory that might be linked to `source`, and why: each signal is 0 to 1."""

    source: str
    target: str
    score: float
    signals: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """What became of one suggestion; `why` tells why one was skipped."""

    id: str
    outcome: Literal["accepted", "rejected", "skipped"]
    link: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a sweep looked at, proposed, and dropped because nobody had judged it in time."""

    scanned: int = 0
    suggested: int = 0
    expired: int = 0


def recommend(id: str, *, reader: Reader, sense: Embeddings, tuning: Tuning, limit: int) -> list[Candidate]:
    """The memories that have most to do with this one and are not linked to it yet; changes nothing."""
    source = reader.get([id]).get(id)
    if source is None:
        raise NotFound(f"unknown memory {preview(id, 80)}")
    vector = reader.vectors(sense.model, [id]).get(id)
    if vector is None:
        vectors = sense.embed_texts([_text_of(source)])
        vector = None if vectors is None else vectors[0]
    return [] if vector is None else _related(source, vector, reader, sense, tuning)[:limit]


def sweep(
    ids: Sequence[str],
    *,
    store: Store,
    reader: Reader,
    sense: Embeddings,
    namespace: str,
    cause: Cause,
    now: float,
    tuning: Tuning,
) -> Swept:
    """Propose ties for those that have a vector. A pair that was proposed or judged before is left alone."""
    judged = {(old.source, old.target) for old in reader.suggestions_about(ids)}
    found: dict[tuple[str, str], Candidate] = {}
    scanned = 0
    for id in ids:
        source, vector = reader.get([id]).get(id), reader.vectors(sense.model, [id]).get(id)
        if source is None or vector is None:
            continue
        scanned += 1
        for candidate in _related(source, vector, reader, sense, tuning)[: tuning.link_top_m]:
            low, high = sorted((candidate.source, candidate.target))
            if (low, high) not in judged:
                found.setdefault((low, high), candidate)
    suggestions = [_suggestion_of(pair, candidate, now) for pair, candidate in found.items()]

    with store.transaction(namespace, cause, now) as writer:
        writer.put_suggestions(suggestions)
        expired = writer.expire_suggestions(now - tuning.suggest_ttl_days * DAY_SECONDS)
    return Swept(scanned=scanned, suggested=len(suggestions), expired=expired)


def sweepable(reader: Reader, since: float = 0.0) -> list[str]:
    """The memories that a sweep looks at: those that are new or have changed since then."""
    return reader.ids(Filter(kinds=SWEPT, updated_after=since))


def review(
    ids: Sequence[str], accepted: bool, *, store: Store, namespace: str, cause: Cause, now: float
) -> list[Reviewed]:
    """Judge suggestions: an accepted one becomes a link, a rejected one is never proposed again."""
    with store.transaction(namespace, cause, now) as writer:
        judge = _accept if accepted else _reject
        return [judge(id, writer, cause, now) for id in dict.fromkeys(ids)]


def _related(
    source: Memory, vector: Vector, reader: Reader, sense: Embeddings, tuning: Tuning
) -> list[Candidate]:
    """All that is near, not linked, and related enough, most related first."""
    near = reader.near(vector, sense.model, tuning.link_top_k + 1, Filter(kinds=KNOWLEDGE))
    linked = {link.other(source.id) for link in reader.links([source.id])}
    targets = reader.get([id for id in near if id != source.id and id not in linked])
    words = _common_words(source, targets, reader)
    names = names_in(_text_of(source))
    found = []
    for target, memory in targets.items():
        days = (memory.created_at - source.created_at) / DAY_SECONDS
        signals = {
            "cosine": min(1.0, max(0.0, sense.likeness(near[target]))),
            "bm25": words.get(target, 0.0),
            "entity": shared_names(names, names_in(_text_of(memory))),
            "temporal": closeness_in_time(days, tuning.link_temporal_tau_days),
        }
        score = relatedness(signals, _weights(tuning))
        if score >= tuning.link_score_threshold:
            found.append(Candidate(source=source.id, target=target, score=score, signals=signals))
    return sorted(found, key=lambda candidate: (-candidate.score, candidate.target))


def _common_words(source: Memory, targets: Mapping[str, Memory], reader: Reader) -> dict[str, float]:
    """How strongly each target answers to the source's words; the source itself is the measure."""
    if not targets:
        return {}
    among = Filter(ids=(source.id, *targets), kinds=KNOWLEDGE | {source.kind})
    return fuse.relative_to_best(reader.matching(terms(_text_of(source)), len(targets) + 1, among))


def _text_of(memory: Memory) -> str:
    return f"{memory.title}\n{memory.summary}\n{memory.content}"


def _weights(tuning: Tuning) -> dict[str, float]:
    return {
        "cosine": tuning.link_weight_cosine,
        "bm25": tuning.link_weight_bm25,
        "entity": tuning.link_weight_entity,
        "temporal": tuning.link_weight_temporal,
    }


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


def _accept(id: str, writer: Writer, cause: Cause, now: float) -> Reviewed:
    suggestion = writer.get_suggestions([id]).get(id)
    if suggestion is None:
        return Reviewed(id=id, outcome="skipped", why="unknown suggestion")
    if suggestion.status == "accepted":
        return Reviewed(id=id, outcome="skipped", why="already accepted")
    if len(writer.get([suggestion.source, suggestion.target])) < 2:
        return Reviewed(id=id, outcome="skipped", why="one of the two memories was forgotten")
    wanted = Tie(
        source=suggestion.source,
        target=suggestion.target,
        type=suggestion.type or RELATION,
        weight=min(1.0, max(0.01, suggestion.score)),
        reason=f"suggested by a sweep (score {suggestion.score:.2f}) and accepted",
    )
    [link] = writer.put_links([new_link(wanted, cause.verb, now)])
    writer.put_suggestions([replace(suggestion, status="accepted", updated_at=now)])
    return Reviewed(id=id, outcome="accepted", link=link.id)


def _reject(id: str, writer: Writer, cause: Cause, now: float) -> Reviewed:
    suggestion = writer.get_suggestions([id]).get(id)
    if suggestion is None:
        return Reviewed(id=id, outcome="skipped", why="unknown suggestion")
    if suggestion.status != "pending":
        return Reviewed(id=id, outcome="skipped", why=f"already {suggestion.status}")
    writer.put_suggestions([replace(suggestion, status="rejected", updated_at=now)])
    return Reviewed(id=id, outcome="rejected")
