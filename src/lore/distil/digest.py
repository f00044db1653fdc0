"""digest: turns → segments → statements and commands → topics."""

from collections.abc import Sequence, Set

from lore.distil.base import Digest, Finding, Relation, Spoken, Topic
from lore.distil.commands import Command, commands_of, worth
from lore.distil.cues import Statement, statements_of
from lore.distil.entities import entities_of, plain_names, shared_rare
from lore.distil.phrases import content_words
from lore.distil.segment import MAX_TURNS, segments
from lore.distil.titles import ended, overview_of, title_of
from lore.ranking.relate import shared_words

MOST_FINDINGS, MOST_COMMANDS = 14, 3
"""Of a topic, commands included."""
SAME = 0.9
"""Two statements that share so many of their words say the same."""
RARE, RARE_SHARE = 2, 0.2
"""A name in more topics than this, and in more than this share of them, connects none of them."""
RANKS = {"high": 0, "medium": 1, "low": 2}
MOST_SHARED = 4


def digest(spoken: Sequence[Spoken], max_turns: int = MAX_TURNS) -> Digest:
    """What a conversation leaves behind."""
    topics: list[Topic] = []
    begin = 0
    for end in segments(spoken, max_turns):
        topic = _topic(spoken[begin:end])
        if topic:
            topics.append(topic)
        begin = end
    return Digest(topics=tuple(topics), relations=tuple(_relations(topics)))


def _topic(spoken: Sequence[Spoken]) -> Topic | None:
    """A topic, if the user laid something down or a command took two tries; commands alone are none."""
    statements, commands = statements_of(spoken), commands_of(spoken)
    if not statements and not any(command.failed for command in commands):
        return None
    chosen = [*_different(statements), *_commands(commands)]
    names = plain_names(statement.text for statement in chosen)
    findings = tuple(_finding(statement, names) for statement in chosen[:MOST_FINDINGS])
    return Topic(
        title=title_of(spoken, findings),
        overview=overview_of(spoken, findings),
        findings=findings,
        turns=tuple(turn.number for turn in spoken),
    )


def _different(statements: Sequence[Statement]) -> list[Statement]:
    """Those that do not repeat each other, most important first, then in the order of the conversation."""
    kept: list[tuple[Statement, frozenset[str]]] = []
    for statement in sorted(statements, key=lambda one: RANKS[one.importance]):
        content = content_words(statement.text)
        if all(shared_words(content, other) < SAME for _, other in kept):
            kept.append((statement, content))
    return [statement for statement, _ in kept]


def _commands(commands: Sequence[Command]) -> list[Statement]:
    values = worth(commands)
    best = sorted(commands, key=lambda command: -values[command])[:MOST_COMMANDS]
    return [
        Statement(text=command.text, type="command", importance="low", turns=command.turns)
        for command in sorted(best, key=lambda command: command.turns)
    ]


def _finding(statement: Statement, names: Set[str]) -> Finding:
    return Finding(
        text=ended(statement.text),
        type=statement.type,
        importance=statement.importance,
        turns=tuple(sorted(set(statement.turns))),
        entities=entities_of(statement.text, names),
    )


def _relations(topics: Sequence[Topic]) -> list[Relation]:
    """Topics that speak of the same rare names have to do with each other."""
    named = [
        [name for finding in topic.findings if finding.type != "command" for name in finding.entities]
        for topic in topics
    ]
    shared: dict[tuple[int, int], list[str]] = {}
    for name, places in shared_rare(named, max(RARE, int(RARE_SHARE * len(topics)))).items():
        for at, first in enumerate(places):
            for second in places[at + 1 :]:
                shared.setdefault((first, second), []).append(name)
    return [
        Relation(first=first, second=second, text=f"Both speak of {', '.join(names[:MOST_SHARED])}.")
        for (first, second), names in sorted(shared.items())
    ]
