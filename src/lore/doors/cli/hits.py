"""Hits: the results of a search on a terminal: id, score and time, then the text, then the reasons."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from lore.doors.cli.ids import label, names, shortened
from lore.doors.cli.render import NARROW, columns, hanging, line, width, wrapped
from lore.doors.cli.times import day, minute
from lore.doors.cli.verify import described
from lore.model import TURN, Hit, Query, Signal
from lore.names import forms, stems
from lore.ranking.evidence import SPEAKER
from lore.ranking.excerpt import excerpt
from lore.ranking.policy import MATCH
from lore.text import terms
from lore.transcripts.project import name_of

if TYPE_CHECKING:
    from lore.engine import Lore

PASSAGE_LENGTH, SHORTEST_PASSAGE = 300, 160
"""Characters of a passage, on wide and on narrow terminals."""
PASSAGE_LINES = 3
NARROWEST_PATH = 13
ARROW = " › "
INDENT = "    "
REPLACED = "replaced by"
SAME_WORDS = frozenset({"words", "wording", "words_rank"})
CONVERSATION = "session_support"
NEIGHBOURS = "neighbour_support"
WORDS = {  # signal -> its meaning in plain words
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
    NEIGHBOURS: "the turns right before or after it match too",
    "recent": "said recently",
    "when": "from the time that you ask about",
    "speaker": "said by the person that you ask about",
    "is_statement": "a statement, not a question",
    "length": "longer than a few words",
    "relevance": "new or recently used",
    "use": "often used",
    "quality": "rated as useful",
    "fresh": "newest of two statements that differ in the value",
    "repeats": "says the same as a better hit",
    "breadth": "the same conversation has a better hit",
    "elsewhere": "belongs to another project",
    "report": "is the account of a conversation",
    "stale": "a file that it cites has changed or is gone",
    MATCH: "matches the question",
}
OF_THE_QUESTION = SAME_WORDS | {
    "similarity", "meaning", "meaning_rank", "exact", "when", "speaker", CONVERSATION, NEIGHBOURS, MATCH,
}  # fmt: skip
"""Signals that depend on the question; the others are the same for every question."""
SMALLEST_SHARE = 0.1
"""Reasons with a smaller share of all points are left out."""
CELLS = 5


def show_hits(lore: "Lore", hits: Sequence[Hit], query: Query, format: str | None, why: bool) -> None:
    """ids: whole ids, one per line. title: one line each. full: the whole text. None: the best passage."""
    if format == "ids":
        click.echo("".join(f"{hit.memory.id}\n" for hit in hits), nl=False)
        return
    short = shortened(lore, [hit.memory.id for hit in hits])
    newer = [hit.memory.superseded_by for hit in hits if hit.memory.superseded_by is not None]
    replacements = names(lore, newer, len(INDENT + REPLACED) + 3)
    for rank, hit in enumerate(hits, 1):
        click.echo(_head(rank, hit, short[hit.memory.id], format))
        if hit.memory.superseded_by is not None:
            click.echo(f"{INDENT}{click.style(REPLACED, fg='red')} {replacements[hit.memory.superseded_by]}")
        for cited in hit.citations.items():
            click.echo(f"{INDENT}cites {described(*cited)}")
        if hit.standing:
            click.secho(f"{INDENT}{hit.standing}", fg="yellow")
        for text in _body(hit, query.text, format):
            click.echo(INDENT + text)
        for bar, words in reasons(hit, hits, query.text) if why else ():
            room = width() - len(INDENT) - len(bar) - 2
            for text in hanging(f"{INDENT}{bar}  ", line(words, room * 2)):
                click.secho(text, dim=True)


def _head(rank: int, hit: Hit, id: str, format: str | None) -> str:
    """Rank, score and id; then its path and title, or its time, author, project and type."""
    memory = hit.memory
    start = f"{rank:>2}. {hit.score:.3f}  "
    room = width() - len(start) - len(id) - 2
    if format == "title":
        rest = _path(hit.breadcrumb, label(memory), room)
    else:
        when = (day if width() < NARROW else minute)(memory.created_at)
        facts = " · ".join(filter(None, (when, memory.author, name_of(memory.project), memory.type)))
        rest = click.style(line(facts, room), dim=True)
    return f"{start}{click.style(id, fg='yellow')}  {rest}"


def _path(breadcrumb: Sequence[str], title: str, room: int) -> str:
    """The title, and before it as much of the path down to it as fits."""
    title = line(title, room) if title else ""
    left = room - columns(title)
    arrow = ARROW if title else ""
    path = ""
    if breadcrumb and left >= NARROWEST_PATH:
        path = line(ARROW.join(breadcrumb), left - len(arrow)) + arrow
    return click.style(path, dim=True) + click.style(title, bold=True)


def _body(hit: Hit, query: str, format: str | None) -> Iterator[str]:
    if format == "title":
        return
    memory = hit.memory
    room = width() - len(INDENT)
    text = memory.content if format == "full" else _passage(memory.content, query, room)
    if hit.breadcrumb or not text.lstrip("# ").startswith(memory.title):
        yield _path(hit.breadcrumb, memory.title, room)
    yield from wrapped(text, len(INDENT))


def _passage(content: str, query: str, room: int) -> str:
    """The passage that matches best, of about three lines; fewer characters if they are wide."""
    length = min(PASSAGE_LENGTH, max(SHORTEST_PASSAGE, PASSAGE_LINES * room))
    sample = content[:PASSAGE_LENGTH]
    return excerpt(content, query, length * len(sample) // max(1, columns(sample)))


# --- why
def reasons(hit: Hit, hits: Sequence[Hit], query: str) -> Iterator[tuple[str, str]]:
    """(bar, words) of each signal that counts, those of the question first. hits: all, best first."""
    signals = _signals(hit)
    meanings = {name: _meaning(name, hit, hits, query) for name in signals}
    explained = {name: signal for name, signal in signals.items() if meanings[name]}
    total = sum(abs(signal.points) for signal in explained.values())
    ordered = sorted(explained, key=lambda name: (name not in OF_THE_QUESTION, -explained[name].points))
    for name in ordered:
        if abs(explained[name].points) >= SMALLEST_SHARE * total > 0:
            yield _bar(explained[name].strength), meanings[name]
    if hit.via:
        yield _bar(1), f"found by way of {hit.via}"
    if hit.fade < 1:
        yield _bar(hit.fade), "the share of its score that is left: it was not used for a while"


def _signals(hit: Hit) -> Mapping[str, Signal]:
    """All signals of a hit, with the match split into its evidence."""
    total = sum(signal.points for signal in hit.evidence.values() if signal.points > 0)
    if total <= 0:
        return hit.signals
    scale = hit.signals[MATCH].points / total
    evidence = {name: Signal(one.strength, one.weight * scale) for name, one in hit.evidence.items()}
    return evidence | {name: signal for name, signal in hit.signals.items() if name != MATCH}


def _meaning(name: str, hit: Hit, hits: Sequence[Hit], query: str) -> str:
    """A signal in words; empty if it says nothing about this hit."""
    meaning = WORDS.get(name, name.replace("_", " "))
    memory = hit.memory
    if name in SAME_WORDS:
        shared = _shared(hit, query)
        return f"{meaning}: {', '.join(shared)}" if shared else ""
    if name in (CONVERSATION, NEIGHBOURS) and not memory.session:
        return ""
    if name == "speaker" and memory.kind != TURN and not SPEAKER.match(memory.content):
        return ""  # a note has no speaker; it counts as the user's own
    if name == CONVERSATION:
        others = [(rank, other.memory) for rank, other in enumerate(hits, 1) if other.memory.id != memory.id]
        ranks = [str(rank) for rank, other in others if other.session == memory.session]
        return f"said in the same conversation as number {', '.join(ranks)}" if ranks else meaning
    return meaning


def _shared(hit: Hit, query: str) -> list[str]:
    """The words of the query that the memory has anywhere, in any form."""
    memory = hit.memory
    found = forms(" ".join((memory.title, memory.summary, memory.content, memory.context)))
    roots = stems(found)
    return [term for term in terms(query) if (own := forms(term)) & found or stems(own) & roots]


def _bar(strength: float) -> str:
    """Five cells; an arrow down for a signal that lowers the score."""
    if strength < 0:
        return "↓".ljust(CELLS)
    return ("█" * max(1, round(CELLS * min(strength, 1)))).ljust(CELLS, "░")
