"""Why: the signals of a hit in words that a person knows; those that match the question come first."""

from collections.abc import Iterator, Mapping, Sequence

from lore.model import Hit, Signal
from lore.names import forms, stems
from lore.ranking.policy import MATCH
from lore.text import terms

SAME_WORDS = frozenset({"words", "wording", "words_rank"})
CONVERSATION = "company"
NEIGHBOURS = "nearby"
WORDS = {  # signal -> what it means to a person
    "words": "same words",
    "wording": "same words",
    "words_rank": "same words",
    "similarity": "similar meaning",
    "meaning": "similar meaning",
    "meaning_rank": "similar meaning",
    "exact": "has the identifier that you ask for",
    "links": "linked to other hits",
    "links_rank": "linked to other hits",
    "walk": "linked to other hits",
    "bridge": "the best hit leads to it",
    CONVERSATION: "its conversation is about this",
    NEIGHBOURS: "what was said right before or after it matches too",
    "recent": "said recently",
    "when": "of the time you ask about",
    "speaker": "said by whom you ask about",
    "tells": "a statement, not a question",
    "fullness": "says more than a few words",
    "relevance": "new or used lately",
    "use": "often used",
    "quality": "rated as useful",
    "fresh": "newest of two statements that differ in the value",
    "repeats": "says the same as a better hit",
    "breadth": "the same conversation has a better hit",
    "elsewhere": "belongs to another project",
    MATCH: "matches the question",
}
OF_THE_QUESTION = SAME_WORDS | {
    "similarity", "meaning", "meaning_rank", "exact", "when", "speaker", CONVERSATION, NEIGHBOURS,
    MATCH,
}  # fmt: skip
"""Signals that depend on the question; the others are the same for every question."""
SMALLEST_SHARE = 0.1
"""Reasons that make up less of all reasons' points are left out."""
CELLS = 5


def reasons(hit: Hit, hits: Sequence[Hit], query: str) -> Iterator[tuple[str, str]]:
    """(bar, words) of each signal that counts. `hits` is the whole answer, best first."""
    signals = _signals(hit)
    meanings = {name: _meaning(name, hit, hits, query) for name in signals}
    explained = {name: signal for name, signal in signals.items() if meanings[name]}
    whole = sum(abs(signal.points) for signal in explained.values())
    for name, signal in sorted(explained.items(), key=_order):
        if abs(signal.points) >= SMALLEST_SHARE * whole > 0:
            yield _bar(signal.strength), meanings[name]
    if hit.via:
        yield _bar(1), f"reached by way of {hit.via}"
    if hit.fade < 1:
        yield _bar(hit.fade), "what is left of its score: it was not used for a while"


def _order(item: tuple[str, Signal]) -> tuple[bool, float]:
    """The sort key of a reason: those of the question first, the strongest first among each."""
    name, signal = item
    return name not in OF_THE_QUESTION, -signal.points


def _signals(hit: Hit) -> Mapping[str, Signal]:
    """All signals of a hit; the evidence takes the place of the match that it makes up."""
    whole = sum(signal.points for signal in hit.evidence.values() if signal.points > 0)
    if whole <= 0:
        return hit.signals
    scale = hit.signals[MATCH].points / whole
    evidence = {name: Signal(one.strength, one.weight * scale) for name, one in hit.evidence.items()}
    return evidence | {name: signal for name, signal in hit.signals.items() if name != MATCH}


def _meaning(name: str, hit: Hit, hits: Sequence[Hit], query: str) -> str:
    """The words for a signal; none if it says nothing about this hit."""
    meaning = WORDS.get(name, name.replace("_", " "))
    if name in SAME_WORDS:
        shared = _shared(hit, query)
        return f"{meaning}: {', '.join(shared)}" if shared else ""
    if name in (CONVERSATION, NEIGHBOURS) and not hit.memory.session:
        return ""
    if name == CONVERSATION:
        beside = [str(rank) for rank, other in enumerate(hits, 1) if _beside(other, hit)]
        return f"said in the same conversation as number {', '.join(beside)}" if beside else meaning
    return meaning


def _shared(hit: Hit, query: str) -> list[str]:
    """The words of the query that the memory has anywhere, in any form."""
    memory = hit.memory
    text = " ".join((memory.title, memory.summary, memory.content, memory.context))
    found = forms(text)
    roots = stems(found)
    return [term for term in terms(query) if (own := forms(term)) & found or stems(own) & roots]


def _beside(other: Hit, hit: Hit) -> bool:
    return other.memory.session == hit.memory.session and other.memory.id != hit.memory.id


def _bar(strength: float) -> str:
    """Five cells; an arrow down for what lowers the score."""
    if strength < 0:
        return "↓".ljust(CELLS)
    return ("█" * max(1, round(CELLS * min(strength, 1)))).ljust(CELLS, "░")
