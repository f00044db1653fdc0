"""bridge: search once more from the best hit, for what the question needs and does not name.

"When was the mother of Lothair born?": the best hit says who she is. The passage of it that matches, read
together with the question, leads to the memory about her, whatever words introduce that.
"""

from collections.abc import Sequence
from dataclasses import replace

from lore.engine.deepen import DECIDES
from lore.engine.embeddings import Embeddings
from lore.model import Hit, Memory, Query, Signal
from lore.names import forms, words_of
from lore.ranking.decay import relevance
from lore.ranking.excerpt import excerpt
from lore.ranking.policy import Policy
from lore.store import Reader
from lore.text import STOP_WORDS, label_of

PASSAGE = 160
"""Characters of the best hit that are read with the question: about the sentence that matches."""
FOUND = 12
"""How many memories the second search finds."""
WALKED = 2
"""How many further hits of a walk that decides stay ahead of the second search."""
RARE = 3.0
"""Information, in nats, of a name that leads somewhere: at most one memory in twenty has it."""


def bridged(
    hits: Sequence[Hit], query: Query, *, policy: Policy, reader: Reader, sense: Embeddings, now: float
) -> list[Hit]:
    """The hits, and what the second search found: one after each of the first hits, where it is not yet."""
    if not hits:
        return []
    best = hits[0].memory
    passage = excerpt(best.content, query.text, PASSAGE)
    names = _names(best.content, query.text, reader)
    vector = sense.embed_query(f"{query.text} {passage}") if names else None
    if vector is None:
        return list(hits)
    near = reader.near(vector, sense.model, FOUND, query.where)
    found = _found([id for id in near if id != best.id], hits, query, policy, reader, now)
    by_id = {hit.memory.id: hit for hit in [*found, *hits]}
    second = [by_id[id] for id in near if id in by_id and id != best.id]
    named = [hit for hit in second if names & forms(f"{hit.memory.title}\n{hit.memory.content}")]
    return _merged(hits, named, label_of(best.title, best.content))


def _names(passage: str, question: str, reader: Reader) -> frozenset[str]:
    """The words of names in the passage that are not in the question, and rare enough to lead somewhere."""
    known = forms(question)
    new = {
        word.text
        for word in words_of(passage)
        if word.capital and not word.text.isdigit() and word.text not in known | STOP_WORDS
    }
    told = reader.information(sorted(new))
    return frozenset(word for word, information in told.items() if information >= RARE)


def _found(
    ids: Sequence[str], hits: Sequence[Hit], query: Query, policy: Policy, reader: Reader, now: float
) -> list[Hit]:
    """The memories that only the second search found, as hits without a score."""
    known = {hit.memory.id for hit in hits}
    new = tuple(id for id in ids if id not in known)
    memories: Sequence[Memory] = reader.select(replace(query.where, ids=new), len(new)) if new else ()
    bare = (Hit(memory=m, score=0.0, signals={}, relevance=relevance(m, now)) for m in memories)
    return [hit for hit in bare if hit.relevance > policy.visible_above]


def _merged(hits: Sequence[Hit], second: Sequence[Hit], via: str) -> list[Hit]:
    """One of each list in turn. A hit that moves up scores between the two that it comes between."""
    order: dict[str, Hit] = {}
    walk = hits[0].signals.get("walk")
    begin = WALKED if walk is not None and walk.weight == DECIDES else 0
    for place, hit in enumerate(hits):
        order.setdefault(hit.memory.id, hit)
        if 0 <= place - begin < len(second) and second[place - begin].memory.id not in order:
            raised = second[place - begin]
            below = hits[place + 1].score if place + 1 < len(hits) else 0.0
            score = max(raised.score, (hit.score + below) / 2)
            signals = {**raised.signals, "bridge": Signal((score - raised.score) / raised.fade, 1.0)}
            order[raised.memory.id] = replace(raised, score=score, signals=signals, via=raised.via or via)
    return sorted(order.values(), key=lambda hit: (-hit.score, hit.memory.id))
